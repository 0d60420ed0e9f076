"""A leaderboard on the stand-in Hub: commands in processes of their own, and submissions made by hand."""

import json
import sys

from shared.boards import sample_answers, write_rows
from shared.hub_client import run_client, start_client

from closeread.leaderboard.canonical import digest, write_json

SUBMISSIONS, RESULTS = "lab/board", "lab/board-results"
STORE = f"hf://datasets/{SUBMISSIONS}"
BOARD = "mctaco-sample/test"
COMMAND = [sys.executable, "-c", "import sys; from closeread.cli import main; sys.exit(main())"]


def closeread(hub, user, *arguments, **more):
    """Run a command to its end; returns what it printed."""
    return run_client(hub, user, [*COMMAND, *arguments], **more).stdout


def create_board(hub, *, results=RESULTS, **more):
    """Create a leaderboard on the sample of McTaco as an organizer."""
    corpus = ["--corpus", "mctaco", "--config", "sample"]
    closeread(hub, "olga", "leaderboard", "init", STORE, *corpus, "--results", results, **more)


def submit(hub, user, folder, *, right, system=None, check=True):
    """Submit predictions of which the first `right` are right."""
    path = write_rows(folder / f"{user}-{right}.jsonl", sample_answers(right=right))
    arguments = ["submit", "mctaco", path, "--system", system or f"{user} {right}", "--to", STORE]
    return closeread(hub, user, *arguments, check=check)


def judge(hub, user="olga", **more):
    """Run the judge; returns what it did as JSON."""
    done = run_client(hub, user, [*COMMAND, "leaderboard", "judge", STORE, "--workers", "1", "--json"], **more)
    return json.loads(done.stdout) if done.stdout else None


def start_judge(hub, user="olga"):
    return start_client(hub, user, [*COMMAND, "leaderboard", "judge", STORE, "--workers", "1", "--json"])


def read_index(hub, name=RESULTS):
    """The only board of the index."""
    [board] = json.loads(hub.files(name)["board.json"])["boards"]
    return board


def make_files(right, **changes):
    """The files of a submission as closeread writes them, or with changes to the description."""
    predictions = "".join(json.dumps(row) + "\n" for row in sample_answers(right=right)).encode()
    path = f"submissions/{BOARD}/{digest(predictions)[:2]}/{digest(predictions)}.jsonl"
    about = {"format": 1, "board": BOARD, "predictions": path, "system": f"By hand {right}", "model": None}
    about = write_json(about | {"paper": None, "code": None, "description": ""} | changes)
    return {path: predictions, f"submissions/{BOARD}/{digest(about)[:2]}/{digest(about)}.json": about}
