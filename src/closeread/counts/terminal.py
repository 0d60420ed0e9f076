"""Tables for a terminal: whole numbers, ids, names and URLs at any width.

Only columns of prose are wrapped, and only at spaces.  A table that is still too wide is replaced by its narrower one,
or its columns are shown in several tables, or it becomes one block for each row, a line for each cell.  A word that is
longer than a line stays whole, and the line is longer.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import NamedTuple

from closeread.counts.rendering import Grid, Whole, find_numeric_columns
from closeread.exceptions import escape_line

PIPE_WIDTH = 100
"""The width of a table that is written to a pipe or a file."""

PROSE_WIDTH = 16
"""Columns of prose are not made narrower, if they have so much text."""

GAPS = (3, 2)
"""Spaces between columns; the second number if the table fits only so."""

RULE = "─"

BOLD, DIM, RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"
"""Escape sequences of terminals."""

WORD = re.compile(r"(?:`[^`]*`|\S)+")
"""What is never broken: words, and everything between backticks."""


def find_width() -> int:
    """Return the width of the terminal in columns, or `COLUMNS`; 100 in pipes and files."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        from shutil import get_terminal_size

        return get_terminal_size((PIPE_WIDTH, 24)).columns
    return PIPE_WIDTH


def draw_for_terminal(grid: Grid, width: int, *, coloured: bool) -> str:
    """Draw a grid.

    Args:
        grid: the grid.
        width: the width of the terminal in columns.
        coloured: whether to use escape sequences: the best values are bold, notes are dim.
    """
    lines: list[str] = []
    if grid.title:
        lines += [*_wrap(grid.title, width), ""]
    if grid.header:
        tables = _lay_out(grid, width)
        if not tables:
            lines += [*_draw_blocks(grid, width, coloured=coloured), *([""] if grid.notes else [])]
        for number, (table, layout) in enumerate(tables):
            if number:
                lines.append("")
            lines += _draw_table(table, *layout, coloured=coloured)
        grid = tables[0][0] if tables else grid
    for note in grid.notes:
        lines += (_style(line, DIM, coloured=coloured) for line in _wrap(note, width))
    return "".join(line.rstrip() + "\n" for line in lines)


def _wrap(text: str, width: int) -> list[str]:
    """Escape a text and break it at spaces into lines of at most `width` columns; longer words stay whole."""
    from rich.cells import cell_len

    shown = escape_line(text)
    if isinstance(text, Whole) or cell_len(shown) <= width:
        return [shown]
    lines: list[str] = []
    for word in WORD.findall(shown):
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def wrap_paragraph(text: str, width: int) -> list[str]:
    """Return the lines of a paragraph, escaped, of at most `width` columns; longer words stay whole.

    Spaces at its beginning are kept.
    """
    indent = text[: len(text) - len(text.lstrip(" "))]
    return [indent + line for line in _wrap(text[len(indent) :], width - len(indent))]


def _measure_word(text: str) -> int:
    """Return the width of the longest part of a text that is never broken."""
    from rich.cells import cell_len

    shown = escape_line(text)
    return max(map(cell_len, [shown] if isinstance(text, Whole) else WORD.findall(shown)), default=0)


class _Measures(NamedTuple):
    """The columns of a table: their widths if nothing is wrapped, the least that they need, and the length of what may
    be wrapped.
    """

    natural: list[int]
    least: list[int]
    texts: list[int]


def _lay_out(grid: Grid, width: int) -> list[tuple[Grid, tuple[list[int], int]]]:
    """Return the tables that show a grid, each with the widths of its columns and the spaces between them.

    One, if the grid fits, or a narrower one; else several with some of the columns; none if even these are too wide.
    """
    last = None
    table: Grid | None = grid
    while table is not None:
        measures = _measure(table)
        layout = _fit(table, measures, width)
        if layout is not None:
            return [(table, layout)]
        if table.labels:
            last = table, measures
        table = table.narrower
    return [] if last is None else list(_split(*last, width))


def _split(grid: Grid, measures: _Measures, width: int) -> Iterator[tuple[Grid, tuple[list[int], int]]]:
    """Yield tables with the labels of a grid and as many other columns as fit; none if one column doesn't fit."""
    labels = list(range(grid.labels))
    space = width - sum(measures.least[i] + GAPS[-1] for i in labels) + GAPS[-1]
    others = range(grid.labels, len(grid.header))
    if any(measures.least[i] + GAPS[-1] > space for i in others):
        return
    pieces: list[list[int]] = []
    left = 0
    for i in others:
        needed = measures.least[i] + GAPS[-1]
        if not pieces or needed > left:
            pieces.append([])
            left = space
        pieces[-1].append(i)
        left -= needed
    for piece in pieces:
        columns = [*labels, *piece]
        table = replace(
            grid,
            header=[grid.header[i] for i in columns],
            rows=[[row[i] for i in columns] for row in grid.rows],
            best=frozenset((row, columns.index(i)) for row, i in grid.best if i in columns),
        )
        layout = _fit(table, _Measures(*([one[i] for i in columns] for one in measures)), width)
        assert layout is not None  # noqa: S101
        yield table, layout


def _measure(grid: Grid) -> _Measures:
    from rich.cells import cell_len

    measures = _Measures([], [], [])
    for i, name in enumerate(grid.header):
        lengths = [cell_len(escape_line(row[i])) for row in grid.rows]
        longest, length = max(lengths, default=0), cell_len(escape_line(name))
        measures.natural.append(max(longest, length))
        if name in grid.prose:
            words = max((_measure_word(row[i]) for row in grid.rows), default=0)
            measures.least.append(max(words, min(longest, PROSE_WIDTH), _measure_word(name)))
            measures.texts.append(sum(lengths))
        else:
            measures.least.append(max(longest, _measure_word(name)))
            measures.texts.append(length)
    return measures


def _fit(grid: Grid, measures: _Measures, width: int) -> tuple[list[int], int] | None:
    """Return the widths of the columns and the spaces between them; None if the table is too wide.

    Headers are wrapped, too.  Blocks need several columns with names, so a table without them is never too wide.
    """
    natural, least, texts = measures
    between = len(grid.header) - 1
    for widths in (natural, least):
        for gap in GAPS:
            spare = width - gap * between - sum(widths)
            if spare >= 0:
                return _widen(widths, natural, texts, spare), gap
    if between and any(grid.header):
        return None
    least[-1] = max(PROSE_WIDTH, width - GAPS[-1] * between - sum(least[:-1]))  # longer words stick out
    return least, GAPS[-1]


def _widen(widths: Sequence[int], natural: Sequence[int], texts: Sequence[int], spare: int) -> list[int]:
    """Return widths with the spare columns given to those whose texts become shorter by them.

    Args:
        widths: the narrowest widths.
        natural: the widths at which nothing is wrapped.
        texts: the length of all text that may be wrapped, by column.
        spare: how many columns there are to give.
    """
    found = list(widths)
    for _ in range(min(spare, sum(natural) - sum(widths))):
        # A text of t characters has t / w lines, and t / w**2 fewer in a column that is wider by one.
        wrapped = [i for i, width in enumerate(found) if width < natural[i]]
        found[max(wrapped, key=lambda i: texts[i] / max(found[i], 1) ** 2)] += 1
    return found


def _draw_table(grid: Grid, widths: Sequence[int], gap: int, *, coloured: bool) -> Iterator[str]:
    """Yield the lines of a table.

    Args:
        grid: the table.
        widths: where to wrap the cells of each column.
        gap: the number of spaces between columns.
        coloured: whether the best values are bold.
    """
    from rich.cells import cell_len

    header = [_wrap(name, width) for name, width in zip(grid.header, widths, strict=True)]
    rows = [[_wrap(cell, width) for cell, width in zip(row, widths, strict=True)] for row in grid.rows]
    shown = [header, *rows] if any(grid.header) else rows
    taken = [max(map(cell_len, chain.from_iterable(cells)), default=0) for cells in zip(*shown, strict=True)]
    right = find_numeric_columns(grid)

    def draw_row(cells: Sequence[Sequence[str]], number: int | None) -> Iterator[str]:
        for line in zip_longest(*cells, fillvalue=""):
            padded = []
            for i, text in enumerate(line):
                spaces = " " * (taken[i] - cell_len(text))
                styled = _style(text, BOLD, coloured=coloured and (number, i) in grid.best)
                padded.append(spaces + styled if right[i] else styled + spaces)
            yield (" " * gap).join(padded)

    if any(grid.header):
        height = max(map(len, header))
        yield from draw_row([[""] * (height - len(lines)) + lines for lines in header], None)
        yield RULE * (sum(taken) + gap * (len(taken) - 1))
    for number, row in enumerate(rows):
        yield from draw_row(row, number)


def _style(text: str, code: str, *, coloured: bool) -> str:
    """Return a text in a style, if there are styles and the text is not empty."""
    return f"{code}{text}{RESET}" if coloured and text else text


def _draw_blocks(grid: Grid, width: int, *, coloured: bool) -> Iterator[str]:
    """Yield the lines of one block for each row, with an empty line between them."""
    from rich.cells import cell_len

    names = [escape_line(name) for name in grid.header]
    # Values stand below a name that would take half of the line.
    space = max((length for name in names if (length := cell_len(name)) <= width // 2), default=0) + 2
    above = [""] * len(names)
    for number, row in enumerate(grid.rows):
        if number:
            yield ""
        above = [
            cell or (last if name in grid.ditto else "") for name, cell, last in zip(names, row, above, strict=True)
        ]
        for i, (name, cell) in enumerate(zip(names, above, strict=True)):
            if not cell:
                continue
            is_best = (number, i) in grid.best
            # A column without a name holds the names of the rows.
            indent = space if name else 0
            prefix = name + " " * (indent - cell_len(name))
            word = _measure_word(cell if name in grid.prose else Whole(cell))
            if indent + word > width or cell_len(name) + 2 > indent > 0:
                yield name
                prefix, indent = "  ", 2
            lines = _wrap(cell if name in grid.prose else Whole(cell), width - indent)
            for k, line in enumerate(lines):
                yield (" " * indent if k else prefix) + _style(line, BOLD, coloured=coloured and is_best)
