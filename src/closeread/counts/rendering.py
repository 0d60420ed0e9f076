"""Results as tables: for a terminal, Markdown, LaTeX or CSV.

Conventions: tables for people show scores times 100 with two decimals; CSV shows ratios in full.
"""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from closeread.counts.procedure import Procedure
from closeread.counts.report import Comparison, Estimate, Report, Scores
from closeread.errors import escape, pluralize

if TYPE_CHECKING:
    from closeread.counts.paper_tables import Table

Style = Literal["table", "markdown", "latex"]
NOTHING = "–"
NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(e[+-]?[0-9]+)?[*%]?( .*)?")
"""A cell that begins with a number; a date or the name of a mention is none."""

PARTS = ("precision", "recall")
ENOUGH_BLOCKS = 30
"""From here on intervals and p-values of the bootstrap keep near what they promise (`benchmarks/coverage.py`)."""


@dataclass(frozen=True)
class Grid:
    """A table before it is drawn.

    Attributes:
        title: what stands above it; may be empty.
        header: the columns' names.
        rows: cells as text; numbers are right-aligned where a column holds nothing else.
        notes: sentences that stand below it.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


def draw(grid: Grid, style: Style) -> str:
    """The grid as text that ends with a newline."""
    if style == "table":
        return _terminal(grid)
    import tabulate

    rows = [[shown(cell) for cell in row] for row in grid.rows]
    if style == "latex":
        return (
            tabulate.tabulate(
                rows,
                grid.header,
                tablefmt="latex_booktabs",
                disable_numparse=True,
                colalign=_tabulate_align(grid),
            )
            + "\n"
            + "".join(f"% {shown(line)}\n" for line in (grid.title, *grid.notes) if line)
        )
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    body = tabulate.tabulate(rows, grid.header, tablefmt="pipe", disable_numparse=True, colalign=_tabulate_align(grid))
    parts = [f"**{grid.title}**"] if grid.title else []
    return "\n\n".join([*parts, body, *grid.notes]) + "\n"


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Comma-separated values."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def shown(text: str) -> str:
    r"""Untrusted text as it may stand in a table: on one line, and with nothing that could steer a terminal.

    >>> print(shown("a\n\x1b[31mb"))
    a\n\x1b[31mb
    """
    return escape(text).replace("\n", r"\n")


def report_grid(report: Report, procedure: Procedure) -> Grid:
    """Scores and intervals, one row a metric, for all units and every slice.

    Precision, recall and F1 of a metric share a row; the interval is that of F1.
    """
    groups = [("", "all", report.total)]
    groups += [(field, value, scores) for field, values in report.slices.items() for value, scores in values.items()]
    sliced = bool(report.slices)
    units, blocks = f"{report.unit}s", f"{report.resampling_unit}s"
    drawn = report.resampling.n_resamples > 0
    interval = [f"{100 * report.resampling.confidence:g} % interval"] if drawn else []
    # A sample that is resampled unit by unit need not be counted twice.
    sizes = [units, blocks] if units != blocks else [units]
    parted = any(name.endswith(PARTS) for name in report.total.scores)
    header = [*(["slice"] if sliced else []), "metric", *(["precision", "recall", "F1"] if parted else ["score"])]
    titles = {metric.name: metric.title for metric in procedure.metrics}
    rows = [
        [
            *([_slice(field, value, report) if position == 0 else ""] if sliced else []),
            titles[name].removesuffix(" F1") if parted else titles[name] + _star(estimate),
            *([_marked(scores, f"{name.removesuffix('f1')}{part}") for part in PARTS] if parted else []),
            percent(estimate.value) + (_star(estimate) if parted else ""),
            *([_interval(estimate)] if drawn else []),
            *([f"{scores.n_units:,}", f"{scores.n_blocks:,}"][: len(sizes)] if position == 0 else [""] * len(sizes)),
        ]
        for field, value, scores in groups
        for position, (name, estimate) in enumerate(_lines(scores))
    ]
    return Grid(_title(report), [*header, *interval, *sizes], rows, _report_notes(report, groups))


def _lines(scores: Scores) -> list[tuple[str, Estimate]]:
    """The scores that have a row of their own: all but precision and recall."""
    return [(name, estimate) for name, estimate in scores.scores.items() if not name.endswith(PARTS)]


def _marked(scores: Scores, name: str) -> str:
    """A score that shares a row; nothing where there is none."""
    estimate = scores.scores.get(name)
    return "" if estimate is None else percent(estimate.value) + _star(estimate)


def _star(estimate: Estimate) -> str:
    return "*" if estimate.undefined else ""


def _slice(field: str, value: str, report: Report) -> str:
    """The value, with its field where several fields are sliced by."""
    return f"{field}: {value}" if field and len(report.slices) > 1 else value


def _title(report: Report) -> str:
    p = report.provenance
    title = " ".join(part for part in (p.corpus, p.config, p.split) if part and part != "default")
    return f"{title} (not the released gold)" if p.released is False else title


def _few(report: Report, then: str = "") -> list[str]:
    """A warning where there are too few blocks for what resampling promises."""
    blocks = report.total.n_blocks
    if not report.resampling.n_resamples or blocks >= ENOUGH_BLOCKS:
        return []
    found = f"Only {pluralize(blocks, report.resampling_unit)}"
    if blocks <= 1:
        return [f"{found}: nothing to resample."]
    return [f"{found}: bootstrap intervals are too narrow{then}."]


def _report_notes(report: Report, groups: Sequence[tuple[str, str, Scores]]) -> list[str]:
    notes = []
    drawing = report.resampling
    if drawing.n_resamples:
        notes.append(
            f"Intervals: percentile bootstrap over {report.resampling_unit}s, "
            f"{drawing.n_resamples:,} resamples, seed {drawing.seed}."
        )
    notes += _few(report)
    if report.provenance.missing:
        how = report.provenance.options["missing"]
        notes.append(f"Without a prediction: {report.provenance.missing:,} (treated as: {how}).")
    if any(e.undefined for _, _, scores in groups for e in scores.scores.values()):
        notes.append("* is 0/0; the value is the procedure's convention.")
    notes.append(f"Signature: {report.provenance.signature}")
    return notes


def report_rows(report: Report) -> tuple[list[str], list[list[object]]]:
    """Header and rows of the report as tidy CSV: one row a metric and slice, ratios in full."""
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
    groups = [("", "all", report.total)]
    groups += [(field, value, scores) for field, values in report.slices.items() for value, scores in values.items()]
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


def comparison_grid(comparison: Comparison, procedure: Procedure) -> Grid:
    """Two systems and their difference, one row a metric."""
    drawing = comparison.first.resampling
    first, second = (shown(name) for name in comparison.names)
    interval = f"{100 * drawing.confidence:g} % interval"
    header = ["metric", first, second, "difference", interval, "p (randomization)", "p (bootstrap)"]
    rows = []
    for metric in procedure.metrics:
        d = comparison.differences[metric.name]
        rows.append(
            [
                metric.title,
                percent(comparison.first.total.scores[metric.name].value),
                percent(comparison.second.total.scores[metric.name].value),
                _signed(d.value),
                NOTHING if math.isnan(d.low) else f"{_signed(d.low)} to {_signed(d.high)}",
                _p_value(d.p_randomization),
                _p_value(d.p_bootstrap),
            ]
        )
    notes = [
        f"Paired over {pluralize(comparison.first.total.n_blocks, comparison.first.resampling_unit)}, "
        f"{drawing.n_resamples:,} resamples, seed {drawing.seed}; p-values are two-sided, "
        "and not corrected for several comparisons.",
        *_few(comparison.first, "; of the two p-values, trust the randomization test's"),
        f"Signature: {comparison.first.provenance.signature}",
    ]
    return Grid(_title(comparison.first), header, rows, notes)


def comparison_rows(comparison: Comparison) -> tuple[list[str], list[list[object]]]:
    """Header and rows of a comparison as CSV, ratios in full."""
    header = ["first", "second", "metric", "first_score", "second_score"]
    header += ["difference", "low", "high", "p_bootstrap", "p_randomization", "signature"]
    rows: list[list[object]] = [
        [
            *comparison.names,
            name,
            comparison.first.total.scores[name].value,
            comparison.second.total.scores[name].value,
            *(None if math.isnan(value) else value for value in d),
            comparison.first.provenance.signature,
        ]
        for name, d in comparison.differences.items()
    ]
    return header, rows


def reproduction_grid(table: Table) -> Grid:
    """Printed and recomputed values side by side."""
    verdict = {True: "agrees", False: "differs", None: ""}
    rows = [
        [
            "" if before and before.row == c.row else c.row,  # a row's name and what is said of it stand once
            c.column,
            NOTHING if c.printed is None else f"{c.printed:,}",
            number(c.recomputed),
            "not recomputed" if c.recomputed is None else verdict[c.agrees],
            "" if before and (before.row, before.why) == (c.row, c.why) else c.why,
        ]
        for before, c in zip((None, *table.cells), table.cells, strict=False)
    ]
    header = ["row", "column", "printed", "recomputed", "", "note"]
    return Grid(f"{table.name}. {table.caption}", header, rows, [f"{table.source}. Agreement: {table.tolerance}."])


def units_grid(rows: Sequence[dict[str, Any]]) -> Grid:
    """Per-unit rows."""
    header = list(rows[0]) if rows else []
    return Grid("", header, [[_plain(value) for value in row.values()] for row in rows])


def percent(value: float | None) -> str:
    """A ratio times 100 with two decimals."""
    return NOTHING if value is None else f"{100 * value:.2f}"


def _plain(value: object) -> str:
    if value is None:
        return NOTHING
    return f"{value:g}" if isinstance(value, float) else str(value)


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return NOTHING
    return f"{percent(estimate.low)} to {percent(estimate.high)}"


def number(value: float | None) -> str:
    """A figure as it is, or with two decimals where it is no whole number."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _signed(value: float) -> str:
    return NOTHING if math.isnan(value) else f"{100 * value:+.2f}"


def _p_value(p: float) -> str:
    if math.isnan(p):
        return NOTHING
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"  # no p-value is 0


def _numeric(cells: Iterable[str]) -> bool:
    filled = [cell for cell in cells if cell not in ("", NOTHING)]
    return bool(filled) and all(map(NUMBER.fullmatch, filled))


def _right_aligned(grid: Grid) -> list[bool]:
    return [_numeric(row[i] for row in grid.rows) for i in range(len(grid.header))]


def _tabulate_align(grid: Grid) -> tuple[str, ...] | None:
    if not grid.rows:
        return None  # tabulate wants a column to align
    return tuple("right" if right else "left" for right in _right_aligned(grid))


def _terminal(grid: Grid) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    # A pipe or a file gets lines as long as they need; a terminal its own width.
    console = Console(file=io.StringIO(), width=None if sys.stdout.isatty() else 1000, highlight=False)
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, show_header=any(grid.header))
    for name, right in zip(grid.header, _right_aligned(grid), strict=True):
        table.add_column(Text(shown(name)), justify="right" if right else "left")
    for row in grid.rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    if grid.title:
        console.print(Text(shown(grid.title)))
        console.print()
    console.print(table)
    for note in grid.notes:
        console.print(Text(shown(note)))
    drawn = console.file.getvalue()  # type: ignore[attr-defined]
    return "".join(line.rstrip() + "\n" for line in drawn.splitlines())
