"""Who possessed it no later than whom: ordered pairs of names, and those that two sides have in common.

Source: Chinnappa, Palmer and Blanco (2020), section 5.  A tie gives a pair in both directions, as in their Table 3.

Conventions: the possessions of an article are numbered by position; a name that occurs several times is one name, whose
pairs are those of all its possessions, and no pair has one name twice.  Possessions without an order have no pair.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.tasks.wikipossessions.kernels.matching import Named, Order, Pair
from closeread.tasks.wikipossessions.kernels.names import Name

SUBORDERS = ("tuple", "nested_tie", "integer_part")
ORDERING_MATCHES = ("existential", "via_matching")

Ranks = NDArray[np.int32]
Mask = NDArray[np.bool_]
Alike = Mask
"""(names of one side, names of the other) whether they count as one."""

NEVER = 2**30
"""A rank that no possession has."""


class Ordered(NamedTuple):
    """The names of a side, and which comes no later than which.

    Attributes:
        names: the distinct names.
        before: (n, n) whether a possession of one comes no later than one of the other; never the name itself.
        first, last: (n,) the rank of the first and of the last possession of each; None where `before` says more than
            that the first of one comes no later than the last of the other.
    """

    names: Sequence[Name]
    before: Mask
    first: Ranks | None
    last: Ranks | None


class PairCounts(NamedTuple):
    """Predicted pairs that gold has, predicted pairs, gold pairs that are predicted, gold pairs."""

    found_of_system: int
    system: int
    found_of_gold: int
    gold: int


def ordered_pairs(side: Named, suborder: str = "tuple") -> Ordered:
    """The ordered pairs of names of a side.

    Args:
        side: its possessions.
        suborder: "tuple", where orders are compared number by number (6 before 6.1 before 6.2); "nested_tie", where a
            possession moreover ties with the one that it is inside of (6 and 6.1); "integer_part", where only the first
            number counts.
    """
    placed = [(name, order) for name, order in zip(side.names, side.orders, strict=True) if order is not None]
    if suborder == "integer_part":
        placed = [(name, order[:1]) for name, order in placed]
    rank = {order: i for i, order in enumerate(sorted({order for _, order in placed}))}
    names = {name.tokens: name for name, _ in placed}
    number = {tokens: i for i, tokens in enumerate(names)}
    at = np.array([number[name.tokens] for name, _ in placed], np.int64)
    ranks = np.array([rank[order] for _, order in placed], np.int64)
    # Some possession of a comes no later than some of b where the first of a comes no later than the last of b.
    first, last = np.full(len(names), len(rank), np.int32), np.full(len(names), -1, np.int32)
    np.minimum.at(first, at, ranks)
    np.maximum.at(last, at, ranks)
    before = first[:, None] <= last[None, :]
    if suborder == "nested_tie":
        _tie_nested([(number[name.tokens], order) for name, order in placed], before)
    np.fill_diagonal(before, val=False)
    if suborder == "nested_tie":
        return Ordered(list(names.values()), before, None, None)
    return Ordered(list(names.values()), before, first, last)


def _tie_nested(placed: Iterable[tuple[int, Order]], before: Mask) -> None:
    """Let every possession come no later than those that it is inside of."""
    outer: dict[Order, list[int]] = defaultdict(list)
    inner: dict[Order, list[int]] = defaultdict(list)
    for name, order in placed:
        outer[order].append(name)
        for depth in range(1, len(order)):
            inner[order[:depth]].append(name)
    for order in outer.keys() & inner.keys():
        before[np.ix_(inner[order], outer[order])] = True


def pair_counts(system: Ordered, gold: Ordered, alike: Alike | None) -> PairCounts:
    """Pairs of either side that the other side has.

    Args:
        system, gold: the two sides.
        alike: (names of the system, names of gold) whether they count as one: a pair is found where the other side has
            some pair of names that count as its names.  None where equal names do and no others.
    """
    if alike is None:
        place = {name.tokens: j for j, name in enumerate(gold.names)}
        both = [(i, place[name.tokens]) for i, name in enumerate(system.names) if name.tokens in place]
        ours, theirs = np.array(both, np.int64).reshape(-1, 2).T
        common = int((system.before[np.ix_(ours, ours)] & gold.before[np.ix_(theirs, theirs)]).sum())
        return PairCounts(common, int(system.before.sum()), common, int(gold.before.sum()))
    found = system.before & _carried(gold, alike)
    found_gold = gold.before & _carried(system, alike.T)
    return PairCounts(int(found.sum()), int(system.before.sum()), int(found_gold.sum()), int(gold.before.sum()))


def _carried(side: Ordered, alike: Alike) -> Mask:
    """The pairs of names (rows of `alike`) for which some names like them (columns) are a pair of the side."""
    if side.first is not None and side.last is not None and len(side.names) > 1:
        return _carried_by_ranks(side.first, side.last, alike)
    # float32 has a fast product, and of what is not negative no sum is 0.
    weight = alike.astype(np.float32)
    some = (weight @ side.before.astype(np.float32) > 0).astype(np.float32)
    carried: Mask = some @ weight.T > 0
    return carried


def _carried_by_ranks(first: Ranks, last: Ranks, alike: Mask) -> Mask:
    """The same by ranks alone, where a pair is two names, the first of one no later than the last of the other.

    Of the names like one, that with the least rank is the best to come first, and of those like the other, that with
    the greatest the best to come last; where both are one name, which is no pair, either gives way to the second best.
    """
    best_first, first_1, first_2 = _least_two(first, alike)
    best_last, last_1, last_2 = _least_two(-last, alike)
    apart = best_first[:, None] != best_last[None, :]
    instead = (first_2[:, None] <= -last_1[None, :]) | (first_1[:, None] <= -last_2[None, :])
    found: Mask = (first_1[:, None] <= -last_1[None, :]) & (apart | instead)
    return found


def _least_two(ranks: Ranks, alike: Alike) -> tuple[NDArray[np.int64], Ranks, Ranks]:
    """Of the names like each: one with the least rank, that rank, and the least of the others; far too great for none.

    Args:
        ranks: (m,) of the names, two at least.
        alike: (n, m) which are like each.
    """
    order = np.argsort(ranks, kind="stable")
    left = alike[:, order]
    everyone = np.arange(len(left))
    found = []
    for _ in range(2):
        place = left.argmax(axis=1)
        rank = np.where(left[everyone, place], ranks[order[place]], NEVER)
        found.append((order[place], rank))
        left[everyone, place] = False
    return found[0][0], found[0][1], found[1][1]


def alike_by_content(system: Ordered, gold: Ordered) -> Alike:
    """Names alike where they have a content token in common, as the same names have."""
    ours, theirs = (_holders(side.names) for side in (system, gold))
    # Tokens that the same names hold make the same names alike.
    blocks = {(ours[token], theirs[token]) for token in ours.keys() & theirs.keys()}
    alike = np.zeros((len(system.names), len(gold.names)), np.bool_)
    for rows, columns in blocks:
        alike[np.ix_(rows, columns)] = True
    return alike


def _holders(names: Sequence[Name]) -> dict[str, tuple[int, ...]]:
    """The numbers of the names that hold each token, by token."""
    holders: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(names):
        for token in name.content:
            holders[token].append(i)
    return {token: tuple(numbers) for token, numbers in holders.items()}


def alike_by_matching(
    system: Ordered, gold: Ordered, names: Sequence[Name], gold_names: Sequence[Name], pairs: Iterable[Pair]
) -> Alike:
    """Names alike where a possession of one is matched with a possession of the other."""
    own = {name.tokens: i for i, name in enumerate(system.names)}
    other = {name.tokens: j for j, name in enumerate(gold.names)}
    alike = np.zeros((len(own), len(other)), np.bool_)
    for i, j in pairs:
        ours, theirs = names[i].tokens, gold_names[j].tokens
        if ours in own and theirs in other:
            alike[own[ours], other[theirs]] = True
    return alike
