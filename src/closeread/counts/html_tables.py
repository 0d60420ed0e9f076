"""Tables for notebooks: HTML without colours of its own, so that it can be read on light and on dark."""

from __future__ import annotations

from html import escape

from closeread.counts.rendering import Grid, find_numeric_columns
from closeread.exceptions import escape_line


def draw_html(grid: Grid) -> str:
    """Draw a grid as an HTML table, with its title as caption and its notes below; all text is escaped."""
    align = ["right" if right else "left" for right in find_numeric_columns(grid)]
    parts = ["<table>"]
    if grid.title:
        parts.append(f'<caption style="caption-side: top; text-align: left">{_escape(grid.title)}</caption>')
    if any(grid.header):
        names = "".join(_make_cell("th", side, name) for side, name in zip(align, grid.header, strict=True))
        parts.append(f"<thead><tr>{names}</tr></thead>")
    parts.append("<tbody>")
    for i, row in enumerate(grid.rows):
        bold = [(i, j) in grid.best for j in range(len(row))]
        cells = zip(align, row, bold, strict=True)
        parts.append(f"<tr>{''.join(_make_cell('td', side, text, bold=is_best) for side, text, is_best in cells)}</tr>")
    parts.append("</tbody>")
    if grid.notes:
        notes = "<br>".join(map(_escape, grid.notes))
        width = f' colspan="{len(grid.header)}"' if grid.header else ""
        # Notes are set off by size alone: a colour would be lost on one of the grounds.
        parts.append(f'<tfoot><tr><td{width} style="text-align: left; font-size: smaller">{notes}</td></tr></tfoot>')
    return "\n".join([*parts, "</table>\n"])


def _make_cell(tag: str, side: str, text: str, *, bold: bool = False) -> str:
    shown = f"<strong>{_escape(text)}</strong>" if bold else _escape(text)
    return f'<{tag} style="text-align: {side}">{shown}</{tag}>'


def _escape(text: str) -> str:
    return escape(escape_line(text))
