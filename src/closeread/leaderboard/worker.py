"""Scoring in a process of its own, with a limit of time and memory: what is scored comes from strangers.

A worker is a process that reads gold once.  For every job it forks a child that scores, and is killed if it takes too
long; a child that crashes takes nothing with it.  Workers get no tokens in their environment.

Conventions: a message is its length as 8 bytes, a line of JSON, and raw bytes; nothing is unpickled.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO, Any

import numpy as np

from closeread.arrays import Floats
from closeread.exceptions import RequestError
from closeread.leaderboard.declaration import Board
from closeread.leaderboard.results import Record

LENGTH = 8
SECRETS = ("HF_TOKEN", "HF_TOKEN_PATH", "HUGGING_FACE_HUB_TOKEN", "WEBHOOK_SECRET")


@dataclass(frozen=True)
class Job:
    """Something to score.

    Attributes:
        subject: the id of the submission, or "baseline:" and the name of the baseline.
        path: the path of the predictions in the store, whose suffix says what they are; empty for a baseline.
        predictions: their bytes.
    """

    subject: str
    path: str = ""
    predictions: bytes = b""


@dataclass(frozen=True)
class Outcome:
    """What became of a job.

    Attributes:
        subject: as in the job.
        record: the record; None if there is none.
        names: the names of the counts.
        blocks: the sums of the counts of every block, (n_blocks, k).
        problems: why the predictions are refused.
        error: why they could not be scored, if that is not their fault.
    """

    subject: str
    record: Record | None = None
    names: tuple[str, ...] = ()
    blocks: Floats | None = None
    problems: tuple[str, ...] = ()
    error: str | None = None


class Worker:
    """A process that scores for one board.

    Args:
        board: the board.
        gold: the organiser's own gold; None to read the corpus.

    Raises:
        RequestError: gold can't be read.
    """

    def __init__(self, board: Board, gold: Path | None) -> None:
        # A token must not be where untrusted input is read, and a worker has no use for one.
        environment = {name: value for name, value in os.environ.items() if name not in SECRETS}
        # Children that are killed leave temporary files behind.
        self._scratch = TemporaryDirectory(prefix="closeread-", ignore_cleanup_errors=True)
        environment["TMPDIR"] = self._scratch.name
        self._process = subprocess.Popen(
            [sys.executable, "-m", "closeread.leaderboard.scoring_process", self._scratch.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            # A group of its own: it is ended with its children, and by its owner alone, not by Ctrl-C.
            start_new_session=True,
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise TypeError("the pipes of a worker are missing")
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._board = board
        own = None if gold is None else str(gold.absolute())
        try:
            answer, _ = self._ask({"board": asdict(board), "gold": own})
        except (OSError, EOFError):
            answer = {"error": "the scoring process ended before it had read the gold"}
        if "error" in answer:
            self.close()
            raise RequestError(answer["error"])

    def score(self, job: Job) -> Outcome:
        """Score a job; never raises because of what is scored."""
        try:
            answer, data = self._ask({"subject": job.subject, "path": job.path}, job.predictions)
        except (OSError, EOFError, ValueError) as error:
            return Outcome(job.subject, error=f"the scoring process ended: {error}")
        return read_outcome(job, answer, data)

    def close(self) -> None:
        """End the process and what it is scoring; a thread that waits for the outcome gets one with an error."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        for stream in (self._stdin, self._stdout):
            with suppress(OSError):  # what was not sent yet can't be
                stream.close()
        self._process.wait()
        self._scratch.cleanup()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, header: dict[str, Any], data: bytes = b"") -> tuple[dict[str, Any], bytes]:
        write_message(self._stdin, header, data)
        return read_message(self._stdout)


def read_outcome(job: Job, answer: dict[str, Any], data: bytes) -> Outcome:
    """Return the outcome of a job from the answer of the scoring process."""
    if "record" not in answer:
        return Outcome(job.subject, problems=tuple(answer.get("problems", ())), error=answer.get("error"))
    blocks = np.frombuffer(data, np.float64).reshape(answer["shape"])
    record = Record.from_bytes(answer["record"].encode(), "the scoring process")
    return Outcome(job.subject, record, tuple(answer["names"]), blocks)


def score_all(board: Board, gold: Path | None, jobs: Iterable[Job], n_workers: int) -> Iterator[Outcome]:
    """Score jobs by several workers; yield the outcomes in the order of the jobs.

    Args:
        board: the board.
        gold: the organiser's own gold; None to read the corpus.
        jobs: what to score; taken as workers become free.
        n_workers: the number of workers.

    Raises:
        RequestError: gold can't be read.
    """
    free: SimpleQueue[Worker] = SimpleQueue()
    workers: list[Worker] = []

    def score(job: Job) -> Outcome:
        worker = free.get()
        try:
            return worker.score(job)
        finally:
            free.put(worker)

    def start_worker() -> None:
        workers.append(Worker(board, gold))
        free.put(workers[-1])

    waiting: deque[Future[Outcome]] = deque()
    with ThreadPoolExecutor(n_workers) as pool:
        try:
            for job in jobs:
                if len(workers) < n_workers:
                    start_worker()
                waiting.append(pool.submit(score, job))
                if len(waiting) > 2 * n_workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for worker in workers:
                worker.close()


def write_message(stream: IO[bytes], header: dict[str, Any], data: bytes = b"") -> None:
    """Write a message."""
    line = json.dumps(header).encode() + b"\n"
    stream.write((len(line) + len(data)).to_bytes(LENGTH, "big") + line + data)
    stream.flush()


def read_message(stream: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """Read a message.

    Raises:
        EOFError: there is none.
    """
    length = stream.read(LENGTH)
    if len(length) < LENGTH:
        raise EOFError("no answer")
    body = stream.read(int.from_bytes(length, "big"))
    line, _, data = body.partition(b"\n")
    header: dict[str, Any] = json.loads(line)
    return header, data
