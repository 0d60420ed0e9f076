"""Score, record and answer new submissions, and rebuild the index.

One run does all there is to do, and any number of runs come to the same result.  Work is what has no result under the
board's signature; a record is a pure function of what it is made from, and is named after it; an entry is written with
the record and settles the submission; the index is derived from all of them, last.  So a judge that is killed anywhere
leaves nothing that the next run does not complete, and two judges at once write the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from closeread.counts.results import JsonResult
from closeread.exceptions import RequestError, pluralize
from closeread.leaderboard.declaration import Board, store_path
from closeread.leaderboard.index import Counts, find_row, index_files, make_index
from closeread.leaderboard.names import escape_markdown
from closeread.leaderboard.page import format_rank
from closeread.leaderboard.results import (
    BASELINE,
    Arrival,
    CountCache,
    Entry,
    Record,
    Results,
    record_id,
)
from closeread.leaderboard.scoring import Job, Outcome, score_all
from closeread.leaderboard.store import FolderStore
from closeread.tables import percent

REFUSALS = 20
"""How many submissions per author are refused per day, so that nobody can delay those of others."""

SHOWN = 20  # how many problems an answer lists


@dataclass(frozen=True)
class JudgingReport(JsonResult):
    """The outcome of a run of the judge: a sentence for each submission."""

    accepted: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()  # beyond the daily limit of their authors
    # what could not be scored although it is not the submitter's fault
    errors: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()  # about the gold and the baselines, for the organiser

    @property
    def has_failed(self) -> bool:
        """Whether something could not be scored."""
        return bool(self.errors)

    def to_dict(self) -> dict[str, object]:
        """Return all of it as JSON."""
        return asdict(self)


BoardScoring = Callable[[Iterable[Job]], Iterator[Outcome]]


def judge(
    store: FolderStore,
    golds: Mapping[str, Path],
    *,
    n_workers: int,
    cache: CountCache,
    progress: Callable[[str, str], None] = lambda kind, sentence: None,
) -> JudgingReport:
    """Judge all new submissions, with the organiser's own gold by board.

    If somebody else commits to the Hub meanwhile, that is a ConflictError, and nothing has happened.
    `cache` keeps counts between runs; `progress` is called after every submission with the name of a field of
    `JudgingReport`, such as "accepted", and a sentence.
    """
    leaderboard = store.read_leaderboard()
    for name in golds:
        leaderboard.find(name)
    boards = leaderboard.boards.values()
    scorers = [board.open_scorer(golds.get(board.name)) for board in boards]
    notices = dict.fromkeys(notice for scorer in scorers for notice in scorer.gold.notices)
    results = store.read_results(leaderboard)
    told: dict[str, list[str]] = {}

    def tell(kind: str, sentence: str) -> None:
        told.setdefault(kind, []).append(sentence)
        progress(kind, sentence)

    arrivals = store.list_arrivals(leaderboard, results)
    n_undated = sum(not arrival.is_dated for arrival in arrivals)
    if n_undated:
        undated = f"{pluralize(n_undated, 'submission')} without a time in the description"
        notices[f"{undated}: the clock of the file counts, which copying changes"] = None
    runs = [
        _Run(
            store,
            board,
            partial(score_all, board, golds.get(board.name), n_workers=n_workers),
            cache,
            results,
        )
        for board in boards
    ]
    for run in runs:
        for kind, sentence in run.settle([one for one in arrivals if one.board == run.board.name]):
            tell(kind, sentence)

    def make_files(found: Results) -> dict[str, bytes]:
        return index_files(
            make_index(
                store, leaderboard, found, {run.board.name: run.count(found) for run in runs}
            )
        )

    store.update_index(make_files)
    for run in runs:
        for subject, reason in run.left_out.items():
            if subject.startswith(BASELINE):  # it may need what is not installed here
                name = f"Baseline {subject.removeprefix(BASELINE)} of {run.board.name}"
                notices[f"{name} is left out: {reason}"] = None
            else:
                found = f"{subject[:12]} was accepted, but can't be scored again, and is left out: {reason}"
                tell("errors", found)
    store.push("Add results")
    index = store.read_index() if any(run.settled for run in runs) else {}
    for run in runs:  # answers name the rank; what is not answered now is answered again
        for arrival, problems in run.settled:
            entry = run.entries.get(arrival.submission)
            if problems or entry is None or entry.status == "refused":
                text = _describe_refusal(problems or (entry.problems if entry else ()))
            elif entry.status == "withdrawn":
                text = f"Submission {arrival.submission[:12]} is withdrawn: it is no longer on the board."
            elif row := find_row(index, arrival.submission):
                path = store_path(
                    "results", run.board.name, record_id(arrival.submission, run.board.signature)
                )
                text = _describe_result(run.board, row, store.link(path))
            else:  # another judge has settled it otherwise meanwhile, and answers
                continue
            store.answer(arrival, text)
    return JudgingReport(
        **{kind: tuple(sentences) for kind, sentences in told.items()}, notices=tuple(notices)
    )


def read_today() -> date:
    """Return the day, in UTC."""
    return datetime.now(UTC).date()


def _describe_refusal(problems: Sequence[str]) -> str:
    """List the problems of a submission for its author, in Markdown."""
    found = (
        "This was not accepted, for this reason:"
        if len(problems) == 1
        else "This was not accepted:"
    )
    lines = [found, "", *(f"- {escape_markdown(problem)}" for problem in problems[:SHOWN])]
    if len(problems) > SHOWN:
        lines.append(f"- and {len(problems) - SHOWN:,} more")
    lines += [
        "",
        "Correct this and submit again; `closeread submit … --dry-run` checks and sends nothing.",
    ]
    return "\n".join(lines)


def _describe_result(board: Board, row: Mapping[str, Any], link: str) -> str:
    """Describe the scores and the rank of a submission, from its row in the index, with a link to the record."""
    titles = {metric.name: metric.title for metric in board.procedure.metrics}
    lines = [f"**{escape_markdown(board.title)}**: scored.", ""]
    lines += [
        f"| metric | score | {100 * board.resampling.confidence:g}% interval |",
        "|---|--:|---|",
    ]
    for name, one in row["scores"].items():
        interval = (
            percent(None)
            if one["low"] is None
            else f"{percent(one['low'])} to {percent(one['high'])}"
        )
        lines.append(f"| {titles.get(name, name)} | {percent(one['value'])} | {interval} |")
    lines.append("")
    if row["rank"] is not None:
        lines.append(f"Rank {format_rank(row['rank'])}, with 95% confidence.")
    return "\n".join([*lines, f"Signature: `{row['signature']}`", f"Record: {link}"])


class _Run:
    """A run of the judge on a board.

    What is in `settled`, with the problems of what was refused, is still to be answered; what is in `left_out` can no
    longer be scored.
    """

    def __init__(
        self,
        store: FolderStore,
        board: Board,
        score: BoardScoring,
        cache: CountCache,
        results: Results,
    ) -> None:
        self.board, self.settled, self.left_out = (
            board,
            list[tuple[Arrival, tuple[str, ...]]](),
            dict[str, str](),
        )
        self._store, self._score, self._cache = store, score, cache
        self._today = read_today()
        self.entries = {
            name: entry for name, entry in results.entries.items() if entry.board == board.name
        }
        self._scored: Counter[tuple[str, str]] = Counter()
        self._refused: Counter[tuple[str, str]] = Counter()
        for entry in self.entries.values():
            self._add(entry, 1)

    def settle(self, arrivals: Sequence[Arrival]) -> Iterator[tuple[str, str]]:
        """Settle new submissions; yield for each the name of a field of `JudgingReport` and a sentence."""
        fetched: dict[str, Arrival] = {}
        refused: list[Arrival] = []
        for arrival in arrivals:
            if not arrival.submission:
                self.settled.append((arrival, arrival.problems))
                yield "refused", f"{arrival.source} of {arrival.author}: {arrival.problems[0]}"
        arrivals = [arrival for arrival in arrivals if arrival.submission]

        def make_jobs() -> Iterator[Job]:
            for arrival in arrivals:
                if (
                    arrival.withdrawal
                    or self._is_settled(arrival)
                    or self._find_day(arrival) is None
                ):
                    continue
                if (reason := self.board.refuse_time(arrival.submitted)) is not None:
                    found = replace(arrival, problems=(reason,))
                else:
                    found = self._store.fetch(arrival, self.board.limits.bytes)
                if found.problems:
                    refused.append(found)
                else:
                    path = found.read_about().predictions
                    fetched[arrival.submission] = found
                    yield Job(arrival.submission, path, found.files[path])

        for outcome in self._score(make_jobs()):
            if (settled := self._settle(fetched.pop(outcome.subject), outcome)) is not None:
                yield settled
        for found in refused:
            if (day := self._find_day(found)) is not None:
                yield self._refuse(found, found.problems, day)
        for arrival in arrivals:
            if arrival.withdrawal:
                yield self._withdraw(arrival)
            elif self._is_settled(arrival):
                # By a judge that was killed before it could answer, or because somebody sent it before.
                if all(one.submission != arrival.submission for one, _ in self.settled):
                    is_copy = self.entries[arrival.submission].source != arrival.source
                    self.settled.append(
                        (arrival, ("this was submitted before",) if is_copy else ())
                    )
            elif self._find_day(arrival) is None:
                yield (
                    "waiting",
                    f"{arrival.submission[:12]} of {arrival.author} waits: the daily limit is reached",
                )

    def _is_settled(self, arrival: Arrival) -> bool:
        """Return whether a submission has an entry; a refused one may be sent again."""
        entry = self.entries.get(arrival.submission)
        return entry is not None and (entry.status != "refused" or entry.source == arrival.source)

    def _find_day(self, arrival: Arrival) -> str | None:
        """Return the first day, from that of the arrival, with room for its author; None if that is not yet."""
        day = min(date.fromisoformat(arrival.submitted[:10]), self._today)  # clocks differ
        while day <= self._today:
            key = arrival.author, day.isoformat()
            if self._scored[key] < self.board.limits.per_day and self._refused[key] < REFUSALS:
                return day.isoformat()
            day += timedelta(days=1)
        return None

    def _settle(self, arrival: Arrival, outcome: Outcome) -> tuple[str, str] | None:
        """Settle a submission that was scored, unless the limit was reached meanwhile."""
        name = f"{arrival.read_about().system} ({arrival.submission[:12]})"
        record, day = outcome.record, self._find_day(arrival)
        if outcome.error is not None:
            # it is tried again with every run, so there may not be too many of them
            if day is not None:
                self._refused[arrival.author, day] += 1
            return "errors", f"{name}: {outcome.error}"
        if day is None:
            return None
        if record is None or outcome.blocks is None:
            return self._refuse(arrival, outcome.problems, day)
        self._cache.write(self.board, record, outcome.blocks)
        self._keep(arrival, self._make_entry(arrival, "accepted", day), record)
        score = record.report["scores"][self.board.headline]["value"]
        return (
            "accepted",
            f"{name}: {self.board.headline} {'undefined' if score is None else f'{100 * score:.2f}'}",
        )

    def _refuse(self, arrival: Arrival, problems: Sequence[str], day: str) -> tuple[str, str]:
        self._keep(
            arrival, replace(self._make_entry(arrival, "refused", day), problems=tuple(problems))
        )
        more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
        name = "" if arrival.problems else f"{arrival.read_about().system} "
        return "refused", f"{name}({arrival.submission[:12]}): {problems[0]}{more}"

    def _withdraw(self, arrival: Arrival) -> tuple[str, str]:
        """Withdraw a submission, if its own author asks for it."""
        entry = self.entries.get(arrival.submission)
        name = arrival.submission[:12]
        problems = self._store.fetch(arrival, self.board.limits.bytes).problems
        if problems or entry is None or entry.author != arrival.author:
            problem = (
                f"{name} can be withdrawn only by its author"
                if entry
                else f"there is no submission {name}"
            )
            problem = problems[0] if problems else problem
            self.settled.append((replace(arrival, problems=(problem,)), (problem,)))
            return "refused", f"withdrawal of {name} by {arrival.author}: {problem}"
        self._keep(arrival, replace(entry, status="withdrawn"))
        return "withdrawn", f"{name} of {arrival.author}"

    def _make_entry(self, arrival: Arrival, status: str, day: str) -> Entry:
        about = None if arrival.problems else arrival.read_about().to_dict()
        names = ("submission", "board", "author", "submitted", "source")
        return Entry(
            **{name: getattr(arrival, name) for name in names}, day=day, status=status, about=about
        )

    def _keep(self, arrival: Arrival, entry: Entry, record: Record | None = None) -> None:
        """Write an entry, with the record if it was accepted."""
        files = {} if record is None else {record.path: record.to_bytes()}
        self._store.write_results(
            arrival if record else None, {**files, entry.path: entry.to_bytes()}
        )
        if (before := self.entries.get(entry.submission)) is not None:
            self._add(before, -1)
        self.entries[entry.submission] = entry
        self._add(entry, 1)
        self.settled.append((arrival, ()))

    def _add(self, entry: Entry, number: int) -> None:
        # A refusal because of private gold reveals something about it, so it counts against the limit, as a score does.
        is_scored = entry.status != "refused" or (self.board.private and entry.about is not None)
        (self._scored if is_scored else self._refused)[entry.author, entry.day] += number

    def count(self, results: Results) -> Counts:
        """Return the counts of all accepted submissions and baselines; score those again whose counts are missing."""
        counts = Counts({}, {})
        missing: list[Job] = []
        for job in _list_jobs(self.board, results):
            record = results.records.get(record_id(job.subject, self.board.signature))
            kept = (
                self._cache.read(self.board, record)
                if record is not None and record.fits(self.board)
                else None
            )
            if record is not None and kept is not None:
                counts.records[job.subject], counts.blocks[job.subject] = record, kept
            else:
                missing.append(job)
        new: dict[str, bytes] = {}
        for outcome in (
            _score_stored(self._store, self.board, missing, self._score) if missing else ()
        ):
            record, blocks = outcome.record, outcome.blocks
            if record is None or blocks is None:
                self.left_out[outcome.subject] = str(outcome.error)
                continue
            self._cache.write(self.board, record, blocks)
            stored = results.records.get(record.id)
            if stored is None or not stored.fits(self.board):
                new[record.path] = record.to_bytes()
                stored = record
            # The index follows from the stored records, whether counts were kept or not.
            counts.records[record.subject], counts.blocks[record.subject] = stored, blocks
        if new:
            self._store.write_results(None, new)
        return counts


def _list_jobs(board: Board, results: Results) -> list[Job]:
    """List all accepted submissions, whose predictions are yet to be read, and the baselines."""
    accepted = [
        one
        for one in results.entries.values()
        if (one.status, one.board) == ("accepted", board.name)
    ]
    jobs = [Job(entry.submission, entry.describe().predictions) for entry in accepted]
    return [*jobs, *(Job(f"{BASELINE}{name}") for name in board.baselines)]


def _score_stored(
    store: FolderStore, board: Board, jobs: Iterable[Job], score: BoardScoring
) -> Iterator[Outcome]:
    """Score submissions that were accepted before, and baselines; without a record, the outcome has an error."""
    unread: list[Outcome] = []

    def read_predictions() -> Iterator[Job]:
        for job in jobs:
            try:
                data = store.read_predictions(job.path, board.limits.bytes) if job.path else b""
            except RequestError as error:
                unread.append(Outcome(job.subject, error=str(error)))
            else:
                yield replace(job, predictions=data)

    for outcome in score(read_predictions()):
        yield (
            outcome
            if outcome.record
            else replace(outcome, error=outcome.error or "; ".join(outcome.problems))
        )
    yield from unread
