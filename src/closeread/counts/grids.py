"""Results as tables.

Conventions: rows (CSV) have ratios in full precision; grids (all other tables) have scores times 100, with two
decimals if not told otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from closeread.counts.comparison import Comparison, PValues
from closeread.counts.estimates import Estimate, Scores
from closeread.counts.multiple_testing import SMALL, find_enough, find_least
from closeread.counts.procedure import Procedure
from closeread.counts.rendering import NOTHING, Grid, Style, Whole, percent, transpose
from closeread.counts.report import Report
from closeread.exceptions import escape_line, pluralize
from closeread.wording import choose_words

PARTS = ("precision", "recall")
ENOUGH_BLOCKS = 30
"""From this number on, bootstrap intervals and p-values are close to nominal (`benchmarks/coverage.py`)."""

"""A usual level of significance."""

SET_BY_CONVENTION = "* This score is 0/0; its value is set by convention."

UNCORRECTED = PValues(math.nan, math.nan)


def report_grid(report: Report, style: Style = "table", *, digits: int = 2) -> Grid:
    """Return the table of a report: scores and intervals for all units and every slice, with a row for each metric.

    Precision, recall and F1 of a metric share a row, with the interval of F1.  In a terminal, which is too narrow for
    another column, the name of a slice then has a row above its metrics, and so has the field.
    """
    groups = _list_groups(report)
    units, blocks = f"{report.unit}s", f"{report.resampling_unit}s"
    drawn = report.resampling.n_resamples > 0
    interval = [f"{100 * report.resampling.confidence:g}% interval"] if drawn else []
    # If units are blocks, one column is enough.
    sizes = [units, blocks] if units != blocks else [units]
    parted = any(name.endswith(PARTS) for name in report.total.scores)
    scores_header = ["precision", "recall", "F1"] if parted else ["score"]
    stacked = bool(report.slices) and parted and style == "table"
    sliced = bool(report.slices) and not stacked
    rows: list[list[str]] = []
    for i, (field, value, scores) in enumerate(groups):
        name, n = _name_slice(field, value, report), [f"{scores.n_units:,}", f"{scores.n_blocks:,}"][: len(sizes)]
        if stacked:
            blank = [""] * len([*scores_header, *interval])
            if field and field != groups[i - 1][0]:
                rows.append([f"by {field}", *blank, *[""] * len(sizes)])
            rows.append([value, *blank, *n])
        for position, (metric, estimate) in enumerate(_select_rows(scores)):
            is_first = position == 0
            title = report.name_score(metric)
            title = title.removesuffix(" F1").removesuffix("/f1") if parted else title + format_star(estimate)
            rows.append(
                [
                    *([name if is_first else ""] if sliced else []),
                    f"  {title}" if stacked else title,
                    *(
                        [_format_score(scores, f"{metric.removesuffix('f1')}{part}", digits) for part in PARTS]
                        if parted
                        else []
                    ),
                    percent(estimate.value, digits) + (format_star(estimate) if parted else ""),
                    *([format_interval(estimate, digits)] if drawn else []),
                    *(n if is_first and not stacked else [""] * len(sizes)),
                ]
            )
    header = [*(["slice"] if sliced else []), "metric", *scores_header, *interval, *sizes]
    grid = Grid(
        make_title(report),
        header,
        rows,
        _make_notes(report, groups),
        prose=frozenset({"metric"}),
        ditto=frozenset() if stacked else frozenset({"slice", *sizes}),
        labels=header.index("metric") + 1,
    )
    return grid if sliced else replace(grid, narrower=_drop_sizes(grid, len(sizes)))


def _drop_sizes(grid: Grid, number: int) -> Grid:
    """Return the table of a report without its last columns, which say how many units there are, but with a note.

    The rows of slices have their numbers of units in parentheses.
    """
    sizes = grid.header[-number:]

    def describe(cells: Sequence[str]) -> str:
        return ", ".join(
            f"{n} {name.removesuffix('s') if n == '1' else name}" for n, name in zip(cells, sizes, strict=True)
        )

    rows = [[*row[:-number]] for row in grid.rows]
    notes = list(grid.notes)
    for row, whole in zip(rows, grid.rows, strict=True):
        if not any(whole[-number:]):
            continue
        if any(row[1:]):
            notes.insert(0, f"{describe(whole[-number:])}.")
        else:
            row[0] += f" ({describe(whole[-number:])})"
    return replace(grid, header=grid.header[:-number], rows=rows, notes=notes, ditto=frozenset())


def _select_rows(scores: Scores) -> list[tuple[str, Estimate]]:
    """Return the scores with a row of their own: all but precision and recall."""
    return [(name, estimate) for name, estimate in scores.scores.items() if not name.endswith(PARTS)]


def _format_score(scores: Scores, name: str, digits: int) -> str:
    """Format a score that shares a row; an empty cell if there is none."""
    estimate = scores.scores.get(name)
    return "" if estimate is None else percent(estimate.value, digits) + format_star(estimate)


def format_star(estimate: Estimate) -> str:
    """Return the mark of a score that is set by convention."""
    return "*" if estimate.undefined else ""


def _name_slice(field: str, value: str, report: Report) -> str:
    """Return the name of a slice: its value, with the field if there are several."""
    return f"{field}: {value}" if field and len(report.slices) > 1 else value


def make_title(report: Report) -> str:
    """Return the part of the corpus that was scored."""
    p = report.provenance
    title = " ".join(part for part in (p.corpus, p.config, p.split) if part and part != "default")
    return f"{title} (not the released gold)" if p.released is False else title


def warn_of_few_blocks(report: Report, advice: str = "") -> list[str]:
    """Return a warning if there are too few blocks for resampling."""
    n_blocks = report.total.n_blocks
    if not report.resampling.n_resamples or n_blocks >= ENOUGH_BLOCKS:
        return []
    blocks = pluralize(n_blocks, report.resampling_unit)
    if n_blocks <= 1:
        return [f"With only {blocks}, there is nothing to resample."]
    return [f"With only {blocks}, bootstrap intervals are too narrow{advice}."]


def _make_notes(report: Report, groups: Sequence[tuple[str, str, Scores]]) -> list[str]:
    notes = []
    drawing = report.resampling
    if drawing.n_resamples:
        notes.append(
            f"Intervals: percentile bootstrap over {report.resampling_unit}s, "
            f"{drawing.n_resamples:,} resamples, seed {drawing.seed}."
        )
    notes += warn_of_few_blocks(report)
    if report.provenance.missing:
        treatment = "skipped" if report.provenance.options.get("missing") == "skip" else "scored as empty"
        notes.append(f"No prediction for {pluralize(report.provenance.missing, 'gold record')} ({treatment}).")
    if any(e.undefined for _, _, scores in groups for e in scores.scores.values()):
        notes.append(SET_BY_CONVENTION)
    return [*notes, *name_options(report)]


def _list_groups(report: Report) -> list[tuple[str, str, Scores]]:
    """Return field, value and scores of all units, and of every slice."""
    slices = [(field, value, scores) for field, values in report.slices.items() for value, scores in values.items()]
    return [("", "all", report.total), *slices]


def name_options(report: Report) -> list[str]:
    """Return the name of the preset that the options are, if they are one, and the signature."""
    preset = [f"Preset: {report.preset}."] if report.preset else []
    return [*preset, Whole(f"Signature: {report.provenance.signature}")]


def report_rows(report: Report) -> tuple[list[str], list[list[object]]]:
    """Return header and rows of a report as tidy CSV: a row for each metric and slice, ratios in full precision."""
    header = [
        "field",
        "value",
        "metric",
        "score",
        "low",
        "high",
        "undefined",
        "n_units",
        "n_blocks",
        "signature",
    ]
    groups = _list_groups(report)
    return header, [
        [
            field,
            value,
            name,
            e.value,
            e.low,
            e.high,
            e.undefined,
            s.n_units,
            s.n_blocks,
            report.provenance.signature,
        ]
        for field, value, s in groups
        for name, e in s.scores.items()
    ]


def comparison_grid(comparison: Comparison) -> Grid:
    """Return the table of a comparison: two systems and their difference, with a row for each metric."""
    drawing, corrected = comparison.first.resampling, comparison.corrected
    first, second = (Whole(escape_line(name)) for name in comparison.names)
    interval = f"{100 * drawing.confidence:g}% interval"
    header = ["metric", first, second, "diff.", interval, "p rand.", "p boot."]
    rows = []
    for metric, d in comparison.differences.items():
        p = d if corrected is None else corrected.p_values[metric]
        rows.append(
            [
                comparison.first.name_score(metric),
                percent(comparison.first.total.scores[metric].value),
                percent(comparison.second.total.scores[metric].value),
                _format_difference(d.value),
                NOTHING if math.isnan(d.low) else f"{_format_difference(d.low)} to {_format_difference(d.high)}",
                format_p_value(p.p_randomization),
                format_p_value(p.p_bootstrap),
            ]
        )
    notes = [
        f"Paired tests over {pluralize(comparison.first.total.n_blocks, comparison.first.resampling_unit)} by "
        f"approximate randomization (p rand.) and bootstrap (p boot.), {drawing.n_resamples:,} resamples, "
        f"seed {drawing.seed}; p-values are two-sided"
        f"{_name_correction(comparison)}.",
        *warn_of_few_resamples(drawing.n_resamples, 0 if corrected is None else corrected.n_tests),
        *warn_of_few_blocks(comparison.first, "; prefer the p-value of the randomization test"),
        *name_options(comparison.first),
    ]
    grid = Grid(
        make_title(comparison.first),
        header,
        rows,
        notes,
        prose=frozenset({"metric"}),
        best=frozenset(_find_best(comparison)),
        labels=1,
    )
    named = f"First: {first}; second: {second}."
    header = ["metric", "first", "second", *header[3:]]
    return replace(grid, narrower=replace(grid, header=header, notes=[Whole(named), *notes]))


def _name_correction(comparison: Comparison) -> str:
    corrected = comparison.corrected
    if corrected is None:
        return " and not corrected for multiple comparisons"
    if not corrected.n_tests:
        return ""
    return f" and corrected for {pluralize(corrected.n_tests, 'comparison')} by Holm's method"


def warn_of_few_resamples(n_resamples: int, n_tests: int, alpha: float = SMALL) -> list[str]:
    """Return a warning if no corrected p-value could be significant, so that there are none."""
    least = find_least(n_resamples, n_tests)
    if least <= alpha:
        return []
    enough, option = find_enough(n_tests, alpha), choose_words("--resamples", "resampling=")
    return [
        f"Not tested: after correction for {pluralize(n_tests, 'comparison')}, {n_resamples:,} resamples give no "
        f"p-value below {format_p_value(least)}, so they can't decide anything; use {enough:,} or more ({option})."
    ]


def _find_best(comparison: Comparison) -> Iterator[tuple[int, int]]:
    """Yield the cell of the better system for each metric; none if both are equally good."""
    for row, difference in enumerate(comparison.differences.values()):
        if difference.value and not math.isnan(difference.value):
            yield row, 2 if difference.value > 0 else 1


def comparison_rows(comparison: Comparison) -> tuple[list[str], list[list[object]]]:
    """Return header and rows of a comparison as CSV, ratios in full precision."""
    header = ["first", "second", "metric", "first_score", "second_score"]
    header += ["difference", "low", "high", "p_bootstrap", "p_randomization", "signature"]
    header += ["p_bootstrap_corrected", "p_randomization_corrected"]
    corrected = {} if comparison.corrected is None else comparison.corrected.p_values
    rows: list[list[object]] = [
        [
            *comparison.names,
            name,
            comparison.first.total.scores[name].value,
            comparison.second.total.scores[name].value,
            *(None if math.isnan(value) else value for value in d),
            comparison.first.provenance.signature,
            *(None if math.isnan(p) else p for p in corrected.get(name, UNCORRECTED)),
        ]
        for name, d in comparison.differences.items()
    ]
    return header, rows


def units_grid(
    rows: Sequence[Mapping[str, object]], procedure: Procedure, *, with_counts: bool = False, digits: int = 2
) -> Grid:
    """Return a table of units: their ids and scores, under the titles of the table of all units.

    Args:
        rows: the rows of `per_unit`.
        procedure: the procedure that counted.
        with_counts: whether to show what else is in the rows, too: blocks, fields and counts.
        digits: the number of decimals of scores.
    """
    titles = {metric.name: metric.title for metric in procedure.metrics}
    names = [procedure.unit, *titles]
    if with_counts and rows:
        names += [name for name in rows[0] if name not in names]
    cells = [[_format_value(row[name], digits if name in titles else None) for name in names] for row in rows]
    grid = Grid("", [titles.get(name, name) for name in names], cells, texts=frozenset({procedure.unit}), labels=1)
    return replace(grid, narrower=transpose(grid, procedure.unit))


def _format_value(value: object, digits: int | None) -> str:
    """Format a score in percent, with these decimals, or if that is None another number as it is, to six decimals."""
    if value is None:
        return NOTHING
    if not isinstance(value, float):
        return str(value)
    if digits is not None:
        return percent(value, digits)
    return f"{value:.0f}" if value == int(value) else f"{value:.6f}".rstrip("0")


def format_interval(estimate: Estimate, digits: int) -> str:
    """Return an interval times 100; a dash if there is none."""
    if estimate.low is None or estimate.high is None:
        return NOTHING
    return f"{percent(estimate.low, digits)} to {percent(estimate.high, digits)}"


def _format_difference(value: float) -> str:
    return NOTHING if math.isnan(value) else f"{100 * value:+.2f}"


def format_p_value(p: float) -> str:
    """Format a p-value with four decimals; they are never 0."""
    if math.isnan(p):
        return NOTHING
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"
