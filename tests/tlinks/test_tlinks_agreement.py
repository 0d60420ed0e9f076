"""`closeread agreement tlinks` on invented files, and on the two annotators of NarrativeTime."""

import json
from pathlib import Path

import pytest

# Anna: three links.  Ben: the first of them turned round, and one that is wrong.  Cem: no links.
PAIRS = {
    "anna.tsv": "harbour\te1\te2\tb\nharbour\te2\te3\tb\nmarket\te1\te2\ts\n",
    "ben.tsv": "harbour\te2\te1\ta\nmarket\te1\te2\ti\n",
    "cem.tsv": "harbour\te1\te2\tv\nmarket\te1\te2\tv\n",
}


@pytest.fixture
def annotators(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in PAIRS.items():
        Path(name).write_text(text)
    return list(PAIRS)


def test_two_annotators(ran, annotators):
    found = json.loads(ran("agreement", "tlinks", *annotators[:2], "--json"))
    # One of Ben's 2 links is one of Anna's 3; F1 is 2 * 1 / (2 + 3).
    scores = found["pairs"][0]["scores"]
    assert scores == pytest.approx(
        {"awareness/precision": 1 / 2, "awareness/recall": 1 / 3, "awareness/f1": 2 / 5}
    )
    assert (found["unit"], found["n_units"]) == ("document", 2)
    swapped = json.loads(ran("agreement", "tlinks", *reversed(annotators[:2]), "--json"))
    assert swapped["mean"] == found["mean"]
    assert swapped["pairs"][0]["scores"]["awareness/precision"] == pytest.approx(1 / 3)


def test_three_annotators(ran, annotators):
    found = json.loads(ran("agreement", "tlinks", *annotators, "--json"))
    assert [(pair["first"], pair["second"]) for pair in found["pairs"]] == [
        ("anna.tsv", "ben.tsv"),
        ("anna.tsv", "cem.tsv"),
        ("ben.tsv", "cem.tsv"),
    ]
    # Where only one annotator has links, nothing is common.
    assert found["mean"]["awareness/f1"] == pytest.approx((2 / 5 + 0 + 0) / 3)


def test_annotators_have_the_same_documents(run, annotators):
    Path("ben.tsv").write_text(PAIRS["ben.tsv"].partition("\n")[0])
    done = run("agreement", "tlinks", *annotators[:2])
    assert "ben.tsv: lacks 1 of 2 documents of the key: 'market'" in done.stderr
    done = run("agreement", "tlinks", "anna.tsv")
    assert "only one annotator's file is given (expected two or more)" in done.stderr


def test_narrative_time(corpora, ran):
    folder = corpora / "peers" / "nt/corpus/timebank/nt_converted_to_tml"
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    found = json.loads(ran("agreement", "tlinks", f"{folder}/a1", f"{folder}/a2", "--json"))
    # Computed by an earlier release from files without the links OVERLAP.
    rounded = {name: round(100 * value, 2) for name, value in found["pairs"][0]["scores"].items()}
    assert found["n_units"] == 34
    assert rounded == {
        "awareness/precision": 74.38,
        "awareness/recall": 69.52,
        "awareness/f1": 71.87,
    }
