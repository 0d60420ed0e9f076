"""The sandbox: strangers' files are read in processes with limits of memory, time and file size.

A sandbox is a process that prepares once, such as by reading gold.  For every job it forks a child, which has imported
all libraries already, and kills it if it takes too long; a child that crashes takes nothing with it.  Neither has a
token in its environment, and what they answer is bytes, which nobody unpickles.
"""

from __future__ import annotations

import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, NamedTuple

from closeread.exceptions import InputError, RequestError
from closeread.files import scratch_folder

MEMORY_FILE = Path("/proc/self/statm")  # the pages of memory of this process; only Linux has it
NEEDS_LINUX = "judging needs Linux, where the memory of scoring can be limited"

SECRETS = ("HF_TOKEN", "HF_TOKEN_PATH", "HUGGING_FACE_HUB_TOKEN", "WEBHOOK_SECRET")
ANSWER_LIMIT = 200_000_000
MAX_WAIT = 1_000_000.0  # seconds; the system refuses to wait for as many as a limit may allow
# the first byte of an answer
DONE = b"d"
SLOW = b"s"
FAILED = b"f"


class Bounds(NamedTuple):
    """Limits of a job.

    Attributes:
        seconds: both of the clock and of the processor.
        memory: bytes beyond what the process needs.
        file_bytes: the size of a file that is written.
    """

    seconds: int
    memory: int
    file_bytes: int


class TooSlowError(Exception):
    """A job that reached its limit of time, or of the size of its answer."""


class EndedError(Exception):
    """A job or a sandbox that ended without an answer, as by `close`."""


class Sandbox:
    """A process that answers jobs, one at a time, each in a child with limits.

    `prepare`, a function of a module, is called in the process with its arguments, which are pickled, and returns the
    function that answers a job.  If it raises an InputError, RequestError or OSError, this is a RequestError; so it is
    on a system where the limits can't be set.
    """

    def __init__(self, prepare: Callable[..., Callable[[Any], bytes]], *arguments: object) -> None:
        if not MEMORY_FILE.exists():
            raise RequestError(NEEDS_LINUX)
        # Children that are killed leave temporary files behind.
        self._scratch = ExitStack()
        scratch = str(self._scratch.enter_context(scratch_folder()))
        environment = {name: value for name, value in os.environ.items() if name not in SECRETS}
        self._connection, other = Pipe()
        # also for the handler of a signal, which may interrupt its own thread
        self._lock = threading.RLock()
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(other.fileno()), scratch],
                env={**environment, "TMPDIR": scratch},
                stdin=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                # it is ended with its children, and by its owner alone, not by Ctrl-C
                start_new_session=True,
            )
        try:
            self._connection.send((prepare, arguments))
            message = self._connection.recv_bytes().decode()
        except (OSError, EOFError):
            message = "the scoring process ended before it had read the gold"
        if message:
            self.close()
            raise RequestError(message)

    def run(self, job: object, bounds: Bounds) -> bytes:
        """Return the answer to a job, which is pickled; a TooSlowError or an EndedError says why there is none."""
        try:
            with self._lock:
                self._connection.send((job, bounds))
                answer = self._connection.recv_bytes()
        except (OSError, EOFError, ValueError) as error:
            raise EndedError(f"the scoring process ended: {error}") from None
        if answer[:1] == SLOW:
            raise TooSlowError
        if answer[:1] == FAILED:
            raise EndedError(f"scoring ended with status {answer[1:].decode()}")
        return answer[1:]

    def close(self) -> None:
        """End the process and what it is doing; a thread that waits for an answer gets an EndedError."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        with self._lock:  # a thread that waits for an answer gets none now, and lets go
            self._process.wait()
            self._connection.close()
            self._scratch.close()


def _serve(owner: Connection) -> None:
    os.dup2(2, 1)  # what is printed meanwhile is no output of the command
    prepare, arguments = owner.recv()
    try:
        answer = prepare(*arguments)
    except (InputError, RequestError, OSError) as error:
        owner.send_bytes(str(error).encode("utf-8", "replace"))
        return
    owner.send_bytes(b"")
    while True:
        job, bounds = owner.recv()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            result = _run_child(answer, job, bounds, owner, scratch)
        owner.send_bytes(result)


def _run_child(
    answer: Callable[[Any], bytes], job: object, bounds: Bounds, owner: Connection, scratch: str
) -> bytes:
    """Answer a job in a child whose temporary files are in `scratch`; kill it if it takes too long."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            owner.close()
            tempfile.tempdir = scratch
            _limit(bounds)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(answer(job))
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    deadline = time.monotonic() + min(bounds.seconds, MAX_WAIT)
    result = bytearray()
    is_complete = False
    while not is_complete and len(result) <= ANSWER_LIMIT:
        wait = max(deadline - time.monotonic(), 0)
        ready, _, _ = select.select([reading, owner.fileno()], [], [], wait)
        # the next job is sent after the answer, so this is the owner's end
        if not ready or owner.fileno() in ready:
            break
        part = os.read(reading, 1 << 20)
        is_complete = not part
        result += part
    os.close(reading)
    if not is_complete:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not is_complete or -status == signal.SIGXCPU:
        return SLOW
    if status:
        return FAILED + str(status).encode()
    return DONE + bytes(result)


def _limit(bounds: Bounds) -> None:
    """Limit the memory and the time of this process, and the size of the files that it writes."""
    used = int(MEMORY_FILE.read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    limits = {
        resource.RLIMIT_AS: used + bounds.memory,
        resource.RLIMIT_CPU: bounds.seconds + 1,
        resource.RLIMIT_FSIZE: bounds.file_bytes,
        resource.RLIMIT_CORE: 0,
    }
    for kind, limit in limits.items():
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(kind, (limit, limit))
    # Python does not notice that bytecode was cut at the limit on files
    sys.dont_write_bytecode = True


if __name__ == "__main__":
    try:
        _serve(Connection(int(sys.argv[1])))
    except (BrokenPipeError, ConnectionResetError, EOFError):
        shutil.rmtree(sys.argv[2], ignore_errors=True)  # the owner was perhaps killed
        os._exit(0)
