"""A leaderboard on a Hub: commands, and submissions made by hand."""

import json
import os
from contextlib import chdir

from click.testing import CliRunner
from shared.boards import sample_answers, write_rows

from closeread.cli import main
from closeread.leaderboard.store_files import digest, write_json

DATASET = "lab/board"
STORE = f"hf://datasets/{DATASET}"
BOARD = "mctaco-sample/test"


def closeread(hub, user, *arguments, cwd=None):
    """Run a command as a user; it must end well. Returns what it printed."""
    hub.log_in(user)
    with chdir(cwd or os.getcwd()):
        arguments = [str(argument) for argument in arguments]
        done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code == 0, f"exit code {done.exit_code}\n{done.output}"
    return done.stdout


def create_board(hub):
    """Create a leaderboard on the sample of McTaco as an organizer."""
    closeread(hub, "olga", *f"leaderboard init {STORE} --corpus mctaco --config sample".split())


def submit(hub, user, folder, *, right, system=None, options=()):
    """Submit predictions of which the first `right` are right."""
    path = write_rows(folder / f"{user}-{right}.jsonl", sample_answers(right=right))
    arguments = [
        "submit",
        "mctaco",
        path,
        "--system",
        system or f"{user} {right}",
        "--to",
        STORE,
        *options,
    ]
    return closeread(hub, user, *arguments)


def judge(hub, user="olga"):
    """Run the judge; returns what it did as JSON."""
    return json.loads(
        closeread(hub, user, "leaderboard", "judge", STORE, "--workers", "1", "--json")
    )


def read_index(hub):
    """The only board of the index."""
    [board] = json.loads(hub.files(DATASET)["board.json"])["boards"]
    return board


def make_files(right, **changes):
    """The files of a submission as closeread writes them, or with changes to the description."""
    predictions = "".join(json.dumps(row) + "\n" for row in sample_answers(right=right)).encode()
    path = f"submissions/{BOARD}/{digest(predictions)[:2]}/{digest(predictions)}.jsonl"
    about = {
        "format": 1,
        "board": BOARD,
        "predictions": path,
        "system": f"By hand {right}",
        "model": None,
    }
    about = write_json(about | {"paper": None, "code": None, "description": ""} | changes)
    return {
        path: predictions,
        f"submissions/{BOARD}/{digest(about)[:2]}/{digest(about)}.json": about,
    }
