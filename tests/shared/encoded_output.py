"""Commands whose standard output and standard error have an encoding of their own, or are broken."""

import io
import sys
from contextlib import contextmanager

from closeread.cli import main


class _Broken(io.RawIOBase):
    error = None

    def writable(self):
        return True

    def write(self, data):
        if self.error is not None:
            raise self.error
        return len(data)


@contextmanager
def broken(error):
    """A text stream as Python makes it at its start, to a file that takes no byte; what is buffered is lost."""
    raw = _Broken()
    raw.error = error
    stream = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "strict")
    yield stream
    raw.error = None
    stream.close()


def run_with(arguments, stdout, stderr):
    """Run a command with these streams; its exit code.  Any exception that is no exit is raised."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = stdout, stderr
    try:
        main([str(one) for one in arguments])
    except SystemExit as error:
        return error.code or 0
    finally:
        for given, stream in ((stdout, sys.stdout), (stderr, sys.stderr)):
            if given is None:
                stream.close()
        sys.stdout, sys.stderr = before
    raise AssertionError("a command ends by an exit")


def run_encoded(arguments, encoding):
    """Run a command; its exit code, and what it wrote, decoded strictly."""
    written = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(one, encoding, "strict", newline="") for one in written]
    code = run_with(arguments, *streams)
    for stream in streams:
        stream.flush()
    return code, *(one.getvalue().decode(encoding) for one in written)
