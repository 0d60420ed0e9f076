"""Judge what has arrived: score it, record it, answer, and rebuild the index.

One run does all there is to do, and any number of runs come to the same result.  Work is what has no result under the
board's signature; a record is a pure function of what it is made from, and is named after it; an entry is written with
the record and settles the submission; the index is derived from all of them, last.  So a judge that is killed anywhere
leaves nothing that the next run does not complete, and two judges at once write the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from closeread._version import __version__
from closeread.arrays import Floats
from closeread.exceptions import RequestError
from closeread.leaderboard.answers import describe_refusal, describe_result, describe_withdrawal
from closeread.leaderboard.canonical import digest, write_json
from closeread.leaderboard.count_cache import CountCache, belong_together
from closeread.leaderboard.declaration import Board, Leaderboard
from closeread.leaderboard.index import BASELINE, Counts, find_row, index_files, make_index
from closeread.leaderboard.results import Entry, Record, Results, record_id, record_path
from closeread.leaderboard.store import Arrival, Store
from closeread.leaderboard.submission import About
from closeread.leaderboard.worker import Job, Outcome, score_all

REFUSALS = 20
"""How many submissions of an author are refused per day, so that nobody can keep the judge from those of others."""

Scoring = Callable[[Board, Path | None, Iterable[Job]], Iterator[Outcome]]
"""Scores jobs on a board with its own gold, if it has any; yields the outcomes in the order of the jobs."""


@dataclass(frozen=True)
class Judged:
    """What a run of the judge did.

    Attributes:
        accepted, refused, withdrawn: the arrivals that were settled, each with a sentence.
        waiting: the arrivals beyond the daily limit of their authors.
        errors: what could not be scored although it is not the submitter's fault.
        notices: notices about the gold and the baselines for the organiser, one sentence each.
    """

    accepted: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def judge(
    store: Store,
    golds: Mapping[str, Path],
    *,
    n_workers: int,
    cache: CountCache,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    progress: Callable[[str, str], None] = lambda kind, sentence: None,
    score: Scoring | None = None,
) -> Judged:
    """Judge everything that has arrived.

    Args:
        store: the store.
        golds: the organiser's own gold by board.
        n_workers: the number of processes that score.
        cache: where counts are kept between runs.
        now: returns the time.
        progress: called after every arrival with what became of it, as a field of `Judged` and a sentence.
        score: scores jobs; None for new processes.

    Raises:
        RequestError: gold is missing, or is not that of the board.
    """
    score = score or partial(score_all, n_workers=n_workers)
    leaderboard = store.read_leaderboard()
    notices = dict.fromkeys(_check_golds(leaderboard, golds))
    results = store.read_results(leaderboard)
    judged = Judged()
    arrivals = store.list_arrivals(leaderboard, results)
    settled: list[Settled] = []
    for board in leaderboard.boards.values():
        run = _Run(store, board, golds.get(board.name), results, score, cache, now().date())
        for kind, sentence in run.settle([one for one in arrivals if one.board == board.name]):
            judged = replace(judged, **{kind: (*getattr(judged, kind), sentence)})
            progress(kind, sentence)
        settled += run.settled

    lost: dict[str, str] = {}

    def make_files(found: Results) -> dict[str, bytes]:
        counts = {
            board.name: _Counting(store, board, golds.get(board.name), found, score, cache, lost, notices).read()
            for board in leaderboard.boards.values()
        }
        return index_files(make_index(store, leaderboard, found, counts))

    store.update_index(make_files)
    judged = replace(judged, notices=tuple(notices))
    for sentence in lost.values():
        judged = replace(judged, errors=(*judged.errors, sentence))
        progress("errors", sentence)
    if settled:  # answers name the rank, so they come after the index; what is not answered now is answered again
        index = store.read_index()
        for one in settled:
            if (text := one.describe(store, leaderboard, index)) is not None:
                store.answer(one.arrival, text)
    return judged


def _check_golds(leaderboard: Leaderboard, golds: Mapping[str, Path]) -> list[str]:
    """Check that there is gold for every board, and return the notices about it.

    Raises:
        RequestError: a gold belongs to no board, or a board has none; or it is not the board's.
    """
    for name in golds:
        leaderboard.find(name)
    scorers = [board.open_scorer(golds.get(board.name)) for board in leaderboard.boards.values()]
    return [notice for scorer in scorers for notice in scorer.gold.notices]


@dataclass(frozen=True)
class Settled:
    """An arrival that is settled, and is still to be answered.

    Attributes:
        arrival: the arrival.
        entry: its entry; None if it was refused without one.
        problems: why it was refused.
    """

    arrival: Arrival
    entry: Entry | None
    problems: tuple[str, ...] = ()

    def describe(self, store: Store, leaderboard: Leaderboard, index: Mapping[str, Any]) -> str | None:
        """Return the answer, in Markdown; None if another judge has settled it otherwise meanwhile, and answers."""
        if self.problems or self.entry is None or self.entry.status == "refused":
            return describe_refusal(self.problems or (self.entry.problems if self.entry else ()))
        if self.entry.status == "withdrawn":
            return describe_withdrawal(self.arrival.submission[:12])
        board = leaderboard.find(self.arrival.board)
        path = record_path(board.name, record_id(self.arrival.submission, board.signature))
        row = find_row(index, board.name, self.arrival.submission)
        return None if row is None else describe_result(board, row, store.link(path))


class _Run:
    """The settling of one board; `settled` is what is still to be answered."""

    def __init__(
        self,
        store: Store,
        board: Board,
        gold: Path | None,
        results: Results,
        score: Scoring,
        cache: CountCache,
        today: date,
    ) -> None:
        self._store, self._board, self._gold, self._today = store, board, gold, today
        self._score, self._cache = score, cache
        self._entries = {name: entry for name, entry in results.entries.items() if entry.board == board.name}
        self._scored: Counter[tuple[str, str]] = Counter()
        self._refused: Counter[tuple[str, str]] = Counter()
        for entry in self._entries.values():
            self._count(entry, 1)
        self.settled: list[Settled] = []

    def settle(self, arrivals: Sequence[Arrival]) -> Iterator[tuple[str, str]]:
        """Settle arrivals; yield what became of each, as a field of `Judged` and a sentence."""
        fetched: dict[str, Arrival] = {}
        refused: list[Arrival] = []
        for arrival in arrivals:
            if not arrival.submission:
                self.settled.append(Settled(arrival, None, arrival.problems))
                yield "refused", f"{arrival.source} of {arrival.author}: {arrival.problems[0]}"
        arrivals = [arrival for arrival in arrivals if arrival.submission]

        def make_jobs() -> Iterator[Job]:
            for arrival in arrivals:
                if arrival.withdrawal or self._is_settled(arrival) or self._find_day(arrival) is None:
                    continue
                if (reason := self._board.refuse_time(arrival.submitted)) is not None:
                    refused.append(replace(arrival, problems=(reason,)))
                    continue
                found = self._store.fetch(arrival, self._board.limits.bytes)
                if found.problems:
                    refused.append(found)
                    continue
                about = self._read_about(found)
                fetched[arrival.submission] = found
                yield Job(arrival.submission, about.predictions, found.files[about.predictions])

        for outcome in self._score(self._board, self._gold, make_jobs()):
            yield from self._settle_outcome(fetched.pop(outcome.subject), outcome)
        for found in refused:
            if (day := self._find_day(found)) is not None:
                yield self._refuse(found, found.problems, day)
        for arrival in arrivals:
            if arrival.withdrawal:
                yield from self._withdraw(arrival)
            elif self._is_settled(arrival):
                self._answer_again(arrival)
            elif self._find_day(arrival) is None:
                yield "waiting", f"{arrival.submission[:12]} of {arrival.author} waits: the daily limit is reached"

    def _is_settled(self, arrival: Arrival) -> bool:
        """Return whether a submission has an entry; what was refused may be sent again."""
        entry = self._entries.get(arrival.submission)
        return entry is not None and (entry.status != "refused" or entry.source == arrival.source)

    def _answer_again(self, arrival: Arrival) -> None:
        """Answer what was settled by a judge that was killed before it could, or what somebody sent before."""
        entry = self._entries[arrival.submission]
        if all(one.arrival.submission != arrival.submission for one in self.settled):
            sent_before = entry.source != arrival.source
            self.settled.append(Settled(arrival, entry, ("this was submitted before",) if sent_before else ()))

    def _read_about(self, arrival: Arrival) -> About:
        path = next(path for path in arrival.files if path.endswith(f"/{arrival.submission}.json"))
        return About.from_bytes(arrival.files[path], arrival.board, path)

    def _find_day(self, arrival: Arrival) -> str | None:
        """Return the first day, from that of the arrival, with room for its author; None if that is not yet."""
        day = min(date.fromisoformat(arrival.submitted[:10]), self._today)  # clocks differ
        while not self._has_room(arrival.author, day.isoformat()):
            day += timedelta(days=1)
        return day.isoformat() if day <= self._today else None

    def _has_room(self, author: str, day: str) -> bool:
        return self._scored[author, day] < self._board.limits.per_day and self._refused[author, day] < REFUSALS

    def _settle_outcome(self, arrival: Arrival, outcome: Outcome) -> Iterator[tuple[str, str]]:
        """Settle a submission that was scored, unless the limit was reached meanwhile."""
        name = f"{self._read_about(arrival).system} ({arrival.submission[:12]})"
        record, day = outcome.record, self._find_day(arrival)
        if outcome.error is not None:
            if day is not None:  # it is tried again with every run, so there may not be too many of them
                self._refused[arrival.author, day] += 1
            yield "errors", f"{name}: {outcome.error}"
        elif day is None:
            return
        elif record is None or outcome.blocks is None:
            yield self._refuse(arrival, outcome.problems, day)
        else:
            self._cache.write(_name_counts(self._board, record.id), outcome.names, outcome.blocks)
            entry = self._make_entry(arrival, "accepted", day)
            self._store.write_results(arrival, {record.path: record.to_bytes(), entry.path: entry.to_bytes()})
            self._keep(entry)
            self.settled.append(Settled(arrival, entry))
            score = record.report["scores"][self._board.headline]["value"]
            shown = "undefined" if score is None else f"{100 * score:.2f}"
            yield "accepted", f"{name}: {self._board.headline} {shown}"

    def _refuse(self, arrival: Arrival, problems: Sequence[str], day: str) -> tuple[str, str]:
        entry = replace(self._make_entry(arrival, "refused", day), problems=tuple(problems))
        self._store.write_results(None, {entry.path: entry.to_bytes()})
        self._keep(entry)
        self.settled.append(Settled(arrival, entry))
        more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
        name = "" if arrival.problems else f"{self._read_about(arrival).system} "
        return "refused", f"{name}({arrival.submission[:12]}): {problems[0]}{more}"

    def _withdraw(self, arrival: Arrival) -> Iterator[tuple[str, str]]:
        """Withdraw a submission, if its own author asks for it."""
        entry = self._entries.get(arrival.submission)
        name = arrival.submission[:12]
        found = self._store.fetch(arrival, self._board.limits.bytes)
        if found.problems or entry is None or entry.author != arrival.author:
            problem = f"{name} can be withdrawn only by its author" if entry else f"there is no submission {name}"
            problem = found.problems[0] if found.problems else problem
            self.settled.append(Settled(replace(arrival, problems=(problem,)), None, (problem,)))
            yield "refused", f"withdrawal of {name} by {arrival.author}: {problem}"
        else:
            gone = replace(entry, status="withdrawn")
            self._store.write_results(None, {gone.path: gone.to_bytes()})
            self._keep(gone)
            self.settled = [replace(one, entry=gone) if one.entry == entry else one for one in self.settled]
            self.settled.append(Settled(arrival, gone))
            yield "withdrawn", f"{name} of {arrival.author}"

    def _make_entry(self, arrival: Arrival, status: str, day: str) -> Entry:
        about = None if arrival.problems else self._read_about(arrival).to_json()
        author, source = arrival.author, arrival.source
        return Entry(arrival.submission, arrival.board, author, arrival.submitted, day, status, source, about)

    def _keep(self, entry: Entry) -> None:
        if (before := self._entries.get(entry.submission)) is not None:
            self._count(before, -1)
        self._entries[entry.submission] = entry
        self._count(entry, 1)

    def _count(self, entry: Entry, number: int) -> None:
        """Count an entry towards the limits of its author.

        To be refused for the sake of private gold says something about it, so that counts as a score does.
        """
        is_scored = entry.status != "refused" or (self._board.private and entry.about is not None)
        (self._scored if is_scored else self._refused)[entry.author, entry.day] += number


def _name_counts(board: Board, record: str) -> str:
    """Return the name under which the cache has the counts of a record, which depend on the board's metrics, too."""
    metrics = [metric.name for metric in board.procedure.metrics]
    return digest(write_json([record, __version__, metrics]))


@dataclass(frozen=True)
class _Counting:
    """The counts of all that is ranked on a board, scoring again what is missing.

    Attributes:
        store, board, gold, results, score, cache: as above.
        lost: takes a sentence for each submission that was accepted but can't be scored any more, which is left out.
        notices: takes a sentence for each baseline that can't be scored, which is left out.
    """

    store: Store
    board: Board
    gold: Path | None
    results: Results
    score: Scoring
    cache: CountCache
    lost: dict[str, str]
    notices: dict[str, None]

    def read(self) -> Counts:
        """Return the counts of all accepted submissions and baselines."""
        board = self.board
        found: dict[str, tuple[tuple[str, ...], Floats]] = {}
        records: dict[str, Record] = {}
        jobs: list[Job] = []
        accepted = [e for e in self.results.entries.values() if e.status == "accepted" and e.board == board.name]
        subjects = {entry.submission: entry for entry in accepted}
        for subject in (*subjects, *(f"{BASELINE}{name}" for name in board.baselines)):
            identity = record_id(subject, board.signature)
            kept, record = self.cache.read(_name_counts(board, identity)), self.results.records.get(identity)
            if kept and record is not None and record.fits(board) and belong_together(kept, record, board):
                found[subject], records[subject] = kept, record
            else:
                jobs.append(Job(subject, subjects[subject].describe().predictions if subject in subjects else ""))
        new: dict[str, bytes] = {}
        for outcome in self.score(board, self.gold, self._fill(jobs)) if jobs else ():
            subject, record = outcome.subject, outcome.record
            if record is None or outcome.blocks is None:
                self._leave_out(subject, outcome.error or outcome.problems[0])
                continue
            self.cache.write(_name_counts(board, record.id), outcome.names, outcome.blocks)
            stored, made = self.results.records.get(record.id), (outcome.names, outcome.blocks)
            if stored is None or not stored.fits(board) or not belong_together(made, stored, board):
                new[record.path] = record.to_bytes()
            else:
                record = stored  # the index follows from what is stored, whether counts were kept or not
            found[subject], records[subject] = made, record
        if new:
            self.store.write_results(None, new)
        return Counts(records, found)

    def _fill(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Yield jobs with their predictions; submissions whose predictions can't be read are left out."""
        for job in jobs:
            try:
                data = self.store.read_predictions(job.path, self.board.limits.bytes) if job.path else b""
            except RequestError as error:
                self._leave_out(job.subject, str(error))
            else:
                yield replace(job, predictions=data)

    def _leave_out(self, subject: str, reason: str) -> None:
        """Say why a submission or a baseline has no counts."""
        if subject.startswith(BASELINE):  # it may need what is not installed here
            name = subject.removeprefix(BASELINE)
            self.notices[f"Baseline {name} of {self.board.name} is left out: {reason}"] = None
        else:
            self.lost[subject] = f"{subject[:12]} was accepted, but can't be scored again, and is left out: {reason}"
