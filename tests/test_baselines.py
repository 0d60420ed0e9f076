"""Baselines of all corpora: their options are their flags, and anything else is refused."""

import json
import pickle
from pathlib import Path

import pytest

from closeread.corpus.baselines import (
    Baseline,
    corpora_with_baselines,
    load_baseline,
    load_baselines,
    path_option,
)
from closeread.counts.procedure import Option, PathOption
from closeread.exceptions import RequestError

BASELINES = [
    pytest.param(corpus, baseline, id=f"{corpus} {baseline.name}")
    for corpus in corpora_with_baselines()
    for baseline in load_baselines(corpus).values()
]


@pytest.mark.parametrize(("corpus", "baseline"), BASELINES)
def test_a_baseline_is_data(corpus, baseline):
    again = pickle.loads(pickle.dumps(baseline))
    assert (again.name, again.options) == (baseline.name, baseline.options)
    assert load_baseline(corpus, baseline.name) is baseline
    assert baseline.description.endswith(".")
    assert all(option.help and option.accepts(option.default) for option in baseline.options)


def repeat(records, *, word, times, file):
    return [{"id": record["id"], "label": word * int(times), "file": file} for record in records]


ECHO = Baseline(
    "echo",
    repeat,
    "Repeat a word.",
    (
        Option("word", ("ah", "oh"), "oh", "How to sigh."),
        Option("times", (), "1", "How often.", "[0-9]", "a digit"),
        path_option("file", "Read this file."),
    ),
)


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        (
            {"words": "ah"},
            r"no such option of baseline echo: 'words'. Did you mean 'word'\? \(choose from: word,",
        ),
        ({"word": "eh"}, "option word: 'eh' is not one of 'ah', 'oh'"),
        ({"times": 12}, "option times: '12' is not valid"),
    ],
)
def test_other_options_and_values_are_refused(chosen, problem):
    with pytest.raises(RequestError, match=problem):
        ECHO.predict([], **chosen)
    with pytest.raises(
        RequestError, match=r"no such option of baseline still: 'seed' \(choose from: none\)"
    ):
        Baseline("still", repeat, "Do nothing.").predict([], seed=1)


def test_what_a_baseline_reads_is_not_written_over(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    articles = Path("articles")
    articles.mkdir()
    (articles / "1.xml").write_text("kept")
    assert any(
        isinstance(option, PathOption)
        for option in load_baseline("semeval2015_timeline", "text-order").options
    )
    command = [
        "baseline",
        "semeval2015_timeline",
        "text-order",
        "--config",
        "sample",
        "--articles",
        articles,
    ]
    done = run(*command, "-o", articles / "1.xml")
    assert done.exit_code == 2
    assert "is also an input; choose another output file" in done.stderr
    assert (articles / "1.xml").read_text() == "kept"


def test_a_corpus_without_baselines(run, monkeypatch):
    monkeypatch.setattr("closeread.corpus.baselines.find_spec", lambda name: None)
    done = run("baseline", "mctaco", "random", "-o", "out")
    assert done.exit_code == 2
    assert "mctaco has no baselines (corpora with baselines: marmara_coref)" in done.stderr


def test_the_command_takes_the_options_in_any_order(ran):
    ran("baseline", "mctaco", "random", "--seed", "1", "--config", "sample", "-o", "one.jsonl")
    ran("baseline", "mctaco", "random", "-o", "two.jsonl", "--config", "sample", "--seed", "1")
    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()
    rows = [json.loads(line) for line in Path("one.jsonl").read_text("utf-8").splitlines()]
    assert [row["label"] for row in load_baseline("mctaco", "random").predict(rows, seed=1)] == [
        row["label"] for row in rows
    ]
