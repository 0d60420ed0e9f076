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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple

from closeread.counts.comparison import format_difference, format_p_value, warn_of_few_resamples
from closeread.counts.counts import Counts, make_report
from closeread.counts.estimates import (
    Resampling,
    correct_decidable,
    min_p_value,
    number_or_none,
    write_resampling,
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

HEAD = 4096
REPORT = re.compile(rb'(\xef\xbb\xbf)?\s*\{.*?"closeread"\s*:', re.DOTALL)
"""Matches the beginning of a report: an object with the version of closeread, which no prediction has."""

LOG = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+,\s*"status"\s*:')
"""How a log of inspect-ai begins that is JSON; others are archives."""

IntervalStyle = Literal["none", "range", "plus-minus"]
"""How a table shows intervals: not at all, by both ends, or by half of their width."""

Standing = Literal["best", "close", "worse", "untested", "undefined"]
"""How a score compares with the best one; close: not significantly different, worse: significantly worse."""

MARKS = {"close": "†", "untested": "‡"}
"""The marks of scores that are not significantly different from the best, and of those that were not tested."""

HEADINGS = {" precision": "P", " recall": "R", " F1": "F1"}
"""The ends of titles of scores that share a heading, and the short titles below it."""

# the sign of a number; outside of formulas, a minus would be a hyphen
SIGN = re.compile(r"(?<![^ ])[+-](?=[0-9])")


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


USAGE = {
    "answered": "answered",
    "input_tokens": "tokens in",
    "output_tokens": "tokens out",
    "cost": "cost ($)",
}


def detect_kind(path: Path) -> Literal["counts", "report", "log", "predictions"]:
    """Return the kind of a file: stored counts, which are Parquet; a report as JSON; otherwise predictions."""
    if not path.is_file():
        return "predictions"
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
        if head.startswith(parquet.PARQUET_MAGIC):
            return "counts" if may_be_counts(path) else "predictions"
        if head.startswith(GZIP_MAGIC):
            head = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(head, HEAD)
        if LOG.match(head) or (path.suffix == ".eval" and head.startswith(b"PK")):
            return "log"
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

    def name(path: Path) -> str:
        return path.name or str(path)

    def stem(path: Path) -> str:
        return name(path) if path.is_dir() else Path(name(path).removesuffix(".gz")).stem

    def below(form: Callable[[Path], str]) -> Callable[[Path], str]:
        return lambda path: "/".join(filter(None, (path.parent.name, form(path))))

    found: dict[int, str] = {}
    for form in (stem, name, below(stem), below(name), str):
        counts = Counter(map(form, paths))
        for i, path in enumerate(paths):
            if counts[form(path)] == 1:
                found.setdefault(i, form(path))
    for i, path in enumerate(paths):  # the same file again
        found.setdefault(i, f"{path} ({1 + paths[:i].count(path)})")
    return [found[i] for i in range(len(paths))]


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
        return selected, tuple(
            metric.name for metric in selected.metrics if not metric.name.endswith(PARTS)
        )
    selected = procedure.with_metrics(procedure.families if metrics is None else metrics)
    columns: list[str] = []
    for name in scores:
        found = [metric.name for metric in selected.metrics if name in (metric.name, metric.family)]
        if not found:
            every = procedure.with_metrics(procedure.families).metrics
            if name in (*procedure.families, *(metric.name for metric in every)):
                option, family = name_option("metrics"), name.partition("/")[0]
                what = f"{option} excludes the score '{name}'; add '{family}' to {option}, or omit {option}"
                raise RequestError(what)
            guess = suggest(
                name, [*selected.families, *(metric.name for metric in selected.metrics)]
            )
            guess = guess or suggest(name, selected.families, procedure.aliases)
            choices = ", ".join(selected.families)
            if several := [
                metric.name for metric in selected.metrics if metric.name not in selected.families
            ]:
                choices += f", or one of their scores, such as {several[-1]}"
            what = f"no such {procedure.name} score: '{name}'{guess and '.'}{guess} (choose from: {choices})"
            raise RequestError(what)
        columns += found
    if not columns:
        raise RequestError("a table needs at least one score")
    columns = list(dict.fromkeys(columns))
    return procedure.with_metrics(
        list(dict.fromkeys(name.partition("/")[0] for name in columns))
    ), tuple(columns)


def choose_columns(
    names: Sequence[str],
    results: Sequence[Counts | Report],
    columns: Sequence[str],
    *,
    required: bool,
) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """Return the columns that all systems have, and for each other column the systems that lack it."""
    known = {
        name: [metric.name for metric in one.procedure.metrics]
        if isinstance(one, Counts)
        else list(one.scores)
        for name, one in zip(names, results, strict=True)
    }
    lacking = {
        score: [name for name, scores in known.items() if score not in scores] for score in columns
    }
    lacking = {score: without for score, without in lacking.items() if without}
    found = tuple(score for score in columns if score not in lacking)
    if lacking and (required or not found):
        problems = [
            f"{quote(name)} has no {', '.join(lacks)} (it has: {', '.join(scores) or 'none'})"
            for name, scores in known.items()
            if (lacks := [score for score, without in lacking.items() if name in without])
        ]
        raise RequestError("\n".join(["some systems lack scores:", *map(escape, problems)]))
    return found, lacking


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
    problems = [
        f"{quote(name)}: {difference}"
        for name, found in zip(names, provenances, strict=True)
        if found.signature != expected.signature
        for difference in _list_differences(found, expected, options)
    ]
    if not problems:
        return
    how = (
        f"as {quote(names[0])} was"
        if requested is None
        else "on the gold and with the options given"
    )
    text = "\n".join([f"the systems are not comparable: they were not scored {how}:", *problems])
    if {one.options.get("missing") for one in (expected, *provenances)} == {"skip"}:
        text += f"\nWith {name_option('missing', 'skip')}, all systems must cover the same units."
    raise RequestError(text)


def _list_differences(
    found: Provenance, expected: Provenance, options: Sequence[Option]
) -> list[str]:
    """Describe the differences between two signatures."""
    what = [("procedure", found.procedure, expected.procedure)]
    if found.procedure == expected.procedure:
        what.append(
            (
                "version of the procedure",
                str(found.procedure_version),
                str(expected.procedure_version),
            )
        )
        defaults = {option.name: option.default for option in options}
        one, two = ({**defaults, **provenance.options} for provenance in (found, expected))
        what += [
            (f"option {name}", one.get(name, "none"), two.get(name, "none"))
            for name in {**two, **one}
        ]
    differences = [f"{name} is {quote(a)} (expected {quote(b)})" for name, a, b in what if a != b]
    (scored, digest), (requested, other) = (
        one.signature.rpartition("|gold:")[::2] for one in (found, expected)
    )
    if digest != other:
        golds = [
            escape(" ".join(part for part in (one.corpus, one.config, one.split, of_gold) if part))
            for one, of_gold in ((found, digest), (expected, other))
        ]
        differences.append(f"gold is {golds[0]} (expected {golds[1]})")
    return differences or [
        f"signature is {quote(scored, 2000)} (expected {quote(requested, 2000)})"
    ]


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
        leaders = [
            f"{self.reports[0].name_score(name)} {percent(self.reports[min(best)].scores[name].value)}"
            f" ({quote(self.names[min(best)])})"
            for name in self.scores
            if (best := self.find_best(name))
        ]
        systems = pluralize(len(self.names), "system")
        return escape_line(f"<Table of {systems}, best: {', '.join(leaders) or 'none'}>")

    def find_best(self, score: str) -> frozenset[int]:
        """Return the systems with the highest value of a score; several if their values are equal."""
        values = [report.scores[score].value for report in self.reports]
        highest = max((value for value in values if value is not None), default=math.inf)
        return frozenset(
            i for i, value in enumerate(values) if value is not None and value >= highest - TIE
        )

    def find_test(self, score: str, system: int) -> PairTest | None:
        """Return the test of a system against the best, or the clearest one against several; None if untested."""
        best = self.find_best(score)
        tested = [
            test
            for test in self.tests.get(score, ())
            if system in (test.first, test.second)
            and (test.first in best) != (test.second in best)
            and not math.isnan(test.p_corrected)
        ]
        return (
            None
            if system in best
            else min(reversed(tested), key=lambda test: test.p_corrected, default=None)
        )

    @cached_property
    def standings(self) -> Mapping[str, Sequence[Standing]]:
        """How each system is related to the best, by score."""

        def find_standing(score: str, system: int) -> Standing:
            if self.reports[system].scores[score].value is None:
                return "undefined"
            if system in self.find_best(score):
                return "best"
            test = self.find_test(score, system)
            return (
                "untested"
                if test is None
                else "worse"
                if test.p_corrected <= self.alpha
                else "close"
            )

        systems = range(len(self.names))
        return {
            score: [find_standing(score, system) for system in systems] for score in self.scores
        }

    def count_tests(self, score: str) -> int:
        """Return the number of tests for which the p-values of a score are corrected."""
        return sum(
            not math.isnan(test.difference.p_randomization) for test in self.tests.get(score, ())
        )

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table and, if they are to be shown, the tests of all pairs, laid out for a style."""
        usage = _list_usage(self)
        header = ["system", *map(self.reports[0].name_score, self.scores), *usage]
        columns = *_list_columns(self, style), *usage.values()
        rows = [[Whole(name), *cells] for name, *cells in zip(self.names, *columns, strict=True)]
        best = frozenset(
            (row, column)
            for column, score in enumerate(self.scores, 1)
            for row, standing in enumerate(self.standings[score])
            # otherwise there is nothing to be better than
            if standing == "best" and len(self.names) > 1
        )
        notes = list(_list_notes(self, style))
        grid = Grid(
            make_title(self.reports[0]),
            header,
            rows,
            notes,
            frozenset({"system"}),
            best=best,
            labels=1,
        )
        pairs = [_make_pair_grid(self)] if self.pairs and any(self.tests.values()) else []
        if style == "table" and not usage and any(score.endswith(PARTS) for score in self.scores):
            return [_stack_metrics(grid), *pairs]
        return [replace(grid, narrower=transpose(grid, "score")), *pairs]

    def to_latex(self) -> str:
        r"""Return a floating LaTeX table with a caption, scores times 100; it needs `\usepackage{booktabs}`."""
        first, *others = self._to_grids("latex")
        size = 2 if self.intervals != "none" else 1  # with intervals, a cell is two
        columns = [
            [_draw_cell(self, score, i) for i in range(len(self.names))] for score in self.scores
        ]
        columns += [list(map(escape_latex, cells)) for cells in _list_usage(self).values()]
        rows = [
            [escape_latex(name), *cells] for name, *cells in zip(self.names, *columns, strict=True)
        ]
        align = (
            "l" + ("r" if size == 1 else "r@{ }l") * len(self.scores) + "r" * len(_list_usage(self))
        )
        notes = [note for note in first.notes if not isinstance(note, Whole)]
        parts = [_draw_float(align, _draw_header(self, size), rows, first.title, notes)]
        parts += [f"% {escape_line(note)}\n" for note in first.notes if isinstance(note, Whole)]
        for grid in others:
            rows = [[SIGN.sub(r"$\g<0>$", escape_latex(cell)) for cell in row] for row in grid.rows]
            for row, column in grid.best:
                rows[row][column] = rf"\textbf{{{rows[row][column]}}}"
            header = [_join_cells(map(escape_latex, grid.header))]
            parts.append("\n" + _draw_float("lllrrr", header, rows, grid.title, grid.notes))
        return "".join(parts)

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each system and score, or for each pair and score if pairs are to be shown."""
        if self.pairs:
            header = [
                "first",
                "second",
                "metric",
                "first_score",
                "second_score",
                "difference",
                "low",
                "high",
            ]
            header += ["p_bootstrap", "p_randomization", "signature", "p_randomization_corrected"]
            signature = self.reports[0].provenance.signature
            return header, [
                [
                    *(self.names[i] for i in (test.first, test.second)),
                    score,
                    *(self.reports[i].scores[score].value for i in (test.first, test.second)),
                    *map(number_or_none, test.difference[:5]),
                    signature,
                    number_or_none(test.p_corrected),
                ]
                for score, tests in self.tests.items()
                for test in tests
            ]
        header = [
            "system",
            "metric",
            "score",
            "low",
            "high",
            "confidence",
            "undefined",
            "best",
            "difference_from_best",
        ]
        header += ["p_randomization", "p_randomization_corrected", "differs_from_best"]
        header += ["n_units", "n_blocks", "signature", *(Usage._fields if self.usage else ())]
        rows: list[list[object]] = []
        for i, (name, report) in enumerate(zip(self.names, self.reports, strict=True)):
            for score in self.scores:
                one, test = report.scores[score], self.find_test(score, i)
                confidence = None if one.low is None else report.resampling.confidence
                tested: list[object] = [None] * 4
                if test is not None:
                    d, p = test.difference, test.p_corrected
                    tested = [
                        d.value if test.second == i else -d.value,
                        d.p_randomization,
                        p,
                        p <= self.alpha,
                    ]
                is_best = self.standings[score][i] == "best"
                found = [
                    name,
                    score,
                    one.value,
                    one.low,
                    one.high,
                    confidence,
                    one.undefined,
                    is_best,
                    *tested,
                ]
                more = self.usage.get(name, [None] * len(Usage._fields)) if self.usage else ()
                rows.append(
                    [
                        *found,
                        report.total.n_units,
                        report.total.n_blocks,
                        report.provenance.signature,
                        *more,
                    ]
                )
        return header, rows

    def to_dict(self) -> dict[str, object]:
        """Return the table as JSON, with the report of each system and the tests of all pairs; NaN becomes null."""

        def write_pair(test: PairTest) -> dict[str, object]:
            values = {**test.difference.to_dict(), "p_randomization_corrected": test.p_corrected}
            numbers = {key: number_or_none(value) for key, value in values.items()}
            return {"first": self.names[test.first], "second": self.names[test.second], **numbers}

        return {
            "format": FORMAT,
            "procedure": self.reports[0].provenance.procedure,
            "signature": self.reports[0].provenance.signature,
            "scores": list(self.scores),
            "alpha": self.alpha,
            "correction": {
                "method": "holm",
                "n_tests": {score: self.count_tests(score) for score in self.scores},
            },
            "n_resamples": 0,
            **write_resampling(self.resampling),
            "systems": [
                {
                    "name": name,
                    "has_counts": self.has_counts[i],
                    "standings": {score: self.standings[score][i] for score in self.scores},
                    "report": self.reports[i].to_dict(),
                    **({"usage": self.usage[name]._asdict()} if name in self.usage else {}),
                }
                for i, name in enumerate(self.names)
            ],
            "pairs": {score: list(map(write_pair, tests)) for score, tests in self.tests.items()},
        }


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
    counted = [one for one in results if isinstance(one, Counts)]
    of_columns: list[Metric] = []
    used: list[str] = []  # those of the stored counts that the columns need
    if counted:
        of_columns = [metric for metric in counted[0].procedure.metrics if metric.name in scores]
        stored = counted[0].table.names
        needed = {name for metric in of_columns for name in metric.list_counts(stored)}
        used = [
            name
            for name in stored
            if name in needed and all(name in one.table.names for one in counted)
        ]
    if len(counted) > 1:
        most = max_resamples(len(counted), len(scores), counted[0].table.n_blocks, len(used))
        resampling = resampling.for_tests(math.comb(len(counted), 2), alpha, most)
    reports = [
        make_report(one, resampling=resampling) if isinstance(one, Counts) else one
        for one in results
    ]
    order = list(range(len(names)))
    if sort is not None:
        values = [report.scores[sort].value for report in reports]
        order.sort(key=lambda i: math.inf if (value := values[i]) is None else -value)
    places = [place for place, i in enumerate(order) if isinstance(results[i], Counts)]
    tests: dict[str, list[PairTest]] = {}
    if len(counted) > 1 and resampling.n_resamples:
        tables = [
            one.table.with_counts(used) for i in order if isinstance(one := results[i], Counts)
        ]
        found = compare_pairs(tables, of_columns, **asdict(resampling))
        if tables[0].n_blocks > 1:
            pairs = [(places[i], places[j]) for i, j in found]
            differences = {
                score: [of_pair[score] for of_pair in found.values()] for score in scores
            }
            tests = {
                score: _correct(pairs, those, resampling, alpha)
                for score, those in differences.items()
            }
    return SystemsTable(
        tuple(names[i] for i in order),
        tuple(reports[i] for i in order),
        tuple(scores),
        tests,
        tuple(isinstance(results[i], Counts) for i in order),
        resampling,
        alpha,
        **shown,
    )


def _correct(
    pairs: Sequence[tuple[int, int]],
    differences: Sequence[Difference],
    resampling: Resampling,
    alpha: float,
) -> list[PairTest]:
    """Return the tests of all pairs of systems in a score, with corrected p-values."""
    p_values = correct_decidable(
        [one.p_randomization for one in differences], resampling.n_resamples, alpha
    )
    return [
        PairTest(*pair, difference, p)
        for pair, difference, p in zip(pairs, differences, p_values, strict=True)
    ]


def _format_cell(table: SystemsTable, score: str, system: int) -> tuple[str, str, str]:
    """Return the value of a score in percent, its marks, and its interval, empty if it is not shown."""
    estimate = table.reports[system].scores[score]
    value, sign, interval = percent(estimate.value, table.digits), format_star(estimate), ""
    if table.tests.get(score):
        sign += MARKS.get(table.standings[score][system], "")
    low, high, drawn = estimate.low, estimate.high, table.reports[system].resampling
    has_level = drawn.n_resamples > 0 and drawn.confidence == table.resampling.confidence
    if table.intervals != "none" and low is not None and high is not None and has_level:
        if table.intervals == "range":
            interval = f"[{100 * low:.{table.digits}f}, {100 * high:.{table.digits}f}]"
        else:
            interval = f"± {50 * (high - low):.{table.digits}f}"
    return value, sign, interval


def _list_columns(table: SystemsTable, style: Style) -> Iterator[list[str]]:
    """Yield the cells of each score; in a terminal, decimal points are below each other, whatever the score."""
    found = [
        [_format_cell(table, score, i) for i in range(len(table.names))] for score in table.scores
    ]
    width = max(len(sign) for cells in found for _, sign, _ in cells) if style == "table" else 0
    for cells in found:
        yield [
            value if value == NOTHING else f"{value}{sign:{width}}" + (interval and f" {interval}")
            for value, sign, interval in cells
        ]


def _list_usage(table: SystemsTable) -> dict[str, list[str]]:
    """Return the columns of what runs of language models took, by their titles, as far as it is known."""
    found = {}
    for name, title in USAGE.items():
        values = [getattr(table.usage.get(system), name, None) for system in table.names]
        if any(value is not None for value in values):
            form = {"answered": f"{{:.{table.digits}%}}", "cost": "{:.2f}"}.get(name, "{:,}")
            found[title] = [
                NOTHING if value is None else form.format(value).rstrip("%") for value in values
            ]
    return found


def _stack_metrics(grid: Grid) -> Grid:
    """Return a table with a row for each metric and system, and columns for precision, recall and F1."""
    split = [
        next(
            ((t.removesuffix(end), HEADINGS[end]) for end in HEADINGS if t.endswith(end)), (t, "F1")
        )
        for t in grid.header
    ]
    names = list(dict.fromkeys(name for _, name in split[1:]))
    rows: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    for metric in dict.fromkeys(metric for metric, _ in split[1:]):
        columns = {name: i for i, (found, name) in enumerate(split) if found == metric}
        for number, cells in enumerate(grid.rows):
            best |= {
                (len(rows), names.index(name) + 2)
                for name, i in columns.items()
                if (number, i) in grid.best
            }
            shown = (cells[columns[name]] if name in columns else "" for name in names)
            rows.append(["" if number else metric, cells[0], *shown])
    header = ["metric", "system", *names]
    texts = frozenset(header[:2])
    return Grid(
        grid.title, header, rows, grid.notes, texts, ditto=texts, best=frozenset(best), labels=2
    )


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
            low, high = (format_difference(end, table.digits) for end in (d.low, d.high))
            rows.append(
                [
                    table.reports[0].name_score(score) if test is tests[0] else "",
                    *(Whole(table.names[i]) for i in (test.first, test.second)),
                    format_difference(d.value, table.digits),
                    NOTHING if math.isnan(d.low) else f"{low} to {high}",
                    format_p_value(test.p_corrected),
                ]
            )
    notes = [
        "Differences (diff.) are second minus first; their intervals are not corrected. p-values are of approximate "
        "randomization (p rand.)."
    ]
    texts, ditto, best = (
        frozenset({"first", "second"}),
        frozenset({"score"}),
        frozenset(significant),
    )
    return Grid(
        "All pairs of systems", header, rows, notes, texts, ditto=ditto, best=best, labels=3
    )


def _list_notes(table: SystemsTable, style: Style) -> Iterator[str]:
    """Yield the sentences below the table."""
    if style != "table" and len(table.names) > 1:
        yield "Best scores are bold."
    yield from _note_marks(table)
    drawn = table.resampling
    counted = next(
        (report for report, has in zip(table.reports, table.has_counts, strict=True) if has), None
    )
    if table.tests and counted is not None:
        n_tests = max(map(table.count_tests, table.scores))
        yield (
            f"Paired approximate randomization over {pluralize(counted.total.n_blocks, counted.resampling_unit)}, "
            f"{drawn.n_resamples:,} resamples, seed {drawn.seed}; p-values are two-sided and corrected "
            f"for {pluralize(n_tests, 'comparison')} in each score (all pairs) by Holm's method."
        )
        yield from warn_of_few_resamples(drawn.n_resamples, n_tests, table.alpha)
    elif sum(table.has_counts) > 1 and counted is not None:
        yield from warn_of_few_blocks(counted)
    if table.intervals != "none" and drawn.n_resamples:
        yield from _note_intervals(table, counted)
    if any(report.scores[score].undefined for report in table.reports for score in table.scores):
        yield SET_BY_CONVENTION
    if table.usage:
        yield "Answered: the percentage of answers that could be read. Tokens and costs are those of the whole run."
    for score, names in (table.lacking or {}).items():
        yield f"No column for {score}, which is not in {_join(names)}."
    yield from name_options(table.reports[0])


def _note_marks(table: SystemsTable) -> Iterator[str]:
    """Yield the meaning of the marks in this table, or why it has none."""
    standings = [standing for score in table.tests for standing in table.standings[score]]
    if "close" in standings:
        yield f"† Not significantly different from the best (p > {table.alpha:g})."
    elif "worse" in standings:
        others = "tested" if "untested" in standings else "others"
        yield f"All {others} are significantly worse than the best (p ≤ {table.alpha:g})."
    reports = [
        name
        for name, has_counts in zip(table.names, table.has_counts, strict=True)
        if not has_counts
    ]
    if "untested" in standings:
        reasons = (
            [f"tests need counts, and there is only a report of {_join(reports)}"]
            if reports
            else []
        )
        least = [
            min_p_value(table.resampling.n_resamples, table.count_tests(score))
            for score in table.tests
        ]
        reasons += ["there are too few resamples (see below)"] if max(least) > table.alpha else []
        need = "" if reasons else ", which needs scores in all resamples"
        yield f"‡ Not tested against the best{need}{': ' if reasons else ''}{'; '.join(reasons)}."
    elif reports and not table.tests and len(table.names) > 1:
        yield f"No tests: they need the counts of two systems, and there is only a report of {_join(reports)}."


def _note_intervals(table: SystemsTable, counted: Report | None) -> Iterator[str]:
    """Yield notes on how intervals were computed, and on reports whose intervals differ."""
    drawn, what = (
        table.resampling,
        "Intervals" if table.intervals == "range" else "±: half the width of intervals",
    )
    yield (
        f"{what}: {100 * drawn.confidence:g}%, {drawn.title} over {table.reports[0].resampling_unit}s, "
        f"{drawn.n_resamples:,} resamples, seed {drawn.seed}."
    )
    if table.tests and counted is not None:  # otherwise the notes of tests say so
        yield from warn_of_few_blocks(counted)
    for name, report, has_counts in zip(table.names, table.reports, table.has_counts, strict=True):
        own = report.resampling
        if has_counts or own == drawn:
            continue
        kind = "" if own.interval == drawn.interval else f"{own.title}, "
        found = f"{100 * own.confidence:g}%, {kind}{own.n_resamples:,} resamples, seed {own.seed}"
        if not own.n_resamples:
            yield f"The report of {quote(name)} has no intervals."
        elif own.confidence != drawn.confidence:
            yield f"No intervals of {quote(name)}: those of its report have another confidence level ({found})."
        else:
            yield f"The intervals of {quote(name)} are those of its report ({found})."


def _join(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(map(quote, names[:-1])), quote(names[-1])]))


def _draw_cell(table: SystemsTable, score: str, system: int) -> str:
    value, sign, interval = map(escape_latex, _format_cell(table, score, system))
    if table.standings[score][system] == "best" and len(table.names) > 1:
        value = rf"\textbf{{{value}}}"
    if table.intervals == "none":
        return value + (rf"\rlap{{{sign}}}" if sign else "")
    return f"{value} & {interval}{sign}"


def _draw_float(
    align: str,
    header: Iterable[str],
    rows: Iterable[Sequence[str]],
    title: str,
    notes: Sequence[str],
) -> str:
    caption = " ".join([f"{title}."] * bool(title) + list(notes))
    body = ["\\toprule", *header, "\\midrule", *map(_join_cells, rows), "\\bottomrule"]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{align}}}",
        *body,
        r"\end{tabular}",
    ]
    return "\n".join([*lines, rf"\caption{{{escape_latex(caption)}}}", r"\end{table}", ""])


def _join_cells(cells: Iterable[str]) -> str:
    return guard_latex_rows(" & ".join(cells) + r" \\")


def _draw_header(table: SystemsTable, size: int) -> Iterator[str]:
    """Yield the lines of the header: one, or two and the rules between them if scores share a heading."""

    def span(text: str, width: int) -> str:
        shown = escape_latex(text)
        return shown if width == 1 else rf"\multicolumn{{{width}}}{{c}}{{{shown}}}"

    titles, more = (
        [table.reports[0].name_score(score) for score in table.scores],
        list(_list_usage(table)),
    )
    ends = [next((end for end in HEADINGS if title.endswith(end)), "") for title in titles]
    families = [
        title.removesuffix(end) if end else "" for title, end in zip(titles, ends, strict=True)
    ]
    groups = [(family, len(list(group))) for family, group in groupby(families)]
    if all(n == 1 for family, n in groups if family):
        yield _join_cells(
            ["System", *(span(title, size) for title in titles), *map(escape_latex, more)]
        )
        return
    # Scores without a heading have a column each.
    groups = [one for family, n in groups for one in ([(family, n)] if family else [("", 1)] * n)]
    yield _join_cells(["", *(span(family, n * size) for family, n in groups), *[""] * len(more)])
    rules, place = [], 2
    for family, n in groups:
        if family:
            rules.append(rf"\cmidrule(lr){{{place}-{place + n * size - 1}}}")
        place += n * size
    yield " ".join(rules)
    parts = [HEADINGS.get(end, title) for title, end in zip(titles, ends, strict=True)]
    yield _join_cells(["System", *(span(part, size) for part in parts), *map(escape_latex, more)])
