"""A table of many systems: chosen scores, the best, and which others are not significantly different from the best.

Conventions: systems are numbered from 0 in the order of the rows.  The best system is chosen by the same data that it
is tested with, so the p-values of a score are corrected for all pairs of systems, not only for those with the best:
otherwise, the more systems there are, the more often one of several equally good systems would seem to be worse.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

from closeread.counts.comparison import format_p_value, warn_of_few_resamples
from closeread.counts.counted import Counted, Provenance
from closeread.counts.estimates import Estimate, Resampling, correct_decidable, find_least, number_or_none, read_numbers
from closeread.counts.procedure import Option, Procedure
from closeread.counts.report import Report, format_star, make_report, make_title, name_options, warn_of_few_blocks
from closeread.counts.resampling import TIE, Difference, compare_pairs, find_most
from closeread.counts.results import FORMAT, Loadable, check_systems_table
from closeread.counts.storage import is_count_file
from closeread.exceptions import RequestError, escape, escape_line, pluralize, quote
from closeread.formats.gzipped import GZIP, MAGIC
from closeread.suggestions import describe_unknown, suggest
from closeread.tables import NOTHING, Grid, Style, Whole, guard_latex_rows, percent, transpose
from closeread.wording import name_option

if TYPE_CHECKING:
    from closeread.tables import Grid, Style


PARTS = ("/precision", "/recall")
HEAD = 4096
REPORT = re.compile(rb'(\xef\xbb\xbf)?\s*\{.*?"closeread"\s*:', re.DOTALL)
"""How a report begins: an object that soon says by which version it was written, as no prediction does."""


def find_kind(path: Path) -> Literal["counts", "report", "predictions"]:
    """Return what is in a file: stored counts, a report as JSON, or otherwise predictions."""
    if not path.is_file():
        return "predictions"
    if is_count_file(path):
        return "counts"
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
        if head.startswith(MAGIC):
            head = zlib.decompressobj(GZIP).decompress(head, HEAD)
        return "report" if REPORT.match(head) else "predictions"
    except (OSError, zlib.error):
        return "predictions"


def make_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each file: its stem, or as much of its path as makes it unique.

    >>> make_names([Path("a/x.jsonl"), Path("b/x.jsonl"), Path("base.jsonl.gz"), Path("ours.txt"), Path("ours.json")])
    ['a/x', 'b/x', 'base', 'ours.txt', 'ours.json']
    >>> make_names([Path("x.jsonl"), Path("b/x.jsonl")])
    ['x', 'b/x']
    """
    found: dict[int, str] = {}
    for form in (_find_stem, _find_name, _find_stem_below, _find_name_below, str):
        counts = Counter(map(form, paths))
        for i, path in enumerate(paths):
            if counts[form(path)] == 1:
                found.setdefault(i, form(path))
    for i, path in enumerate(paths):  # the same file again
        found.setdefault(i, f"{path} ({1 + paths[:i].count(path)})")
    return [found[i] for i in range(len(paths))]


def _find_name(path: Path) -> str:
    return path.name or str(path)


def _find_stem(path: Path) -> str:
    return _find_name(path) if path.is_dir() else Path(_find_name(path).removesuffix(".gz")).stem


def _find_name_below(path: Path) -> str:
    return "/".join(filter(None, (path.parent.name, _find_name(path))))


def _find_stem_below(path: Path) -> str:
    return "/".join(filter(None, (path.parent.name, _find_stem(path))))


def select_scores(
    procedure: Procedure,
    scores: Sequence[str] | None,
    metrics: str | Sequence[str] | None,
    options: Mapping[str, object],
) -> tuple[Procedure, tuple[str, ...]]:
    """Return the procedure with the metrics to compute, and the columns of a table.

    Args:
        procedure: the procedure with all of its metrics.
        scores: the names of scores, such as "muc/f1", or of families, such as "muc" for its precision, recall and F1;
            None for all scores of the metrics but precision and recall.
        metrics: the families to compute; None for those of the scores, otherwise of the preset or the default.
        options: values of options, perhaps with the name of a preset.

    Raises:
        RequestError: there is no such metric, score or preset.
    """
    if scores is None:
        selected = procedure.select_metrics(metrics, options)
        return selected, tuple(metric.name for metric in selected.metrics if not metric.name.endswith(PARTS))
    selected = procedure.with_metrics(procedure.families if metrics is None else metrics)
    columns: list[str] = []
    for name in scores:
        found = [metric.name for metric in selected.metrics if name in (metric.name, metric.name.partition("/")[0])]
        if not found:
            guess = suggest(name, [*selected.families, *(metric.name for metric in selected.metrics)])
            guess = guess or suggest(name, selected.families, procedure.aliases)
            choices = ", ".join(selected.families)
            if several := [metric.name for metric in selected.metrics if metric.name not in selected.families]:
                choices += f", or one of their scores, such as {several[-1]}"
            known = [metric.name for metric in procedure.with_metrics(procedure.families).metrics]
            if name in (*procedure.families, *known):
                option, family = name_option("metrics"), name.partition("/")[0]
                raise RequestError(
                    f"{option} excludes the score '{name}'; add '{family}' to {option}, or omit {option}"
                )
            raise RequestError(
                f"no such {procedure.name} score: '{name}'{guess and '.'}{guess} (choose from: {choices})"
            )
        columns += found
    if not columns:
        raise RequestError("a table needs at least one score")
    columns = list(dict.fromkeys(columns))
    return procedure.with_metrics(list(dict.fromkeys(name.partition("/")[0] for name in columns))), tuple(columns)


def choose_columns(
    names: Sequence[str], results: Sequence[Counted | Report], columns: Sequence[str], *, required: bool
) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """Return the columns that all systems have, and for each other one the systems that lack it.

    Args:
        names: the names of the systems.
        results: their counts or reports.
        columns: the names of the scores.
        required: whether all columns must be there.

    Raises:
        RequestError: a system lacks a required score, or no score is in all systems.
    """
    known = [_list_scores(one) for one in results]
    lacking = {
        score: [name for name, scores in zip(names, known, strict=True) if score not in scores] for score in columns
    }
    lacking = {score: without for score, without in lacking.items() if without}
    found = tuple(score for score in columns if score not in lacking)
    if lacking and (required or not found):
        problems = [
            f"{quote(name)} has no {', '.join(score for score in lacking if name in lacking[score])} "
            f"(it has: {', '.join(scores) or 'none'})"
            for name, scores in zip(names, known, strict=True)
            if any(name in without for without in lacking.values())
        ]
        raise RequestError("\n".join(["some systems lack scores:", *map(escape, problems)]))
    return found, lacking


def _list_scores(result: Counted | Report) -> list[str]:
    return [metric.name for metric in result.procedure.metrics] if isinstance(result, Counted) else list(result.scores)


def restrict_metrics(counted: Counted, columns: Sequence[str]) -> Counted:
    """Return the counts with only the metrics of these columns, with precision and recall."""
    families = {column.partition("/")[0] for column in columns}
    metrics = tuple(metric for metric in counted.procedure.metrics if metric.name.partition("/")[0] in families)
    return replace(counted, procedure=replace(counted.procedure, metrics=metrics))


def check_comparable(
    names: Sequence[str],
    provenances: Sequence[Provenance],
    options: Sequence[Option],
    requested: Provenance | None = None,
) -> None:
    """Check that all systems have the same signature.

    Args:
        names: the names of the systems.
        provenances: what was scored, and how.
        options: the options of the procedure, whose defaults stand for values that are not stored.
        requested: what all should be scored on, and how; None for that of the first.

    Raises:
        RequestError: signatures differ; the message says in what, for all systems that differ.
    """
    expected = provenances[0] if requested is None else requested
    problems = [
        f"{quote(name)}: {difference}"
        for name, found in zip(names, provenances, strict=True)
        if found.signature != expected.signature
        for difference in _list_differences(found, expected, options)
    ]
    if not problems:
        return
    how = f"as {quote(names[0])} was" if requested is None else "on the gold and with the options given"
    text = "\n".join([f"the systems are not comparable: they were not scored {how}:", *problems])
    skips = {one.options.get("missing") for one in (expected, *provenances)} == {"skip"}
    if skips:
        text += f"\nWith {name_option('missing', 'skip')}, all systems must cover the same units."
    raise RequestError(text)


def _list_differences(found: Provenance, expected: Provenance, options: Sequence[Option]) -> list[str]:
    """Return what differs between two signatures, in words."""
    what = [("procedure", found.procedure, expected.procedure)]
    if found.procedure == expected.procedure:
        what.append(("version of the procedure", str(found.procedure_version), str(expected.procedure_version)))
        defaults = {option.name: option.default for option in options}
        one, two = ({**defaults, **side.options} for side in (found, expected))
        what += [(f"option {name}", one.get(name, "none"), two.get(name, "none")) for name in {**two, **one}]
    differences = [f"{name} is {quote(a)} (expected {quote(b)})" for name, a, b in what if a != b]
    (mine, digest), (theirs, other) = (side.signature.rpartition("|gold:")[::2] for side in (found, expected))
    if digest != other:
        differences.append(f"gold is {_name_gold(found, digest)} (expected {_name_gold(expected, other)})")
    if not differences:
        differences.append(f"signature is {quote(mine, 2000)} (expected {quote(theirs, 2000)})")
    return differences


def _name_gold(provenance: Provenance, digest: str) -> str:
    parts = (provenance.corpus, provenance.config, provenance.split, digest)
    return escape(" ".join(part for part in parts if part))


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

        return make_grids(self, style)

    def to_latex(self) -> str:
        r"""Return a floating LaTeX table with a caption, scores times 100; it needs `\usepackage{booktabs}`."""

        return draw_latex(self)

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each system and score, or for each pair and score if pairs are to be shown."""

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


MARKS = {"close": "†", "untested": "‡"}
"""The marks of scores that are not significantly different from the best, and of those that were not tested."""


def make_grids(table: SystemsTable, style: Style) -> list[Grid]:
    """Return the table and, if they are to be shown, the tests of all pairs, laid out for a style."""
    header = ["system", *map(table.reports[0].name_score, table.scores)]
    columns = [_make_column(table, score, style) for score in table.scores]
    rows = [[Whole(name), *cells] for name, *cells in zip(table.names, *columns, strict=True)]
    pairs = [_make_pair_grid(table)] if table.pairs and any(table.tests.values()) else []
    title = make_title(table.reports[0])
    best = frozenset(_find_best_cells(table))
    grid = Grid(title, header, rows, list_notes(table, style), frozenset({"system"}), best=best, labels=1)
    return [replace(grid, narrower=transpose(grid, "score")), *pairs]


def _make_column(table: SystemsTable, score: str, style: Style) -> list[str]:
    """Return the cells of a score; in a terminal, decimal points are below each other."""
    values = [format_value(table, report.scores[score]) for report in table.reports]
    marks = [mark(table, score, i) for i in range(len(values))]
    width = max(map(len, marks)) if style == "table" else 0
    intervals = [format_interval(table, score, i) for i in range(len(values))]
    cells = [
        f"{value}{sign:{width}} {interval}" if interval else f"{value}{sign:{width}}"
        for value, sign, interval in zip(values, marks, intervals, strict=True)
    ]
    return [value if value == NOTHING else cell for value, cell in zip(values, cells, strict=True)]


def format_value(table: SystemsTable, estimate: Estimate) -> str:
    """Format a score in percent, with the decimals of the table."""
    return percent(estimate.value, table.digits)


def mark(table: SystemsTable, score: str, system: int) -> str:
    """Return the marks of a score: whether it is set by convention, and how it is related to the best."""
    star = format_star(table.reports[system].scores[score])
    return star + (MARKS.get(table.standings[score][system], "") if table.tests.get(score) else "")


def format_interval(table: SystemsTable, score: str, system: int) -> str:
    """Format the interval of a score in percent; empty if it is not shown or has another confidence level."""
    estimate = table.reports[system].scores[score]
    if table.intervals == "none" or estimate.low is None or estimate.high is None or not table.has_interval(system):
        return ""
    if table.intervals == "range":
        return f"[{100 * estimate.low:.{table.digits}f}, {100 * estimate.high:.{table.digits}f}]"
    return f"± {50 * (estimate.high - estimate.low):.{table.digits}f}"


def _find_best_cells(table: SystemsTable) -> Iterator[tuple[int, int]]:
    """Yield the cells of the best scores; none if there is nothing else to be better than."""
    if len(table.names) < 2:
        return
    for column, score in enumerate(table.scores, start=1):
        for row, standing in enumerate(table.standings[score]):
            if standing == "best":
                yield row, column


def _make_pair_grid(table: SystemsTable) -> Grid:
    """Return the tests of all pairs of systems, significant ones in bold."""
    level = f"{100 * table.resampling.confidence:g}% interval"
    header = ["score", "first", "second", "diff.", level, "p rand."]
    rows: list[list[str]] = []
    significant = set()
    for score, tests in table.tests.items():
        for test in tests:
            d = test.difference
            if test.p_corrected <= table.alpha:
                significant.add((len(rows), len(header) - 1))
            rows.append(
                [
                    table.reports[0].name_score(score) if test is tests[0] else "",
                    *(Whole(table.names[i]) for i in (test.first, test.second)),
                    _format_difference(table, d.value),
                    NOTHING
                    if math.isnan(d.low)
                    else f"{_format_difference(table, d.low)} to {_format_difference(table, d.high)}",
                    format_p_value(test.p_corrected),
                ]
            )
    notes = [
        "Differences (diff.) are second minus first; their intervals are not corrected. p-values are of approximate "
        "randomization (p rand.)."
    ]
    texts, ditto = frozenset({"first", "second"}), frozenset({"score"})
    best = frozenset(significant)
    return Grid("All pairs of systems", header, rows, notes, texts, ditto=ditto, best=best, labels=3)


def _format_difference(table: SystemsTable, value: float) -> str:
    return NOTHING if math.isnan(value) else f"{100 * value:+.{table.digits}f}"


def list_notes(table: SystemsTable, style: Style) -> list[str]:
    """Return the sentences below the table."""
    first = table.reports[0]
    notes = ["Best scores are bold."] if style != "table" and len(table.names) > 1 else []
    notes += [*_note_marks(table), *_note_tests(table), *_note_intervals(table)]
    if any(report.scores[score].undefined for report in table.reports for score in table.scores):
        notes.append("* This score is 0/0; its value is set by convention.")
    for score, names in (table.lacking or {}).items():
        notes.append(f"No column for {score}, which is not in {_join(names)}.")
    return [*notes, *name_options(first)]


def _note_marks(table: SystemsTable) -> Iterator[str]:
    """Explain the marks of this table, or say that there are none."""
    standings = [standing for score in table.tests for standing in table.standings[score]]
    if "close" in standings:
        yield f"† Not significantly different from the best (p > {table.alpha:g})."
    elif "worse" in standings:
        others = "tested" if "untested" in standings else "others"
        yield f"All {others} are significantly worse than the best (p ≤ {table.alpha:g})."
    reports = [name for name, has_counts in zip(table.names, table.has_counts, strict=True) if not has_counts]
    if "untested" in standings:
        reasons = [f"tests need counts, and there is only a report of {_join(reports)}"] if reports else []
        reasons += ["there are too few resamples (see below)"] if any(map(table.is_undecided, table.tests)) else []
        need = "" if reasons else ", which needs scores in all resamples"
        yield f"‡ Not tested against the best{need}{': ' if reasons else ''}{'; '.join(reasons)}."
    elif reports and not table.tests and len(table.names) > 1:
        yield f"No tests: they need the counts of two systems, and there is only a report of {_join(reports)}."


def _note_tests(table: SystemsTable) -> Iterator[str]:
    """Say how systems were tested."""
    drawn, counted = table.resampling, table.has_counts.index(True) if True in table.has_counts else None
    if table.tests and counted is not None:
        report = table.reports[counted]
        n_tests = max(map(table.count_tests, table.scores))
        yield (
            f"Paired approximate randomization over {pluralize(report.total.n_blocks, report.resampling_unit)}, "
            f"{drawn.n_resamples:,} resamples, seed {drawn.seed}; p-values are two-sided and corrected "
            f"for {pluralize(n_tests, 'comparison')} in each score (all pairs) by Holm's method."
        )
        yield from warn_of_few_resamples(drawn.n_resamples, n_tests, table.alpha)
    elif sum(table.has_counts) > 1 and counted is not None:
        yield from warn_of_few_blocks(table.reports[counted])


def _note_intervals(table: SystemsTable) -> Iterator[str]:
    """Say what intervals are, and which of them are not as the others."""
    drawn = table.resampling
    if table.intervals == "none" or not drawn.n_resamples:
        return
    what = "Intervals" if table.intervals == "range" else "±: half the width of intervals"
    first = table.reports[0]
    yield (
        f"{what}: {100 * drawn.confidence:g}%, percentile bootstrap over {first.resampling_unit}s, "
        f"{drawn.n_resamples:,} resamples, seed {drawn.seed}."
    )
    if table.tests:  # otherwise the notes of tests say so
        yield from warn_of_few_blocks(table.reports[table.has_counts.index(True)])
    for name, report, has_counts in zip(table.names, table.reports, table.has_counts, strict=True):
        own = report.resampling
        if has_counts or own == drawn:
            continue
        found = f"{100 * own.confidence:g}%, {own.n_resamples:,} resamples, seed {own.seed}"
        if not own.n_resamples:
            yield f"The report of {quote(name)} has no intervals."
        elif own.confidence != drawn.confidence:
            yield f"No intervals of {quote(name)}: those of its report have another level ({found})."
        else:
            yield f"The intervals of {quote(name)} are those of its report ({found})."


def _join(names: Sequence[str]) -> str:
    return " and ".join([", ".join(map(quote, names[:-1])), quote(names[-1])]) if len(names) > 1 else quote(names[0])


def make_rows(table: SystemsTable) -> tuple[list[str], list[list[object]]]:
    """Return header and rows of a table as tidy CSV: a row for each system and score, ratios in full precision."""
    header = ["system", "metric", "score", "low", "high", "confidence", "undefined", "best", "difference_from_best"]
    header += ["p_randomization", "p_randomization_corrected", "differs_from_best", "n_units", "n_blocks", "signature"]
    return header, [
        [
            name,
            score,
            (estimate := report.scores[score]).value,
            estimate.low,
            estimate.high,
            None if estimate.low is None else report.resampling.confidence,
            estimate.undefined,
            table.standings[score][i] == "best",
            *_describe_test(table, score, i),
            report.total.n_units,
            report.total.n_blocks,
            report.provenance.signature,
        ]
        for i, (name, report) in enumerate(zip(table.names, table.reports, strict=True))
        for score in table.scores
    ]


def _describe_test(table: SystemsTable, score: str, system: int) -> list[object]:
    """Return the difference from the best, its p-values, and whether it is significant; None without a test."""
    test = table.find_test(score, system)
    if test is None:
        return [None] * 4
    d = test.difference
    difference = d.value if test.second == system else -d.value
    return [difference, d.p_randomization, test.p_corrected, test.p_corrected <= table.alpha]


def make_pair_rows(table: SystemsTable) -> tuple[list[str], list[list[object]]]:
    """Return header and rows of the tests of all pairs as tidy CSV, ratios in full precision."""
    header = ["first", "second", "metric", "first_score", "second_score", "difference", "low", "high"]
    header += ["p_bootstrap", "p_randomization", "signature", "p_randomization_corrected"]
    return header, [_make_pair_row(table, score, test) for score, tests in table.tests.items() for test in tests]


def _make_pair_row(table: SystemsTable, score: str, test: PairTest) -> list[object]:
    sides = test.first, test.second
    return [
        *(table.names[i] for i in sides),
        score,
        *(table.reports[i].scores[score].value for i in sides),
        *(None if math.isnan(value) else value for value in test.difference),
        table.reports[0].provenance.signature,
        None if math.isnan(test.p_corrected) else test.p_corrected,
    ]


HEADINGS = {" precision": "P", " recall": "R", " F1": "F1"}
"""The ends of titles of scores that share a heading, and what is left of them."""

SYMBOLS = {
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "³": r"$^3$",
    NOTHING: "--",
}
"""Characters that not every font of LaTeX has."""

SIGN = re.compile(r"(?<![^ ])[+-](?=[0-9])")
"""The sign of a number; outside of formulas, a minus would be a hyphen."""


def escape_latex(text: str) -> str:
    r"""Escape untrusted text for LaTeX.

    >>> print(escape_latex("50%_B³ {a}"))
    50\%\_B$^3$ \{a\}
    """
    import tabulate

    rules = {**tabulate.LATEX_ESCAPE_RULES, **SYMBOLS}
    return "".join(rules.get(character, character) for character in escape_line(text))


def draw_latex(table: SystemsTable) -> str:
    """Return a floating table with its notes as caption and the signature as comment; with pairs, a second table."""
    first, *others = make_grids(table, "latex")
    notes = [note for note in first.notes if not isinstance(note, Whole)]
    comments = "".join(f"% {escape_line(note)}\n" for note in first.notes if isinstance(note, Whole))
    caption = [*_end(first.title), *notes]
    sizes = [2 if table.intervals != "none" else 1] * len(table.scores)
    parts = [_float("l" + "".join(map(_align, sizes)), _draw_body(table, sizes), caption), comments]
    for grid in others:
        rows = [[SIGN.sub(r"$\g<0>$", escape_latex(cell)) for cell in row] for row in grid.rows]
        for row, column in grid.best:
            rows[row][column] = rf"\textbf{{{rows[row][column]}}}"
        body = [
            "\\toprule",
            _join_cells(map(escape_latex, grid.header)),
            "\\midrule",
            *map(_join_cells, rows),
            "\\bottomrule",
        ]
        parts.append("\n" + _float("lllrrr", body, [*_end(grid.title), *grid.notes]))
    return "".join(parts)


def _end(title: str) -> list[str]:
    return [f"{title}."] if title else []


def _align(size: int) -> str:
    return "r" if size == 1 else "r@{ }l"


def _float(columns: str, body: Sequence[str], caption: Sequence[str]) -> str:
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{columns}}}",
        *body,
        r"\end{tabular}",
        rf"\caption{{{escape_latex(' '.join(caption))}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _join_cells(cells: Sequence[str] | Iterator[str]) -> str:
    return guard_latex_rows(" & ".join(cells) + r" \\")


def _draw_body(table: SystemsTable, sizes: Sequence[int]) -> list[str]:
    """Return the lines of the table between `tabular`'s ends."""
    columns = [_draw_column(table, score) for score in table.scores]
    rows = [[escape_latex(name), *cells] for name, *cells in zip(table.names, *columns, strict=True)]
    return ["\\toprule", *_draw_header(table, sizes), "\\midrule", *map(_join_cells, rows), "\\bottomrule"]


def _draw_header(table: SystemsTable, sizes: Sequence[int]) -> Iterator[str]:
    """Yield the lines of the header: one, or two and the rules between them if scores share a heading."""
    titles = [table.reports[0].name_score(score) for score in table.scores]
    split = [_split_title(title) for title in titles]
    groups = [(family, len(list(group))) for family, group in groupby(family for family, _ in split)]
    if all(size == 1 for family, size in groups if family):
        yield _join_cells(["System", *(_span(title, size) for title, size in zip(titles, sizes, strict=True))])
        return
    size = sizes[0]
    yield _join_cells(["", *(_span(family, n * size) for family, n in _spread(groups))])
    rules, place = [], 2
    for family, n in _spread(groups):
        if family:
            rules.append(rf"\cmidrule(lr){{{place}-{place + n * size - 1}}}")
        place += n * size
    yield " ".join(rules)
    yield _join_cells(["System", *(_span(part, size) for _, part in split)])


def _spread(groups: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield headings with the number of their scores; scores without a heading one by one."""
    for family, n in groups:
        yield from [(family, n)] if family else [("", 1)] * n


def _split_title(title: str) -> tuple[str, str]:
    """Return the heading and the part of a score's title; no heading if it shares none.

    >>> _split_title("MUC precision"), _split_title("Exact match"), _split_title("F1")
    (('MUC', 'P'), ('', 'Exact match'), ('', 'F1'))
    """
    for end, part in HEADINGS.items():
        if title.endswith(end):
            return title.removesuffix(end), part
    return "", title


def _span(text: str, size: int) -> str:
    shown = escape_latex(text)
    return shown if size == 1 else rf"\multicolumn{{{size}}}{{c}}{{{shown}}}"


def _draw_column(table: SystemsTable, score: str) -> list[str]:
    """Return the cells of a score; with intervals, each is two cells."""
    cells = []
    for i, report in enumerate(table.reports):
        value, sign = escape_latex(format_value(table, report.scores[score])), escape_latex(mark(table, score, i))
        if table.standings[score][i] == "best" and len(table.names) > 1:
            value = rf"\textbf{{{value}}}"
        if table.intervals == "none":
            cells.append(value + (rf"\rlap{{{sign}}}" if sign else ""))
        else:
            cells.append(f"{value} & {escape_latex(format_interval(table, score, i))}{sign}")
    return cells
