"""What the server of a leaderboard does with a form, apart from the web: check predictions, submit and judge them.

One worker a board is kept, so that an answer does not wait for gold to be read.  Scoring is the judge's, and so are its
limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from closeread.exceptions import pluralize
from closeread.leaderboard.answers import describe_submission
from closeread.leaderboard.count_cache import CountCache
from closeread.leaderboard.declaration import Board
from closeread.leaderboard.judge import judge
from closeread.leaderboard.store import Store
from closeread.leaderboard.submission import Submission
from closeread.leaderboard.tables import format_rank, format_value
from closeread.leaderboard.worker import Job, Outcome, Worker

Report = Callable[[str, str], None]


class ScoringError(Exception):
    """Predictions that could not be scored, through no fault of theirs."""


class Service:
    """A store whose submissions are judged as they come: together if they wait for one another.

    Args:
        store: the store.
        golds: the organiser's own gold by board.
        cache: where counts are kept.
        report: called with what became of every submission, as `progress` by the judge.
    """

    def __init__(self, store: Store, golds: Mapping[str, Path], cache: CountCache, report: Report) -> None:
        self.store = store
        self._golds, self._cache, self.report = golds, cache, report
        self._workers: dict[str, tuple[Board, Worker]] = {}
        self._waiting: dict[str, str] = {}
        self._is_closed = False
        self._lock = Lock()

    def catch_up(self, n_workers: int) -> None:
        """Judge everything that has arrived before, by several workers.

        Raises:
            RequestError: gold is missing, or is not that of the board.
        """
        done = judge(self.store, self._golds, n_workers=n_workers, cache=self._cache, progress=self.report)
        for notice in done.notices:
            self.report("note", notice)

    def find_problems(self, board: Board, submission: Submission) -> tuple[str, ...]:
        """Return what is wrong with predictions, as the judge will.

        Raises:
            ScoringError: that can't be told.
        """
        about = submission.about
        outcome = self._score(board, Job(about.id, about.predictions, submission.predictions))
        if outcome.error is not None:
            raise ScoringError(outcome.error)
        return outcome.problems

    def submit(self, board: Board, submission: Submission) -> None:
        """Save predictions, which then wait for `judge`.

        Raises:
            OSError: they can't be saved.
        """
        self.store.send(submission.files, *describe_submission(board, submission.about))
        self._waiting[submission.about.id] = board.name

    def judge(self, submission: str) -> None:
        """Judge everything that waits, unless the submission was judged meanwhile; one thread at a time."""
        if submission in self._waiting:
            together = list(self._waiting)
            try:
                judge(
                    self.store,
                    self._golds,
                    n_workers=1,
                    cache=self._cache,
                    progress=self.report,
                    score=self._score_all,
                )
            except (ScoringError, OSError) as error:
                self.report("errors", str(error))
            finally:
                for one in together:
                    del self._waiting[one]

    def describe(self, submission: str) -> dict[str, Any]:
        """Return what became of a submission, as the form tells it; empty if there is no such submission."""
        for board in self.store.read_index()["boards"]:
            for row in (*board["rows"], *board["superseded"]):
                if row["id"] == submission:
                    return {"board": board["name"], "accepted": _describe_row(board, row)}
        if (waits_for := self._waiting.get(submission)) is not None:
            number = pluralize(len(self._waiting), "submission")
            why = f"{number} waiting for the judge. Reload this page in a while."
            return {"board": waits_for, "message": f"Submitted, but not judged yet: {why}"}
        leaderboard = self.store.read_leaderboard()
        results = self.store.read_results(leaderboard)
        entry = results.entries.get(submission)
        if entry is not None and entry.status == "withdrawn":
            return {"board": entry.board, "message": "This was submitted before, and withdrawn."}
        if entry is not None:
            return {"board": entry.board, "problems": list(entry.problems)}
        arrivals = self.store.list_arrivals(leaderboard, results)
        arrival = next((one for one in arrivals if one.submission == submission), None)
        if arrival is None:
            return {}
        per_day = leaderboard.find(arrival.board).limits.per_day
        today = datetime.now(UTC).date().isoformat()
        same = [one for one in results.entries.values() if (one.author, one.day) == (arrival.author, today)]
        if sum(one.status != "refused" for one in same) >= per_day:
            why = f"the limit is {pluralize(per_day, 'submission')} a day, so it waits for tomorrow (UTC)."
        else:
            why = "scoring failed; the reason is printed where this page is served."
        return {"board": arrival.board, "message": f"Submitted, but not judged yet: {why}"}

    def close(self) -> None:
        """End the workers, and what they are scoring."""
        self._is_closed = True
        for _, worker in tuple(self._workers.values()):
            worker.close()

    def _score_all(self, board: Board, gold: Path | None, jobs: Iterable[Job]) -> Iterator[Outcome]:
        for job in jobs:
            yield self._score(board, job)

    def _score(self, board: Board, job: Job) -> Outcome:
        """Score a job by the worker of the board; a worker that failed is not used again."""
        with self._lock:
            worker = self._find_worker(board)
            outcome = worker.score(job)
            if outcome.error is not None:
                self._workers.pop(board.name, None)
                worker.close()
            return outcome

    def _find_worker(self, board: Board) -> Worker:
        """Return the worker of a board, a new one if there is none or the board was changed.

        Raises:
            closeread.exceptions.RequestError: gold can't be read.
            ScoringError: the service is closed.
        """
        known, worker = self._workers.get(board.name, (None, None))
        if worker is not None and known == board:
            return worker
        if worker is not None:
            worker.close()
        worker = Worker(board, self._golds.get(board.name))
        self._workers[board.name] = board, worker
        if self._is_closed:  # perhaps meanwhile, by another thread, which has not seen this worker
            worker.close()
            raise ScoringError("the server is stopped")
        return worker


def _describe_row(board: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, str]:
    """Return how to name a row of the index, its headline score and its rank."""
    title = next(metric["title"] for metric in board["metrics"] if metric["name"] == board["headline"])
    score = format_value(row["scores"].get(board["headline"]))
    return {"id": row["id"], "system": row["system"], "score": f"{title} {score}", "rank": format_rank(row["rank"])}
