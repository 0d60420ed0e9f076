"""Counts of the six subtasks of WikiPossessions in an article.

Source: Chinnappa, Palmer and Blanco (2020), section 5.

Conventions: precision is the sum of `found_of_system` divided by the sum of `system`; recall is the sum of
`found_of_gold` divided by the sum of `gold`.  Nothing is divided here.

Ordered pairs are pairs of names: the first possessed it no later than the other.  A tie gives a pair in both
directions, as in the paper's Table 3.  A name that occurs several times has the pairs of all its possessions, and no
pair has the same name twice.  Possessions without an order are in no pair.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Floats, LimitError, Mask
from closeread.tasks.wikipossessions.dates import Reading, Tolerance, parse_time, time_overlap
from closeread.tasks.wikipossessions.matching import (
    Name,
    Order,
    Pair,
    Possessions,
    match_possessions,
    normalize_name,
    order_key,
)


def ordered_pairs(side: Possessions, suborder: str = "tuple") -> tuple[list[Name], Mask]:
    """Return the distinct names of a side, and its ordered pairs.

    These are whether some possession of one name comes no later than some possession of the other, (n_names, n_names).

    "tuple" compares orders number by number (6 before 6.1 before 6.2); "nested_tie" also lets a possession tie with the
    one it is nested in (6 and 6.1); "integer_part" compares only the first number.
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
    return list(names.values()), before


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


FAMILIES = ("possessor", "possessor_certainty", "anchor", "relation", "relation_certainty", "ordering")
"""The subtasks: possessors, their certainty, anchors, relations to them, certainty of relations, and ordering."""

COUNTS = ("found_of_system", "system", "found_of_gold", "gold")

MAX_POSSESSIONS = 2_000
"""The most possessions of an article, since all of gold are compared with all of a system."""

MAX_WORDS = 100
"""The most words of a possessor, without function words."""


class Rules(NamedTuple):
    """How an article is scored, by the procedure's options of these names."""

    setting: str = "exact"
    scenario: str = "all"
    reading: Reading = Reading()
    matching: str = "one_to_one"
    tolerance: Tolerance = Tolerance()
    relation_certainty_gold: str = "anchored"
    relation_requires: str = "none"
    suborder: str = "tuple"
    ordering_match: str = "existential"


def possessions(rows: Sequence[Mapping[str, Any]], reading: Reading) -> Possessions:
    """Convert rows with `possessor`, `certainty`, `order`, `anchor`, `relation` and `relation_certainty` to columns."""
    if len(rows) > MAX_POSSESSIONS:
        raise LimitError(0, len(rows), "possessions", MAX_POSSESSIONS)
    names = [normalize_name(row["possessor"], reading.strip_scope) for row in rows]
    if (n_words := max((len(name.tokens) for name in names), default=0)) > MAX_WORDS:
        raise LimitError(0, n_words, "words in a possessor", MAX_WORDS)
    orders = [row.get("order") for row in rows]
    return Possessions(
        names,
        [None if order is None else order_key(order) for order in orders],
        [row.get("certainty") for row in rows],
        [parse_time(row.get("anchor"), row.get("relation"), reading) for row in rows],
        [row.get("relation") for row in rows],
        [row.get("relation_certainty") for row in rows],
    )


def article_counts(system: Possessions, gold: Possessions, rules: Rules) -> Floats:
    """Count what the scores of an article are computed from.

    Returns:
        (6, 4) float64, rows in the order of `FAMILIES`, columns in that of `COUNTS`.
    """
    if rules.scenario == "oracle":  # the first of each name
        first: dict[tuple[str, ...], int] = {}
        for i in system.in_order():
            first.setdefault(system.names[i].tokens, i)
        if unknown := first.keys() - {name.tokens for name in gold.names}:
            raise ValueError(f"{len(unknown):,} predicted names are not in gold")
        system = system.select(sorted(first.values()))
    pairs = match_possessions(system, gold, rules.setting, rules.matching)
    if rules.scenario == "all_correct":
        # The matching stays the same, since the dropped predictions had no partner.
        system = system.select([i for i, _ in pairs])
        pairs = [(i, j) for i, (_, j) in enumerate(pairs)]

    def compare(family: str, i: int, j: int) -> tuple[Fraction | int, Fraction | int]:
        """Return what a pair adds to the numerators of precision and recall."""
        if family == "possessor":
            return 1, 1
        if family == "anchor":
            return time_overlap(system.times[i], gold.times[j], rules.tolerance)
        column = "certainty" if family == "possessor_certainty" else family
        one, other = getattr(system, column)[i], getattr(gold, column)[j]
        is_right = one is not None and one == other
        if column != "certainty" and rules.relation_requires == "anchor":
            is_right = is_right and time_overlap(system.times[i], gold.times[j], rules.tolerance)[0] > 0
        return int(is_right), int(is_right)

    anchored = [time is not None for time in system.times], [time is not None for time in gold.times]
    counts: list[tuple[float, ...]] = []
    for family in FAMILIES[:-1]:
        ours, theirs = anchored
        if family.startswith("possessor"):
            ours, theirs = [True] * len(system.names), [True] * len(gold.names)
        elif family == "relation_certainty" and rules.relation_certainty_gold == "certain_only":
            # Without the gold relations that are not certain, and the predictions matched with them.
            theirs = [has and label == "certain" for has, label in zip(theirs, gold.relation_certainty, strict=True)]
            left_out = {i for i, j in pairs if anchored[1][j] and not theirs[j]}
            ours = [has and i not in left_out for i, has in enumerate(ours)]
        of_system: Fraction | int = 0
        of_gold: dict[int, Fraction | int] = {}
        for i, j in pairs:
            if ours[i] and theirs[j]:
                right, found = compare(family, i, j)
                of_system += right
                of_gold[j] = max(found, of_gold.get(j, 0))  # of several predictions, the best counts
        counts.append((float(of_system), sum(ours), float(sum(of_gold.values())), sum(theirs)))
    return np.array([*counts, count_ordered_pairs(system, gold, pairs, rules)], np.float64)


def count_ordered_pairs(
    system: Possessions, gold: Possessions, pairs: Sequence[Pair], rules: Rules
) -> tuple[int, int, int, int]:
    """Count the ordered pairs of possessors of an article, and those that the other side has, as in `COUNTS`."""
    (names, before), (gold_names, gold_before) = (ordered_pairs(side, rules.suborder) for side in (system, gold))
    paired = {(system.names[i].tokens, gold.names[j].tokens) for i, j in pairs}

    def match(one: Name, other: Name) -> bool:
        if rules.setting == "exact":
            return one.tokens == other.tokens
        if rules.ordering_match == "existential":
            return bool(one.content & other.content)
        return (one.tokens, other.tokens) in paired

    def find_pairs(before: Mask, matches: NDArray[np.float32]) -> Mask:
        """Return the pairs of names (rows of `matches`) whose matching names (columns) include one of these pairs."""
        found: Mask = (matches @ before.astype(np.float32) > 0).astype(np.float32) @ matches.T > 0
        return found

    # float32 products are fast, and sums of non-negative numbers don't cancel.
    matches = np.array([[match(one, other) for other in gold_names] for one in names], np.float32)
    matches = matches.reshape(len(names), len(gold_names))
    found, found_gold = before & find_pairs(gold_before, matches), gold_before & find_pairs(before, matches.T)
    return int(found.sum()), int(before.sum()), int(found_gold.sum()), int(gold_before.sum())
