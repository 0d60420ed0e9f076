"""Standard output and standard error that take any text, whatever their encoding, and that may be closed or full."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO, cast

OUTPUT = "standard output"
READABLE = "closeread.readable"
"""The name of our error handler for encoding."""

REPLACEMENTS = {
    "–": "-",
    "—": "-",
    "−": "-",
    "‐": "-",
    "‑": "-",
    "…": "...",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "«": "<<",
    "»": ">>",
    "†": "+",
    "‡": "#",
    "±": "+/-",
    "×": "x",
    "·": "*",
    "•": "*",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "→": "->",
    "←": "<-",
    "²": "2",
    "³": "3",
    "₂": "2",
    "α": "alpha",
    "κ": "kappa",
    "φ": "phi",
    "Φ": "Phi",
    "✓": "v",
    "✗": "x",
    "\u00a0": " ",
    "─": "-",
    "━": "=",
    "═": "=",
    "│": "|",
    "┃": "|",
    "║": "|",
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╞╡╪╸╺", "+"),
}
"""What stands for a character that an encoding lacks; others are written as escape sequences."""


def make_readable(text: str, encoding: str) -> str:
    r"""Replace what an encoding lacks by what people can read.

    Bytes of file names that are not UTF-8 (lone surrogates) are shown as in Python.

    >>> make_readable("1–2… İ", "ascii")
    '1-2... \\u0130'
    >>> make_readable("ö–", "latin-1")
    'ö-'
    """
    return text if text.isascii() else text.encode(encoding, READABLE).decode(encoding)


def can_write(text: str, stream: TextIO) -> bool:
    """Return whether the encoding of a stream has all characters of a text."""
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = error.object[error.start : error.end]
    return "".join(REPLACEMENTS.get(c) or c.encode("ascii", "backslashreplace").decode() for c in found), error.end


codecs.register_error(READABLE, _replace)


class ReadableStream(io.TextIOBase):
    """A stream that writes to another what this can encode, and is silent as soon as that fails.

    It has no `buffer`: click would write UTF-8 to that of an ASCII stream.

    Args:
        stream: the other.
        name: what to call it in the error that the first failure raises; empty to raise none.
    """

    def __init__(self, stream: io.TextIOWrapper, name: str) -> None:
        self.stream = stream
        self._name = name
        self._failed = False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the other stream."""
        return self.stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """The error handler of the other stream."""
        return self.stream.errors

    def write(self, text: str, /) -> int:
        """Write a text.

        Raises:
            TypeError: it is no text; click tries whether a stream takes bytes.
            BrokenPipeError: nobody reads.
            OSError: the text can't be written, for another reason, such as a full disk.
        """
        if not isinstance(text, str):
            raise TypeError(f"{type(text).__name__} is not text")
        if not text:  # so click tries, too, and would swallow the only error
            return 0
        shown = make_readable(text, self.encoding)
        self._attempt(lambda: self.stream.write(shown))
        return len(text)

    def flush(self) -> None:
        """Write what is buffered.

        Raises:
            BrokenPipeError: nobody reads.
            OSError: it can't be written, for another reason.
        """
        if not self.stream.closed:
            self._attempt(self.stream.flush)

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return self.stream.isatty()

    def fileno(self) -> int:
        """Return the number of the file."""
        return self.stream.fileno()

    def writable(self) -> bool:
        """Return that it can be written to."""
        return True

    def _attempt(self, action: Callable[[], object]) -> None:
        if self._failed:
            return
        try:
            action()
        except OSError as error:
            self._failed = True
            self._discard()
            if not self._name:
                return
            if isinstance(error, BrokenPipeError):
                raise
            raise OSError(error.errno, f"can't be written: {error.strerror or error}", self._name) from error

    def _discard(self) -> None:
        """Let what is still buffered go nowhere: Python flushes it when it ends, and would complain once more."""
        with suppress(OSError, ValueError):  # a stream without a file
            nowhere = os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(nowhere, self.stream.fileno())
            finally:
                os.close(nowhere)


@contextmanager
def readable_streams() -> Iterator[None]:
    """Let standard output and standard error take any text in the block; what is written to closed ones is lost.

    An error of standard error is ignored, for there is nowhere to report it.
    """
    before = sys.stdout, sys.stderr
    opened = []
    for name, shown in (("stdout", OUTPUT), ("stderr", "")):
        stream = getattr(sys, name)
        if stream is None:  # closed; a file that is opened later must not get its number
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
            opened.append(stream)
        if isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, cast(TextIO, ReadableStream(stream, shown)))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream in opened:
            stream.close()
