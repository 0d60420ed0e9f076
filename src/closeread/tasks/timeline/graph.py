"""The temporal graph of a timeline: the relations that it states, and those that follow from them.

Source: Minard et al. (2015), section 5 and Figure 2.

Conventions: relations are those of `closeread.tasks.timeline.kernels.timelines`; entries at position 0 have none.  An
entailed relation of two nodes follows from the order of the timeline, and is not stated; BEFORE is written with the
earlier node first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from closeread.tasks.timeline.explain import Kind
from closeread.tasks.timeline.kernels.order import precedes
from closeread.tasks.timeline.kernels.timelines import Entry, Side, build_side, list_mentions

EXPLICIT, REDUNDANT, CONTRADICTORY, ENTAILED = "explicit", "explicit, redundant", "explicit, contradictory", "entailed"
"""Kinds of relations: stated; stated, but entailed or excluded by relations stated earlier; only entailed."""


class Edge(NamedTuple):
    """A relation of two nodes.

    Attributes:
        status: `EXPLICIT`, `REDUNDANT`, `CONTRADICTORY` or `ENTAILED`.
        relation: BEFORE or SIMULTANEOUS.
        one, other: the numbers of its nodes.
    """

    status: str
    relation: Kind
    one: int
    other: int


class Graph(NamedTuple):
    """The relations of a timeline.

    Attributes:
        mentions: the texts of its mentions in order; they are the first nodes.
        anchors: its anchors in order of first appearance; they are the other nodes.
        anchor_of: for each mention, the node of its anchor; empty without anchors.
        edges: the relations: those to anchors, those of neighbours, then those entailed.
    """

    mentions: Sequence[str]
    anchors: Sequence[str]
    anchor_of: Sequence[int]
    edges: Sequence[Edge]

    def count(self, status: str) -> int:
        """Count the relations of one status."""
        return sum(edge.status == status for edge in self.edges)


def build_graph(entries: Sequence[Entry], track: str = "full") -> Graph:
    """Build the graph of a timeline; its size is quadratic in the number of mentions.

    Args:
        entries: the entries, in any order.
        track: one of `closeread.tasks.timeline.kernels.timelines.TRACKS`; without anchors if it is "ordering".
    """
    side = build_side(list_mentions(entries), track)
    n = len(side.copies)
    anchor_of = (n + side.at).tolist() if side.anchors else []
    stated = [Edge(EXPLICIT, "SIMULTANEOUS", mention, anchor) for mention, anchor in enumerate(anchor_of)]
    stated += _list_steps(side)
    edges = [*stated, *_find_entailed(side, {frozenset((edge.one, edge.other)) for edge in stated})]
    return Graph([mention for mention, _ in side.copies], list(side.anchors), anchor_of, edges)


def _list_steps(side: Side) -> Iterator[Edge]:
    """Yield the relations of neighbours."""
    columns = (side.later.tolist(), side.joins.tolist(), side.contradicts.tolist())
    for i, (later, joins, contradicts) in enumerate(zip(*columns, strict=True)):
        status = CONTRADICTORY if contradicts else EXPLICIT if joins else REDUNDANT
        yield Edge(status, "BEFORE" if later else "SIMULTANEOUS", i, i + 1)


def _find_entailed(side: Side, stated: set[frozenset[int]]) -> Iterator[Edge]:
    """Yield the relations that follow between two nodes, of which none is stated."""
    at = np.append(side.at, np.arange(len(side.anchors)))
    pairs = np.array(
        [(i, j) for i in range(len(at)) for j in range(i + 1, len(at)) if frozenset((i, j)) not in stated], np.int64
    ).reshape(-1, 2)
    if not len(pairs):
        return
    one, other = at[pairs].T
    same = side.order.group[one] == side.order.group[other]
    columns = (same, precedes(side.order, one, other), precedes(side.order, other, one))
    for (i, j), together, earlier, later in zip(pairs.tolist(), *(column.tolist() for column in columns), strict=True):
        if together:
            yield Edge(ENTAILED, "SIMULTANEOUS", i, j)
        elif earlier or later:
            yield Edge(ENTAILED, "BEFORE", *((i, j) if earlier else (j, i)))
