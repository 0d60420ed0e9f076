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

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np

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
    "starts before": ["a < b"],
    "starts with": ["a = b"],
}
"""Allen's relations without their inverses, and two about starts only, as statements about end points.

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
    "STARTS_BEFORE": "starts before",
    "STARTS_AFTER": "starts before",
    "STARTS_EQUAL": "starts with",
}
"""TimeML's relation types and those of MATRES, as `KINDS` or their inverses."""

SYMMETRIC = ("equals", "starts with")

INVERSES = {
    "AFTER",
    "IAFTER",
    "INCLUDES",
    "BEGUN_BY",
    "ENDED_BY",
    "DURING_INV",
    "STARTS_AFTER",
}
"""The types that relate the second interval to the first."""

DURINGS = {
    "simultaneous": TYPES,
    "overlaps": TYPES | {"DURING": "overlaps", "DURING_INV": "overlaps"},
}
"""The types for the possible readings of DURING, which the guidelines leave open."""

MAX_WORK = 100_000_000
"""The most links times the number of intervals: inference takes time and memory that grow with it."""


class Relation(NamedTuple):
    """A relation between two intervals, of one of `KINDS`."""

    first: int
    second: int
    kind: str

    @property
    def is_tautology(self) -> bool:
        """Whether it is true of any interval: it is equal to itself, and starts with itself."""
        return self.first == self.second and self.kind in SYMMETRIC


def make_relation(first: int, second: int, name: str, during: str = "simultaneous") -> Relation:
    """Return the relation for a TimeML type; a type and its inverse with swapped intervals give the same relation.

    >>> make_relation(0, 1, "AFTER")
    Relation(first=1, second=0, kind='before')
    """
    kind = DURINGS[during][name]
    # Intervals that are equal, or start together, are so in both directions.
    is_swapped = first > second if kind in SYMMETRIC else name in INVERSES
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


class PointGraph:
    """A consistent set of relations, to which others are added one after the other.

    Of every end point it has the points that it reaches, as the bits of a row of bytes.  A row is changed only if it
    gets the second point of a statement, so that no order of links takes more than (points²) changes of rows.
    """

    def __init__(self, n_intervals: int) -> None:
        self._n_intervals = n_intervals
        self._reached = np.zeros((2 * n_intervals, (2 * n_intervals + 7) // 8), np.uint8)
        points = np.arange(2 * n_intervals)
        bits = np.left_shift(1, points % 8).astype(np.uint8)
        self._reached[points, points // 8] |= bits
        # An interval's end is after its beginning.
        self._reached[points[::2], points[1::2] // 8] |= bits[1::2]

    def add(self, relations: Iterable[Relation]) -> dict[Relation, Verdict]:
        """Add distinct relations in order, except those that contradict earlier ones; return the verdict on each."""
        verdicts: dict[Relation, Verdict] = dict.fromkeys(relations, "new")
        limit = MAX_WORK // max(self._n_intervals, 1)
        if len(verdicts) > limit:
            noun = f"links between {self._n_intervals:,} events and times"
            raise LimitError(0, len(verdicts), noun, limit)
        for relation in verdicts:
            verdicts[relation] = self.judge(relation)
            if verdicts[relation] == "new":
                self._add_arcs(relation)
        return verdicts

    def judge(self, relation: Relation) -> Verdict:
        """Return the verdict on a relation."""
        is_entailed = True
        for first, second, is_equality in find_statements(relation):
            is_forth = self._reaches(first, second)
            is_back = self._reaches(second, first)
            is_impossible = is_forth != is_back if is_equality else is_back
            if is_impossible:
                return "contradictory"
            is_entailed &= is_forth
        return "entailed" if is_entailed else "new"

    def _reaches(self, start: int, end: int) -> bool:
        return bool(self._reached[start, end // 8] >> end % 8 & 1)

    def _add_arcs(self, relation: Relation) -> None:
        """Add a new relation: if each of its statements is consistent, all of them together are."""
        for first, second, is_equality in find_statements(relation):
            self._connect(first, second)
            if is_equality:
                self._connect(second, first)

    def _connect(self, start: int, end: int) -> None:
        """Let a point, and all points that reach it, reach another point and all points that it reaches."""
        if self._reaches(start, end):
            return
        reached = self._reached
        reach_start = reached[:, start // 8] >> start % 8
        reach_end = reached[:, end // 8] >> end % 8
        reached[np.flatnonzero(reach_start & ~reach_end & 1)] |= reached[end]
