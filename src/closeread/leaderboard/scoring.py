"""Scoring of submissions on a board, in child processes of the judge with strict limits."""

from __future__ import annotations

import re
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue

import msgspec
import orjson

from closeread.counts.counts import Counts, make_report
from closeread.counts.procedure import System
from closeread.exceptions import (
    InputError,
    Problem,
    RequestError,
    SubmissionError,
    advising_only,
    pluralize,
    word_for_command_line,
)
from closeread.leaderboard.declaration import RESAMPLING, Board
from closeread.leaderboard.results import BASELINE, Blocks, Record, make_record
from closeread.leaderboard.sandbox import Bounds, EndedError, Sandbox, TooSlowError
from closeread.leaderboard.store_files import digest, read_file
from closeread.leaderboard.submission import Submission, unpacked
from closeread.scoring import Scorer

MAX_PROBLEMS_REPORTED = 50
SOURCE = "predictions"  # what messages call the file
PLACED = re.compile(rf"{SOURCE}(?:/([^:]+))?(?::(\d+))?: (.*)", re.DOTALL)

UNFIT = (
    "has the right form and ids, but does not fit the gold, which is private: check that texts, words and the ids "
    "inside documents are those that the organisers gave out"
)


@dataclass(frozen=True)
class Job:
    """A submission or a baseline to score.

    Attributes:
        subject: the id of the submission, or "baseline:" and the name of the baseline.
        path: the path of the predictions in the store, whose suffix says what they are; empty for a baseline.
        predictions: their bytes.
    """

    subject: str
    path: str = ""
    predictions: bytes = b""


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of a job, which a sandbox sends as bytes.

    Attributes:
        subject: as in the job.
        record: the record; None if the predictions were not scored.
        blocks: its counts in every block.
        problems: why the predictions are refused.
        error: why they could not be scored, if that is not their fault.
    """

    subject: str
    record: Record | None = None
    blocks: Blocks | None = None
    problems: tuple[str, ...] = ()
    error: str | None = None


def score_all(
    board: Board, gold: Path | None, jobs: Iterable[Job], n_workers: int
) -> Iterator[Outcome]:
    """Score jobs, taken as sandboxes become free, by own gold or that of the corpus; yield the outcomes in order."""
    free: SimpleQueue[Sandbox] = SimpleQueue()
    waiting: deque[Future[Outcome]] = deque()

    def score(job: Job) -> Outcome:
        sandbox = free.get()
        try:
            return score_in(sandbox, board, job)
        finally:
            free.put(sandbox)

    with ThreadPoolExecutor(n_workers) as pool, ExitStack() as sandboxes:
        for number, job in enumerate(jobs):
            if number < n_workers:
                free.put(sandboxes.enter_context(closing(open_sandbox(board, gold))))
            waiting.append(pool.submit(score, job))
            if len(waiting) > 2 * n_workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def open_sandbox(board: Board, gold: Path | None) -> Sandbox:
    """Start a process that scores for a board."""
    return Sandbox(_prepare, board, None if gold is None else gold.absolute())


def score_in(sandbox: Sandbox, board: Board, job: Job) -> Outcome:
    """Score a job in a sandbox; no predictions make it raise."""
    limits = board.limits
    bounds = Bounds(limits.seconds, limits.memory, 20 * limits.bytes)
    try:
        answer = sandbox.run(job, bounds)
    except TooSlowError:
        problem = f"scoring takes longer than {limits.seconds:,} seconds, the limit of this board"
        return Outcome(job.subject, problems=(problem,))
    except EndedError as error:
        return Outcome(job.subject, error=str(error))
    return msgspec.msgpack.decode(answer, type=Outcome)


def check_in_sandbox(
    board: Board, gold: Path | None, submission: Submission, source: Path
) -> tuple[tuple[str, ...], float | None]:
    """Score a submission as the judge will; return no warnings, and the headline score."""
    job = Job("", submission.about.predictions, submission.predictions)
    with closing(open_sandbox(board, gold)) as sandbox:
        outcome = score_in(sandbox, board, job)
    if outcome.error is not None:
        raise RequestError(f"{source} could not be checked: {outcome.error}")
    if outcome.record is None:
        raise SubmissionError(source, list(map(_locate, outcome.problems)))
    return (), outcome.record.report["scores"][board.headline]["value"]


def _locate(text: str) -> Problem:
    """Return a problem from its text in an outcome, in which it stands behind its place."""
    match = PLACED.fullmatch(text)
    if match is None:
        return Problem(text)
    file, line, message = match.groups()
    return Problem(message, int(line) if line else None, file=file)


def _prepare(board: Board, gold: Path | None) -> Callable[[Job], bytes]:
    """Read gold, and return the function that scores a job, in the process of a sandbox."""
    with word_for_command_line():  # the commands of the leaderboard show the answers
        scorer = board.open_scorer(gold)

    def answer(job: Job) -> bytes:
        return msgspec.msgpack.encode(score(board, scorer, job))

    # Import here, once, what scoring and refusing need, instead of in every child.
    answer(Job("", "nothing.jsonl", b'{"": 0}\n'))
    no_system = replace(scorer, options={**scorer.options, "missing": "empty"})
    system = System([None] * len(scorer.gold.records))
    counts = no_system.count(system, board.slices)
    make_report(counts, by=board.slices, resampling=RESAMPLING).to_dict()
    return answer


def score(board: Board, scorer: Scorer, job: Job) -> Outcome:
    """Score a job; nothing that is wrong with it raises an error."""
    try:
        # The commands of the leaderboard show the answer; submitters can't choose the options of a board.
        with word_for_command_line(), advising_only(()):
            counts, record = score_predictions(
                board, scorer, job.subject, job.path, job.predictions
            )
    except InputError as error:
        problems = [problem.at(SOURCE) for problem in error.problems]
        more = len(problems) - MAX_PROBLEMS_REPORTED
        if more > 0:
            problems[MAX_PROBLEMS_REPORTED:] = [f"and {pluralize(more, 'more problem')}"]
        return Outcome(job.subject, problems=tuple(problems))
    except RequestError as error:
        return Outcome(job.subject, problems=(str(error),))
    except MemoryError:
        limit = f"{board.limits.memory:,} bytes, the limit of this board"
        return Outcome(job.subject, problems=(f"scoring needs more than {limit}",))
    except Exception:  # a bug in closeread: the organiser is told, and the submission waits
        traceback.print_exc()
        last_line = traceback.format_exc(limit=-1).splitlines()[-1]
        return Outcome(job.subject, error=f"scoring failed: {last_line}")
    # in the order in which it is read from the store
    record = read_file(Record, record.to_bytes(), "record")
    return Outcome(job.subject, record, Blocks.from_table(counts.table))


def score_predictions(
    board: Board, scorer: Scorer, subject: str, path: str, data: bytes
) -> tuple[Counts, Record]:
    """Score predictions, of a subject and with a path as in a `Job`; every judge does so by this function."""
    if path:
        with unpacked(data, path, board.limits) as predictions:
            try:
                system = scorer.read(predictions)
            except SubmissionError as error:
                if not board.private:
                    raise
                # Other problems may quote gold, and even which there are says something about it.
                board.check_form(predictions)
                raise SubmissionError(error.source, [Problem(UNFIT)]) from None
    else:
        from closeread.corpus.baselines import load_baseline

        baseline = load_baseline(scorer.gold.origin[0], subject.removeprefix(BASELINE))
        system = scorer.read(baseline.predict(scorer.gold.records))
    counts = scorer.count(system, board.slices)
    report = make_report(counts, by=board.slices, resampling=RESAMPLING)
    rows = data
    # rows are in the order of the gold, whatever their order in the file
    if not scorer.procedure.reader.key_first:
        with suppress(TypeError):
            rows = orjson.dumps(list(system.rows), option=orjson.OPT_SORT_KEYS)
    return counts, make_record(board, subject, report, digest(rows))
