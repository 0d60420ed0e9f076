"""An independent part of a document: the graph of mentions that links connect, and which of them to put together.

Conventions: a node is a mention, or several that are certain to be together; nodes are in the order of their first
mentions.  A solution gives every node the number of its chain, (n_nodes,); a node alone in its chain is in none.  Of
two solutions, the one with the greater gain is better; of those with equal gain, the one with more pairs of mentions
together; of those, the one that has the first pair together on which they differ.  Since the mentions of a node are
always together, the first such pair of mentions is that of the first such pair of nodes.
"""

from __future__ import annotations

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

    def evaluate(self, chain: Ints) -> tuple[int, int]:
        """Return the value of a solution; greater is better.

        That is how much less it costs than all nodes apart, and the number of pairs of mentions that it has together,
        without those inside nodes.
        """
        together = chain[:, None] == chain
        return int(self.gain[together].sum()) // 2, int(self.n_pairs[together].sum()) // 2

    def accepts(self, chain: Ints) -> bool:
        """Return whether a solution has only nodes together that may be, and no node alone that needs a partner."""
        together = chain[:, None] == chain
        np.fill_diagonal(together, False)
        has_partner = together.any(axis=1)
        return not (together & ~self.allowed).any() and bool(has_partner[self.needs_partner].all())


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
    for node in range(1, len(component)):
        earlier = chain[:node]
        gain = np.bincount(earlier, component.gain[node, :node])
        n_forbidden = np.bincount(earlier, ~component.allowed[node, :node])
        has_members = np.bincount(earlier) > 0
        gain[(n_forbidden > 0) | ~has_members] = -1
        if gain.max() >= 0:
            chain[node] = gain.argmax()
    for node in np.flatnonzero(component.needs_partner).tolist():
        if (chain == chain[node]).sum() > 1:
            continue
        partners = np.flatnonzero(component.allowed[node])
        by_gain = np.argsort(-component.gain[node, partners], kind="stable")
        for partner in partners[by_gain].tolist():
            if component.allowed[node, chain == chain[partner]].all():
                chain[node] = chain[partner]
                break
    return chain if component.accepts(chain) else None
