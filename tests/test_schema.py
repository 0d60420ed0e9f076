"""Schemas: the subset that they keep to, and that everything else follows from them alone."""

import copy
import importlib
import importlib.util
import json
import re
import shutil
from importlib import resources
from pathlib import Path

import jsonschema
import pyarrow as pa
import pytest
from shared.late import datasets

import closeread
from closeread.corpus import schema as schema_module
from closeread.corpus.gold import read_gold, read_own_gold
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.schema import Field, RowValidator, fields, load_schema, resolve
from closeread.exceptions import FormatError, SubmissionError
from closeread.files import package_folder
from closeread.formats.json_lines import dump_json_lines
from closeread.hf.modules import class_name, module_names

KEYWORDS = frozenset(
    {"$ref", "title", "description", "type", "enum", "pattern", "minLength", "minimum", "maximum"}
    | {"items", "minItems", "maxItems", "properties", "required", "additionalProperties"}
    | {"x-dtype", "x-expected", "x-accepts-integer"}
)

TOOL = Path(__file__).parent.parent / "tools" / "documentation.py"


def documentation():
    """The tool that fills the cards."""
    spec = importlib.util.spec_from_file_location("documentation", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCHEMAS = sorted(
    file.name.removesuffix(".json")
    for file in resources.files("closeread.schemas").iterdir()
    if file.name.endswith(".json")
)


def nodes(node, place):
    """The node and all below it, each with its place."""
    yield place, node
    for name, child in node.get("properties", {}).items():
        yield from nodes(child, f"{place}.{name}")
    if "items" in node:
        yield from nodes(node["items"], f"{place}[]")


def breaches(schema):
    """What in a schema is outside the subset, in words."""
    if set(schema) - {"$schema", "title", "description", "$defs"}:
        yield "the schema has other parts than $schema, title, description and $defs"
    for name, definition in schema["$defs"].items():
        for place, node in nodes(definition, name):
            for keyword in sorted(set(node) - KEYWORDS):
                yield f"{place}: {keyword} is outside the subset"
            reference = node.get("$ref", "#/$defs/document")
            if reference.removeprefix("#/$defs/") not in schema["$defs"]:
                yield f"{place}: {reference} is nowhere"
                continue
            if "$ref" in node and set(node) - {"$ref", "title", "description"}:
                yield f"{place}: Draft 4 ignores what stands beside a reference"
            node = resolve(schema, node)
            kinds = {node["type"]} if isinstance(node["type"], str) else set(node["type"])
            if len(kinds - {"null"}) != 1:
                yield f"{place}: one type beside null is needed, not {sorted(kinds)}"
            if "object" in kinds and not (
                node.get("additionalProperties") is False and "properties" in node
            ):
                yield f"{place}: an object lists its properties and allows no others"
            if set(node.get("required", ())) - set(node.get("properties", ())):
                yield f"{place}: a required property is not listed"
            if "array" in kinds and "items" not in node:
                yield f"{place}: an array says what its items are"
            if "enum" in node and not all(isinstance(value, str) for value in node["enum"]):
                yield f"{place}: an enum is of strings"
            size = {"int32": 2**31}.get(node.get("x-dtype"), 2**53)
            if (
                "integer" in kinds
                and not -size <= node.get("minimum", -size - 1) <= node.get("maximum", size) < size
            ):
                yield f"{place}: an integer has bounds that its type can store"
            if "x-dtype" in node and not kinds & {"integer", "number"}:
                yield f"{place}: x-dtype is for numbers"
            # What both engines, Python's and Rust's, take alike: ASCII, no class that knows Unicode, no bare `.`
            # outside of brackets, and an end that is the end even when a line end follows.
            pattern = node.get("pattern", "^$(?!\\n)")
            outside = re.sub(r"\[[^]]*\]", "", pattern)
            if (
                not pattern.isascii()
                or re.search(r"\\[^n.\-/]", pattern)
                or re.search(r"(?<!\\)\.", outside)
            ):
                yield f"{place}: the pattern has more than ASCII classes"
            if not (pattern.startswith("^") and pattern.endswith("$(?!\\n)")):
                yield f"{place}: the pattern is not of the whole text: ^…$(?!\\n)"


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_keep_to_the_subset(name):
    schema = load_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert list(breaches(schema)) == []
    for definition in ("document", "submission"):
        node = resolve(schema, schema["$defs"][definition])
        assert node["type"] == "object"
        assert all(field.description for field in fields(schema, definition))


def test_every_corpus_and_every_module_has_a_schema_and_no_other_is_there():
    modules = [
        importlib.import_module(f"closeread.evaluate_modules.{name}.{name}")
        for name in module_names()
    ]
    of_modules = {
        getattr(module, class_name(module.__name__.split(".")[-1])).SCHEMA for module in modules
    }
    assert sorted({*(load_corpus(name).schema for name in corpus_names()), *of_modules}) == SCHEMAS


NESTED = {
    "$defs": {
        "point": {"type": "integer", "x-dtype": "int32", "description": "A place."},
        "document": {
            "type": "object",
            "additionalProperties": False,
            "required": ["start"],
            "properties": {
                "start": {"$ref": "#/$defs/point", "description": "Where it starts."},
                "share": {"type": ["number", "null"]},
                "kind": {"type": "string", "enum": ["a", "b"]},
                "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
                "spans": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {
                            "at": {"$ref": "#/$defs/point"},
                            "sure": {"type": "boolean"},
                        },
                    },
                },
            },
        },
    }
}


def test_features(features):
    assert features(NESTED) == datasets.Features(
        {
            "start": datasets.Value("int32"),
            "share": datasets.Value("float64"),
            "kind": datasets.Value("string"),
            "tags": [datasets.Value("string")],
            "spans": [{"at": datasets.Value("int32"), "sure": datasets.Value("bool")}],
        }
    )


def test_fields():
    assert fields(NESTED) == [
        Field("start", "integer", True, "Where it starts."),
        Field("share", "number", False, ""),
        Field("kind", "`a` | `b`", False, ""),
        Field("tags", "list of `x` | `y`", False, ""),
        Field("spans", "list of {at: integer, sure: boolean}", False, ""),
    ]


@pytest.fixture
def added(monkeypatch, tmp_path):
    """Fields added to a copy of McTaco's schema, which is loaded from now on; no Python knows them."""
    schema = copy.deepcopy(load_schema("mctaco"))
    schema["$defs"]["document"]["properties"] |= {
        "tense": {
            "type": ["string", "null"],
            "enum": ["past", "future", None],
            "description": "When it happens.",
        },
        "spans": {
            "description": "Which tokens say so.",
            "type": "array",
            "maxItems": 2,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["start"],
                "properties": {"start": {"type": "integer", "minimum": 0, "x-dtype": "int32"}},
            },
        },
    }
    schema["$defs"]["document"]["required"] += ["spans"]
    schema["$defs"]["submission"]["properties"]["confidence"] = {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
    }
    schemas = tmp_path / "schemas"
    # The others are there, too: messages compare rows with the fields of all.
    shutil.copytree(package_folder("closeread.schemas"), schemas)
    (schemas / "mctaco.json").write_text(json.dumps(schema), "utf-8")
    monkeypatch.setattr(schema_module, "package_folder", {"closeread.schemas": schemas}.__getitem__)
    loaders = (schema_module.load_schema, schema_module.load_validator)
    for load in loaders:
        load.cache_clear()
    yield
    for load in loaders:
        load.cache_clear()


def test_an_added_field_is_in_features_and_in_arrow(added, features):
    found = features(load_schema("mctaco"))
    assert found["tense"] == datasets.Value("string")
    assert (
        found["spans"]
        == datasets.Features({"spans": [{"start": datasets.Value("int32")}]})["spans"]
    )
    assert features(load_schema("mctaco"), "submission")["confidence"] == datasets.Value("float64")
    assert found.arrow_schema.field("tense").type == pa.string()
    assert found.arrow_schema.field("spans").type == pa.list_(pa.struct([("start", pa.int32())]))


def test_an_added_field_is_validated(added, tmp_path):
    corpus, gold, system = load_corpus("mctaco"), tmp_path / "gold.jsonl", tmp_path / "system.jsonl"
    for change, problem in (
        ({"tense": "past"}, None),
        ({"tense": None}, None),
        ({"spans": [{"start": 1}]}, None),
        (
            {"tense": "Past"},
            "tense: 'Past' is not one of 'past', 'future', null; did you mean 'past'?",
        ),
        ({"spans": None}, "spans: expected a list, found null"),
        (
            {"spans": [{"start": -1}]},
            'spans[0].start: -1 is less than the minimum of 0 (in {"start": -1})',
        ),
        ({"spans": [{}]}, "spans[0]: field 'start' is missing (in {})"),
        ({}, None),
    ):
        record = {**gold_record(), "spans": [], **change}
        gold.write_text(dump_json_lines([record]), "utf-8")
        if problem is None:
            assert read_own_gold(corpus, gold).records == [record]
        else:
            with pytest.raises(FormatError) as caught:
                read_own_gold(corpus, gold)
            assert str(caught.value) == f"{gold}:1: id 'a': {problem}"
    for confidence, problem in (
        (0.5, None),
        (1.5, "1.5 is greater than the maximum of 1"),
        ("1", "expected a number, found '1'"),
    ):
        system.write_text(
            dump_json_lines([{"id": "a", "label": "yes", "confidence": confidence}]), "utf-8"
        )
        if problem is None:
            assert (
                closeread.score("mctaco", system, gold=gold, ci=False).total.scores["f1"].value == 1
            )
        else:
            with pytest.raises(SubmissionError) as caught:
                closeread.score("mctaco", system, gold=gold)
            assert str(caught.value) == f"{system}:1: id 'a': confidence: {problem}"
    with pytest.raises(FormatError, match="field 'spans' is missing"):
        read_gold(corpus, "sample")


def gold_record():
    return {
        "id": "a",
        "question_id": "q",
        "sentence_id": "s",
        "sentence": "It rained.",
        "question": "How long?",
        "answer": "an hour",
        "label": "yes",
        "category": "Event Duration",
    }


def test_problems_of_rows_carry_their_path():
    rows = [gold_record(), {**gold_record(), "label": "maybe"}, {**gold_record(), "more": 1}]
    validator = RowValidator(load_schema("mctaco"), "document")
    problems = validator.problems(rows)
    assert [(problem.row, problem.path, problem.line) for problem in problems] == [
        (1, ("label",), None),
        (2, (), None),
    ]
    assert validator.problems(rows[1:2], [7]) == [problems[0]._replace(row=7)]
    assert problems[0].text == f"label: {problems[0].message}"


def test_patterns_are_told_in_words():
    def patterns(node):
        if isinstance(node, dict):
            if "pattern" in node:
                yield node
            for child in node.values():
                yield from patterns(child)

    found = [
        node for name in corpus_names() for node in patterns(load_schema(load_corpus(name).schema))
    ]
    assert len(found) > 10
    assert [node["pattern"] for node in found if "x-expected" not in node] == []
