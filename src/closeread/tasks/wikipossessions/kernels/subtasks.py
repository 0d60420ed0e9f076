"""Counts of the six subtasks of WikiPossessions in an article.

Source: Chinnappa, Palmer and Blanco (2020), section 5.  See the modules `names`, `matching`, `temporal` and `ordering`
for the parts.

Conventions: precision is the sum of `found_of_system` divided by the sum of `system`; recall is the sum of
`found_of_gold` divided by the sum of `gold`.  Nothing is divided here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Floats, LimitError
from closeread.tasks.wikipossessions.kernels.matching import NamesAndOrders, Order, Pair, match_possessions, order_key
from closeread.tasks.wikipossessions.kernels.names import Name, normalize_name
from closeread.tasks.wikipossessions.kernels.ordering import (
    match_names_by_content,
    match_names_by_pairs,
    ordered_pairs,
    pair_counts,
)
from closeread.tasks.wikipossessions.kernels.temporal import Reading, Time, Tolerance, parse_time, time_overlap

FAMILIES = ("possessor", "possessor_certainty", "anchor", "relation", "relation_certainty", "ordering")
"""The subtasks: possessors, their certainty, anchors, relations to them, certainty of relations, and ordering."""

COUNTS = ("found_of_system", "system", "found_of_gold", "gold")
SCENARIOS = ("all", "all_correct", "oracle")
RELATION_CERTAINTY_GOLD = ("anchored", "certain_only")
RELATION_REQUIRES = ("none", "anchor")

MAX_POSSESSIONS = 2_000
"""The most possessions of an article, since all of gold are compared with all of a system."""

MAX_WORDS = 100
"""The most words of a possessor, without function words."""

Credit = tuple[Fraction | int, Fraction | int]
"""What a pair adds to the numerators of precision and recall."""


class Rules(NamedTuple):
    """How an article is scored; the constant named after each attribute lists its values.

    Attributes:
        setting: how names match: "exact" or "partial".
        scenario: which predictions are scored: all, those that match gold ("all_correct"), or the first of each name
            if the system was given the gold names ("oracle").
        reading: how names and anchors are read.
        matching: whether several predictions may match one gold possession.
        tolerance: how gold ranges are widened.
        relation_certainty_gold: whether certainty is scored for all anchored gold relations, or only for certain ones.
        relation_requires: whether a relation, or its certainty, is right only if its anchor is: if the anchors share a
            year, within the tolerance, or are the same event.
        suborder: how orders such as 6.1 are compared.
        ordering_match: which pairs of names match in the partial setting.
    """

    setting: str = "exact"
    scenario: str = "all"
    reading: Reading = Reading()
    matching: str = "one_to_one"
    tolerance: Tolerance = Tolerance()
    relation_certainty_gold: str = "anchored"
    relation_requires: str = "none"
    suborder: str = "tuple"
    ordering_match: str = "existential"


class Possessions(NamedTuple):
    """The possessions of one side of an article as columns; None where a value is absent."""

    names: Sequence[Name]
    orders: Sequence[Order | None]
    certainty: Sequence[str | None]
    times: Sequence[Time]
    relation: Sequence[str | None]
    relation_certainty: Sequence[str | None]

    @property
    def names_and_orders(self) -> NamesAndOrders:
        """The columns used for matching and ordering."""
        return NamesAndOrders(self.names, self.orders)

    def select(self, positions: Sequence[int]) -> Possessions:
        """Select the possessions at these positions."""
        return Possessions(
            [self.names[i] for i in positions],
            [self.orders[i] for i in positions],
            [self.certainty[i] for i in positions],
            [self.times[i] for i in positions],
            [self.relation[i] for i in positions],
            [self.relation_certainty[i] for i in positions],
        )

    def has_anchor(self) -> list[bool]:
        """Return for each possession whether it has an anchor."""
        return [time is not None for time in self.times]


def possessions(rows: Sequence[Mapping[str, Any]], reading: Reading) -> Possessions:
    """Convert rows with `possessor`, `certainty`, `order`, `anchor`, `relation` and `relation_certainty` to columns.

    Raises:
        ValueError: an order is not whole numbers separated by full stops.
        LimitError: there are more than `MAX_POSSESSIONS`, or a possessor has more than `MAX_WORDS`; the document is 0.
    """
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
    if rules.scenario == "oracle":
        system = system.select(first_of_each_name(system.names_and_orders, gold.names_and_orders))
    pairs = match_possessions(system.names_and_orders, gold.names_and_orders, rules.setting, rules.matching)
    if rules.scenario == "all_correct":
        # The matching stays the same, since the dropped predictions had no partner.
        system = system.select([i for i, _ in pairs])
        pairs = [(i, j) for i, (_, j) in enumerate(pairs)]
    times = system.times, gold.times
    credits_of = {
        "possessor": lambda i, j: (1, 1),
        "possessor_certainty": lambda i, j: _credit_equality(system.certainty[i], gold.certainty[j]),
        "anchor": lambda i, j: time_overlap(system.times[i], gold.times[j], rules.tolerance),
        "relation": _credit_labels(system.relation, gold.relation, times, rules),
        "relation_certainty": _credit_labels(system.relation_certainty, gold.relation_certainty, times, rules),
    }
    everything = [True] * len(system.names), [True] * len(gold.names)
    anchored = system.has_anchor(), gold.has_anchor()
    judged = {name: everything if name.startswith("possessor") else anchored for name in credits_of}
    if rules.relation_certainty_gold == "certain_only":
        judged["relation_certainty"] = _keep_certain_gold(anchored, gold.relation_certainty, pairs)
    counts = [_sum_credits(credits_of[name], pairs, *judged[name]) for name in FAMILIES[:-1]]
    return np.array([*counts, count_ordered_pairs(system, gold, pairs, rules)], np.float64)


def first_of_each_name(system: NamesAndOrders, gold: NamesAndOrders) -> list[int]:
    """Return the position of the first prediction of each name, by order and then position, sorted by position.

    Raises:
        ValueError: a name is not in gold.
    """
    known = {name.tokens for name in gold.names}
    first: dict[tuple[str, ...], int] = {}
    for i in system.in_order():
        first.setdefault(system.names[i].tokens, i)
    if not first.keys() <= known:
        raise ValueError(f"{len(first.keys() - known):,} predicted names are not in gold")
    return sorted(first.values())


def _credit_equality(one: str | None, other: str | None) -> Credit:
    same = int(one is not None and one == other)
    return same, same


def _credit_labels(
    system: Sequence[str | None], gold: Sequence[str | None], times: tuple[Sequence[Time], Sequence[Time]], rules: Rules
) -> Callable[[int, int], Credit]:
    """Return the credit of a label of a relation: equal, and with a right anchor if that is required."""

    def credit(i: int, j: int) -> Credit:
        if rules.relation_requires == "anchor" and not time_overlap(times[0][i], times[1][j], rules.tolerance)[0]:
            return 0, 0
        return _credit_equality(system[i], gold[j])

    return credit


def _keep_certain_gold(
    anchored: tuple[list[bool], list[bool]], certainty: Sequence[str | None], pairs: Sequence[Pair]
) -> tuple[list[bool], list[bool]]:
    """Leave out gold relations that are not certain, and the predictions matched with them."""
    ours, theirs = (
        list(anchored[0]),
        [has and label == "certain" for has, label in zip(anchored[1], certainty, strict=True)],
    )
    for i, j in pairs:
        ours[i] &= theirs[j] or not anchored[1][j]
    return ours, theirs


def _sum_credits(
    credit: Callable[[int, int], Credit], pairs: Sequence[Pair], system: Sequence[bool], gold: Sequence[bool]
) -> tuple[float, int, float, int]:
    """Sum the credits of a subtask over the possessions that it scores."""
    # Most credits are whole numbers, which are much faster than fractions.
    of_system: Fraction | int = 0
    of_gold: dict[int, Fraction | int] = {}
    for i, j in pairs:
        if system[i] and gold[j]:
            right, found = credit(i, j)
            of_system += right
            # If several predictions match one gold possession, the best counts.
            of_gold[j] = max(found, of_gold.get(j, 0))
    return float(of_system), sum(system), float(sum(of_gold.values())), sum(gold)


def count_ordered_pairs(
    system: Possessions, gold: Possessions, pairs: Sequence[Pair], rules: Rules
) -> tuple[int, int, int, int]:
    """Count the ordered pairs of possessors of an article, and those that the other side has, as in `COUNTS`.

    Args:
        system, gold: the two sides.
        pairs: the matched positions of both, for the option `ordering_match`.
        rules: how names match and orders are compared.
    """
    ours, theirs = (ordered_pairs(side.names_and_orders, rules.suborder) for side in (system, gold))
    if rules.setting == "exact":
        matches = None
    elif rules.ordering_match == "existential":
        matches = match_names_by_content(ours, theirs)
    else:
        matches = match_names_by_pairs(ours, theirs, system.names, gold.names, pairs)
    return pair_counts(ours, theirs, matches)
