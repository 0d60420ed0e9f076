"""Plots of possession timelines: who possessed an artifact after whom, and when.

Source: Chinnappa, Palmer and Blanco (2020), Figure 2, for the shapes (rectangles for persons, rounded rectangles for
locations, ovals for organisations), the anchors below them, and dashed lines for uncertainty.  Rows, marks on predicted
possessors that are not in gold, and hexagons for predictions without a type are ours.

Conventions: as in `closeread.drawing.pictures`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain, groupby
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
from closeread.tasks.wikipossessions.matching import normalize_name, parse_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = {"PER": "person", "LOC": "location", "ORG": "organisation", None: "no type"}
FILLS = {"PER": "#dbe9f6", "LOC": "#e3f1dc", "ORG": "#fbe9cf", None: "#eeeeee"}
LACKING = "#b3261e"
"""The colour of possessors that are not in gold."""

MARK = "✗"
"""The mark next to them."""

_MAX_NAME_LENGTH = 40
_MAX_ANCHOR_LENGTH = 40
_MAX_ORDER_LENGTH = 24
_MAX_TITLE_LENGTH = 90
"""In characters."""

# Heights, in inches: a possession is a box, the anchor below it, and a gap.
_BOX = 0.34
_CELL = _BOX + 0.24 + 0.12
_RULER = 0.5  # a row's time line, with the orders above it
_HEADING = 0.42
_TITLE = 0.5
_LEGEND = 0.5

# Widths, in inches.
_GAP = 0.22
_MARK_WIDTH = 0.2
_SAMPLE = 0.5  # a shape in the legend
_MIN_PAGE_WIDTH = 9.0

_MAX_TIES_PER_COLUMN = 8
"""More tied possessions go into the next column."""

_ASPECT = 1.5
"""The aspect ratio of a page with many possessions."""


class Cell(NamedTuple):
    """A possession in a plot.

    Attributes:
        kind: the type of the possessor, which its shape shows.
        name, order: texts.
        anchor: its text; empty if there is none.
        is_certain: whether the possession is.
        is_relation_certain: whether its relation is; None if there is no relation.
        is_lacking: whether the possessor is not in gold.
        shape_width: the width of the shape.
        anchor_width: the width of the anchor, and of the line between shape and anchor.
    """

    kind: str | None
    name: str
    order: str
    anchor: str
    is_certain: bool
    is_relation_certain: bool | None
    is_lacking: bool
    shape_width: float
    anchor_width: float

    @property
    def width(self) -> float:
        """The width of the whole, with the mark next to the shape."""
        marks = 2 * _MARK_WIDTH if self.is_lacking else 0
        return max(self.shape_width + marks, self.anchor_width)


class TiedPossessions(NamedTuple):
    """Possessions that are tied."""

    cells: Sequence[Cell]
    width: float

    @property
    def height(self) -> float:
        """The height, with that of the time line."""
        return _RULER + len(self.cells) * _CELL


class LegendEntry(NamedTuple):
    """What a legend explains: a shape ("" for a line, or `MARK`) and the style of its lines."""

    kind: str | None
    style: str
    text: str
    width: float


def draw_timeline(
    article: str, gold: Sequence[Record], predicted: Sequence[Record] | None = None
) -> Figure:
    """Draw the possession timeline of an article, with the prediction, if any, below gold.

    Possessions may be in any order, `type` is optional, and possessors are matched by normalized name.  The axes are
    labelled "title", "gold", "prediction" (if any) and "legend"; the patches of a side are its shapes.
    """
    with own_settings():
        measure = make_measure()
        panels = {"gold": _build_columns(gold, gold, measure)}
        if predicted is not None:
            panels["prediction"] = _build_columns(predicted, gold, measure)
        return _draw_figure(make_drawable(article, _MAX_TITLE_LENGTH), panels, measure)


def _parse_order(row: Record) -> Any:
    return parse_order(row["order"])


def _build_columns(
    rows: Sequence[Record], gold: Sequence[Record], measure: Measure
) -> list[TiedPossessions]:
    """Build the columns of a side by order."""
    gold_names = {normalize_name(row["possessor"]).tokens for row in gold}
    columns = []
    for _, ties in groupby(sorted(rows, key=_parse_order), _parse_order):
        cells = [_build_cell(row, gold_names, measure) for row in ties]
        for start in range(0, len(cells), _MAX_TIES_PER_COLUMN):
            column = cells[start : start + _MAX_TIES_PER_COLUMN]
            order_width = measure(column[0].order, SMALL_SIZE)
            width = max(order_width, *(cell.width for cell in column)) + _GAP
            columns.append(TiedPossessions(column, width))
    return columns


def _build_cell(row: Record, gold_names: set[tuple[str, ...]], measure: Measure) -> Cell:
    kind = row.get("type")
    name = make_drawable(row["possessor"], _MAX_NAME_LENGTH)
    relation = row["relation"]
    anchor = ""
    if row["anchor"] is not None:
        anchor = make_drawable(row["anchor"], _MAX_ANCHOR_LENGTH)
        # Before and after are written out; during is the default.
        if relation in ("before", "after"):
            anchor = f"{relation} {anchor}"
    return Cell(
        kind=kind,
        name=name,
        order=make_drawable(row["order"], _MAX_ORDER_LENGTH),
        anchor=anchor,
        is_certain=row["certainty"] != "uncertain",
        is_relation_certain=None if relation is None else row["relation_certainty"] != "uncertain",
        is_lacking=normalize_name(row["possessor"]).tokens not in gold_names,
        shape_width=_widen(kind, measure(name, NAME_SIZE)),
        anchor_width=measure(anchor, SMALL_SIZE),
    )


def _widen(kind: str | None, text_width: float) -> float:
    """Return the width of a shape of height `_BOX` that a line of text fits into."""
    if kind == "ORG":
        # The corners of the text, which is half as high as the oval, lie inside the oval.
        return max(text_width / math.sqrt(1 - 0.5**2) + 0.12, 2 * _BOX)
    return text_width + (_BOX if kind is None else 0.2)


def _row_height(row: Sequence[TiedPossessions]) -> float:
    return max(column.height for column in row)


def _draw_figure(
    title: str, panels: Mapping[str, Sequence[TiedPossessions]], measure: Measure
) -> Figure:
    """Draw the sides, by name, each on as many rows as it needs."""
    every_column = list(chain.from_iterable(panels.values()))
    cells = chain.from_iterable(column.cells for column in every_column)
    legend = _build_legend(list(cells), measure)
    area = sum(column.width * column.height for column in every_column)
    page_width = max(
        _MIN_PAGE_WIDTH - 2 * MARGIN,
        math.sqrt(_ASPECT * area),
        max((column.width for column in every_column), default=0.0) + _GAP,
        measure(title, TITLE_SIZE),
        sum(entry.width for entry in legend),
    )
    heading = _HEADING if len(panels) > 1 else 0.0
    rows = {}
    heights = {}
    for name, columns in panels.items():
        wrapped = wrap([column.width for column in columns], page_width - _GAP)
        rows[name] = [columns[row.start : row.stop] for row in wrapped]
        heights[name] = heading + (sum(map(_row_height, rows[name])) or _CELL)
    figure = page(page_width, _TITLE + sum(heights.values()) + _LEGEND)
    top = figure.get_size_inches()[1] - MARGIN - _TITLE
    axes = strip(figure, "title", top, _TITLE)
    write(axes, 0, _TITLE / 2, title, TITLE_SIZE, ha="left")
    for name, height in heights.items():
        top -= height
        axes = strip(figure, name, top, height)
        upper = axes.get_ylim()[1]
        if heading:
            y = upper - _HEADING / 2
            write(axes, 0, y, name.capitalize(), HEADING_SIZE, ha="left", weight="bold")
        _draw_panel(axes, upper - heading, rows[name])
    _draw_legend(strip(figure, "legend", top - _LEGEND, _LEGEND), legend)
    return figure


def _draw_panel(axes: Axes, y: float, rows: Sequence[Sequence[TiedPossessions]]) -> None:
    """Draw the rows of a side from a height on downwards."""
    if not rows:
        write(axes, 0, y - _CELL / 2, "no possessions", NAME_SIZE, ha="left", style="italic")
    for row in rows:
        _draw_row(axes, y, row)
        y -= _row_height(row)


def _draw_row(axes: Axes, y: float, row: Sequence[TiedPossessions]) -> None:
    """Draw a time line with its columns."""
    ruler = y - _RULER * 0.6
    end = axes.get_xlim()[1] - 0.06
    arrow: dict[str, Any] = {"marker": ">", "markevery": [1], "markersize": 5}
    line(axes, (0, end), ruler, "-", color="#888888", **arrow)
    start = _GAP / 2
    for column in row:
        x = start + column.width / 2
        write(axes, x, ruler + 0.14, column.cells[0].order, SMALL_SIZE, color="#555555")
        line(axes, (x,), ruler, "", color="#555555", marker="o", markersize=4)
        for place, cell in enumerate(column.cells):
            _draw_cell(axes, x, y - _RULER - place * _CELL - _BOX / 2, cell)
        start += column.width


def _draw_cell(axes: Axes, x: float, y: float, cell: Cell) -> None:
    """Draw a possession with its shape centred at (x, y)."""
    color = LACKING if cell.is_lacking else INK
    style = "-" if cell.is_certain else "--"
    _draw_shape(axes, x, y, cell.shape_width, cell.kind, style, color)
    write(axes, x, y, cell.name, NAME_SIZE, color=color)
    if cell.is_lacking:
        write(axes, x - (cell.shape_width + _MARK_WIDTH) / 2, y, MARK, NAME_SIZE, color=color)
    if cell.anchor:
        write(axes, x, y - _BOX / 2 - 0.15, cell.anchor, SMALL_SIZE, color="#444444")
    if cell.is_relation_certain is not None:
        style = "-" if cell.is_relation_certain else "--"
        ends = (x - cell.anchor_width / 2, x + cell.anchor_width / 2)
        line(axes, ends, y - _BOX / 2 - 0.055, style, color=INK)


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
        rounding = f"round,pad=0,rounding_size={_BOX / 3}"
        patch = FancyBboxPatch(corner, width, _BOX, boxstyle=rounding, **look)
    elif kind == "ORG":
        patch = Ellipse((x, y), width, _BOX, **look)
    else:
        tip = x + width / 2
        slant = _BOX / 2
        corners = [(tip - slant, y + slant), (tip, y), (tip - slant, y - slant)]
        mirrored = [(2 * x - corner_x, corner_y) for corner_x, corner_y in reversed(corners)]
        patch = Polygon([*corners, *mirrored], closed=True, **look)
    axes.add_patch(patch)


def _build_legend(cells: Sequence[Cell], measure: Measure) -> list[LegendEntry]:
    """List what occurs in the cells."""
    kinds = {cell.kind for cell in cells}
    entries: list[tuple[str | None, str, str]] = [
        (kind, "-", name) for kind, name in KINDS.items() if kind in kinds
    ]
    if any(not cell.is_certain or cell.is_relation_certain is False for cell in cells):
        entries.append(("", "--", "uncertain"))
    if any(cell.is_lacking for cell in cells):
        entries.append((MARK, "", "not in gold"))
    return [
        LegendEntry(kind, style, text, _SAMPLE + 0.1 + measure(text, SMALL_SIZE) + _GAP)
        for kind, style, text in entries
    ]


def _draw_legend(axes: Axes, entries: Sequence[LegendEntry]) -> None:
    start = 0.02  # keep half the line width inside the edge
    y = _LEGEND / 2
    for kind, style, text, width in entries:
        middle = start + _SAMPLE / 2
        if kind == MARK:
            write(axes, middle, y, MARK, NAME_SIZE, color=LACKING)
        elif kind == "":
            line(axes, (start, start + _SAMPLE), y, style, color=INK)
        else:
            _draw_shape(axes, middle, y, _SAMPLE, kind, style, INK)
        write(axes, start + _SAMPLE + 0.1, y, text, SMALL_SIZE, ha="left")
        start += width


def find_article(records: Sequence[Record], title: str) -> Record:
    """Return the record of an article; if there is none, the error names the nearest title."""
    by_title = {record["article"]: record for record in records}
    if title not in by_title:
        raise RequestError(shorten(describe_unknown("article", title, list(by_title)), 600))
    return by_title[title]
