"""`closeread score tne` and its kin, on the sample and on the release."""

import json

import pytest
from shared import json_lines
from shared.tne_links import gold_links

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus

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
