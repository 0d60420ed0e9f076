"""Options that are given twice: values add up, or the last one counts; fields are offered where there are some."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from closeread import scoring
from closeread.cli import main
from closeread.corpus.names import corpus_names
from closeread.tasks import load_procedure, procedure_names

SCORE = ("score", "mctaco", "yes.jsonl", "--config", "sample", "--no-ci", "--json")


@pytest.fixture
def predictions(ran):
    """Predictions for the sample of McTaco."""
    ran("baseline", "mctaco", "always-positive", "--config", "sample", "-o", "yes.jsonl")


def test_metrics_add_up_however_they_are_given(run, here):
    Path("key.jsonl").write_text('{"document": "d", "clusters": [[[0, 0], [2, 2]]]}\n', "utf-8")
    ways = (["--metrics", "muc,lea"], ["--metrics", "muc", "--metrics", "lea"], ["--metrics", "lea, muc,muc"])
    found = [run("score", "coref", "key.jsonl", "key.jsonl", "--no-ci", "--json", *way) for way in ways]
    scores = [json.loads(one.stdout)["scores"] for one in found]
    assert {name.partition("/")[0] for name in scores[0]} == {"muc", "lea"}
    assert scores[0] == scores[1] == scores[2]
    assert "no such coref metric: 'x'" in run("score", "coref", "k", "r", "--metrics", "muc", "--metrics", "x").stderr


def test_fields_add_up_however_they_are_given(ran):
    ran("baseline", "tne", "surface", "--config", "sample", "-o", "mine.jsonl")
    ways = (["--by", "domain,forum"], ["--by", "domain", "--by", "forum"], ["--by", "domain, forum", "--by", "domain"])
    score = ("score", "tne", "mine.jsonl", "--config", "sample", "--no-ci", "--json")
    slices = [json.loads(ran(*score, *way))["slices"] for way in ways]
    assert list(slices[0]) == ["domain", "forum"]
    assert slices[0] == slices[1] == slices[2]


def test_the_last_way_to_choose_a_format_counts(ran, predictions):
    assert ran(*SCORE[:-1], "--format", "csv", "--json") == ran(*SCORE) == ran(*SCORE, "--json")
    assert ran(*SCORE[:-1], "--json", "--format", "csv") == ran(*SCORE[:-1], "--format", "csv")


def test_the_command_line_replaces_a_default_from_the_environment(predictions):
    def call(*more):
        given = [*SCORE[:-1], *more]
        settings = {"CLOSEREAD_SCORE_MCTACO_STYLE": "csv"}
        return CliRunner().invoke(main, given, auto_envvar_prefix="CLOSEREAD", env=settings, catch_exceptions=False)

    assert call().stdout.startswith("field,value,")
    assert json.loads(call("--format", "json").stdout)["corpus"] == "mctaco"


def test_an_option_of_a_procedure_is_set_once(run):
    for command in (["leaderboard", "init", "board", "--corpus", "tne"], ["publish", "codabench", "tne", "task"]):
        told = run(*command, "--option", "uprep=any", "--option", "uprep=last").stderr
        assert "Invalid value for '--option': option uprep is given twice: any and last." in told
        assert (
            "'uprep' is not an option with its value (expected NAME=VALUE)."
            in run(*command, "--option", "uprep").stderr
        )


def test_fields_are_offered_where_there_are_some(ran):
    for name in (*procedure_names(), *corpus_names()):
        procedure, _ = scoring.find_procedure(name)
        shown = " ".join(ran("score", name, "--help").split())
        fields = [*procedure.fields, *procedure.breakdowns]
        assert ("--by FIELD" in shown) == bool(fields)
        assert not fields or f"Choose from: {', '.join(fields)}" in shown
    assert not load_procedure("timeline").fields
    refused = CliRunner().invoke(main, ["score", "timeline", "x", "--by", "y"]).stderr
    assert re.search(r"No such option:? '?--by", refused)  # versions of click word it in two ways
    assert "genre, entity_size" in " ".join(ran("errors", "coref", "--help").split())
