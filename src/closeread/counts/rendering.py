"""Tables as text: for a terminal, in Markdown, in LaTeX or as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from closeread.errors import escape

Style = Literal["table", "markdown", "latex"]
NOTHING = "–"
NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(e[+-]?[0-9]+)?[*%†‡]*( .*)?")
"""A cell that starts with a number, unlike a date or the name of a mention."""


@dataclass(frozen=True)
class Grid:
    """The content of a table.

    Attributes:
        title: the line above the table; may be empty.
        header: the names of the columns; none for title and notes alone.
        rows: the cells as text; columns that contain only numbers are right-aligned.
        notes: the sentences below the table.
        texts: the names of columns that are left-aligned even if all of their cells begin with a number.
        prose: the names of columns that a narrow terminal may wrap, at spaces; all others are never broken.
        ditto: the names of columns in which an empty cell stands for the one above.
        best: the cells to emphasize, by the numbers of their row and column.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    texts: frozenset[str] = frozenset()
    prose: frozenset[str] = frozenset()
    ditto: frozenset[str] = frozenset()
    best: frozenset[tuple[int, int]] = frozenset()


class Whole(str):
    """A cell, a header or a note that is never broken, not even at its spaces, such as a path."""

    __slots__ = ()


def draw(grid: Grid, style: Style, *, width: int | None = None, coloured: bool = False) -> str:
    """Draw a grid as text that ends with a newline.

    Args:
        grid: the grid.
        style: how to draw it.
        width: the columns of a terminal; None for those of this terminal or of the variable `COLUMNS`, and 100 in
            pipes and files.  Numbers and names are whole even if lines are longer then.
        coloured: whether a terminal shows the best values in bold and notes dim.
    """
    if style == "table":
        from closeread.counts.terminal import draw_for_terminal, find_width

        return draw_for_terminal(grid, find_width() if width is None else width, coloured=coloured)
    import tabulate

    rows = [[escape_cell(cell) for cell in row] for row in grid.rows]
    if style == "latex":
        return (
            tabulate.tabulate(
                rows,
                grid.header,
                tablefmt="latex_booktabs",
                disable_numparse=True,
                colalign=_align_columns(grid),
            )
            + "\n"
            + "".join(f"% {escape_cell(line)}\n" for line in (grid.title, *grid.notes) if line)
        )
    rows = [
        [_embolden(cell) if (number, i) in grid.best else cell for i, cell in enumerate(row)]
        for number, row in enumerate(rows)
    ]
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    body = tabulate.tabulate(rows, grid.header, tablefmt="pipe", disable_numparse=True, colalign=_align_columns(grid))
    parts = [f"**{grid.title}**"] if grid.title else []
    return "\n\n".join(filter(None, [*parts, body, *grid.notes])) + "\n"


def _embolden(cell: str) -> str:
    r"""Return a cell in bold in Markdown; an asterisk in it would end that.

    >>> print(_embolden("0.00*"))
    **0.00\***
    """
    return "**" + cell.replace("*", "\\*") + "**"


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as comma-separated values."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def escape_cell(text: str) -> str:
    r"""Escape untrusted text for a cell: line ends, and everything that a terminal might act on.

    >>> print(escape_cell("a\n\x1b[31mb"))
    a\n\x1b[31mb
    """
    return escape(text).replace("\n", r"\n")


def percent(value: float | None, digits: int = 2) -> str:
    """Format a ratio times 100, with two decimals or as many as given."""
    return NOTHING if value is None else f"{100 * value:.{digits}f}"


def format_number(value: float | None) -> str:
    """Format a number, with two decimals if it is not an integer."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _is_numeric(cells: Iterable[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(cell == NOTHING or NUMBER.fullmatch(cell) for cell in filled)


def find_numeric_columns(grid: Grid) -> list[bool]:
    """Return for each column whether it contains only numbers, and so is right-aligned."""
    return [name not in grid.texts and _is_numeric(row[i] for row in grid.rows) for i, name in enumerate(grid.header)]


def _align_columns(grid: Grid) -> tuple[str, ...] | None:
    if not grid.rows:
        return None  # tabulate fails to align an empty table
    return tuple("right" if right else "left" for right in find_numeric_columns(grid))


def format_cell(cell: str | float | None) -> str:
    """Format a cell of a table: counts with commas, other numbers to three digits, None as a dash."""
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return NOTHING if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def format_percent(cell: str | float | None) -> str:
    """Format a cell of a table: counts with commas, ratios in percent, None as a dash."""
    return percent(cell) if cell is None or isinstance(cell, float) else format_cell(cell)
