"""Scores in all and by category, of systems and of a coin (Zhou et al., 2019, Table 2 and Figure 2).

Conventions: scores are from 0 to 1, by the name of the metric ("exact_match", "f1").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from closeread.counts.printed_tables import Chance
from closeread.counts.procedure import name_documents
from closeread.counts.table import CountTable
from closeread.records import Record
from closeread.tasks.mctaco.kernels.choices import expected_coin_scores
from closeread.tasks.mctaco.procedure import PROCEDURE

CATEGORIES = ("Frequency", "Event Duration", "Stationarity", "Event Ordering", "Typical Time")
"""In the order of Table 1."""


def score_table(table: CountTable) -> dict[str, float]:
    """Score the questions of a table, which has at least one."""
    totals = table.totals
    return {metric.name: float(metric.score(totals, table.names)) for metric in PROCEDURE.metrics}


def score_by_category(gold: Sequence[Record], system: Sequence[Record | None]) -> dict[str, dict[str, float]]:
    """Score a system's labels in each category of the gold, in the order of `CATEGORIES`."""
    return {category: score_table(table) for category, table in _slice(PROCEDURE.count(gold=gold, system=system))}


def expect_coin(gold: Sequence[Record]) -> dict[str, Chance]:
    """Return the exact means and standard deviations of the scores of fair coin flips."""
    return _expect_coin_on(PROCEDURE.count(gold=gold, system=gold))


def expect_coin_by_category(gold: Sequence[Record]) -> dict[str, dict[str, Chance]]:
    """Return the same in each category of the gold, in the order of `CATEGORIES`."""
    return {name: _expect_coin_on(table) for name, table in _slice(PROCEDURE.count(gold=gold, system=gold))}


def _slice(table: CountTable) -> Iterator[tuple[str, CountTable]]:
    slices = table.slices("category")
    return ((category, slices[category]) for category in CATEGORIES if category in slices)


def _expect_coin_on(table: CountTable) -> dict[str, Chance]:
    columns = {name: table.values[:, i].astype(np.int64) for i, name in enumerate(table.names)}
    with name_documents(table.units, "question"):
        coin = expected_coin_scores(columns["candidates"], columns["gold_yes"])
    # Questions are labelled independently, so the variance of their sum is the sum of their variances.
    of_metric = {"exact_match": (coin.exact, coin.exact_variance), "f1": (coin.f1, coin.f1_variance)}
    return {
        name: Chance(float(mean.mean()), float(np.sqrt(variance.sum())) / len(variance))
        for name, (mean, variance) in of_metric.items()
    }
