"""Errors of a response: counted by a twin, by fields of documents and mentions, and listed worst documents first."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from shared.coreference import write_conll, write_jsonl
from shared.coreference_kernels import PAIRS, split_sides
from shared.coreference_tables import make_documents, spread
from twins.coref_errors import find_errors as find_slowly

from closeread.tasks.coref.errors import RIGHT, count_errors
from closeread.tasks.coref.procedure import PROCEDURE

NAMES = ("bn/1", "nw/2", "bn/3")
KEY = [["abc", "de"], ["ab", "cd"], ["a", "bc"]]
RESPONSE = [["ab", "cde"], ["ab", "cd"], ["xy"]]
"""The first document has a split and a merged entity, the third only missing and spurious ones."""


def analyse(key, response, names=None, **how):
    """Find the errors of a response to a key, each the documents' clusters of letters."""
    sides = [make_documents(list(map(spread, side)), names=names) for side in (key, response)]
    return count_errors(*sides, PROCEDURE.resolve_options({}), **how)


def letters(error):
    """Return the mentions of an error as letters, its pieces separated by a bar."""
    return "|".join(
        "".join(chr(ord("a") + mention.start) for mention in piece) for piece in error.pieces
    )


def test_the_worst_documents_come_first():
    listed = [
        (one.document, one.entity_errors, one.mention_errors, one.errors)
        for one in analyse(KEY, RESPONSE, NAMES).documents
    ]
    assert listed == [("bn/3", 3, 5, 8), ("bn/1", 2, 0, 2)]
    only = analyse(KEY, RESPONSE, NAMES, kinds=["split entity", "missing mention"]).documents
    assert [(one.document, one.errors, one.fields) for one in only] == [
        ("bn/3", 3, {"genre": "bn"}),
        ("bn/1", 1, {"genre": "bn"}),
    ]
    # Both documents miss entities: the second misses more.  Equally bad documents are in the order of the file.
    missing = {"kinds": ["missing entity"]}
    listed = [
        (error.document, letters(error))
        for error in analyse([["ab"], ["ab", "c", "d"]], [[], []], **missing).errors
    ]
    assert listed == [("b", "ab"), ("b", "c"), ("b", "d"), ("a", "ab")]
    assert [e.document for e in analyse([["a"], ["b"]], [[], []], **missing).errors] == ["a", "b"]


def test_what_an_error_says():
    found = analyse(KEY, RESPONSE, NAMES)
    assert list(found.counts.values()) == [2, 1, 1, 2, 1, 3, 2]
    assert list(found.errors[0].fields) == ["genre", "entity_size", "distance"]
    errors = [(e.kind, e.document, e.entity, letters(e), *e.fields.values()) for e in found.errors]
    assert errors == [
        ("split entity", "bn/1", "0", "ab|c", "bn", "3-4", None),
        ("merged entities", "bn/1", "1", "c|de", "bn", "3-4", None),
        ("missing entity", "bn/3", "0", "a", "bn", "1", None),
        ("missing entity", "bn/3", "1", "bc", "bn", "2", None),
        ("spurious entity", "bn/3", "0", "xy", "bn", "2", None),
        ("missing mention", "bn/3", "0", "a", "bn", "1", "first mention"),
        ("missing mention", "bn/3", "1", "b", "bn", "2", "first mention"),
        ("missing mention", "bn/3", "1", "c", "bn", "2", "0-9"),
        ("spurious mention", "bn/3", "0", "x", "bn", "2", "first mention"),
        ("spurious mention", "bn/3", "0", "y", "bn", "2", "0-9"),
    ]


def test_counts_by_fields():
    found = analyse(KEY, RESPONSE, NAMES, by=["genre", "entity_size", "distance"]).slices
    assert {value: list(of.values()) for value, of in found["genre"].items()} == {
        "bn": [0, 1, 1, 2, 1, 3, 2],
        "nw": [2, 0, 0, 0, 0, 0, 0],
    }
    assert {value: list(of.values()) for value, of in found["entity_size"].items()} == {
        "1": [0, 0, 0, 1, 0, 1, 0],
        "2": [2, 0, 0, 1, 1, 2, 2],
        "3-4": [0, 1, 1, 0, 0, 0, 0],
    }
    # Entities have no distance.
    assert found["distance"] == {
        "first mention": {"missing mention": 2, "spurious mention": 1},
        "0-9": {"missing mention": 1, "spurious mention": 1},
    }


@given(PAIRS)
def test_fast_is_twin(pairs):
    key, response = split_sides(pairs)
    names = [f"bn/{number}" for number in range(len(pairs))]
    found = analyse(key, response, names)
    errors = [(e.kind, names.index(e.document), letters(e)) for e in found.errors]
    right, expected = find_slowly(key, response)
    assert sorted(errors) == sorted(expected)
    assert found.counts[RIGHT] == right
    for field in found.fields:
        counted = found.count_by(field).values()
        assert all(
            sum(of[kind] for of in counted) == found.counts[kind] for one in counted for kind in one
        )
    alone = [analyse(key, response, names, document=name).counts for name in names]
    assert {kind: sum(one[kind] for one in alone) for kind in found.counts} == found.counts


@pytest.fixture
def files(here):
    """The three documents as files."""
    for side, documents in (("key", KEY), ("response", RESPONSE)):
        nested = {name: spread(clusters) for name, clusters in zip(NAMES, documents, strict=True)}
        write_jsonl(Path(f"{side}.jsonl"), nested)
        write_conll(Path(f"{side}.conll"), nested, length=26)
    return "key.jsonl", "response.jsonl"


def test_the_command_by_fields(files, ran):
    Path("f.csv").write_text("document,place\nbn/1,Ulm\nnw/2,Ulm\nbn/3,Paris\n")
    by = ("--by", "place", "--by", "entity_size", "--by", "distance")
    found = json.loads(ran("errors", "coref", *files, "--fields", "f.csv", *by, "--json"))
    assert list(found) == ["counts", "slices", "documents", "errors"]
    assert found["slices"]["place"]["Paris"]["missing mention"] == 3
    assert list(found["slices"]) == ["place", "entity_size", "distance"]
    assert found["documents"][0] == {
        "document": "bn/3", "errors": 8, "entity_errors": 3, "mention_errors": 5,
        "fields": {"genre": "bn", "place": "Paris"}, "score": None,
    }  # fmt: skip
    assert found["errors"][0]["fields"] == {
        "genre": "bn",
        "place": "Ulm",
        "entity_size": "3-4",
        "distance": None,
    }
    rows = ran("errors", "coref", *files, "--fields", "f.csv", "--format", "csv").splitlines()
    assert rows[0] == "error,document,entity,mentions,genre,place,entity_size,distance"
    assert rows[3] == "missing entity,bn/3,0,0-0,bn,Paris,1,"
    assert "slices" not in json.loads(ran("errors", "coref", *files, "--json"))


def test_one_document(files, ran, run):
    printed = ran("errors", "coref", *files, "--document", "bn/1")
    assert "Documents with" not in printed
    assert [line.split() for line in printed.splitlines()[2:9]][-1] == ["spurious", "mention", "0"]
    found = json.loads(ran("errors", "coref", *files, "--document", "bn/1", "--json"))
    assert {error["document"] for error in found["errors"]} == {"bn/1"}
    assert found["counts"]["split entity"] == 1
    assert found["counts"]["missing mention"] == 0
    done = run("errors", "coref", *files, "--document", "bn/9")
    assert done.exit_code == 2
    expected = (
        "no document 'bn/9' in the key. Did you mean 'bn/3'? (the key has 'bn/1', 'nw/2', 'bn/3')"
    )
    assert done.stderr == f"Error: {expected}\n"


def test_fields_that_are_not_there(files, run):
    done = run("errors", "coref", *files, "--by", "mention_type")
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: mention_type needs parts of speech")
    done = run("errors", "coref", *files, "--by", "size")
    expected = "no field 'size' to count errors by. Did you mean 'entity_size'? (choose from: genre, entity_size, distance)"
    assert done.stderr == f"Error: {expected}\n"


def write_words(name, words, mentions):
    """Write a document of CoNLL, a word a row, with the cells of mentions by token."""
    rows = [f"{name}\t{i}\t{word}\t{mentions.get(i, '-')}" for i, word in enumerate(words)]
    return "\n".join([f"#begin document ({name})", *rows, "", "#end document", ""])


INN = ["The", "keeper", "was", "on", "her", "way", "to", "Ulm", ".", "She", "liked", "it", "."]
ZOO = ["Ana", "fed", "herself"]


@pytest.fixture
def words(here):
    """In the inn, "her" is in the entity of Ulm; in the zoo, both mentions are missing."""
    entities = {0: "(0", 1: "0)", 4: "(0)", 7: "(1)", 9: "(0)", 11: "(1)"}
    key = [write_words("inn", INN, entities), write_words("zoo", ZOO, {0: "(5)", 2: "(5)"})]
    response = [write_words("inn", INN, {**entities, 4: "(1)"}), write_words("zoo", ZOO, {})]
    Path("key.conll").write_text("".join(key))
    Path("response.conll").write_text("".join(response))
    return "key.conll", "response.conll"


def test_documents_by_score(here, ran):
    # Ten wrong mentions of a hundred in the first document, the only two of the second.
    key = {
        "long": [[[i, i], [i + 1, i + 1]] for i in range(0, 100, 2)],
        "short": [[[0, 0], [1, 1]]],
    }
    write_jsonl(Path("key.jsonl"), key)
    write_jsonl(Path("response.jsonl"), {"long": key["long"][5:], "short": []})
    files = ("errors", "coref", "key.jsonl", "response.jsonl", "--json")
    by_errors = json.loads(ran(*files))["documents"]
    assert [(one["document"], one["score"]) for one in by_errors] == [
        ("long", None),
        ("short", None),
    ]
    by_score = json.loads(ran(*files, "--sort", "score", "--metrics", "muc"))["documents"]
    assert [one["document"] for one in by_score] == ["short", "long"]
    # 45 of 50 links: recall 0.9, precision 1
    assert [one["score"] for one in by_score] == pytest.approx([0, 2 * 0.9 / 1.9])
    printed = ran(*files[:-1], "--sort", "score", "--metrics", "muc")
    assert "Documents with the lowest scores" in printed
    assert "94.74" in printed


def test_options_are_those_of_the_score(here, ran, run):
    key = {"a": [[[0, 0], [1, 1]], [[3, 3]]], "b": [[[0, 0], [1, 1]]]}
    write_jsonl(Path("key.jsonl"), key)
    write_jsonl(Path("response.jsonl"), {"a": [[[0, 0], [1, 1]], [[4, 4]]]})

    def count(*flags):
        printed = ran("errors", "coref", "key.jsonl", "response.jsonl", *flags, "--json")
        found = json.loads(printed)["counts"]
        return found["missing entity"], found["spurious entity"]

    assert count() == (2, 1)
    assert count("--keep-singletons", "false") == (1, 0)
    assert count("--missing", "skip") == (1, 1)
    assert count("--preset", "conll2012") == (2, 1)
    assert count("--average", "documents", "--blanc-edge", "luo2014", "--layer", "identity") == (
        2,
        1,
    )
    repeated = {"a": [[[0, 0], [1, 1]], [[1, 1], [3, 3]]], "b": [[[0, 0], [1, 1]]]}
    write_jsonl(Path("twice.jsonl"), repeated)
    found = run("errors", "coref", "twice.jsonl", "twice.jsonl", "--preset", "conll2012")
    assert "note: a mention that is in several entities is listed in its first one." in found.stderr
    assert found.exit_code == 0
