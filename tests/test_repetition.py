"""Options that are given twice: values add up, or the last one counts; fields are offered where there are some."""

import json
import re

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


def test_the_command_line_replaces_a_default_from_the_environment(predictions):
    def call(*more):
        given = [*SCORE[:-1], *more]
        settings = {"CLOSEREAD_SCORE_MCTACO_STYLE": "csv"}
        return CliRunner().invoke(
            main, given, auto_envvar_prefix="CLOSEREAD", env=settings, catch_exceptions=False
        )

    assert call().stdout.startswith("field,value,")
    assert json.loads(call("--format", "json").stdout)["corpus"] == "mctaco"


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
    assert "genre, treebank, language, folder, entity_size" in " ".join(
        ran("errors", "coref", "--help").split()
    )
