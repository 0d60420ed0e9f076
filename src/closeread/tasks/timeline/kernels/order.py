"""The partial order that a walk over times defines.

A walk visits times, numbered from 0 in order of first appearance.  Each step states that the time it leaves is before
the time it reaches, or that the two are simultaneous.  Steps are processed in order: a step that earlier steps entail
is redundant, a step that they exclude is contradictory, and neither changes the order; all other steps do.  This is the
sequential reduction of temporal awareness (UzZaman and Allen, 2011) as the official TimeLine scorer implements it.

Conventions: a step to a new time is neither redundant nor contradictory, so these steps form a tree and need no check.
If the tree is a line, the order is total and ranks decide everything.  Otherwise a step between two known times is
added if the two are not ordered yet.  The first step between a pair decides it; later steps find it decided.

Cost: O(n) if the tree is a line, which it is unless a walk returns to an earlier time and continues to a new one.
Otherwise, every `BATCH` pairs that are in no chain take a sweep over the times where chains begin, meet or part
(`closeread.tasks.timeline.kernels.junctions`), of which there are few if a walk seldom returns.  In the worst case, no
algorithm near O(n log n) is known: stepping back to the first time is free, because that step contradicts, so a walk
can encode the edges of any graph and then test for each edge whether two other edges connect its ends, which detects
triangles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Ints, Mask
from closeread.tasks.timeline.kernels.junctions import find_descendants, find_junctions, measure_levels

Bits = NDArray[np.uint8]

BATCH = 2048
"""How many pairs, or source times, one sweep over the order handles; affects speed only."""


class Order(NamedTuple):
    """A partial order of times.

    Attributes:
        group: (n_times,) the group of each time, from 0; simultaneous times share a group.
        level: (n_groups,) length of the longest path that leads to each group; groups of one level are unordered.
        edges: (n_edges, 2) earlier and later group, sorted by the level of the earlier one; the order is their
            transitive closure.
    """

    group: Ints
    level: Ints
    edges: Ints

    @property
    def total(self) -> bool:
        """Whether the order is total, so that levels alone decide."""
        return int(self.level.max(initial=-1)) + 1 == len(self.level)


class Walk(NamedTuple):
    """The result of a walk.

    Attributes:
        order: the final order.
        joins: (n_steps,) steps that changed the order.
        contradicts: (n_steps,) steps that contradict earlier ones.
    """

    order: Order
    joins: Mask
    contradicts: Mask


def follow_walk(at: Ints, later: Mask) -> Walk:
    """Process the steps of a walk in order.

    Args:
        at: (n_steps + 1,) the times visited, numbered in order of first appearance; may be empty.
        later: (n_steps,) True for "before", False for "simultaneous".
    """
    one, other = at[:-1], at[1:]
    joins = other > np.maximum.accumulate(one)
    order = _build_tree(one[joins], later[joins])
    if not order.total:
        back = np.flatnonzero(~joins & (one != other))
        pairs = np.minimum(one, other)[back] * len(order.group) + np.maximum(one, other)[back]
        first = np.sort(np.unique(pairs, return_index=True)[1])
        for start in range(0, len(first), BATCH):
            steps = back[first[start : start + BATCH]]
            groups = order.group[np.column_stack([one[steps], other[steps]])]
            new = _find_undecided(order, groups, later[steps])
            joins[steps[new]] = True
            order = _extend(order, groups[new], later[steps[new]])
    contradicts = ~joins
    rest = np.flatnonzero(contradicts)
    one, other = one[rest], other[rest]
    contradicts[rest] = np.where(later[rest], ~precedes(order, one, other), order.group[one] != order.group[other])
    return Walk(order, joins, contradicts)


def precedes(order: Order, one: Ints, other: Ints) -> Mask:
    """Test pair by pair whether a time is before another.

    Args:
        order: the order.
        one, other: (n,) times.

    Returns:
        (n,) True where `one` is before `other`.
    """
    groups = np.column_stack([order.group[one], order.group[other]])
    found: Mask = order.level[groups[:, 0]] < order.level[groups[:, 1]]
    if not order.total:
        found[found] = _find_reachable(order, groups[found])
    return found


def _build_tree(parents: Ints, later: Mask) -> Order:
    """Return the order of a tree of times.

    Args:
        parents: (n_times - 1,) the earlier time that each time but the first is attached to.
        later: (n_times - 1,) True if it is after its parent, False if it is simultaneous with it.
    """
    line = np.append(0, np.cumsum(later))
    if (line[parents] == line[:-1]).all():  # the tree is a line: a shortcut for speed
        levels = np.arange(line[-1] + 1)
        return Order(line, levels, np.column_stack([levels[:-1], levels[1:]]))
    group, level, edges = [0], [0], []
    for parent, after in zip(parents.tolist(), later.tolist(), strict=True):
        above = group[parent]
        if after:
            edges.append((above, len(level)))
            group.append(len(level))
            level.append(level[above] + 1)
        else:
            group.append(above)
    return _make_order(np.array(group), np.array(level), np.array(edges, np.int64).reshape(-1, 2))


def _make_order(group: Ints, level: Ints, edges: Ints) -> Order:
    return Order(group, level, edges[np.argsort(level[edges[:, 0]], kind="stable")])


def _extend(order: Order, pairs: Ints, later: Mask) -> Order:
    """Add pairs of groups, (n, 2), that do not contradict the order."""
    if not len(pairs):
        return order
    from scipy.sparse import coo_array  # importing it takes longer than scoring most timelines, which don't need it
    from scipy.sparse.csgraph import connected_components

    n = len(order.level)
    same, edges = pairs[~later], np.concatenate([order.edges, pairs[later]])
    _, label = connected_components(coo_array((np.ones(len(same)), (same[:, 0], same[:, 1])), (n, n)), directed=False)
    codes = np.sort(label[edges].astype(np.int64) @ [n, 1])
    codes = codes[np.append(True, codes[1:] != codes[:-1])] if len(codes) else codes
    edges = np.column_stack([codes // n, codes % n])
    return _make_order(label[order.group].astype(np.int64), measure_levels(int(label.max()) + 1, edges), edges)


def _find_undecided(order: Order, pairs: Ints, later: Mask) -> Mask:
    """Find the pairs of groups, (n, 2), that add to the order, adding each of them before the next pair is tested."""
    groups, places = np.unique(pairs, return_inverse=True)
    width = (len(groups) + 7) // 8
    packed = b"".join(reached.to_bytes(width, "little") for reached in _find_sources(order, groups, groups))
    sources = np.frombuffer(packed, np.uint8).reshape(-1, width).copy()
    new = np.zeros(len(pairs), np.bool_)
    for i, ((a, b), after) in enumerate(zip(places.reshape(-1, 2).tolist(), later.tolist(), strict=True)):
        if not (_has_bit(sources[b], a) or _has_bit(sources[a], b)):
            new[i] = True
            _add_path(sources, a, b)
            if not after:
                _add_path(sources, b, a)
    return new


def _add_path(sources: Bits, a: int, b: int) -> None:
    """Make everything that b reaches reachable from everything that reaches a."""
    rows = np.flatnonzero(_has_bit(sources, b) & ~_has_bit(sources, a))
    sources[rows] |= sources[a]


def _has_bit(bits: Bits, i: int) -> Mask:
    """Test rows of bits for bit i."""
    found: Mask = (bits[..., i >> 3] & (1 << (i & 7))) != 0
    return found


def _find_sources(order: Order, groups: Ints, targets: Ints) -> list[int]:
    """For every target, return which of `groups` reach it: bit i stands for `groups[i]`; each group reaches itself."""
    found = find_junctions(len(order.level), order.edges, groups)
    edges = found.edges[np.argsort(order.level[found.edges[:, 0]], kind="stable")]
    sources = [0] * len(order.level)
    for i, group in enumerate(groups.tolist()):
        sources[group] |= 1 << i
    for one, other in zip(*(column.tolist() for column in edges.T), strict=True):
        sources[other] |= sources[one]
    return [sources[group] for group in found.last[targets].tolist()]


def _find_reachable(order: Order, pairs: Ints) -> Mask:
    """Test pairs of distinct groups, (n, 2), for a path from the first to the second."""
    found = np.zeros(len(pairs), np.bool_)
    if len(pairs) > BATCH:  # of many pairs, most are an edge, or on a path of the same tree
        codes = np.sort(order.edges @ [len(order.level), 1])
        asked = pairs @ [len(order.level), 1]
        found = codes[np.minimum(np.searchsorted(codes, asked), len(codes) - 1)] == asked
        found |= find_descendants(order.edges, order.level, pairs)
    open_ = np.flatnonzero(~found)
    sources, source = np.unique(pairs[open_, 0], return_inverse=True)
    for start in range(0, len(sources), BATCH):
        rows = np.flatnonzero((source >= start) & (source < start + BATCH))
        reached_from = _find_sources(order, sources[start : start + BATCH], pairs[open_[rows], 1])
        bits = (source[rows] - start).tolist()
        found[open_[rows]] = [reached >> bit & 1 for reached, bit in zip(reached_from, bits, strict=True)]
    return found
