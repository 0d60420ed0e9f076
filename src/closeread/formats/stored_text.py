"""Texts that are read a part at a time: large files stay on disk, so that memory holds only what is made of them.

Conventions: positions are of bytes.  A part is of whole lines; the last line of a text need not end.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG
from typing import Protocol

from closeread import limits
from closeread.exceptions import FormatError, Problem
from closeread.formats.text import BYTE_ORDER_MARK, MAGIC, is_open_pipe

PART = 2**22
"""The size of a part in bytes, unless a line is longer; smaller files are held."""

_FIRST_WINDOW, _LAST_WINDOW = 2**12, 2**16
"""How many bytes are read at once to find some lines, at first and later."""


class Text(Protocol):
    """The bytes of a text."""

    @property
    def size(self) -> int:
        """The number of bytes."""
        ...

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes of a range, which is not beyond the end."""
        ...


class HeldText:
    """A text in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self._data)

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes of a range."""
        return self._data[begin:end]


class FileText:
    """A text in a regular file that stays open, and is pickled with its content.

    Args:
        path: the file, for messages.
        descriptor: the open file, which is closed when nobody uses the text any longer.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        weakref.finalize(self, os.close, descriptor)
        self._path, self._descriptor = path, descriptor
        self._state = self._find_state()

    def __reduce__(self) -> tuple[type[HeldText], tuple[bytes]]:
        return HeldText, (self.read(0, self.size),)

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self._state[0]

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes of a range."""
        parts: list[bytes] = []
        while begin < end and (part := os.pread(self._descriptor, end - begin, begin)):
            parts.append(part)
            begin += len(part)
        if begin < end or self._find_state() != self._state:
            raise FormatError(self._path, [Problem("has changed while it was used")])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _find_state(self) -> tuple[int, int]:
        status = os.fstat(self._descriptor)
        return status.st_size, status.st_mtime_ns


def open_large(path: Path) -> FileText | None:
    """Open a file that is larger than `PART`; None if it is better read at once, by `closeread.formats.text`.

    That is what happens to gzipped files, pipes, files that are too large or can't be read, and where the operating
    system cannot read a file at a position.
    """
    if not hasattr(os, "pread") or is_open_pipe(path):
        return None
    try:
        if not PART < path.stat().st_size <= limits.max_file_bytes() or not path.is_file():
            return None
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    text = FileText(path, descriptor)
    is_large = S_ISREG(os.fstat(descriptor).st_mode) and PART < text.size <= limits.max_file_bytes()
    return text if is_large and text.read(0, len(MAGIC)) != MAGIC else None


def find_begin(text: Text) -> int:
    """Return the position after the byte-order mark, if a text begins with one."""
    size = len(BYTE_ORDER_MARK)
    return size if text.read(0, min(size, text.size)) == BYTE_ORDER_MARK else 0


def iterate_parts(text: Text, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield the parts of a range that begins with a line, each with its position.

    They have at most `PART` bytes, and more only if a line has.  Of a line that is longer than any reader accepts, only
    the begin is read, which is too long, too.
    """
    enough = max(limits.MAX_LINE_BYTES, PART)
    while begin < end:
        data = text.read(begin, min(begin + PART, end))
        while b"\n" not in data and begin + len(data) < end and len(data) <= enough:
            data += text.read(begin + len(data), min(begin + 2 * len(data), end))
        if begin + len(data) < end and b"\n" in data:
            data = data[: data.rfind(b"\n") + 1]
        yield begin, data
        begin += len(data)


def iterate_lines(text: Text, begin: int) -> Iterator[bytes]:
    """Yield the lines from a position on, with their ends."""
    size, line = _FIRST_WINDOW, list[bytes]()
    while begin < text.size:
        data = text.read(begin, min(begin + size, text.size))
        begin += len(data)
        *lines, rest = data.split(b"\n")
        for end in lines:
            yield b"".join([*line, end, b"\n"])
            line = []
        line.append(rest)
        size = min(2 * size, _LAST_WINDOW)
    if any(line):
        yield b"".join(line)
