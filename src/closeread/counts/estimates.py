"""Scores with their intervals, computed from counts, and p-values corrected for several tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Literal, get_args

import numpy as np

from closeread.counts.metrics import Metric
from closeread.counts.resampling import bootstrap_intervals
from closeread.counts.table import CountTable
from closeread.exceptions import RequestError, describe_unknown
from closeread.records import IntervalKind
from closeread.signatures import Range, check_ranges, read_ranges

Correction = Literal["holm", "none"]
"""How p-values are corrected for several tests."""

SMALL = 0.05
"""The usual significance level."""


def correct_by_holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values of a family of tests corrected by Holm's (1979) step-down procedure; NaN stands for no test.

    A corrected p-value is the smallest level at which the procedure rejects the hypothesis: the smallest of m p-values
    times m, the next times m - 1, and so on, but at least the one before and at most 1.

    >>> [round(p, 3) for p in correct_by_holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, np.float64)
    tested = np.flatnonzero(~np.isnan(p))
    in_order = tested[np.argsort(p[tested], kind="stable")]
    multiplied = p[in_order] * np.arange(len(tested), 0, -1)
    corrected = p.copy()
    corrected[in_order] = np.minimum(np.maximum.accumulate(multiplied), 1)
    return [float(p_value) for p_value in corrected]


def min_p_value(n_resamples: int, n_tests: int) -> float:
    """Return the smallest corrected p-value that these tests can have.

    >>> min_p_value(999, 20)
    0.02
    """
    return min(n_tests / (1 + n_resamples), 1.0)


def min_resamples(n_tests: int, alpha: float) -> int:
    """Return the fewest resamples with which any of these tests can be significant after correction.

    >>> min_resamples(66, 0.05)
    1319
    """
    return math.ceil(n_tests / alpha) - 1


def correct_decidable(p_values: Sequence[float], n_resamples: int, alpha: float) -> list[float]:
    """Return p-values corrected by Holm's procedure; all NaN if too few resamples keep any from being significant."""
    n_tests = sum(not math.isnan(p) for p in p_values)
    if min_p_value(n_resamples, n_tests) > alpha:
        return [math.nan] * len(p_values)
    return correct_by_holm(p_values)


class DefaultNumber(int):
    """A default number, distinguishable from a number that the user chose."""


@dataclass(frozen=True)
class Resampling:
    """Parameters of the bootstrap.

    Attributes:
        n_resamples: the number of resamples; 0 for no intervals.  By default, 1,000; for tests of many systems or
            scores, as many as the correction of their p-values needs.
        confidence: the confidence level of the intervals.
        seed: the random seed.
        interval: "percentile", or "bca" for bias-corrected and accelerated intervals.

    >>> Resampling(10_000, confidence=0.9, seed=1)
    Resampling(n_resamples=10000, confidence=0.9, seed=1, interval='percentile')
    """

    n_resamples: Annotated[int, Range(0)] = DefaultNumber(1000)
    confidence: Annotated[float, Range(0, 1, above=True, below=True)] = 0.95
    seed: Annotated[int, Range(0)] = 0
    interval: IntervalKind = "percentile"

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_ranges(vars(self), read_ranges(Resampling))
        if self.interval not in get_args(IntervalKind):
            raise RequestError(
                describe_unknown("kind of interval", self.interval, get_args(IntervalKind))
            )

    @property
    def title(self) -> str:
        """The name of the intervals."""
        return "BCa bootstrap" if self.interval == "bca" else "percentile bootstrap"

    def for_tests(self, n_tests: int, alpha: float, most: int) -> Resampling:
        """Return this with enough resamples for the correction of p-values, unless the user chose their number.

        The smallest corrected p-value is at most a fifth of `alpha`; there are no more resamples than `most`.
        """
        if not isinstance(self.n_resamples, DefaultNumber) or most < min_resamples(n_tests, alpha):
            return self
        enough = 1000 * math.ceil(min_resamples(5 * n_tests, alpha) / 1000)
        return replace(self, n_resamples=max(self.n_resamples, min(enough, most)))


@dataclass(frozen=True)
class Estimate:
    """A score with its interval.

    Attributes:
        value: between 0 and 1; None if it is 0/0 and no convention gives it a value.
        low, high: the ends of the interval; None without resampling, with a single block, and if the score is 0/0 in a
            resample and no convention gives it a value.
        undefined: whether the score is 0/0, so that `value` is the procedure's convention.
    """

    value: float | None
    low: float | None
    high: float | None
    undefined: bool

    def __float__(self) -> float:
        return math.nan if self.value is None else self.value


@dataclass(frozen=True)
class Scores:
    """The scores of some units.

    Attributes:
        n_units, n_blocks: the number of units, and of the blocks that are resampled.
        scores: the scores by the metric's name.
        counts: the sums of the counts by name.
    """

    n_units: int
    n_blocks: int
    scores: Mapping[str, Estimate]
    counts: Mapping[str, float]


def score(table: CountTable, metrics: tuple[Metric, ...], resampling: Resampling) -> Scores:
    """Compute the scores of a table, with intervals."""
    counts = table.sums()
    values = {metric.name: metric.evaluate(counts) for metric in metrics}
    intervals: dict[str, tuple[float, float]] = {}
    if resampling.n_resamples and table.can_vary:
        defined = [metric for metric in metrics if not math.isnan(values[metric.name][0])]
        intervals = bootstrap_intervals(table, defined, **asdict(resampling))
    scores = {}
    for name, (value, is_undefined) in values.items():
        low, high = intervals.get(name, (math.nan, math.nan))
        scores[name] = Estimate(
            number_or_none(value), number_or_none(low), number_or_none(high), is_undefined
        )
    sums = dict(zip(table.names, table.totals.tolist(), strict=True))
    return Scores(len(table.units), table.n_blocks, scores, sums)


def number_or_none(value: float | None) -> float | None:
    """Return a number; None for NaN, which JSON does not have."""
    return None if value is None or math.isnan(value) else value
