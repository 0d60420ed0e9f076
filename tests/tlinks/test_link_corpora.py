"""Corpora of temporal links by name: their samples, their splits, and the released files against themselves."""

import json

import pytest

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import corpus_names, load_corpus
from closeread.counts.estimates import Resampling
from closeread.exceptions import FormatError, UnavailableError
from closeread.files import package_folder

QUICK = Resampling(n_resamples=0)
FAMILY = [name for name in corpus_names() if load_corpus(name).family == "tlinks"]
# Vague links are noted.
pytestmark = pytest.mark.filterwarnings("ignore:.*without a relation:closeread.CloseReadWarning")

SAMPLE = package_folder("closeread.loaders.tlinks") / "sample"


def test_the_family():
    assert FAMILY == ["matres", "narrativetime", "tddauto", "tddman", "timebank_dense"]
    assert all(load_corpus(name).redistribution for name in FAMILY)


@pytest.mark.parametrize("name", FAMILY)
def test_the_records_of_a_sample_are_a_perfect_response(name, tmp_path):
    records = [dict(record) for record in read_gold(load_corpus(name), "sample").records]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    for response in (records, file):
        report = closeread.score(name, response, config="sample", resampling=QUICK)
        assert report.scores["awareness/f1"].value == 1
    # The other document is missing.
    del records[0]
    report = closeread.score(name, records, config="sample", resampling=QUICK)
    assert report.scores["awareness/precision"].value == 1
    assert 0 < report.scores["awareness/recall"].value < 1


def test_matres_is_about_starts():
    """A sample of pairs is scored like its file, and a response that turns a pair round is right."""
    response = [
        {
            "document": "ferry",
            "tlinks": [
                {"source": "ei1", "relation": "STARTS_BEFORE", "target": "ei5"},
                {"source": "ei1", "relation": "STARTS_BEFORE", "target": "ei2"},
            ],
        }
    ]
    report = closeread.score("matres", response, config="sample", resampling=QUICK)
    assert report.scores["awareness/precision"].value == 1 / 2
    # Two of the key's four links that are not vague are in the other document, and so is none of the response.
    assert report.scores["awareness/recall"].value == 1 / 4


def test_two_annotators_agree_on_some_links():
    """By hand: of mill_fire's two links each, BEFORE is the same, and so is ferry's link, written the other way round."""
    agreement = closeread.agreement("tlinks", SAMPLE / "nt" / "a1", SAMPLE / "nt" / "a2")
    # The second annotator's third link of mill_fire follows from the others, and is not counted.
    assert agreement.to_dict()["mean"]["awareness/f1"] == pytest.approx(2 / 3)


def test_splits_of_timebank_dense_are_a_partition():
    only = load_corpus("timebank_dense").configs["default"].traits.only
    assert {split: len(names) for split, names in only.items()} == {
        "train": 22,
        "validation": 5,
        "test": 9,
    }
    assert len({name for names in only.values() for name in names}) == 36


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.usefixtures("corpora")
def test_a_corpus_against_itself(name):
    try:
        gold = read_gold(load_corpus(name), None, "test")
    except (UnavailableError, FormatError):
        pytest.skip(f"{name} is not here")
    report = closeread.score(name, list(gold.records), resampling=QUICK)
    assert report.scores["awareness/f1"].value == 1
