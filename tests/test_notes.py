"""Notes: what is known of released files is one line, what is odd about a user's own files is told, quiet is quiet."""

import importlib
import io
import logging
import os
import re
import sys
import time
import warnings
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from shared.commands import list_commands

import closeread
from closeread.cli import main, printing
from closeread.cli.groups import Command as QuietCommand
from closeread.cli.groups import Group as QuietGroup
from closeread.cli.printing import QUIET, quieting_libraries, tell
from closeread.corpus import notices
from closeread.corpus.names import corpus_names
from closeread.progress import report_progress

CORPORA = corpus_names()
SAMPLE = ("--config", "sample")
ODD = "1 possession has a relation to an unknown anchor (first: in 'The Lighthouse Clock')."
NUMBERS = {"tne": 6, "semeval2015_timeline": 9, "wikipossessions": 1}
"""How many kinds of oddities that change nothing a corpus's card describes."""


@pytest.mark.parametrize("name", CORPORA)
def test_info_counts_the_oddities_of_released_files(name, run):
    found = re.findall(
        r"^oddities +(\d+) kinds? in the released files", run("info", name).stdout, re.M
    )
    assert found == ([str(NUMBERS[name])] if name in NUMBERS else [])


@pytest.mark.parametrize(("name", "n_notes"), [("tne", 0), ("semeval2015_timeline", 2)])
def test_the_card_has_a_row_for_each(name, n_notes):
    card = Path(__file__).parent.parent.joinpath("cards", f"{name}.md").read_text("utf-8")
    table = re.search(r"^\|[^\n]* oddity .*?\n\n", card, re.M | re.S)[0]
    assert len(table.strip().splitlines()) - 2 - n_notes == NUMBERS[name]


@pytest.mark.parametrize("name", CORPORA)
def test_nothing_odd_is_told_of_a_sample(name, run):
    assert run("show", name, *SAMPLE).stderr == ""
    assert run("info", name, "--stats", *SAMPLE).stderr == ""


def test_oddities_of_own_files_are_told(run, here):
    sample = (
        Path(str(importlib.resources.files("closeread.loaders.wikipossessions"))) / "sample.csv"
    )
    Path("annotations.csv").write_bytes(sample.read_bytes())
    first, second = run("info", "wikipossessions", "--stats", "--data-dir", ".").stderr.splitlines()
    assert first.startswith("note: split test: annotations.csv is not the released file (sha256 ")
    assert second == f"note: split test: {ODD}"


def test_every_command_can_be_quiet():
    for path, command in [((), main), *list_commands()]:
        params = command.get_params(click.Context(command))
        assert any(param.opts == ["-q", "--quiet"] for param in params), path


def test_equal_notes_are_one_with_their_number(capsys):
    tell(["a", "b", "a", "a"])
    assert capsys.readouterr().err == "note: a (3 times)\nnote: b\n"


def test_every_line_of_a_warning_is_a_note(capsys):
    with quieting_libraries():
        warnings.warn(
            "split a is skipped.\nsplit b is skipped.", closeread.CloseReadWarning, stacklevel=1
        )
    assert capsys.readouterr().err == "note: split a is skipped.\nnote: split b is skipped.\n"


def test_a_warning_is_shown_once_and_an_error_is_one_again(monkeypatch):
    monkeypatch.setattr(notices, "_shown", set())
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(closeread.CloseReadWarning, match="cats"):
                notices.warn("cats")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            notices.warn("cats")
            notices.warn("dogs")
    # Each at the first line outside closeread.
    assert [(str(one.message), one.category, one.filename) for one in caught] == [
        ("cats", closeread.CloseReadWarning, __file__),
        ("dogs", closeread.CloseReadWarning, __file__),
    ]
    assert issubclass(closeread.CloseReadWarning, UserWarning)


@pytest.mark.parametrize(("variables", "told"), [
    ({}, "\x1b[2mnote: a\x1b[0m\n"), ({"NO_COLOR": "1"}, "note: a\n"), ({"TERM": "dumb"}, "note: a\n"),
])  # fmt: skip
def test_notes_are_dim_on_a_terminal(monkeypatch, variables, told):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for name, value in {"NO_COLOR": "", "TERM": "xterm", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stderr", Terminal())
    tell(["a"])
    assert sys.stderr.getvalue() == told


@pytest.mark.parametrize("place", ["before", "after", "both"])
def test_quiet_hides_what_libraries_print_and_only_while_a_command_runs(place, caplog, monkeypatch):
    for name in ("HF_DATASETS_DISABLE_PROGRESS_BARS", "HF_HUB_DISABLE_PROGRESS_BARS"):
        monkeypatch.delenv(name, raising=False)

    @click.group(cls=QuietGroup)
    def group():
        pass

    @group.command(cls=QuietCommand)
    def command():
        with quieting_libraries():
            assert (
                os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"]
                == os.environ["HF_HUB_DISABLE_PROGRESS_BARS"]
                == "1"
            )
            logging.getLogger("datasets").warning("a message")
            logging.getLogger("datasets").error("an error")
            warnings.warn("a warning", UserWarning, stacklevel=1)

    before, after = ["-q"] * (place != "after"), ["-q"] * (place != "before")
    with warnings.catch_warnings(record=True) as caught:
        CliRunner().invoke(group, [*before, "command", *after], catch_exceptions=False)
    assert not caught
    assert caplog.messages == ["an error"]
    assert logging.root.manager.disable == logging.NOTSET


@pytest.mark.parametrize("case", ["terminal", "quiet", "pipe", "fast"])
def test_progress_is_a_line_in_a_terminal(monkeypatch, capsys, case):
    monkeypatch.setattr(printing, "SECONDS_BEFORE_PROGRESS", 60 if case == "fast" else 0.01)
    monkeypatch.setattr(printing, "SECONDS_BETWEEN_CHANGES", 0.01)
    monkeypatch.delitem(sys.modules, "tqdm", raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: case != "pipe", raising=False)
    shown = []

    def wait():
        until = time.monotonic() + (100 if case == "terminal" else 0.1)
        while time.monotonic() < until and "…" not in (text := capsys.readouterr().err):
            time.sleep(0.01)
        shown.append(re.sub("[0-9]+ s", "0 s", text).rpartition(printing.ERASE)[2])

    with click.Context(click.Command("any")) as context:
        context.meta[QUIET] = case == "quiet"
        with printing.showing_line("closeread any"):
            wait()
            report_progress("table", 2, 7)
            wait()
    assert shown == (
        ["closeread any … 0 s", "table 2 of 7 … 0 s"] if case == "terminal" else ["", ""]
    )
