"""Slices of coreference by every way to a score: files, records, evaluate, stored and merged counts."""

import json
from pathlib import Path

import pytest
from shared.coreference import KEY, NO_INTERVALS, RESPONSE, write_conll, write_jsonl

import closeread
from closeread.exceptions import RequestError

NAMES = {"a": "bn/cnn/00/cnn_0001; part 000", "b": "nw/xin/01/xin_0100; part 000"}


@pytest.fixture
def pair(here):
    """Key and response with names as in CoNLL-2012."""
    for side, documents in (("key", KEY), ("response", RESPONSE)):
        write_jsonl(
            Path(f"{side}.jsonl"), {NAMES[name]: clusters for name, clusters in documents.items()}
        )
    return "key.jsonl", "response.jsonl"


def values(slices):
    """Return the scores of slices by field, value and name."""
    return {
        field: {
            value: {name: one["value"] for name, one in part["scores"].items()}
            for value, part in of.items()
        }
        for field, of in slices.items()
    }


def score(**options):
    """Score the pair, and return its slices as JSON does."""
    report = closeread.score(
        "coref", "response.jsonl", gold="key.jsonl", resampling=NO_INTERVALS, **options
    )
    return values(report.to_dict()["slices"])


FIELDS = ("genre", "entity_size", "distance")


def test_genres_are_scored_as_if_alone(pair):
    slices = score(by="genre")["genre"]
    assert list(slices) == ["bn", "nw"]
    for (name, clusters), genre in zip(KEY.items(), slices, strict=True):
        write_jsonl(Path("k.jsonl"), {name: clusters})
        write_jsonl(Path("r.jsonl"), {name: RESPONSE[name]})
        alone = closeread.score("coref", "r.jsonl", gold="k.jsonl", resampling=NO_INTERVALS)
        assert slices[genre] == {name: one.value for name, one in alone.total.scores.items()}


def test_the_command_line_and_stored_counts(pair, ran):
    expected = score(by=FIELDS)
    by = [part for field in FIELDS for part in ("--by", field)]
    said = ran("score", "coref", *pair, "--no-ci", "--json", *by, "--counts", "kept.parquet")
    assert values(json.loads(said)["slices"]) == expected
    assert ran("score", "--from-counts", "kept.parquet", "--no-ci", "--json", *by) == said
    # Without --by, all that can be counted is stored, and the report is that without slices.
    said = ran("score", "coref", *pair, "--no-ci", "--json", "--counts", "all.parquet")
    assert said == ran("score", "coref", *pair, "--no-ci", "--json")
    again = ran("score", "--from-counts", "all.parquet", "--no-ci", "--json", *by)
    assert values(json.loads(again)["slices"]) == expected


def test_slices_have_only_counts_of_their_own(pair, ran):
    found = json.loads(ran("score", "coref", *pair, "--no-ci", "--json", "--by", "entity_size"))
    part = found["slices"]["entity_size"]["2"]
    assert part["counts"]["muc/found_of_key"] == part["counts"]["muc/key"] == 1
    assert not any(
        name.startswith(("ceaf", "blanc", "conll")) for name in (*part["counts"], *part["scores"])
    )
    assert found["scores"].keys() > part["scores"].keys()


def test_shards_without_a_genre_merge_without_it(pair, ran, run):
    write_jsonl(Path("plain.jsonl"), {"ferry": [[[0, 0], [1, 1]]]})
    ran("score", "coref", *pair, "--no-ci", "--counts", "a.parquet")
    ran("score", "coref", "plain.jsonl", "plain.jsonl", "--no-ci", "--counts", "b.parquet")
    merged = run("merge", "a.parquet", "b.parquet", "-o", "all.parquet")
    assert (
        merged.stderr == "note: the merged counts can't be sliced by genre: only some files can\n"
    )
    assert "entity_size" in ran(
        "score", "--from-counts", "all.parquet", "--no-ci", "--json", "--by", "entity_size"
    )
    done = run("score", "--from-counts", "all.parquet", "--by", "genre")
    assert done.exit_code == 2
    assert "no document has a genre to slice by (choose from: entity_size, " in done.stderr


def test_evaluate(pair, evaluate):
    expected = score(by="entity_size")["entity_size"]
    references, predictions = (list(side.values()) for side in (KEY, RESPONSE))
    for name in ("coref_muc", "coref_b3", "coref_lea"):
        report = evaluate.load(name).report(
            predictions=predictions,
            references=references,
            by="entity_size",
            resampling=NO_INTERVALS,
        )
        found = values(report.to_dict()["slices"])["entity_size"]
        assert list(found) == list(expected)
        for value, scores in found.items():
            assert scores.items() <= expected[value].items()
    with pytest.raises(RequestError) as error:
        evaluate.load("coref_conll").report(
            predictions=predictions, references=references, by="distance"
        )
    assert (
        str(error.value)
        == "there are no slices of conll by distance (choose from: mentions, muc, b3, lea)"
    )
    with pytest.raises(
        RequestError, match="option fields is one of files or groups, which coref_lea does not read"
    ):
        evaluate.load("coref_lea").compute(
            predictions=predictions, references=references, fields="f.csv"
        )
    with pytest.raises(RequestError, match="mention_type needs parts of speech"):
        evaluate.load("coref_lea").report(
            predictions=predictions, references=references, by="mention_type"
        )


def test_some_metrics(pair, run):
    slices = score(by="distance", metrics=("lea", "conll"))["distance"]
    assert {tuple(scores) for scores in slices.values()} == {
        ("lea/precision", "lea/recall", "lea/f1")
    }
    done = run("score", "coref", *pair, "--metrics", "ceafe,blanc", "--by", "entity_size")
    assert done.exit_code == 2
    expected = "there are no slices of ceafe and blanc by entity_size (choose from: mentions, muc, b3, lea)"
    assert done.stderr == f"Error: {expected}\n"


def test_what_there_is_no_field_for(pair, run, ran):
    done = run("score", "coref", *pair, "--by", "size")
    assert done.exit_code == 2
    known = "genre, entity_size, mention_type, distance, zero, columns of the file given as fields"
    assert (
        done.stderr
        == f"Error: no field 'size' to slice by. Did you mean 'entity_size'? (choose from: {known})\n"
    )
    done = run("score", "coref", *pair, "--by", "mention_type")
    assert done.stderr.endswith("as CorefUD files have them, but the key has none\n")


def test_units_have_their_genre(pair, ran):
    units = json.loads(ran("score", "coref", *pair, "--no-ci", "--json", "--per-unit"))["units"]
    assert [unit["genre"] for unit in units] == ["bn", "nw"]
    write_conll(Path("key.conll"), KEY)
    units = json.loads(
        ran("score", "coref", "key.conll", "key.conll", "--no-ci", "--json", "--per-unit")
    )["units"]
    assert "genre" not in units[0]
