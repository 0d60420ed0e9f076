"""The temporal graph of a timeline, and its places in a picture: relations that are stated, and those that follow.

Source: Minard et al. (2015), section 5 and Figure 2.

Conventions: relations are those of `closeread.tasks.timeline.kernels.timelines`; entries at position 0 have none.  An
entailed relation of two nodes follows from the order of the timeline, and is not stated; BEFORE is written with the
earlier node first.  Lengths are as in `closeread.drawing.pictures`; in the picture, mentions are one below the other in
timeline order, with their anchors on the left.  Relations between the columns, and explicit relations of neighbours,
are straight lines; entailed relations within a column are arcs beside it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from closeread.drawing.pictures import SMALL_SIZE, Measure, make_drawable
from closeread.exceptions import RequestError, name_option, pluralize, quote
from closeread.tasks.timeline.explain import Kind
from closeread.tasks.timeline.kernels.timelines import Entry, build_side, list_mentions
from closeread.tasks.timeline.plot_layout import format_anchor, place_blocks

EXPLICIT, REDUNDANT, CONTRADICTORY, ENTAILED = "explicit", "explicit, redundant", "explicit, contradictory", "entailed"
"""Kinds of relations: stated; stated, but entailed or excluded by relations stated earlier; only entailed."""


class Edge(NamedTuple):
    """A relation of two nodes, which are numbered."""

    status: str  # `EXPLICIT`, `REDUNDANT`, `CONTRADICTORY` or `ENTAILED`
    relation: Kind
    one: int
    other: int


class Graph(NamedTuple):
    """The relations of a timeline."""

    mentions: Sequence[str]  # the first nodes, in order
    anchors: Sequence[str]  # the other nodes, in order of first appearance
    anchor_of: Sequence[int]  # for each mention, the node of its anchor; empty without anchors
    edges: Sequence[Edge]  # the relations: those to anchors, those of neighbours, then those entailed

    def count(self, status: str) -> int:
        """Count the relations of one status."""
        return sum(edge.status == status for edge in self.edges)


def build_graph(entries: Sequence[Entry], track: str = "full") -> Graph:
    """Build the graph of a timeline; its size is quadratic in the number of mentions."""
    side = build_side(list_mentions(entries), track)
    n = len(side.copies)
    anchor_of = [n + time for time in side.at] if side.anchors else []
    edges = [Edge(EXPLICIT, "SIMULTANEOUS", mention, anchor) for mention, anchor in enumerate(anchor_of)]
    for i, (later, joins, contradicts) in enumerate(zip(side.later, side.joins, side.contradicts, strict=True)):
        status = CONTRADICTORY if contradicts else EXPLICIT if joins else REDUNDANT
        edges.append(Edge(status, "BEFORE" if later else "SIMULTANEOUS", i, i + 1))
    stated = {(edge.one, edge.other) for edge in edges}
    times = [*side.at, *range(len(side.anchors))]
    for i, j in combinations(range(len(times)), 2):
        known = side.order.compare(times[i], times[j])
        if known is not None and (i, j) not in stated:
            edges.append(Edge(ENTAILED, "BEFORE" if known else "SIMULTANEOUS", *((j, i) if known > 0 else (i, j))))
    return Graph([mention for mention, _ in side.copies], list(side.anchors), anchor_of, edges)


MAX_MENTIONS = 30
"""The most mentions that are drawn: their relations, of which there are up to 1,770, would hide each other."""

COLOURS: dict[Kind, str] = {"BEFORE": "#0072b2", "SIMULTANEOUS": "#b07900"}
LOOKS: dict[str, dict[str, Any]] = {
    EXPLICIT: {"linestyle": "-", "linewidth": 1.5, "zorder": 3},
    REDUNDANT: {"linestyle": "-", "linewidth": 0.7, "zorder": 3},
    CONTRADICTORY: {"linestyle": "-.", "linewidth": 1.5, "zorder": 3, "color": "#d55e00"},
    ENTAILED: {"linestyle": (0, (4, 3)), "linewidth": 0.6, "zorder": 1, "alpha": 0.7},
}
"""How relations are drawn; contradictory ones have a colour of their own."""

POSITIONS = re.compile("([0-9]{1,16})(?:-([0-9]{1,16}))?")
_LENGTH = 44
_ROW, _GAP = 0.42, 1.7  # heights of rows, and the width between the columns
_BULGE = 0.3  # of an arc, relative to its length
_CLEAR, _ASIDE = 0.1, 0.06  # the distance of arrows from texts above and below, and beside


class Arrow(NamedTuple):
    """A relation as drawn."""

    edge: Edge
    start: tuple[float, float]  # x and y
    end: tuple[float, float]
    bend: float  # the bulge of the arc to the right of its direction, as a share of its length; 0 for a line


class Layout(NamedTuple):
    """Where the nodes are."""

    labels: Sequence[str]
    y: Sequence[float]  # downwards from 0
    lefts: Sequence[float]  # the edges of the columns that they are in
    rights: Sequence[float]
    width: float
    height: float
    n_mentions: int


def select_positions(entries: Sequence[Entry], positions: str | None) -> list[Entry]:
    """Return the entries at some positions, such as "3" or "2-5"; all without any."""
    if positions is None:
        return list(entries)
    found = POSITIONS.fullmatch(positions)
    if found is None:
        raise RequestError(f"positions {quote(positions)} are not valid (expected a position or a range such as 2-5)")
    first, last = int(found[1]), int(found[2] or found[1])
    if first > last:
        raise RequestError(f"positions {positions} are in descending order (expected {last}-{first})")
    selected = [entry for entry in entries if first <= entry["position"] <= last]
    if not selected:
        highest = max((entry["position"] for entry in entries), default=0)
        raise RequestError(f"there is no event at positions {positions} (the last is {highest})")
    return selected


def check_size(entries: Sequence[Entry]) -> None:
    """Check that the relations of a timeline can be drawn."""
    mentions = sum(len(entry["mentions"]) for entry in entries if entry["position"])
    if mentions > MAX_MENTIONS:
        found = f"the timeline has {mentions:,} mentions in order (expected at most {MAX_MENTIONS})"
        raise RequestError(f"{found}; use {name_option('positions')} to draw a part of it")


def arrange_nodes(graph: Graph, measure: Measure) -> Layout:
    """Place the mentions of a graph, and its anchors each at the mean height of its mentions, or near."""
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


def place_arrows(graph: Graph, layout: Layout) -> Iterator[Arrow]:
    """Yield where the relations are drawn: arcs within a column, lines between neighbours and between the columns."""
    for edge in graph.edges:
        ends = (edge.one, edge.other)
        heights = [layout.height - layout.y[node] for node in ends]
        right, other_right = (node < layout.n_mentions for node in ends)
        if right != other_right:
            x = [
                layout.lefts[node] - _ASIDE if node < layout.n_mentions else layout.rights[node] + _ASIDE
                for node in ends
            ]
            bend = 0.0
        elif edge.status != ENTAILED:
            x = [layout.lefts[node] + 3 * _CLEAR for node in ends]
            heights = [heights[0] - _CLEAR, heights[1] + _CLEAR]
            bend = 0.0
        else:
            x = [layout.rights[node] + _ASIDE if right else layout.lefts[node] - _ASIDE for node in ends]
            bend = _BULGE * (1 if right else -1) * (-1 if heights[0] > heights[1] else 1)
        yield Arrow(edge, (x[0], heights[0]), (x[1], heights[1]), bend)


def make_keys(graph: Graph) -> list[tuple[Edge, str]]:
    """Return a relation of each kind that occurs, for the legend, and how many of it there are."""
    numbers = Counter((edge.status, edge.relation) for edge in graph.edges)
    first = {(edge.status, edge.relation): edge for edge in reversed(graph.edges)}
    kinds = [(status, relation) for status in LOOKS for relation in COLOURS]
    return [
        (first[status, relation], f"{numbers[status, relation]:,} {relation}, {status}")
        for status, relation in kinds
        if numbers[status, relation]
    ]


def describe_graph(graph: Graph) -> str:
    """Return the size of a graph in words."""
    stated = len(graph.edges) - graph.count(ENTAILED)
    nodes = pluralize(len(graph.mentions), "mention")
    nodes += f" and {pluralize(len(graph.anchors), 'anchor')}" if graph.anchors else ""
    return f"{nodes}, {stated:,} explicit and {graph.count(ENTAILED):,} entailed relations"
