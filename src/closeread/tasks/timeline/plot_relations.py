"""The relations of a timeline as a picture, explicit and entailed (Minard et al. 2015, Figure 2).

Conventions: as in `closeread.drawing.inches`.  Mentions are one below the other in timeline order, with their anchors
on the left.  Relations between the columns, and explicit relations of neighbours, are straight lines; entailed
relations within a column are arcs beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closeread.drawing.inches import (
    MARGIN,
    SMALL_SIZE,
    TITLE_SIZE,
    Measure,
    make_drawable,
    make_measure,
    page,
    strip,
    write,
)
from closeread.drawing.pictures import own_settings
from closeread.errors import RequestError, pluralize, quote
from closeread.tasks.timeline.graph import CONTRADICTORY, ENTAILED, EXPLICIT, REDUNDANT, Edge, Graph
from closeread.tasks.timeline.kernels.timelines import Entry
from closeread.tasks.timeline.plot_events import format_anchor
from closeread.tasks.timeline.plot_layout import place_blocks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_MENTIONS = 30
"""The most mentions that are drawn: their relations, of which there are up to 1,770, would hide each other."""

COLOURS = {"BEFORE": "#0072b2", "SIMULTANEOUS": "#b07900"}
LOOKS: dict[str, dict[str, Any]] = {
    EXPLICIT: {"linestyle": "-", "linewidth": 1.5, "zorder": 3},
    REDUNDANT: {"linestyle": "-", "linewidth": 0.7, "zorder": 3},
    CONTRADICTORY: {"linestyle": "-.", "linewidth": 1.5, "zorder": 3, "color": "#d55e00"},
    ENTAILED: {"linestyle": (0, (4, 3)), "linewidth": 0.6, "zorder": 1, "alpha": 0.7},
}
"""How relations are drawn; contradictory ones have a colour of their own."""

POSITIONS = re.compile("([0-9]{1,16})(?:-([0-9]{1,16}))?")
_LENGTH = 44
_WIDTH = 3.0  # minimal width between the margins
_ROW, _GAP = 0.42, 1.7  # heights of rows, and the width between the columns
_BULGE = 0.3  # of an arc, relative to its length
_TITLE, _LINE, _KEY = 0.5, 0.22, 0.42  # heights of the title and of a line of the legend, and the width of its sample
_CLEAR = 0.1  # the distance of arrows from texts above and below


class Layout(NamedTuple):
    """Where the nodes are.

    Attributes:
        labels: their texts.
        y: their heights, downwards from 0.
        lefts, rights: the edges of the columns that they are in.
        width: of everything.
        height: of everything.
        n_mentions: how many of them are mentions.
    """

    labels: Sequence[str]
    y: Sequence[float]
    lefts: Sequence[float]
    rights: Sequence[float]
    width: float
    height: float
    n_mentions: int


def select_positions(entries: Sequence[Entry], positions: str | None) -> list[Entry]:
    """Return the entries at some positions, such as "3" or "2-5"; all without any.

    Raises:
        RequestError: the text is not valid, or there is no entry at these positions.
    """
    if positions is None:
        return list(entries)
    found = POSITIONS.fullmatch(positions)
    if found is None:
        raise RequestError(f"positions {quote(positions)} are not valid (expected a position or a range such as 2-5)")
    first, last = int(found[1]), int(found[2] or found[1])
    selected = [entry for entry in entries if first <= entry["position"] <= last]
    if not selected:
        highest = max((entry["position"] for entry in entries), default=0)
        raise RequestError(f"there is no event at positions {positions} (the last is {highest})")
    return selected


def check_size(entries: Sequence[Entry]) -> None:
    """Check that the relations of a timeline can be drawn.

    Raises:
        RequestError: there are too many mentions.
    """
    mentions = sum(len(entry["mentions"]) for entry in entries if entry["position"])
    if mentions > MAX_MENTIONS:
        found = f"the timeline has {mentions:,} mentions in order (expected at most {MAX_MENTIONS})"
        raise RequestError(f"{found}; use --positions to draw a part of it")


def draw_relations(entity: str, graph: Graph) -> Figure:
    """Draw the explicit and the entailed relations of a timeline.

    Args:
        entity: the title.
        graph: the relations.

    Returns:
        A figure with axes labelled "title", "relations" and "legend".  Each relation is a patch labelled with its
        status and kind, such as "entailed: BEFORE".

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    with own_settings():
        measure = make_measure()
        layout = _arrange(graph, measure)
        title = make_drawable(entity, 90)
        keys = _make_keys(graph)
        legend = len(keys) * _LINE + _LINE / 2
        widths = [_KEY + measure(text, SMALL_SIZE) for _, text in keys]
        figure = page(max(_WIDTH, layout.width, *widths, measure(title, TITLE_SIZE)), _TITLE + layout.height + legend)
        top = figure.get_size_inches()[1] - MARGIN - _TITLE
        write(strip(figure, "title", top, _TITLE), 0, _TITLE / 2, title, TITLE_SIZE, ha="left")
        axes = strip(figure, "relations", top - layout.height, layout.height)
        for edge in graph.edges:
            _draw_edge(axes, edge, layout)
        for label, y, left in zip(layout.labels, layout.y, layout.lefts, strict=True):
            write(axes, left, layout.height - y, label, SMALL_SIZE, ha="left", zorder=4)
        if not layout.labels:
            write(axes, 0, layout.height / 2, "no relations", SMALL_SIZE, ha="left", style="italic")
        _draw_legend(strip(figure, "legend", MARGIN, legend), keys)
        return figure


def _arrange(graph: Graph, measure: Measure) -> Layout:
    """Place the mentions and anchors."""
    mentions = [make_drawable(text, _LENGTH) for text in graph.mentions]
    anchors = [format_anchor(text) for text in graph.anchors]
    widths = [max((measure(text, SMALL_SIZE) for text in texts), default=0.0) for texts in (anchors, mentions)]
    rows = [(i + 0.5) * _ROW for i in range(len(mentions))]
    height = max(len(mentions), 1) * _ROW
    anchor_of = np.array(graph.anchor_of, np.int64) - len(mentions)
    wanted = [float(np.mean(np.array(rows)[anchor_of == i])) for i in range(len(anchors))]
    order = sorted(range(len(anchors)), key=wanted.__getitem__)
    tops = place_blocks([wanted[i] for i in order], [_ROW] * len(anchors), 0, height)
    places = dict(zip(order, tops, strict=True))
    anchor_rows = [places[i] + _ROW / 2 for i in range(len(anchors))]
    arcs = [_BULGE * (max(rows) - min(rows)) if rows else 0.0 for rows in (anchor_rows, rows)]
    start = arcs[0] / 2 + 0.15 if anchors else 0.0
    second = start + widths[0] + _GAP if anchors else 0.0
    lefts = [second] * len(mentions) + [start] * len(anchors)
    rights = [second + widths[1]] * len(mentions) + [start + widths[0]] * len(anchors)
    width = second + widths[1] + arcs[1] / 2 + 0.15
    return Layout([*mentions, *anchors], [*rows, *anchor_rows], lefts, rights, width, height, len(mentions))


def _draw_edge(axes: Axes, edge: Edge, layout: Layout) -> None:
    """Draw a relation: an arc within a column, or a line between the columns."""
    ends = (edge.one, edge.other)
    of_mentions = [node < layout.n_mentions for node in ends]
    heights = [layout.height - layout.y[node] for node in ends]
    if of_mentions[0] != of_mentions[1]:
        x = [layout.lefts[node] - 0.06 if node < layout.n_mentions else layout.rights[node] + 0.06 for node in ends]
        _draw_arrow(axes, edge, (x[0], heights[0]), (x[1], heights[1]), 0.0)
        return
    if edge.status != ENTAILED:
        x = [layout.lefts[node] + 0.3 for node in ends]
        _draw_arrow(axes, edge, (x[0], heights[0] - _CLEAR), (x[1], heights[1] + _CLEAR), 0.0)
        return
    side = 1 if of_mentions[0] else -1
    x = [layout.rights[node] + 0.06 if side > 0 else layout.lefts[node] - 0.06 for node in ends]
    bend = side * _BULGE * (-1 if heights[0] > heights[1] else 1)
    _draw_arrow(axes, edge, (x[0], heights[0]), (x[1], heights[1]), bend)


def _draw_arrow(axes: Axes, edge: Edge, start: tuple[float, float], end: tuple[float, float], bend: float) -> None:
    """Draw a relation from one place to another; BEFORE has an arrowhead at the later end."""
    from matplotlib.patches import FancyArrowPatch

    arrow = FancyArrowPatch(
        start,
        end,
        arrowstyle="-|>" if edge.relation == "BEFORE" else "-",
        connectionstyle=f"arc3,rad={bend}",
        mutation_scale=7,
        shrinkA=0,
        shrinkB=0,
        label=f"{edge.status}: {edge.relation}",
        **{"color": COLOURS[edge.relation], **LOOKS[edge.status]},
    )
    axes.add_patch(arrow)


def _make_keys(graph: Graph) -> list[tuple[Edge, str]]:
    """Make the legend: the kinds of relations that occur, with their numbers."""
    kinds = [(status, relation) for status in LOOKS for relation in COLOURS]
    numbers = {kind: sum((edge.status, edge.relation) == kind for edge in graph.edges) for kind in kinds}
    return [
        (next(edge for edge in graph.edges if (edge.status, edge.relation) == kind), f"{number:,} {kind[1]}, {kind[0]}")
        for kind, number in numbers.items()
        if number
    ]


def _draw_legend(axes: Axes, keys: Sequence[tuple[Edge, str]]) -> None:
    for number, (edge, text) in enumerate(reversed(keys)):
        y = (number + 0.5) * _LINE
        _draw_arrow(axes, edge, (0.0, y), (_KEY - 0.1, y), 0.0)
        write(axes, _KEY, y, text, SMALL_SIZE, ha="left")


def describe_graph(graph: Graph) -> str:
    """Return the size of a graph in words."""
    stated = len(graph.edges) - graph.count(ENTAILED)
    nodes = pluralize(len(graph.mentions), "mention")
    nodes += f" and {pluralize(len(graph.anchors), 'anchor')}" if graph.anchors else ""
    return f"{nodes}, {stated:,} explicit and {graph.count(ENTAILED):,} entailed relations"
