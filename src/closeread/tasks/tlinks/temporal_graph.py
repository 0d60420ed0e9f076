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
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
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

RELATIONS_PER_BATCH = 512
"""How many relations are added or tested after one pass over the graph.

With more of them, there are fewer passes, but the closure of a batch takes longer to update.
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
    kind, is_inverse = DURINGS[during].get(name, TYPES[name])
    # Two intervals that are equal are so in both directions.
    if is_inverse or (kind == "equals" and first > second):
        return Relation(second, first, kind)
    return Relation(first, second, kind)


class Statement(NamedTuple):
    """A statement about two points: they are equal, or the first one is before the second one."""

    first: int
    second: int
    is_equality: bool


def list_statements(relation: Relation) -> list[Statement]:
    """List the statements of a relation about its end points.

    >>> list_statements(Relation(0, 1, "starts"))
    [Statement(first=0, second=2, is_equality=True), Statement(first=1, second=3, is_equality=False)]
    """
    points = {
        "a": 2 * relation.first,
        "A": 2 * relation.first + 1,
        "b": 2 * relation.second,
        "B": 2 * relation.second + 1,
    }
    statements = []
    for text in KINDS[relation.kind]:
        first, sign, second = text.split()
        statements.append(Statement(points[first], points[second], sign == "="))
    return statements


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
    """Which points of a batch of relations reach which, by arcs from a point to an equal or a later one.

    Attributes:
        bits: a bit for each point.
        reached: the bits of the points that a point reaches, itself included, for each point.
    """

    bits: dict[int, int]
    reached: dict[int, int]

    def judge(self, relation: Relation) -> Verdict:
        """Return the verdict on a relation.

        `x = y` follows if the points reach each other, and is impossible if only one reaches the other, since then
        there is a `<` between them.  `x < y` follows if x reaches y, and is impossible if y reaches x.
        """
        is_known = True
        for first, second, is_equality in list_statements(relation):
            is_forth = self._reaches(first, second)
            is_back = self._reaches(second, first)
            is_impossible = is_forth != is_back if is_equality else is_back
            if is_impossible:
                return "contradictory"
            is_known = is_known and is_forth
        return "entailed" if is_known else "new"

    def add(self, statement: Statement) -> None:
        """Add a statement that is not impossible."""
        self._connect(statement.first, statement.second)
        if statement.is_equality:
            self._connect(statement.second, statement.first)

    def _reaches(self, start: int, end: int) -> bool:
        return self.reached[start] & self.bits[end] != 0

    def _connect(self, start: int, end: int) -> None:
        """Let a point, and all points that reach it, reach another point and all points that it reaches."""
        if self._reaches(start, end):
            return
        bit = self.bits[start]
        new_bits = self.reached[end]
        for point, bits in self.reached.items():
            if bits & bit:
                self.reached[point] = bits | new_bits


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
        self._arcs = [(2 * interval, 2 * interval + 1) for interval in range(n_intervals)]

    def add(self, relations: Sequence[Relation]) -> list[Verdict]:
        """Add relations in order, except those that contradict earlier ones; return the verdict on each."""
        verdicts: list[Verdict] = ["new"] * len(relations)
        inferred = []
        for index, relation in enumerate(relations):
            if self._connects(relation):
                inferred.append(index)
                continue
            self._connected.join(relation.first, relation.second)
            for statement in list_statements(relation):
                self._state(statement)
        for batch in self._split(inferred):
            closure = self._compute_closure(relations[index] for index in batch)
            for index in batch:
                verdicts[index] = closure.judge(relations[index])
                if verdicts[index] != "new":
                    continue
                # If each of its statements is consistent, all of them together are.
                for statement in list_statements(relations[index]):
                    closure.add(statement)
                    self._state(statement)
        return verdicts

    def entails(self, relations: Sequence[Relation]) -> list[bool]:
        """Test which relations follow from those that were added."""
        are_entailed = [False] * len(relations)
        connected = [i for i, relation in enumerate(relations) if self._connects(relation)]
        for batch in self._split(connected):
            closure = self._compute_closure(relations[index] for index in batch)
            for index in batch:
                are_entailed[index] = closure.judge(relations[index]) == "entailed"
        return are_entailed

    def _split(self, inferred: Sequence[int]) -> list[Sequence[int]]:
        """Split the relations that need inference into batches; there must not be too many."""
        limit = MAX_WORK // max(self._n_intervals, 1)
        if len(inferred) > limit:
            noun = f"links that need inference, with {self._n_intervals:,} events and times"
            raise LimitError(0, len(inferred), noun, limit)
        starts = range(0, len(inferred), RELATIONS_PER_BATCH)
        return [inferred[start : start + RELATIONS_PER_BATCH] for start in starts]

    def _connects(self, relation: Relation) -> bool:
        """Return whether a relation is between intervals that others connect."""
        find_root = self._connected.find_root
        return find_root(relation.first) == find_root(relation.second)

    def _state(self, statement: Statement) -> None:
        """Add a statement about two points."""
        first, second, is_equality = statement
        if is_equality:
            self._equal.join(first, second)
        else:
            self._arcs.append((first, second))

    def _compute_closure(self, relations: Iterable[Relation]) -> Closure:
        """Find out which of the points of relations reach which; equal points share what their root reaches."""
        find_root = self._equal.find_root
        bits: dict[int, int] = {}
        reached: dict[int, int] = defaultdict(int)
        for relation in relations:
            for interval in (relation.first, relation.second):
                for point in (2 * interval, 2 * interval + 1):
                    bits.setdefault(point, 1 << len(bits))
                    reached[find_root(point)] |= bits[point]
        later = defaultdict(list)
        last_first = TopologicalSorter[int]()
        for start, end in self._arcs:
            root = find_root(start)
            later_root = find_root(end)
            later[root].append(later_root)
            last_first.add(root, later_root)
        for root in last_first.static_order():
            for later_root in later[root]:
                reached[root] |= reached[later_root]
        return Closure(bits, {point: reached[find_root(point)] for point in bits})


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
    copies: dict[Extent, deque[int]] = defaultdict(deque)
    for index, extent in enumerate(gold):
        copies[extent].append(index)
    pairs = []
    for index, extent in enumerate(system):
        if copies[extent]:
            pairs.append((copies[extent].popleft(), index))
    if matching == "relaxed":
        unmatched = _sort_unmatched(gold, {gold_index for gold_index, _ in pairs})
        unmatched_system = _sort_unmatched(system, {index for _, index in pairs})
        pairs += _match_overlaps(gold, system, unmatched, unmatched_system)
    return sorted(pairs)


def _sort_unmatched(extents: Sequence[Extent], matched: Collection[int]) -> deque[int]:
    """Return the other indices by kind, then in text order; empty extents overlap nothing and are left out."""
    unmatched = [
        index
        for index, extent in enumerate(extents)
        if index not in matched and extent.start < extent.end
    ]
    return deque(sorted(unmatched, key=extents.__getitem__))


def _match_overlaps(
    gold: Sequence[Extent],
    system: Sequence[Extent],
    unmatched: deque[int],
    unmatched_system: deque[int],
) -> list[tuple[int, int]]:
    """Match each extent with the next one of the same kind that overlaps."""
    pairs = []
    while unmatched and unmatched_system:
        gold_extent = gold[unmatched[0]]
        system_extent = system[unmatched_system[0]]
        if _is_before(gold_extent, system_extent):
            unmatched.popleft()
        elif _is_before(system_extent, gold_extent):
            unmatched_system.popleft()
        else:
            pairs.append((unmatched.popleft(), unmatched_system.popleft()))
    return pairs


def _is_before(first: Extent, second: Extent) -> bool:
    """Tell whether an extent ends before another begins; extents of another kind follow those of the first."""
    return (first.kind, first.end) <= (second.kind, second.start)
