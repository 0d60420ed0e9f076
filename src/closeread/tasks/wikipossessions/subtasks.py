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
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Floats, LimitError, Mask
from closeread.tasks.wikipossessions.dates import parse_time, time_overlap
from closeread.tasks.wikipossessions.matching import (
    NormalizedName,
    Order,
    Possession,
    match_possessions,
    normalize_name,
    parse_order,
    sort_positions,
)

FAMILIES = (
    "possessor",
    "possessor_certainty",
    "anchor",
    "relation",
    "relation_certainty",
    "ordering",
)
"""The subtasks: possessors, their certainty, anchors, relations to them, certainty of relations, and ordering."""

COUNTS = ("found_of_system", "system", "found_of_gold", "gold")

MAX_POSSESSIONS = 2_000
"""The most possessions of an article, since all of gold are compared with all of a system."""

MAX_WORDS = 100
"""The most words of a possessor, without function words."""

Options = Mapping[str, str]
"""The procedure's options."""

Match = Callable[[NormalizedName, NormalizedName], bool]
"""Tells whether a predicted and a gold name match."""


def read_possessions(rows: Sequence[Mapping[str, Any]]) -> list[Possession]:
    """Read rows with `possessor`, `certainty`, `order`, `anchor`, `relation` and `relation_certainty`."""
    if len(rows) > MAX_POSSESSIONS:
        raise LimitError(0, len(rows), "possessions", MAX_POSSESSIONS)
    possessions = []
    for row in rows:
        name = normalize_name(row["possessor"])
        if len(name.tokens) > MAX_WORDS:
            raise LimitError(0, len(name.tokens), "words in a possessor", MAX_WORDS)
        order = row.get("order")
        possession = Possession(
            name,
            None if order is None else parse_order(order),
            row.get("certainty"),
            parse_time(row.get("anchor")),
            row.get("relation"),
            row.get("relation_certainty"),
        )
        possessions.append(possession)
    return possessions


def ordered_pairs(side: Sequence[Possession]) -> tuple[list[NormalizedName], Mask]:
    """Return the distinct names of a side, and its ordered pairs.

    These are whether some possession of one name comes no later than some possession of the other, (n_names, n_names).
    """
    orders: dict[NormalizedName, list[Order]] = defaultdict(list)
    for possession in side:
        if possession.order is not None:
            orders[possession.name].append(possession.order)
    # Some possession of a comes no later than some of b if the first of a comes no later than the last of b.
    first = [min(orders_of_name) for orders_of_name in orders.values()]
    last = [max(orders_of_name) for orders_of_name in orders.values()]
    ranks = {order: rank for rank, order in enumerate(sorted({*first, *last}))}
    first_ranks = np.array([ranks[order] for order in first])
    last_ranks = np.array([ranks[order] for order in last])
    before: Mask = first_ranks[:, None] <= last_ranks[None, :]
    np.fill_diagonal(before, val=False)
    return list(orders), before


def article_counts(
    system: Sequence[Possession], gold: Sequence[Possession], options: Options
) -> Floats:
    """Return the counts behind the scores of an article: rows as `FAMILIES`, columns as `COUNTS`, (6, 4)."""
    if options["scenario"] == "oracle":
        system = _take_first_of_each_name(system, gold)
    pairs = match_possessions(system, gold, options["setting"])
    matched = [(system[i], gold[j]) for i, j in pairs]
    if options["scenario"] == "all_correct":
        # The matching stays the same, since the dropped predictions had no partner.
        system = [predicted for predicted, _ in matched]
    anchored = [
        (predicted, expected)
        for predicted, expected in matched
        if predicted.time is not None and expected.time is not None
    ]
    years_of_system = Fraction()
    years_of_gold = Fraction()
    for predicted, expected in anchored:
        of_system, of_gold = time_overlap(predicted.time, expected.time, options["tolerance"])
        years_of_system += of_system
        years_of_gold += of_gold
    same_certainty = _count_equal("certainty", matched)
    same_relation = _count_equal("relation", anchored)
    same_relation_certainty = _count_equal("relation_certainty", anchored)
    n_system = len(system)
    n_gold = len(gold)
    n_times = sum(possession.time is not None for possession in system)
    n_gold_times = sum(possession.time is not None for possession in gold)
    # P = Σ found / Σ system and R = Σ found / Σ gold, each over the articles.
    counts = [
        (len(matched), n_system, len(matched), n_gold),
        (same_certainty, n_system, same_certainty, n_gold),
        (years_of_system, n_times, years_of_gold, n_gold_times),
        (same_relation, n_times, same_relation, n_gold_times),
        (same_relation_certainty, n_times, same_relation_certainty, n_gold_times),
        count_ordered_pairs(system, gold, choose_match(options["setting"])),
    ]
    return np.array(counts, np.float64)


def _take_first_of_each_name(
    system: Sequence[Possession], gold: Sequence[Possession]
) -> list[Possession]:
    """Return the first possession of each predicted name, all of which must be in gold."""
    first: dict[tuple[str, ...], int] = {}
    for i in sort_positions(system):
        first.setdefault(system[i].name.tokens, i)
    unknown = first.keys() - {possession.name.tokens for possession in gold}
    if unknown:
        raise ValueError(f"{len(unknown):,} predicted names are not in gold")
    return [system[i] for i in sorted(first.values())]


def _count_equal(label: str, pairs: Sequence[tuple[Possession, Possession]]) -> int:
    """Count the pairs of possessions that have the same label."""
    labels = [(getattr(predicted, label), getattr(gold, label)) for predicted, gold in pairs]
    return sum(predicted is not None and predicted == gold for predicted, gold in labels)


def choose_match(setting: str) -> Match:
    """Return the test whether two names match in a setting, "exact" or "partial"."""
    return _match_partly if setting == "partial" else _match_fully


def _match_fully(predicted: NormalizedName, gold: NormalizedName) -> bool:
    """Tell whether two names match exactly."""
    return predicted.tokens == gold.tokens


def _match_partly(predicted: NormalizedName, gold: NormalizedName) -> bool:
    """Tell whether two names share a token."""
    return not predicted.content.isdisjoint(gold.content)


def count_ordered_pairs(
    system: Sequence[Possession], gold: Sequence[Possession], match: Match
) -> tuple[int, int, int, int]:
    """Count the ordered pairs of possessors of an article, and those that the other side has, as in `COUNTS`.

    A pair is on the other side if it has a pair whose names match.
    """
    names, before = ordered_pairs(system)
    gold_names, gold_before = ordered_pairs(gold)
    # float32 products are fast, and sums of non-negative numbers don't cancel.
    matches = np.zeros((len(names), len(gold_names)), np.float32)
    for i, name in enumerate(names):
        matches[i] = [match(name, gold_name) for gold_name in gold_names]
    in_gold = before & _find_pairs(gold_before, matches)
    in_system = gold_before & _find_pairs(before, matches.T)
    return int(in_gold.sum()), int(before.sum()), int(in_system.sum()), int(gold_before.sum())


def _find_pairs(before: Mask, matches: NDArray[np.float32]) -> Mask:
    """Return the pairs of names (rows of `matches`) whose matching names (columns) include one of these pairs."""
    # The first name of a pair (row) matches the first of one of these pairs, whose second one is the column …
    begin_pairs = matches @ before.astype(np.float32) > 0
    # … and that one matches the second name of the pair (column).
    are_pairs: Mask = begin_pairs.astype(np.float32) @ matches.T > 0
    return are_pairs
