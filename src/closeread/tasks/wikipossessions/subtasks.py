"""Counts of the six subtasks of WikiPossessions in an article.

Source: Chinnappa, Palmer and Blanco (2020), section 5.

Conventions: precision is the sum of `found_of_system` divided by the sum of `system`; recall is the sum of
`found_of_gold` divided by the sum of `gold`.  Nothing is divided here.

Ordered pairs are pairs of names: the first possessed it no later than the other.  A tie gives a pair in both
directions, as in the paper's Table 3.  A name that occurs several times has the pairs of all its possessions, and no
pair has the same name twice.  Possessions without an order are in no pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Floats, LimitError, Mask
from closeread.tasks.wikipossessions.dates import parse_time, time_overlap
from closeread.tasks.wikipossessions.matching import (
    Name,
    Possession,
    match_possessions,
    normalize_name,
    order_key,
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


def possessions(rows: Sequence[Mapping[str, Any]]) -> list[Possession]:
    """Read rows with `possessor`, `certainty`, `order`, `anchor`, `relation` and `relation_certainty`."""
    if len(rows) > MAX_POSSESSIONS:
        raise LimitError(0, len(rows), "possessions", MAX_POSSESSIONS)
    side = []
    for row in rows:
        name = normalize_name(row["possessor"])
        if len(name.tokens) > MAX_WORDS:
            raise LimitError(0, len(name.tokens), "words in a possessor", MAX_WORDS)
        order = row.get("order")
        possession = Possession(
            name,
            None if order is None else order_key(order),
            row.get("certainty"),
            parse_time(row.get("anchor")),
            row.get("relation"),
            row.get("relation_certainty"),
        )
        side.append(possession)
    return side


def ordered_pairs(side: Sequence[Possession]) -> tuple[list[Name], Mask]:
    """Return the distinct names of a side, and its ordered pairs.

    These are whether some possession of one name comes no later than some possession of the other, (n_names, n_names).
    """
    placed = [(one.name, one.order) for one in side if one.order is not None]
    rank = {order: i for i, order in enumerate(sorted({order for _, order in placed}))}
    names = {name.tokens: name for name, _ in placed}
    ranks: dict[tuple[str, ...], list[int]] = {tokens: [] for tokens in names}
    for name, order in placed:
        ranks[name.tokens].append(rank[order])
    # Some possession of a comes no later than some of b if the first of a comes no later than the last of b.
    first = np.array([min(of_name) for of_name in ranks.values()])
    last = np.array([max(of_name) for of_name in ranks.values()])
    before: Mask = first[:, None] <= last[None, :]
    np.fill_diagonal(before, val=False)
    return list(names.values()), before


def article_counts(
    system: Sequence[Possession], gold: Sequence[Possession], options: Options
) -> Floats:
    """Return the counts behind the scores of an article: rows as `FAMILIES`, columns as `COUNTS`, (6, 4)."""
    if options["scenario"] == "oracle":
        system = _take_first_of_each_name(system, gold)
    pairs = match_possessions(system, gold, options["setting"])
    if options["scenario"] == "all_correct":
        # The matching stays the same, since the dropped predictions had no partner.
        system = [system[i] for i, _ in pairs]
        pairs = [(i, j) for i, (_, j) in enumerate(pairs)]
    matched = [(system[i], gold[j]) for i, j in pairs]
    anchored = [
        (predicted, expected)
        for predicted, expected in matched
        if predicted.time is not None and expected.time is not None
    ]
    overlaps = [
        time_overlap(predicted.time, expected.time, options["tolerance"])
        for predicted, expected in anchored
    ]
    same_certainty = _count_equal("certainty", matched)
    same_relation = _count_equal("relation", anchored)
    same_relation_certainty = _count_equal("relation_certainty", anchored)
    years_of_system = float(sum(of_system for of_system, _ in overlaps))
    years_of_gold = float(sum(of_gold for _, of_gold in overlaps))
    n_system, n_gold = len(system), len(gold)
    n_times = sum(possession.time is not None for possession in system)
    n_gold_times = sum(possession.time is not None for possession in gold)
    matches = partly_match if options["setting"] == "partial" else fully_match
    counts = [
        (len(matched), n_system, len(matched), n_gold),
        (same_certainty, n_system, same_certainty, n_gold),
        (years_of_system, n_times, years_of_gold, n_gold_times),
        (same_relation, n_times, same_relation, n_gold_times),
        (same_relation_certainty, n_times, same_relation_certainty, n_gold_times),
        count_ordered_pairs(system, gold, matches),
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


def fully_match(predicted: Name, gold: Name) -> bool:
    """Tell whether two names match exactly."""
    return predicted.tokens == gold.tokens


def partly_match(predicted: Name, gold: Name) -> bool:
    """Tell whether two names share a token."""
    return not predicted.content.isdisjoint(gold.content)


def count_ordered_pairs(
    system: Sequence[Possession],
    gold: Sequence[Possession],
    match: Callable[[Name, Name], bool],
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
    found = before & _find_pairs(gold_before, matches)
    found_gold = gold_before & _find_pairs(before, matches.T)
    return int(found.sum()), int(before.sum()), int(found_gold.sum()), int(gold_before.sum())


def _find_pairs(before: Mask, matches: NDArray[np.float32]) -> Mask:
    """Return the pairs of names (rows of `matches`) whose matching names (columns) include one of these pairs."""
    found: Mask = (matches @ before.astype(np.float32) > 0).astype(np.float32) @ matches.T > 0
    return found
