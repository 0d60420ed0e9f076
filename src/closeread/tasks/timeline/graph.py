"""The temporal graph of a timeline: relations that are stated, and those that follow; and its picture.

Source: Minard et al. (2015), section 5 and Figure 2.

Conventions: relations are those of `closeread.tasks.timeline.relations`; entries at position 0 have none.  An entailed
relation of two nodes follows from the order of the timeline, and is not stated; BEFORE is written with the earlier node
first.  In the picture (lengths are as in `closeread.drawing.pictures`), mentions are one below the other in timeline
order, with their anchors on the left, each at the mean height of its mentions, or near.  Relations between the columns,
and explicit relations of neighbours, are straight lines; entailed relations within a column are arcs beside it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closeread.drawing.pictures import (
    MARGIN,
    SMALL_SIZE,
    TITLE_SIZE,
    arrow,
    make_drawable,
    make_measure,
    own_settings,
    page,
    strip,
    write,
)
from closeread.exceptions import RequestError, name_option, pluralize, quote
from closeread.tasks.timeline.plots import (
    MENTION_LENGTH,
    TITLE,
    TITLE_LENGTH,
    count_mentions,
    draw_title,
    format_anchor,
    place_blocks,
)
from closeread.tasks.timeline.relations import Entry, build_side, list_mentions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPLICIT, REDUNDANT, CONTRADICTORY, ENTAILED = (
    "explicit",
    "explicit, redundant",
    "explicit, contradictory",
    "entailed",
)
"""Kinds of relations: stated; stated, but entailed or excluded by relations stated earlier; only entailed."""

STATED = {"new": EXPLICIT, "entailed": REDUNDANT, "contradictory": CONTRADICTORY}

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
_WIDTH, _KEY_LINE, _KEY_SAMPLE = 3.0, 0.22, 0.42  # of the picture, and of its legend
_ROW, _GAP = 0.42, 1.7  # heights of rows, and the width between the columns
_BULGE = 0.3  # of an arc, relative to its length
_CLEAR, _ASIDE = 0.1, 0.06  # the distance of arrows from texts above and below, and beside


class Edge(NamedTuple):
    """A relation of two nodes, which are numbered."""

    status: str  # `EXPLICIT`, `REDUNDANT`, `CONTRADICTORY` or `ENTAILED`
    relation: str
    one: int
    other: int


class Graph(NamedTuple):
    """The relations of a timeline."""

    mentions: Sequence[str]  # the first nodes, in order
    anchors: Sequence[str]  # the other nodes, in order of first appearance
    anchor_of: Sequence[int]  # for each mention, the node of its anchor; empty without anchors
    # the relations: those to anchors, those of neighbours, then those entailed
    edges: Sequence[Edge]

    def describe(self) -> str:
        """Return its size in words."""
        entailed = sum(edge.status == ENTAILED for edge in self.edges)
        nodes = pluralize(len(self.mentions), "mention")
        nodes += f" and {pluralize(len(self.anchors), 'anchor')}" if self.anchors else ""
        return (
            f"{nodes}, {len(self.edges) - entailed:,} explicit and {entailed:,} entailed relations"
        )


def build_graph(entries: Sequence[Entry], track: str = "full") -> Graph:
    """Build the graph of a timeline; its size is quadratic in the number of mentions."""
    side = build_side(list_mentions(entries), track)
    n = len(side.copies)
    anchor_of = [n + time for time in side.at] if side.anchors else []
    edges = [
        Edge(EXPLICIT, "SIMULTANEOUS", mention, anchor) for mention, anchor in enumerate(anchor_of)
    ]
    for i, (later, status) in enumerate(zip(side.later, side.statuses, strict=True)):
        edges.append(Edge(STATED[status], "BEFORE" if later else "SIMULTANEOUS", i, i + 1))
    stated = {(edge.one, edge.other) for edge in edges}
    times = list(enumerate(side.times))
    for (i, one), (j, other) in combinations(times, 2):
        known = side.order.compare(one, other)
        if known is not None and (i, j) not in stated:
            edges.append(
                Edge(
                    ENTAILED,
                    "BEFORE" if known else "SIMULTANEOUS",
                    *((j, i) if known > 0 else (i, j)),
                )
            )
    return Graph([mention for mention, _ in side.copies], list(side.anchors), anchor_of, edges)


def select_positions(entries: Sequence[Entry], positions: str | None) -> list[Entry]:
    """Return the entries at some positions, such as "3" or "2-5", or all; there must not be too many to draw."""
    selected = list(entries)
    if positions is not None:
        found = POSITIONS.fullmatch(positions)
        if found is None:
            expected = "expected a position or a range such as 2-5"
            raise RequestError(f"positions {quote(positions)} are not valid ({expected})")
        first, last = int(found[1]), int(found[2] or found[1])
        if first > last:
            raise RequestError(
                f"positions {positions} are in descending order (expected {last}-{first})"
            )
        selected = [entry for entry in entries if first <= entry["position"] <= last]
        if not selected:
            highest = max((entry["position"] for entry in entries), default=0)
            raise RequestError(
                f"there is no event at positions {positions} (the last is {highest})"
            )
    if (
        mentions := count_mentions([entry for entry in selected if entry["position"]])
    ) > MAX_MENTIONS:
        what = f"the timeline has {mentions:,} mentions in order (expected at most {MAX_MENTIONS})"
        raise RequestError(f"{what}; use {name_option('positions')} to draw a part of it")
    return selected


def draw_relations(entity: str, graph: Graph) -> Figure:
    """Draw the explicit and the entailed relations of a timeline."""
    with own_settings():
        measure, title = make_measure(), make_drawable(entity, TITLE_LENGTH)
        mentions = [make_drawable(text, MENTION_LENGTH) for text in graph.mentions]
        anchors = [format_anchor(text) for text in graph.anchors]
        n, labels = len(mentions), [*mentions, *anchors]
        height = max(n, 1) * _ROW
        rows = np.array([(i + 0.5) * _ROW for i in range(n)])
        wanted = [
            float(np.mean(rows[np.array(graph.anchor_of) == n + i])) for i in range(len(anchors))
        ]
        order = sorted(range(len(anchors)), key=wanted.__getitem__)
        tops = place_blocks([wanted[i] for i in order], [_ROW] * len(anchors), 0, height)
        places = dict(zip(order, tops, strict=True))
        # downwards from 0
        ys = [*rows.tolist(), *(places[i] + _ROW / 2 for i in range(len(anchors)))]

        widths = [
            max((measure(text, SMALL_SIZE) for text in texts), default=0.0)
            for texts in (anchors, mentions)
        ]
        arcs = [_BULGE * (max(of) - min(of)) if of else 0.0 for of in (ys[n:], ys[:n])]
        left = arcs[0] / 2 + 0.15 if anchors else 0.0
        second = left + widths[0] + _GAP if anchors else 0.0
        columns = [(second, second + widths[1])] * n + [(left, left + widths[0])] * len(anchors)

        counts = Counter((edge.status, edge.relation) for edge in graph.edges)
        kinds = [
            (status, relation)
            for status in LOOKS
            for relation in COLOURS
            if counts[status, relation]
        ]
        keys = [f"{counts[status, relation]:,} {relation}, {status}" for status, relation in kinds]
        legend = (len(keys) + 0.5) * _KEY_LINE
        key_widths = [_KEY_SAMPLE + measure(text, SMALL_SIZE) for text in keys]
        whole = second + widths[1] + arcs[1] / 2 + 0.15
        inner = max(_WIDTH, whole, *key_widths, measure(title, TITLE_SIZE))
        figure = page(inner, TITLE + height + legend)
        axes = strip(figure, "relations", draw_title(figure, title) - height, height)
        for status, relation, *ends in graph.edges:
            heights = [height - ys[node] for node in ends]
            are_mentions, bend = [node < n for node in ends], 0.0
            if are_mentions[0] != are_mentions[1]:
                x = [
                    columns[node][0] - _ASIDE if node < n else columns[node][1] + _ASIDE
                    for node in ends
                ]
            elif status != ENTAILED:
                x = [columns[node][0] + 3 * _CLEAR for node in ends]
                heights = [heights[0] - _CLEAR, heights[1] + _CLEAR]
            else:
                x = [
                    columns[node][1] + _ASIDE if are_mentions[0] else columns[node][0] - _ASIDE
                    for node in ends
                ]
                bend = (
                    _BULGE * (1 if are_mentions[0] else -1) * (-1 if heights[0] > heights[1] else 1)
                )
            _draw_relation(axes, status, relation, (x[0], heights[0]), (x[1], heights[1]), bend)
        for label, y, (x_left, _) in zip(labels, ys, columns, strict=True):
            write(axes, x_left, height - y, label, SMALL_SIZE, ha="left", zorder=4)
        if not labels:
            write(axes, 0, height / 2, "no relations", SMALL_SIZE, ha="left", style="italic")
        axes = strip(figure, "legend", MARGIN, legend)
        for number, (kind, text) in enumerate(zip(reversed(kinds), reversed(keys), strict=True)):
            y = (number + 0.5) * _KEY_LINE
            _draw_relation(axes, *kind, (0.0, y), (_KEY_SAMPLE - 0.1, y))
            write(axes, _KEY_SAMPLE, y, text, SMALL_SIZE, ha="left")
        return figure


def _draw_relation(
    axes: Axes,
    status: str,
    relation: str,
    start: tuple[float, float],
    end: tuple[float, float],
    bend: float = 0.0,
) -> None:
    """Draw a relation; BEFORE has an arrowhead at the later end."""
    look = {"color": COLOURS[relation], **LOOKS[status], "label": f"{status}: {relation}"}
    arrow(axes, start, end, bend=bend, head=relation == "BEFORE", **look)
