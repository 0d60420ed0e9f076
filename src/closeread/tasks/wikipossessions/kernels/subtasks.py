"""Possessions: what the six subtasks of WikiPossessions count in an article.

Source: Chinnappa, Palmer and Blanco (2020), section 5.  Names are in `possession_names`, matching in
`possession_match`, anchors in `possession_time`, ordered pairs in `possession_order`.

Conventions: precision is the sum of `found_of_system` over that of `system`, recall the sum of `found_of_gold` over
that of `gold`; 0/0 is left to whoever divides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.tasks.wikipossessions.kernels.matching import Named, Order, Pair, matched, order_key
from closeread.tasks.wikipossessions.kernels.names import Name, normalised
from closeread.tasks.wikipossessions.kernels.ordering import (
    alike_by_content,
    alike_by_matching,
    ordered_pairs,
    pair_counts,
)
from closeread.tasks.wikipossessions.kernels.temporal import Reading, Time, Tolerance, time_of, time_overlap

FAMILIES = ("possessor", "possessor_certainty", "anchor", "relation", "relation_certainty", "ordering")
"""The subtasks: who, how certainly, anchored when, related how to the anchor, how certainly, and in which order."""

COUNTS = ("found_of_system", "system", "found_of_gold", "gold")
SCENARIOS = ("all", "all_correct", "oracle")
RELATION_CERTAINTY_GOLD = ("anchored", "certain_only")

Credit = tuple[Fraction | int, Fraction | int]
"""What a pair adds to precision and to recall."""


class Rules(NamedTuple):
    """How an article is scored; every value is one of the constant that is named like it, in this package.

    Attributes:
        setting: how names match, "exact" or "partial".
        scenario: which predictions are scored: all, those that match gold, or, where a system was given the names of
            gold, the first of each.
        reading: how names and anchors are read.
        matching: whether a gold possession may be that of several predictions.
        tolerance: how gold ranges are widened.
        relation_certainty_gold: whose certainty of relation is scored: of all that are anchored, or only of those whose
            relation is certain.
        suborder: how orders such as 6.1 are compared.
        ordering_match: which pairs of names are alike in the partial setting.
    """

    setting: str = "exact"
    scenario: str = "all"
    reading: Reading = Reading()
    matching: str = "one_to_one"
    tolerance: Tolerance = Tolerance()
    relation_certainty_gold: str = "anchored"
    suborder: str = "tuple"
    ordering_match: str = "existential"


class Possessions(NamedTuple):
    """The possessions of a side of an article, each a column; None where nothing is said."""

    names: Sequence[Name]
    orders: Sequence[Order | None]
    certainty: Sequence[str | None]
    times: Sequence[Time]
    relation: Sequence[str | None]
    relation_certainty: Sequence[str | None]

    @property
    def named(self) -> Named:
        """What is matched and ordered."""
        return Named(self.names, self.orders)

    def select(self, positions: Sequence[int]) -> Possessions:
        """The possessions at these positions."""
        return Possessions(
            [self.names[i] for i in positions],
            [self.orders[i] for i in positions],
            [self.certainty[i] for i in positions],
            [self.times[i] for i in positions],
            [self.relation[i] for i in positions],
            [self.relation_certainty[i] for i in positions],
        )

    def anchored(self) -> list[bool]:
        """Which have an anchor."""
        return [time is not None for time in self.times]


def possessions(rows: Sequence[Mapping[str, Any]], reading: Reading) -> Possessions:
    """The columns of possessions with `possessor`, `certainty`, `order`, `anchor`, `relation`, `relation_certainty`.

    Raises:
        ValueError: an order is no whole numbers with full stops between them.
    """
    orders = [row.get("order") for row in rows]
    return Possessions(
        [normalised(row["possessor"], reading.strip_scope) for row in rows],
        [None if order is None else order_key(order) for order in orders],
        [row.get("certainty") for row in rows],
        [time_of(row.get("anchor"), row.get("relation"), reading) for row in rows],
        [row.get("relation") for row in rows],
        [row.get("relation_certainty") for row in rows],
    )


def article_counts(system: Possessions, gold: Possessions, rules: Rules) -> NDArray[np.float64]:
    """The counts of an article.

    Returns:
        (6, 4) float64, rows `FAMILIES`, columns `COUNTS`.
    """
    if rules.scenario == "oracle":
        system = system.select(given_names(system.named, gold.named))
    pairs = matched(system.named, gold.named, rules.setting, rules.matching)
    if rules.scenario == "all_correct":
        # What is left is matched as before: whoever had no partner took none away.
        system = system.select([i for i, _ in pairs])
        pairs = [(i, j) for i, (_, j) in enumerate(pairs)]
    credits_of = {
        "possessor": lambda i, j: (1, 1),
        "possessor_certainty": lambda i, j: _same(system.certainty[i], gold.certainty[j]),
        "anchor": lambda i, j: time_overlap(system.times[i], gold.times[j], rules.tolerance),
        "relation": lambda i, j: _same(system.relation[i], gold.relation[j]),
        "relation_certainty": lambda i, j: _same(system.relation_certainty[i], gold.relation_certainty[j]),
    }
    everyone = [True] * len(system.names), [True] * len(gold.names)
    anchored = system.anchored(), gold.anchored()
    judged = {name: everyone if name.startswith("possessor") else anchored for name in credits_of}
    if rules.relation_certainty_gold == "certain_only":
        judged["relation_certainty"] = _of_certain_gold(anchored, gold.relation_certainty, pairs)
    counts = [_credited(credits_of[name], pairs, *judged[name]) for name in FAMILIES[:-1]]
    return np.array([*counts, _ordering(system, gold, pairs, rules)], np.float64)


def given_names(system: Named, gold: Named) -> list[int]:
    """The positions of the first prediction of each name of gold, by order and then by position; in that order.

    Raises:
        ValueError: a name is none of gold's.
    """
    known = {name.tokens for name in gold.names}
    first: dict[tuple[str, ...], int] = {}
    for i in system.in_order():
        first.setdefault(system.names[i].tokens, i)
    if not first.keys() <= known:
        raise ValueError(f"{len(first.keys() - known)} names are none of gold's, from which they should be taken")
    return sorted(first.values())


def _same(one: str | None, other: str | None) -> Credit:
    same = int(one is not None and one == other)
    return same, same


def _of_certain_gold(
    anchored: tuple[list[bool], list[bool]], certainty: Sequence[str | None], pairs: Sequence[Pair]
) -> tuple[list[bool], list[bool]]:
    """Without the gold that is not certain, and without the predictions of it, of which nothing is asked."""
    ours, theirs = (
        list(anchored[0]),
        [has and label == "certain" for has, label in zip(anchored[1], certainty, strict=True)],
    )
    for i, j in pairs:
        ours[i] &= theirs[j] or not anchored[1][j]
    return ours, theirs


def _credited(
    credit: Callable[[int, int], Credit], pairs: Sequence[Pair], system: Sequence[bool], gold: Sequence[bool]
) -> tuple[float, int, float, int]:
    """The counts of a subtask, of the possessions that it asks about."""
    of_system, of_gold = Fraction(0), dict[int, Fraction | int]()
    for i, j in pairs:
        if system[i] and gold[j]:
            right, found = credit(i, j)
            of_system += right
            # Of several predictions of one gold possession the best counts.
            of_gold[j] = max(found, of_gold.get(j, 0))
    return float(of_system), sum(system), float(sum(of_gold.values(), Fraction(0))), sum(gold)


def _ordering(system: Possessions, gold: Possessions, pairs: Sequence[Pair], rules: Rules) -> tuple[int, int, int, int]:
    ours, theirs = (ordered_pairs(side.named, rules.suborder) for side in (system, gold))
    if rules.setting == "exact":
        alike = None
    elif rules.ordering_match == "existential":
        alike = alike_by_content(ours, theirs)
    else:
        alike = alike_by_matching(ours, theirs, system.names, gold.names, pairs)
    return pair_counts(ours, theirs, alike)
