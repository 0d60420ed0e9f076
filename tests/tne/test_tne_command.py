"""`closeread score tne` and its kin, on the sample and on the release."""

import csv
import io
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
from closeread.tasks.tne.tne_arrays import dump_submission

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


def shown(output, metric):
    """The figures of a metric in a table."""
    (line,) = (line for line in output.splitlines() if line.startswith(metric))
    return line.removeprefix(metric).split()


def test_gold_scores_all(ran, gold, tmp_path):
    path = json_lines.write(tmp_path / "gold.jsonl", as_rows(gold))
    output = ran("score", "tne", path, "--config", "sample", "--no-ci")
    for metric in ("Links", "Unlabelled links", "Triplets"):
        assert shown(output, metric)[:3] == ["100.00", "100.00", "100.00"]
    assert shown(output, "IPrep accuracy")[0] == "100.00"
    assert shown(output, "UPrep accuracy") == ["–"]
    assert "tne|version:1|uprep:any|missing:error|gold:" in output


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


def test_every_unit(ran, some, gold):
    table = ran("score", "tne", some, "--config", "sample", "--per-unit", "--format", "csv")
    found = {row["document"]: row for row in csv.DictReader(io.StringIO(table))}
    assert {name: (row["domain"], row["forum"]) for name, row in found.items()} == {
        record["id"]: (record["domain"], record["forum"] or "none") for record in gold
    }
    report = closeread.score("tne", some, config="sample", resampling=Resampling(0))
    for name, count in report.total.counts.items():
        assert sum(float(row[name]) for row in found.values()) == count


def test_options(ran, some):
    reports = {
        uprep: json.loads(ran("score", "tne", some, "--config", "sample", "--uprep", uprep, "--json", "--no-ci"))
        for uprep in ("any", "last")
    }
    assert reports["last"]["options"] == {"uprep": "last", "missing": "error"}
    differ = {name for name, score in reports["any"]["scores"].items() if score != reports["last"]["scores"][name]}
    assert differ <= {"uprep"}


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


def test_kept_counts_compare_as_files_do(ran, gold, some, tmp_path):
    other = json_lines.write(tmp_path / "other.jsonl", as_rows(gold, 3))

    def differences(*arguments):
        (comparison,) = json.loads(ran("compare", "tne", *arguments, "--json"))
        return comparison["differences"]

    compared = differences(some, other, "--config", "sample")
    for path in (some, other):
        ran("score", "tne", path, "--config", "sample", "--counts", path.with_suffix(".parquet"))
    assert differences(some.with_suffix(".parquet"), other.with_suffix(".parquet")) == compared
    arrays = tmp_path / "arrays.jsonl"
    arrays.write_text(dump_submission(list(as_rows(gold, 3)), gold), "utf-8")
    # The arrays keep the first preposition of a pair, which is all that pairs are scored by.
    same = differences(other, arrays, "--config", "sample")
    of_pairs = [name for name in same if name.split("/")[0] in ("links", "unlabeled", "iprep")]
    assert [same[name]["value"] for name in of_pairs] == [0] * 3
    assert compared["links/f1"]["value"] < 0


def test_validate(run, ran, some, tmp_path):
    told = ran("validate", "tne", some, "--config", "sample")
    assert "valid; 4 of 4 gold records of tne test (sample) have predictions" in told
    broken = json_lines.write(tmp_path / "broken.jsonl", [{"id": "s1", "relations": []}, {"id": "s9", "relations": []}])
    refused = run("validate", "tne", broken, "--config", "sample")
    assert refused.exit_code == 1
    assert "broken.jsonl:2: id 's9' is not in the gold" in refused.stderr


def test_own_gold(ran, gold, some, tmp_path):
    own = json_lines.write(tmp_path / "own.jsonl", gold)
    here = json.loads(ran("score", "tne", some, "--gold", own, "--json"))
    there = json.loads(ran("score", "tne", some, "--config", "sample", "--json"))
    assert here["signature"] == there["signature"]
    assert here["scores"] == there["scores"]


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
