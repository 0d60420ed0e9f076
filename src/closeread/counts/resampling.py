"""Bootstrap intervals and paired tests, computed from counts.

Conventions: blocks are resampled.  A resample draws as many blocks as there are, with replacement; the number of times
that each block is drawn is its weight in a matrix product with the counts of the blocks.  Intervals are percentile
intervals (Efron and Tibshirani, 1993, chapter 13).  p-values are two-sided and count the observed data as one of the
resamples, so that none is 0 (Davison and Hinkley, 1997, section 4.2.1).  NaN means undefined: with a single block, and
if a score is 0/0 in a resample and no convention gives it a value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Whole, multiply
from closeread.counts.draws import draw_swaps, draw_weights
from closeread.counts.metrics import Metric
from closeread.counts.table import CountTable, find_tied
from closeread.errors import RequestError, pluralize

__all__ = [
    "MAX_DRAWS",
    "MAX_NULLS",
    "MAX_SUMS",
    "MAX_TESTS",
    "TIE",
    "Bootstrap",
    "Difference",
    "compare",
    "compare_pairs",
    "percentile_interval",
    "sum_resamples",
]

MAX_DRAWS = 20_000_000_000
"""The most blocks that are drawn in all resamples together, which takes some minutes."""

MAX_SUMS = 50_000_000
"""The most sums of counts in memory: counts times resamples times systems."""

MAX_TESTS = 500_000
"""The most paired tests that are done together: pairs of systems times scores."""

MAX_NULLS = 2_000_000_000
"""The most resamples of all these tests together, which take some minutes."""

TIE = 1e-12
"""Differences closer than this count as equal: the same counts may be summed in another order."""


class Bootstrap:
    """Resamples of the blocks of a table, which its counts, the digests of its gold and a seed determine.

    Blocks are drawn by their place in the order of the digests of their gold.  Of blocks with the same gold, the order
    is that of the counts that a score is computed from: then neither the names of the units nor other scores matter.

    Attributes:
        table: the counts.
        n_resamples: the number of resamples.
        seed: the random seed.

    Raises:
        RequestError: there are too many resamples for as many blocks and counts.
    """

    def __init__(self, table: CountTable, n_resamples: int, seed: int) -> None:
        _check_resamples(n_resamples, table.n_blocks, len(table.names))
        self.table, self.n_resamples, self.seed = table, n_resamples, seed
        self._blocks = table.block_totals()
        self._gold = table.number_golds()
        self._order = np.argsort(self._gold, kind="stable")
        self._tied = find_tied(self._gold[self._order])
        self._totals: dict[bytes, Floats] = {}

    def scores(self, metric: Metric) -> Floats:
        """Return the score of every resample, (n_resamples,)."""
        order = self._order.copy()
        if self._tied.any():
            columns = [self.table.names.index(name) for name in metric.list_counts(self.table.names)]
            tied = order[self._tied]
            order[self._tied] = tied[np.lexsort((*self._blocks[tied][:, columns].T, self._gold[tied]))]
        drawn = order.tobytes()
        if drawn not in self._totals:
            # With many resamples, those in another order are not kept, but drawn again.
            if (len(self._totals) + 1) * self.n_resamples * len(self.table.names) > MAX_SUMS:
                self._totals.clear()
            self._totals[drawn] = sum_resamples(self._blocks[order], self.n_resamples, np.random.default_rng(self.seed))
        return metric.score(self._totals[drawn], self.table.names)


def _check_resamples(n_resamples: int, n_blocks: int, n_counts: int, n_systems: int = 1) -> None:
    """Check that there are not too many resamples for these blocks, counts and systems.

    Raises:
        RequestError: work or memory would be beyond a limit.
    """
    found = f"{n_resamples:,} resamples of {pluralize(n_blocks, 'block')}"
    of_systems = "" if n_systems == 1 else f" of {n_systems:,} systems"
    sizes = {
        f"{found} are {{:,}} draws": (n_resamples * n_blocks, MAX_DRAWS),
        f"{n_resamples:,} resamples of {pluralize(n_counts, 'count')}{of_systems} are {{:,}} sums": (
            n_resamples * n_counts * n_systems,
            MAX_SUMS,
        ),
    }
    for what, (size, limit) in sizes.items():
        if size > limit:
            raise RequestError(f"{what.format(size)} (expected at most {limit:,})")


def _check_tests(n_systems: int, n_scores: int, n_resamples: int) -> None:
    """Check that not too many pairs of systems are tested.

    Raises:
        RequestError: work or memory would be beyond a limit.
    """
    n_tests = math.comb(n_systems, 2) * n_scores
    found = f"{n_systems:,} systems have {pluralize(n_tests, 'paired test')} in {pluralize(n_scores, 'score')}"
    if n_tests > MAX_TESTS:
        raise RequestError(f"{found} (expected at most {MAX_TESTS:,})")
    if (n_nulls := n_tests * n_resamples) > MAX_NULLS:
        raise RequestError(f"{found}, and {n_nulls:,} resamples of these (expected at most {MAX_NULLS:,})")


def sum_resamples(blocks: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Sum the counts of resamples of blocks (n_blocks, k), drawn by their order; return (n_resamples, k) float64."""
    return multiply(draw_weights(len(blocks), n_resamples, rng), blocks)


def percentile_interval(samples: Floats, confidence: float) -> tuple[float, float]:
    """Return the quantiles that leave (1 - confidence) / 2 on either side; NaN if a sample is NaN."""
    if np.isnan(samples).any():
        return math.nan, math.nan
    tail = (1 - confidence) / 2
    low, high = np.quantile(samples, [tail, 1 - tail])
    return float(low), float(high)


class Difference(NamedTuple):
    """The difference between the scores of two systems on the same units.

    Attributes:
        value: the score of the second minus the score of the first.
        low, high: the bootstrap percentile interval of the difference.
        p_bootstrap: p-value of the paired bootstrap, with the resampled differences shifted to mean 0 as null
            distribution; too small with few blocks (`benchmarks/coverage.py` measures by how much).
        p_randomization: p-value of approximate randomization, which swaps the outputs of the two systems by block.

    All but `value` are NaN if undefined.
    """

    value: float
    low: float
    high: float
    p_bootstrap: float
    p_randomization: float


def compare(
    first: CountTable,
    second: CountTable,
    metrics: Sequence[Metric],
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> dict[str, Difference]:
    """Compare two systems by paired tests, for every metric by name.

    The same resamples are used for both systems (Koehn, 2004, section 4); the null distribution of the bootstrap is the
    shifted one (Efron and Tibshirani, 1993, chapter 16); approximate randomization follows Noreen (1989, chapter 2).

    Raises:
        RequestError: the tables do not have the same counts, units and blocks.
    """
    tables = (first, second)
    return compare_pairs(tables, metrics, n_resamples=n_resamples, confidence=confidence, seed=seed)[0, 1]


def compare_pairs(
    tables: Sequence[CountTable],
    metrics: Sequence[Metric],
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> dict[tuple[int, int], dict[str, Difference]]:
    """Compare every pair of systems as `compare` does; the resamples are drawn once, and are the same for all systems.

    Returns:
        The differences by the metric's name, for the numbers (i, j) of every pair of systems with i < j, j minus i.

    Raises:
        RequestError: the tables do not have the same counts, units and blocks, or work or memory would be beyond a
            limit.
    """
    _check_tests(len(tables), len(metrics), n_resamples)
    for other in tables[1:]:
        _check_pair(tables[0], other)
    pairs = list(combinations(range(len(tables)), 2))
    if not pairs:
        return {}
    names, n_blocks = tables[0].names, tables[0].n_blocks
    _check_resamples(n_resamples, n_blocks, len(names), len(tables))
    order = tables[0].order_blocks()
    blocks = [table.block_totals()[order] for table in tables]
    rng = np.random.default_rng(seed)
    drawn = _sum_draws(draw_weights(n_blocks, n_resamples, rng), blocks)
    swapped = _sum_draws(draw_swaps(n_blocks, n_resamples, rng), blocks)
    totals = [table.totals for table in tables]
    observed, bootstrap = (
        [{metric.name: metric.score(sums, names) for metric in metrics} for sums in sides] for sides in (totals, drawn)
    )
    differences: dict[tuple[int, int], dict[str, Difference]] = {}
    for i, j in pairs:
        moved = swapped[j] - swapped[i]
        sides = totals[i] + moved, totals[j] - moved
        differences[i, j] = {
            metric.name: _difference(
                float(observed[j][metric.name] - observed[i][metric.name]),
                bootstrap[j][metric.name] - bootstrap[i][metric.name],
                metric.score(sides[1], names) - metric.score(sides[0], names),
                confidence=confidence,
                n_blocks=n_blocks,
            )
            for metric in metrics
        }
    return differences


def _sum_draws(draws: Iterable[Whole], blocks: Sequence[Floats]) -> list[Floats]:
    """Return the counts of the drawn blocks, (n_resamples, k) for each system."""
    sums: list[Floats] = np.split(multiply(draws, np.hstack(blocks)), len(blocks), axis=1)
    return sums


def _check_pair(first: CountTable, second: CountTable) -> None:
    alone = len(set(first.units) ^ set(second.units))
    if alone:
        raise RequestError(
            f"the two systems were not scored on the same units: {alone:,} were scored for only one of them"
        )
    same = list(first.units) == list(second.units) and np.array_equal(first.blocks, second.blocks)
    if not same or first.names != second.names:
        raise RequestError("the two results have different counts, or group the units into different blocks")


def _difference(value: float, bootstrap: Floats, randomized: Floats, *, confidence: float, n_blocks: int) -> Difference:
    if n_blocks < 2:  # a single block can't be resampled
        return Difference(value, math.nan, math.nan, math.nan, math.nan)
    low, high = percentile_interval(bootstrap, confidence)
    return Difference(value, low, high, _p_value(bootstrap - bootstrap.mean(), value), _p_value(randomized, value))


def _p_value(null: Floats, value: float) -> float:
    """Return the proportion of differences at least as large as the observed one, which counts as one of them."""
    if math.isnan(value) or np.isnan(null).any():
        return math.nan
    return float((1 + np.count_nonzero(np.abs(null) >= abs(value) - TIE)) / (1 + len(null)))
