"""Floating tables in LaTeX of systems compared, with a caption; they need booktabs.

Precision, recall and F1 of a metric share a heading, and marks take no width, so that decimal points are below each
other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from closeread.exceptions import escape_line
from closeread.tables import Grid, Whole, escape_latex, guard_latex_rows

HEADINGS = {" precision": "P", " recall": "R", " F1": "F1"}
"""The ends of titles of scores that share a heading, and the short titles below it."""

SCORE = re.compile(r"([^*†‡ ]*)([*†‡]*) *(.*)")
"""A score, its marks and its interval."""

SIGN = re.compile(r"(?<![^ ])[+-](?=[0-9])")
"""The sign of a number; outside of formulas, a minus would be a hyphen in LaTeX."""


def split_title(title: str) -> tuple[str, str]:
    """Return the metric of a score's title, and the short title of its part; empty for a score without parts."""
    for end, part in HEADINGS.items():
        if title.endswith(end):
            return title.removesuffix(end), part
    return title, ""


def draw_systems(grid: Grid, n_scores: int, *, with_intervals: bool) -> str:
    """Return a table of systems whose first columns, after the names, are scores; with intervals, two cells each."""
    rows = []
    for row, (name, *cells) in enumerate(grid.rows):
        texts = [escape_latex(name)]
        for column, cell in enumerate(cells, 1):
            if column > n_scores:
                texts.append(escape_latex(cell))
            else:
                is_best = (row, column) in grid.best
                texts.append(_draw_score(cell, is_best=is_best, with_interval=with_intervals))
        rows.append(texts)
    width = 2 if with_intervals else 1
    n_others = len(grid.header) - 1 - n_scores
    align = "l" + ("r@{ }l" if with_intervals else "r") * n_scores + "r" * n_others
    return _draw_float(grid, align, _draw_header(grid.header, n_scores, width), rows)


def draw_pairs(grid: Grid) -> str:
    """Return the tests of all pairs of systems, with signs as in formulas."""
    rows = [[SIGN.sub(r"$\g<0>$", escape_latex(cell)) for cell in row] for row in grid.rows]
    for row, column in grid.best:
        rows[row][column] = rf"\textbf{{{rows[row][column]}}}"
    return _draw_float(grid, "lllrrr", [_join_cells(map(escape_latex, grid.header))], rows)


def _draw_score(cell: str, *, is_best: bool, with_interval: bool) -> str:
    match = SCORE.fullmatch(cell)
    value, marks, interval = map(escape_latex, match.groups() if match else (cell, "", ""))
    if is_best:
        value = rf"\textbf{{{value}}}"
    if with_interval:
        return f"{value} & {interval}{marks}"
    return rf"{value}\rlap{{{marks}}}" if marks else value


def _draw_float(
    grid: Grid, align: str, header: Iterable[str], rows: Sequence[Sequence[str]]
) -> str:
    """Return a floating table; notes that are never broken, such as signatures, are comments below it."""
    sentences = [f"{grid.title}."] if grid.title else []
    sentences += [note for note in grid.notes if not isinstance(note, Whole)]
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{align}}}", r"\toprule"]
    lines += [*header, r"\midrule", *map(_join_cells, rows), r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\caption{{{escape_latex(' '.join(sentences))}}}", r"\end{table}"]
    lines += [f"% {escape_line(note)}" for note in grid.notes if isinstance(note, Whole)]
    return "\n".join([*lines, ""])


def _join_cells(cells: Iterable[str]) -> str:
    return guard_latex_rows(" & ".join(cells) + r" \\")


def _draw_header(header: Sequence[str], n_scores: int, width: int) -> list[str]:
    """Return the lines of the header: one, or two and the rules between them if scores share a heading.

    A score is as many columns wide as the width says.
    """
    titles = header[1 : n_scores + 1]
    others = list(map(escape_latex, header[n_scores + 1 :]))
    # Neighbouring parts of a metric share its heading; a score without parts has none.
    headings = []
    for (metric, has_parts), group in groupby(
        map(split_title, titles), lambda parts: (parts[0], bool(parts[1]))
    ):
        n_titles = len(list(group))
        if has_parts:
            headings.append((metric, n_titles))
        else:
            headings += [("", 1)] * n_titles
    if all(n_titles == 1 for _, n_titles in headings):
        spans = [_span(title, width) for title in titles]
        return [_join_cells(["System", *spans, *others])]
    spans = [_span(metric, n_titles * width) for metric, n_titles in headings]
    rules = []
    column = 2
    for metric, n_titles in headings:
        end = column + n_titles * width
        if metric:
            rules.append(rf"\cmidrule(lr){{{column}-{end - 1}}}")
        column = end
    short_titles = [_span(split_title(title)[1] or title, width) for title in titles]
    return [
        _join_cells(["", *spans, *[""] * len(others)]),
        " ".join(rules),
        _join_cells(["System", *short_titles, *others]),
    ]


def _span(text: str, width: int) -> str:
    """Return a cell of the header that is several columns wide."""
    cell = escape_latex(text)
    return cell if width == 1 else rf"\multicolumn{{{width}}}{{c}}{{{cell}}}"
