"""Counts of the six subtasks of WikiPossessions in an article.

Source: Chinnappa, Palmer and Blanco (2020), section 5.

Conventions: precision is the sum of `found_of_system` divided by the sum of `system`; recall is the sum of
`found_of_gold` divided by the sum of `gold`.  Nothing is divided here.

Ordered pairs are pairs of names: the first possessed it no later than the other.  A tie gives a pair in both
directions, as in the paper's Table 3.  A name that occurs several times has the pairs of all its possessions, and no
pair has the same name twice.  Possessions without an order are in no pair.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Floats, LimitError, Mask
from closeread.tasks.wikipossessions.dates import parse_time, time_overlap
from closeread.tasks.wikipossessions.matching import (
    Name,
    Order,
    Pair,
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


def possessions(rows: Sequence[Mapping[str, Any]], options: Options) -> list[Possession]:
    """Read rows with `possessor`, `certainty`, `order`, `anchor`, `relation` and `relation_certainty`."""
    if len(rows) > MAX_POSSESSIONS:
        raise LimitError(0, len(rows), "possessions", MAX_POSSESSIONS)
    found = []
    for row in rows:
        name = normalize_name(row["possessor"], options["strip_scope"])
        if len(name.tokens) > MAX_WORDS:
            raise LimitError(0, len(name.tokens), "words in a possessor", MAX_WORDS)
        order, relation = row.get("order"), row.get("relation")
        key = None if order is None else order_key(order)
        time = parse_time(row.get("anchor"), relation, **options)
        found.append(
            Possession(
                name, key, row.get("certainty"), time, relation, row.get("relation_certainty")
            )
        )
    return found


def ordered_pairs(side: Sequence[Possession], suborder: str = "tuple") -> tuple[list[Name], Mask]:
    """Return the distinct names of a side, and its ordered pairs.

    These are whether some possession of one name comes no later than some possession of the other, (n_names, n_names).

    "tuple" compares orders number by number (6 before 6.1 before 6.2); "nested_tie" also lets a possession tie with the
    one it is nested in (6 and 6.1); "integer_part" compares only the first number.
    """
    depth = 1 if suborder == "integer_part" else None
    placed = [(one.name, one.order[:depth]) for one in side if one.order is not None]
    rank = {order: i for i, order in enumerate(sorted({order for _, order in placed}))}
    names = {name.tokens: name for name, _ in placed}
    ranks: dict[tuple[str, ...], list[int]] = {tokens: [] for tokens in names}
    outer: dict[Order, list[int]] = defaultdict(list)
    number = {tokens: i for i, tokens in enumerate(names)}
    for name, order in placed:
        ranks[name.tokens].append(rank[order])
        outer[order].append(number[name.tokens])
    # Some possession of a comes no later than some of b if the first of a comes no later than the last of b.
    first, last = (np.array([end(of_name) for of_name in ranks.values()]) for end in (min, max))
    before: Mask = first[:, None] <= last[None, :]
    if suborder == "nested_tie":
        lengths = sorted({len(order) for order in outer})
        for name, order in placed:
            for length in lengths[: bisect_left(lengths, len(order))]:
                before[number[name.tokens], outer.get(order[:length], [])] = True
    np.fill_diagonal(before, val=False)
    return list(names.values()), before


def article_counts(
    system: Sequence[Possession], gold: Sequence[Possession], options: Options
) -> Floats:
    """Return the counts behind the scores of an article: rows as `FAMILIES`, columns as `COUNTS`, (6, 4)."""
    if options["scenario"] == "oracle":  # the first of each name
        first: dict[tuple[str, ...], int] = {}
        for i in sort_positions(system):
            first.setdefault(system[i].name.tokens, i)
        if unknown := first.keys() - {one.name.tokens for one in gold}:
            raise ValueError(f"{len(unknown):,} predicted names are not in gold")
        system = [system[i] for i in sorted(first.values())]
    pairs = match_possessions(system, gold, options["setting"], options["matching"])
    if options["scenario"] == "all_correct":
        # The matching stays the same, since the dropped predictions had no partner.
        system = [system[i] for i, _ in pairs]
        pairs = [(i, j) for i, (_, j) in enumerate(pairs)]

    def overlap(one: Possession, other: Possession) -> tuple[Fraction, Fraction]:
        return time_overlap(one.time, other.time, **options)

    def agree(name: str, one: Possession, other: Possession) -> tuple[Fraction, Fraction]:
        label = getattr(one, name)
        same = label is not None and label == getattr(other, name)
        if name != "certainty" and options["relation_requires"] == "anchor":
            same = same and overlap(one, other)[0] > 0
        return Fraction(same), Fraction(same)

    def count(
        ours: Sequence[bool],
        theirs: Sequence[bool],
        compare: Callable[[Possession, Possession], tuple[Fraction, Fraction]],
    ) -> tuple[float, ...]:
        """Sum the contributions of pairs of possessions to the numerators of precision and recall."""
        of_system, of_gold = Fraction(0), dict[int, Fraction]()
        for i, j in pairs:
            if ours[i] and theirs[j]:
                right, found = compare(system[i], gold[j])
                of_system += right
                # of several predictions, the best counts
                of_gold[j] = max(found, of_gold.get(j, Fraction(0)))
        return float(of_system), sum(ours), float(sum(of_gold.values())), sum(theirs)

    every = [True] * len(system), [True] * len(gold)
    anchored = [one.time is not None for one in system], [one.time is not None for one in gold]
    certain = anchored
    if options["relation_certainty_gold"] == "certain_only":
        # Without the gold relations that are not certain, and the predictions matched with them.
        theirs = [one.time is not None and one.relation_certainty == "certain" for one in gold]
        left_out = {i for i, j in pairs if anchored[1][j] and not theirs[j]}
        certain = [has and i not in left_out for i, has in enumerate(anchored[0])], theirs
    counts = [
        count(*every, lambda one, other: (Fraction(1), Fraction(1))),
        count(*every, lambda one, other: agree("certainty", one, other)),
        count(*anchored, overlap),
        count(*anchored, lambda one, other: agree("relation", one, other)),
        count(*certain, lambda one, other: agree("relation_certainty", one, other)),
        count_ordered_pairs(system, gold, pairs, options),
    ]
    return np.array(counts, np.float64)


def count_ordered_pairs(
    system: Sequence[Possession],
    gold: Sequence[Possession],
    pairs: Sequence[Pair],
    options: Options,
) -> tuple[int, int, int, int]:
    """Count the ordered pairs of possessors of an article, and those that the other side has, as in `COUNTS`."""
    (names, before), (gold_names, gold_before) = (
        ordered_pairs(side, options["suborder"]) for side in (system, gold)
    )
    paired = {(system[i].name.tokens, gold[j].name.tokens) for i, j in pairs}

    def match(one: Name, other: Name) -> bool:
        if options["setting"] == "exact":
            return one.tokens == other.tokens
        if options["ordering_match"] == "existential":
            return not one.content.isdisjoint(other.content)
        return (one.tokens, other.tokens) in paired

    def find_pairs(before: Mask, matches: NDArray[np.float32]) -> Mask:
        """Return the pairs of names (rows of `matches`) whose matching names (columns) include one of these pairs."""
        found: Mask = (matches @ before.astype(np.float32) > 0).astype(np.float32) @ matches.T > 0
        return found

    # float32 products are fast, and sums of non-negative numbers don't cancel.
    matches = np.array([[match(one, other) for other in gold_names] for one in names], np.float32)
    matches = matches.reshape(len(names), len(gold_names))
    found, found_gold = (
        before & find_pairs(gold_before, matches),
        gold_before & find_pairs(before, matches.T),
    )
    return int(found.sum()), int(before.sum()), int(found_gold.sum()), int(gold_before.sum())
