"""Scores as functions of summed counts.

Conventions: scores are ratios between 0 and 1; NaN stands for 0/0 until `Metric.zero_division` replaces it.  A formula
is a frozen class that maps counts by name, arrays of one shape, to scores of that shape; it can be compared, printed
and pickled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from closeread.arrays import Floats, Mask, ratio
from closeread.exceptions import pluralize

UNITS = "units"
"""The column that counts units, or sums their weights, if scores are averaged over them."""

PARTS = ("/precision", "/recall")
"""The ends of the names of scores that F1 combines."""

Columns = Mapping[str, Floats]


Formula = Callable[[Columns], Floats]
"""From summed counts by name to scores; NaN where undefined."""


class DescribedFormula(Protocol):
    """A formula with a sentence that describes it."""

    @property
    def description(self) -> str:
        """What it measures."""

    def __call__(self, counts: Columns) -> Floats:
        """Compute the scores."""


@dataclass(frozen=True)
class Ratio:
    """One count divided by another.

    Attributes:
        numerator, denominator: the names of the counts.
        description: what the ratio measures, in a sentence.
    """

    numerator: str
    denominator: str
    description: str = ""

    def __call__(self, counts: Columns) -> Floats:
        """Compute the ratio."""
        return ratio(counts[self.numerator], counts[self.denominator])


@dataclass(frozen=True)
class F1:
    """The harmonic mean of precision and recall; NaN where both are NaN, 0 where both are 0."""

    precision: Formula
    recall: Formula

    def __call__(self, counts: Columns) -> Floats:
        """Compute the harmonic mean."""
        return harmonic_mean(self.precision(counts), self.recall(counts))


@dataclass(frozen=True)
class MeanOf:
    """The mean of several scores; a score that is 0/0 counts as 0, and the mean is NaN if all are 0/0."""

    formulas: tuple[Formula, ...]

    def __call__(self, counts: Columns) -> Floats:
        """Compute the mean."""
        scores = np.array([formula(counts) for formula in self.formulas])
        return np.where(np.isnan(scores).all(axis=0), np.nan, np.nan_to_num(scores).mean(axis=0))


@dataclass(frozen=True)
class Mean:
    """The mean of a score over units if `unit_scores` was summed, otherwise the score of the summed counts.

    Units have the weights given to `unit_scores`.  A unit whose score is 0/0 counts as 0, or is left out where
    `unit_scores` was told so; if all scores are 0/0, so is the mean.

    Attributes:
        name: the metric's name, from which `unit_scores` makes the names of its sums.
        formula: the score of the summed counts.
    """

    name: str
    formula: Formula

    def __call__(self, counts: Columns) -> Floats:
        """Compute the mean or the score."""
        if f"{self.name}:sum" not in counts:
            return self.formula(counts)
        if f"{self.name}:left_out" in counts:
            n_defined = counts[UNITS] - counts[f"{self.name}:left_out"]
            return ratio(counts[f"{self.name}:sum"], n_defined)
        defined = counts[UNITS] > counts[f"{self.name}:undefined"]
        return np.where(defined, ratio(counts[f"{self.name}:sum"], counts[UNITS]), np.nan)


@dataclass(frozen=True)
class GroupMean:
    """The mean of a score over groups, which are the first axis of the counts.

    Attributes:
        formula: the score of a group.
        decisive: the score whose being 0/0 makes it undefined: that of F1 for precision and recall, which are undefined
            where nothing was to be found, and nothing was.
        undefined: whether an undefined score counts as 0 in the mean ("zero") or is left out ("skip").
    """

    formula: Formula
    decisive: Formula
    undefined: str

    def __call__(self, counts: Columns) -> Floats:
        """Compute the mean; NaN if the score of every group is undefined."""
        scores = self.formula(counts)
        is_undefined = self.find_undefined(counts)
        total = np.where(is_undefined, 0, np.nan_to_num(scores)).sum(axis=0)
        n_defined = np.count_nonzero(~is_undefined, axis=0)
        if self.undefined == "skip":
            return ratio(total, n_defined)
        return np.where(n_defined > 0, total / len(scores), np.nan)

    def find_undefined(self, counts: Columns) -> Mask:
        """Find the groups whose score is undefined."""
        if self.undefined == "skip":
            return _lack_score(self.decisive, counts)
        return np.isnan(self.formula(counts))


def harmonic_mean(precision: Floats, recall: Floats) -> Floats:
    """Return F1; NaN where precision and recall are both 0/0, 0 where both are 0.

    >>> harmonic_mean(np.array([0.5, 0.0, np.nan]), np.array([1.0, 0.0, np.nan])).round(3).tolist()
    [0.667, 0.0, nan]
    """
    p = np.fmax(precision, 0.0)  # NaN becomes 0
    r = np.fmax(recall, 0.0)
    f1 = ratio(2 * p * r, np.where(p + r == 0, 1, p + r))
    return np.where(np.isnan(precision) & np.isnan(recall), np.nan, f1)


@dataclass(frozen=True)
class Metric:
    """A score, as a function of summed counts.

    Attributes:
        name: its name in reports, such as `f1` or `muc/recall`.
        title: its name in tables.
        description: what it measures, in a sentence.
        formula: computes it from summed counts; NaN where undefined.
        zero_division: the value of 0/0 by the procedure's convention; None if there is no convention.
    """

    name: str
    title: str
    description: str
    formula: Formula
    zero_division: float | None = None

    @property
    def family(self) -> str:
        """The name without `/precision`, `/recall` or `/f1`."""
        return self.name.partition("/")[0]

    def score(self, totals: Floats, names: Sequence[str]) -> Floats:
        """Compute the scores of sums of counts.

        Args:
            totals: (..., k) sums of the counts.
            names: (k,) what each counts.

        Returns:
            (...) scores between 0 and 1; where they are 0/0, `zero_division`, or NaN if that is None.
        """
        return self.score_columns(by_name(totals, names))

    def score_columns(self, counts: Columns) -> Floats:
        """Compute the scores of sums of counts by name, arrays of one shape, as `score` does."""
        values = self.formula(counts)
        if self.zero_division is None:
            return values
        return np.where(np.isnan(values), self.zero_division, values)

    def list_counts(self, names: Sequence[str]) -> list[str]:
        """Return the sorted names of those of these counts from which the score is computed."""
        counts = _ReadCounts(by_name(np.zeros((1, len(names))), names))
        counts.names_read = set()
        self.formula(counts)
        return sorted(counts.names_read)

    def is_defined(self, names: Sequence[str]) -> bool:
        """Return whether the score can be computed from these counts."""
        try:
            self.formula(by_name(np.zeros((1, len(names))), names))
        except KeyError:
            return False
        return True

    def evaluate(self, counts: Columns) -> tuple[float, bool]:
        """Return the score of sums by name, and whether it is 0/0, so that `zero_division` is its value."""
        value = float(self.formula(counts))
        if self.zero_division is not None and math.isnan(value):
            return float(self.zero_division), True
        return value, False


class _ReadCounts(dict[str, Floats]):
    """Counts by name that record which of them were read."""

    names_read: set[str]

    def __getitem__(self, name: str) -> Floats:
        self.names_read.add(name)
        return super().__getitem__(name)


def by_name(totals: Floats, names: Sequence[str]) -> Columns:
    """Return sums of counts, (..., k), by the names of the counts, (...) each."""
    return {name: totals[..., i] for i, name in enumerate(names)}


def precision_recall_f1(
    name: str, title: str, precision: DescribedFormula, recall: DescribedFormula
) -> tuple[Metric, Metric, Metric]:
    """Return the metrics `NAME/precision`, `NAME/recall` and `NAME/f1` of summed counts; 0/0 is 0."""
    return (
        Metric(
            f"{name}/precision",
            f"{title} precision",
            precision.description,
            precision,
            zero_division=0.0,
        ),
        Metric(f"{name}/recall", f"{title} recall", recall.description, recall, zero_division=0.0),
        Metric(
            f"{name}/f1",
            f"{title} F1",
            "Harmonic mean of precision and recall.",
            F1(precision, recall),
            zero_division=0.0,
        ),
    )


def unit_scores(
    columns: Columns,
    metrics: Sequence[Metric],
    weights: Floats | None = None,
    undefined: str = "zero",
) -> dict[str, Floats]:
    """Return counts whose sums give means over units: the weight of each unit, its scores, and whether they are 0/0.

    Args:
        columns: the counts of every unit, (n,) each.
        metrics: the metrics of the summed counts.
        weights: (n,) the weight of each unit, a whole number of at least 1; None for 1 each.
        undefined: whether a score that is 0/0 counts as 0 in the mean ("zero") or is left out ("skip").
    """
    if weights is None:
        weights = np.ones(len(next(iter(columns.values()))))
    sums = {UNITS: weights}
    ending = "undefined" if undefined == "zero" else "left_out"
    for metric, mean in zip(metrics, average_groups(metrics, undefined), strict=True):
        is_undefined = mean.formula.find_undefined(columns)
        defined_scores = np.where(is_undefined, 0.0, np.nan_to_num(metric.formula(columns)))
        sums[f"{metric.name}:sum"] = weights * defined_scores
        sums[f"{metric.name}:{ending}"] = weights * is_undefined
    return sums


@dataclass(frozen=True)
class GroupMetric(Metric):
    """A score that is the mean of those of groups."""

    formula: GroupMean


def average_groups(metrics: Sequence[Metric], undefined: str) -> tuple[GroupMetric, ...]:
    """Return the metrics as means over groups, for sums of counts whose first axis is the groups."""
    formula_by_name = {metric.name: metric.formula for metric in metrics}
    means = []
    for metric in metrics:
        decisive = formula_by_name.get(f"{metric.family}/f1", metric.formula)
        mean = GroupMean(metric.formula, decisive, undefined)
        zero_division = metric.zero_division if undefined == "zero" else None
        means.append(
            GroupMetric(metric.name, metric.title, metric.description, mean, zero_division)
        )
    return tuple(means)


def _lack_score(formula: Formula, columns: Columns) -> Mask:
    """Find the units where a score is 0/0, or any of several scores of which it is the mean."""
    if isinstance(formula, Mean):
        formula = formula.formula
    parts = formula.formulas if isinstance(formula, MeanOf) else (formula,)
    scores = np.array([part(columns) for part in parts])
    is_undefined: Mask = np.isnan(scores).any(axis=0)
    return is_undefined


def describe_undefined(
    columns: Columns, metrics: Iterable[Metric], unit: str, advice: str = ""
) -> Iterator[str]:
    """Say how many units have an undefined score of each kind, and how it enters the mean; `advice` ends it.

    The columns are those of `unit_scores`, (n_units,) each.
    """
    n_units = len(columns[UNITS])
    names_by_count: dict[tuple[int, str], list[str]] = {}
    for metric in metrics:
        if metric.name.endswith(PARTS):
            continue
        for ending in ("undefined", "left_out"):
            n_undefined = int(np.count_nonzero(columns.get(f"{metric.name}:{ending}", ())))
            if n_undefined:
                names_by_count.setdefault((n_undefined, ending), []).append(metric.title)
    treatments = {"undefined": "counted as 0 in the mean", "left_out": "left out of the mean"}
    for (n_undefined, ending), titles in names_by_count.items():
        verb = "has" if n_undefined == 1 else "have"
        units = f"{n_undefined:,} of {pluralize(n_units, unit)} {verb}"
        yield f"{units} no {', '.join(titles)} (0/0): {treatments[ending]}{advice}"


def average(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """Return the metrics as means over units, for counts that contain `unit_scores`."""
    return tuple(replace(metric, formula=Mean(metric.name, metric.formula)) for metric in metrics)
