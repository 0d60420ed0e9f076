"""Directed graphs without cycles, reduced to the nodes where paths begin, meet or part.

A node that has a single edge to it is reached only through that edge.  So chains of such nodes can be left out, and
what reaches one of them is what reaches the last node before it that is kept.  Most timelines are a few long chains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask


class Junctions(NamedTuple):
    """A graph without its chains.

    Attributes:
        last: (n,) the last node that is kept on the only way to each node, which may be the node itself.
        steps: (n,) the number of edges from there.
        edges: (n_kept_edges, 2) edges between nodes that are kept, of which some stand for chains.
        length: (n_kept_edges,) the number of edges that each stands for.
    """

    last: Ints
    steps: Ints
    edges: Ints
    length: Ints


def find_junctions(n: int, edges: Ints, keep: Ints) -> Junctions:
    """Leave the chains out of a graph without cycles.

    Args:
        n: the number of nodes.
        edges: (n_edges, 2) distinct edges.
        keep: nodes to keep, besides those where edges begin or end that are not in the tree of first edges.
    """
    node = np.arange(n)
    parent = _choose_parents(n, edges)
    others = edges[parent[edges[:, 1]] != edges[:, 0]]
    kept = parent == node
    kept[keep] = kept[others] = True
    last, steps = np.where(kept, node, parent), (~kept).astype(np.int64)
    while not kept[last].all():  # each round doubles the distance
        last, steps = last[last], steps + steps[last]
    below = np.flatnonzero(kept & (parent != node))
    above = parent[below]
    through = np.column_stack([last[above], below])
    length = np.append(steps[above] + 1, np.ones(len(others), np.int64))
    return Junctions(last, steps, np.concatenate([through, others]), length)


def measure_levels(n: int, edges: Ints) -> Ints:
    """Return the length of the longest path to each node of a graph without cycles, (n,).

    Args:
        n: the number of nodes.
        edges: (n_edges, 2) distinct edges.
    """
    found = find_junctions(n, edges, np.empty(0, np.int64))
    level, waits = [0] * n, np.bincount(found.edges[:, 1], minlength=n).tolist()
    order = np.argsort(found.edges[:, 0], kind="stable")
    after, length = found.edges[order, 1].tolist(), found.length[order].tolist()
    starts = np.searchsorted(found.edges[order, 0], np.arange(n + 1)).tolist()
    ready = [node for node in np.flatnonzero(found.steps == 0).tolist() if not waits[node]]
    for node in ready:  # grows while it is iterated
        for i in range(starts[node], starts[node + 1]):
            child = after[i]
            level[child] = max(level[child], level[node] + length[i])
            waits[child] -= 1
            if not waits[child]:
                ready.append(child)
    return np.array(level, np.int64)[found.last] + found.steps


def find_descendants(edges: Ints, level: Ints, pairs: Ints) -> Mask:
    """Test pairs of nodes, (n_pairs, 2), for a path in the tree of one edge to each node: if there is one, True.

    Args:
        edges: (n_edges, 2) edges of a graph without cycles.
        level: (n,) the length of the longest path to each node.
        pairs: the pairs; where the result is False, there may be a path all the same.
    """
    parent = _choose_parents(len(level), edges).tolist()
    downwards: Sequence[int] = np.argsort(level, kind="stable").tolist()
    size = [1] * len(level)
    for node in reversed(downwards):
        if parent[node] != node:
            size[parent[node]] += size[node]
    # Nodes are numbered so that a node is followed by all nodes below it in the tree.
    number, following, free = [0] * len(level), [0] * len(level), 0
    for node in downwards:
        above = parent[node]
        if above == node:
            number[node], free = free, free + size[node]
        else:
            number[node] = following[above]
            following[above] += size[node]
        following[node] = number[node] + 1
    one, other = np.array(number)[pairs].T
    found: Mask = (one <= other) & (other < one + np.array(size)[pairs[:, 0]])
    return found


def _choose_parents(n: int, edges: Ints) -> Ints:
    """Return where one of the edges to each node comes from, (n,); the node itself if there is none."""
    parent = np.arange(n)
    parent[edges[:, 1]] = edges[:, 0]
    return parent
