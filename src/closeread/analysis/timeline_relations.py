"""Why a timeline scores as it does: what becomes of every reduced relation of gold and of the system.

Conventions: as in `closeread.kernels.timelines`, whose counts these are: the verified relations are those whose verdict
is "literal" or "entailed".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from closeread.kernels.timelines import ABSENT, Entry, Side, partners, placed, side, verified

VERDICTS = {
    "literal": "the other side has it, as it is or turned round",
    "entailed": "it follows from relations of the other side",
    "contradicted": "relations of the other side exclude it",
    "missing": "the other side says nothing of it",
}
"""What can become of a relation."""


Name = Literal["gold", "system"]
Kind = Literal["BEFORE", "SIMULTANEOUS"]
Place = tuple[int, int]
"""A node as numbers: its time, and the mention, or `ABSENT` for the anchor itself."""


@dataclass(frozen=True)
class Node:
    """What stands in a relation.

    Attributes:
        kind: "mention" or "anchor".
        text: the mention or the anchor.
        copy: how many mentions of the same text come before it in the timeline.
    """

    kind: Literal["mention", "anchor"]
    text: str
    copy: int = 0


@dataclass(frozen=True)
class Relation:
    """What a timeline says of two nodes."""

    relation: Kind
    one: Node
    other: Node


@dataclass(frozen=True)
class Explanation:
    """What becomes of a reduced relation.

    Attributes:
        side: whose it is, "gold" or "system".
        relation: the relation.
        verdict: one of `VERDICTS`.
        evidence: what the other side says instead, from one node to the other: the relation that verifies it, or those
            that entail or contradict it; none where it is missing.
        absent: the nodes that the other side does not have.
        excluded_by: the earlier relations of its own side that it contradicts, for which it is in the count but not in
            the order; none where it contradicts none.
    """

    side: Name
    relation: Relation
    verdict: str
    evidence: tuple[Relation, ...]
    absent: tuple[Node, ...]
    excluded_by: tuple[Relation, ...]


def explanations(gold: Sequence[Entry], system: Sequence[Entry], track: str = "full") -> Iterator[Explanation]:
    """What becomes of the reduced relations of gold, then of the system's, each in the order of its timeline.

    Args:
        gold, system: the entries of the two timelines.
        track: one of `closeread.kernels.timelines.TRACKS`.
    """
    theirs, ours = (_Graph(side(placed(entries), track)) for entries in (gold, system))
    yield from _explained("gold", theirs, ours)
    yield from _explained("system", ours, theirs)


class _Graph:
    """A side whose relations can be followed.

    Args:
        side: the side.
    """

    def __init__(self, side: Side) -> None:
        self.side = side
        self._at: list[int] = side.at.tolist()
        self._anchors = [Node("anchor", anchor) for anchor in side.anchors]
        self._mentions = [Node("mention", *copy) for copy in side.copies]
        self._level: list[int] = side.order.level[side.order.group].tolist()
        self._steps: list[list[tuple[int, int]]] = [[] for _ in self._level]
        for i in np.flatnonzero(side.joins).tolist():
            here, there = self._at[i], self._at[i + 1]
            self._steps[here].append((i, there))
            if not side.later[i]:
                self._steps[there].append((i, here))

    def place(self, mention: int) -> Place:
        """Where a mention is."""
        return self._at[mention], mention

    def anchor(self, text: str) -> Place | None:
        """Where an anchor is; None if no mention has it."""
        time = self.side.anchors.get(text)
        return None if time is None else (time, ABSENT)

    def step(self, mention: int) -> Relation:
        """The relation of a mention to the next one."""
        kind: Kind = "BEFORE" if self.side.later[mention] else "SIMULTANEOUS"
        return Relation(kind, self._mentions[mention], self._mentions[mention + 1])

    def anchoring(self, mention: int) -> Relation:
        """The relation of a mention to its anchor."""
        return Relation("SIMULTANEOUS", self._mentions[mention], self._anchors[self._at[mention]])

    def between(self, one: Place, other: Place, until: int | None = None) -> tuple[Relation, ...]:
        """The relations that lead from one place to another or back, few of them; none where none do.

        Args:
            one, other: the places.
            until: the mention at which to stop: later relations of neighbours are not used.
        """
        for start, end in ((one, other), (other, one)):
            steps = self._way(start[0], end[0], len(self._at) if until is None else until)
            if steps is not None:
                return tuple(self._told(start, end, steps))
        return ()

    def _way(self, start: int, end: int, until: int) -> list[int] | None:
        """The mentions whose relations to the next ones lead from one time to another, as few as can be."""
        came = {start: (ABSENT, ABSENT)}
        left = deque([start])
        while left and end not in came:
            time = left.popleft()
            for step, there in self._steps[time]:
                if step < until and there not in came and self._level[there] <= self._level[end]:
                    came[there] = step, time
                    left.append(there)
        if end not in came:
            return None
        steps = []
        while end != start:
            step, end = came[end]
            steps.append(step)
        return steps[::-1]

    def _told(self, start: Place, end: Place, steps: Sequence[int]) -> Iterator[Relation]:
        """The relations of the way, those to anchors between them."""
        here = start
        for step in steps:
            ends = [self.place(step), self.place(step + 1)]
            near, far = ends if ends[0][0] == here[0] else ends[::-1]
            yield from self._at_one_time(here, near)
            yield self.step(step)
            here = far
        yield from self._at_one_time(here, end)

    def _at_one_time(self, one: Place, other: Place) -> Iterator[Relation]:
        if one != other:
            yield from (self.anchoring(mention) for _, mention in (one, other) if mention != ABSENT)


def _explained(name: Name, own: _Graph, other: _Graph) -> Iterator[Explanation]:
    """The explanations of one side."""
    found = verified(own.side, other.side)
    there = [None if number == ABSENT else other.place(number) for number in partners(own.side, other.side).tolist()]
    for i, holds in enumerate(found.anchored.tolist()):
        relation = own.anchoring(i)
        mention, anchor = there[i], other.anchor(relation.other.text)
        said = other.anchoring(mention[1]) if mention and anchor and mention[0] == anchor[0] else None
        yield _explanation(name, relation, (mention, anchor), other, said, holds, ())
    for i in np.flatnonzero(own.side.reduced).tolist():
        one, next_one = there[i], there[i + 1]
        said = other.step(min(one[1], next_one[1])) if one and next_one and found.literal[i] else None
        excluded_by = own.between(own.place(i), own.place(i + 1), until=i) if own.side.contradicts[i] else ()
        yield _explanation(name, own.step(i), (one, next_one), other, said, bool(found.entailed[i]), excluded_by)


def _explanation(
    name: Name,
    relation: Relation,
    places: tuple[Place | None, Place | None],
    other: _Graph,
    said: Relation | None,
    holds: bool,
    excluded_by: tuple[Relation, ...],
) -> Explanation:
    """What becomes of a relation whose nodes have these places on the other side.

    Args:
        name, relation, excluded_by: as the explanation has them.
        places: where its nodes are on the other side.
        other: the other side.
        said: the relation of the other side that is this one.
        holds: whether it follows from the other side's.
    """
    evidence: tuple[Relation, ...] = ()
    one, two = places
    if said is not None:
        verdict, evidence = "literal", (said,)
    elif one is None or two is None:
        verdict = "missing"
    else:
        evidence = other.between(one, two)
        verdict = "entailed" if holds else "contradicted" if evidence else "missing"
    absent = tuple(node for node, place in zip((relation.one, relation.other), places, strict=True) if place is None)
    return Explanation(name, relation, verdict, evidence, absent, excluded_by)
