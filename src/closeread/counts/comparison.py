"""Comparisons of two systems by paired tests, and their JSON format."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, get_args

from closeread.counts.counted import Counted
from closeread.counts.estimates import Resampling, number_or_none, read_numbers
from closeread.counts.metrics import Metric
from closeread.counts.multiple_testing import SMALL, Correction, correct_decidable, find_least
from closeread.counts.report import Report, list_scores, make_report
from closeread.counts.report_schema import FORMAT, check_comparison
from closeread.counts.resampling import Difference, Drawn, check_pair, draw_systems
from closeread.counts.results import Loadable
from closeread.exceptions import RequestError, escape_line, pluralize, quote
from closeread.suggestions import describe_unknown
from closeread.wording import name_option

if TYPE_CHECKING:
    from closeread.counts.rendering import Grid, Style


class PValues(NamedTuple):
    """The corrected p-values of a difference; NaN if undefined.

    Attributes:
        p_bootstrap, p_randomization: those of the paired bootstrap and of approximate randomization.
    """

    p_bootstrap: float
    p_randomization: float


@dataclass(frozen=True)
class Corrected:
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
class Comparison(Loadable):
    """A comparison of two systems on the same units; `print` shows it as the command line does.

    Attributes:
        names: the names of the systems.
        first, second: their reports.
        differences: the differences, second minus first, by the metric's name, with p-values that are not corrected.
        corrected: the p-values corrected for several tests; None if they were not corrected.
    """

    names: tuple[str, str]
    first: Report
    second: Report
    differences: Mapping[str, Difference]
    corrected: Corrected | None = None

    def __repr__(self) -> str:
        scores = list_scores(self.first, lambda name: f"{100 * self.differences[name].value:+.2f}", self.differences)
        systems = " and ".join(map(quote, self.names))
        units = pluralize(self.first.total.n_units, self.first.unit)
        return escape_line(f"<Comparison of {systems}: {units}, {scores}>")

    def to_grids(self, style: Style = "table") -> list[Grid]:
        """Return its table, which is the same in all styles."""
        from closeread.counts.grids import comparison_grid

        del style
        return [comparison_grid(self)]

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each score, ratios in full precision."""
        from closeread.counts.grids import comparison_rows

        return comparison_rows(self)

    def to_stored(self) -> dict[str, object]:
        """Return what is saved: the JSON, and what it takes to print the same table again."""
        sides = zip(("first", "second"), self.names, (self.first, self.second), strict=True)
        return {**self.to_json(), **{side: {"name": name, **report.to_stored()} for side, name, report in sides}}

    def to_json(self) -> dict[str, object]:
        """Return the comparison as JSON; NaN becomes null."""
        return {
            "format": FORMAT,
            "first": {"name": self.names[0], **self.first.to_json()},
            "second": {"name": self.names[1], **self.second.to_json()},
            "differences": {name: self._difference_to_json(name) for name in self.differences},
            "correction": None
            if self.corrected is None
            else {"method": self.corrected.method, "n_tests": self.corrected.n_tests},
        }

    def _difference_to_json(self, name: str) -> dict[str, float | None]:
        values: dict[str, float] = self.differences[name]._asdict()
        if self.corrected is not None:
            values |= {f"{kind}_corrected": p for kind, p in self.corrected.p_values[name]._asdict().items()}
        return {key: number_or_none(value) for key, value in values.items()}

    @classmethod
    def from_json(cls, found: object, source: object = "comparison") -> Self:
        """Read the JSON of a comparison.

        Args:
            found: the JSON value, or a list of only it, as the command line prints it for two systems; keys that are
                unknown are ignored.
            source: what it is from, for messages.

        Raises:
            FormatError: it is not a comparison; all problems at once.
        """
        checked = check_comparison(found, source)
        differences = {
            name: Difference(*read_numbers(one, Difference._fields)) for name, one in checked["differences"].items()
        }
        first, second = checked["first"], checked["second"]
        reports = Report.from_json(first, source), Report.from_json(second, source)
        return cls((first["name"], second["name"]), *reports, differences, _read_corrected(checked))


def _read_corrected(found: Mapping[str, Any]) -> Corrected | None:
    """Read the corrected p-values of a comparison from its JSON; None if there are none."""
    correction = found.get("correction")
    if correction is None:
        return None
    kinds = [f"{kind}_corrected" for kind in PValues._fields]
    n_tests, n_resamples = int(correction["n_tests"]), int(found["first"]["n_resamples"])
    if find_least(n_resamples, n_tests) > SMALL:  # older versions wrote p-values that can't decide anything
        kinds = [""] * len(kinds)
    p_values = {name: PValues(*read_numbers(one, kinds)) for name, one in found["differences"].items()}
    return Corrected(correction["method"], n_tests, p_values)


def make_comparison(
    names: tuple[str, str], first: Counted, second: Counted, resampling: Resampling | None = None
) -> Comparison:
    """Compare two systems as `make_comparisons` does."""
    (comparison,) = make_comparisons(names, (first, second), resampling)
    return comparison


def make_comparisons(
    names: Sequence[str],
    systems: Sequence[Counted],
    resampling: Resampling | None = None,
    scores: Sequence[str] | None = None,
) -> list[Comparison]:
    """Compare the first system with each of the others by paired tests, whose p-values `correct_comparisons` corrects.

    Args:
        names: the names of the systems.
        systems: their counts; differences are the other minus the first.
        resampling: parameters of the bootstrap; None for the defaults.
        scores: the names of the scores to compare; None for all.

    Raises:
        RequestError: their signatures or units differ, so that they are not comparable.
    """
    resampling = resampling or Resampling()
    first = systems[0]
    metrics = [metric for metric in first.procedure.metrics if scores is None or metric.name in scores]
    alike: dict[tuple[str, ...], list[int]] = {}  # the systems that share the same counts with the first
    for place, second in enumerate(systems[1:], 1):
        _check_comparable((names[0], names[place]), first, second)
        if resampling.n_resamples < 1:
            raise RequestError("a comparison needs at least 1 resample")
        # Stored counts may cover more metrics.
        shared = tuple(name for name in first.table.names if name in second.table.names)
        alike.setdefault(shared, []).append(place)
        one, two = (counted.table.with_counts(shared) for counted in (first, second))
        check_pair(one, two, len(metrics), resampling.n_resamples)
    found: dict[int, Comparison] = {}
    for shared, others in alike.items():
        places = [0, *others]
        restricted = [_restrict(systems[place], shared) for place in places]
        compared = _compare_with_first([names[place] for place in places], restricted, metrics, resampling)
        found |= zip(others, compared, strict=True)
    return [found[place] for place in range(1, len(systems))]


def _restrict(counted: Counted, names: Sequence[str]) -> Counted:
    return replace(counted, table=counted.table.with_counts(names))


def _compare_with_first(
    names: Sequence[str], systems: Sequence[Counted], metrics: Sequence[Metric], resampling: Resampling
) -> Iterator[Comparison]:
    """Compare the first system with each of the others, which have the same counts."""
    drawn = draw_systems([counted.table for counted in systems], resampling.n_resamples, resampling.seed)
    first = next(drawn)
    first_report = _report(systems[0], resampling, first)
    for name, counted, second in zip(names[1:], systems[1:], drawn, strict=True):
        differences = first.compare(second, metrics, resampling.confidence)
        yield Comparison((names[0], name), first_report, _report(counted, resampling, second), differences)


def _report(counted: Counted, resampling: Resampling, drawn: Drawn) -> Report:
    return make_report(counted, resampling=resampling, drawn={drawn.order: drawn.weighted})


def correct_comparisons(comparisons: Sequence[Comparison], correction: Correction = "holm") -> list[Comparison]:
    """Return comparisons with p-values corrected for all tests in any of them: every score of every pair of systems.

    The two kinds of p-values test the same hypotheses in two ways, so each is a family of its own.

    Raises:
        RequestError: there is no such correction.
    """
    if correction not in get_args(Correction):
        raise RequestError(describe_unknown("correction", correction, get_args(Correction)))
    if correction == "none":
        return [replace(comparison, corrected=None) for comparison in comparisons]
    places = [(number, name) for number, comparison in enumerate(comparisons) for name in comparison.differences]
    tests = [comparisons[number].differences[name] for number, name in places]
    n_resamples = comparisons[0].first.resampling.n_resamples
    families = (
        correct_decidable([getattr(test, kind) for test in tests], n_resamples, SMALL) for kind in PValues._fields
    )
    p_values = dict(zip(places, map(PValues, *families), strict=True))
    n_tests = sum(not math.isnan(test.p_randomization) for test in tests)
    return [
        replace(
            comparison,
            corrected=Corrected(correction, n_tests, {name: p_values[number, name] for name in comparison.differences}),
        )
        for number, comparison in enumerate(comparisons)
    ]


def _check_comparable(names: tuple[str, str], first: Counted, second: Counted) -> None:
    """Check that two systems were scored alike.

    Raises:
        RequestError: their signatures or units differ.
    """
    if first.provenance.options.get("missing") == "skip":
        _check_units(names, first, second)
    if first.provenance.signature != second.provenance.signature:
        signatures = f"{first.provenance.signature} and {second.provenance.signature}"
        raise RequestError(f"the two results are not comparable: their signatures are {signatures}")


def _check_units(names: tuple[str, str], first: Counted, second: Counted) -> None:
    """Check that two systems have the same units, if units without a prediction are skipped.

    Raises:
        RequestError: they have different units; the message names one.
    """
    unit = first.procedure.unit
    one, two = set(first.table.units), set(second.table.units)
    for lacks, lacking, having in ((two - one, names[0], names[1]), (one - two, names[1], names[0])):
        if lacks:
            found = f"{lacking} has no prediction for {unit} {quote(min(lacks))}, but {having} has one"
            option = name_option("missing", "skip")
            raise RequestError(f"{found}; with {option}, both systems must cover the same {unit}s")
