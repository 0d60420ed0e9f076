"""Results on standard output, in the requested style."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from closeread.counts.rendering import Grid, Style

CsvTable = tuple[Sequence[str], Iterable[Sequence[object]]]
"""Header and rows."""


def show(
    style: Literal["json", "csv"] | Style,
    *,
    value: Callable[[], object],
    table: Callable[[], CsvTable],
    grids: Callable[[], Iterable[Grid]],
) -> None:
    """Print a result.

    Args:
        style: the output format; only the function that it needs is called.
        value: returns what is printed as JSON.
        table: returns what is printed as CSV, numbers in full.
        grids: returns the tables, which are separated by a blank line.
    """
    import json

    from closeread.counts.rendering import csv_text, draw

    if style == "json":
        click.echo(json.dumps(value(), indent=2, ensure_ascii=False, allow_nan=False))
    elif style == "csv":
        click.echo(csv_text(*table()), nl=False)
    else:
        click.echo("\n".join(draw(grid, style) for grid in grids()), nl=False)


def format_cell(cell: str | float | None) -> str:
    """Format a cell of a table: counts with commas, other numbers to three digits, None as a dash."""
    from closeread.counts.rendering import NOTHING

    if isinstance(cell, float):
        return f"{cell:.3f}"
    return NOTHING if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def format_percent(cell: str | float | None) -> str:
    """Format a cell of a table: counts with commas, ratios in percent, None as a dash."""
    from closeread.counts.rendering import percent

    return percent(cell) if cell is None or isinstance(cell, float) else format_cell(cell)
