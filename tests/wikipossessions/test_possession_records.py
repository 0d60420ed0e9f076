"""Gold records: contradictory fields, the schema, JSON Lines, and notes on oddities."""

import re

import pytest
from shared import json_lines
from shared.for_each import for_each
from shared.possession_records import ROW, make_record, read_released

from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import FormatError
from closeread.tasks.wikipossessions.rules import DERIVED, find_inconsistencies, find_odd_rows, find_oddities

CORPUS = load_corpus("wikipossessions")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file to write and read again and again."""
    return tmp_path_factory.mktemp("possessions") / "annotations.csv"


NONE = {"anchor": None, "anchor_kind": "unknown", "lower": None, "upper": None}
NONE |= {"relation": None, "relation_certainty": None}
NONE_GIVEN = {"anchor": None, "relation": None, "relation_certainty": None}


@for_each(
    ("changes", "problems"),
    [
        ({}, []),
        (NONE, []),
        ({"lower": 1545, "upper": 1530}, [
            "lower is 1545 (expected 1530 for anchor '1530-1545')",
            "upper is 1530 (expected 1545 for anchor '1530-1545')",
        ]),
        ({"upper": None, "open_end": True}, [
            "upper is null (expected 1545 for anchor '1530-1545')",
            "open_end is true (expected false for anchor '1530-1545')",
        ]),
        ({**NONE, "anchor_kind": "event"}, ["anchor_kind is 'event' (expected 'unknown' for anchor null)"]),
        (
            {**NONE, "relation": "after", "relation_certainty": "certain"},
            ["relation is 'after' but anchor is null (expected an anchor, or no relation)"],
        ),
        ({"relation": None}, ["relation is null but relation_certainty is 'certain' (expected both or neither)"]),
        (
            {"relation_certainty": None},
            ["relation is 'during' but relation_certainty is null (expected both or neither)"],
        ),
        ({"possessor": "Ann "}, ["possessor 'Ann ' has leading or trailing whitespace (expected none)"]),
        ({"anchor": " 1530-1545"}, ["anchor ' 1530-1545' has leading or trailing whitespace (expected none)"]),
    ],
)  # fmt: skip
def test_inconsistencies(file, changes, problems):
    records = [make_record(), {**make_record(**changes), "article": "B"}]
    assert list(find_inconsistencies(records)) == [(1, f"possessions[0]: {what}") for what in problems]
    own = file.with_suffix(".jsonl")
    own.write_text(json_lines.dump(records), "utf-8")
    if not problems:
        assert read_own_gold(CORPUS, own).records == records
    else:
        with pytest.raises(FormatError, match=re.escape(f"{own}:2: possessions[0]: {problems[0]}")):
            read_own_gold(CORPUS, own)


def test_references_may_omit_the_derived_fields():
    (possession,) = make_record()["possessions"]
    bare = {name: value for name, value in possession.items() if name not in DERIVED}
    for one in (bare, {**bare, **dict.fromkeys(DERIVED)}, {**bare, "lower": 1530}):
        assert list(find_inconsistencies([{"article": "A", "possessions": [one]}])) == []
    found = list(find_inconsistencies([{"article": "A", "possessions": [{**bare, "lower": 1531}]}]))
    assert found == [(0, "possessions[0]: lower is 1531 (expected 1530 for anchor '1530-1545')")]


def test_json_lines_may_omit_the_derived_fields(file):
    (whole,) = make_record()["possessions"]
    bare = {name: value for name, value in whole.items() if name not in DERIVED}
    own = file.with_suffix(".jsonl")
    for one in (bare, {**bare, **dict.fromkeys(DERIVED)}):
        own.write_text(json_lines.dump([{"article": "A Vase", "possessions": [one, {**one, **NONE_GIVEN}]}]), "utf-8")
        (record,) = read_own_gold(CORPUS, own).records
        assert record["possessions"] == [whole, {**whole, **NONE}]


def test_json_lines_with_some_derived_fields_or_without_records(file):
    (whole,) = make_record()["possessions"]
    bare = {name: value for name, value in whole.items() if name not in DERIVED}
    own = file.with_suffix(".jsonl")
    for possessions_given, problem in (
        ([{**bare, "lower": 1530}], "possessions[0]: field 'anchor_kind' is missing"),
        ([{**bare, "anchor": [1530]}], "possessions[0].anchor: expected text or null, found a list"),
        ([1], 'possessions[0]: expected an object such as {"type": …, "possessor": …, …}, found 1'),
        ({}, "possessions: expected a list, found an object"),
    ):
        own.write_text(json_lines.dump([{"article": "A Vase", "possessions": possessions_given}]), "utf-8")
        with pytest.raises(FormatError) as caught:
            read_own_gold(CORPUS, own)
        assert f"{own}:1: article 'A Vase': {problem}" in str(caught.value)


def test_a_padded_title():
    record = {**make_record(), "article": " A"}
    problem = "article ' A' has leading or trailing whitespace (expected none)"
    assert list(find_inconsistencies([record])) == [(0, problem)]


@for_each(
    ("changes", "problem"),
    [
        ({"type": "GPE"}, "possessions[0].type: 'GPE' is not one of 'PER', 'ORG', 'LOC'"),
        ({"order": 6.1}, 'possessions[0].order: 6.1 is a number (expected text: "6.1" in quotes'),
        ({"order": "6."}, "possessions[0].order: '6.' is not valid (expected positive integers "),
        ({"order": "6\n"}, "the string '6\\n' contains the control character U+000A"),
        ({"relation": "since"}, "possessions[0].relation: 'since' is not valid (expected before, during or after)"),
        ({"certainty": None}, "possessions[0].certainty: null is not one of 'certain', 'uncertain'"),
        ({"possessor": ""}, "possessions[0].possessor: is empty"),
    ],
)
def test_the_schema_of_gold(file, changes, problem):
    own = file.with_suffix(".jsonl")
    own.write_text(json_lines.dump([make_record(**changes)]), "utf-8")
    with pytest.raises(FormatError) as caught:
        read_own_gold(CORPUS, own)
    named = f"article {make_record()['article']!r}: " if problem.startswith("possessions") else ""
    assert str(caught.value).startswith(f"{own}:1: {named}{problem}")


def test_oddities(file):
    records, _, _ = read_released(file, ROW)
    assert list(find_oddities(records)) == []
    loose = ROW.replace("1888", "Unknown")
    records, _, _ = read_released(file, ROW.replace("1888", "1900-1888"), loose, loose.replace("A Vase", "B"))
    assert list(find_oddities(records)) == [
        "1 possession has an anchor whose later year comes first, which is read in reverse order "
        "(first: '1900-1888' in 'A Vase').",
        "2 possessions have a relation to an unknown anchor (first: in 'A Vase').",
    ]


def test_odd_rows():
    def make(anchor, relation="during"):
        return {"possessor": "Ann", "anchor": anchor, "relation": relation}

    rows = [
        {"article": "A", "possessions": [make("1888"), make("Unknown", None), make(None, None)]},
        {"article": "B", "possessions": [make("1888"), make("1920-31"), make("Now-1888")]},
        {"article": "C", "possessions": [make("44-50 BC"), make("Unknown"), make("unknown")]},
    ]
    turned = "an anchor whose later year comes first, which is read in reverse order"
    assert list(find_odd_rows(rows, [])) == [
        (1, f"article 'B': 2 possessions have {turned} (first: possessions[1] ('Ann'), '1920-31')"),
        (2, f"article 'C': 1 possession has {turned} (first: possessions[0] ('Ann'), '44-50 BC')"),
        (
            2,
            "article 'C': 2 possessions have a relation to an unknown anchor, which is kept "
            "(first: possessions[1] ('Ann'), 'Unknown')",
        ),
    ]
