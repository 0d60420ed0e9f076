"""The lines of CoNLL files as columns, a block of lines at a time.

No byte is looked at by Python code: line ends and cells are found with NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Ints, Mask
from closeread.formats.stored_text import Text
from closeread.tasks.coref.conll_cells import gather
from closeread.tasks.coref.conll_text import NEWLINE, RETURN, SPACE, TAB, parse_blocks, parse_text, view_block

HASH, HYPHEN, UNDERSCORE = b"#-_"


class Rows(NamedTuple):
    """The lines of a block, as columns; positions are relative to the start of the block.

    Attributes:
        line: the number of the first one.
        offset: the position of the block in the file.
        raw: (n_bytes,) its bytes.
        blank: (n_bytes,) whether they belong to no cell.
        marks: the begin of every cell and the end of every line.
        last_mark: the index in `marks` of each line's end.
        begin: the begin of each line.
        end: the position of its line end.
        cells: the number of its cells.
        last: the begin of its last cell.
        is_token, is_comment: the kind of line; a blank line is neither.
        is_short: whether it ends in a tab, so that its last cell may be empty.
        is_plain: whether its last cell is ``-`` or ``_``.
    """

    line: int
    offset: int
    raw: NDArray[np.uint8]
    blank: Mask
    marks: Ints
    last_mark: Ints
    begin: Ints
    end: Ints
    cells: Ints
    last: Ints
    is_token: Mask
    is_comment: Mask
    is_short: Mask
    is_plain: Mask


def split_blocks(data: bytes, begin: int, end: int, line: int, position: int = 0) -> Iterator[Rows]:
    """Split a range of some bytes of the file into blocks of lines; arguments as for `parse_blocks`."""
    return parse_blocks(_parse_rows, data, begin, end, line, position)


def split_text(text: Text, begin: int, end: int, line: int) -> Iterator[Rows]:
    """Split a range of the file into blocks of lines; arguments as for `parse_text`."""
    return parse_text(_parse_rows, text, begin, end, line)


def _parse_rows(data: bytes, first: int, last: int, line: int, offset: int) -> Rows:
    raw = view_block(data, first, last)
    blank = raw <= SPACE
    is_end = raw == NEWLINE
    is_mark = ~blank
    is_mark[1:] &= blank[:-1]
    is_mark |= is_end
    marks = np.flatnonzero(is_mark)
    last_mark = np.flatnonzero(is_end[marks])
    cells = np.diff(last_mark, prepend=-1) - 1
    end = marks[last_mark]
    begin = np.concatenate([[0], end[:-1] + 1])
    # The values of lines without cells are not used, but the lookups below must not fail.
    cell = marks[np.maximum(last_mark - 1, 0)]
    is_comment = raw[begin] == HASH
    letter = raw[cell]
    return Rows(
        line=line,
        offset=offset,
        raw=raw,
        blank=blank,
        marks=marks,
        last_mark=last_mark,
        begin=begin,
        end=end,
        cells=cells,
        last=cell,
        is_token=(cells > 0) & ~is_comment,
        is_comment=is_comment,
        is_short=raw[end - 1 - (raw[end - 1] == RETURN)] == TAB,
        is_plain=((letter == HYPHEN) | (letter == UNDERSCORE)) & blank.take(cell + 1, mode="clip"),
    )


def fill_empty_cells(rows: Rows, width: int, lines: slice) -> Rows:
    """Add the empty cells of lines that have too few cells, but as many columns separated by tabs as the document.

    Args:
        rows: a block.
        width: the number of columns of the document.
        lines: the lines of the document.
    """
    too_few = rows.is_token & (rows.cells < width) & ~(rows.is_short & (rows.cells == width - 1))
    marks, cells, is_plain = [], rows.cells.copy(), rows.is_plain.copy()
    for i in (np.flatnonzero(too_few[lines]) + lines.start).tolist():
        columns = rows.raw[rows.begin[i] : rows.end[i]].tobytes().rstrip(b"\r").split(b"\t")
        empty = [j for j, column in enumerate(columns) if not column.strip()]
        if len(columns) == width == rows.cells[i] + len(empty):
            ends = rows.begin[i] + np.cumsum([len(column) + 1 for column in columns]) - 1
            marks.append(ends[empty])
            cells[i] = width
            is_plain[i] |= not columns[-1].strip()
    if not marks:
        return rows
    return rows._replace(
        marks=np.sort(np.concatenate([rows.marks, *marks])),
        last_mark=np.cumsum(cells + 1) - 1,
        cells=cells,
        is_plain=is_plain,
    )


def pack_cells(rows: Rows, cell: int) -> bytes:
    """Join a cell of every token, each followed by a line end."""
    lines = np.flatnonzero(rows.is_token)
    mark = rows.last_mark[lines] - rows.cells[lines] + cell
    begin, blanks = rows.marks[mark], np.flatnonzero(rows.blank)
    text, after = gather(rows.raw, begin, blanks[np.searchsorted(blanks, begin)] + 1)
    text[after - 1] = NEWLINE
    return text.tobytes()


def pack_padded_cells(rows: Rows, cell: int, lines: Ints) -> bytes:
    """Join a cell of some lines, each with the blanks before the next cell; an empty cell begins with a line end."""
    mark = rows.last_mark[lines] - rows.cells[lines] + cell
    begin, end = rows.marks[mark], rows.marks[mark + 1]
    text, after = gather(rows.raw, begin, end)
    text[(after - (end - begin))[rows.blank[begin]]] = NEWLINE
    return text.tobytes()
