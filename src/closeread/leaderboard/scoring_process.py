"""The process that a worker starts: it reads gold once, and scores every job in a child of limited time and memory."""

from __future__ import annotations

import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import orjson

from closeread.corpus.submissions import drop_advice
from closeread.counts.counted import Counted
from closeread.counts.procedure import System
from closeread.counts.report import make_report
from closeread.exceptions import InputError, Problem, RequestError, SubmissionError, pluralize
from closeread.leaderboard.canonical import digest, write_json
from closeread.leaderboard.checking import keep_public
from closeread.leaderboard.declaration import FORMAT, Board, Leaderboard
from closeread.leaderboard.results import Record, make_record
from closeread.leaderboard.submission import unpacked
from closeread.leaderboard.worker import read_message, write_message
from closeread.scoring import Scorer
from closeread.wording import word_for_command_line

SHOWN = 50
"""The largest number of problems that are told."""

ANSWER_LIMIT = 200_000_000

WAIT = 3600
"""How many seconds are waited at once; the system refuses to wait for as many as a board may allow."""


def main(scratch: str) -> None:
    """Serve jobs from standard input until it ends; then remove a folder, whose owner was perhaps killed."""
    try:
        _serve()
    except (BrokenPipeError, EOFError):
        shutil.rmtree(scratch, ignore_errors=True)
        os._exit(0)  # without an attempt to send what is left of an answer


def _serve() -> None:
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed while scoring is no answer
    header, _ = read_message(stdin)
    try:
        board = Leaderboard.from_bytes(_wrap(header["board"]), "board").find(None)
        scorer = board.open_scorer(None if header["gold"] is None else Path(header["gold"]))
    except (InputError, RequestError, OSError) as error:
        write_message(stdout, {"error": str(error)})
        return
    write_message(stdout, {})
    while True:
        job, data = read_message(stdin)
        _score_in_child(board, scorer, job, data, stdout)


def _wrap(board: dict[str, Any]) -> bytes:
    return write_json({"format": FORMAT, "title": "", "results": None, "boards": [board]})


def _score_in_child(board: Board, scorer: Scorer, job: dict[str, Any], data: bytes, stdout: IO[bytes]) -> None:
    """Score a job in a child, and write the answer; kill the child if it takes too long."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        status, answer = _run_child(board, scorer, job, data, scratch)
    if answer is None or -status == signal.SIGXCPU:
        found = f"scoring takes longer than {board.limits.seconds:,} seconds, the limit of this board"
        write_message(stdout, {"problems": [found]})
    elif status:
        write_message(stdout, {"error": f"scoring ended with status {status}"})
    else:
        stdout.write(answer)
        stdout.flush()


def _run_child(
    board: Board, scorer: Scorer, job: dict[str, Any], data: bytes, scratch: str
) -> tuple[int, bytes | None]:
    """Score a job in a child whose temporary files are in `scratch`.

    Returns:
        The exit status, which is negative if the child was ended by a signal; and its answer, None if it was too slow.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        status = 1
        tempfile.tempdir = scratch
        try:
            _limit(board)
            with os.fdopen(writing, "wb") as pipe:
                header, blocks = score(board, scorer, job, data)
                write_message(pipe, header, blocks)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    answer = _read_until(reading, time.monotonic() + board.limits.seconds)
    os.close(reading)
    if answer is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), answer


def _read_until(pipe: int, deadline: float) -> bytes | None:
    """Read a pipe to its end; None if it takes too long, too much is written, or no one waits."""
    parts: list[bytes] = []
    size = 0
    while size <= ANSWER_LIMIT:
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        ready = select.select([pipe, 0], [], [], min(left, WAIT))[0]
        if 0 in ready:  # the next job is sent after the answer, so this is the end: nobody waits for one
            return None
        if not ready:
            continue
        part = os.read(pipe, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    return None


def _limit(board: Board) -> None:
    """Limit the memory and the time of this process, and the size of the files that it writes."""
    used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    limits = {
        resource.RLIMIT_AS: used + board.limits.memory,
        resource.RLIMIT_CPU: board.limits.seconds + 1,
        resource.RLIMIT_FSIZE: 20 * board.limits.bytes,
        resource.RLIMIT_CORE: 0,
    }
    for kind, wanted in limits.items():
        _, hard = resource.getrlimit(kind)
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (value, value))
    sys.dont_write_bytecode = True  # Python does not notice that bytecode was cut at the limit on files


def score(board: Board, scorer: Scorer, job: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the answer to a job, and the sums of the counts of every block."""
    try:
        counted, record = score_predictions(board, scorer, job["subject"], job["path"], data)
    except InputError as error:
        return {"problems": _tell(error.problems)}, b""
    except RequestError as error:
        return {"problems": [str(error)]}, b""
    except MemoryError:
        return {"problems": [f"scoring needs more than {board.limits.memory:,} bytes, the limit of this board"]}, b""
    except Exception:  # a defect of ours: the organiser is told, and the submission waits
        traceback.print_exc()
        return {"error": f"scoring failed: {traceback.format_exc(limit=-1).splitlines()[-1]}"}, b""
    blocks = counted.table.block_totals()[counted.table.order_blocks()]
    answer = {"record": record.to_bytes().decode(), "names": counted.table.names, "shape": blocks.shape}
    return answer, blocks.tobytes()


def score_predictions(board: Board, scorer: Scorer, subject: str, path: str, data: bytes) -> tuple[Counted, Record]:
    """Score predictions; every judge does so by this function.

    Args:
        board: the board.
        scorer: the scorer of its gold.
        subject: the id of the submission, or "baseline:" and the name of the baseline.
        path: a path whose suffix says what the predictions are; empty for a baseline.
        data: their bytes.

    Raises:
        InputError: they are invalid; all problems that may be published.
        RequestError: they lack something that the options need.
    """
    if path:
        with unpacked(data, path, board.limits) as predictions:
            system = _read(board, scorer, predictions)
    else:
        system = scorer.read(_predict(scorer, subject.removeprefix("baseline:")))
    counted = scorer.count(system, scorer.breakdowns_for(board.slices))
    report = make_report(counted, by=board.slices, resampling=board.resampling)
    return counted, make_record(board, subject, report, _digest_rows(scorer, system, data))


def _read(board: Board, scorer: Scorer, predictions: Path) -> System:
    """Read predictions.

    Raises:
        SubmissionError: they are invalid; all problems that may be published.
    """
    try:
        return scorer.read(predictions)
    except SubmissionError as error:
        raise SubmissionError(error.source, drop_advice(keep_public(board, predictions, error.problems))) from None


def _tell(problems: Sequence[Problem]) -> list[str]:
    """Return the first problems with their places, and how many more there are."""
    more = len(problems) - SHOWN
    shown = [problem.at("predictions") for problem in problems[:SHOWN]]
    return [*shown, f"and {pluralize(more, 'more problem')}"] if more > 0 else shown


def _predict(scorer: Scorer, name: str) -> list[dict[str, Any]]:
    """Return the predictions of a baseline."""
    from closeread.corpus.baselines import load_baseline

    corpus, *_ = scorer.gold.origin
    return load_baseline(corpus, name).predict(scorer.gold.records)


def _digest_rows(scorer: Scorer, system: System, data: bytes) -> str:
    """Return a digest of predictions that does not depend on their order and format, if they are records."""
    if scorer.procedure.sides.key_first:
        return digest(data)
    try:  # rows are in the order of the gold, whatever their order in the file
        return digest(orjson.dumps(list(system.rows), option=orjson.OPT_SORT_KEYS))
    except TypeError:
        return digest(data)


if __name__ == "__main__":
    with word_for_command_line():  # what it answers is shown by the commands of the leaderboard
        main(sys.argv[1])
