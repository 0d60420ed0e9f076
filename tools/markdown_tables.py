"""Tables in Markdown files."""

from __future__ import annotations

from dataclasses import replace

from closeread.tables import Grid, Markup, draw


def draw_markdown(grid: Grid) -> str:
    """Draw a grid whose cells are Markdown already, such as names in code."""
    rows = [[Markup(cell.replace("|", r"\|")) for cell in row] for row in grid.rows]
    return draw(replace(grid, header=[Markup(name) for name in grid.header], rows=rows), "markdown")
