"""Tables as text: for a terminal, in Markdown, in LaTeX or as CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from closeread.exceptions import escape, escape_line

Style = Literal["table", "markdown", "latex"]
NOTHING = "–"
NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(e[+-]?[0-9]+)?[*%†‡]*( .*)?")
"""A cell that starts with a number, unlike a date or the name of a mention."""


@dataclass(frozen=True)
class Grid:
    """The content of a table.

    Attributes:
        title: the line above the table; may be empty.
        header: the names of the columns; none for title and notes alone.
        rows: the cells as text; columns that contain only numbers are right-aligned.
        notes: the sentences below the table.
        texts: the names of columns that are left-aligned even if all of their cells begin with a number.
        prose: the names of columns that a narrow terminal may wrap, at spaces; all others are never broken.
        ditto: the names of columns in which an empty cell stands for the one above.
        best: the cells to emphasize, by the numbers of their row and column.
        labels: how many columns, from the left, name the rows.  In a terminal that is too narrow, the others follow in
            several tables, each beside these; if there are no labels, each row is a block of lines.
        narrower: the same in fewer or narrower columns, for such a terminal; None if there is no such table.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    texts: frozenset[str] = frozenset()
    prose: frozenset[str] = frozenset()
    ditto: frozenset[str] = frozenset()
    best: frozenset[tuple[int, int]] = frozenset()
    labels: int = 0
    narrower: Grid | None = None


def transpose(grid: Grid, corner: str) -> Grid:
    """Exchange the rows of a grid and its columns; the first column, which names the rows, becomes the header.

    Args:
        grid: the grid.
        corner: the name of the new first column.
    """
    names, *columns = zip(*grid.rows, strict=True) if grid.rows else [() for _ in grid.header]
    rows = [[title, *cells] for title, cells in zip(grid.header[1:], columns, strict=True)]
    best = frozenset((column - 1, row + 1) for row, column in grid.best)
    return Grid(grid.title, [corner, *map(Whole, names)], rows, grid.notes, frozenset({corner}), best=best)


MARKUP = re.compile(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
"""What Markdown acts on inside of a line; between letters, an underscore is none of it."""

CODE = re.compile(r"(`[^`]+`)")
BLOCK = re.compile(r"^[-+#=]|(?<=^[0-9])[.)](?= )")
"""The beginning of a heading or of a list."""

FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
"""The beginning of a cell that a spreadsheet takes for a formula."""

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Characters that a terminal might act on, and that no reader of CSV needs."""

ARGUMENT = re.compile(r"^( *)(?=[\[*])", re.MULTILINE)
r"""The beginning of a row that LaTeX takes for an argument of `\\` or of `\midrule`."""

SIGNED = re.compile(r"[+-][0-9][0-9.,]*(e[+-]?[0-9]+)?", re.IGNORECASE)
"""A number with a sign, which is no formula."""


class Whole(str):
    """A cell, a header or a note that is never broken, not even at its spaces, such as a path."""

    __slots__ = ()


class Markup(Whole):
    """A cell or a title that is Markdown already."""

    __slots__ = ()


def draw(grid: Grid, style: Style, *, width: int | None = None, coloured: bool = False) -> str:
    """Draw a grid as text that ends with a newline.

    Args:
        grid: the grid.
        style: how to draw it.
        width: the columns of a terminal; None for those of this terminal or of the variable `COLUMNS`, and 100 in
            pipes and files.  Numbers and names are whole even if lines are longer then.
        coloured: whether a terminal shows the best values in bold and notes dim.
    """
    if style == "table":
        from closeread.counts.terminal import draw_for_terminal, find_width

        return draw_for_terminal(grid, find_width() if width is None else width, coloured=coloured)
    import tabulate

    if style == "latex":
        return (
            guard_latex_rows(
                tabulate.tabulate(
                    [[escape_line(cell) for cell in row] for row in grid.rows],
                    [escape_line(name) for name in grid.header],
                    tablefmt="latex_booktabs",
                    disable_numparse=True,
                    colalign=_align_columns(grid),
                )
            )
            + "\n"
            + "".join(f"% {escape_line(line)}\n" for line in (grid.title, *grid.notes) if line)
        )
    rows = [
        [f"**{_mark_up(cell)}**" if (number, i) in grid.best else _mark_up(cell) for i, cell in enumerate(row)]
        for number, row in enumerate(grid.rows)
    ]
    header = [_mark_up(name) for name in grid.header]
    body = tabulate.tabulate(rows, header, tablefmt="pipe", disable_numparse=True, colalign=_align_columns(grid))
    parts = [f"**{_mark_up(grid.title).strip()}**"] if grid.title.strip() else []
    return "\n\n".join(filter(None, [*parts, body, *map(_mark_up_note, grid.notes)])) + "\n"


def guard_latex_rows(text: str) -> str:
    r"""Return a LaTeX table whose rows LaTeX does not take for an argument of the end of the row before.

    >>> print(guard_latex_rows("a & 1 \\\\\n [2ex] & 1 \\\\"))
    a & 1 \\
     {}[2ex] & 1 \\
    """
    return ARGUMENT.sub(r"\1{}", text)


def _mark_up(cell: str) -> str:
    """Return the Markdown that shows a cell as it is."""
    return escape_line(cell) if isinstance(cell, Markup) else escape_markdown(escape_line(cell))


def _mark_up_note(note: str) -> str:
    """Return a paragraph of Markdown, in which code stays code, and bars are no borders of cells."""
    parts = CODE.split(escape_line(note))
    text = "".join(part if i % 2 else escape_markdown(part).replace(r"\|", "|") for i, part in enumerate(parts))
    return BLOCK.sub(r"\\\g<0>", text)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as comma-separated values; texts that a spreadsheet would take for formulas begin with `'`.

    Control characters are escaped; so is what UTF-8 lacks, as in some names of files, so that the text can be written.
    """
    lines: list[str] = []
    # It quotes a cell with one of the characters that end its lines, and readers take a lone \r for such an end.
    writer = csv.writer(_Lines(lines), lineterminator="\r\n")
    writer.writerow(list(map(_disarm, header)))  # which has names of fields
    writer.writerows([_disarm(cell) for cell in row] for row in rows)
    return "".join(f"{line[:-2]}\n" for line in lines).encode("utf-8", "backslashreplace").decode()


class _Lines(NamedTuple):
    """A file that keeps what is written to it, line by line."""

    lines: list[str]

    def write(self, line: str) -> None:
        """Keep a line, with its end."""
        self.lines.append(line)


def _disarm(cell: object) -> object:
    r"""Return a cell that no spreadsheet takes for a formula, without control characters.

    >>> _disarm("=1+1"), _disarm("-0.5"), _disarm(-0.5)
    ("'=1+1", '-0.5', -0.5)
    >>> print(_disarm("a\x1b[31mb"))
    a\x1b[31mb
    """
    if not isinstance(cell, str):
        return cell
    shown = CONTROL.sub(lambda found: escape(found[0]), cell)
    return f"'{shown}" if FORMULA.match(shown) and not SIGNED.fullmatch(shown) else shown


def escape_markdown(text: str) -> str:
    r"""Return the Markdown that shows a text of one line as it is, such as a cell of a table.

    >>> print(escape_markdown("<b>exact_match* [x](javascript:y) a|b"))
    \<b\>exact_match\* \[x\](javascript:y) a\|b
    """
    return MARKUP.sub(r"\\\g<0>", text)


def percent(value: float | None, digits: int = 2) -> str:
    """Format a ratio times 100, with two decimals or as many as given."""
    return NOTHING if value is None else f"{100 * value:.{digits}f}"


def format_number(value: float | None) -> str:
    """Format a number, with two decimals if it is not an integer."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _is_numeric(cells: Iterable[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(cell == NOTHING or NUMBER.fullmatch(cell) for cell in filled)


def find_numeric_columns(grid: Grid) -> list[bool]:
    """Return for each column whether it contains only numbers, and so is right-aligned."""
    return [name not in grid.texts and _is_numeric(row[i] for row in grid.rows) for i, name in enumerate(grid.header)]


def _align_columns(grid: Grid) -> tuple[str, ...] | None:
    if not grid.rows:
        return None  # tabulate fails to align an empty table
    return tuple("right" if right else "left" for right in find_numeric_columns(grid))


def format_cell(cell: str | float | None) -> str:
    """Format a cell of a table: counts with commas, other numbers to three digits, None as a dash."""
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return NOTHING if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def format_percent(cell: str | float | None) -> str:
    """Format a cell of a table: counts with commas, ratios in percent, None as a dash."""
    return percent(cell) if cell is None or isinstance(cell, float) else format_cell(cell)
