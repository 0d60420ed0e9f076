"""A part of a document whose mentions are put into chains by themselves, as a graph.

Conventions: a node is a mention, or several that are certain to be together; nodes are in the order of their first
mentions.  A solution gives every node the number of its chain, (n_nodes,); a node alone in its chain is in none.  Of
two solutions, the one with the greater gain is better; of those with equal gain, the one with more pairs of mentions
together; of those, the one that has the first pair together on which they differ.  Since the mentions of a node are
always together, the first such pair of mentions is that of the first such pair of nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask


class Value(NamedTuple):
    """What a solution is worth; a greater one is better.

    Attributes:
        gain: how much less it costs than all nodes apart.
        links: the number of pairs of mentions that it has together, without those inside nodes.
    """

    gain: int
    links: int


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

    def evaluate(self, chain: Ints) -> Value:
        """Return what a solution is worth."""
        together = chain[:, None] == chain
        return Value(int(self.gain[together].sum()) // 2, int(self.links[together].sum()) // 2)

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
            member @ matrix.astype(np.int64) @ member.T for matrix in (self.gain, self.links, ~self.allowed)
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
    """Return the first node that each node is with, (n_nodes,).

    Args:
        together: (n_nodes, n_nodes) which nodes are together; symmetric and transitive.
    """
    first: Ints = np.argmax(together | np.eye(len(together), dtype=bool), axis=1)
    return first


def split(edges: Mask) -> Iterator[Ints]:
    """Yield the nodes of each component of a graph with several nodes, in ascending order.

    Args:
        edges: (n_nodes, n_nodes) whether two nodes are joined; symmetric.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    yield from group_by_number(connected_components(csr_array(edges), directed=False)[1])


def group_by_number(number: Ints) -> Iterator[Ints]:
    """Yield the places of each number that occurs more than once, in ascending order."""
    order = np.argsort(number, kind="stable")
    borders = np.flatnonzero(np.diff(number[order])) + 1
    yield from (places for places in np.split(order, borders) if len(places) > 1)


def open_triangles(edges: Mask, limit: int) -> Ints:
    """Find triples of nodes whose first and second are joined, and second and third, but not the ends.

    Args:
        edges: (n_nodes, n_nodes) whether two nodes are joined; symmetric, false on the diagonal.
        limit: list so many triples of the same ends at most.

    Returns:
        (n, 3) the triples; the first node of each is before the third.
    """
    paths = edges.astype(np.float32) @ edges.astype(np.float32)
    ends = np.argwhere(np.triu((paths > 0) & ~edges, 1))
    found = [np.zeros((0, 3), np.int64)]
    for first, last in ends.tolist():
        between = np.flatnonzero(edges[first] & edges[last])[:limit]
        triples = np.empty((len(between), 3), np.int64)
        triples[:, 0], triples[:, 1], triples[:, 2] = first, between, last
        found.append(triples)
    return np.concatenate(found)
