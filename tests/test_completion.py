"""Completion, which is click's own: what a shell is told of commands, options and choices."""

import pytest
from click.testing import CliRunner

from closeread.cli import main


def complete(line):
    """What completes the last word of a line, as fish is told."""
    asked = {"COMP_WORDS": f"closeread {line}", "COMP_CWORD": line.rpartition(" ")[2]}
    asked["_CLOSEREAD_COMPLETE"] = "fish_complete"
    done = CliRunner().invoke(main, [], prog_name="closeread", env=asked)
    lines = done.stdout.strip().splitlines()
    return [one.partition("\t")[0].removeprefix("plain,") for one in lines]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("exp", ["export"]),
        ("score coref_", []),
        ("score wikip", ["wikipossessions"]),
        ("score coref --dup", ["--duplicates"]),
        ("score timeline --format l", ["latex"]),
        ("score nothing --from", ["--from-counts"]),
    ],
)
def test_commands_options_and_choices_are_completed(line, expected):
    assert complete(line) == expected


def test_the_script_is_printed():
    asked = {"_CLOSEREAD_COMPLETE": "zsh_source"}
    done = CliRunner().invoke(main, [], prog_name="closeread", env=asked)
    assert "compdef _closeread_completion closeread" in done.stdout
