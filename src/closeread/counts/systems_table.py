"""A table of many systems: chosen scores, the best, and which others are not significantly different from the best.

Conventions: systems are numbered from 0 in the order of the rows.  The best system is chosen by the same data that it
is tested with, so the p-values of a score are corrected for all pairs of systems, not only for those with the best:
otherwise, the more systems there are, the more often one of several equally good systems would seem to be worse.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

from closeread.counts.counted import Counted
from closeread.counts.estimates import Estimate, Resampling, number_or_none, read_numbers
from closeread.counts.multiple_testing import correct_decidable, find_least
from closeread.counts.rendering import percent
from closeread.counts.report import Report, make_report
from closeread.counts.report_schema import FORMAT, check_systems_table
from closeread.counts.resampling import TIE, Difference, compare_pairs, find_most
from closeread.counts.results import Loadable
from closeread.exceptions import RequestError, escape_line, pluralize, quote
from closeread.suggestions import describe_unknown

if TYPE_CHECKING:
    from closeread.counts.rendering import Grid, Style

IntervalStyle = Literal["none", "range", "plus-minus"]
"""How a table shows intervals: not at all, by both ends, or by half of their width."""

Standing = Literal["best", "close", "worse", "untested", "undefined"]
"""How a score is related to the best one: it is the best, not significantly different from it, significantly worse, not
tested, or it has no value."""

MAX_DIGITS = 10


class PairTest(NamedTuple):
    """A paired test of two systems in one score.

    Attributes:
        first, second: the numbers of the systems, the first smaller.
        difference: the score of the second minus that of the first, with p-values that are not corrected.
        p_corrected: the p-value of approximate randomization, corrected for all pairs of systems; NaN if undefined, or
            if the resamples are too few for any to be significant.
    """

    first: int
    second: int
    difference: Difference
    p_corrected: float


@dataclass(frozen=True, repr=False)
class SystemsTable(Loadable):
    """The scores of many systems on the same gold; `print` shows them as the command line does.

    Attributes:
        names: the names of the systems, in the order of the rows.
        reports: their reports.
        scores: the names of the scores, in the order of the columns.
        tests: by score, the tests of all pairs of systems that have counts; empty if nothing can be resampled.
        has_counts: whether there are counts of each system, or only a report.
        resampling: the parameters of intervals and tests.
        alpha: the level of significance.
        digits: the number of decimals of scores times 100 in tables.
        intervals: how tables show intervals.
        pairs: whether to show the tests of all pairs.
        lacking: scores that are no column because some systems lack them, with the names of these systems.
    """

    names: tuple[str, ...]
    reports: tuple[Report, ...]
    scores: tuple[str, ...]
    tests: Mapping[str, Sequence[PairTest]]
    has_counts: tuple[bool, ...]
    resampling: Resampling
    alpha: float = 0.05
    digits: int = 2
    intervals: IntervalStyle = "none"
    pairs: bool = False
    lacking: Mapping[str, Sequence[str]] | None = None

    def __repr__(self) -> str:
        leaders = (
            f"{self.reports[0].name_score(name)} {percent(self.reports[min(self.find_best(name))].scores[name].value)}"
            f" ({quote(self.names[min(self.find_best(name))])})"
            for name in self.scores
            if self.find_best(name)
        )
        systems = pluralize(len(self.names), "system")
        return escape_line(f"<Table of {systems}, best: {', '.join(leaders) or 'none'}>")

    def find_best(self, score: str) -> frozenset[int]:
        """Return the systems with the highest value of a score; several if their values are equal."""
        values = [report.scores[score].value for report in self.reports]
        highest = max((value for value in values if value is not None), default=math.inf)
        return frozenset(i for i, value in enumerate(values) if value is not None and value >= highest - TIE)

    @cached_property
    def _best(self) -> Mapping[str, frozenset[int]]:
        return {score: self.find_best(score) for score in self.scores}

    def find_test(self, score: str, system: int) -> PairTest | None:
        """Return the test of a system against the best: with several, the clearest one; None if there is none."""
        return self._tests_with_best[score].get(system)

    @cached_property
    def _tests_with_best(self) -> Mapping[str, Mapping[int, PairTest]]:
        """The clearest test of each other system against one of the best, by score."""
        found: dict[str, dict[int, PairTest]] = {}
        for score in self.scores:
            best, clearest = self._best[score], found.setdefault(score, {})
            for test in sorted(self.tests.get(score, ()), key=lambda test: -test.p_corrected):
                if (test.first in best) != (test.second in best) and not math.isnan(test.p_corrected):
                    clearest[test.second if test.first in best else test.first] = test
        return found

    @cached_property
    def standings(self) -> Mapping[str, Sequence[Standing]]:
        """How each system is related to the best, by score."""
        systems = range(len(self.names))
        return {score: [self._find_standing(score, system) for system in systems] for score in self.scores}

    def _find_standing(self, score: str, system: int) -> Standing:
        if self.reports[system].scores[score].value is None:
            return "undefined"
        if system in self._best[score]:
            return "best"
        test = self.find_test(score, system)
        if test is None:
            return "untested"
        return "worse" if test.p_corrected <= self.alpha else "close"

    def has_interval(self, system: int) -> bool:
        """Return whether a system's intervals have the confidence level of the table."""
        drawn = self.reports[system].resampling
        return drawn.n_resamples > 0 and drawn.confidence == self.resampling.confidence

    def to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table and, if they are to be shown, the tests of all pairs, laid out for a style."""
        from closeread.counts.systems_grids import make_grids

        return make_grids(self, style)

    def to_latex(self) -> str:
        r"""Return a floating LaTeX table with a caption, scores times 100; it needs `\usepackage{booktabs}`."""
        from closeread.counts.systems_latex import draw_latex

        return draw_latex(self)

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each system and score, or for each pair and score if pairs are to be shown."""
        from closeread.counts.systems_grids import make_pair_rows, make_rows

        return make_pair_rows(self) if self.pairs else make_rows(self)

    def to_json(self) -> dict[str, object]:
        """Return the table as JSON, with the report of each system and the tests of all pairs; NaN becomes null."""
        return {
            "format": FORMAT,
            "procedure": self.reports[0].provenance.procedure,
            "signature": self.reports[0].provenance.signature,
            "scores": list(self.scores),
            "alpha": self.alpha,
            "correction": {"method": "holm", "n_tests": {score: self.count_tests(score) for score in self.scores}},
            "n_resamples": int(self.resampling.n_resamples),
            "confidence": self.resampling.confidence,
            "seed": self.resampling.seed,
            "systems": self._list_systems([report.to_json() for report in self.reports]),
            "pairs": {score: [self._pair_to_json(test) for test in tests] for score, tests in self.tests.items()},
        }

    def _list_systems(self, reports: Sequence[object]) -> list[dict[str, object]]:
        """Return the JSON of all systems, given that of their reports."""
        return [
            {
                "name": name,
                "has_counts": self.has_counts[i],
                "standings": {score: self.standings[score][i] for score in self.scores},
                "report": reports[i],
            }
            for i, name in enumerate(self.names)
        ]

    def _pair_to_json(self, test: PairTest) -> dict[str, object]:
        values = {**test.difference._asdict(), "p_randomization_corrected": test.p_corrected}
        numbers = {key: number_or_none(value) for key, value in values.items()}
        return {"first": self.names[test.first], "second": self.names[test.second], **numbers}

    def to_stored(self) -> dict[str, object]:
        """Return what is saved: the JSON, and what it takes to print the same table again."""
        systems = self._list_systems([report.to_stored() for report in self.reports])
        shown = {"digits": self.digits, "intervals": self.intervals, "show_pairs": self.pairs}
        return {**self.to_json(), **shown, "systems": systems, "lacking": self.lacking}

    @classmethod
    def from_json(cls, found: object, source: object = "table") -> Self:
        """Read the JSON of a table.

        Args:
            found: the JSON value; keys that are unknown are ignored.
            source: what it is from, for messages.

        Raises:
            FormatError: it is not a table of systems; all problems at once.
        """
        checked = check_systems_table(found, source)
        systems = checked["systems"]
        names = tuple(one["name"] for one in systems)
        number = {name: i for i, name in enumerate(names)}
        n_resamples, alpha = int(checked["n_resamples"]), checked["alpha"]
        shown = {name: checked[name] for name in ("intervals", "lacking") if name in checked}
        shown |= {"digits": int(checked["digits"])} if "digits" in checked else {}
        return cls(
            names,
            tuple(Report.from_json(one["report"], source) for one in systems),
            tuple(checked["scores"]),
            {score: _read_tests(tests, number, n_resamples, alpha) for score, tests in checked["pairs"].items()},
            tuple(one["has_counts"] for one in systems),
            Resampling(n_resamples, checked["confidence"], int(checked["seed"])),
            alpha,
            pairs=checked.get("show_pairs", False),
            **shown,
        )

    def count_tests(self, score: str) -> int:
        """Return the number of tests for which the p-values of a score are corrected."""
        return sum(not math.isnan(test.difference.p_randomization) for test in self.tests.get(score, ()))

    def is_undecided(self, score: str) -> bool:
        """Return whether the resamples are too few for any test of a score to be significant after correction."""
        return find_least(self.resampling.n_resamples, self.count_tests(score)) > self.alpha


def _read_tests(
    found: Sequence[Mapping[str, Any]], number: Mapping[str, int], n_resamples: int, alpha: float
) -> list[PairTest]:
    """Read the JSON of the tests of a score, of systems that are numbered by their names."""
    pairs = [(number[one["first"]], number[one["second"]]) for one in found]
    return _correct(pairs, [Difference(*read_numbers(one, Difference._fields)) for one in found], n_resamples, alpha)


def _correct(
    pairs: Sequence[tuple[int, int]], differences: Sequence[Difference], n_resamples: int, alpha: float
) -> list[PairTest]:
    """Return the tests of all pairs of systems in a score, with corrected p-values."""
    p_values = correct_decidable([difference.p_randomization for difference in differences], n_resamples, alpha)
    return [PairTest(*pair, difference, p) for pair, difference, p in zip(pairs, differences, p_values, strict=True)]


def make_systems_table(
    names: Sequence[str],
    results: Sequence[Counted | Report],
    scores: Sequence[str],
    *,
    sort: str | None = None,
    resampling: Resampling | None = None,
    alpha: float = 0.05,
    digits: int = 2,
    intervals: IntervalStyle = "none",
    pairs: bool = False,
    lacking: Mapping[str, Sequence[str]] | None = None,
) -> SystemsTable:
    """Make a table of systems with equal signatures.

    Args:
        names: the names of the systems.
        results: their counts; or their reports, which can't be tested.
        scores: the names of the columns, which all systems have.
        sort: the score to sort rows by, the best first; None to keep the order.
        resampling: the parameters of intervals and tests, the same for all systems; None for the defaults.
        alpha, digits, intervals, pairs, lacking: as in `SystemsTable`.

    Raises:
        RequestError: a parameter is out of range, two names are the same, there is no such score to sort by, or the
            counts are not of the same units.
    """
    _check_parameters(names, scores, sort, alpha=alpha, digits=digits, intervals=intervals)
    resampling = _choose_resampling(results, scores, resampling or Resampling(), alpha)
    reports = [make_report(one, resampling=resampling) if isinstance(one, Counted) else one for one in results]
    order = list(range(len(names)))
    if sort is not None:
        order.sort(key=lambda i: _rank(reports[i].scores[sort]))
    in_order = [results[i] for i in order]
    return SystemsTable(
        tuple(names[i] for i in order),
        tuple(reports[i] for i in order),
        tuple(scores),
        _test_pairs(in_order, scores, resampling, alpha),
        tuple(isinstance(one, Counted) for one in in_order),
        resampling,
        alpha,
        digits,
        intervals,
        pairs,
        lacking,
    )


def _rank(estimate: Estimate) -> float:
    """Return what sorts by falling scores; a score without a value is last."""
    return math.inf if estimate.value is None else -estimate.value


def _check_parameters(
    names: Sequence[str], scores: Sequence[str], sort: str | None, *, alpha: float, digits: int, intervals: str
) -> None:
    """Check what a table is made of.

    Raises:
        RequestError: something is out of range.
    """
    if not names:
        raise RequestError("a table needs at least one system")
    twice, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise RequestError(f"two systems have the name {quote(twice)}; give each its own")
    if not 0 < alpha < 1:
        raise RequestError(f"alpha is {alpha} (expected a number between 0 and 1)")
    if digits not in range(MAX_DIGITS + 1):
        raise RequestError(f"digits is {digits} (expected a whole number from 0 to {MAX_DIGITS})")
    if intervals not in get_args(IntervalStyle):
        raise RequestError(describe_unknown("style of intervals", intervals, get_args(IntervalStyle)))
    if sort is not None and sort not in scores:
        raise RequestError(describe_unknown("column to sort by", sort, scores))


def _choose_resampling(
    results: Sequence[Counted | Report], scores: Sequence[str], resampling: Resampling, alpha: float
) -> Resampling:
    """Return the parameters of intervals and tests, with enough resamples for the number of systems."""
    counted = [one for one in results if isinstance(one, Counted)]
    if len(counted) < 2:
        return resampling
    table = counted[0].table
    most = find_most(len(counted), len(scores), table.n_blocks, len(_find_counts(counted, scores)))
    return resampling.for_tests(math.comb(len(counted), 2), alpha, most)


def _find_counts(counted: Sequence[Counted], scores: Sequence[str]) -> list[str]:
    """Return what must be counted for these scores, of all that is stored."""
    names, metrics = counted[0].table.names, counted[0].procedure.metrics
    used = {name for metric in metrics if metric.name in scores for name in metric.list_counts(names)}
    return [name for name in names if name in used and all(name in one.table.names for one in counted)]


def _test_pairs(
    results: Sequence[Counted | Report], scores: Sequence[str], resampling: Resampling, alpha: float
) -> dict[str, list[PairTest]]:
    """Test all pairs of systems that have counts, in every score; nothing if there is nothing to resample.

    Raises:
        RequestError: they have different units or blocks.
    """
    counted = {i: one for i, one in enumerate(results) if isinstance(one, Counted)}
    if len(counted) < 2 or not resampling.n_resamples:
        return {}
    places, (first, *_) = list(counted), list(counted.values())
    shared = _find_counts(list(counted.values()), scores)
    found = compare_pairs(
        [one.table.with_counts(shared) for one in counted.values()],
        [metric for metric in first.procedure.metrics if metric.name in scores],
        n_resamples=resampling.n_resamples,
        confidence=resampling.confidence,
        seed=resampling.seed,
    )
    if first.table.n_blocks < 2:
        return {}
    pairs = [(places[i], places[j]) for i, j in found]
    return {
        score: _correct(pairs, [of_pair[score] for of_pair in found.values()], resampling.n_resamples, alpha)
        for score in scores
    }
