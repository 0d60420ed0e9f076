"""Inference over temporal relations between intervals, by the order of their end points, and matching of intervals.

Sources: Allen (1983), the thirteen relations of two intervals; Vilain and Kautz (1986), end points; UzZaman and Allen
(2011) and UzZaman et al. (2013), adding relations one after the other; a strict match requires equal extents, a relaxed
match overlapping extents.

Every relation states that some end points are equal or that one is before the other.  As long as such statements are
consistent, inference is reachability: points are equal if a chain of equalities connects them, and a point is before
another if a chain with at least one `<` leads to it.  So the graph has one arc for `<` and two for `=`.

Conventions: intervals are numbered from 0 and begin before they end; interval i begins at point 2 i and ends at point
2 i + 1.  Only extents of the same kind match; ends are exclusive.  Matching is one to one and symmetric.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from math import isqrt
from typing import Literal, NamedTuple

from closeread.arrays import LimitError

Bits = dict[int, int]  # a mask for each point of a batch

Verdict = Literal["new", "entailed", "contradictory"]
"""Compared with earlier relations, a relation is new information, redundant, or impossible."""

_POINTS = "aAbB"  # where the first interval begins and ends, and the second
KINDS = {
    kind: tuple(
        (_POINTS.index(one[0]), _POINTS.index(one[2]), one[1] == "=") for one in statements.split()
    )
    for kind, statements in {
        "before": "A<b",
        "meets": "A=b",
        "overlaps": "a<b b<A A<B",
        "starts": "a=b A<B",
        "during": "b<a A<B",
        "finishes": "b<a A=B",
        "equals": "a=b A=B",
    }.items()
}
"""Allen's relations without their inverses: pairs of points that are equal (True) or ordered (False)."""

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
"""TimeML's relation types: Allen's relation, and whether to swap the two intervals."""

DURINGS: dict[str, dict[str, tuple[str, bool]]] = {
    "simultaneous": {},
    "overlaps": {"DURING": ("overlaps", False), "DURING_INV": ("overlaps", True)},
}
"""Changes to `TYPES` for the possible readings of DURING, which the guidelines leave open."""

ADDED, ASKED = 256, 1024
"""The minimal number of relations that are added in one batch, and the number of those that are tested in one."""

MAX_WORK = 400_000_000
"""The most relations that need inference, those between intervals that others connect already, times the number of
intervals: inference takes time in proportion to it."""


class Relation(NamedTuple):
    """A relation between two intervals, of one of `KINDS`."""

    first: int
    second: int
    kind: str


def relation(first: int, second: int, name: str, during: str = "simultaneous") -> Relation:
    """Return the relation for a TimeML type; a type and its inverse with swapped intervals give the same relation.

    >>> relation(0, 1, "AFTER")
    Relation(first=1, second=0, kind='before')
    """
    kind, swapped = DURINGS[during].get(name, TYPES[name])
    if swapped or (kind == "equals" and first > second):
        first, second = second, first
    return Relation(first, second, kind)


class Forest:
    """A partition of the numbers from 0 to n - 1, whose parts can be joined."""

    def __init__(self, n: int) -> None:
        self._parent = list(range(n))

    def find_root(self, number: int) -> int:
        """Find the representative of all numbers of the same part."""
        parent = self._parent
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    def join(self, one: int, other: int) -> None:
        """Join the parts of two numbers; the second one's representative is that of all."""
        self._parent[self.find_root(one)] = self.find_root(other)


class PointGraph:
    """A consistent set of relations, to which others are added one after the other.

    A relation between intervals that no chain of relations connects is new, whatever it is, and adds nothing to what is
    known of intervals that are connected: the intervals on one side of it can be moved and stretched until it holds.
    So such relations are added first, without inference.

    The others are added in batches.  For each batch, one pass over the graph in topological order computes which points
    of the batch reach which; within the batch, this closure is updated in masks.  This takes
    O(relations / batch x graph + relations x batch^2 / 64) time, and memory for one mask per point.
    """

    def __init__(self, n_intervals: int) -> None:
        self._n_intervals = n_intervals
        self._connected = Forest(n_intervals)
        self._equal = Forest(2 * n_intervals)
        self._arcs = [(2 * i, 2 * i + 1) for i in range(n_intervals)]

    def add(self, relations: Sequence[Relation]) -> list[Verdict]:
        """Add relations in order, except those that contradict earlier ones; return the verdict on each."""
        verdicts: list[Verdict] = ["new"] * len(relations)
        inferred = []
        for i, one in enumerate(relations):
            if self._connects(one):
                inferred.append(i)
            else:
                self._connected.join(one.first, one.second)
                for statement in _find_statements(one):
                    self._state(*statement)
        for batch in self._split(inferred, max(ADDED, 4 * isqrt(len(inferred)))):
            bits, rows = self._compute_reach([relations[i] for i in batch])
            for i in batch:
                verdicts[i] = _judge(relations[i], bits, rows)
                # if each of its statements is consistent, all of them together are
                if verdicts[i] == "new":
                    for left, right, equal in _find_statements(relations[i]):
                        _connect(bits, rows, left, right)
                        if equal:
                            _connect(bits, rows, right, left)
                        self._state(left, right, equal)
        return verdicts

    def entails(self, relations: Sequence[Relation]) -> list[bool]:
        """Test which relations follow from those that were added."""
        found = [False] * len(relations)
        for batch in self._split(
            [i for i, one in enumerate(relations) if self._connects(one)], ASKED
        ):
            bits, rows = self._compute_reach([relations[i] for i in batch])
            for i in batch:
                found[i] = _judge(relations[i], bits, rows) == "entailed"
        return found

    def _split(self, inferred: Sequence[int], size: int) -> list[Sequence[int]]:
        """Split the relations that need inference into batches; there must not be too many."""
        limit = MAX_WORK // max(self._n_intervals, 1)
        if len(inferred) > limit:
            noun = f"links that need inference, with {self._n_intervals:,} events and times"
            raise LimitError(0, len(inferred), noun, limit)
        return [inferred[start : start + size] for start in range(0, len(inferred), size)]

    def _connects(self, one: Relation) -> bool:
        """Return whether a relation is between intervals that others connect."""
        return self._connected.find_root(one.first) == self._connected.find_root(one.second)

    def _state(self, left: int, right: int, equal: bool) -> None:
        """Add a statement about two points."""
        if equal:
            self._equal.join(left, right)
        else:
            self._arcs.append((left, right))

    def _compute_reach(self, batch: Collection[Relation]) -> tuple[Bits, Bits]:
        """Return a bit for each point of a batch, and the bits of the points that are equal to it or after it."""
        intervals = dict.fromkeys(interval for one in batch for interval in (one.first, one.second))
        points = [2 * interval + end for interval in intervals for end in (0, 1)]
        bits = {point: 1 << i for i, point in enumerate(points)}
        roots = [self._equal.find_root(point) for point in range(2 * self._n_intervals)]
        later: list[list[int]] = [[] for _ in roots]
        waits = [0] * len(roots)
        for left, right in self._arcs:
            later[roots[left]].append(roots[right])
            waits[roots[right]] += 1
        sequence = [point for point, root in enumerate(roots) if point == root and not waits[point]]
        for point in sequence:  # in topological order; grows while it is iterated
            for other in later[point]:
                waits[other] -= 1
                if not waits[other]:
                    sequence.append(other)
        reached = [0] * len(roots)
        for point, bit in bits.items():
            reached[roots[point]] |= bit
        for point in reversed(sequence):
            for other in later[point]:
                reached[point] |= reached[other]
        return bits, {point: reached[roots[point]] for point in points}


def _find_statements(one: Relation) -> Iterator[tuple[int, int, bool]]:
    """Yield the statements of a relation about its points: left, right, and True for equal or False for before."""
    points = (2 * one.first, 2 * one.first + 1, 2 * one.second, 2 * one.second + 1)
    for left, right, equal in KINDS[one.kind]:
        yield points[left], points[right], equal


def _judge(one: Relation, bits: Bits, rows: Bits) -> Verdict:
    """Return the verdict on a relation, given which points reach which."""
    is_known = True
    for left, right, equal in _find_statements(one):
        forth, back = rows[left] & bits[right] != 0, rows[right] & bits[left] != 0
        if (forth != back) if equal else back:
            return "contradictory"
        is_known &= forth
    return "entailed" if is_known else "new"


def _connect(bits: Bits, rows: Bits, left: int, right: int) -> None:
    """Connect a point, and all points that reach it, to another point and all points that it reaches."""
    bit, new = bits[left], rows[right]
    if not rows[left] & bits[right]:
        rows.update([(point, row | new) for point, row in rows.items() if row & bit])


class Extent(NamedTuple):
    """A text span: its type of annotation and its character offsets, the end exclusive."""

    kind: str
    start: int
    end: int


EXTENT_MATCHINGS = ("strict", "relaxed")


def match_extents(
    gold: Sequence[Extent], system: Sequence[Extent], matching: str
) -> list[tuple[int, int]]:
    """Match extents of gold and system; return pairs of indices.

    The k-th copy of an extent in gold matches the k-th copy in the system.  If `matching` is "relaxed", the remaining
    extents are matched greedily from left to right with the next one that overlaps.
    """
    places: dict[Extent, deque[int]] = defaultdict(deque)
    for i, extent in enumerate(gold):
        places[extent].append(i)
    pairs = [(places[extent].popleft(), j) for j, extent in enumerate(system) if places.get(extent)]
    if matching == "relaxed":
        matched = {i for i, _ in pairs}, {j for _, j in pairs}
        left, right = (
            _group_by_kind(side, taken) for side, taken in zip((gold, system), matched, strict=True)
        )
        for kind in left.keys() & right.keys():
            pairs += _match_overlaps(gold, system, left[kind], right[kind])
    return sorted(pairs)


def _group_by_kind(extents: Sequence[Extent], taken: Collection[int]) -> dict[str, list[int]]:
    """Group the other indices by kind, in text order; empty extents overlap nothing and are left out."""
    by_kind: dict[str, list[int]] = defaultdict(list)
    for place in sorted(range(len(extents)), key=extents.__getitem__):
        if place not in taken and extents[place].start < extents[place].end:
            by_kind[extents[place].kind].append(place)
    return by_kind


def _match_overlaps(
    gold: Sequence[Extent], system: Sequence[Extent], left: Sequence[int], right: Sequence[int]
) -> list[tuple[int, int]]:
    pairs = []
    i = j = 0
    while i < len(left) and j < len(right):
        own, other = gold[left[i]], system[right[j]]
        if own.end <= other.start:
            i += 1
        elif other.end <= own.start:
            j += 1
        else:
            pairs.append((left[i], right[j]))
            i, j = i + 1, j + 1
    return pairs
