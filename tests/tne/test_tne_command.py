"""`closeread score tne` and its kin, on the sample and on the release."""

import json

import pytest
from shared import json_lines
from shared.for_each import for_each
from shared.tne_links import gold_links

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.estimates import Resampling
from closeread.tasks.tne.columns import PREPOSITIONS

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*known odd:closeread.CloseReadWarning", "ignore:2 linked noun phrases:closeread.CloseReadWarning"
)  # those of the samples are expected

TNE = load_corpus("tne")


def as_rows(records, every=1):
    """The gold links as a system sends them, or every second or third of each document; the rest fall back on `of`."""
    for record in records:
        links = gold_links(record)
        row = {"id": record["id"], "relations": links[::every]}
        if every > 1:
            pairs = dict.fromkeys((link["anchor"], link["complement"]) for link in links)
            row["fallback"] = [{"anchor": a, "complement": c, "preposition": "of"} for a, c in pairs]
        yield row


@pytest.fixture
def gold():
    return read_gold(TNE, "sample").records


@pytest.fixture
def some(gold, tmp_path):
    """Every second gold link."""
    return json_lines.write(tmp_path / "some.jsonl", as_rows(gold, 2))


@for_each("by", ["domain", "forum", "preposition", "expressed"])
def test_slices(ran, some, by):
    output = json.loads(ran("score", "tne", some, "--config", "sample", "--by", by, "--json", "--no-ci"))
    report = closeread.score("tne", some, config="sample", by=by, resampling=Resampling(0))
    assert output == report.to_json()
    parts = report.slices[by]
    values = {
        "domain": {"news", "reddit", "books"},
        "forum": {"none", "Cats"},
        "preposition": set(parts) & set(PREPOSITIONS[1:]),
        "expressed": {"implicit", "explicit"},
    }[by]
    assert set(parts) == values
    for name, count in report.total.counts.items():
        assert sum(part.counts[name] for part in parts.values()) == count
    table = ran("score", "tne", some, "--config", "sample", "--by", by)
    assert all(f"\n{value} " in table for value in ("all", *values))


def test_missing_documents(run, ran, gold, tmp_path):
    rows = list(as_rows(gold, 2))
    path = json_lines.write(tmp_path / "three.jsonl", rows[:3])
    refused = run("score", "tne", path, "--config", "sample")
    assert refused.exit_code == 1
    assert "1 of 4 ids has no prediction: 's4'. Add it, or use --missing empty" in refused.stderr
    empty, skipped = (
        json.loads(ran("score", "tne", path, "--config", "sample", "--missing", missing, "--json", "--no-ci"))
        for missing in ("empty", "skip")
    )
    assert (empty["n_units"], skipped["n_units"]) == (4, 3)
    assert empty["missing"] == skipped["missing"] == 1
    assert empty["signature"] != skipped["signature"]
    assert empty["counts"]["links/system"] == skipped["counts"]["links/system"]
    assert empty["counts"]["links/gold"] > skipped["counts"]["links/gold"]
    slices = json.loads(
        ran("score", "tne", path, "--config", "sample", "--missing", "skip", "--by", "preposition", "--json", "--no-ci")
    )["slices"]["preposition"]
    assert all(part["n_units"] <= 3 for part in slices.values())


@pytest.mark.gate
def test_the_unlabelled_files_can_be_validated_and_not_scored(run, ran, corpora, tmp_path):
    records = read_gold(TNE, "unlabeled", "test").records
    path = json_lines.write(tmp_path / "system.jsonl", ({"id": record["id"], "relations": []} for record in records))
    assert "valid; 500 of 500 gold records of tne test (unlabeled) have predictions" in ran(
        "validate", "tne", path, "--config", "unlabeled"
    )
    refused = run("score", "tne", path, "--config", "unlabeled")
    assert refused.exit_code == 2
    assert "500 of 500 documents have no gold links (first: 'r1491')" in refused.stderr


@pytest.mark.gate
def test_the_release(ran, corpora, tmp_path):
    path = json_lines.write(tmp_path / "gold.jsonl", as_rows(read_gold(TNE).records))
    report = json.loads(ran("score", "tne", path, "--json", "--by", "domain"))
    assert report["counts"]["links/gold"] == 106_201
    assert report["counts"]["triplets/gold"] == 120_196
    assert {score["value"] for name, score in report["scores"].items() if name != "uprep"} == {1}
    assert {score["low"] for name, score in report["scores"].items() if name != "uprep"} == {1}
    assert report["scores"]["uprep"]["value"] is None
    assert report["released"] is True
    assert list(report["slices"]["domain"]) == ["news"]
