"""What must hold of every input: a result or an error of ours, alike twice, in time, and nothing written."""

import resource
import shutil
import signal
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

from closeread.corpus import notices
from closeread.exceptions import CloseReadWarning, InputError, RequestError

SECONDS = 10
"""The time that one input of some kilobytes may take on a busy machine."""

GIGABYTES = 2
"""The memory that it may take."""

LINES = 25
"""The lines of a message: the problems that are shown, and some around them."""


class TooSlowError(BaseException):
    """No `except Exception` may catch it."""


@contextmanager
def alarm(seconds):
    """Raise an error in the block when the time is over."""

    def end(number, frame):
        raise TooSlowError(f"more than {seconds} seconds: {''.join(traceback.format_stack(frame)[-3:])}")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def limited_memory():
    """Let this process take few gigabytes more than it has in the block, so that too much is a MemoryError."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + GIGABYTES * 2**30, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


class Workspace:
    """A folder with the files of a target, one of which is changed again and again."""

    def __init__(self, target, folder):
        self.target = target
        self.folder = folder
        self.output = folder.with_name(f"{folder.name}-out")
        for path, data in target.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        self.names = self._list()

    def _list(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def find_fault(self, path, data):
        """Say what is wrong with how an input is taken; None if nothing is."""
        (self.folder / path).write_bytes(data)
        try:
            first = self._call()
            if isinstance(first, Fault):
                return first.what
            second = self._call()
            if first != second:
                return f"not alike twice: {first!r:.500} and {second!r:.500}"
            if self._list() != self.names or (self.folder / path).read_bytes() != data:
                return "something was written"
        finally:
            (self.folder / path).write_bytes(self.target.files[path])
        return None

    def _call(self):
        notices._shown.clear()
        self.output.mkdir(exist_ok=True)
        try:
            with limited_memory(), alarm(SECONDS), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found = self._try()
        except (Exception, TooSlowError):
            return Fault(traceback.format_exc())
        finally:
            shutil.rmtree(self.output)
        told = [str(one.message) for one in caught]
        strange = [one for one in caught if not issubclass(one.category, CloseReadWarning)]
        if strange:
            return Fault(f"a warning of another library: {strange[0]}")
        if not all(map(is_shown_safely, told)):
            return Fault(f"a note that a terminal may act on: {told!r}")
        return found, told

    def _try(self):
        try:
            return repr(self.target.call(self.folder, self.output))
        except (InputError, RequestError) as error:
            message = str(error)
            if not message or not is_shown_safely(message) or message.count("\n") > LINES:
                raise AssertionError(f"a message that is not fit for a terminal: {message!r}") from error
            if any(self.output.iterdir()):
                raise AssertionError(f"refused, but something was written: {message}") from error
            return message


class Fault:
    """What is wrong."""

    def __init__(self, what):
        self.what = what


def is_shown_safely(message):
    """Tell whether a message has nothing that a terminal may act on."""
    return message.replace("\n", "").isprintable()
