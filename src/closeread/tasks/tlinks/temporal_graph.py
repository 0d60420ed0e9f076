"""Inference over temporal relations between intervals, by the order of their end points.

Sources: Allen (1983), the thirteen relations of two intervals; Vilain and Kautz (1986), end points; UzZaman and Allen
(2011) and UzZaman et al. (2013), adding relations one after the other.

Every relation states that some end points are equal or that one is before the other.  As long as such statements are
consistent, inference is reachability: points are equal if a chain of equalities connects them, and a point is before
another if a chain with at least one `<` leads to it.  So the graph has one arc for `<` and two for `=`.

Conventions: intervals are numbered from 0 and begin before they end; interval i begins at point 2 i and ends at point
2 i + 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Literal, NamedTuple

from closeread.arrays import LimitError

Verdict = Literal["new", "entailed", "contradictory"]
"""Compared with earlier relations, a relation is new information, redundant, or impossible."""

KINDS = {
    "before": ["A < b"],
    "meets": ["A = b"],
    "overlaps": ["a < b", "b < A", "A < B"],
    "starts": ["a = b", "A < B"],
    "during": ["b < a", "A < B"],
    "finishes": ["b < a", "A = B"],
    "equals": ["a = b", "A = B"],
}
"""Allen's relations without their inverses, as statements about end points.

The first interval begins at `a` and ends at `A`, the second begins at `b` and ends at `B`.
"""

TYPES = {
    "BEFORE": "before",
    "AFTER": "before",
    "IBEFORE": "meets",
    "IAFTER": "meets",
    "INCLUDES": "during",
    "IS_INCLUDED": "during",
    "BEGINS": "starts",
    "BEGUN_BY": "starts",
    "ENDS": "finishes",
    "ENDED_BY": "finishes",
    "SIMULTANEOUS": "equals",
    "IDENTITY": "equals",
    "DURING": "equals",
    "DURING_INV": "equals",
}
"""TimeML's relation types as Allen's relations or their inverses."""

INVERSES = {"AFTER", "IAFTER", "INCLUDES", "BEGUN_BY", "ENDED_BY", "DURING_INV"}
"""The types that relate the second interval to the first."""

DURINGS = {
    "simultaneous": TYPES,
    "overlaps": TYPES | {"DURING": "overlaps", "DURING_INV": "overlaps"},
}
"""The types for the possible readings of DURING, which the guidelines leave open."""

MIN_ADDED_PER_BATCH = 256
"""The least number of relations that are added after one pass over the graph, unless there are fewer."""

TESTED_PER_BATCH = 1024
"""How many relations are tested after one pass over the graph.

They may be more than those that are added, since nothing is updated for them.
"""

MAX_WORK = 400_000_000
"""The most relations that need inference, those between intervals that others connect already, times the number of
intervals: inference takes time in proportion to it."""


class Relation(NamedTuple):
    """A relation between two intervals, of one of `KINDS`."""

    first: int
    second: int
    kind: str


def make_relation(first: int, second: int, name: str, during: str = "simultaneous") -> Relation:
    """Return the relation for a TimeML type; a type and its inverse with swapped intervals give the same relation.

    >>> make_relation(0, 1, "AFTER")
    Relation(first=1, second=0, kind='before')
    """
    kind = DURINGS[during][name]
    # Intervals that are equal are so in both directions.
    is_swapped = first > second if kind == "equals" else name in INVERSES
    if is_swapped:
        return Relation(second, first, kind)
    return Relation(first, second, kind)


Statement = tuple[int, int, bool]
"""Two points, and whether they are equal; otherwise the first one is before the second one."""


def _parse_statement(text: str) -> Statement:
    """Read a statement of `KINDS`; its points are numbered in the order a, A, b, B."""
    first, sign, second = text.split()
    return "aAbB".index(first), "aAbB".index(second), sign == "="


STATEMENTS = {kind: list(map(_parse_statement, texts)) for kind, texts in KINDS.items()}


def find_statements(relation: Relation) -> Iterator[Statement]:
    """Find the statements of a relation about its end points.

    >>> list(find_statements(Relation(0, 1, "starts")))
    [(0, 2, True), (1, 3, False)]
    """
    begin = 2 * relation.first
    other_begin = 2 * relation.second
    points = (begin, begin + 1, other_begin, other_begin + 1)
    for first, second, is_equality in STATEMENTS[relation.kind]:
        yield points[first], points[second], is_equality


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

    def join(self, first: int, second: int) -> None:
        """Join the parts of two numbers; the second one's representative is that of all."""
        self._parent[self.find_root(first)] = self.find_root(second)


@dataclass
class Closure:
    """Which end points of a batch of relations reach which, along arcs to equal and to later points.

    Attributes:
        bits: a bit for each point.
        reached: for each point, the bits of the points that it reaches, and its own.
    """

    bits: dict[int, int]
    reached: dict[int, int]

    def judge(self, relation: Relation) -> Verdict:
        """Return the verdict on a relation.

        Equal points reach each other; if only one reaches the other, it is before it.
        """
        bits = self.bits
        reached = self.reached
        is_entailed = True
        for first, second, is_equality in find_statements(relation):
            is_forth = reached[first] & bits[second] != 0
            is_back = reached[second] & bits[first] != 0
            is_impossible = is_forth != is_back if is_equality else is_back
            if is_impossible:
                return "contradictory"
            is_entailed &= is_forth
        return "entailed" if is_entailed else "new"

    def add(self, relation: Relation) -> None:
        """Add a new relation: if each of its statements is consistent, all of them together are."""
        for first, second, is_equality in find_statements(relation):
            self._connect(first, second)
            if is_equality:
                self._connect(second, first)

    def _connect(self, start: int, end: int) -> None:
        """Let a point, and all points that reach it, reach another point and all points that it reaches."""
        reached = self.reached
        if reached[start] & self.bits[end]:
            return
        bit = self.bits[start]
        new_bits = reached[end]
        for point, bits in reached.items():
            if bits & bit:
                reached[point] = bits | new_bits


class PointGraph:
    """A consistent set of relations, to which others are added one after the other.

    A relation between intervals that no chain of relations connects is new, whatever it is, and adds nothing to what is
    known of intervals that are connected: the intervals on one side of it can be moved and stretched until it holds.
    So such relations are added first, without inference.

    The others are added in batches.  For each batch, one pass over the graph in topological order computes the closure:
    which points of the batch reach which.  Then it is updated with each relation that is new.  This takes
    O(relations / batch x graph + relations x batch^2 / 64) time, and memory for one mask per point.
    """

    def __init__(self, n_intervals: int) -> None:
        self._n_intervals = n_intervals
        self._connected = Forest(n_intervals)
        self._equal = Forest(2 * n_intervals)
        self._arcs = [(2 * interval, 2 * interval + 1) for interval in range(n_intervals)]

    def add(self, relations: Iterable[Relation]) -> dict[Relation, Verdict]:
        """Add distinct relations in order, except those that contradict earlier ones; return the verdict on each."""
        verdicts: dict[Relation, Verdict] = dict.fromkeys(relations, "new")
        inferred = []
        for relation in verdicts:
            if self._is_connected(relation):
                inferred.append(relation)
            else:
                self._connected.join(relation.first, relation.second)
                self._add_arcs(relation)
        # Larger batches need fewer passes, but updating their closures takes longer.  Batches that grow with the square
        # root of the number of relations take about as long for one as for the other.
        size = max(MIN_ADDED_PER_BATCH, 4 * isqrt(len(inferred)))
        for batch in self._split(inferred, size):
            closure = self._compute_closure(batch)
            for relation in batch:
                verdicts[relation] = closure.judge(relation)
                if verdicts[relation] == "new":
                    closure.add(relation)
                    self._add_arcs(relation)
        return verdicts

    def select_entailed(self, relations: Sequence[Relation]) -> list[Relation]:
        """Select the relations that follow from those that were added."""
        entailed = []
        inferred = [relation for relation in relations if self._is_connected(relation)]
        for batch in self._split(inferred, TESTED_PER_BATCH):
            closure = self._compute_closure(batch)
            entailed += [relation for relation in batch if closure.judge(relation) == "entailed"]
        return entailed

    def _is_connected(self, relation: Relation) -> bool:
        """Tell whether a relation is between intervals that others connect."""
        find_root = self._connected.find_root
        return find_root(relation.first) == find_root(relation.second)

    def _add_arcs(self, relation: Relation) -> None:
        for first, second, is_equality in find_statements(relation):
            if is_equality:
                self._equal.join(first, second)
            else:
                self._arcs.append((first, second))

    def _split(self, inferred: Sequence[Relation], size: int) -> list[Sequence[Relation]]:
        """Split the relations that need inference into batches; there must not be too many."""
        limit = MAX_WORK // max(self._n_intervals, 1)
        if len(inferred) > limit:
            noun = f"links that need inference, with {self._n_intervals:,} events and times"
            raise LimitError(0, len(inferred), noun, limit)
        return [inferred[start : start + size] for start in range(0, len(inferred), size)]

    def _compute_closure(self, relations: Sequence[Relation]) -> Closure:
        """Find out which end points of relations reach which; equal points are one point of the graph, their root."""
        roots = list(map(self._equal.find_root, range(2 * self._n_intervals)))
        later: list[list[int]] = [[] for _ in roots]
        for first, second in self._arcs:
            later[roots[first]].append(roots[second])
        bits: dict[int, int] = {}
        reached = [0] * len(roots)
        for relation in relations:
            for first, second, _ in find_statements(relation):
                for point in (first, second):
                    if point not in bits:
                        bits[point] = 1 << len(bits)
                        reached[roots[point]] |= bits[point]
        for point in reversed(_sort_topologically(later)):
            for later_point in later[point]:
                reached[point] |= reached[later_point]
        return Closure(bits, {point: reached[roots[point]] for point in bits})


def _sort_topologically(later: Sequence[Sequence[int]]) -> list[int]:
    """Order the points of a graph without cycles so that each comes before those that it leads to.

    Points without arcs are left out.
    """
    n_waited_for = [0] * len(later)
    for later_points in later:
        for point in later_points:
            n_waited_for[point] += 1
    ordered = [
        point
        for point, later_points in enumerate(later)
        if later_points and n_waited_for[point] == 0
    ]
    # Points are appended while the list is read.
    for point in ordered:
        for later_point in later[point]:
            n_waited_for[later_point] -= 1
            if n_waited_for[later_point] == 0:
                ordered.append(later_point)
    return ordered
