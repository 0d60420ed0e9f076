"""Plots of possession timelines: who possessed an artifact after whom, and when.

Source: Chinnappa, Palmer and Blanco (2020), Figure 2, for the shapes (rectangles for persons, rounded rectangles for
locations, ovals for organisations), the anchors below them, and dashed lines for uncertainty.  Rows, marks on predicted
possessors that are not in gold, and hexagons for predictions without a type are ours.

Conventions: as in `closeread.drawing.pictures`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from closeread.drawing.pictures import (
    HEADING_SIZE,
    INK,
    MARGIN,
    NAME_SIZE,
    SMALL_SIZE,
    TITLE_SIZE,
    Measure,
    line,
    make_drawable,
    make_measure,
    own_settings,
    page,
    strip,
    wrap,
    write,
)
from closeread.exceptions import RequestError, describe_unknown, shorten
from closeread.records import Record
from closeread.tasks.wikipossessions.matching import normalize_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = {"PER": "person", "LOC": "location", "ORG": "organisation", None: "no type"}
FILLS = {"PER": "#dbe9f6", "LOC": "#e3f1dc", "ORG": "#fbe9cf", None: "#eeeeee"}
LACKING, MARK = "#b3261e", "✗"

_NAME_LENGTH, _ANCHOR_LENGTH, _ORDER_LENGTH, _TITLE_LENGTH = 40, 40, 24, 90

# heights of a box, of the anchor below it, and of the gap below that
_BOX, _ANCHOR, _BETWEEN = 0.34, 0.24, 0.12
_CELL = _BOX + _ANCHOR + _BETWEEN
_RULER = 0.5  # the height of a row's time line, with the orders above it
_GAP, _HEADING, _TITLE, _LEGEND = 0.22, 0.42, 0.5, 0.5
_MARK = 0.2  # the width of the mark for possessors not in gold
_SAMPLE = 0.5  # the width of a shape in the legend
_STACK = 8  # the maximum number of tied possessions in a column; more go into the next column
_WIDTH = 9.0  # the minimum width of a page
_ASPECT = 1.5  # the aspect ratio of a page with many possessions


class Cell(NamedTuple):
    """A possession in a plot: its texts, the meaning of its shape and lines, and their widths."""

    kind: str | None
    name: str
    order: str
    anchor: str  # empty if there is none
    certain: bool
    relation_certain: bool | None  # None if there is no relation
    lacking: bool  # whether the possessor is not in gold
    shape: float
    line: float  # between shape and anchor, as wide as the anchor
    width: float  # of the whole, with the mark next to the shape


Columns = Sequence[Sequence[Cell]]
"""The cells of a side by order, a column for ties."""


def draw_timeline(
    article: str, gold: Sequence[Record], predicted: Sequence[Record] | None = None
) -> Figure:
    """Draw the possession timeline of an article, with the prediction, if any, below gold.

    Possessions may be in any order, `type` is optional, and possessors are matched by normalized name.  The axes are
    labelled "title", "gold", "prediction" (if any) and "legend"; the patches of a side are its shapes.
    """
    with own_settings():
        measure = make_measure()
        known = {normalize_name(row["possessor"]).tokens for row in gold}
        panels = {"gold": _build_columns(gold, None, measure)}
        if predicted is not None:
            panels["prediction"] = _build_columns(predicted, known, measure)
        return _draw_figure(make_drawable(article, _TITLE_LENGTH), panels, measure)


def _parse_order(row: Record) -> tuple[int, ...]:
    return tuple(map(int, row["order"].split(".")))


def _build_columns(
    rows: Sequence[Record], known: set[tuple[str, ...]] | None, measure: Measure
) -> list[list[Cell]]:
    """Build the cells of a side by order; `known` are the names of gold if this is a prediction."""
    columns = []
    for _, tied in groupby(sorted(rows, key=_parse_order), _parse_order):
        cells = [_build_cell(row, known, measure) for row in tied]
        columns += [cells[start : start + _STACK] for start in range(0, len(cells), _STACK)]
    return columns


def _build_cell(row: Record, known: set[tuple[str, ...]] | None, measure: Measure) -> Cell:
    kind, relation = row.get("type"), row["relation"]
    name = make_drawable(row["possessor"], _NAME_LENGTH)
    # Before and after are written out; during is the default.
    related = f"{relation} " if relation in ("before", "after") else ""
    anchor = "" if row["anchor"] is None else related + make_drawable(row["anchor"], _ANCHOR_LENGTH)
    relation_certain = None if relation is None else row["relation_certainty"] != "uncertain"
    lacking = known is not None and normalize_name(row["possessor"]).tokens not in known
    shape, line = _shape_width(kind, measure(name, NAME_SIZE)), measure(anchor, SMALL_SIZE)
    width = max(shape + (2 * _MARK if lacking else 0), line)
    order, certain = make_drawable(row["order"], _ORDER_LENGTH), row["certainty"] != "uncertain"
    return Cell(kind, name, order, anchor, certain, relation_certain, lacking, shape, line, width)


def _shape_width(kind: str | None, text: float) -> float:
    """Return the width of a shape of height `_BOX` that a line of text fits into."""
    if kind == "ORG":
        # The corners of the text, which is half as high as the oval, lie inside the oval.
        return max(text / math.sqrt(1 - 0.5**2) + 0.12, 2 * _BOX)
    return text + (_BOX if kind is None else 0.2)


def _column_width(column: Sequence[Cell], measure: Measure) -> float:
    return max(*(cell.width for cell in column), measure(column[0].order, SMALL_SIZE)) + _GAP


def _row_height(columns: Columns, row: range) -> float:
    return _RULER + max(len(columns[i]) for i in row) * _CELL


def _draw_figure(title: str, panels: Mapping[str, Columns], measure: Measure) -> Figure:
    """Draw the sides, by name, each on as many rows as it needs."""
    widths = {
        name: [_column_width(column, measure) for column in columns]
        for name, columns in panels.items()
    }
    flat = [
        (width, _RULER + len(column) * _CELL)
        for name, columns in panels.items()
        for column, width in zip(columns, widths[name], strict=True)
    ]
    entries = _build_legend(
        [cell for columns in panels.values() for column in columns for cell in column], measure
    )
    inner = max(
        _WIDTH - 2 * MARGIN,
        math.sqrt(_ASPECT * sum(width * height for width, height in flat)),
        max((width for width, _ in flat), default=0.0) + _GAP,
        measure(title, TITLE_SIZE),
        sum(width for *_, width in entries),
    )
    rows = {name: wrap(widths[name], inner - _GAP) for name in panels}
    heading = _HEADING if len(panels) > 1 else 0.0
    heights = {
        name: heading + (sum(_row_height(columns, row) for row in rows[name]) or _CELL)
        for name, columns in panels.items()
    }
    figure = page(inner, _TITLE + sum(heights.values()) + _LEGEND)
    top = figure.get_size_inches()[1] - MARGIN - _TITLE
    axes = strip(figure, "title", top, _TITLE)
    write(axes, 0, _TITLE / 2, title, TITLE_SIZE, ha="left")
    for name, columns in panels.items():
        top -= heights[name]
        axes = strip(figure, name, top, heights[name])
        if heading:
            y = axes.get_ylim()[1] - _HEADING / 2
            write(axes, 0, y, name.capitalize(), HEADING_SIZE, ha="left", weight="bold")
        _draw_panel(axes, axes.get_ylim()[1] - heading, columns, rows[name], widths[name])
    _draw_legend(strip(figure, "legend", top - _LEGEND, _LEGEND), entries)
    return figure


def _draw_panel(
    axes: Axes, y: float, columns: Columns, rows: Sequence[range], widths: Sequence[float]
) -> None:
    """Draw the rows of a side from a height on downwards."""
    right = axes.get_xlim()[1]
    if not rows:
        write(axes, 0, y - _CELL / 2, "no possessions", NAME_SIZE, ha="left", style="italic")
    for row in rows:
        ruler = y - _RULER * 0.6
        line(
            axes,
            (0, right - 0.06),
            ruler,
            "-",
            color="#888888",
            marker=">",
            markevery=[1],
            markersize=5,
        )
        left = _GAP / 2
        for i in row:
            x = left + widths[i] / 2
            write(axes, x, ruler + 0.14, columns[i][0].order, SMALL_SIZE, color="#555555")
            line(axes, (x,), ruler, "", color="#555555", marker="o", markersize=4)
            for place, cell in enumerate(columns[i]):
                _draw_cell(axes, x, y - _RULER - place * _CELL - _BOX / 2, cell)
            left += widths[i]
        y -= _row_height(columns, row)


def _draw_cell(axes: Axes, x: float, y: float, cell: Cell) -> None:
    """Draw a possession with its shape centred at (x, y)."""
    color = LACKING if cell.lacking else INK
    _draw_shape(axes, x, y, cell.shape, cell.kind, "-" if cell.certain else "--", color)
    write(axes, x, y, cell.name, NAME_SIZE, color=color)
    if cell.lacking:
        write(axes, x - (cell.shape + _MARK) / 2, y, MARK, NAME_SIZE, color=color)
    if cell.anchor:
        write(axes, x, y - _BOX / 2 - 0.15, cell.anchor, SMALL_SIZE, color="#444444")
    if cell.relation_certain is not None:
        style = "-" if cell.relation_certain else "--"
        line(axes, (x - cell.line / 2, x + cell.line / 2), y - _BOX / 2 - 0.055, style, color=INK)


def _draw_shape(
    axes: Axes, x: float, y: float, width: float, kind: str | None, style: str, color: str
) -> None:
    """Draw the shape of a kind of possessor, centred at (x, y)."""
    from matplotlib.patches import Ellipse, FancyBboxPatch, Patch, Polygon, Rectangle

    corner = (x - width / 2, y - _BOX / 2)
    look: dict[str, Any] = {
        "facecolor": FILLS[kind],
        "edgecolor": color,
        "linestyle": style,
        "linewidth": 1.0,
    }
    patch: Patch
    if kind == "PER":
        patch = Rectangle(corner, width, _BOX, **look)
    elif kind == "LOC":
        patch = FancyBboxPatch(
            corner, width, _BOX, boxstyle=f"round,pad=0,rounding_size={_BOX / 3}", **look
        )
    elif kind == "ORG":
        patch = Ellipse((x, y), width, _BOX, **look)
    else:
        half, slant = width / 2, _BOX / 2
        right = [(x + half - slant, y + _BOX / 2), (x + half, y), (x + half - slant, y - _BOX / 2)]
        patch = Polygon(
            [*right, *((2 * x - u, v) for u, v in reversed(right))], closed=True, **look
        )
    axes.add_patch(patch)


def _build_legend(
    cells: Sequence[Cell], measure: Measure
) -> list[tuple[str | None, str, str, float]]:
    """List what occurs in the cells: its shape ("" for a line, or `MARK`), the style of its lines, text and width."""
    kinds = {cell.kind for cell in cells}
    entries = [(kind, "-", name) for kind, name in KINDS.items() if kind in kinds]
    if any(not cell.certain or cell.relation_certain is False for cell in cells):
        entries.append(("", "--", "uncertain"))
    if any(cell.lacking for cell in cells):
        entries.append((MARK, "", "not in gold"))
    return [
        (kind, style, text, _SAMPLE + 0.1 + measure(text, SMALL_SIZE) + _GAP)
        for kind, style, text in entries
    ]


def _draw_legend(axes: Axes, entries: Sequence[tuple[str | None, str, str, float]]) -> None:
    left, y = 0.02, _LEGEND / 2  # keep half the line width inside the edge
    for kind, style, text, width in entries:
        if kind == MARK:
            write(axes, left + _SAMPLE / 2, y, MARK, NAME_SIZE, color=LACKING)
        elif kind == "":
            line(axes, (left, left + _SAMPLE), y, style, color=INK)
        else:
            _draw_shape(axes, left + _SAMPLE / 2, y, _SAMPLE, kind, style, INK)
        write(axes, left + _SAMPLE + 0.1, y, text, SMALL_SIZE, ha="left")
        left += width


def find_article(records: Sequence[Record], title: str) -> Record:
    """Return the record of an article; if there is none, the error names the nearest title."""
    by_title = {record["article"]: record for record in records}
    if title not in by_title:
        raise RequestError(shorten(describe_unknown("article", title, list(by_title)), 600))
    return by_title[title]
