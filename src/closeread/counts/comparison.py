"""Comparisons of two systems by paired tests, and their JSON format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple, get_args

from closeread.counts.counts import Counts, make_report
from closeread.counts.estimates import (
    SMALL,
    Correction,
    Resampling,
    correct_decidable,
    min_p_value,
    min_resamples,
    number_or_none,
)
from closeread.counts.report import (
    Report,
    list_scores,
    make_title,
    name_options,
    warn_of_few_blocks,
)
from closeread.counts.resampling import POWER, Difference, compare_pairs
from closeread.counts.results import FORMAT, Result, find_score
from closeread.exceptions import (
    RequestError,
    choose_words,
    describe_unknown,
    escape_line,
    pluralize,
    quote,
)
from closeread.tables import NOTHING, Grid, Style, Whole, percent

SIDES = ("first", "second")
DETECTABLE = "Detectable: the true difference that is significant in {:.0%} of such test sets (single test at {:g})."


class PValues(NamedTuple):
    """The corrected p-values of a difference, named as in `Difference`; NaN if undefined."""

    p_bootstrap: float
    p_randomization: float


@dataclass(frozen=True)
class CorrectedPValues:
    """The p-values of a comparison, corrected for all tests that were done together.

    Attributes:
        method: the name of the correction.
        n_tests: the number of tests of each kind: one for each score of each pair of systems.
        p_values: by the metric's name; NaN if the resamples are too few for any to be significant.
    """

    method: str
    n_tests: int
    p_values: Mapping[str, PValues]


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """A comparison of two systems on the same units; `print` shows it as the command line does.

    Attributes:
        names: the names of the systems.
        first, second: their reports.
        differences: the differences, second minus first, by the metric's name, with p-values that are not corrected.
        corrected: the p-values corrected for several tests; None if they were not corrected.

    >>> import closeread
    >>> systems = {name: closeread.baseline("mctaco", name, config="sample") for name in ("always-negative", "random")}
    >>> (comparison,) = closeread.compare("mctaco", systems, config="sample")
    >>> comparison
    <Comparison of 'always-negative' and 'random': 25 questions, Exact match +0.00, F1 +36.40>
    >>> comparison.is_worse("f1", points=1)
    False
    >>> comparison["f1"].p_randomization < 0.05
    True
    """

    names: tuple[str, str]
    first: Report
    second: Report
    differences: Mapping[str, Difference]
    corrected: CorrectedPValues | None = None

    @property
    def power(self) -> bool:
        """Whether to show the true differences that such test sets would show."""
        return any(test.detectable is not None for test in self.differences.values())

    def __getitem__(self, name: str) -> Difference:
        """Return the difference of a score by its name, such as "f1", or as `Report` finds scores."""
        return find_score(self.differences, name, self.first.titles)

    def is_worse(self, score: str, points: float | None = None) -> bool:
        """Return whether the second system is worse than the first.

        Args:
            score: the score to look at, such as "conll/f1".
            points: by how many points (score times 100) it has to be worse; None for a difference that is significant
                by approximate randomization, after correction, at a level of 1 - confidence.

        Raises:
            RequestError: the score was not compared.
        """
        difference = self[score]
        if points is not None:
            return -100 * difference.value > points
        p_value = difference.p_randomization
        if self.corrected is not None:
            p_value = find_score(self.corrected.p_values, score, self.first.titles).p_randomization
        return difference.value < 0 and p_value < 1 - self.first.resampling.confidence

    def __repr__(self) -> str:
        def show(name: str) -> str:
            return f"{100 * self.differences[name].value:+.2f}"

        scores = list_scores(self.first, show, self.differences)
        systems = " and ".join(map(quote, self.names))
        units = pluralize(self.first.total.n_units, self.first.unit)
        return escape_line(f"<Comparison of {systems}: {units}, {scores}>")

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return its table, with a row for each metric; it is the same in all styles."""
        del style
        first, second = (Whole(escape_line(name)) for name in self.names)
        level = f"{100 * self.first.resampling.confidence:g}% interval"
        columns = ["diff.", level, "p rand.", "p boot."]
        if self.power:
            columns.append("detectable")
        rows = []
        best = set()
        for row, (metric, difference) in enumerate(self.differences.items()):
            rows.append(self._make_row(metric, difference))
            if difference.value > 0:
                best.add((row, 2))
            elif difference.value < 0:
                best.add((row, 1))
        notes = self._list_notes()
        grid = Grid(
            make_title(self.first),
            ["metric", first, second, *columns],
            rows,
            notes,
            prose=frozenset({"metric"}),
            best=frozenset(best),
            labels=1,
        )
        narrower = replace(
            grid,
            header=["metric", "first", "second", *columns],
            notes=[Whole(f"First: {first}; second: {second}."), *notes],
        )
        return [replace(grid, narrower=narrower)]

    def _make_row(self, metric: str, difference: Difference) -> list[str]:
        """Return the row of a metric."""
        p_values: PValues | Difference = difference
        if self.corrected is not None:
            p_values = self.corrected.p_values[metric]
        interval = NOTHING
        if not math.isnan(difference.low):
            low = format_difference(difference.low)
            interval = f"{low} to {format_difference(difference.high)}"
        row = [
            self.first.name_score(metric),
            percent(self.first.total.scores[metric].value),
            percent(self.second.total.scores[metric].value),
            format_difference(difference.value),
            interval,
            format_p_value(p_values.p_randomization),
            format_p_value(p_values.p_bootstrap),
        ]
        if self.power:
            row.append(percent(number_or_none(difference.detectable)))
        return row

    def _list_notes(self) -> list[str]:
        """Return the sentences below the table."""
        resampling = self.first.resampling
        n_tests = 0
        correction = " and not corrected for multiple comparisons"
        if self.corrected is not None:
            n_tests = self.corrected.n_tests
            correction = ""
            if n_tests:
                comparisons = pluralize(n_tests, "comparison")
                correction = f" and corrected for {comparisons} by Holm's method"
        blocks = pluralize(self.first.total.n_blocks, self.first.resampling_unit)
        notes = [
            f"Paired tests over {blocks} by approximate randomization (p rand.) and bootstrap (p boot.), "
            f"{resampling.n_resamples:,} resamples, seed {resampling.seed}; p-values are two-sided{correction}."
        ]
        if resampling.interval != "percentile":
            notes.append(f"Intervals: {resampling.title}.")
        if self.power:
            notes.append(DETECTABLE.format(POWER, 1 - resampling.confidence))
        notes += warn_of_few_resamples(resampling.n_resamples, n_tests)
        notes += warn_of_few_blocks(self.first, "; prefer the p-value of the randomization test")
        return [*notes, *name_options(self.first)]

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each score, ratios in full precision."""
        header = ["first", "second", "metric", "first_score", "second_score"]
        header += ["difference", "low", "high", "p_bootstrap", "p_randomization", "signature"]
        header += ["p_bootstrap_corrected", "p_randomization_corrected"]
        if self.power:
            header.append("detectable")
        rows = []
        for name, difference in self.differences.items():
            corrected = PValues(math.nan, math.nan)
            if self.corrected is not None:
                corrected = self.corrected.p_values[name]
            row: list[object] = [*self.names, name]
            row += [report.scores[name].value for report in (self.first, self.second)]
            row += map(number_or_none, difference[:5])
            row.append(self.first.provenance.signature)
            row += map(number_or_none, corrected)
            if self.power:
                row.append(number_or_none(difference.detectable))
            rows.append(row)
        return header, rows

    def to_dict(self) -> dict[str, object]:
        """Return the comparison as JSON; NaN becomes null."""
        correction = None
        if self.corrected is not None:
            correction = {"method": self.corrected.method, "n_tests": self.corrected.n_tests}
        return {
            "format": FORMAT,
            "first": {"name": self.names[0], **self.first.to_dict()},
            "second": {"name": self.names[1], **self.second.to_dict()},
            "differences": {name: self._write_difference(name) for name in self.differences},
            "correction": correction,
        }

    def _write_difference(self, name: str) -> dict[str, float | None]:
        numbers = self.differences[name].to_dict()
        if self.corrected is not None:
            for kind, p_value in self.corrected.p_values[name]._asdict().items():
                numbers[f"{kind}_corrected"] = p_value
        return {key: number_or_none(number) for key, number in numbers.items()}


def make_comparisons(
    names: Sequence[str],
    systems: Sequence[Counts],
    resampling: Resampling,
    scores: Sequence[str] | None = None,
    *,
    power: bool = False,
) -> list[Comparison]:
    """Compare the first system with each of the others by paired tests, whose p-values `correct_comparisons` corrects.

    Differences are the other minus the first, of some scores, or of all; with the power, if that is asked for.
    """
    first = systems[0]
    if resampling.n_resamples < 1:
        raise RequestError("a comparison needs at least 1 resample")
    metrics = [
        metric for metric in first.procedure.metrics if scores is None or metric.name in scores
    ]
    comparisons = []
    for name, second in zip(names[1:], systems[1:], strict=True):
        # Stored counts may cover more metrics.
        shared = [count for count in first.table.names if count in second.table.names]
        pair = [
            replace(counts, table=counts.table.with_counts(shared)) for counts in (first, second)
        ]
        tables = [counts.table for counts in pair]
        differences = compare_pairs(tables, metrics, **asdict(resampling), power=power)[0, 1]
        first_report, second_report = (
            make_report(counts, resampling=resampling) for counts in pair
        )
        comparisons.append(Comparison((names[0], name), first_report, second_report, differences))
    return comparisons


def correct_comparisons(
    comparisons: Sequence[Comparison], correction: Correction
) -> list[Comparison]:
    """Return comparisons with p-values corrected for all tests in any of them: every score of every pair of systems.

    The two kinds of p-values test the same hypotheses in two ways, so each is a family of its own.
    """
    if correction not in get_args(Correction):
        raise RequestError(describe_unknown("correction", correction, get_args(Correction)))
    if correction == "none":
        return [replace(comparison, corrected=None) for comparison in comparisons]
    tests: list[Difference] = []
    for comparison in comparisons:
        tests += comparison.differences.values()
    n_tests = sum(not math.isnan(test.p_randomization) for test in tests)
    n_resamples = comparisons[0].first.resampling.n_resamples
    corrected_kinds = [
        correct_decidable([getattr(test, kind) for test in tests], n_resamples, SMALL)
        for kind in PValues._fields
    ]
    p_values = map(PValues, *corrected_kinds)
    corrected_comparisons = []
    for comparison in comparisons:
        # In the order in which the tests were listed.
        by_metric = {name: next(p_values) for name in comparison.differences}
        corrected = CorrectedPValues(correction, n_tests, by_metric)
        corrected_comparisons.append(replace(comparison, corrected=corrected))
    return corrected_comparisons


def warn_of_few_resamples(n_resamples: int, n_tests: int, alpha: float = SMALL) -> list[str]:
    """Return a warning if no corrected p-value can be significant, so that none are reported."""
    least = min_p_value(n_resamples, n_tests)
    if least <= alpha:
        return []
    enough = min_resamples(n_tests, alpha)
    option = choose_words("--resamples", "resampling=")
    return [
        f"Not tested: after correction for {pluralize(n_tests, 'comparison')}, {n_resamples:,} resamples give no "
        f"p-value below {format_p_value(least)}, so they can't decide anything; use {enough:,} or more ({option})."
    ]


def format_difference(value: float, digits: int = 2) -> str:
    """Format a difference of scores times 100, with its sign."""
    return NOTHING if math.isnan(value) else f"{100 * value:+.{digits}f}"


def format_p_value(p: float) -> str:
    """Format a p-value with four decimals; they are never 0."""
    if math.isnan(p):
        return NOTHING
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"
