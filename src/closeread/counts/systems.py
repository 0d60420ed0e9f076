r"""A table of many systems: chosen scores, the best, and which others are not significantly different from the best.

Conventions: systems are numbered from 0 in the order of the rows.  The best system is chosen by the same data that it
is tested with, so the p-values of a score are corrected for all pairs of systems, not only for those with the best:
otherwise, the more systems there are, the more often one of several equally good systems would seem to be worse.
In LaTeX, precision, recall and F1 of a metric share a heading, and marks take no width, so that decimal points are
below each other.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from closeread.counts.comparison import format_difference, format_p_value, warn_of_few_resamples
from closeread.counts.counts import Counts, make_report
from closeread.counts.estimates import (
    Resampling,
    correct_decidable,
    min_p_value,
    number_or_none,
)
from closeread.counts.metrics import PARTS, Metric
from closeread.counts.procedure import Option, Procedure
from closeread.counts.report import (
    SET_BY_CONVENTION,
    Provenance,
    Report,
    format_star,
    make_title,
    name_options,
    warn_of_few_blocks,
)
from closeread.counts.resampling import TIE, Difference, compare_pairs, max_resamples
from closeread.counts.results import FORMAT, Result
from closeread.counts.storage import may_be_counts
from closeread.exceptions import (
    RequestError,
    describe_unknown,
    escape,
    escape_line,
    name_option,
    pluralize,
    quote,
    suggest,
)
from closeread.formats import parquet
from closeread.formats.text import GZIP_MAGIC
from closeread.tables import (
    NOTHING,
    Grid,
    Style,
    Whole,
    escape_latex,
    guard_latex_rows,
    percent,
    transpose,
)

HEAD_BYTES = 4096
"""How much of a file is read to tell its kind."""

REPORT_START = re.compile(rb'(\xef\xbb\xbf)?\s*\{.*?"closeread"\s*:', re.DOTALL)
"""Matches the beginning of a report: an object with the version of closeread, which no prediction has."""

LOG_START = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+,\s*"status"\s*:')
"""How a log of inspect-ai begins that is JSON; others are archives."""

IntervalStyle = Literal["none", "range", "plus-minus"]
"""How a table shows intervals: not at all, by both ends, or by half of their width."""

Standing = Literal["best", "close", "worse", "untested", "undefined"]
"""How a score compares with the best one; close: not significantly different, worse: significantly worse."""

MARKS = {"close": "†", "untested": "‡"}
"""The marks of scores that are not significantly different from the best, and of those that were not tested."""

HEADINGS = {" precision": "P", " recall": "R", " F1": "F1"}
"""The ends of titles of scores that share a heading, and the short titles below it."""

SIGN = re.compile(r"(?<![^ ])[+-](?=[0-9])")
"""The sign of a number; outside of formulas, a minus would be a hyphen in LaTeX."""


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


USAGE_TITLES = {
    "answered": "answered",
    "input_tokens": "tokens in",
    "output_tokens": "tokens out",
    "cost": "cost ($)",
}
"""The titles of the columns of what a run took."""


def detect_kind(path: Path) -> Literal["counts", "report", "log", "predictions"]:
    """Return the kind of a file: stored counts, which are Parquet; a report as JSON; otherwise predictions."""
    if not path.is_file():
        return "predictions"
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        if head.startswith(parquet.PARQUET_MAGIC):
            return "counts" if may_be_counts(path) else "predictions"
        if head.startswith(GZIP_MAGIC):
            head = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(head, HEAD_BYTES)
    except (OSError, zlib.error):
        return "predictions"
    is_archive = path.suffix == ".eval" and head.startswith(b"PK")
    if is_archive or LOG_START.match(head):
        return "log"
    return "report" if REPORT_START.match(head) else "predictions"


def make_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each file: its stem, or as much of its path as makes it unique.

    >>> make_names([Path("a/x.jsonl"), Path("b/x.jsonl"), Path("base.jsonl.gz"), Path("ours.txt"), Path("ours.json")])
    ['a/x', 'b/x', 'base', 'ours.txt', 'ours.json']
    >>> make_names([Path("x.jsonl"), Path("b/x.jsonl")])
    ['x', 'b/x']
    """
    names: dict[int, str] = {}
    # From the shortest form to the longest, a file has the first that no other file has.
    for form in (_stem, _file_name, _stem_in_folder, _name_in_folder, str):
        forms = [form(path) for path in paths]
        times = Counter(forms)
        for number, name in enumerate(forms):
            if times[name] == 1:
                names.setdefault(number, name)
    for number, path in enumerate(paths):
        repetition = 1 + paths[:number].count(path)
        names.setdefault(number, f"{path} ({repetition})")
    return [names[number] for number in range(len(paths))]


def _file_name(path: Path) -> str:
    return path.name or str(path)


def _stem(path: Path) -> str:
    name = _file_name(path)
    return name if path.is_dir() else Path(name.removesuffix(".gz")).stem


def _stem_in_folder(path: Path) -> str:
    return "/".join(filter(None, (path.parent.name, _stem(path))))


def _name_in_folder(path: Path) -> str:
    return "/".join(filter(None, (path.parent.name, _file_name(path))))


def select_scores(
    procedure: Procedure,
    scores: Sequence[str] | None,
    metrics: str | Sequence[str] | None,
    options: Mapping[str, object],
) -> tuple[Procedure, tuple[str, ...]]:
    """Return the procedure with the metrics to compute, and the columns of a table.

    Without `scores`, names of scores or of families, these are all scores of the metrics but precision and recall;
    without `metrics`, those of the scores are computed, or those of the preset in `options`, or the default.
    """
    if scores is None:
        selected = procedure.select_metrics(metrics, options)
        names = [metric.name for metric in selected.metrics]
        return selected, tuple(name for name in names if not name.endswith(PARTS))
    selected = procedure.with_metrics(procedure.families if metrics is None else metrics)
    columns: list[str] = []
    for name in scores:
        matching = [
            metric.name for metric in selected.metrics if name in (metric.name, metric.family)
        ]
        if not matching:
            raise RequestError(_describe_unknown_score(name, procedure, selected))
        columns += matching
    if not columns:
        raise RequestError("a table needs at least one score")
    columns = list(dict.fromkeys(columns))
    families = dict.fromkeys(name.partition("/")[0] for name in columns)
    return procedure.with_metrics(list(families)), tuple(columns)


def _describe_unknown_score(name: str, procedure: Procedure, selected: Procedure) -> str:
    """Return the message for a score that the selected metrics don't have."""
    every_score = [metric.name for metric in procedure.with_metrics(procedure.families).metrics]
    if name in (*procedure.families, *every_score):
        option = name_option("metrics")
        family = name.partition("/")[0]
        return f"{option} excludes the score '{name}'; add '{family}' to {option}, or omit {option}"
    names = [metric.name for metric in selected.metrics]
    guess = suggest(name, [*selected.families, *names])
    if not guess:
        guess = suggest(name, selected.families, procedure.aliases)
    choices = ", ".join(selected.families)
    parts = [score for score in names if score not in selected.families]
    if parts:
        choices += f", or one of their scores, such as {parts[-1]}"
    end = "." if guess else ""
    return f"no such {procedure.name} score: '{name}'{end}{guess} (choose from: {choices})"


def choose_columns(
    names: Sequence[str],
    results: Sequence[Counts | Report],
    columns: Sequence[str],
    *,
    required: bool,
) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """Return the columns that all systems have, and for each other column the systems that lack it."""
    scores_by_system = {
        name: _list_score_names(result) for name, result in zip(names, results, strict=True)
    }
    lacking: dict[str, list[str]] = {}
    for column in columns:
        systems = [name for name, scores in scores_by_system.items() if column not in scores]
        if systems:
            lacking[column] = systems
    shared = tuple(column for column in columns if column not in lacking)
    if lacking and (required or not shared):
        problems = ["some systems lack scores:"]
        for name, scores in scores_by_system.items():
            lacked = ", ".join(column for column in lacking if name in lacking[column])
            if lacked:
                has = ", ".join(scores) or "none"
                problems.append(escape(f"{quote(name)} has no {lacked} (it has: {has})"))
        raise RequestError("\n".join(problems))
    return shared, lacking


def _list_score_names(result: Counts | Report) -> list[str]:
    """Return the names of the scores that a system has."""
    if isinstance(result, Counts):
        return [metric.name for metric in result.procedure.metrics]
    return list(result.scores)


def restrict_metrics(counted: Counts, columns: Sequence[str]) -> Counts:
    """Return the counts with only the metrics of these columns, with precision and recall."""
    families = {column.partition("/")[0] for column in columns}
    metrics = tuple(metric for metric in counted.procedure.metrics if metric.family in families)
    return replace(counted, procedure=replace(counted.procedure, metrics=metrics))


def check_comparable(
    names: Sequence[str],
    provenances: Sequence[Provenance],
    options: Sequence[Option],
    requested: Provenance | None,
) -> None:
    """Check that all systems have the same signature, that of the first or the requested one.

    Defaults of the procedure's options stand for values that are not stored.
    """
    expected = provenances[0] if requested is None else requested
    problems = []
    for name, provenance in zip(names, provenances, strict=True):
        if provenance.signature != expected.signature:
            differences = _list_differences(provenance, expected, options)
            problems += [f"{quote(name)}: {difference}" for difference in differences]
    if not problems:
        return
    how = "on the gold and with the options given"
    if requested is None:
        how = f"as {quote(names[0])} was"
    text = "\n".join([f"the systems are not comparable: they were not scored {how}:", *problems])
    treatments = {provenance.options.get("missing") for provenance in (expected, *provenances)}
    if treatments == {"skip"}:
        text += f"\nWith {name_option('missing', 'skip')}, all systems must cover the same units."
    raise RequestError(text)


def _list_differences(
    provenance: Provenance, expected: Provenance, options: Sequence[Option]
) -> list[str]:
    """Describe the differences between two signatures."""
    parts = [("procedure", provenance.procedure, expected.procedure)]
    if provenance.procedure == expected.procedure:
        version = str(provenance.procedure_version)
        parts.append(("version of the procedure", version, str(expected.procedure_version)))
        defaults = {option.name: option.default for option in options}
        actual_options = {**defaults, **provenance.options}
        expected_options = {**defaults, **expected.options}
        for name in {**expected_options, **actual_options}:
            actual = actual_options.get(name, "none")
            parts.append((f"option {name}", actual, expected_options.get(name, "none")))
    differences = [
        f"{part} is {quote(actual)} (expected {quote(wanted)})"
        for part, actual, wanted in parts
        if actual != wanted
    ]
    signature, _, digest = provenance.signature.rpartition("|gold:")
    expected_signature, _, expected_digest = expected.signature.rpartition("|gold:")
    if digest != expected_digest:
        gold = _describe_gold(provenance, digest)
        differences.append(f"gold is {gold} (expected {_describe_gold(expected, expected_digest)})")
    if differences:
        return differences
    return [f"signature is {quote(signature, 2000)} (expected {quote(expected_signature, 2000)})"]


def _describe_gold(provenance: Provenance, digest: str) -> str:
    parts = (provenance.corpus, provenance.config, provenance.split, digest)
    return escape(" ".join(part for part in parts if part))


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
class SystemsTable(Result):
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
        usage: what the runs of language models took, by the name of the system, where it is known.

    >>> import closeread
    >>> names = ("always-positive", "always-negative", "random")
    >>> systems = {name: closeread.baseline("mctaco", name, config="sample") for name in names}
    >>> table = closeread.table("mctaco", systems, config="sample")
    >>> [table.names[i] for i in table.find_best("f1")], table.count_tests("f1")
    (['always-positive'], 3)
    >>> test = table.find_test("f1", 2)
    >>> test is not None and test.p_corrected < 0.05
    True
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
    usage: Mapping[str, Usage] = field(default_factory=dict)

    def __repr__(self) -> str:
        titles = self.reports[0]
        leaders = []
        for score in self.scores:
            best = self.find_best(score)
            if best:
                first = min(best)
                value = percent(self.reports[first].scores[score].value)
                leaders.append(f"{titles.name_score(score)} {value} ({quote(self.names[first])})")
        systems = pluralize(len(self.names), "system")
        return escape_line(f"<Table of {systems}, best: {', '.join(leaders) or 'none'}>")

    def find_best(self, score: str) -> frozenset[int]:
        """Return the systems with the highest value of a score; several if their values are equal."""
        values = {system: report.scores[score].value for system, report in enumerate(self.reports)}
        defined = {system: value for system, value in values.items() if value is not None}
        highest = max(defined.values(), default=math.inf)
        return frozenset(system for system, value in defined.items() if value >= highest - TIE)

    def find_test(self, score: str, system: int) -> PairTest | None:
        """Return the test of a system against the best, or the clearest one against several; None if untested."""
        best = self.find_best(score)
        if system in best:
            return None
        clearest = None
        # Of equally clear tests, the last one.
        for test in self.tests.get(score, ()):
            is_own = system in (test.first, test.second)
            is_against_best = (test.first in best) != (test.second in best)
            if not is_own or not is_against_best or math.isnan(test.p_corrected):
                continue
            if clearest is None or test.p_corrected <= clearest.p_corrected:
                clearest = test
        return clearest

    @cached_property
    def standings(self) -> Mapping[str, Sequence[Standing]]:
        """How each system is related to the best, by score."""
        systems = range(len(self.names))
        return {
            score: [self._find_standing(score, system) for system in systems]
            for score in self.scores
        }

    def _find_standing(self, score: str, system: int) -> Standing:
        if self.reports[system].scores[score].value is None:
            return "undefined"
        if system in self.find_best(score):
            return "best"
        test = self.find_test(score, system)
        if test is None:
            return "untested"
        return "worse" if test.p_corrected <= self.alpha else "close"

    def count_tests(self, score: str) -> int:
        """Return the number of tests for which the p-values of a score are corrected."""
        p_values = [test.difference.p_randomization for test in self.tests.get(score, ())]
        return len(p_values) - sum(map(math.isnan, p_values))

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table and, if they are to be shown, the tests of all pairs, laid out for a style."""
        usage = _list_usage(self)
        header = ["system", *map(self.reports[0].name_score, self.scores), *usage]
        columns = [*_list_columns(self, style), *usage.values()]
        rows = [[Whole(name), *cells] for name, *cells in zip(self.names, *columns, strict=True)]
        grid = Grid(
            make_title(self.reports[0]),
            header,
            rows,
            list(_list_notes(self, style)),
            frozenset({"system"}),
            best=frozenset(self._list_best_cells()),
            labels=1,
        )
        grids = [replace(grid, narrower=transpose(grid, "score"))]
        has_parts = any(score.endswith(PARTS) for score in self.scores)
        if style == "table" and has_parts and not usage:
            grids = [_stack_metrics(grid)]
        if self.pairs and any(self.tests.values()):
            grids.append(_make_pair_grid(self))
        return grids

    def _list_best_cells(self) -> Iterator[tuple[int, int]]:
        """Yield row and column of the best scores, unless there is nothing to be better than."""
        if len(self.names) > 1:
            for column, score in enumerate(self.scores, 1):
                for row, standing in enumerate(self.standings[score]):
                    if standing == "best":
                        yield row, column

    def to_latex(self) -> str:
        r"""Return a floating LaTeX table with a caption, scores times 100; it needs `\usepackage{booktabs}`."""
        grid, *pair_grids = self._to_grids("latex")
        usage = _list_usage(self)
        systems = range(len(self.names))
        columns = [[_draw_cell(self, score, system) for system in systems] for score in self.scores]
        columns += [list(map(escape_latex, cells)) for cells in usage.values()]
        names = map(escape_latex, self.names)
        rows = [[name, *cells] for name, *cells in zip(names, *columns, strict=True)]
        # With intervals, the cell of a score is two.
        width = 1 if self.intervals == "none" else 2
        align = "r" if width == 1 else "r@{ }l"
        aligns = "l" + align * len(self.scores) + "r" * len(usage)
        notes = [note for note in grid.notes if not isinstance(note, Whole)]
        comments = [note for note in grid.notes if isinstance(note, Whole)]
        parts = [_draw_float(aligns, _draw_header(self, width), rows, grid.title, notes)]
        parts += [f"% {escape_line(comment)}\n" for comment in comments]
        for pair_grid in pair_grids:
            parts.append("\n" + _draw_pairs(pair_grid))
        return "".join(parts)

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each system and score, or for each pair and score if pairs are to be shown."""
        return self._list_pair_rows() if self.pairs else self._list_system_rows()

    def _list_pair_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each pair of systems and score."""
        header = ["first", "second", "metric", "first_score", "second_score"]
        header += ["difference", "low", "high", "p_bootstrap", "p_randomization"]
        header += ["signature", "p_randomization_corrected"]
        rows: list[list[object]] = []
        for score, tests in self.tests.items():
            for test in tests:
                systems = (test.first, test.second)
                row: list[object] = [self.names[system] for system in systems]
                row.append(score)
                row += [self.reports[system].scores[score].value for system in systems]
                row += map(number_or_none, test.difference[:5])
                row += [self.reports[0].provenance.signature, number_or_none(test.p_corrected)]
                rows.append(row)
        return header, rows

    def _list_system_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each system and score."""
        header = ["system", "metric", "score", "low", "high", "confidence", "undefined", "best"]
        header += ["difference_from_best", "p_randomization", "p_randomization_corrected"]
        header += ["differs_from_best", "n_units", "n_blocks", "signature"]
        if self.usage:
            header += Usage._fields
        rows: list[list[object]] = []
        for system, (name, report) in enumerate(zip(self.names, self.reports, strict=True)):
            for score in self.scores:
                estimate = report.scores[score]
                confidence = None if estimate.low is None else report.resampling.confidence
                row: list[object] = [name, score, estimate.value, estimate.low, estimate.high]
                row += [confidence, estimate.undefined, self.standings[score][system] == "best"]
                row += self._compare_with_best(score, system)
                row += [report.total.n_units, report.total.n_blocks, report.provenance.signature]
                if self.usage:
                    row += self.usage.get(name, [None] * len(Usage._fields))
                rows.append(row)
        return header, rows

    def _compare_with_best(self, score: str, system: int) -> list[object]:
        """Return the difference from the best, its p-values, and whether it is significant."""
        test = self.find_test(score, system)
        if test is None:
            return [None] * 4
        difference = test.difference.value if test.second == system else -test.difference.value
        is_significant = test.p_corrected <= self.alpha
        return [difference, test.difference.p_randomization, test.p_corrected, is_significant]

    def to_dict(self) -> dict[str, object]:
        """Return the table as JSON, with the report of each system and the tests of all pairs; NaN becomes null."""
        systems = []
        for number, (name, report) in enumerate(zip(self.names, self.reports, strict=True)):
            system: dict[str, object] = {"name": name, "has_counts": self.has_counts[number]}
            system["standings"] = {score: self.standings[score][number] for score in self.scores}
            system["report"] = report.to_dict()
            if name in self.usage:
                system["usage"] = self.usage[name]._asdict()
            systems.append(system)
        n_tests = {score: self.count_tests(score) for score in self.scores}
        resampling: dict[str, object] = {
            "n_resamples": int(self.resampling.n_resamples),
            "confidence": self.resampling.confidence,
            "seed": self.resampling.seed,
        }
        if self.resampling.interval != "percentile":
            resampling["interval"] = self.resampling.interval
        return {
            "format": FORMAT,
            "procedure": self.reports[0].provenance.procedure,
            "signature": self.reports[0].provenance.signature,
            "scores": list(self.scores),
            "alpha": self.alpha,
            "correction": {"method": "holm", "n_tests": n_tests},
            **resampling,
            "systems": systems,
            "pairs": {
                score: list(map(self._write_pair, tests)) for score, tests in self.tests.items()
            },
        }

    def _write_pair(self, test: PairTest) -> dict[str, object]:
        pair: dict[str, object] = {
            "first": self.names[test.first],
            "second": self.names[test.second],
        }
        for name, number in test.difference.to_dict().items():
            pair[name] = number_or_none(number)
        pair["p_randomization_corrected"] = number_or_none(test.p_corrected)
        return pair


def make_systems_table(
    names: Sequence[str],
    results: Sequence[Counts | Report],
    scores: Sequence[str],
    resampling: Resampling,
    alpha: float,
    sort: str | None = None,
    **shown: Any,
) -> SystemsTable:
    """Make a table of systems with equal signatures, from their counts, or from reports, which can't be tested.

    All systems have the scores that are its columns; `sort` is the one to sort rows by, the best first.
    """
    if sort is not None and sort not in scores:
        raise RequestError(describe_unknown("column to sort by", sort, scores))
    counted = [result for result in results if isinstance(result, Counts)]
    metrics: list[Metric] = []
    count_names: list[str] = []
    if counted:
        metrics = [metric for metric in counted[0].procedure.metrics if metric.name in scores]
        count_names = _list_needed_counts(counted, metrics)
    if len(counted) > 1:
        n_blocks = counted[0].table.n_blocks
        most = max_resamples(len(counted), len(scores), n_blocks, len(count_names))
        resampling = resampling.for_tests(math.comb(len(counted), 2), alpha, most)
    reports = [
        make_report(result, resampling=resampling) if isinstance(result, Counts) else result
        for result in results
    ]
    order = list(range(len(names)))
    if sort is not None:
        order.sort(key=lambda system: _rank_key(reports[system].scores[sort].value))
    has_counts = tuple(isinstance(results[system], Counts) for system in order)
    tests: dict[str, list[PairTest]] = {}
    if len(counted) > 1 and resampling.n_resamples:
        tables = []
        rows = []
        for row, system in enumerate(order):
            result = results[system]
            if isinstance(result, Counts):
                tables.append(result.table.with_counts(count_names))
                rows.append(row)
        differences = compare_pairs(tables, metrics, **asdict(resampling))
        if tables[0].n_blocks > 1:
            pairs = [(rows[first], rows[second]) for first, second in differences]
            for score in scores:
                in_score = [by_score[score] for by_score in differences.values()]
                tests[score] = _correct(pairs, in_score, resampling, alpha)
    return SystemsTable(
        tuple(names[system] for system in order),
        tuple(reports[system] for system in order),
        tuple(scores),
        tests,
        has_counts,
        resampling,
        alpha,
        **shown,
    )


def _list_needed_counts(counted: Sequence[Counts], metrics: Sequence[Metric]) -> list[str]:
    """Return the counts that the metrics need, of those that all systems have."""
    stored = counted[0].table.names
    needed: set[str] = set()
    for metric in metrics:
        needed.update(metric.list_counts(stored))
    for counts in counted:
        needed.intersection_update(counts.table.names)
    return [name for name in stored if name in needed]


def _rank_key(value: float | None) -> float:
    """Return what the best score is first by; undefined scores are last."""
    return math.inf if value is None else -value


def _correct(
    pairs: Sequence[tuple[int, int]],
    differences: Sequence[Difference],
    resampling: Resampling,
    alpha: float,
) -> list[PairTest]:
    """Return the tests of all pairs of systems in a score, with corrected p-values."""
    p_values = [difference.p_randomization for difference in differences]
    corrected = correct_decidable(p_values, resampling.n_resamples, alpha)
    return [
        PairTest(first, second, difference, p_corrected)
        for (first, second), difference, p_corrected in zip(
            pairs, differences, corrected, strict=True
        )
    ]


def _format_cell(table: SystemsTable, score: str, system: int) -> tuple[str, str, str]:
    """Return the value of a score in percent, its marks, and its interval, empty if it is not shown."""
    report = table.reports[system]
    estimate = report.scores[score]
    marks = format_star(estimate)
    if table.tests.get(score):
        marks += MARKS.get(table.standings[score][system], "")
    low, high = estimate.low, estimate.high
    has_level = report.resampling.confidence == table.resampling.confidence
    has_interval = report.resampling.n_resamples > 0 and has_level
    interval = ""
    if has_interval and low is not None and high is not None:
        if table.intervals == "range":
            interval = f"[{100 * low:.{table.digits}f}, {100 * high:.{table.digits}f}]"
        elif table.intervals == "plus-minus":
            interval = f"± {50 * (high - low):.{table.digits}f}"
    return percent(estimate.value, table.digits), marks, interval


def _list_columns(table: SystemsTable, style: Style) -> Iterator[list[str]]:
    """Yield the cells of each score; in a terminal, decimal points are below each other, whatever the score."""
    systems = range(len(table.names))
    columns = [[_format_cell(table, score, system) for system in systems] for score in table.scores]
    marks_width = 0
    if style == "table":
        for column in columns:
            marks_width = max(marks_width, *(len(marks) for _, marks, _ in column))
    for column in columns:
        cells = []
        for value, marks, interval in column:
            cell = value
            if value != NOTHING:
                cell += f"{marks:{marks_width}}"
                if interval:
                    cell += f" {interval}"
            cells.append(cell)
        yield cells


def _list_usage(table: SystemsTable) -> dict[str, list[str]]:
    """Return the columns of what runs of language models took, by their titles, as far as it is known."""
    columns = {}
    for name, title in USAGE_TITLES.items():
        numbers = [getattr(table.usage.get(system), name, None) for system in table.names]
        if any(number is not None for number in numbers):
            columns[title] = [_format_usage(name, number, table.digits) for number in numbers]
    return columns


def _format_usage(name: str, number: float | None, digits: int) -> str:
    if number is None:
        return NOTHING
    if name == "answered":
        return f"{number:.{digits}%}".removesuffix("%")
    return f"{number:.2f}" if name == "cost" else f"{number:,}"


def _split_title(title: str) -> tuple[str, str]:
    """Return the metric of a score's title, and the short title of its part; empty for a score without parts."""
    for end, part in HEADINGS.items():
        if title.endswith(end):
            return title.removesuffix(end), part
    return title, ""


def _stack_metrics(grid: Grid) -> Grid:
    """Return a table with a row for each metric and system, and columns for precision, recall and F1."""
    columns_by_metric: dict[str, dict[str, int]] = {}
    parts: dict[str, None] = {}
    for column, title in enumerate(grid.header[1:], 1):
        metric, part = _split_title(title)
        part = part or "F1"  # the CoNLL score has no precision and recall
        columns_by_metric.setdefault(metric, {})[part] = column
        parts[part] = None
    rows: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    for metric, columns in columns_by_metric.items():
        for system, cells in enumerate(grid.rows):
            row = [metric if system == 0 else "", cells[0]]
            for part in parts:
                if part not in columns:
                    row.append("")
                    continue
                if (system, columns[part]) in grid.best:
                    best.add((len(rows), len(row)))
                row.append(cells[columns[part]])
            rows.append(row)
    header = ["metric", "system", *parts]
    texts = frozenset({"metric", "system"})
    return Grid(
        grid.title,
        header,
        rows,
        grid.notes,
        texts,
        ditto=texts,
        best=frozenset(best),
        labels=2,
    )


def _make_pair_grid(table: SystemsTable) -> Grid:
    """Return the tests of all pairs of systems, significant ones in bold."""
    level = f"{100 * table.resampling.confidence:g}% interval"
    header = ["score", "first", "second", "diff.", level, "p rand."]
    rows: list[list[str]] = []
    significant = set()
    for score, tests in table.tests.items():
        title = table.reports[0].name_score(score)
        for number, test in enumerate(tests):
            if test.p_corrected <= table.alpha:
                significant.add((len(rows), header.index("p rand.")))
            difference = test.difference
            interval = NOTHING
            if not math.isnan(difference.low):
                low = format_difference(difference.low, table.digits)
                high = format_difference(difference.high, table.digits)
                interval = f"{low} to {high}"
            rows.append(
                [
                    title if number == 0 else "",
                    Whole(table.names[test.first]),
                    Whole(table.names[test.second]),
                    format_difference(difference.value, table.digits),
                    interval,
                    format_p_value(test.p_corrected),
                ]
            )
    notes = [
        "Differences (diff.) are second minus first; their intervals are not corrected. p-values are of approximate "
        "randomization (p rand.)."
    ]
    return Grid(
        "All pairs of systems",
        header,
        rows,
        notes,
        frozenset({"first", "second"}),
        ditto=frozenset({"score"}),
        best=frozenset(significant),
        labels=3,
    )


def _list_notes(table: SystemsTable, style: Style) -> Iterator[str]:
    """Yield the sentences below the table."""
    if style != "table" and len(table.names) > 1:
        yield "Best scores are bold."
    yield from _note_marks(table)
    drawn = table.resampling
    counted = [
        report
        for report, has_counts in zip(table.reports, table.has_counts, strict=True)
        if has_counts
    ]
    if table.tests:
        blocks = pluralize(counted[0].total.n_blocks, counted[0].resampling_unit)
        n_tests = max(map(table.count_tests, table.scores))
        yield (
            f"Paired approximate randomization over {blocks}, {drawn.n_resamples:,} resamples, seed {drawn.seed}; "
            f"p-values are two-sided and corrected for {pluralize(n_tests, 'comparison')} in each score (all pairs) "
            "by Holm's method."
        )
        yield from warn_of_few_resamples(drawn.n_resamples, n_tests, table.alpha)
    elif len(counted) > 1:
        yield from warn_of_few_blocks(counted[0])
    if table.intervals != "none" and drawn.n_resamples:
        yield from _note_intervals(table)
        if table.tests:  # otherwise the notes of tests say so
            yield from warn_of_few_blocks(counted[0])
        yield from _note_other_intervals(table)
    if _has_undefined(table):
        yield SET_BY_CONVENTION
    if table.usage:
        yield "Answered: the percentage of answers that could be read. Tokens and costs are those of the whole run."
    for score, names in (table.lacking or {}).items():
        yield f"No column for {score}, which is not in {_join(names)}."
    yield from name_options(table.reports[0])


def _has_undefined(table: SystemsTable) -> bool:
    """Return whether the table has a score that is 0/0."""
    estimates = [[report.scores[score] for score in table.scores] for report in table.reports]
    return any(estimate.undefined for estimate in chain.from_iterable(estimates))


def _note_marks(table: SystemsTable) -> Iterator[str]:
    """Yield the meaning of the marks in this table, or why it has none."""
    standings: set[Standing] = set()
    for score in table.tests:
        standings.update(table.standings[score])
    if "close" in standings:
        yield f"† Not significantly different from the best (p > {table.alpha:g})."
    elif "worse" in standings:
        others = "tested" if "untested" in standings else "others"
        yield f"All {others} are significantly worse than the best (p ≤ {table.alpha:g})."
    only_reports = [
        name
        for name, has_counts in zip(table.names, table.has_counts, strict=True)
        if not has_counts
    ]
    if "untested" in standings:
        reasons = []
        if only_reports:
            reasons.append(
                f"tests need counts, and there is only a report of {_join(only_reports)}"
            )
        n_tests = max(map(table.count_tests, table.tests))
        if min_p_value(table.resampling.n_resamples, n_tests) > table.alpha:
            reasons.append("there are too few resamples (see below)")
        why = ", which needs scores in all resamples"
        if reasons:
            why = f": {'; '.join(reasons)}"
        yield f"‡ Not tested against the best{why}."
    elif only_reports and not table.tests and len(table.names) > 1:
        yield f"No tests: they need the counts of two systems, and there is only a report of {_join(only_reports)}."


def _note_intervals(table: SystemsTable) -> Iterator[str]:
    """Yield how intervals were computed."""
    drawn = table.resampling
    intervals = "Intervals" if table.intervals == "range" else "±: half the width of intervals"
    yield (
        f"{intervals}: {100 * drawn.confidence:g}%, {drawn.title} over {table.reports[0].resampling_unit}s, "
        f"{drawn.n_resamples:,} resamples, seed {drawn.seed}."
    )


def _note_other_intervals(table: SystemsTable) -> Iterator[str]:
    """Yield notes on reports whose intervals differ."""
    for name, report, has_counts in zip(table.names, table.reports, table.has_counts, strict=True):
        drawn = report.resampling
        if has_counts or drawn == table.resampling:
            continue
        how = f"{100 * drawn.confidence:g}%, "
        if drawn.interval != table.resampling.interval:
            how += f"{drawn.title}, "
        how += f"{drawn.n_resamples:,} resamples, seed {drawn.seed}"
        if not drawn.n_resamples:
            yield f"The report of {quote(name)} has no intervals."
        elif drawn.confidence != table.resampling.confidence:
            yield f"No intervals of {quote(name)}: those of its report have another confidence level ({how})."
        else:
            yield f"The intervals of {quote(name)} are those of its report ({how})."


def _join(names: Sequence[str]) -> str:
    *others, last = map(quote, names)
    return f"{', '.join(others)} and {last}" if others else last


def _draw_cell(table: SystemsTable, score: str, system: int) -> str:
    """Return the cell of a score in LaTeX; with intervals, two cells."""
    value, marks, interval = map(escape_latex, _format_cell(table, score, system))
    if table.standings[score][system] == "best" and len(table.names) > 1:
        value = rf"\textbf{{{value}}}"
    if table.intervals != "none":
        return f"{value} & {interval}{marks}"
    if marks:
        value += rf"\rlap{{{marks}}}"
    return value


def _draw_pairs(grid: Grid) -> str:
    """Return the tests of all pairs in LaTeX, with signs as in formulas."""
    rows = [[SIGN.sub(r"$\g<0>$", escape_latex(cell)) for cell in row] for row in grid.rows]
    for row, column in grid.best:
        rows[row][column] = rf"\textbf{{{rows[row][column]}}}"
    header = [_join_cells(map(escape_latex, grid.header))]
    return _draw_float("lllrrr", header, rows, grid.title, grid.notes)


def _draw_float(
    align: str,
    header: Iterable[str],
    rows: Iterable[Sequence[str]],
    title: str,
    notes: Sequence[str],
) -> str:
    """Return a floating table in LaTeX."""
    sentences = [f"{title}.", *notes] if title else notes
    caption = escape_latex(" ".join(sentences))
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{align}}}", r"\toprule"]
    lines += [*header, r"\midrule", *map(_join_cells, rows), r"\bottomrule"]
    lines += [r"\end{tabular}", rf"\caption{{{caption}}}", r"\end{table}", ""]
    return "\n".join(lines)


def _join_cells(cells: Iterable[str]) -> str:
    return guard_latex_rows(" & ".join(cells) + r" \\")


class _Heading(NamedTuple):
    """A heading of neighbouring columns in LaTeX; of a single one without a metric, if that is empty."""

    metric: str
    n_scores: int


def _draw_header(table: SystemsTable, width: int) -> Iterator[str]:
    """Yield the lines of the header: one, or two and the rules between them if scores share a heading.

    A score is as many columns wide as the width says.
    """
    titles = [table.reports[0].name_score(score) for score in table.scores]
    usage = list(_list_usage(table))
    headings = _list_headings(titles)
    if all(heading.n_scores == 1 for heading in headings):
        spans = [_span(title, width) for title in titles]
        yield _join_cells(["System", *spans, *map(escape_latex, usage)])
        return
    spans = [_span(heading.metric, heading.n_scores * width) for heading in headings]
    yield _join_cells(["", *spans, *[""] * len(usage)])
    rules = []
    column = 2
    for heading in headings:
        end = column + heading.n_scores * width
        if heading.metric:
            rules.append(rf"\cmidrule(lr){{{column}-{end - 1}}}")
        column = end
    yield " ".join(rules)
    spans = [_span(_split_title(title)[1] or title, width) for title in titles]
    yield _join_cells(["System", *spans, *map(escape_latex, usage)])


def _list_headings(titles: Sequence[str]) -> list[_Heading]:
    """Return the headings of the titles of scores; neighbouring parts of a metric share one."""
    headings: list[_Heading] = []
    for title in titles:
        metric, part = _split_title(title)
        if not part:
            headings.append(_Heading("", 1))
        elif headings and headings[-1].metric == metric:
            headings[-1] = _Heading(metric, headings[-1].n_scores + 1)
        else:
            headings.append(_Heading(metric, 1))
    return headings


def _span(text: str, width: int) -> str:
    """Return the cell of a header in LaTeX that is several columns wide."""
    cell = escape_latex(text)
    return cell if width == 1 else rf"\multicolumn{{{width}}}{{c}}{{{cell}}}"
