"""The order that follows from a walk: times joined one after the other by "before" or "at one time".

A walk goes over times, numbered from 0 in order of first appearance.  Each step says that the time it leaves is before
the one it comes to, or that the two are one.  Steps are taken in order: one that the earlier ones entail is redundant,
one that they exclude is contradictory, and neither changes the order; the others do.  This is the sequential reduction
of temporal awareness (UzZaman and Allen, 2011) as the organisers' tool of TimeLine does it.

Conventions: a step to a time that is new can't be redundant or contradictory, so these steps, a tree, are known at
once.  Where the tree is a line, any two times are in order, and ranks say all.  Elsewhere a step between times that
were there before joins them if nothing was known of the two; every such pair is decided once, by its first step, since
later steps between the two then find it decided.

Cost: O(n) where the tree is a line, as it is unless a walk comes back to a time and goes on from there to a new one;
else a sweep over the order, O(n), for every `TOGETHER` pairs.  Nothing near O(n log n) is known for these: stepping
back to the first time is free, since it contradicts, so that a walk can lay the edges of any graph and then ask of each
whether two others lead round it, which tells whether the graph has a triangle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Bits = NDArray[np.uint8]

TOGETHER = 2048
"""How many pairs are decided, or times sought, in one sweep over the order; for speed alone."""


class Order(NamedTuple):
    """A partial order of times.

    Attributes:
        group: (n_times,) times that are one have the same group; numbered from 0.
        level: (n_groups,) how many groups a way to this one passes at most; groups of one level are not in order.
        edges: (n_edges, 2) the group before and the group after, by the level of the group before; with what follows
            from them they are the order.
    """

    group: Ints
    level: Ints
    edges: Ints

    @property
    def total(self) -> bool:
        """Whether any two groups are in order, so that levels alone decide."""
        return int(self.level.max(initial=-1)) + 1 == len(self.level)


class Walk(NamedTuple):
    """What became of the steps of a walk.

    Attributes:
        order: the order in the end.
        joins: (n_steps,) which steps changed it.
        contradicts: (n_steps,) which steps were excluded by earlier ones.
    """

    order: Order
    joins: Mask
    contradicts: Mask


def walked(at: Ints, later: Mask) -> Walk:
    """Walk over times.

    Args:
        at: (n_steps + 1,) the times, numbered in order of first appearance; or none at all.
        later: (n_steps,) whether a step says "before"; else it says "at one time".
    """
    one, other = at[:-1], at[1:]
    joins = other > np.maximum.accumulate(one)
    order = _tree(one[joins], later[joins])
    if not order.total:
        back = np.flatnonzero(~joins & (one != other))
        pairs = np.minimum(one, other)[back] * len(order.group) + np.maximum(one, other)[back]
        first = np.sort(np.unique(pairs, return_index=True)[1])
        for start in range(0, len(first), TOGETHER):
            steps = back[first[start : start + TOGETHER]]
            places = order.group[np.column_stack([one[steps], other[steps]])]
            chosen = _undecided(order, places, later[steps])
            joins[steps[chosen]] = True
            order = _extended(order, places[chosen], later[steps[chosen]])
    contradicts = ~joins
    rest = np.flatnonzero(contradicts)
    one, other = one[rest], other[rest]
    contradicts[rest] = np.where(later[rest], ~precedes(order, one, other), order.group[one] != order.group[other])
    return Walk(order, joins, contradicts)


def precedes(order: Order, one: Ints, other: Ints) -> Mask:
    """Whether times are before others, pair by pair.

    Args:
        order: the order.
        one, other: (n,) times.
    """
    groups = np.column_stack([order.group[one], order.group[other]])
    found: Mask = order.level[groups[:, 0]] < order.level[groups[:, 1]]
    if not order.total:
        found[found] = _reached(order, groups[found])
    return found


def _tree(parents: Ints, later: Mask) -> Order:
    """The order of times of which each but the first hangs on one that came earlier.

    Args:
        parents: (n_times - 1,) the time that the second time hangs on, the third, and so on.
        later: (n_times - 1,) whether it is after that time; else it is that time.
    """
    line = np.append(0, np.cumsum(later))
    if (line[parents] == line[:-1]).all():  # every time hangs on the last ones: for speed alone
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
    return _order(np.array(group), np.array(level), np.array(edges, np.int64).reshape(-1, 2))


def _order(group: Ints, level: Ints, edges: Ints) -> Order:
    return Order(group, level, edges[np.argsort(level[edges[:, 0]], kind="stable")])


def _extended(order: Order, places: Ints, later: Mask) -> Order:
    """The order with more pairs of groups (n, 2) in it, none of which it excludes."""
    if not len(places):
        return order
    from scipy.sparse import coo_array  # takes longer than most timelines, which need none of this
    from scipy.sparse.csgraph import connected_components

    n = len(order.level)
    same, edges = places[~later], np.concatenate([order.edges, places[later]])
    _, label = connected_components(coo_array((np.ones(len(same)), (same[:, 0], same[:, 1])), (n, n)), directed=False)
    codes = np.unique(label[edges].astype(np.int64) @ [n, 1])
    edges = np.column_stack([codes // n, codes % n])
    return _order(label[order.group].astype(np.int64), _levels(int(label.max()) + 1, edges), edges)


def _levels(n: int, edges: Ints) -> Ints:
    """The level of each of n groups."""
    level, waits = [0] * n, np.bincount(edges[:, 1], minlength=n).tolist()
    starts = np.searchsorted(edges[:, 0], np.arange(n + 1)).tolist()
    after = edges[:, 1].tolist()
    ready = [group for group in range(n) if not waits[group]]
    for group in ready:  # which grows
        deeper = level[group] + 1
        for child in after[starts[group] : starts[group + 1]]:
            level[child] = max(level[child], deeper)
            waits[child] -= 1
            if not waits[child]:
                ready.append(child)
    return np.array(level)


def _undecided(order: Order, places: Ints, later: Mask) -> Mask:
    """Which of some pairs of groups, (n, 2), tell something new, when each that does is put in the order at once."""
    groups, pairs = np.unique(places, return_inverse=True)
    held, width = _from(order, groups), (len(groups) + 7) // 8
    packed = b"".join(held[group].to_bytes(width, "little") for group in groups.tolist())
    sources = np.frombuffer(packed, np.uint8).reshape(-1, width).copy()
    chosen = np.zeros(len(places), np.bool_)
    for i, ((a, b), after) in enumerate(zip(pairs.reshape(-1, 2).tolist(), later.tolist(), strict=True)):
        if not (_has(sources[b], a) or _has(sources[a], b)):
            chosen[i] = True
            _join(sources, a, b)
            if not after:
                _join(sources, b, a)
    return chosen


def _join(sources: Bits, a: int, b: int) -> None:
    """Let all that b comes to come from whatever a comes from."""
    rows = np.flatnonzero(_has(sources, b) & ~_has(sources, a))
    sources[rows] |= sources[a]


def _has(bits: Bits, i: int) -> Mask:
    """Whether rows of bits have bit i."""
    found: Mask = (bits[..., i >> 3] & (1 << (i & 7))) != 0
    return found


def _from(order: Order, groups: Ints) -> list[int]:
    """Of every group, from which of these it can be reached: bit i stands for the i-th of them; each reaches itself."""
    held = [0] * len(order.level)
    for i, group in enumerate(groups.tolist()):
        held[group] |= 1 << i
    for one, other in zip(*(column.tolist() for column in order.edges.T), strict=True):
        held[other] |= held[one]
    return held


def _reached(order: Order, pairs: Ints) -> Mask:
    """Whether there is a way from the first group to the second, for pairs of different groups, (n, 2)."""
    sources, source = np.unique(pairs[:, 0], return_inverse=True)
    found = np.zeros(len(pairs), np.bool_)
    for start in range(0, len(sources), TOGETHER):
        held = _from(order, sources[start : start + TOGETHER])
        rows = np.flatnonzero((source >= start) & (source < start + TOGETHER))
        asked = zip(pairs[rows, 1].tolist(), (source[rows] - start).tolist(), strict=True)
        found[rows] = [held[target] >> bit & 1 for target, bit in asked]
    return found
