"""An independent part of a document, as a graph of mentions, and its best chains.

Conventions: a node is a mention, or several that are certain to be together; nodes are in the order of their first
mentions.  A solution gives every node the number of its chain, (n_nodes,); a node alone in its chain is in none.  Of
two solutions, the one with the greater gain is better; of those with equal gain, the one with more pairs of mentions
together; of those, the one that has the first pair together on which they differ.  Since the mentions of a node are
always together, the first such pair of mentions is that of the first such pair of nodes.

What is left to the solver is the greatest gain, the most links, and where solutions that are equal in both differ;
differences are then settled pair by pair, on the few nodes that are left when all that is certain is joined.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from closeread.arrays import Ints, Mask


@dataclass(frozen=True, eq=False)
class Part:
    """The nodes of a part.

    Attributes:
        gain: (n_nodes, n_nodes) how much less it costs to have two nodes together; symmetric, 0 on the diagonal.
        links: (n_nodes, n_nodes) the number of pairs of mentions between two nodes; symmetric, 0 on the diagonal.
        allowed: (n_nodes, n_nodes) whether two nodes may be together; symmetric, false on the diagonal.
        lone: (n_nodes,) the nodes that may not be alone in their chain.
    """

    gain: Ints
    links: Ints
    allowed: Mask
    lone: Mask

    def __len__(self) -> int:
        return len(self.lone)

    def evaluate(self, chain: Ints) -> tuple[int, int]:
        """Return the value of a solution; greater is better.

        That is how much less it costs than all nodes apart, and the number of pairs of mentions that it has together,
        without those inside nodes.
        """
        together = chain[:, None] == chain
        return int(self.gain[together].sum()) // 2, int(self.links[together].sum()) // 2

    def accepts(self, chain: Ints) -> bool:
        """Return whether a solution has no nodes together that may not be, and no node alone that may not be."""
        together = chain[:, None] == chain
        np.fill_diagonal(together, False)
        return not (together & ~self.allowed).any() and bool(together.any(axis=1)[self.lone].all())

    def merge(self, chain: Ints) -> tuple[Part, Ints]:
        """Make one node of the nodes of each chain; return the part, and the new node of each old one."""
        _, first, number = np.unique(chain, return_index=True, return_inverse=True)
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        node = rank[number]
        member = np.zeros((len(first), len(chain)), np.int64)
        member[node, np.arange(len(chain))] = 1
        gain, links, forbidden = (
            member @ matrix.astype(np.int64) @ member.T
            for matrix in (self.gain, self.links, ~self.allowed)
        )
        allowed = forbidden == 0
        for matrix in (gain, links, allowed):
            np.fill_diagonal(matrix, 0)
        alone = member.sum(axis=1) == 1
        return Part(gain, links, allowed, alone & (member @ self.lone.astype(np.int64) > 0)), node

    def forbid(self, pairs: Mask) -> Part:
        """Return the part without some pairs of those that may be together; (n_nodes, n_nodes), symmetric."""
        return replace(self, allowed=self.allowed & ~pairs)

    def select(self, nodes: Ints) -> Part:
        """Return some of the nodes, in ascending order."""
        square = np.ix_(nodes, nodes)
        return Part(self.gain[square], self.links[square], self.allowed[square], self.lone[nodes])


def number_chains(together: Mask) -> Ints:
    """Return the first node that each node is with, (n_nodes,), by which nodes are together, (n_nodes, n_nodes)."""
    first: Ints = np.argmax(together | np.eye(len(together), dtype=bool), axis=1)
    return first


def group_by_number(number: Ints) -> Iterator[Ints]:
    """Yield the places of each number that occurs more than once, in ascending order."""
    order = np.argsort(number, kind="stable")
    borders = np.flatnonzero(np.diff(number[order])) + 1
    yield from (places for places in np.split(order, borders) if len(places) > 1)


AT_ONCE = 100
"""How many rules about the same two nodes are added at once; with fewer, many more rounds are needed."""


def open_triangles(edges: Mask) -> Ints:
    """Find triples of nodes whose first and second are joined, and second and third, but not the ends.

    Args:
        edges: (n_nodes, n_nodes) whether two nodes are joined; symmetric, false on the diagonal.

    Returns:
        (n, 3) the triples, at most `AT_ONCE` of the same ends; the first node of each is before the third.
    """
    paths = edges.astype(np.float32) @ edges.astype(np.float32)
    ends = np.argwhere(np.triu((paths > 0) & ~edges, 1))
    found = [np.zeros((0, 3), np.int64)]
    for first, last in ends.tolist():
        between = np.flatnonzero(edges[first] & edges[last])[:AT_ONCE]
        triples = np.empty((len(between), 3), np.int64)
        triples[:, 0], triples[:, 1], triples[:, 2] = first, between, last
        found.append(triples)
    return np.concatenate(found)


class Deadline:
    """The time when to stop: so many seconds from now, or never."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def exists(self) -> bool:
        """Whether there is a limit."""
        return self._end is not None

    @property
    def left(self) -> float:
        """The seconds that are left, at least 0; infinite if there is no limit."""
        return float("inf") if self._end is None else max(0.0, self._end - time.monotonic())


class Solution(NamedTuple):
    """The best chain found for a part, None if there is none, and whether it is proved that none is better."""

    chain: Ints | None
    is_proved: bool


class Session(ABC):
    """A session of a solver on a part, which ends with the context."""

    def __init__(self, part: Part, deadline: Deadline) -> None:
        self._part, self._deadline = part, deadline
        self._pairs = np.argwhere(np.triu(part.allowed))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:  # noqa: B027
        """End: there may be nothing to do."""

    @abstractmethod
    def find_best(self) -> Solution:
        """Find a solution of the greatest gain, and of the most links among these."""

    @abstractmethod
    def find_ties(self, chain: Ints) -> Mask | None:
        """Find the pairs of nodes on which solutions as good as the given one, the best found, differ.

        Returns:
            (n_nodes, n_nodes) symmetric; None if the time was not enough.
        """


OpenSession = Callable[[Part, Deadline], Session]
"""Hands a part to a solver."""


def solve(part: Part, open_session: OpenSession, deadline: Deadline) -> Solution:
    """Find the best solution of a part of several nodes, or the best that can be found until the deadline."""
    everything = np.zeros(len(part), np.int64)
    if (part.gain >= 0).all() and part.accepts(everything):
        return Solution(everything, True)
    if not part.allowed.any():
        return Solution(None if part.lone.any() else np.arange(len(part)), True)
    if not deadline.left:
        return Solution(join_greedily(part), False)
    with open_session(part, deadline) as session:
        best = session.find_best()
        if not best.is_proved:
            candidates = [chain for chain in (best.chain, join_greedily(part)) if chain is not None]
            return Solution(max(candidates, key=part.evaluate, default=None), False)
        if best.chain is None:
            return best
        ties = session.find_ties(best.chain)
    if ties is None:
        return Solution(best.chain, False)
    return _settle_ties(part, best.chain, ties, open_session, deadline) if ties.any() else best


def _settle_ties(
    part: Part, chain: Ints, ties: Mask, open_session: OpenSession, deadline: Deadline
) -> Solution:
    """Find the best of the solutions that are equal in gain and links."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    certain = (chain[:, None] == chain) & ~ties
    # the first of the nodes that are together in all of them
    rest, node = part.merge(np.argmax(certain, axis=1))
    found = np.empty(len(rest), np.int64)
    found[node] = chain
    may_differ = np.zeros((len(rest), len(rest)), bool)
    may_differ[node[:, None], node] = ties
    rest = rest.forbid(~may_differ)
    final, is_proved = np.arange(len(rest)), True
    number = connected_components(csr_array(rest.allowed), directed=False)[1]
    for nodes in group_by_number(number):
        settled = _settle_pairs(rest.select(nodes), found[nodes], open_session, deadline)
        final[nodes] = nodes[np.argmax(settled[0][:, None] == settled[0], axis=1)]
        is_proved &= settled[1]
    return Solution(final[node], is_proved)


def _settle_pairs(
    part: Part, chain: Ints, open_session: OpenSession, deadline: Deadline
) -> tuple[Ints, bool]:
    """Find the best of the solutions that are equal in gain and links, by deciding pair by pair."""
    value, rest, joined = part.evaluate(chain), part, np.arange(len(part))
    for first, second in np.argwhere(np.triu(part.allowed)).tolist():
        attempt = np.where(joined == joined[second], joined[first], joined)
        if chain[first] == chain[second]:
            joined = attempt
            continue
        smaller, node = rest.merge(attempt)
        best = _find_best(smaller, open_session, deadline)
        if not best.is_proved:
            return chain, False
        if (
            best.chain is not None
            and rest.accepts(best.chain[node])
            and part.evaluate(best.chain[node]) == value
        ):
            chain, joined = best.chain[node], attempt
        else:
            pair = np.zeros_like(part.allowed)
            pair[[first, second], [second, first]] = True
            rest = rest.forbid(pair)
    return chain, True


def _find_best(part: Part, open_session: OpenSession, deadline: Deadline) -> Solution:
    """Find a solution that is the best in gain and links."""
    if not part.allowed.any():
        return Solution(None if part.lone.any() else np.arange(len(part)), True)
    with open_session(part, deadline) as session:
        return session.find_best()


def join_greedily(part: Part) -> Ints | None:
    """Find a good solution fast: add every node to the chain that gains most by it.

    Returns:
        (n_nodes,) the solution; None if a node that may not be alone is.
    """
    chain = np.arange(len(part))
    for node in range(1, len(part)):
        member = chain[:node, None] == np.arange(node)
        gain = part.gain[node, :node] @ member
        is_open = member.any(axis=0) & ~(~part.allowed[node, :node] @ member)
        gain = np.where(is_open, gain, -1)
        if gain.max() >= 0:
            chain[node] = int(gain.argmax())
    for node in np.flatnonzero(part.lone).tolist():
        if (chain == chain[node]).sum() == 1:
            free = np.flatnonzero(
                part.allowed[node]
                & [(~part.allowed[node] & (chain == c)).sum() == 0 for c in chain]
            )
            if len(free):
                chain[node] = chain[free[part.gain[node, free].argmax()]]
    return chain if part.accepts(chain) else None
