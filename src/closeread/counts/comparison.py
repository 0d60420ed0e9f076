"""Systems compared on the same gold: their reports, and paired tests of them.

Conventions: systems are numbered from 0 in the order of the rows.  With a baseline, it is tested against each of the
other systems, and p-values are corrected for all scores of all these pairs.  Without one, all pairs are tested, and the
p-values of a score are corrected for all of them: the best system is chosen by the same data that it is tested with, so
that otherwise, the more systems there are, the more often one of several equally good systems would seem to be worse.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any, Literal, NamedTuple, get_args

from closeread.counts.comparison_tables import (
    make_difference_grid,
    make_group_difference_grid,
    make_group_system_grid,
    make_system_grids,
)
from closeread.counts.counts import Counts, make_report
from closeread.counts.estimates import (
    SMALL,
    Correction,
    Estimate,
    Resampling,
    correct_decidable,
    number_or_none,
)
from closeread.counts.latex import draw_pairs, draw_systems
from closeread.counts.metrics import Metric
from closeread.counts.report import Report, list_scores
from closeread.counts.resampling import TIE, Difference, compare_pairs, max_resamples
from closeread.counts.results import FORMAT, Result, find_score
from closeread.counts.table import CountTable
from closeread.exceptions import RequestError, describe_unknown, escape_line, pluralize, quote
from closeread.tables import Grid, Style, percent

IntervalStyle = Literal["none", "range", "plus-minus"]
"""How a table shows intervals: not at all, by both ends, or by half of their width."""

Standing = Literal["best", "close", "worse", "untested", "undefined"]
"""How a score compares with the best one; close: not significantly different, worse: significantly worse."""

RANDOMIZATION = "p_randomization"
P_VALUES = ("p_bootstrap", RANDOMIZATION)
"""The p-values of a difference, by the names of its attributes."""


class Usage(NamedTuple):
    """What the run of a language model took.

    Attributes:
        answered: the share of answers that could be read, from 0 to 1.
        input_tokens, output_tokens: the tokens of the whole run.
        cost: its cost in dollars; None if it is unknown.
    """

    answered: float
    input_tokens: int
    output_tokens: int
    cost: float | None


class PairTest(NamedTuple):
    """Paired tests of two systems in one score.

    Attributes:
        first, second: the numbers of the systems, the first smaller.
        difference: the score of the second minus that of the first, with p-values that are not corrected.
        corrected: the p-values that were corrected, by name; NaN if undefined, or if the resamples are too few for any
            to be significant.
    """

    first: int
    second: int
    difference: Difference
    corrected: Mapping[str, float] = {}

    @property
    def p_corrected(self) -> float:
        """The p-value of approximate randomization, corrected unless that was not wanted."""
        return self.p_value(RANDOMIZATION)

    def p_value(self, name: str) -> float:
        """Return a p-value by name, corrected unless that was not wanted."""
        p_value: float = self.corrected.get(name, getattr(self.difference, name))
        return p_value

    def to_dict(self) -> dict[str, float | None]:
        """Return the numbers as JSON; NaN becomes null."""
        numbers = self.difference.to_dict()
        for name, p_value in self.corrected.items():
            numbers[f"{name}_corrected"] = p_value
        return {name: number_or_none(number) for name, number in numbers.items()}


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Systems on the same gold, and paired tests of them; `print` shows them as the command line does.

    With a baseline, iterating yields a comparison of two systems for each other system, as if there were no others.

    Attributes:
        names: the names of the systems, in order.
        reports: their reports.
        scores: the names of the scores, in the order of the columns.
        tests: by score, the tests of the baseline with each other system, or of all pairs of systems that have counts;
            empty if nothing can be resampled.
        n_tests: by score, for how many tests its p-values are corrected.
        has_counts: whether there are counts of each system, or only a report.
        resampling: the parameters of intervals and tests.
        baseline: the number of the system that all others are compared with, 0; None if all pairs are compared.
        correction: how p-values are corrected.
        alpha: the level of significance.
        digits: the number of decimals of scores times 100 in tables.
        intervals: how tables show intervals.
        pairs: whether to show the tests of all pairs.
        lacking: scores that are no column because some systems lack them, with the names of these systems.
        usage: what the runs of language models took, by the name of the system, where it is known.
        group_tests: by group, the tests of the same pairs in the main score, whose p-values are corrected for the number
            of groups, without a baseline for all of these tests; empty if scores are no means over groups.

    >>> import closeread
    >>> names = ("always-negative", "random", "always-positive")
    >>> systems = {name: closeread.baseline("mctaco", name, config="sample") for name in names}
    >>> table = closeread.table("mctaco", systems, config="sample")
    >>> [table.names[i] for i in table.find_best("f1")], table.n_tests["f1"]
    (['always-positive'], 3)
    >>> test = table.find_test("f1", 0)
    >>> test is not None and test.p_corrected < 0.05
    True
    >>> table.find_standing("f1", 0), table.find_standing("f1", 2)
    ('worse', 'best')
    >>> table.list_estimates("f1")[2] == table.reports[2].scores["f1"]
    True
    >>> random, positive = closeread.compare("mctaco", systems, config="sample")
    >>> random
    <Comparison of 'always-negative' and 'random': 25 questions, Exact match +0.00, F1 +36.40>
    >>> random.is_worse("f1", points=1)
    False
    >>> random["f1"].p_randomization < 0.05
    True
    """

    names: tuple[str, ...]
    reports: tuple[Report, ...]
    scores: tuple[str, ...]
    tests: Mapping[str, Sequence[PairTest]]
    n_tests: Mapping[str, int]
    has_counts: tuple[bool, ...]
    resampling: Resampling
    baseline: int | None = None
    correction: Correction = "holm"
    alpha: float = SMALL
    digits: int = 2
    intervals: IntervalStyle = "none"
    pairs: bool = False
    lacking: Mapping[str, Sequence[str]] = field(default_factory=dict)
    usage: Mapping[str, Usage] = field(default_factory=dict)
    group_tests: Mapping[str, Sequence[PairTest]] = field(default_factory=dict)

    def __repr__(self) -> str:
        if self.baseline is None:
            return self._describe_best()
        units = pluralize(self.reports[0].total.n_units, self.reports[0].unit)
        first, *others = map(quote, self.names)
        if len(others) > 1:
            return escape_line(f"<Comparison of {first} with {', '.join(others)}: {units}>")
        scores = list_scores(
            self.reports[0], lambda name: f"{100 * self[name].value:+.2f}", self.scores
        )
        return escape_line(f"<Comparison of {first} and {others[0]}: {units}, {scores}>")

    def _describe_best(self) -> str:
        leaders = []
        for score in self.scores:
            best = self.find_best(score)
            if best:
                first = min(best)
                title = self.reports[0].name_score(score)
                value = percent(self.reports[first].scores[score].value)
                leaders.append(f"{title} {value} ({quote(self.names[first])})")
        systems = pluralize(len(self.names), "system")
        return escape_line(f"<Table of {systems}, best: {', '.join(leaders) or 'none'}>")

    def __iter__(self) -> Iterator[Comparison]:
        """Yield each pair that was tested, as a comparison of the second system with the first."""
        for number, pair in enumerate(next(iter(self.tests.values()), ())):
            systems = (pair.first, pair.second)
            yield replace(
                self,
                names=tuple(self.names[system] for system in systems),
                reports=tuple(self.reports[system] for system in systems),
                has_counts=(True, True),
                tests=_take_pair(self.tests, number),
                baseline=0,
                group_tests=_take_pair(self.group_tests, number),
            )

    def _find_only_test(self, name: str) -> PairTest:
        tests = find_score(self.tests, name, self.reports[0].titles)
        if len(tests) > 1:
            raise RequestError(
                "there are several pairs of systems; take one, as in `for pair in comparison`"
            )
        return tests[0]

    def __getitem__(self, name: str) -> Difference:
        """Return the difference of two systems in a score by its name, as `Report` finds scores."""
        return self._find_only_test(name).difference

    @property
    def differences(self) -> dict[str, Difference]:
        """The differences of two systems, second minus first, by score, with p-values that are not corrected."""
        return {score: self[score] for score in self.tests}

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups over which all scores are averaged; none if they are not."""
        groups = {tuple(report.groups) for report in self.reports}
        return groups.pop() if len(groups) == 1 else ()

    @property
    def main_score(self) -> str:
        """The score that is shown for each group: the last one, as CoNLL F1 of coreference is."""
        return self.scores[-1]

    @property
    def power(self) -> bool:
        """Whether to show the true differences that such test sets would show."""
        tests = chain.from_iterable(self.tests.values())
        return any(test.difference.detectable is not None for test in tests)

    def is_worse(self, score: str, points: float | None = None) -> bool:
        """Return whether the second of two systems is worse than the first.

        Args:
            score: the score to look at, such as "conll/f1".
            points: by how many points (score times 100) it has to be worse; None for a difference that is significant
                by approximate randomization, after correction, at a level of 1 - confidence.

        Raises:
            RequestError: the score was not compared.
        """
        test = self._find_only_test(score)
        if points is not None:
            return -100 * test.difference.value > points
        is_significant = test.p_corrected < 1 - self.resampling.confidence
        return test.difference.value < 0 and is_significant

    def list_estimates(self, score: str, group: str | None = None) -> list[Estimate]:
        """Return the estimates of a score of all systems, in a group or in all."""
        parts = [report.total if group is None else report.groups[group] for report in self.reports]
        return [part.scores[score] for part in parts]

    def find_best(self, score: str, group: str | None = None) -> frozenset[int]:
        """Return the systems with the highest value of a score, perhaps in a group; several if their values are equal."""
        estimates = self.list_estimates(score, group)
        values = {system: estimate.value for system, estimate in enumerate(estimates)}
        defined = {system: value for system, value in values.items() if value is not None}
        highest = max(defined.values(), default=math.inf)
        return frozenset(system for system, value in defined.items() if value >= highest - TIE)

    def find_test(self, score: str, system: int, group: str | None = None) -> PairTest | None:
        """Return the test of a system against the best, or the clearest one against several; None if untested.

        In a group, only the main score is tested.
        """
        best = self.find_best(score, group)
        if system in best:
            return None
        clearest = None
        tests = self.tests.get(score, ()) if group is None else self.group_tests.get(group, ())
        # Of equally clear tests, the last one.
        for test in tests:
            is_of_system = system in (test.first, test.second)
            is_against_best = (test.first in best) != (test.second in best)
            if not is_of_system or not is_against_best or math.isnan(test.p_corrected):
                continue
            if clearest is None or test.p_corrected <= clearest.p_corrected:
                clearest = test
        return clearest

    @cached_property
    def standings(self) -> Mapping[str, Sequence[Standing]]:
        """How each system is related to the best, by score."""
        systems = range(len(self.names))
        return {
            score: [self.find_standing(score, system) for system in systems]
            for score in self.scores
        }

    def find_standing(self, score: str, system: int, group: str | None = None) -> Standing:
        """Return how a system is related to the best, perhaps in a group."""
        if self.list_estimates(score, group)[system].value is None:
            return "undefined"
        if system in self.find_best(score, group):
            return "best"
        test = self.find_test(score, system, group)
        if test is None:
            return "untested"
        return "worse" if test.p_corrected <= self.alpha else "close"

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return a table for each pair with the baseline; otherwise one of the systems, and perhaps one of all pairs."""
        if self.baseline is None:
            groups = [make_group_system_grid(self, style)] if self.groups else []
            return [*groups, *make_system_grids(self, style)]
        grids = []
        for pair in self:
            if pair.group_tests:
                grids.append(make_group_difference_grid(pair))
            grids.append(make_difference_grid(pair))
        return grids

    def to_latex(self) -> str:
        r"""Return the tables in LaTeX, scores times 100; they need `\usepackage{booktabs}`, and float without a baseline."""
        if self.baseline is not None:
            return super().to_latex()
        group_grids = [make_group_system_grid(self, "latex")] if self.groups else []
        grid, *pair_grids = make_system_grids(self, "latex")
        drawn = [
            draw_systems(grid, len(self.groups) + 1, with_intervals=False) for grid in group_grids
        ]
        drawn.append(draw_systems(grid, len(self.scores), with_intervals=self.intervals != "none"))
        return "\n".join([*drawn, *map(draw_pairs, pair_grids)])

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each pair and score if pairs are shown, otherwise for each system and score."""
        if self.baseline is not None:
            rows: list[list[object]] = []
            for pair in self:
                rows += pair._list_test_rows()
            return self._name_test_columns(), rows
        if self.pairs:
            return self._name_test_columns(), self._list_test_rows()
        return self._list_system_rows()

    def _list_corrected(self) -> tuple[str, ...]:
        """Return the names of the p-values that are corrected."""
        return (RANDOMIZATION,) if self.baseline is None else P_VALUES

    def _name_test_columns(self) -> list[str]:
        header = ["first", "second", *self._name_group_column(), "metric"]
        header += ["first_score", "second_score"]
        header += ["difference", "low", "high", "p_bootstrap", "p_randomization", "signature"]
        header += [f"{name}_corrected" for name in self._list_corrected()]
        return [*header, "detectable"] if self.power else header

    def _name_group_column(self) -> list[str]:
        return ["group"] if self.groups else []

    def _list_parts(self) -> list[tuple[str | None, str]]:
        """Return what rows are about: the main score in each group, then all scores, as groups and scores."""
        parts: list[tuple[str | None, str]] = [(group, self.main_score) for group in self.groups]
        return [*parts, *((None, score) for score in self.scores)]

    def _list_test_rows(self) -> list[list[object]]:
        rows = []
        for group, score in self._list_parts():
            tests = self.tests.get(score, ()) if group is None else self.group_tests.get(group, ())
            for test in tests:
                estimates = self.list_estimates(score, group)
                systems = (test.first, test.second)
                row: list[object] = [self.names[system] for system in systems]
                if self.groups:
                    row.append(group or "mean")
                row.append(score)
                row += [estimates[system].value for system in systems]
                row += map(number_or_none, test.difference[:5])
                row.append(self.reports[0].provenance.signature)
                for name in self._list_corrected():
                    row.append(number_or_none(test.corrected.get(name)))
                if self.power:
                    row.append(number_or_none(test.difference.detectable))
                rows.append(row)
        return rows

    def _list_system_rows(self) -> tuple[list[str], list[list[object]]]:
        header = ["system", *self._name_group_column(), "metric", "score", "low", "high"]
        header += ["confidence", "undefined", "best"]
        header += ["difference_from_best", "p_randomization", "p_randomization_corrected"]
        header += ["differs_from_best", "n_units", "n_blocks", "signature"]
        if self.usage:
            header += Usage._fields
        rows: list[list[object]] = []
        for system, (name, report) in enumerate(zip(self.names, self.reports, strict=True)):
            for group, score in self._list_parts():
                scores = report.total if group is None else report.groups[group]
                estimate = scores.scores[score]
                confidence = None if estimate.low is None else report.resampling.confidence
                row: list[object] = [name]
                if self.groups:
                    row.append(group or "mean")
                row += [score, estimate.value, estimate.low, estimate.high, confidence]
                row += [estimate.undefined, system in self.find_best(score, group)]
                row += self._compare_with_best(score, system, group)
                row += [scores.n_units, scores.n_blocks, report.provenance.signature]
                if self.usage:
                    row += self.usage.get(name, [None] * len(Usage._fields))
                rows.append(row)
        return header, rows

    def _compare_with_best(self, score: str, system: int, group: str | None) -> list[object]:
        """Return the difference from the best, its p-values, and whether it is significant."""
        test = self.find_test(score, system, group)
        if test is None:
            return [None] * 4
        difference = test.difference.value if test.second == system else -test.difference.value
        is_significant = test.p_corrected <= self.alpha
        return [difference, test.difference.p_randomization, test.p_corrected, is_significant]

    def to_dict(self) -> dict[str, object] | list[dict[str, object]]:
        """Return it as JSON: two systems, a list of these if several have a baseline, or all; NaN becomes null."""
        if self.baseline is None:
            return self._write_systems()
        comparisons = [pair._write_pair() for pair in self]
        return comparisons if len(comparisons) > 1 else comparisons[0]

    def _write_pair(self) -> dict[str, object]:
        sides = {}
        for side, name, report in zip(("first", "second"), self.names, self.reports, strict=True):
            sides[side] = {"name": name, **report.to_dict()}
        correction = None
        if self.correction != "none":
            correction = {"method": self.correction, "n_tests": max(self.n_tests.values())}
        differences = {score: tests[0].to_dict() for score, tests in self.tests.items()}
        content: dict[str, object] = {"format": FORMAT, **sides, "differences": differences}
        content["correction"] = correction
        if self.group_tests:
            content["groups"] = {
                group: tests[0].to_dict() for group, tests in self.group_tests.items()
            }
        return content

    def _write_systems(self) -> dict[str, object]:
        systems = []
        for number, (name, report) in enumerate(zip(self.names, self.reports, strict=True)):
            system: dict[str, object] = {"name": name, "has_counts": self.has_counts[number]}
            system["standings"] = {score: self.standings[score][number] for score in self.scores}
            system["report"] = report.to_dict()
            if name in self.usage:
                system["usage"] = self.usage[name]._asdict()
            systems.append(system)
        resampling = {**asdict(self.resampling), "n_resamples": int(self.resampling.n_resamples)}
        if resampling["interval"] == "percentile":
            del resampling["interval"]
        content: dict[str, object] = {
            "format": FORMAT,
            "procedure": self.reports[0].provenance.procedure,
            "signature": self.reports[0].provenance.signature,
            "scores": list(self.scores),
            "alpha": self.alpha,
            "correction": {"method": self.correction, "n_tests": dict(self.n_tests)},
            **resampling,
            "systems": systems,
            "pairs": {
                score: [self._write_test(test) for test in tests]
                for score, tests in self.tests.items()
            },
        }
        if self.group_tests:
            content["groups"] = {
                group: [self._write_test(test) for test in tests]
                for group, tests in self.group_tests.items()
            }
        return content

    def _write_test(self, test: PairTest) -> dict[str, object]:
        names = {"first": self.names[test.first], "second": self.names[test.second]}
        return {**names, **test.to_dict()}


def _take_pair(
    tests: Mapping[str, Sequence[PairTest]], number: int
) -> dict[str, Sequence[PairTest]]:
    """Return the tests of one pair of systems, as if there were no others."""
    return {name: [pairs[number]._replace(first=0, second=1)] for name, pairs in tests.items()}


SystemsTable = Comparison
"""A comparison without a baseline, of all pairs of systems, as `closeread.table` returns it."""


def compare_systems(
    names: Sequence[str],
    results: Sequence[Counts | Report],
    scores: Sequence[str],
    resampling: Resampling,
    *,
    baseline: int | None = None,
    correction: Correction = "holm",
    alpha: float = SMALL,
    power: bool = False,
    **layout: Any,
) -> Comparison:
    """Compare systems with equal signatures, all of which have the scores; those with reports can't be tested.

    The baseline is the first system, and then all have counts; without one, all pairs with counts are tested.
    """
    if correction not in get_args(Correction):
        raise RequestError(describe_unknown("correction", correction, get_args(Correction)))
    counted = {row: result for row, result in enumerate(results) if isinstance(result, Counts)}
    metrics, tables = _select_counts(list(counted.values()), scores)
    n_planned = math.comb(len(tables), 2)
    if baseline is not None:
        if resampling.n_resamples < 1:
            raise RequestError("a comparison needs at least 1 resample")
        scores = [metric.name for metric in metrics]
        n_planned = 1 if correction == "none" else (len(tables) - 1) * len(scores)
    if len(tables) > 1:
        n_counts = len(tables[0].names)
        most = max_resamples(len(tables), len(scores), tables[0].n_blocks, n_counts)
        resampling = resampling.for_tests(n_planned, alpha, most)
    tests: dict[str, list[PairTest]] = {}
    if len(tables) > 1 and resampling.n_resamples:
        differences = compare_pairs(
            tables, metrics, **asdict(resampling), only_first=baseline is not None, power=power
        )
        rows = list(counted)
        # A difference is shown though one block can't be resampled; marks of the best would mean nothing.
        for score in scores if baseline is not None or tables[0].n_blocks > 1 else ():
            tests[score] = [
                PairTest(rows[first], rows[second], by_score[score])
                for (first, second), by_score in differences.items()
            ]
    n_tests = dict.fromkeys(scores, 0)
    families = [tests] if baseline is not None else [{score: tests[score]} for score in tests]
    for family in families if correction != "none" else ():
        corrected = P_VALUES if baseline is not None else (RANDOMIZATION,)
        tests |= _correct(family, corrected, resampling.n_resamples, alpha)
        p_values = [
            test.difference.p_randomization for test in chain.from_iterable(family.values())
        ]
        n_tests |= dict.fromkeys(family, len(p_values) - sum(map(math.isnan, p_values)))
    group_tests: dict[str, list[PairTest]] = {}
    if tests and tables[0].groups:
        procedure = next(iter(counted.values())).procedure
        # In a group there is nothing to average.
        main_metrics = [metric for metric in procedure.metrics if metric.name == scores[-1]]
        parts = [table.split_groups() for table in tables]
        for group in parts[0]:
            differences = compare_pairs(
                [part[group] for part in parts],
                main_metrics,
                **asdict(resampling),
                only_first=baseline is not None,
            )
            group_tests[group] = [
                PairTest(rows[first], rows[second], by_score[scores[-1]])
                for (first, second), by_score in differences.items()
            ]
        if correction != "none":
            group_tests = _correct_groups(group_tests, baseline, resampling.n_resamples, alpha)
    return Comparison(
        tuple(names),
        tuple(
            make_report(result, resampling=resampling) if isinstance(result, Counts) else result
            for result in results
        ),
        tuple(scores),
        tests,
        n_tests,
        tuple(row in counted for row in range(len(results))),
        resampling,
        baseline,
        correction,
        alpha,
        group_tests=group_tests,
        **layout,
    )


def _correct_groups(
    group_tests: Mapping[str, Sequence[PairTest]],
    baseline: int | None,
    n_resamples: int,
    alpha: float,
) -> dict[str, list[PairTest]]:
    """Return tests by group with corrected p-values: those of two systems for all groups, or those of all pairs.

    Two systems are compared as if there were no others if there is a baseline.
    """
    names = (RANDOMIZATION,)
    if baseline is None:
        return _correct(group_tests, names, n_resamples, alpha)
    corrected: dict[str, list[PairTest]] = {group: [] for group in group_tests}
    for pair in zip(*group_tests.values(), strict=True):
        tests = {group: [test] for group, test in zip(group_tests, pair, strict=True)}
        for group, in_group in _correct(tests, names, n_resamples, alpha).items():
            corrected[group] += in_group
    return corrected


def _select_counts(
    systems: Sequence[Counts], scores: Sequence[str]
) -> tuple[list[Metric], list[CountTable]]:
    """Return the metrics of some scores, and the tables of the counts that these need and all systems have."""
    if not systems:
        return [], []
    metrics = [metric for metric in systems[0].metrics if metric.name in scores]
    names = systems[0].table.names
    needed = set(chain.from_iterable(metric.list_counts(names) for metric in metrics))
    for counts in systems:
        needed.intersection_update(counts.table.names)
    shared = [name for name in names if name in needed]
    return metrics, [counts.table.with_counts(shared) for counts in systems]


def _correct(
    tests: Mapping[str, Sequence[PairTest]], names: Sequence[str], n_resamples: int, alpha: float
) -> dict[str, list[PairTest]]:
    """Return tests by score with some of their p-values, by name, corrected for all of these tests.

    Two kinds of p-values test the same hypotheses in two ways, so each is a family of its own.
    """
    family = list(chain.from_iterable(tests.values()))
    for name in names:
        p_values = [getattr(test.difference, name) for test in family]
        corrected = correct_decidable(p_values, n_resamples, alpha)
        family = [
            test._replace(corrected={**test.corrected, name: p_value})
            for test, p_value in zip(family, corrected, strict=True)
        ]
    remaining = iter(family)
    return {score: list(islice(remaining, len(in_score))) for score, in_score in tests.items()}
