"""Leaderboards in folders, for tests: boards on the invented samples, submissions, and judging at a fixed time."""

import getpass
import json
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from closeread.leaderboard import scoring
from closeread.leaderboard.declaration import Leaderboard, Limits, make_board
from closeread.leaderboard.judge import judge
from closeread.leaderboard.names import write_time
from closeread.leaderboard.results import CountCache
from closeread.leaderboard.store import FolderStore
from closeread.leaderboard.submission import make_submission

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def make_store(folder, *boards, title="Close reading"):
    """Create a store in a folder with the given boards."""
    store = FolderStore(folder)
    store.write_leaderboard(Leaderboard(title, {board.name: board for board in boards}))
    return store


def sample_board(corpus="mctaco", **settings):
    """A board on the sample of a corpus."""
    return make_board(corpus, config="sample", **settings)


def write_rows(path, rows):
    """Write predictions as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def sample_answers(*, right):
    """Predictions for the sample of McTaco of which the first `right` candidates get their gold label, the rest not."""
    from closeread.corpus.gold import read_gold
    from closeread.corpus.names import load_corpus

    other = {"yes": "no", "no": "yes"}
    records = read_gold(load_corpus("mctaco"), "sample").records
    return [
        {"id": record["id"], "label": record["label"] if number < right else other[record["label"]]}
        for number, record in enumerate(records)
    ]


def send(store, path, system, *, board=None, at=NOON, **about):
    """Submit a file at a time, and return the id of the submission."""
    found = store.read_leaderboard().find(board)
    about.setdefault("author", getpass.getuser())
    submission = make_submission(found, path, system=system, submitted=write_time(at), **about)
    store.send(submission.files, system, "")
    return submission.about.id


def send_answers(store, folder, system, *, right, at=NOON, **about):
    """Submit predictions of which the first `right` are right."""
    path = write_rows(folder / f"{right}.jsonl", sample_answers(right=right))
    return send(store, path, system, at=at, **about)


def run_judge(store, tmp_path, golds=None, *, now=NOON, n_workers=1):
    """Judge what has arrived, at a time."""
    with mock.patch("closeread.leaderboard.judge.read_now", return_value=write_time(now)):
        return judge(store, golds or {}, n_workers=n_workers, cache=CountCache(tmp_path / "counts"))


def judge_here(store, cache, golds=None):
    """Judge what has arrived, at noon and in this process."""
    module = "closeread.leaderboard.judge"
    with (
        mock.patch(f"{module}.read_now", return_value=write_time(NOON)),
        mock.patch(f"{module}.score_all", score_here),
    ):
        return judge(store, golds or {}, n_workers=1, cache=CountCache(cache))


def score_here(board, gold, jobs, n_workers):
    """Score in this process as a worker does, without its limits; a worker takes half a second to start."""
    scorer = board.open_scorer(gold)
    for job in jobs:
        yield scoring.score(board, scorer, job)


def read_tree(folder):
    """Return the bytes of all files below a folder by path, without hidden ones."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def small_limits(**limits):
    """Limits of a board that differ from the defaults."""
    return Limits(**limits)
