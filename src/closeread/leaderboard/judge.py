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
from closeread.leaderboard.declaration import Board, Leaderboard, store_path
from closeread.leaderboard.index import Counts, find_row, index_files, make_index
from closeread.leaderboard.names import escape_markdown, format_time, write_time
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

FULL = "the daily limit is reached"
SHOWN = 20  # how many problems an answer lists


@dataclass(frozen=True)
class JudgingReport(JsonResult):
    """The outcome of a run of the judge: a sentence for each submission."""

    accepted: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
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

    now = write_time(read_now())
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
                store, leaderboard, found, {run.board.name: run.count(found) for run in runs}, now
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
            elif arrival.kind == "choices":
                text = f"Submission {arrival.submission[:12]} is the one that is ranked."
            elif run.board.hides_scores(now):
                shown = format_time(str(run.board.reveals))
                text = (
                    f"**{escape_markdown(run.board.title)}**: valid. Scores are shown on {shown}."
                )
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


def read_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


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
        "Correct this and submit again; `closeread leaderboard submit … --dry-run` checks and sends nothing.",
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
        lines.append(
            f"Rank {format_rank(row['rank'])}, with 95% confidence; "
            f"number {row['place']} of {row['n_ranked']} by score."
        )
    return "\n".join([*lines, f"Signature: `{row['signature']}`", f"Record: {link}"])


class Quota:
    """The limits of a board, and what authors have used of them."""

    def __init__(self, board: Board, entries: Iterable[Entry], today: date) -> None:
        self._board, self._today = board, today
        self._scored: Counter[tuple[str, str]] = Counter()  # by author and day
        self._refused: Counter[tuple[str, str]] = Counter()
        self._totals: Counter[str] = Counter()  # of those that were scored, by author
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry, number: int = 1) -> None:
        """Count an entry; -1 takes it off again."""
        if not entry.day:
            return
        # A refusal because of private gold reveals something about it, so it counts against the limit, as a score does.
        is_scored = entry.status != "refused" or (self._board.private and entry.about is not None)
        if is_scored:
            self.add_scored(entry.author, entry.day, number)
        else:
            self.add_refused(entry.author, entry.day, number)

    def add_scored(self, author: str, day: str, number: int = 1) -> None:
        """Count a submission that is scored."""
        self._scored[author, day] += number
        self._totals[author] += number

    def add_refused(self, author: str, day: str, number: int = 1) -> None:
        """Count a submission that is refused, or that could not be scored."""
        self._refused[author, day] += number

    def find_refusal(self, arrival: Arrival) -> str | None:
        """Return why a submission is refused by its time, or by the number of those of its author."""
        reason = self._board.refuse_time(arrival.author, arrival.submitted)
        if reason is not None:
            return reason
        total = self._board.limits.total
        if total is not None and self._totals[arrival.author] >= total:
            return f"the limit of {pluralize(total, 'submission')} of an author is reached"
        last_day = self._find_last_day(arrival)
        if last_day < self._today and self.find_day(arrival) is None:
            return f"{FULL} on every day until the end"
        return None

    def _find_last_day(self, arrival: Arrival) -> date:
        """Return the last day against whose limit a submission may count: today, or that of the end before it."""
        end = self._board.find_end(arrival.author)
        if end is None or arrival.submitted > end:
            return self._today
        return min(date.fromisoformat(end[:10]), self._today)

    def find_day(self, arrival: Arrival) -> str | None:
        """Return the first day, from that of the arrival, with room for its author; None if that is not yet."""
        day = min(date.fromisoformat(arrival.submitted[:10]), self._today)  # clocks differ
        while day <= self._find_last_day(arrival):
            key = arrival.author, day.isoformat()
            if self._scored[key] < self._board.limits.per_day and self._refused[key] < REFUSALS:
                return day.isoformat()
            day += timedelta(days=1)
        return None


def foresee(
    leaderboard: Leaderboard, results: Results, arrivals: Sequence[Arrival]
) -> dict[str, str]:
    """Say what the judge would do with submissions that wait, by id, if all of them are valid."""
    outlook = {}
    for board in leaderboard.boards.values():
        entries = [entry for entry in results.entries.values() if entry.board == board.name]
        quota = Quota(board, entries, read_now().date())
        for arrival in arrivals:
            if (arrival.board, arrival.kind) == (board.name, "submissions"):
                refusal, day = quota.find_refusal(arrival), quota.find_day(arrival)
                if refusal is not None:
                    outlook[arrival.submission] = f"would be refused: {refusal}"
                elif day is None:
                    outlook[arrival.submission] = f"would wait: {FULL}"
                else:
                    quota.add_scored(arrival.author, day)
                    outlook[arrival.submission] = "would be judged"
    return outlook


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
        now = read_now()
        self._now = write_time(now)
        self.entries = {
            name: entry for name, entry in results.entries.items() if entry.board == board.name
        }
        self._quota = Quota(board, self.entries.values(), now.date())

    def settle(self, arrivals: Sequence[Arrival]) -> Iterator[tuple[str, str]]:
        """Settle what has arrived; yield for each file the name of a field of `JudgingReport` and a sentence."""
        for arrival in arrivals:
            if not arrival.submission:
                self.settled.append((arrival, arrival.problems))
                yield "refused", f"{arrival.source} of {arrival.author}: {arrival.problems[0]}"
        named = [arrival for arrival in arrivals if arrival.submission]
        submissions = {
            arrival.submission: arrival for arrival in named if arrival.kind == "submissions"
        }
        later: list[Arrival] = []
        for arrival in named:
            if arrival.kind == "withdrawals" and arrival.submission not in self.entries:
                yield self._grant(arrival, submissions.get(arrival.submission))
                if arrival.submission in self.entries:
                    del submissions[arrival.submission]
            elif arrival.kind != "submissions":
                later.append(arrival)
        yield from self._judge(submissions)
        for request in later:
            is_waiting = request.submission in submissions.keys() - self.entries.keys()
            if not is_waiting:
                yield self._grant(request, None)

    def _judge(self, submissions: Mapping[str, Arrival]) -> Iterator[tuple[str, str]]:
        """Settle submissions, by id."""
        fetched: dict[str, Arrival] = {}
        refused: list[Arrival] = []

        def make_jobs() -> Iterator[Job]:
            for arrival in submissions.values():
                if self._is_settled(arrival):
                    continue
                reason = self._quota.find_refusal(arrival)
                if reason is not None:
                    refused.append(replace(arrival, problems=(reason,)))
                elif self._quota.find_day(arrival) is not None:
                    candidate = self._store.fetch(arrival, self.board.limits.bytes)
                    if candidate.problems:
                        refused.append(candidate)
                    else:
                        path = candidate.read_about().predictions
                        fetched[arrival.submission] = candidate
                        yield Job(arrival.submission, path, candidate.files[path])

        for outcome in self._score(make_jobs()):
            settled = self._settle(fetched.pop(outcome.subject), outcome)
            if settled is not None:
                yield settled
        for arrival in refused:
            day = self._quota.find_day(arrival)
            if day is None and self._quota.find_refusal(arrival) is not None:
                day = arrival.submitted[:10]
            if day is not None:
                yield self._refuse(arrival, arrival.problems, day)
        for arrival in submissions.values():
            if self._is_settled(arrival):
                # By a judge that was killed before it could answer, or because somebody sent it before.
                if all(done.submission != arrival.submission for done, _ in self.settled):
                    is_copy = self.entries[arrival.submission].source != arrival.source
                    problems = ("this was submitted before",) if is_copy else ()
                    self.settled.append((arrival, problems))
            elif self._quota.find_day(arrival) is None:
                yield "waiting", f"{arrival.submission[:12]} of {arrival.author} waits: {FULL}"

    def _is_settled(self, arrival: Arrival) -> bool:
        """Return whether a submission has an entry; a refused one may be sent again."""
        entry = self.entries.get(arrival.submission)
        return entry is not None and (entry.status != "refused" or entry.source == arrival.source)

    def _settle(self, arrival: Arrival, outcome: Outcome) -> tuple[str, str] | None:
        """Settle a submission that was scored, unless the limit was reached meanwhile."""
        name = f"{arrival.read_about().system} ({arrival.submission[:12]})"
        record, day = outcome.record, self._quota.find_day(arrival)
        if outcome.error is not None:
            # it is tried again with every run, so there may not be too many of them
            if day is not None:
                self._quota.add_refused(arrival.author, day)
            return "errors", f"{name}: {outcome.error}"
        reason = self._quota.find_refusal(arrival)
        if reason is not None:
            return self._refuse(
                replace(arrival, problems=(reason,)), [reason], day or arrival.submitted[:10]
            )
        if day is None:
            return None
        if record is None or outcome.blocks is None:
            return self._refuse(arrival, outcome.problems, day)
        entry = self._make_entry(arrival, "accepted", day)
        if self.board.hides_scores(self._now):
            self._keep(arrival, entry)
            return "accepted", f"{name}: valid"
        self._cache.write(self.board, record, outcome.blocks)
        self._keep(arrival, entry, record)
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

    def _grant(self, request: Arrival, waiting: Arrival | None) -> tuple[str, str]:
        """Withdraw or choose a submission, which may not be judged yet, if its own author asks for it."""
        name, what = request.submission[:12], "withdrawn"
        if request.kind == "choices":
            what = "chosen"
        entry = self.entries.get(request.submission)
        if entry is None and waiting is not None:
            entry = self._make_entry(waiting, "withdrawn", "")
        problems = self._store.fetch(request, self.board.limits.bytes).problems
        if entry is None:
            problems = problems or (f"there is no submission {name}",)
        elif entry.author != request.author:
            problems = problems or (f"{name} can be {what} only by its author",)
        elif what == "chosen" and self.board.counting != "chosen":
            problems = problems or (f"authors don't choose what {self.board.name} ranks",)
        if problems or entry is None:
            self.settled.append((replace(request, problems=problems), problems))
            return "refused", f"{name} can't be {what} by {request.author}: {problems[0]}"
        if what == "chosen":
            self._keep(request, replace(entry, chosen=request.submitted))
        else:
            self._keep(request, replace(entry, status="withdrawn"))
        return what, f"{name} of {request.author}"

    def _make_entry(self, arrival: Arrival, status: str, day: str) -> Entry:
        about = arrival.read_about().to_dict() if arrival.files and not arrival.problems else None
        names = ("submission", "board", "author", "submitted", "source")
        return Entry(
            **{name: getattr(arrival, name) for name in names}, day=day, status=status, about=about
        )

    def _keep(self, arrival: Arrival, entry: Entry, record: Record | None = None) -> None:
        """Write an entry, with the files of the submission if it was accepted, and with the record."""
        files = {} if record is None else {record.path: record.to_bytes()}
        is_accepted = arrival.kind == "submissions" and entry.status == "accepted"
        self._store.write_results(
            arrival if is_accepted else None, {**files, entry.path: entry.to_bytes()}
        )
        before = self.entries.get(entry.submission)
        if before is not None:
            self._quota.add(before, -1)
        self.entries[entry.submission] = entry
        self._quota.add(entry)
        self.settled.append((arrival, ()))

    def count(self, results: Results) -> Counts:
        """Return the counts of all accepted submissions and baselines; score those again whose counts are missing."""
        counts = Counts({}, {})
        missing: list[Job] = []
        jobs = [Job(f"{BASELINE}{name}") for name in self.board.baselines]
        if not self.board.hides_scores(self._now):
            jobs += _list_accepted(self.board, results)
        for job in jobs:
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


def _list_accepted(board: Board, results: Results) -> list[Job]:
    """List all accepted submissions, whose predictions are yet to be read."""
    return [
        Job(entry.submission, entry.describe().predictions)
        for entry in results.entries.values()
        if (entry.status, entry.board) == ("accepted", board.name)
    ]


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
