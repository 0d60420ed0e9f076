"""Scores with their intervals, computed from counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from closeread.argument_types import check_fields
from closeread.counts.metrics import Metric, by_name
from closeread.counts.multiple_testing import find_enough
from closeread.counts.resampling import Bootstrap, Sums
from closeread.counts.table import CountTable
from closeread.exceptions import RequestError


class DefaultNumber(int):
    """A number that nobody chose."""


@dataclass(frozen=True)
class Resampling:
    """Parameters of the bootstrap.

    Attributes:
        n_resamples: the number of resamples; 0 for no intervals.  By default, 1,000; for tests of many systems or
            scores, as many as the correction of their p-values needs.
        confidence: the confidence level of the intervals.
        seed: the random seed.
    """

    n_resamples: int = DefaultNumber(1000)
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the types, and the seed.

        Raises:
            RequestError: a parameter is not a number, or the seed is negative.
        """
        check_fields(self)
        if self.seed < 0:
            raise RequestError(f"seed is {self.seed} (expected a whole number from 0)")

    def for_tests(self, n_tests: int, alpha: float, most: int) -> Resampling:
        """Return it with enough resamples for the correction of p-values, unless their number was chosen.

        Args:
            n_tests: the number of tests to correct for.
            alpha: the level of significance; the smallest corrected p-value is at most a fifth of it.
            most: the most resamples that the tests can have, which is kept to as long as they can decide anything.
        """
        if not isinstance(self.n_resamples, DefaultNumber) or most < find_enough(n_tests, alpha):
            return self
        enough = 1000 * math.ceil(find_enough(5 * n_tests, alpha) / 1000)
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

    def to_json(self) -> dict[str, Any]:
        """Return the scores as JSON."""
        estimates = {name: asdict(estimate) for name, estimate in self.scores.items()}
        sizes = {"n_units": self.n_units, "n_blocks": self.n_blocks}
        return {**sizes, "scores": estimates, "counts": dict(self.counts)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Scores:
        """Read the JSON of scores, checked by the schema of reports; other keys are ignored."""
        scores = {name: Estimate(**estimate) for name, estimate in found["scores"].items()}
        return cls(int(found["n_units"]), int(found["n_blocks"]), scores, found["counts"])


def score(
    table: CountTable, metrics: tuple[Metric, ...], resampling: Resampling, known: Mapping[bytes, Sums] | None = None
) -> Scores:
    """Compute the scores of a table, with intervals.

    Args:
        table: the counts.
        metrics: the scores.
        resampling: parameters of the bootstrap.
        known: sums of its resamples that are there already, as `Bootstrap` takes them.
    """
    totals = table.totals
    counts = by_name(totals, table.names)
    found = {metric.name: metric.evaluate(counts) for metric in metrics}
    intervals: dict[str, tuple[float, float]] = {}
    if resampling.n_resamples and table.n_blocks > 1:  # a single block can't be resampled
        bootstrap = Bootstrap(table, resampling.n_resamples, resampling.seed, known)
        defined = [metric for metric in metrics if not math.isnan(found[metric.name][0])]
        intervals = bootstrap.intervals(defined, resampling.confidence)
    scores = {}
    for name, (value, is_undefined) in found.items():
        low, high = map(number_or_none, intervals.get(name, (math.nan, math.nan)))
        scores[name] = Estimate(number_or_none(value), low, high, is_undefined)
    return Scores(len(table.units), table.n_blocks, scores, dict(zip(table.names, totals.tolist(), strict=True)))


def number_or_none(value: float) -> float | None:
    """Return a number; None for NaN, which JSON does not have."""
    return None if math.isnan(value) else value


def read_numbers(found: Mapping[str, Any], keys: Sequence[str]) -> list[float]:
    """Read numbers from JSON; null is NaN, and so is what is not there."""
    return [math.nan if found.get(key) is None else found[key] for key in keys]
