"""The lines of CoNLL-U files as columns, a block of lines at a time.

No byte is looked at by Python code, except those of unusual lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread import limits
from closeread.arrays import Ints, Mask
from closeread.formats.stored_text import Text
from closeread.formats.text import BYTE_ORDER_MARK, split_lines
from closeread.tasks.coref.conll_cells import gather
from closeread.tasks.coref.conll_text import line_spans, parse_blocks, parse_text, view_block

COLUMNS = 10
ID, FORM, UPOS, DEPS, MISC = 0, 1, 3, 8, 9
WORD, EMPTY, RANGE, INVALID = range(4)
"""The kinds of rows, by their ids: ``3``, ``3.1``, ``3-4`` and anything else."""

MAX_DIGITS = 9
NEWLINE, TAB, RETURN, SPACE, HASH, DELETE, ZERO, DOT, HYPHEN = b"\n\t\r #\x7f0.-"
# The control characters U+0080 to U+009F are this byte and one up to 0x9f.
BEFORE_CONTROL, LAST_CONTROL = 0xC2, 0x9F


class Rows(NamedTuple):
    """The lines of a block, as columns; positions are relative to the start of the block.

    Attributes:
        line: the number of the first one.
        offset: the position of the block in the file.
        raw: (n_bytes,) its bytes.
        begin, end: (n_lines,) the begin of each line, and the end of its text.
        is_blank, is_comment: (n_lines,) the kind of each line; others are rows.
        ragged: the lines of rows without ten columns.
        n_columns: the number of columns of each of them.
        lines: (n_rows,) the lines of the rows with ten columns, in order; the columns below are of these rows.
        kind: `WORD`, `EMPTY`, `RANGE` or `INVALID`.
        number, second: the number in the id, and that after ``.`` or ``-``.
        marks: the positions of all tabs and line ends.
        first_mark: (n_rows,) the first tab of each row, among the marks.
    """

    line: int
    offset: int
    raw: NDArray[np.uint8]
    begin: Ints
    end: Ints
    is_blank: Mask
    is_comment: Mask
    ragged: Ints
    n_columns: Ints
    lines: Ints
    kind: Ints
    number: Ints
    second: Ints
    marks: Ints
    first_mark: Ints

    def cells(self, column: int, rows: Ints | slice = slice(None)) -> tuple[Ints, Ints]:
        """Return begin and end of a column's cells."""
        lines, mark = self.lines[rows], self.first_mark[rows] + column
        begin = self.marks[mark - 1] + 1 if column else self.begin[lines]
        return begin, self.marks[mark] if column < MISC else self.end[lines]

    def text(self, begin: int, end: int) -> bytes:
        """Return some of the bytes."""
        return self.raw[begin:end].tobytes()

    def find_controls(self) -> Ints:
        """Find the rows with a control character, by their index."""
        raw = self.raw
        returns = self.end[raw[self.end] == RETURN]
        is_control = (raw < SPACE) | (raw == DELETE)
        after = np.flatnonzero(raw[:-1] == BEFORE_CONTROL) + 1
        after = after[raw[after] <= LAST_CONTROL]
        if np.count_nonzero(is_control) == len(self.marks) + len(returns) and not len(after):
            return after
        is_control[self.marks] = False
        is_control[returns] = False
        is_control[after] = True
        line = np.searchsorted(self.begin, np.flatnonzero(is_control), "right") - 1
        return np.flatnonzero(np.isin(self.lines, line))


def check_text(path: Path, data: bytes) -> None:
    """Check that the file is UTF-8 text whose lines are not too long.

    Raises:
        FormatError: it is not, with all problems.
    """
    begin = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    is_binary = begin == len(data) or data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data
    if is_binary or not all(_is_text(data[first:last]) for first, last in line_spans(data, begin, len(data))):
        split_lines(path, data)  # finds the problems


def _is_text(block: bytes) -> bool:
    try:
        return len(block) <= limits.MAX_LINE_BYTES and (block.isascii() or block.decode() is not None)
    except UnicodeDecodeError:
        return False


def split_blocks(data: bytes, begin: int, end: int, line: int, position: int = 0) -> Iterator[Rows]:
    """Split a range of some bytes of the file into blocks of lines; arguments as for `parse_blocks`."""
    return parse_blocks(_parse_rows, data, begin, end, line, position)


def split_text(text: Text, begin: int, end: int, line: int) -> Iterator[Rows]:
    """Split a range of the file into blocks of lines; arguments as for `parse_text`."""
    return parse_text(_parse_rows, text, begin, end, line)


def _parse_rows(data: bytes, first: int, last: int, line: int, offset: int) -> Rows:
    raw = view_block(data, first, last)
    marks = np.flatnonzero((raw - np.uint8(TAB)) <= NEWLINE - TAB)  # smaller bytes wrap round to large ones
    last_mark = np.flatnonzero(raw[marks] == NEWLINE)
    line_end = marks[last_mark]
    begin = np.concatenate([[0], line_end[:-1] + 1])
    end = line_end - ((raw[line_end - 1] == RETURN) & (line_end > begin))
    letter = raw[begin]
    is_blank = begin == end
    for i in np.flatnonzero((letter == SPACE) | (letter == TAB)).tolist():
        is_blank[i] = not raw[begin[i] : end[i]].tobytes().strip(b" \t")
    is_comment = letter == HASH
    n_columns = np.diff(last_mark, prepend=-1)
    is_row = ~is_blank & ~is_comment
    lines = np.flatnonzero(is_row & (n_columns == COLUMNS))
    ragged = np.flatnonzero(is_row & (n_columns != COLUMNS))
    first_mark = last_mark[lines] - (COLUMNS - 1)
    kind, number, second = _parse_ids(raw, begin[lines], marks[first_mark])
    return Rows(
        line=line,
        offset=offset,
        raw=raw,
        begin=begin,
        end=end,
        is_blank=is_blank,
        is_comment=is_comment,
        ragged=ragged,
        n_columns=n_columns[ragged],
        lines=lines,
        kind=kind,
        number=number,
        second=second,
        marks=marks,
        first_mark=first_mark,
    )


def _parse_ids(raw: NDArray[np.uint8], begin: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the kind of each id, its number, and the number after ``.`` or ``-``."""
    number, is_number = parse_numbers(raw, begin, end)
    kind, second = np.where(is_number, WORD, INVALID), np.zeros_like(number)
    others = np.flatnonzero(~is_number)
    if len(others):
        begin, end = begin[others], end[others]
        point = find_byte(raw, begin, end, (DOT, HYPHEN))
        number[others], is_first = parse_numbers(raw, begin, point)
        second[others], is_second = parse_numbers(raw, point + 1, end)
        pair_kind = np.where(raw.take(point, mode="clip") == DOT, EMPTY, RANGE)
        kind[others] = np.where(is_first & is_second, pair_kind, INVALID)
    return kind, number, second


def find_byte(raw: NDArray[np.uint8], begin: Ints, end: Ints, wanted: Sequence[int]) -> Ints:
    """Return the position of the first of some bytes in each text, its end if none is among its first `MAX_DIGITS`."""
    found = end.copy()
    for i in range(min(int((end - begin).max(initial=0)), MAX_DIGITS + 1) - 1, -1, -1):
        letter, place = raw.take(begin + i, mode="clip"), begin + i
        is_wanted = np.logical_or.reduce([letter == one for one in wanted]) & (place < end)
        found = np.where(is_wanted, place, found)
    return found


def parse_numbers(raw: NDArray[np.uint8], begin: Ints, end: Ints) -> tuple[Ints, Mask]:
    """Read numbers of up to `MAX_DIGITS` digits; return them, and for which of the texts that was possible."""
    size = end - begin
    number, is_number = np.zeros(len(begin), np.int64), (size > 0) & (size <= MAX_DIGITS)
    for i in range(min(int(size.max(initial=0)), MAX_DIGITS)):
        digit, is_inside = raw.take(begin + i, mode="clip") - np.uint8(ZERO), size > i
        is_number &= ~is_inside | (digit <= 9)  # smaller bytes wrap round to large ones
        number = np.where(is_inside, 10 * number + digit, number)
    return number, is_number


def join_texts(raw: NDArray[np.uint8], begin: Ints, end: Ints) -> bytes:
    """Join texts, each followed by a line end."""
    text, after = gather(raw, begin, end + 1)
    text[after - 1] = NEWLINE
    return text.tobytes()
