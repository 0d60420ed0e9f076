"""Completion, which is click's own; what is completed is in `recorded/requests.txt`."""

from click.testing import CliRunner

from closeread.cli import main


def test_the_script_is_printed():
    asked = {"_CLOSEREAD_COMPLETE": "zsh_source"}
    done = CliRunner().invoke(main, [], prog_name="closeread", env=asked)
    assert "compdef _closeread_completion closeread" in done.stdout
