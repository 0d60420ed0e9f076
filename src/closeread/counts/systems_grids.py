"""Tables of many systems as grids and as rows of data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from closeread.counts.estimates import Estimate
from closeread.counts.grids import (
    format_p_value,
    format_star,
    make_title,
    name_options,
    warn_of_few_blocks,
    warn_of_few_resamples,
)
from closeread.counts.rendering import NOTHING, Grid, Style, Whole, percent, transpose
from closeread.counts.systems_table import PairTest, SystemsTable
from closeread.exceptions import pluralize, quote

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
