"""One name for one thing: a corpus, its procedure and the procedure's only module, wherever one of them is accepted."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import closeread
from closeread import scoring
from closeread.corpus import names
from closeread.corpus.names import load_corpus
from closeread.exceptions import RequestError
from closeread.hf import modules

TIMELINE = ("semeval2015_timeline", "timeline", "timeline_awareness")


def test_corpora_are_shown_and_exported_by_all_names(ran):
    ids = [ran("show", name, "--config", "sample", "--ids") for name in TIMELINE]
    assert len(set(ids)) == 1
    rows = []
    for name in TIMELINE:
        ran("export", name, name, "--config", "sample", "--format", "jsonl")
        rows.append(Path(name, "sample", "test.jsonl").read_bytes())
    assert len(set(rows)) == 1


@pytest.mark.parametrize("aliases", [TIMELINE, ("wikipossessions", "possession")], ids=" ".join)
def test_figures_are_the_same_by_any_name(ran, aliases):
    printed = [ran("info", name, "--stats", "--config", "sample", "--json") for name in aliases]
    assert len(set(printed)) == 1
    assert json.loads(printed[0])["corpus"] == aliases[0]


def test_a_procedure_that_takes_a_key_names_its_corpus_elsewhere(ran):
    printed = [ran("info", name, "--schema") for name in ("tne", "tne_links")]
    assert printed[0] == printed[1]
    assert "KEY RESPONSE" in ran("score", "coref", "--help").split("\n")[0]
    assert "KEY" not in ran("score", "marmara_coref", "--help").split("\n")[0]


def test_a_system_is_scored_and_compared_by_any_name(ran):
    for name in TIMELINE:
        ran("baseline", name, "creation-time", "--config", "sample", "-o", f"{name}.jsonl")
        report = json.loads(
            ran("score", name, f"{name}.jsonl", "--config", "sample", "--no-ci", "--json")
        )
        assert (report["corpus"], report["procedure"]) == ("semeval2015_timeline", "timeline")
        assert "valid" in ran("validate", name, f"{name}.jsonl", "--config", "sample")
    assert len({Path(f"{name}.jsonl").read_bytes() for name in TIMELINE}) == 1


@pytest.fixture
def two_coreference_corpora(monkeypatch):
    """Marmara, and a corpus that is scored by the same procedure."""
    other = replace(load_corpus("marmara_coref"), name="other_coref")
    known = sorted([*names.corpus_names(), "other_coref"])
    monkeypatch.setattr(names, "corpus_names", lambda: known)
    monkeypatch.setattr(
        names, "load_corpus", lambda name: other if name == "other_coref" else load_corpus(name)
    )


def test_a_procedure_of_several_corpora_says_which_to_choose(two_coreference_corpora, run):
    message = "ontonotes, other_coref and preco; give the name of a corpus"
    with pytest.raises(RequestError, match=message):
        names.find_corpus("coref")
    assert message in run("baseline", "coref").stderr
    assert scoring.find_procedure("coref")[1] is None  # it takes a key


def test_another_corpus_of_the_procedure_is_not_meant(two_coreference_corpora, run):
    assert names.list_equivalents("other_coref") == ["other_coref", "coref"]
    assert names.find_corpus("other_coref").name == "other_coref"
    assert "other_coref has nothing to prepare" in run("prepare", "other_coref", "chains").stderr


def test_a_board_is_found_by_any_name(ran, run):
    ran("leaderboard", "init", "board", "--corpus", "timeline", "--config", "sample")
    for name in TIMELINE:
        ran("baseline", name, "creation-time", "--config", "sample", "-o", "mine.jsonl")
        given = [
            "leaderboard",
            "submit",
            name,
            "mine.jsonl",
            "--system",
            "Mine",
            "--to",
            "board",
            "--dry-run",
        ]
        assert "would be submitted to semeval2015_timeline-sample/test" in ran(*given)
    assert (
        "no such board of mctaco"
        in run("submit", "mctaco", "mine.jsonl", "--system", "M", "--to", "board").stderr
    )


def test_modules_are_found_by_the_name_of_what_they_score(monkeypatch):
    found = [
        modules.find_module(name)
        for name in (*TIMELINE, "wikipossessions", "tne", "mctaco", "coref_lea")
    ]
    assert found == [*["timeline_awareness"] * 3, "possession", "tne_links", "mctaco", "coref_lea"]
    with pytest.raises(RequestError, match="procedure tlinks has no module"):
        modules.find_module("tlinks")
    monkeypatch.setattr(modules, "module_names", lambda: ["tne_a", "tne_b"])
    procedure = replace(modules.load_procedure("tne"), modules=("tne_a", "tne_b"))
    monkeypatch.setattr(modules, "load_procedure", lambda name: procedure)
    with pytest.raises(
        RequestError, match=r"procedure tne has several modules \(choose from: tne_a, tne_b\)"
    ):
        modules.find_module("tne")


def test_an_unknown_option_of_a_group_stays_one(run):
    # with quotation marks since click 8.4
    assert re.search("No such option:? '?--foo", run("--foo").stderr)


def test_a_board_is_declared_and_found_by_any_name_in_python(tmp_path):
    rows = closeread.baseline(
        "timeline", "creation-time", config="sample", output=tmp_path / "mine.jsonl"
    )
    assert rows
    for name in TIMELINE:
        store = tmp_path / name
        closeread.init_leaderboard(store, procedure=name, config="sample")
        receipt = closeread.submit(
            name, tmp_path / "mine.jsonl", system="Mine", to=store, dry_run=True
        )
        assert receipt.board == "semeval2015_timeline-sample/test"
