"""The commands of the docs that train models, with a random encoder in place of the one that they name."""

import json
import shlex
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from click.testing import CliRunner
from pages import find_commands
from shared.tiny_encoder import make_encoder

from closeread.cli import main

pytestmark = pytest.mark.gate

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("page", "n_commands"), [("tne.md", 3), ("mctaco.md", 5)])
def test_commands_of_the_docs(page, n_commands, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_encoder(tmp_path / "bert-base-uncased", ["the", "barn", "two", "days"], width=8)
    commands = find_commands((DOCS / page).read_text("utf-8"), "an encoder")
    assert len(commands) == n_commands
    for command in commands:
        if "plot" in command:
            pytest.importorskip("matplotlib")
        program, *arguments = shlex.split(command)
        assert program == "closeread"
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, (command, done.output)
    assert json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))["state"] == "complete"
