"""Every command that reads files, as it is called; and what a leaderboard is sent."""

from pathlib import Path
from unittest import mock

from click.testing import CliRunner
from shared.boards import score_here
from shared.every_command import fill_in, list_lines, write_inputs
from shared.file_faults import read_tree
from shared.fuzzing.target import Target
from shared.fuzzing.watching import is_shown_safely

from closeread.cli import main
from closeread.exceptions import RequestError

DRAWING = ("plot categories", "plot possession", "plot timeline-relations")
"""The others draw the same texts, or none."""

LARGEST = 200_000
"""Bytes of a file that is changed; others are only read."""


def make_command_targets():
    """A target for each command with inputs, by its name; to be called in an empty working folder."""
    import sklearn.feature_extraction.text  # noqa: F401 (they take longer than an input may, on a busy machine)

    submission = write_inputs()
    found = {}
    for name, line in list_lines().items():
        words = fill_in(line, submission)
        given = [word for word in words if word.startswith("in/")]
        is_too_much = words[0] == "plot" and name not in DRAWING
        if not given or is_too_much or any(word.startswith("out/") and Path("in", word[4:]).exists() for word in words):
            continue
        files = {path: data for word in given for path, data in _read(word).items()}
        found[f"command-{name.replace(' ', '-')}"] = Target(files, tuple(sorted(files)), _call(words))
    return found


def _read(word):
    """The files of an input, by their paths in `in`."""
    path = Path(word)
    paths = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return {one.relative_to("in").as_posix(): one.read_bytes() for one in paths if not one.name.startswith(".")}


def _call(words):
    def call(folder, output):
        places = {"in": folder, "out": output}
        parts = [word.partition("/") for word in words]
        line = [
            str(places[first] / rest) if first in places and slash else first + slash + rest
            for first, slash, rest in parts
        ]
        return run_command(line, output)

    return call


def run_command(line, output):
    """What a command prints and writes; what it wrote is removed.

    Raises:
        RequestError: the command refuses; its message is that of the command.
    """
    with mock.patch("closeread.leaderboard.judge.score_all", score_here):
        done = CliRunner().invoke(main, line, catch_exceptions=False)
    if done.exit_code not in (0, 1, 2) or "enough memory" in done.stderr:
        raise AssertionError(f"exit code {done.exit_code}: {done.output}")
    if not is_shown_safely(done.stderr):
        raise AssertionError(f"a message that is not fit for a terminal: {done.stderr!r}")
    if done.exit_code:
        raise RequestError(
            "\n".join(one for one in done.stderr.splitlines() if not one.startswith("note: ")) or done.stdout
        )
    written = read_tree(output)
    for path in sorted(output.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    return done.stdout, written
