"""Ordered pairs of possessors (one possessed it no later than the other), and those that two sides share.

Source: Chinnappa, Palmer and Blanco (2020), section 5.  A tie gives a pair in both directions, as in their Table 3.

Conventions: pairs are pairs of names.  A name that occurs several times has the pairs of all its possessions, and no
pair has the same name twice.  Possessions without an order are in no pair.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Ints, Mask
from closeread.tasks.wikipossessions.kernels.matching import NamesAndOrders, Order, Pair
from closeread.tasks.wikipossessions.kernels.names import Name

SUBORDERS = ("tuple", "nested_tie", "integer_part")
ORDERING_MATCHES = ("existential", "via_matching")

Ranks = NDArray[np.int32]
NameMatches = Mask
"""(names of one side, names of the other) whether they match."""

NEVER = 2**30
"""A rank greater than that of any possession."""


class Ordered(NamedTuple):
    """The ordered pairs of the names of a side.

    Attributes:
        names: the distinct names.
        before: (n, n) whether some possession of one name comes no later than some possession of the other; False on
            the diagonal.
        first, last: (n,) the ranks of the first and last possession of each name; None if `before` does not follow
            from them, that is, from the first of one being no later than the last of the other.
    """

    names: Sequence[Name]
    before: Mask
    first: Ranks | None
    last: Ranks | None


class PairCounts(NamedTuple):
    """Predicted pairs found in gold, predicted pairs, gold pairs found in the predictions, gold pairs."""

    found_of_system: int
    system: int
    found_of_gold: int
    gold: int


def ordered_pairs(side: NamesAndOrders, suborder: str = "tuple") -> Ordered:
    """Return the ordered pairs of names of a side.

    Args:
        side: the possessions.
        suborder: "tuple" compares orders number by number (6 before 6.1 before 6.2); "nested_tie" also lets a
            possession tie with the one it is nested in (6 and 6.1); "integer_part" compares only the first number.
    """
    placed = [(name, order) for name, order in zip(side.names, side.orders, strict=True) if order is not None]
    if suborder == "integer_part":
        placed = [(name, order[:1]) for name, order in placed]
    rank = {order: i for i, order in enumerate(sorted({order for _, order in placed}))}
    names = {name.tokens: name for name, _ in placed}
    number = {tokens: i for i, tokens in enumerate(names)}
    at = np.array([number[name.tokens] for name, _ in placed], np.int64)
    ranks = np.array([rank[order] for _, order in placed], np.int64)
    # Some possession of a comes no later than some of b if the first of a comes no later than the last of b.
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
    """Let every possession come no later than those it is nested in."""
    outer: dict[Order, list[int]] = defaultdict(list)
    for name, order in placed:
        outer[order].append(name)
    # In lexicographic order, an order follows those that it is nested in, and what is between is nested in them, too.
    around: list[Order] = []
    for order in sorted(outer):
        while around and order[: len(around[-1])] != around[-1]:
            around.pop()
        before[np.ix_(outer[order], [name for other in around for name in outer[other]])] = True
        around.append(order)


def pair_counts(system: Ordered, gold: Ordered, matches: NameMatches | None) -> PairCounts:
    """Count the pairs of each side, and those found in the other side.

    Args:
        system, gold: the two sides.
        matches: (names of the system, names of gold) whether they match; a pair is found if some pair of matching names
            is a pair of the other side.  None if only equal names match.
    """
    if matches is None:
        place = {name.tokens: j for j, name in enumerate(gold.names)}
        both = [(i, place[name.tokens]) for i, name in enumerate(system.names) if name.tokens in place]
        ours, theirs = np.array(both, np.int64).reshape(-1, 2).T
        common = int((system.before[np.ix_(ours, ours)] & gold.before[np.ix_(theirs, theirs)]).sum())
        return PairCounts(common, int(system.before.sum()), common, int(gold.before.sum()))
    found = system.before & _find_matched_pairs(gold, matches)
    found_gold = gold.before & _find_matched_pairs(system, matches.T)
    return PairCounts(int(found.sum()), int(system.before.sum()), int(found_gold.sum()), int(gold.before.sum()))


def _find_matched_pairs(side: Ordered, matches: NameMatches) -> Mask:
    """Return the pairs of names (rows of `matches`) whose matching names (columns) include a pair of the side."""
    if side.first is not None and side.last is not None and len(side.names) > 1:
        return _find_matched_pairs_by_rank(side.first, side.last, matches)
    # float32 products are fast, and sums of non-negative numbers don't cancel.
    weight = matches.astype(np.float32)
    some = (weight @ side.before.astype(np.float32) > 0).astype(np.float32)
    found: Mask = some @ weight.T > 0
    return found


def _find_matched_pairs_by_rank(first: Ranks, last: Ranks, matches: Mask) -> Mask:
    """Do the same by rank, where two names are a pair if the first of one is no later than the last of the other.

    Of the names that match one name, the one with the lowest rank is the best first element; of those that match the
    other, the one with the highest rank is the best second element.  If both are the same name, which is not a pair,
    one of them is replaced by the second best.
    """
    best_first, first_1, first_2 = _find_least_two(first, matches)
    best_last, last_1, last_2 = _find_least_two(-last, matches)
    distinct = best_first[:, None] != best_last[None, :]
    second_best = (first_2[:, None] <= -last_1[None, :]) | (first_1[:, None] <= -last_2[None, :])
    found: Mask = (first_1[:, None] <= -last_1[None, :]) & (distinct | second_best)
    return found


def _find_least_two(ranks: Ranks, matches: NameMatches) -> tuple[Ints, Ranks, Ranks]:
    """Return, for each row, a matching name of the lowest rank, that rank, and the lowest rank of the others.

    Args:
        ranks: (m,) the ranks of at least two names.
        matches: (n, m) which names match each row.

    Returns:
        Three arrays, (n,); ranks are `NEVER` if there is no such name.
    """
    order = np.argsort(ranks, kind="stable")
    left = matches[:, order]
    rows = np.arange(len(left))
    found = []
    for _ in range(2):
        place = left.argmax(axis=1)
        rank = np.where(left[rows, place], ranks[order[place]], NEVER)
        found.append((order[place], rank))
        left[rows, place] = False
    return found[0][0], found[0][1], found[1][1]


def match_names_by_content(system: Ordered, gold: Ordered) -> NameMatches:
    """Match names that share a content token; equal names always do."""
    ours, theirs = (_index_tokens(side.names) for side in (system, gold))
    # Tokens of the same names match the same names, so each such block is filled once.
    blocks = {(ours[token], theirs[token]) for token in ours.keys() & theirs.keys()}
    matches = np.zeros((len(system.names), len(gold.names)), np.bool_)
    for rows, columns in blocks:
        matches[np.ix_(rows, columns)] = True
    return matches


def _index_tokens(names: Sequence[Name]) -> dict[str, tuple[int, ...]]:
    """Map each token to the indices of the names that contain it."""
    index: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(names):
        for token in name.content:
            index[token].append(i)
    return {token: tuple(numbers) for token, numbers in index.items()}


def match_names_by_pairs(
    system: Ordered, gold: Ordered, names: Sequence[Name], gold_names: Sequence[Name], pairs: Iterable[Pair]
) -> NameMatches:
    """Match names if a possession of one is matched with a possession of the other."""
    own = {name.tokens: i for i, name in enumerate(system.names)}
    other = {name.tokens: j for j, name in enumerate(gold.names)}
    matches = np.zeros((len(own), len(other)), np.bool_)
    for i, j in pairs:
        ours, theirs = names[i].tokens, gold_names[j].tokens
        if ours in own and theirs in other:
            matches[own[ours], other[theirs]] = True
    return matches
