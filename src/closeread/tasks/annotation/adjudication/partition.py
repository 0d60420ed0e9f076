"""An independent part of a document, as a graph of mentions, and its best chains.

Conventions: a node is a mention, or several that are certain to be together; nodes are in the order of their first
mentions.  A solution gives every node the number of its chain, (n_nodes,); a node alone in its chain is in none.  Of
two solutions, the one with the greater gain is better; of those with equal gain, the one with more pairs of mentions
together; of those, the one that has the first pair together on which they differ.  Since the mentions of a node are
always together, the first such pair of mentions is that of the first such pair of nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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


def number_chains(together: Mask) -> Ints:
    """Return the first node that each node is with, (n_nodes,), by which nodes are together, (n_nodes, n_nodes)."""
    first: Ints = np.argmax(together | np.eye(len(together), dtype=bool), axis=1)
    return first


def group_by_number(number: Ints) -> Iterator[Ints]:
    """Yield the places of each number that occurs more than once, in ascending order."""
    order = np.argsort(number, kind="stable")
    borders = np.flatnonzero(np.diff(number[order])) + 1
    yield from (places for places in np.split(order, borders) if len(places) > 1)


MAX_RULES_PER_PAIR = 100
"""How many rules about the same two nodes are added at once; with fewer, many more rounds are needed."""


def open_triangles(edges: Mask) -> Ints:
    """Find triples of nodes whose first and second are joined, and second and third, but not the ends.

    Args:
        edges: (n_nodes, n_nodes) whether two nodes are joined; symmetric, false on the diagonal.

    Returns:
        (n, 3) the triples, at most `MAX_RULES_PER_PAIR` of the same ends; the first node of each is before the third.
    """
    paths = edges.astype(np.float32) @ edges.astype(np.float32)
    ends = np.argwhere(np.triu((paths > 0) & ~edges, 1))
    found = [np.zeros((0, 3), np.int64)]
    for first, last in ends.tolist():
        between = np.flatnonzero(edges[first] & edges[last])[:MAX_RULES_PER_PAIR]
        triples = np.empty((len(between), 3), np.int64)
        triples[:, 0], triples[:, 1], triples[:, 2] = first, between, last
        found.append(triples)
    return np.concatenate(found)


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
