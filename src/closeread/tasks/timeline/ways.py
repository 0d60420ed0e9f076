"""Ways along the relations of a timeline, from one mention or anchor to another.

Conventions: nodes are numbered, the mentions in order and after them the anchors.  A relation of two nodes is an edge:
of a mention and its anchor, or of a mention and the next one, where that is in the order
(`closeread.tasks.timeline.kernels.order`).  Edges between nodes of one time lead both ways, those of BEFORE one way.

A mention whose time is new hangs on the mention before it, its anchor on it, and all other mentions on their anchors.
That is a tree.  Where any two times are in order, all ways are in it, and their ends are found without a search.
Elsewhere some are not, and these are sought.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Literal, NamedTuple

import numpy as np

from closeread.tasks.timeline.kernels.timelines import ABSENT, Side

ENDS = 5
"""How many relations of a long way are told of either end."""


Kind = Literal["BEFORE", "SIMULTANEOUS"]


class Node(NamedTuple):
    """What stands in a relation.

    Attributes:
        kind: "mention" or "anchor".
        text: the mention or the anchor.
        copy: how many mentions of the same text come before it in the timeline.
    """

    kind: Literal["mention", "anchor"]
    text: str
    copy: int = 0


class Relation(NamedTuple):
    """What a timeline says of two nodes."""

    relation: Kind
    one: Node
    other: Node


class Chain(NamedTuple):
    """Relations that lead from one node to another, each from where the one before it ends.

    Attributes:
        first: those at the beginning; all, where they are few.
        left_out: how many come between these and the last.
        last: those at the end, where some are left out.
    """

    first: tuple[Relation, ...] = ()
    left_out: int = 0
    last: tuple[Relation, ...] = ()


class Tree:
    """Nodes that hang on others.

    Args:
        parents: what every node hangs on; the root on itself.
        depths: how far every node is from the root.
    """

    def __init__(self, parents: Sequence[int], depths: Sequence[int]) -> None:
        self.depths = depths
        above = np.array(parents, np.int64)
        self._above: list[list[int]] = []
        for _ in range(max(depths, default=0).bit_length()):
            self._above.append(above.tolist())
            above = above[above]

    def ancestor(self, node: int, height: int) -> int:
        """The node so many steps above another."""
        for bit in range(height.bit_length()):
            if height >> bit & 1:
                node = self._above[bit][node]
        return node

    def meeting(self, one: int, other: int) -> int:
        """The lowest node that is above two nodes, or is one of them."""
        rise = self.depths[one] - self.depths[other]
        one, other = self.ancestor(one, max(rise, 0)), self.ancestor(other, max(-rise, 0))
        if one == other:
            return one
        for above in reversed(self._above):
            if above[one] != above[other]:
                one, other = above[one], above[other]
        return self._above[0][one]


class Ways:
    """A side of a timeline whose relations can be followed.

    Args:
        side: the side.
    """

    def __init__(self, side: Side) -> None:
        self.side = side
        self._at: list[int] = side.at.tolist()
        self._nodes = [Node("mention", *copy) for copy in side.copies] + [Node("anchor", text) for text in side.anchors]
        self._first: dict[int, int] = {}
        self._parents, self._depths = [0] * len(self._nodes), [0] * len(self._nodes)
        # How far from the root one comes up to within one time.
        self._top = [0] * len(self._nodes)
        self._plant()
        self._tree = Tree(self._parents, self._depths)

    def _plant(self) -> None:
        """Hang every node on its place in the tree."""
        after = [False, *self.side.later.tolist()]
        for mention, time in enumerate(self._at):
            if time in self._first:
                self._hang(mention, self.anchor(time))
                continue
            self._first[time] = mention
            self._hang(mention, max(mention - 1, 0))
            if after[mention]:
                self._top[mention] = self._depths[mention]
            if self.side.anchors:
                self._hang(self.anchor(time), mention)

    def _hang(self, node: int, parent: int) -> None:
        self._parents[node] = parent
        self._depths[node] = self._depths[parent] + (node != parent)
        self._top[node] = self._top[parent]

    @cached_property
    def _steps(self) -> Sequence[Sequence[tuple[int, int]]]:
        """Of every time the mentions at it whose relations to others lead on, and the times they lead to."""
        steps: list[list[tuple[int, int]]] = [[] for _ in self.side.order.group]
        for i in np.flatnonzero(self.side.joins).tolist():
            here, there = self._at[i], self._at[i + 1]
            steps[here].append((i, there))
            if not self.side.later[i]:
                steps[there].append((i, here))
        return steps

    @cached_property
    def _level(self) -> Sequence[int]:
        """Of every time how many others a way to it passes at most."""
        levels: list[int] = self.side.order.level[self.side.order.group].tolist()
        return levels

    def anchor(self, time: int) -> int:
        """The anchor of a time, as a node."""
        return len(self._at) + time

    def time(self, node: int) -> int:
        """When a node is."""
        return self._at[node] if node < len(self._at) else node - len(self._at)

    def step(self, mention: int) -> Relation:
        """The relation of a mention to the next one."""
        kind: Kind = "BEFORE" if self.side.later[mention] else "SIMULTANEOUS"
        return Relation(kind, self._nodes[mention], self._nodes[mention + 1])

    def anchoring(self, mention: int) -> Relation:
        """The relation of a mention to its anchor."""
        return Relation("SIMULTANEOUS", self._nodes[mention], self._nodes[self.anchor(self._at[mention])])

    def chain(self, start: int, end: int, until: int | None = None) -> Chain:
        """The relations that lead from one node to another, where some do.

        Args:
            start, end: the nodes.
            until: the mention at which to stop: later relations of neighbours are not used.
        """
        meeting = self._tree.meeting(start, end)
        rise, fall = self._depths[start] - self._depths[meeting], self._depths[end] - self._depths[meeting]
        if self._top[start] <= self._depths[meeting]:
            return _cut(rise + fall, partial(self._in_tree, start, end, rise, fall))
        steps = self._sought(self.time(start), self.time(end), len(self._at) if until is None else until)
        told = list(self._told(start, end, steps))
        return _cut(len(told), told.__getitem__)

    def _in_tree(self, start: int, end: int, rise: int, fall: int, place: int) -> Relation:
        """The relation at one place of the way that goes up from one node and down to another."""
        height = place if place < rise else rise + fall - 1 - place
        node = self._tree.ancestor(start if place < rise else end, height)
        first = self._first[self.time(node)]
        if node == first:
            return self.step(node - 1)
        return self.anchoring(node if node < len(self._at) else first)

    def _sought(self, start: int, end: int, until: int) -> Sequence[int]:
        """The mentions whose relations to the next ones lead from one time to another, as few as can be."""
        came = {start: (ABSENT, ABSENT)}
        left = deque([start])
        while end not in came:
            time = left.popleft()
            for step, there in self._steps[time]:
                if step < until and there not in came and self._level[there] <= self._level[end]:
                    came[there] = step, time
                    left.append(there)
        steps = []
        while end != start:
            step, end = came[end]
            steps.append(step)
        return steps[::-1]

    def _told(self, start: int, end: int, steps: Sequence[int]) -> Iterator[Relation]:
        """The relations of a way, those to anchors between them."""
        here = start
        for step in steps:
            near, far = (step, step + 1) if self.time(step) == self.time(here) else (step + 1, step)
            yield from self._at_one_time(here, near)
            yield self.step(step)
            here = far
        yield from self._at_one_time(here, end)

    def _at_one_time(self, one: int, other: int) -> Iterator[Relation]:
        if one != other:
            yield from (self.anchoring(node) for node in (one, other) if node < len(self._at))


def _cut(length: int, relation_at: Callable[[int], Relation]) -> Chain:
    """A chain of so many relations."""
    if length <= 2 * ENDS:
        return Chain(tuple(map(relation_at, range(length))))
    first, last = range(ENDS), range(length - ENDS, length)
    return Chain(tuple(map(relation_at, first)), length - 2 * ENDS, tuple(map(relation_at, last)))
