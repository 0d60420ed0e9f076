"""Paths along the relations of a timeline, from one mention or anchor to another.

Conventions: nodes are numbered: mentions in order, then anchors.  A relation is an edge between a mention and its
anchor, or between a mention and the next one if it is part of the order (`closeread.tasks.timeline.kernels.order`).
Edges between nodes of one time are undirected, those of BEFORE are directed.

The first mention of each time is attached to the mention before it, its anchor to that mention, and all other mentions
to their anchors.  This is a tree.  If the order is total, the tree contains all paths, so that both ends of a path are
found without a search.  Otherwise paths outside the tree are found by breadth-first search.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Literal, NamedTuple

import numpy as np

from closeread.tasks.timeline.kernels.timelines import ABSENT, Side

ENDS = 5
"""How many relations are kept at each end of a long chain."""

Kind = Literal["BEFORE", "SIMULTANEOUS"]


class Node(NamedTuple):
    """An argument of a relation.

    Attributes:
        kind: "mention" or "anchor".
        text: the mention or the anchor.
        copy: how many mentions with the same text come before it in the timeline.
    """

    kind: Literal["mention", "anchor"]
    text: str
    copy: int = 0


class Relation(NamedTuple):
    """A relation between two nodes of a timeline."""

    relation: Kind
    one: Node
    other: Node


class Chain(NamedTuple):
    """Consecutive relations that lead from one node to another.

    Attributes:
        first: the first relations; all of them if the chain is short.
        left_out: how many are omitted in the middle.
        last: the last relations, if some are omitted.
    """

    first: tuple[Relation, ...] = ()
    left_out: int = 0
    last: tuple[Relation, ...] = ()


class Tree:
    """A tree with fast ancestor queries.

    Args:
        parents: the parent of every node; the root is its own parent.
        depths: the distance of every node from the root.
    """

    def __init__(self, parents: Sequence[int], depths: Sequence[int]) -> None:
        self.depths = depths
        above = np.array(parents, np.int64)
        self._above: list[list[int]] = []
        for _ in range(max(depths, default=0).bit_length()):
            self._above.append(above.tolist())
            above = above[above]

    def ancestor(self, node: int, height: int) -> int:
        """Return the ancestor of a node that is `height` steps above it."""
        for bit in range(height.bit_length()):
            if height >> bit & 1:
                node = self._above[bit][node]
        return node

    def meeting(self, one: int, other: int) -> int:
        """Return the lowest common ancestor of two nodes, which may be one of them."""
        rise = self.depths[one] - self.depths[other]
        one, other = self.ancestor(one, max(rise, 0)), self.ancestor(other, max(-rise, 0))
        if one == other:
            return one
        for above in reversed(self._above):
            if above[one] != above[other]:
                one, other = above[one], above[other]
        return self._above[0][one]


class Ways:
    """The paths along the relations of one side.

    Args:
        side: the relations of a timeline.
    """

    def __init__(self, side: Side) -> None:
        self.side = side
        self._at: list[int] = side.at.tolist()
        self._nodes = [Node("mention", *copy) for copy in side.copies] + [Node("anchor", text) for text in side.anchors]
        self._first: dict[int, int] = {}
        self._parents, self._depths = [0] * len(self._nodes), [0] * len(self._nodes)
        # The depth of the highest ancestor of the same time.
        self._top = [0] * len(self._nodes)
        self._build_tree()
        self._tree = Tree(self._parents, self._depths)

    def _build_tree(self) -> None:
        """Attach every node to its parent in the tree."""
        after = [False, *self.side.later.tolist()]
        for mention, time in enumerate(self._at):
            if time in self._first:
                self._attach(mention, self.anchor(time))
                continue
            self._first[time] = mention
            self._attach(mention, max(mention - 1, 0))
            if after[mention]:
                self._top[mention] = self._depths[mention]
            if self.side.anchors:
                self._attach(self.anchor(time), mention)

    def _attach(self, node: int, parent: int) -> None:
        self._parents[node] = parent
        self._depths[node] = self._depths[parent] + (node != parent)
        self._top[node] = self._top[parent]

    @cached_property
    def _steps(self) -> Sequence[Sequence[tuple[int, int]]]:
        """For every time, the relations of neighbours that lead away from it, as mention and target time."""
        steps: list[list[tuple[int, int]]] = [[] for _ in self.side.order.group]
        for i in np.flatnonzero(self.side.joins).tolist():
            here, there = self._at[i], self._at[i + 1]
            steps[here].append((i, there))
            if not self.side.later[i]:
                steps[there].append((i, here))
        return steps

    @cached_property
    def _level(self) -> Sequence[int]:
        """The length of the longest path to every time."""
        levels: list[int] = self.side.order.level[self.side.order.group].tolist()
        return levels

    def anchor(self, time: int) -> int:
        """Return the node of the anchor of a time."""
        return len(self._at) + time

    def time(self, node: int) -> int:
        """Return the time of a node."""
        return self._at[node] if node < len(self._at) else node - len(self._at)

    def step(self, mention: int) -> Relation:
        """Return the relation of a mention to the next one."""
        kind: Kind = "BEFORE" if self.side.later[mention] else "SIMULTANEOUS"
        return Relation(kind, self._nodes[mention], self._nodes[mention + 1])

    def anchoring(self, mention: int) -> Relation:
        """Return the relation of a mention to its anchor."""
        return Relation("SIMULTANEOUS", self._nodes[mention], self._nodes[self.anchor(self._at[mention])])

    def chain(self, start: int, end: int, until: int | None = None) -> Chain:
        """Return the relations that lead from one node to another; the order must have such a chain.

        Args:
            start, end: the nodes.
            until: use only relations of neighbours before this mention.
        """
        meeting = self._tree.meeting(start, end)
        rise, fall = self._depths[start] - self._depths[meeting], self._depths[end] - self._depths[meeting]
        if self._top[start] <= self._depths[meeting]:
            return _shorten(rise + fall, partial(self._relation_in_tree, start, end, rise, fall))
        steps = self._search(self.time(start), self.time(end), len(self._at) if until is None else until)
        relations = list(self._expand(start, end, steps))
        return _shorten(len(relations), relations.__getitem__)

    def _relation_in_tree(self, start: int, end: int, rise: int, fall: int, place: int) -> Relation:
        """Return the relation at one place of the path that goes up the tree from one node and down to another."""
        height = place if place < rise else rise + fall - 1 - place
        node = self._tree.ancestor(start if place < rise else end, height)
        first = self._first[self.time(node)]
        if node == first:
            return self.step(node - 1)
        return self.anchoring(node if node < len(self._at) else first)

    def _search(self, start: int, end: int, until: int) -> Sequence[int]:
        """Find a shortest path between two times, as the mentions whose relations to the next ones it uses."""
        previous = {start: (ABSENT, ABSENT)}
        queue = deque([start])
        while end not in previous:
            time = queue.popleft()
            for step, there in self._steps[time]:
                if step < until and there not in previous and self._level[there] <= self._level[end]:
                    previous[there] = step, time
                    queue.append(there)
        steps = []
        while end != start:
            step, end = previous[end]
            steps.append(step)
        return steps[::-1]

    def _expand(self, start: int, end: int, steps: Sequence[int]) -> Iterator[Relation]:
        """Return the relations of a path, including those to anchors in between."""
        here = start
        for step in steps:
            near, far = (step, step + 1) if self.time(step) == self.time(here) else (step + 1, step)
            yield from self._within_time(here, near)
            yield self.step(step)
            here = far
        yield from self._within_time(here, end)

    def _within_time(self, one: int, other: int) -> Iterator[Relation]:
        if one != other:
            yield from (self.anchoring(node) for node in (one, other) if node < len(self._at))


def _shorten(length: int, relation_at: Callable[[int], Relation]) -> Chain:
    """Return a chain of `length` relations, without its middle if it is long."""
    if length <= 2 * ENDS:
        return Chain(tuple(map(relation_at, range(length))))
    first, last = range(ENDS), range(length - ENDS, length)
    return Chain(tuple(map(relation_at, first)), length - 2 * ENDS, tuple(map(relation_at, last)))
