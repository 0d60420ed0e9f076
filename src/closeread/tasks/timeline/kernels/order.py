"""The partial order that a walk over times defines.

A walk visits times, numbered from 0 in order of first appearance.  Each step states that the time it leaves is before
the time it reaches, or that the two are simultaneous.  Steps are processed in order: a step that earlier steps entail
is redundant, a step that they exclude is contradictory, and neither changes the order; all other steps do.  This is the
sequential reduction of temporal awareness (UzZaman and Allen, 2011) as the official TimeLine scorer implements it.

A step to a new time is neither redundant nor contradictory, so these steps form a tree and need no check.  If the tree
is a line, the order is total.  Otherwise every time has the set of those before it, as the bits of an integer, and a
step between two known times is added if they are not ordered yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask


class Order(NamedTuple):
    """A partial order of times.

    Attributes:
        group: (n_times,) simultaneous times share a group; if the order is total, groups are numbered in order.
        before: for each group, those before it, as the bits of an integer; None if the order is total.
    """

    group: Ints
    before: Sequence[int] | None


class Walk(NamedTuple):
    """The result of a walk.

    Attributes:
        order: the final order.
        joins: (n_steps,) steps that changed the order.
        contradicts: (n_steps,) steps that contradict the others.
    """

    order: Order
    joins: Mask
    contradicts: Mask


def follow_walk(at: Ints, later: Mask) -> Walk:
    """Process the steps of a walk in order."""
    one, other = at[:-1], at[1:]
    joins = other > np.maximum.accumulate(one)  # the steps to new times
    line = np.append(0, np.cumsum(later[joins]))
    if (line[one[joins]] == line[:-1]).all():  # each leaves the latest time
        order = Order(line, None)
    else:
        group, before = _grow_tree(one[joins].tolist(), later[joins].tolist())
        for step in np.flatnonzero(~joins & (one != other)).tolist():
            a, b = group[one[step]], group[other[step]]
            if a != b and not (before[a] >> b | before[b] >> a) & 1:
                joins[step] = True
                _add(group, before, a, b, later=bool(later[step]))
        order = Order(np.array(group), before)
    is_simultaneous = order.group[one] == order.group[other]
    contradicts = ~joins
    contradicts[~joins] = np.where(later, ~precedes(order, one, other), ~is_simultaneous)[~joins]
    return Walk(order, joins, contradicts)


def precedes(order: Order, one: Ints, other: Ints) -> Mask:
    """Test pair by pair whether a time is before another, (n,)."""
    earlier, later = order.group[one], order.group[other]
    if order.before is None:
        return np.less(earlier, later)
    before = order.before
    bits = [before[b] >> a & 1 for a, b in zip(earlier.tolist(), later.tolist(), strict=True)]
    return np.array(bits, np.bool_)


def _grow_tree(parents: Sequence[int], later: Sequence[bool]) -> tuple[list[int], list[int]]:
    """Return the group of each time, named by its first time, and the groups before each."""
    group, before = [0], [0]
    for time, (parent, after) in enumerate(zip(parents, later, strict=True), 1):
        above = group[parent]
        group.append(time if after else above)
        before.append(before[above] | 1 << above if after else 0)
    return group, before


def _add(group: list[int], before: list[int], a: int, b: int, *, later: bool) -> None:
    """Add to an order that group b is after group a, or simultaneous with it, which is then named a."""
    if later:
        new = before[a] | 1 << a
        reached = 1 << b
    else:
        new = before[a] | before[b] | 1 << a | 1 << b
        reached = 1 << a | 1 << b
        group[:] = [a if one == b else one for one in group]
    for one, earlier in enumerate(before):
        if earlier & reached:
            before[one] |= new
    if later:
        before[b] |= new
    else:
        before[a] = before[a] | before[b]
