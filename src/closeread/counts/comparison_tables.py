"""The tables of systems compared: differences from a baseline, or all systems with marks, and the tests of all pairs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from closeread.counts.estimates import SMALL, min_p_value, min_resamples, number_or_none
from closeread.counts.latex import split_title
from closeread.counts.metrics import PARTS
from closeread.counts.report import (
    SET_BY_CONVENTION,
    Report,
    format_star,
    make_title,
    name_options,
    warn_of_few_blocks,
)
from closeread.counts.resampling import POWER, Difference
from closeread.exceptions import choose_words, escape_line, join_all, pluralize, quote
from closeread.tables import NOTHING, Grid, Style, Whole, percent, transpose

if TYPE_CHECKING:
    from closeread.counts.comparison import Comparison, PairTest, Standing

MARKS = {"close": "†", "untested": "‡"}
"""The marks of scores that are not significantly different from the best, and of those that were not tested."""

USAGE_TITLES = {
    "answered": "answered",
    "input_tokens": "tokens in",
    "output_tokens": "tokens out",
    "cost": "cost ($)",
}
"""The titles of the columns of what a run took."""


def make_difference_grid(comparison: Comparison) -> Grid:
    """Return the table of two systems, with a row for each score."""
    first_report, second_report = comparison.reports
    header = ["metric", "diff.", _name_interval(comparison), "p rand.", "p boot."]
    if comparison.power:
        header.append("detectable")
    rows = []
    tests = []
    for score, (test,) in comparison.tests.items():
        cells = [
            first_report.name_score(score),
            percent(first_report.scores[score].value),
            percent(second_report.scores[score].value),
            *_format_difference(test.difference),
            format_p_value(test.p_value("p_randomization")),
            format_p_value(test.p_value("p_bootstrap")),
        ]
        if comparison.power:
            cells.append(percent(number_or_none(test.difference.detectable)))
        rows.append(cells)
        tests.append(test)
    notes = _note_paired_tests(comparison)
    return _make_paired_grid(comparison, make_title(first_report), header, rows, tests, notes)


def make_group_difference_grid(comparison: Comparison) -> Grid:
    """Return the table of two systems in the main score, with a row for each group, and their mean last."""
    score = comparison.main_score
    tests = {group: test for group, (test,) in comparison.group_tests.items()}
    tests["mean"] = comparison.tests[score][0]
    rows: list[list[str]] = []
    for group, test in tests.items():
        is_mean = len(rows) == len(comparison.group_tests)
        cells: list[str] = [Whole(group)]
        for report in comparison.reports:
            part = report.total if is_mean else report.groups[group]
            estimate = part.scores[score]
            cells.append(percent(estimate.value) + format_star(estimate))
        cells += _format_difference(test.difference)
        cells.append(format_p_value(test.p_corrected))
        rows.append(cells)
    corrected = ""
    if comparison.correction != "none":
        n_tested = sum(not math.isnan(test.p_corrected) for test in tests.values()) - 1
        corrected = f", corrected for {pluralize(n_tested, 'group')} by Holm's method"
    notes = [f"p-values of groups are of approximate randomization in the group alone{corrected}."]
    title = comparison.reports[0].name_score(score)
    header = ["group", "diff.", _name_interval(comparison), "p rand."]
    return _make_paired_grid(comparison, title, header, rows, list(tests.values()), notes)


def _make_paired_grid(
    comparison: Comparison,
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    tests: Sequence[PairTest],
    notes: Sequence[str],
) -> Grid:
    """Return a table with a column for each of two systems after the first one, and a row for each test.

    The better score of a row is emphasized; a narrow terminal has the names of the systems below the table.
    """
    best = set()
    for row, test in enumerate(tests):
        if test.difference.value > 0:
            best.add((row, 2))
        elif test.difference.value < 0:
            best.add((row, 1))
    label, *columns = header
    first, second = (Whole(escape_line(name)) for name in comparison.names)
    grid = Grid(
        title,
        [label, first, second, *columns],
        rows,
        notes,
        texts=frozenset({label}),
        prose=frozenset({"metric"}),
        best=frozenset(best),
        labels=1,
    )
    names = Whole(f"First: {first}; second: {second}.")
    header = [label, "first", "second", *columns]
    return replace(grid, narrower=replace(grid, header=header, notes=[names, *notes]))


def make_group_system_grid(comparison: Comparison, style: Style) -> Grid:
    """Return the table of all systems in the main score, with a column for each group, and their mean last."""
    score = comparison.main_score
    *_, means = _list_columns(replace(comparison, intervals="none"), style)
    columns = []
    best = set()
    standings: set[Standing] = set()
    for number, group in enumerate(comparison.groups, 1):
        estimates = comparison.list_estimates(score, group)
        marks = list(map(format_star, estimates))
        if comparison.group_tests:
            for system in range(len(estimates)):
                standing = comparison.find_standing(score, system, group)
                standings.add(standing)
                marks[system] += MARKS.get(standing, "")
        # In a terminal, decimal points are below each other.
        width = max(map(len, marks)) if style == "table" else 0
        cells = []
        for estimate, mark in zip(estimates, marks, strict=True):
            cells.append(f"{percent(estimate.value, comparison.digits)}{mark:{width}}")
        columns.append(cells)
        best |= {(system, number) for system in comparison.find_best(score, group)}
    columns.append(means)
    best |= {(system, len(columns)) for system in comparison.find_best(score)}
    title = comparison.reports[0].name_score(score)
    notes = list(_note_group_marks(comparison, standings))
    return _make_systems_grid(comparison, title, [*comparison.groups, "mean"], columns, best, notes)


def _make_systems_grid(
    comparison: Comparison,
    title: str,
    header: Sequence[str],
    columns: Sequence[Sequence[str]],
    best: Collection[tuple[int, int]],
    notes: Sequence[str],
) -> Grid:
    """Return a table with a row for each system; a single one has nothing to be better than."""
    rows = [[Whole(name), *cells] for name, *cells in zip(comparison.names, *columns, strict=True)]
    if len(rows) < 2:
        best = ()
    texts = frozenset({"system"})
    return Grid(title, ["system", *header], rows, notes, texts, best=frozenset(best), labels=1)


def _note_group_marks(comparison: Comparison, standings: Collection[Standing]) -> Iterator[str]:
    """Yield what the marks of scores in groups mean, or that there are none."""
    tests = list(chain.from_iterable(comparison.group_tests.values()))
    corrected = ""
    if comparison.correction != "none":
        n_tests = sum(not math.isnan(test.p_corrected) for test in tests)
        corrected = f", corrected for {pluralize(n_tests, 'comparison')} by Holm's method"
    where = f"(p > {comparison.alpha:g} by approximate randomization in the group alone{corrected})"
    if "close" in standings:
        yield f"† In a group: not significantly different from the best {where}."
    elif "worse" in standings:
        where = where.replace(">", "≤")
        yield f"In each group, all others are significantly worse than the best {where}."
    if "untested" in standings:
        yield "‡ In a group: not tested against the best."


def _note_paired_tests(comparison: Comparison) -> list[str]:
    """Return the sentences below the table of two systems."""
    report = comparison.reports[0]
    resampling = comparison.resampling
    n_tests = max(comparison.n_tests.values())
    correction = ""
    if comparison.correction == "none":
        correction = " and not corrected for multiple comparisons"
    elif n_tests:
        comparisons = pluralize(n_tests, "comparison")
        correction = f" and corrected for {comparisons} by Holm's method"
    notes = [
        f"Paired tests over {_count_blocks(report)} by approximate randomization (p rand.) and bootstrap (p boot.), "
        f"{resampling.n_resamples:,} resamples, seed {resampling.seed}; p-values are two-sided{correction}."
    ]
    if resampling.interval != "percentile":
        notes.append(f"Intervals: {resampling.title}.")
    if comparison.power:
        notes.append(
            f"Detectable: the true difference that is significant in {POWER:.0%} of such test sets (single test at "
            f"{1 - resampling.confidence:g})."
        )
    notes += warn_of_few_resamples(resampling.n_resamples, n_tests)
    notes += warn_of_few_blocks(report, "; prefer the p-value of the randomization test")
    return [*notes, *name_options(report)]


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


def _count_blocks(report: Report) -> str:
    return pluralize(report.total.n_blocks, report.resampling_unit)


def _name_interval(comparison: Comparison) -> str:
    return f"{100 * comparison.resampling.confidence:g}% interval"


def format_points(value: float, digits: int = 2) -> str:
    """Format a difference of scores times 100, with its sign."""
    return NOTHING if math.isnan(value) else f"{100 * value:+.{digits}f}"


def _format_difference(difference: Difference, digits: int = 2) -> list[str]:
    """Return the cells of a difference and its interval."""
    interval = NOTHING
    if not math.isnan(difference.low):
        high = format_points(difference.high, digits)
        interval = f"{format_points(difference.low, digits)} to {high}"
    return [format_points(difference.value, digits), interval]


def format_p_value(p: float) -> str:
    """Format a p-value with four decimals; they are never 0."""
    if math.isnan(p):
        return NOTHING
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"


def make_system_grids(comparison: Comparison, style: Style) -> list[Grid]:
    """Return the table of all systems and, if they are to be shown, the tests of all pairs, laid out for a style."""
    usage = _list_usage(comparison)
    header = [*map(comparison.reports[0].name_score, comparison.scores), *usage]
    columns = [*_list_columns(comparison, style), *usage.values()]
    best = set()
    for column, score in enumerate(comparison.scores, 1):
        best |= {(row, column) for row in comparison.find_best(score)}
    title = make_title(comparison.reports[0])
    notes = list(_list_notes(comparison, style))
    grid = _make_systems_grid(comparison, title, header, columns, best, notes)
    grids = [replace(grid, narrower=transpose(grid, "score"))]
    has_parts = any(score.endswith(PARTS) for score in comparison.scores)
    if style == "table" and has_parts and not usage:
        grids = [_stack_metrics(grid)]
    if comparison.pairs and any(comparison.tests.values()):
        grids.append(make_pair_grid(comparison))
    return grids


def _list_columns(comparison: Comparison, style: Style) -> Iterator[list[str]]:
    """Yield the cells of each score; in a terminal, decimal points are below each other, whatever the score."""
    marks_by_score = {}
    for score in comparison.scores:
        standings = comparison.standings[score]
        are_tested = bool(comparison.tests.get(score))
        marks_by_score[score] = [
            format_star(report.scores[score]) + (MARKS.get(standing, "") if are_tested else "")
            for report, standing in zip(comparison.reports, standings, strict=True)
        ]
    width = 0
    if style == "table":
        width = max(map(len, chain.from_iterable(marks_by_score.values())))
    for score, marks in marks_by_score.items():
        cells = []
        for report, mark in zip(comparison.reports, marks, strict=True):
            cell = percent(report.scores[score].value, comparison.digits)
            if cell != NOTHING:
                cell += f"{mark:{width}}{_format_interval(comparison, report, score)}"
            cells.append(cell)
        yield cells


def _format_interval(comparison: Comparison, report: Report, score: str) -> str:
    """Return the interval of a score after a space; nothing if it is not shown."""
    low, high = report.scores[score].low, report.scores[score].high
    has_level = report.resampling.confidence == comparison.resampling.confidence
    if not report.resampling.n_resamples or not has_level or low is None or high is None:
        return ""
    digits = comparison.digits
    match comparison.intervals:
        case "range":
            return f" [{percent(low, digits)}, {percent(high, digits)}]"
        case "plus-minus":
            return f" ± {percent((high - low) / 2, digits)}"
    return ""


def _list_usage(comparison: Comparison) -> dict[str, list[str]]:
    """Return the columns of what runs of language models took, by their titles, as far as it is known."""
    columns = {}
    for name, title in USAGE_TITLES.items():
        numbers = [getattr(comparison.usage.get(system), name, None) for system in comparison.names]
        if any(number is not None for number in numbers):
            columns[title] = [_format_usage(name, number, comparison.digits) for number in numbers]
    return columns


def _format_usage(name: str, number: float | None, digits: int) -> str:
    if number is None:
        return NOTHING
    if name == "answered":
        return percent(number, digits)
    return f"{number:.2f}" if name == "cost" else f"{number:,}"


def _stack_metrics(grid: Grid) -> Grid:
    """Return a table with a row for each metric and system, and columns for precision, recall and F1."""
    columns_by_metric: dict[str, dict[str, int]] = {}
    parts: dict[str, None] = {}
    for column, title in enumerate(grid.header[1:], 1):
        metric, part = split_title(title)
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
    texts = frozenset({"metric", "system"})
    header = [*sorted(texts), *parts]
    return replace(
        grid, header=header, rows=rows, texts=texts, ditto=texts, best=frozenset(best), labels=2
    )


def make_pair_grid(comparison: Comparison) -> Grid:
    """Return the tests of all pairs of systems, significant ones in bold."""
    header = ["score", "first", "second", "diff.", _name_interval(comparison), "p rand."]
    rows: list[list[str]] = []
    significant = set()
    for score, tests in comparison.tests.items():
        title = comparison.reports[0].name_score(score)
        for test in tests:
            if test.p_corrected <= comparison.alpha:
                significant.add((len(rows), header.index("p rand.")))
            names = [Whole(comparison.names[system]) for system in (test.first, test.second)]
            cells = _format_difference(test.difference, comparison.digits)
            rows.append([title, *names, *cells, format_p_value(test.p_corrected)])
            title = ""
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


def _list_notes(comparison: Comparison, style: Style) -> Iterator[str]:
    """Yield the sentences below the table of all systems."""
    if style != "table" and len(comparison.names) > 1:
        yield "Best scores are bold."
    yield from _note_marks(comparison)
    drawn = comparison.resampling
    counted = [
        report
        for report, has_counts in zip(comparison.reports, comparison.has_counts, strict=True)
        if has_counts
    ]
    if comparison.tests:
        n_tests = max(comparison.n_tests.values())
        yield (
            f"Paired approximate randomization over {_count_blocks(counted[0])}, {drawn.n_resamples:,} resamples, "
            f"seed {drawn.seed}; p-values are two-sided and corrected for {pluralize(n_tests, 'comparison')} in each "
            "score (all pairs) by Holm's method."
        )
        yield from warn_of_few_resamples(drawn.n_resamples, n_tests, comparison.alpha)
    elif len(counted) > 1:
        yield from warn_of_few_blocks(counted[0])
    if comparison.intervals != "none" and drawn.n_resamples:
        intervals = "Intervals"
        if comparison.intervals == "plus-minus":
            intervals = "±: half the width of intervals"
        yield (
            f"{intervals}: {100 * drawn.confidence:g}%, {drawn.title} over {comparison.reports[0].resampling_unit}s, "
            f"{drawn.n_resamples:,} resamples, seed {drawn.seed}."
        )
        if comparison.tests:  # otherwise the notes of tests say so
            yield from warn_of_few_blocks(counted[0])
        yield from _note_other_intervals(comparison)
    estimates = [
        report.scores[score] for report in comparison.reports for score in comparison.scores
    ]
    if any(estimate.undefined for estimate in estimates):
        yield SET_BY_CONVENTION
    if comparison.usage:
        yield "Answered: the percentage of answers that could be read. Tokens and costs are those of the whole run."
    for score, names in comparison.lacking.items():
        yield f"No column for {score}, which is not in {join_all(map(quote, names))}."
    yield from name_options(comparison.reports[0])


def _note_marks(comparison: Comparison) -> Iterator[str]:
    """Yield the meaning of the marks in this table, or why it has none."""
    standings: set[Standing] = set()
    for score in comparison.tests:
        standings.update(comparison.standings[score])
    if "close" in standings:
        yield f"† Not significantly different from the best (p > {comparison.alpha:g})."
    elif "worse" in standings:
        others = "tested" if "untested" in standings else "others"
        yield f"All {others} are significantly worse than the best (p ≤ {comparison.alpha:g})."
    only_reports = [
        name
        for name, has_counts in zip(comparison.names, comparison.has_counts, strict=True)
        if not has_counts
    ]
    if "untested" in standings:
        reasons = []
        if only_reports:
            reasons.append(
                f"tests need counts, and there is only a report of {join_all(map(quote, only_reports))}"
            )
        n_tests = max(comparison.n_tests.values())
        if min_p_value(comparison.resampling.n_resamples, n_tests) > comparison.alpha:
            reasons.append("there are too few resamples (see below)")
        why = ", which needs scores in all resamples"
        if reasons:
            why = f": {'; '.join(reasons)}"
        yield f"‡ Not tested against the best{why}."
    elif only_reports and not comparison.tests and len(comparison.names) > 1:
        reports = join_all(map(quote, only_reports))
        yield f"No tests: they need the counts of two systems, and there is only a report of {reports}."


def _note_other_intervals(comparison: Comparison) -> Iterator[str]:
    """Yield notes on reports whose intervals differ."""
    resampling = comparison.resampling
    for name, report, has_counts in zip(
        comparison.names, comparison.reports, comparison.has_counts, strict=True
    ):
        drawn = report.resampling
        if has_counts or drawn == resampling:
            continue
        how = f"{100 * drawn.confidence:g}%, "
        if drawn.interval != resampling.interval:
            how += f"{drawn.title}, "
        how += f"{drawn.n_resamples:,} resamples, seed {drawn.seed}"
        if not drawn.n_resamples:
            yield f"The report of {quote(name)} has no intervals."
        elif drawn.confidence != resampling.confidence:
            yield f"No intervals of {quote(name)}: those of its report have another confidence level ({how})."
        else:
            yield f"The intervals of {quote(name)} are those of its report ({how})."
