"""Tables as text: for a terminal, in Markdown, in LaTeX or as CSV."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from closeread.errors import escape

Style = Literal["table", "markdown", "latex"]
NOTHING = "–"
NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(e[+-]?[0-9]+)?[*%]?( .*)?")
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
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    texts: frozenset[str] = frozenset()


def draw(grid: Grid, style: Style) -> str:
    """Draw a grid as text that ends with a newline."""
    if style == "table":
        return _draw_for_terminal(grid)
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
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    body = tabulate.tabulate(rows, grid.header, tablefmt="pipe", disable_numparse=True, colalign=_align_columns(grid))
    parts = [f"**{grid.title}**"] if grid.title else []
    return "\n\n".join(filter(None, [*parts, body, *grid.notes])) + "\n"


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


def percent(value: float | None) -> str:
    """Format a ratio times 100, with two decimals."""
    return NOTHING if value is None else f"{100 * value:.2f}"


def format_number(value: float | None) -> str:
    """Format a number, with two decimals if it is not an integer."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _is_numeric(cells: Iterable[str]) -> bool:
    filled = [cell for cell in cells if cell not in ("", NOTHING)]
    return bool(filled) and all(map(NUMBER.fullmatch, filled))


def _find_numeric_columns(grid: Grid) -> list[bool]:
    return [name not in grid.texts and _is_numeric(row[i] for row in grid.rows) for i, name in enumerate(grid.header)]


def _align_columns(grid: Grid) -> tuple[str, ...] | None:
    if not grid.rows:
        return None  # tabulate fails to align an empty table
    return tuple("right" if right else "left" for right in _find_numeric_columns(grid))


def _draw_for_terminal(grid: Grid) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    # Tables fit the width of a terminal; lines in pipes and files may be longer.
    console = Console(file=io.StringIO(), width=None if sys.stdout.isatty() else 1000, highlight=False)
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, show_header=any(grid.header))
    for name, right in zip(grid.header, _find_numeric_columns(grid), strict=True):
        # Long names are folded, not cut, so that they can be copied.
        table.add_column(Text(escape_cell(name)), justify="right" if right else "left", overflow="fold")
    for row in grid.rows:
        table.add_row(*(Text(escape_cell(cell)) for cell in row))
    if grid.title:
        console.print(Text(escape_cell(grid.title)))
        console.print()
    if grid.header:
        console.print(table)
    for note in grid.notes:
        console.print(Text(escape_cell(note)))
    drawn = console.file.getvalue()  # type: ignore[attr-defined]
    return "".join(line.rstrip() + "\n" for line in drawn.splitlines())
