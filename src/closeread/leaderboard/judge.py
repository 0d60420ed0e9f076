"""Score, record and answer new submissions, and rebuild the index.

One run does all there is to do, and any number of runs come to the same result.  Work is what has no result under the
board's signature; a record is a pure function of what it is made from, and is named after it; an entry is written with
the record and decides about the submission; the index is derived from all of them, last.  So a judge that is killed anywhere
leaves nothing that the next run does not complete; a second judge of the same folder waits for the first one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from closeread.counts.results import JsonResult
from closeread.exceptions import RequestError, pluralize
from closeread.leaderboard.declaration import RESAMPLING, Board
from closeread.leaderboard.index import BoardCounts, find_row, index_files, make_index
from closeread.leaderboard.names import escape_markdown, format_time, read_now
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
from closeread.leaderboard.store_files import store_path
from closeread.tables import percent

MAX_PROBLEMS_SHOWN = 20  # in an answer


@dataclass(frozen=True)
class JudgingReport(JsonResult):
    """The outcome of a run of the judge: a sentence for each submission.

    Attributes:
        errors: what could not be scored although it is not the submitter's fault.
        notices: warnings about the gold and the baselines, for the organiser.
    """

    accepted: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

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
    warnings: list[str] = []
    for board in leaderboard.boards.values():
        warnings += board.open_scorer(golds.get(board.name)).gold.notices
    sentences: dict[str, list[str]] = {}

    def report(kind: str, sentence: str) -> None:
        sentences.setdefault(kind, []).append(sentence)
        progress(kind, sentence)

    with store.lock():
        results = store.read_results(leaderboard)
        now = read_now()
        arrivals = store.list_arrivals(leaderboard, results)
        runs = []
        for board in leaderboard.boards.values():
            score = partial(score_all, board, golds.get(board.name), n_workers=n_workers)
            runs.append(BoardRun(store, board, score, cache, results, now))
        for run in runs:
            for kind, sentence in run.decide(arrivals):
                report(kind, sentence)
        all_results = store.read_results(leaderboard)
        counts = {run.board.name: run.count(all_results) for run in runs}
        store.write(index_files(make_index(store, leaderboard, all_results, counts, now)))
        for run in runs:
            for subject, reason in run.unscored.items():
                if subject.startswith(BASELINE):  # it may need what is not installed here
                    name = f"Baseline {subject.removeprefix(BASELINE)} of {run.board.name}"
                    warnings.append(f"{name} is left out: {reason}")
                else:
                    verdict = "was accepted, but can't be scored again, and is left out"
                    report("errors", f"{subject[:12]} {verdict}: {reason}")
        store.push("Add results")
        _answer(store, runs, now)
    fields = {kind: tuple(lines) for kind, lines in sentences.items()}
    return JudgingReport(**fields, notices=tuple(dict.fromkeys(warnings)))


def _answer(store: FolderStore, runs: Sequence[BoardRun], now: str) -> None:
    """Answer what was decided, with the rank; what is not answered now is answered by the next run."""
    if not any(run.decided for run in runs):
        return
    index = store.read_index()
    for run in runs:
        for arrival, problems in run.decided:
            text = _describe_decision(store, run, arrival, problems, index, now)
            if text is not None:
                store.answer(arrival, text)


def _describe_decision(
    store: FolderStore,
    run: BoardRun,
    arrival: Arrival,
    problems: Sequence[str],
    index: Mapping[str, Any],
    now: str,
) -> str | None:
    """Describe what became of an arrival, in Markdown; None if it can no longer be scored."""
    board = run.board
    name = arrival.submission[:12]
    entry = run.entries.get(arrival.submission)
    if problems or entry is None:
        return _describe_refusal(problems)
    if entry.status == "refused":
        return _describe_refusal(entry.problems)
    if entry.status == "withdrawn":
        return f"Submission {name} is withdrawn: it is no longer on the board."
    if arrival.kind == "choices":
        return f"Submission {name} is the one that is ranked."
    if board.hides_scores(now):
        time = format_time(str(board.reveals))
        return f"**{escape_markdown(board.title)}**: valid. Scores are shown on {time}."
    row = find_row(index, arrival.submission)
    if not row:
        return None
    record = record_id(arrival.submission, board.signature)
    return _describe_result(board, row, store.link(store_path("results", board.name, record)))


def _describe_refusal(problems: Sequence[str]) -> str:
    """List the problems of a submission for its author, in Markdown."""
    reason = ", for this reason" if len(problems) == 1 else ""
    lines = [f"This was not accepted{reason}:", ""]
    lines += [f"- {escape_markdown(problem)}" for problem in problems[:MAX_PROBLEMS_SHOWN]]
    if len(problems) > MAX_PROBLEMS_SHOWN:
        lines.append(f"- and {len(problems) - MAX_PROBLEMS_SHOWN:,} more")
    advice = (
        "Correct this and submit again; "
        "`closeread leaderboard submit … --dry-run` checks and sends nothing."
    )
    return "\n".join([*lines, "", advice])


def _describe_result(board: Board, row: Mapping[str, Any], link: str) -> str:
    """Describe the scores and the rank of a submission, from its row in the index, with a link to the record."""
    lines = [
        f"**{escape_markdown(board.title)}**: scored.",
        "",
        f"| metric | score | {100 * RESAMPLING.confidence:g}% interval |",
        "|---|--:|---|",
    ]
    titles = {metric.name: metric.title for metric in board.procedure.metrics}
    for name, score in row["scores"].items():
        interval = percent(None)
        if score["low"] is not None:
            interval = f"{percent(score['low'])} to {percent(score['high'])}"
        lines.append(f"| {titles.get(name, name)} | {percent(score['value'])} | {interval} |")
    lines.append("")
    if row["rank"] is not None:
        lines.append(
            f"Rank {format_rank(row['rank'])}, with 95% confidence; "
            f"number {row['place']} of {row['n_ranked']} by score."
        )
    return "\n".join([*lines, f"Signature: `{row['signature']}`", f"Record: {link}"])


class Quota:
    """The limits of a board, and how many submissions of each author were judged on each day on which they were sent."""

    def __init__(self, board: Board, entries: Iterable[Entry]) -> None:
        self._board = board
        self._judged: Counter[tuple[str, str]] = Counter()
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry, number: int = 1) -> None:
        """Count an entry; -1 takes it off again."""
        # A refusal because of private gold reveals something about it, so it counts against the limit, as a score does.
        counts = entry.status != "refused" or self._board.private
        if counts and entry.about is not None:
            self._judged[entry.author, entry.submitted[:10]] += number

    def find_refusal(self, arrival: Arrival) -> str | None:
        """Return why a submission is refused by its time, or by the number of those of its author."""
        reason = self._board.refuse_time(arrival.author, arrival.submitted)
        if reason is not None:
            return reason
        limits = self._board.limits
        if self._judged[arrival.author, arrival.submitted[:10]] >= limits.per_day:
            number = pluralize(limits.per_day, "submission")
            return f"the limit of {number} of an author on a day (UTC) is reached"
        authors = [author for author, _ in self._judged.elements()]
        if limits.total is not None and authors.count(arrival.author) >= limits.total:
            number = pluralize(limits.total, "submission")
            return f"the limit of {number} of an author is reached"
        return None


class BoardRun:
    """A run of the judge on a board.

    Attributes:
        board: the board.
        entries: its entries by submission, also those of this run.
        decided: what is still to be answered, with the problems of what was refused.
        unscored: why submissions and baselines can no longer be scored.
    """

    def __init__(
        self,
        store: FolderStore,
        board: Board,
        score: BoardScoring,
        cache: CountCache,
        results: Results,
        now: str,
    ) -> None:
        self.board = board
        self.entries = {
            name: entry for name, entry in results.entries.items() if entry.board == board.name
        }
        self.decided: list[tuple[Arrival, tuple[str, ...]]] = []
        self.unscored: dict[str, str] = {}
        self._store = store
        self._score = score
        self._cache = cache
        self._now = now
        self._quota = Quota(board, self.entries.values())

    def decide(self, arrivals: Sequence[Arrival]) -> Iterator[tuple[str, str]]:
        """Decide about what has arrived for the board; yield the name of a field of `JudgingReport` and a sentence."""
        submissions: dict[str, Arrival] = {}
        requests: list[Arrival] = []
        for arrival in arrivals:
            if arrival.board != self.board.name:
                continue
            if not arrival.submission:
                self.decided.append((arrival, arrival.problems))
                author = f" of {arrival.author}" if arrival.author else ""
                yield "refused", f"{arrival.source}{author}: {arrival.problems[0]}"
            elif arrival.kind == "submissions":
                submissions[arrival.submission] = arrival
            else:
                requests.append(arrival)
        # What is withdrawn before it is judged is not judged.
        early = [
            request
            for request in requests
            if request.kind == "withdrawals" and request.submission not in self.entries
        ]
        for request in early:
            yield self._grant(request, submissions.get(request.submission))
            if request.submission in self.entries:
                submissions.pop(request.submission, None)
        yield from self._judge(submissions)
        for request in requests:
            is_waiting = request.submission in submissions.keys() - self.entries.keys()
            if request not in early and not is_waiting:
                yield self._grant(request, None)

    def _judge(self, submissions: Mapping[str, Arrival]) -> Iterator[tuple[str, str]]:
        """Decide about submissions, by id."""
        fetched: dict[str, Arrival] = {}
        refused: list[Arrival] = []
        for outcome in self._score(self._make_jobs(submissions, fetched, refused)):
            yield self._decide(fetched.pop(outcome.subject), outcome)
        for arrival in refused:
            yield self._refuse(arrival, arrival.problems)
        answered = {arrival.submission for arrival, _ in self.decided}
        for arrival in submissions.values():
            if self._is_decided(arrival) and arrival.submission not in answered:
                # By a judge that was killed before it could answer, or because somebody sent it before.
                is_copy = self.entries[arrival.submission].source != arrival.source
                problems = ("this was submitted before",) if is_copy else ()
                self.decided.append((arrival, problems))

    def _make_jobs(
        self,
        submissions: Mapping[str, Arrival],
        fetched: dict[str, Arrival],
        refused: list[Arrival],
    ) -> Iterator[Job]:
        """Yield what is to be scored, and add it to those that are fetched, and what is not to those refused."""
        for arrival in submissions.values():
            if self._is_decided(arrival):
                continue
            reason = self._quota.find_refusal(arrival)
            if reason is not None:
                refused.append(replace(arrival, problems=(reason,)))
                continue
            candidate = self._store.fetch(arrival, self.board.limits.bytes)
            if candidate.problems:
                refused.append(candidate)
                continue
            fetched[arrival.submission] = candidate
            path = candidate.read_about().predictions
            yield Job(arrival.submission, path, candidate.files[path])

    def _is_decided(self, arrival: Arrival) -> bool:
        """Return whether a submission has an entry; a refused one may be sent again."""
        entry = self.entries.get(arrival.submission)
        return entry is not None and (entry.status != "refused" or entry.source == arrival.source)

    def _decide(self, arrival: Arrival, outcome: Outcome) -> tuple[str, str]:
        """Decide about a submission that was scored, unless the limit was reached meanwhile."""
        name = f"{arrival.read_about().system} ({arrival.submission[:12]})"
        if outcome.error is not None:  # it is tried again with every run
            return "errors", f"{name}: {outcome.error}"
        reason = self._quota.find_refusal(arrival)
        if reason is not None:
            return self._refuse(replace(arrival, problems=(reason,)), [reason])
        record = outcome.record
        if record is None or outcome.blocks is None:
            return self._refuse(arrival, outcome.problems)
        entry = self._make_entry(arrival, "accepted")
        if self.board.hides_scores(self._now):
            self._write(arrival, entry)
            return "accepted", f"{name}: valid"
        self._cache.write(self.board, record, outcome.blocks)
        self._write(arrival, entry, record)
        score = record.report["scores"][self.board.headline]["value"]
        value = "undefined" if score is None else f"{100 * score:.2f}"
        return "accepted", f"{name}: {self.board.headline} {value}"

    def _refuse(self, arrival: Arrival, problems: Sequence[str]) -> tuple[str, str]:
        entry = self._make_entry(arrival, "refused")
        self._write(arrival, msgspec.structs.replace(entry, problems=tuple(problems)))
        more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
        name = "" if arrival.problems else f"{arrival.read_about().system} "
        return "refused", f"{name}({arrival.submission[:12]}): {problems[0]}{more}"

    def _grant(self, request: Arrival, waiting: Arrival | None) -> tuple[str, str]:
        """Withdraw or choose a submission, which may not be judged yet, if its own author asks for it."""
        name = request.submission[:12]
        participle = "chosen" if request.kind == "choices" else "withdrawn"
        entry = self.entries.get(request.submission)
        if entry is None and waiting is not None:
            entry = self._make_entry(waiting, "withdrawn")
        problems = self._store.fetch(request, self.board.limits.bytes).problems
        if not problems:
            if entry is None:
                problems = (f"there is no submission {name}",)
            elif entry.author != request.author:
                problems = (f"{name} can be {participle} only by its author",)
            elif request.kind == "choices" and self.board.counting != "chosen":
                problems = (f"authors don't choose what {self.board.name} ranks",)
        if problems or entry is None:
            self.decided.append((replace(request, problems=problems), problems))
            return "refused", f"{name} can't be {participle} by {request.author}: {problems[0]}"
        if request.kind == "choices":
            entry = msgspec.structs.replace(entry, chosen=request.submitted)
        else:
            entry = msgspec.structs.replace(entry, status="withdrawn")
        self._write(request, entry)
        return participle, f"{name} of {request.author}"

    def _make_entry(
        self, arrival: Arrival, status: Literal["refused", "accepted", "withdrawn"]
    ) -> Entry:
        is_readable = arrival.files and not arrival.problems
        return Entry(
            arrival.submission,
            arrival.board,
            arrival.author,
            arrival.submitted,
            status,
            arrival.source,
            arrival.read_about() if is_readable else None,
        )

    def _write(self, arrival: Arrival, entry: Entry, record: Record | None = None) -> None:
        """Write an entry, with the files of the submission if it was accepted, and with the record."""
        files: dict[str, bytes] = {}
        if entry.status == "accepted":
            files |= arrival.files
        if record is not None:
            files[record.path] = record.to_bytes()
        # last, as it decides about the submission
        files[entry.path] = entry.to_bytes()
        self._store.write(files)
        before = self.entries.get(entry.submission)
        if before is not None:
            self._quota.add(before, -1)
        self.entries[entry.submission] = entry
        self._quota.add(entry)
        self.decided.append((arrival, ()))

    def count(self, results: Results) -> BoardCounts:
        """Return the counts of all accepted submissions and baselines; score those again whose counts are missing."""
        counts = BoardCounts({}, {})
        uncounted: list[Job] = []
        for job in self._list_jobs(results):
            record = results.records.get(record_id(job.subject, self.board.signature))
            blocks = None
            if record is not None and record.fits(self.board):
                blocks = self._cache.read(self.board, record)
            if record is None or blocks is None:
                uncounted.append(job)
            else:
                counts.add(record, blocks)
        new_files: dict[str, bytes] = {}
        for outcome in self._score_stored(uncounted):
            record = outcome.record
            if record is None or outcome.blocks is None:
                self.unscored[outcome.subject] = outcome.error or "; ".join(outcome.problems)
                continue
            self._cache.write(self.board, record, outcome.blocks)
            stored = results.records.get(record.id)
            if stored is None or not stored.fits(self.board):
                new_files[record.path] = record.to_bytes()
                stored = record
            # The index follows from the stored records, whether counts were kept or not.
            counts.add(stored, outcome.blocks)
        if new_files:
            self._store.write(new_files)
        return counts

    def _list_jobs(self, results: Results) -> list[Job]:
        """List the baselines and all accepted submissions, whose predictions are yet to be read."""
        jobs = [Job(f"{BASELINE}{name}") for name in self.board.baselines]
        if self.board.hides_scores(self._now):
            return jobs
        entries = [entry for entry in results.entries.values() if entry.board == self.board.name]
        for entry in entries:
            if entry.status == "accepted":
                path = entry.describe().predictions
                jobs.append(Job(entry.submission, path))
        return jobs

    def _score_stored(self, jobs: Sequence[Job]) -> Iterator[Outcome]:
        """Score submissions that were accepted before, and baselines."""
        if not jobs:
            return
        unread: list[Outcome] = []

        def read_predictions() -> Iterator[Job]:
            for job in jobs:
                if not job.path:
                    yield job
                    continue
                try:
                    content = self._store.read_predictions(job.path, self.board.limits.bytes)
                except RequestError as error:
                    unread.append(Outcome(job.subject, error=str(error)))
                else:
                    yield replace(job, predictions=content)

        yield from self._score(read_predictions())
        yield from unread
