"""What temporal relations between intervals entail, by the order of their end points.

Sources: Allen (1983), the thirteen relations of two intervals; Vilain and Kautz (1986), their end points; UzZaman and
Allen (2011) and UzZaman et al. (2013), relations that are taken in one after the other.

Every relation says of some end points that one is before the other or that they are equal.  Of such statements, as long
as they don't contradict each other, nothing follows but what a walk shows: points are equal that a chain of
equalities joins, and a point is before another that a chain with an earlier one in it leads to.  So the graph has an
arc for `<`, two for `=`, and all that has to be known is who reaches whom.

Conventions: intervals are numbered from 0 and begin before they end; interval i begins at point 2 i and ends at point
2 i + 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import isqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
"""A row of bits for each point of a batch: whether it reaches the first 64 of them, the next 64, and so on."""

Verdict = Literal["new", "entailed", "contradictory"]
"""What a relation is beside those that came before: it says more, it says nothing more, or it can't be."""

FIRST_BEGINS, FIRST_ENDS, SECOND_BEGINS, SECOND_ENDS = range(4)

KINDS: dict[str, tuple[tuple[int, int, bool], ...]] = {
    "before": ((FIRST_ENDS, SECOND_BEGINS, False),),
    "meets": ((FIRST_ENDS, SECOND_BEGINS, True),),
    "overlaps": (
        (FIRST_BEGINS, SECOND_BEGINS, False),
        (SECOND_BEGINS, FIRST_ENDS, False),
        (FIRST_ENDS, SECOND_ENDS, False),
    ),
    "starts": ((FIRST_BEGINS, SECOND_BEGINS, True), (FIRST_ENDS, SECOND_ENDS, False)),
    "during": ((SECOND_BEGINS, FIRST_BEGINS, False), (FIRST_ENDS, SECOND_ENDS, False)),
    "finishes": ((SECOND_BEGINS, FIRST_BEGINS, False), (FIRST_ENDS, SECOND_ENDS, True)),
    "equals": ((FIRST_BEGINS, SECOND_BEGINS, True), (FIRST_ENDS, SECOND_ENDS, True)),
}
"""Allen's relations but for their inverses: which points are equal (True), or one before the other (False)."""

TYPES: dict[str, tuple[str, bool]] = {
    "BEFORE": ("before", False),
    "AFTER": ("before", True),
    "IBEFORE": ("meets", False),
    "IAFTER": ("meets", True),
    "INCLUDES": ("during", True),
    "IS_INCLUDED": ("during", False),
    "BEGINS": ("starts", False),
    "BEGUN_BY": ("starts", True),
    "ENDS": ("finishes", False),
    "ENDED_BY": ("finishes", True),
    "SIMULTANEOUS": ("equals", False),
    "IDENTITY": ("equals", False),
    "DURING": ("equals", False),
    "DURING_INV": ("equals", False),
}
"""TimeML's relation types: Allen's relation, and whether the two intervals have to change places for it."""

DURINGS: dict[str, dict[str, tuple[str, bool]]] = {
    "simultaneous": {},
    "overlaps": {"DURING": ("overlaps", False), "DURING_INV": ("overlaps", True)},
}
"""What is different in `TYPES` for what DURING may be taken to mean: its guidelines leave that open."""

ADDED = 512
"""How many relations at least are taken in at a time."""

ASKED = 1024
"""How many relations are asked about at a time: more would only need more memory."""


class Relation(NamedTuple):
    """A relation of two intervals.

    Attributes:
        first, second: the intervals.
        kind: one of `KINDS`.
    """

    first: int
    second: int
    kind: str


def relation(first: int, second: int, name: str, during: str = "simultaneous") -> Relation:
    """The relation that a TimeML type is: one and the same for a type and for its inverse between the two swapped.

    Args:
        first, second: the intervals.
        name: the type, one of `TYPES`.
        during: one of `DURINGS`.

    >>> relation(0, 1, "AFTER")
    Relation(first=1, second=0, kind='before')
    """
    kind, swapped = DURINGS[during].get(name, TYPES[name])
    if swapped or (kind == "equals" and first > second):
        first, second = second, first
    return Relation(first, second, kind)


class Order(NamedTuple):
    """The order of the points of a graph, equal points as one.

    Attributes:
        roots: for every point, the one that stands for all that are equal to it.
        later: for every point that stands for others, those that come after it by an arc.
        sequence: the points that stand for others, each before those that come after it.
    """

    roots: list[int]
    later: list[list[int]]
    sequence: list[int]


class PointGraph:
    """A consistent set of relations, which takes in others one after the other.

    Relations come in batches.  For each batch one pass over the graph, in topological order, tells which of the batch's
    points reach which; within it those few points are kept closed, with a row of bits for each.  That is
    O(relations / batch x graph + relations x batch^2 / 64) time, and the memory is that of a row for every point.

    Args:
        n_intervals: how many intervals there are.
    """

    def __init__(self, n_intervals: int) -> None:
        self._equal_to = list(range(2 * n_intervals))  # a point's parent in the forest of equal points
        self._arcs = [(2 * i, 2 * i + 1) for i in range(n_intervals)]

    def add(self, relations: Sequence[Relation]) -> list[Verdict]:
        """Take in relations in their order; one that contradicts what is there by then stays out.

        Returns:
            What each was when it came.
        """
        verdicts: list[Verdict] = []
        for batch in _batches(relations, max(ADDED, 4 * isqrt(len(relations)))):
            bits = _bits(batch)
            rows = _reach(self._order(), bits)
            verdicts += [self._settle(one, bits, rows) for one in batch]
        return verdicts

    def entails(self, relations: Sequence[Relation]) -> list[bool]:
        """Which relations follow from what was taken in."""
        order = self._order()
        found: list[bool] = []
        for batch in _batches(relations, ASKED):
            bits = _bits(batch)
            rows = _reach(order, bits)
            found += [_verdict(one, bits, rows) == "entailed" for one in batch]
        return found

    def _settle(self, one: Relation, bits: dict[int, int], rows: Bits) -> Verdict:
        """Judge a relation, and take it in if it is new."""
        verdict = _verdict(one, bits, rows)
        if verdict == "new":  # where each of its statements agrees with the graph, all of them together do
            for left, right, equal in _points(one):
                _join(rows, bits[left], bits[right])
                if equal:
                    _join(rows, bits[right], bits[left])
                    self._equal_to[self._root(left)] = self._root(right)
                else:
                    self._arcs.append((left, right))
        return verdict

    def _root(self, point: int) -> int:
        """The point that stands for all that are equal to this one."""
        parent = self._equal_to
        while parent[point] != point:
            parent[point] = parent[parent[point]]
            point = parent[point]
        return point

    def _order(self) -> Order:
        """The order as it is now."""
        roots = [self._root(point) for point in range(len(self._equal_to))]
        later: list[list[int]] = [[] for _ in roots]
        waits = [0] * len(roots)
        for left, right in self._arcs:
            later[roots[left]].append(roots[right])
            waits[roots[right]] += 1
        sequence = [point for point, root in enumerate(roots) if point == root and not waits[point]]
        for point in sequence:  # grows by the points that wait for nothing any more
            for other in later[point]:
                waits[other] -= 1
                if not waits[other]:
                    sequence.append(other)
        return Order(roots, later, sequence)


def _reach(order: Order, bits: dict[int, int]) -> Bits:
    """For each point of a batch, by its bit, the bits of those that are equal to it or after it."""
    reached = [0] * len(order.roots)
    for point, bit in bits.items():
        reached[order.roots[point]] |= 1 << bit
    for point in reversed(order.sequence):
        row = reached[point]
        for other in order.later[point]:
            row |= reached[other]
        reached[point] = row
    width = -(-len(bits) // 64)
    rows = b"".join(reached[order.roots[point]].to_bytes(8 * width, "little") for point in bits)
    return np.frombuffer(rows, "<u8").reshape(-1, width).astype(np.uint64)


def _batches(relations: Sequence[Relation], size: int) -> Iterator[Sequence[Relation]]:
    """The relations in their order, so many at a time."""
    for start in range(0, len(relations), size):
        yield relations[start : start + size]


def _bits(batch: Sequence[Relation]) -> dict[int, int]:
    """The points of a batch's intervals, numbered from 0."""
    intervals = dict.fromkeys(chain.from_iterable((one.first, one.second) for one in batch))
    return {2 * interval + end: 2 * i + end for i, interval in enumerate(intervals) for end in (0, 1)}


def _points(one: Relation) -> Iterator[tuple[int, int, bool]]:
    """What a relation says of its points: which is before which, or (True) equal to which."""
    points = (2 * one.first, 2 * one.first + 1, 2 * one.second, 2 * one.second + 1)
    for left, right, equal in KINDS[one.kind]:
        yield points[left], points[right], equal


def _verdict(one: Relation, bits: dict[int, int], rows: Bits) -> Verdict:
    """What a relation is, given who reaches whom."""
    is_known = True
    for left, right, equal in _points(one):
        u, v = bits[left], bits[right]
        forth, back = _reaches(rows, u, v), _reaches(rows, v, u)
        if (forth != back) if equal else back:
            return "contradictory"
        is_known &= forth
    return "entailed" if is_known else "new"


def _reaches(rows: Bits, left: int, right: int) -> bool:
    return bool(rows.item(left, right >> 6) >> (right & 63) & 1)


def _join(rows: Bits, left: int, right: int) -> None:
    """Let a point, and all that reach it, reach another and all that it reaches."""
    if not _reaches(rows, left, right):
        rows[(rows[:, left >> 6] >> np.uint64(left & 63) & np.uint64(1)).astype(np.bool_)] |= rows[right]
