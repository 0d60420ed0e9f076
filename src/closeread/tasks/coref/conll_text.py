"""Whether the bytes of a CoNLL file are text, found without looking at each line.

Conventions: offsets are of bytes, lines count from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from closeread.errors import FormatError, Problem
from closeread.formats.problems import LISTED, Problems
from closeread.formats.text import MAX_LINE_BYTES

BLOCK = 2**20
"""How many bytes are looked at together; what NumPy makes of them then stays in the processor's cache."""

NEWLINE, TAB, RETURN, SPACE, DELETE = b"\n\t\r \x7f"
FIRST_BEYOND_ASCII = 0x80

MARKER = re.compile(rb"#[ \t]*(begin|end)[ \t]+document\b")


def check_text(path: Path, data: bytes, begin: int) -> None:
    """Refuse what is no UTF-8 text with lines of a sensible length."""
    if begin == len(data):
        raise FormatError(path, [Problem("is empty")])
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError(path, [Problem("is UTF-16 text (expected UTF-8)")])
    if b"\0" in data:
        raise FormatError(path, [Problem("is a binary file: it contains NUL bytes (expected UTF-8 text)")])
    problems = Problems()
    is_ascii = data.isascii()
    for first, last in line_spans(data, begin, len(data)):
        if last - first > max(MAX_LINE_BYTES, BLOCK):
            found = f"line is too long: {last - first:,} bytes (limit: {MAX_LINE_BYTES:,})"
            problems.add(found, _line_at(data, first))
        elif _has_controls(data, first, last) or not (is_ascii or _is_utf8(data, first, last)):
            _say_what_is_no_text(data[first:last].split(b"\n"), _line_at(data, first), problems)
        if problems.total > LISTED:  # as binary files have in their first block
            break
    problems.raise_any(path)


def _has_controls(data: bytes, first: int, last: int) -> bool:
    """Whether the text holds a control character of ASCII beside tabs and line ends."""
    raw = np.frombuffer(data, np.uint8, last - first, first)
    lines = np.flatnonzero(raw == NEWLINE)
    allowed = len(lines) + np.count_nonzero(raw == TAB) + np.count_nonzero(raw[lines - 1] == RETURN)
    return bool(np.count_nonzero(raw < SPACE) != allowed or np.count_nonzero(raw == DELETE))


def _is_utf8(data: bytes, first: int, last: int) -> bool:
    """Whether the text is UTF-8: its runs of bytes beyond ASCII, each with the byte that ends it, say that."""
    raw = np.frombuffer(data, np.uint8, last - first, first)
    beyond = np.flatnonzero(raw >= FIRST_BEYOND_ASCII)
    if not beyond.size:
        return True
    # The byte after a run keeps runs apart; a sequence never reaches over it.
    after = beyond[np.append(np.diff(beyond) > 1, True)] + 1
    try:
        raw[np.union1d(beyond, after[after < len(raw)])].tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _say_what_is_no_text(lines: Sequence[bytes], first_line: int, problems: Problems) -> None:
    for number, line in enumerate(lines, first_line):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            found = f"byte {error.start + 1} (0x{line[error.start]:02x}) is not valid UTF-8"
            problems.add(found, number)
        if unsafe := re.search(rb"[^\t -~\x80-\xff]", line.removesuffix(b"\r")):
            problems.add(f"character {unsafe.start() + 1} is the control character U+{ord(unsafe[0]):04X}", number)


def _line_at(data: bytes, position: int) -> int:
    """The number of the line that begins at a position."""
    return data.count(b"\n", 0, position) + 1


def line_spans(data: bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Where blocks of whole lines begin and end; one that is longer than `BLOCK` is a single line."""
    while begin < end:
        last = min(begin + BLOCK, end)
        if last < end:
            last = data.rfind(b"\n", begin, last) + 1 or data.find(b"\n", last, end) + 1 or end
        yield begin, last
        begin = last


def row_width(data: bytes, begin: int) -> int:
    """How many cells the rows of the document have that begins here: those of the first one that is complete.

    A row that ends in a tab says nothing as long as others don't: its last cell may be empty.
    """
    width = 0
    while begin < len(data):
        end = data.find(b"\n", begin) + 1 or len(data)
        line = data[begin:end]
        if line.startswith(b"#"):
            if MARKER.match(line):
                break
        elif cells := line.split():
            width = width or len(cells)
            if not line.removesuffix(b"\n").removesuffix(b"\r").endswith(b"\t"):
                return len(cells)
        begin = end
    return width
