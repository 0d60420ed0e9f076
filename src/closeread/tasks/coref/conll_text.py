"""Large CoNLL and CoNLL-U files: check that their bytes are text, and split them into blocks of lines.

Conventions: offsets are of bytes, lines count from 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from closeread import limits
from closeread.arrays import Ints
from closeread.formats.problems import Problems
from closeread.formats.stored_text import Text, iterate_parts
from closeread.formats.text import check_encoding

BLOCK = 2**19
"""The number of bytes that are looked at together: with fewer, calling NumPy takes longer than what it does."""

SMALL_BLOCK = 2**14
"""The least size of blocks of short lines, whose columns take a hundred times their size; larger files have larger."""

NEWLINE, TAB, RETURN, SPACE = b"\n\t\r "
FIRST_BEYOND_ASCII = 0x80

MARKER = re.compile(rb"#[ \t]*(begin|end)[ \t]+document\b")


def check_text(path: Path, data: bytes, begin: int) -> None:
    """Check that the file is UTF-8 text whose lines are not too long.

    Raises:
        FormatError: it is not, with all problems.
    """
    check_encoding(path, data, begin)
    problems = Problems()
    is_ascii = data.isascii()
    for first, last in line_spans(data, begin, len(data)):
        if last - first > max(limits.MAX_LINE_BYTES, BLOCK):
            found = f"the line has {last - first:,} bytes (expected at most {limits.MAX_LINE_BYTES:,})"
            problems.add(found, _number_line(data, first))
        elif _has_controls(data, first, last) or not (is_ascii or _is_utf8(data, first, last)):
            _describe_invalid_text(data[first:last].split(b"\n"), _number_line(data, first), problems)
        if problems.total > limits.MAX_PROBLEMS:  # binary files have that many in their first block
            break
    problems.raise_any(path)


def _has_controls(data: bytes, first: int, last: int) -> bool:
    """Return whether the text contains an ASCII control character other than tabs and line ends."""
    raw = np.frombuffer(data, np.uint8, last - first, first)
    found = np.count_nonzero(raw < SPACE) - np.count_nonzero(raw == NEWLINE) - np.count_nonzero(raw == TAB)
    if found:
        found -= np.count_nonzero(raw[np.flatnonzero(raw == NEWLINE) - 1] == RETURN)
    return found != 0 or data.find(b"\x7f", first, last) >= 0


def _is_utf8(data: bytes, first: int, last: int) -> bool:
    """Return whether the text is UTF-8, from its runs of non-ASCII bytes, each with the byte that follows it."""
    raw = np.frombuffer(data, np.uint8, last - first, first)
    beyond = np.flatnonzero(raw >= FIRST_BEYOND_ASCII)
    if not beyond.size:
        return True
    # The byte after a run separates it from the next; no UTF-8 sequence extends over it.
    after = beyond[np.append(np.diff(beyond) > 1, True)] + 1
    try:
        raw[np.union1d(beyond, after[after < len(raw)])].tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _describe_invalid_text(lines: Sequence[bytes], first_line: int, problems: Problems) -> None:
    for number, line in enumerate(lines, first_line):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            found = f"byte {error.start + 1} (0x{line[error.start]:02x}) is not valid UTF-8"
            problems.add(found, number)
        if unsafe := re.search(rb"[^\t -~\x80-\xff]", line.removesuffix(b"\r")):
            problems.add(f"character {unsafe.start() + 1} is the control character U+{ord(unsafe[0]):04X}", number)


def _number_line(data: bytes, position: int) -> int:
    """Return the number of the line that begins at a position."""
    return data.count(b"\n", 0, position) + 1


def line_spans(data: bytes, begin: int, end: int, size: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield begin and end of blocks of whole lines; a block longer than `size`, or `BLOCK`, is a single line."""
    size = BLOCK if size is None else size
    while begin < end:
        last = min(begin + size, end)
        if last < end:
            last = data.rfind(b"\n", begin, last) + 1 or data.find(b"\n", last, end) + 1 or end
        yield begin, last
        begin = last


def view_block(data: bytes, first: int, last: int) -> NDArray[np.uint8]:
    """Return the bytes of a block of whole lines, the last one with its end."""
    raw = np.frombuffer(data, np.uint8, last - first, first)
    return raw if raw[-1] == NEWLINE else np.append(raw, np.uint8(NEWLINE))


def _is_dense(data: bytes, first: int, last: int) -> bool:
    """Tell whether lines have less than four bytes, or half of all bytes are blanks."""
    raw = np.frombuffer(data, np.uint8, last - first, first)
    return bool(4 * np.count_nonzero(raw == NEWLINE) > len(raw) or 2 * np.count_nonzero(raw <= SPACE) >= len(raw))


class Block(Protocol):
    """The lines of a block, as columns."""

    @property
    def end(self) -> Ints:
        """The end of each line."""


R = TypeVar("R", bound=Block)


def parse_blocks(
    parse: Callable[[bytes, int, int, int, int], R], data: bytes, begin: int, end: int, line: int, position: int = 0
) -> Iterator[R]:
    """Parse a range of some bytes of the file, a block of whole lines at a time.

    Args:
        parse: parses a block, given the bytes, the begin and the end of the block, the number of its first line, and
            its position in the file.
        data: the bytes.
        begin, end: the range, each at the begin of a line.
        line: the number of its first line.
        position: the position of the bytes in the file.
    """
    small = max(SMALL_BLOCK, min(BLOCK, len(data) // 64))
    for first, last in line_spans(data, begin, end):
        for span in line_spans(data, first, last, small if _is_dense(data, first, last) else BLOCK):
            rows = parse(data, *span, line, position + span[0])
            yield rows
            line += len(rows.end)


def parse_text(
    parse: Callable[[bytes, int, int, int, int], R], text: Text, begin: int, end: int, line: int
) -> Iterator[R]:
    """Parse a range of the file in parts, each as `parse_blocks` does."""
    for position, data in iterate_parts(text, begin, end):
        yield from parse_blocks(parse, data, 0, len(data), line, position)
        line += data.count(b"\n")


def first_row(lines: Iterable[bytes]) -> list[bytes]:
    """Return the cells of the first complete row of a document, given its lines; none if it has no rows.

    A row that begins or ends with a tab, or has two in a row, is used only if all do: a cell of it may be empty.
    """
    first: list[bytes] = []
    for line in lines:
        if line.startswith(b"#"):
            if MARKER.match(line):
                break
        elif cells := line.split():
            first = first or cells
            if b"\t\t" not in b"\t%b\t" % line.rstrip(b"\r\n"):
                return cells
    return first
