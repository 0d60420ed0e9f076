r"""Tables of many systems in LaTeX, as papers print them.

Conventions: precision, recall and F1 of a metric share a heading.  Scores are right-aligned with the same number of
decimals, and marks take no width, so that decimal points are below each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from closeread.counts.rendering import NOTHING, Whole, guard_latex_rows
from closeread.counts.systems_grids import format_interval, format_value, make_grids, mark
from closeread.counts.systems_table import SystemsTable
from closeread.exceptions import escape_line

PARTS = {" precision": "P", " recall": "R", " F1": "F1"}
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
        body = ["\\toprule", _join(map(escape_latex, grid.header)), "\\midrule", *map(_join, rows), "\\bottomrule"]
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


def _join(cells: Sequence[str] | Iterator[str]) -> str:
    return guard_latex_rows(" & ".join(cells) + r" \\")


def _draw_body(table: SystemsTable, sizes: Sequence[int]) -> list[str]:
    """Return the lines of the table between `tabular`'s ends."""
    columns = [_draw_column(table, score) for score in table.scores]
    rows = [[escape_latex(name), *cells] for name, *cells in zip(table.names, *columns, strict=True)]
    return ["\\toprule", *_draw_header(table, sizes), "\\midrule", *map(_join, rows), "\\bottomrule"]


def _draw_header(table: SystemsTable, sizes: Sequence[int]) -> Iterator[str]:
    """Yield the lines of the header: one, or two and the rules between them if scores share a heading."""
    titles = [table.reports[0].name_score(score) for score in table.scores]
    split = [_split_title(title) for title in titles]
    groups = [(family, len(list(group))) for family, group in groupby(family for family, _ in split)]
    if all(size == 1 for family, size in groups if family):
        yield _join(["System", *(_span(title, size) for title, size in zip(titles, sizes, strict=True))])
        return
    size = sizes[0]
    yield _join(["", *(_span(family, n * size) for family, n in _spread(groups))])
    rules, place = [], 2
    for family, n in _spread(groups):
        if family:
            rules.append(rf"\cmidrule(lr){{{place}-{place + n * size - 1}}}")
        place += n * size
    yield " ".join(rules)
    yield _join(["System", *(_span(part, size) for _, part in split)])


def _spread(groups: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield headings with the number of their scores; scores without a heading one by one."""
    for family, n in groups:
        yield from [(family, n)] if family else [("", 1)] * n


def _split_title(title: str) -> tuple[str, str]:
    """Return the heading and the part of a score's title; no heading if it shares none.

    >>> _split_title("MUC precision"), _split_title("Exact match"), _split_title("F1")
    (('MUC', 'P'), ('', 'Exact match'), ('', 'F1'))
    """
    for end, part in PARTS.items():
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
