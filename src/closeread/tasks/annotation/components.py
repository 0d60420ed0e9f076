"""An independent part of a document: the graph of mentions that links connect, and which of them to put together.

Conventions: a node is a mention, or several that are certain to be together; nodes are in the order of their first
mentions.  A solution gives every node the number of its chain, (n_nodes,); a node alone in its chain is in none.  Of
two solutions, the one with the greater gain is better; of those with equal gain, the one with more pairs of mentions
together; of those, the one that has the first pair together on which they differ.  Since the mentions of a node are
always together, the first such pair of mentions is that of the first such pair of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from closeread.arrays import Ints, Mask


@dataclass(frozen=True, eq=False)
class Component:
    """The nodes of a component.

    Attributes:
        gain: (n_nodes, n_nodes) how much less it costs to have two nodes together; symmetric, 0 on the diagonal.
        n_pairs: (n_nodes, n_nodes) the number of pairs of mentions between two nodes; symmetric, 0 on the diagonal.
        allowed: (n_nodes, n_nodes) whether two nodes may be together; symmetric, false on the diagonal.
        needs_partner: (n_nodes,) whether a node may not be alone in its chain.
    """

    gain: Ints
    n_pairs: Ints
    allowed: Mask
    needs_partner: Mask

    def __len__(self) -> int:
        return len(self.needs_partner)

    def list_values(self) -> Ints:
        """Return gain and number of pairs of two nodes as one integer, (n_nodes, n_nodes); greater is better.

        Nodes that may not be together lose more with each other than any nodes can gain.
        """
        # No sum of pairs reaches the weight of a gain.
        weight_of_gain = int(self.n_pairs.sum()) + 1
        values = self.gain * weight_of_gain + self.n_pairs
        values[~self.allowed] = -np.maximum(values, 0).sum() - 1
        np.fill_diagonal(values, 0)
        return values

    def evaluate(self, chain: Ints) -> int:
        """Return the value of a solution; greater is better."""
        return int(self.list_values()[chain[:, None] == chain].sum())

    def accepts(self, chain: Ints) -> bool:
        """Return whether a solution has only nodes together that may be, and no node alone that needs a partner."""
        together = chain[:, None] == chain
        np.fill_diagonal(together, False)
        has_partner = together.any(axis=1)
        return not (together & ~self.allowed).any() and bool(has_partner[self.needs_partner].all())

    def merge(self, node_of: Sequence[int]) -> Component:
        """Make one node of several, which don't need partners.

        Args:
            node_of: (n_nodes,) the new node of each, numbered from 0 in the order of their first nodes.
        """
        is_member = np.arange(max(node_of) + 1)[:, None] == node_of
        members = is_member.astype(np.int64)
        gain = members @ self.gain @ members.T
        n_pairs = members @ self.n_pairs @ members.T
        allowed = members @ (~self.allowed).astype(np.int64) @ members.T == 0
        for matrix in (gain, n_pairs, allowed):
            np.fill_diagonal(matrix, 0)
        needs_partner = (is_member & self.needs_partner).any(axis=1)
        return Component(gain, n_pairs, allowed, needs_partner)

    def find_twins(self) -> list[int]:
        """Find nodes that are together in the best solution: the number of each one's group, (n_nodes,).

        Two nodes are twins if they gain the same with every other node, and something with each other.  They are in
        one chain: of two chains with one of them each, one has the larger gain of both, and if the other twin moved
        there, it would gain as much as its twin, and what they gain with each other.  Annotators agree on most
        mentions, so that few nodes are left.  Where nodes need partners, moving one may leave another alone.
        """
        if self.needs_partner.any():
            return list(range(len(self)))
        values = self.list_values()
        # No value of a node is greater than the one with its twin, where it is the greatest.
        greatest = values.max(axis=1)
        np.fill_diagonal(values, greatest)
        rows: list[object] = [row.tobytes() for row in values]
        for node in np.flatnonzero(greatest <= 0).tolist():
            rows[node] = node
        return number_groups(rows)


def number_groups(keys: Iterable[object]) -> list[int]:
    """Return the number of the group of each key, from 0 in the order of their first keys: that of all equal keys."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def number_chains(together: Mask) -> Ints:
    """Return the first node that each node is with, (n_nodes,), by which nodes are together, (n_nodes, n_nodes)."""
    first: Ints = np.argmax(together | np.eye(len(together), dtype=bool), axis=1)
    return first


MAX_RULES_PER_PAIR = 100
"""How many rules about the same two nodes are added at once; with fewer, many more rounds are needed."""


def open_triangles(edges: Mask) -> Ints:
    """Find triples of nodes whose first and second are joined, and second and third, but not the ends.

    Args:
        edges: (n_nodes, n_nodes) whether two nodes are joined; symmetric, false on the diagonal.

    Returns:
        (n, 3) the triples, at most `MAX_RULES_PER_PAIR` of the same ends; the first node of each is before the third.
    """
    n_paths = edges.astype(np.float32) @ edges.astype(np.float32)
    ends = np.argwhere(np.triu((n_paths > 0) & ~edges, 1))
    triples = [np.zeros((0, 3), np.int64)]
    for first, last in ends.tolist():
        between = np.flatnonzero(edges[first] & edges[last])[:MAX_RULES_PER_PAIR]
        new = np.empty((len(between), 3), np.int64)
        new[:, 0] = first
        new[:, 1] = between
        new[:, 2] = last
        triples.append(new)
    return np.concatenate(triples)


def join_greedily(component: Component) -> Ints | None:
    """Find a good solution fast: add every node to the chain that gains most by it.

    Returns:
        (n_nodes,) the solution; None if a node that needs a partner has none.
    """
    chain = np.arange(len(component))
    placed: list[int] = []
    # Nodes that need a partner come last, when there are most chains.
    for node in np.argsort(component.needs_partner, kind="stable").tolist():
        most = -np.inf if component.needs_partner[node] else -1
        for number in np.unique(chain[placed]).tolist():
            members = [other for other in placed if chain[other] == number]
            gain = component.gain[node, members].sum()
            if gain > most and component.allowed[node, members].all():
                chain[node] = number
                most = gain
        placed.append(node)
    return chain if component.accepts(chain) else None
