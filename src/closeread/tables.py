"""Tables: grids of text, drawn for a terminal, in Markdown, LaTeX, HTML and CSV; all text is escaped here.

In a terminal, only columns of prose are wrapped, and only at spaces; everything else is whole at any width.  A table
that is still too wide is replaced by its narrower one, or its columns are shown in several tables, each beside those
with labels, or it becomes one block for each row, a line for each cell.
"""

from __future__ import annotations

import csv
import html
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

from closeread.exceptions import escape, escape_line

Style = Literal["table", "markdown", "latex"]
NOTHING = "–"
NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(e[+-]?[0-9]+)?[*%†‡]*( .*)?")
"""A cell that starts with a number, unlike a date or the name of a mention."""


@dataclass(frozen=True)
class Grid:
    """The content of a table."""

    title: str  # above the table; may be empty
    header: Sequence[str]  # none for title and notes alone
    rows: Sequence[Sequence[str]]  # columns that contain only numbers are right-aligned
    notes: Sequence[str] = ()  # sentences below the table
    # columns that are left-aligned even if all cells begin with a number
    texts: frozenset[str] = frozenset()
    # columns that may be wrapped, at spaces; all others are never broken
    prose: frozenset[str] = frozenset()
    ditto: frozenset[str] = frozenset()  # columns in which an empty cell stands for the one above
    best: frozenset[tuple[int, int]] = frozenset()  # cells to emphasize, by row and column
    labels: int = 0  # how many columns, from the left, name the rows
    narrower: Grid | None = None  # the same for a narrow terminal, if there is such a table


def transpose(grid: Grid, corner: str) -> Grid:
    """Exchange the rows of a grid and its columns; `corner` names the new first column, which has the old header."""
    names, *columns = zip(*grid.rows, strict=True) if grid.rows else [() for _ in grid.header]
    rows = [[title, *cells] for title, cells in zip(grid.header[1:], columns, strict=True)]
    best = frozenset((column - 1, row + 1) for row, column in grid.best)
    return Grid(
        grid.title, [corner, *map(Whole, names)], rows, grid.notes, frozenset({corner}), best=best
    )


# inside of a line, for Markdown
MARKUP = re.compile(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
CODE = re.compile(r"(`[^`]+`)")
# what readers of the rendered text find in it, such as formulas, mentions, emoji and links, unless it is code
FOUND = re.compile(r"[$@]|://|www\.|:[\w+-]+:|#[0-9]", re.IGNORECASE)
BLOCK = re.compile(r"^[-+#=]|(?<=^[0-9])[.)](?= )|#$")  # where a heading or a list begins or ends
# the beginning of a cell that a spreadsheet takes for a formula
FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # what no reader of CSV needs
ARGUMENT = re.compile(r"^( *)(?=[\[*])", re.MULTILINE)  # of the end of the row before, for LaTeX
# a number with a sign, which is no formula
SIGNED = re.compile(r"[+-][0-9][0-9.,]*(e[+-]?[0-9]+)?", re.IGNORECASE)


class Whole(str):
    """A cell, a header or a note that is never broken, not even at its spaces, such as a path."""

    __slots__ = ()


class Markup(Whole):
    """A cell or a title that is Markdown already."""

    __slots__ = ()


def draw(grid: Grid, style: Style, *, width: int | None = None, coloured: bool = False) -> str:
    """Draw a grid as text that ends with a newline; if it is coloured, the best values are bold, and notes dim."""
    if style == "table":
        lines = _draw_lines(grid, find_width() if width is None else width)
        shown = lines if coloured else [STYLES.sub("", line) for line in lines]
        return "".join(line.rstrip() + "\n" for line in shown)
    import tabulate

    mark = escape_line if style == "latex" else _mark_up
    rows = [[mark(cell) for cell in row] for row in grid.rows]
    if style == "markdown":
        for number, i in grid.best:
            rows[number][i] = f"**{rows[number][i]}**"
    body = tabulate.tabulate(
        rows,
        [mark(name) for name in grid.header],
        tablefmt="latex_booktabs" if style == "latex" else "pipe",
        disable_numparse=True,
        colalign=_align_columns(grid) if rows else None,  # tabulate fails to align an empty table
    )
    if style == "latex":
        notes = [f"% {escape_line(line)}" for line in (grid.title, *grid.notes) if line]
        return "\n".join([guard_latex_rows(body), *notes, ""])
    title = f"**{_mark_up(grid.title).strip()}**" if grid.title.strip() else ""
    return "\n\n".join(filter(None, [title, body, *map(_mark_up_note, grid.notes)])) + "\n"


def guard_latex_rows(text: str) -> str:
    """Return a LaTeX table whose rows LaTeX does not take for an argument of the end of the row before."""
    return ARGUMENT.sub(r"\1{}", text)


SYMBOLS = {
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "³": r"$^3$",
    NOTHING: "--",
}
"""Characters that not every font of LaTeX has."""


def escape_latex(text: str) -> str:
    """Escape untrusted text for LaTeX."""
    import tabulate

    rules = {**tabulate.LATEX_ESCAPE_RULES, **SYMBOLS}
    return "".join(rules.get(character, character) for character in escape_line(text))


def _mark_up(cell: str) -> str:
    """Return the Markdown that shows a cell as it is."""
    return escape_line(cell) if isinstance(cell, Markup) else escape_markdown(escape_line(cell))


def _mark_up_note(note: str) -> str:
    """Return a paragraph of Markdown, in which code stays code, and bars are no borders of cells."""
    parts = CODE.split(escape_line(note))
    for i, part in enumerate(parts):
        if i % 2 == 0:
            words = [escape_markdown(word).replace(r"\|", "|") for word in part.split(" ")]
            parts[i] = " ".join(words)
    # Code is apart from code.
    text = parts[0]
    for part in parts[1:]:
        text += " " * (text.endswith("`") and part.startswith("`")) + part
    return BLOCK.sub(r"\\\g<0>", text)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return comma-separated values; texts that are formulas in a spreadsheet begin with `'`, controls are escaped."""
    # It quotes a cell with one of the characters that end its lines, and readers take a lone \r for such an end.
    file: Any = SimpleNamespace(write=str)  # a row is what it returns
    writer: Any = csv.writer(file, lineterminator="\r\n")
    lines = [writer.writerow(list(map(_disarm, row))) for row in (header, *rows)]
    return "".join(f"{line[:-2]}\n" for line in lines).encode("utf-8", "backslashreplace").decode()


def _disarm(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula, without control characters."""
    if not isinstance(cell, str):
        return cell
    shown = CONTROL.sub(lambda found: escape(found[0]), cell)
    return f"'{shown}" if FORMULA.match(shown) and not SIGNED.fullmatch(shown) else shown


def escape_markdown(text: str) -> str:
    """Return the Markdown that shows a text of one line as it is, such as a cell of a table."""
    if FOUND.search(text):
        # A bar ends the cell, even inside of code.
        return "&#124;".join(map(quote_code, text.split("|")))
    return MARKUP.sub(r"\\\g<0>", text)


def quote_code(text: str) -> str:
    """Return the Markdown that shows a text of one line as code, in which nothing is markup.

    >>> print(quote_code("a `b` c"))
    `` a `b` c ``
    """
    if not text:
        return ""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    is_padded = "`" in text or (text[0] == text[-1] == " " and text.strip(" "))
    return f"{fence} {text} {fence}" if is_padded else f"{fence}{text}{fence}"


def percent(value: float | None, digits: int = 2) -> str:
    """Format a ratio times 100, with two decimals or as many as given."""
    return NOTHING if value is None else f"{100 * value:.{digits}f}"


def format_number(value: float | None) -> str:
    """Format a number, with two decimals if it is not an integer."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _align_columns(grid: Grid) -> list[str]:
    """Return how each column is aligned: to the right if it contains only numbers."""

    def is_numeric(i: int) -> bool:
        filled = [row[i] for row in grid.rows if row[i]]
        return bool(filled) and all(cell == NOTHING or NUMBER.fullmatch(cell) for cell in filled)

    return [
        "right" if name not in grid.texts and is_numeric(i) else "left"
        for i, name in enumerate(grid.header)
    ]


def format_cell(cell: str | float | None) -> str:
    """Format a cell of a table: counts with commas, other numbers to three digits, None as a dash."""
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return NOTHING if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def format_percent(cell: str | float | None) -> str:
    """Format a cell of a table: counts with commas, ratios in percent, None as a dash."""
    return percent(cell) if cell is None or isinstance(cell, float) else format_cell(cell)


PIPE_WIDTH = 100  # the width of a table that is written to a pipe or a file
PROSE_WIDTH = 16  # columns of prose are not made narrower, if they have so much text
GAPS = (3, 2)  # spaces between columns; the second number if the table fits only so
RULE = "─"

BOLD, DIM, RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"
"""Escape sequences of terminals."""

STYLES = re.compile(r"\x1b\[\d?m")  # all that a drawn line has of them, since text is escaped
# what is never broken: words, and everything between backticks
WORD = re.compile(r"(?:`[^`]*`|\S)+")


def find_width() -> int:
    """Return the width of the terminal in columns, or `COLUMNS`; 100 in pipes and files."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        from shutil import get_terminal_size

        return get_terminal_size((PIPE_WIDTH, 24)).columns
    return PIPE_WIDTH


def _draw_lines(grid: Grid, width: int) -> list[str]:
    """Draw a grid for a terminal, with escape sequences: the best values are bold, and notes dim."""
    lines = [*_wrap(grid.title, width), ""] if grid.title else []
    if grid.header:
        tables = _lay_out(grid, width)
        for number, layout in enumerate(tables):
            lines += [*([""] if number else []), *_draw_table(*layout)]
        if tables:
            grid = tables[0][0]
        else:
            lines += [*_draw_blocks(grid, width), *([""] if grid.notes else [])]
    return lines + [_style(line, DIM) for note in grid.notes for line in _wrap(note, width)]


def _measure(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _wrap(text: str, width: int) -> list[str]:
    """Escape a text and break it at spaces into lines of at most `width` columns; longer words stay whole."""
    shown = escape_line(text)
    if isinstance(text, Whole) or _measure(shown) <= width:
        return [shown]
    lines: list[str] = []
    for word in WORD.findall(shown):
        if lines and _measure(lines[-1]) + 1 + _measure(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def wrap_paragraph(text: str, width: int) -> list[str]:
    """Return the lines of a paragraph as `_wrap` does; spaces at its beginning are kept."""
    indent = text[: len(text) - len(text.lstrip(" "))]
    return [indent + line for line in _wrap(text[len(indent) :], width - len(indent))]


def _measure_word(text: str) -> int:
    """Return the width of the longest part of a text that is never broken."""
    shown = escape_line(text)
    return max(
        map(_measure, [shown] if isinstance(text, Whole) else WORD.findall(shown)), default=0
    )


class _Column(NamedTuple):
    """The width of a column if nothing is wrapped, the least that it needs, and how much may be wrapped."""

    natural: int
    least: int
    text: int


def _measure_column(grid: Grid, i: int) -> _Column:
    name, cells = grid.header[i], [row[i] for row in grid.rows]
    lengths = [_measure(escape_line(cell)) for cell in cells]
    longest, length = max(lengths, default=0), _measure(escape_line(name))
    if name not in grid.prose:
        return _Column(max(longest, length), max(longest, _measure_word(name)), length)
    least = max(min(longest, PROSE_WIDTH), *map(_measure_word, (name, *cells)))
    return _Column(max(longest, length), least, sum(lengths))


def _lay_out(grid: Grid, width: int) -> list[tuple[Grid, list[int], int]]:
    """Return the tables that show a grid, with the widths of their columns and the spaces between: one, if the grid or
    a narrower one fits; else several with its labels and as many other columns as fit; none if these are too wide.
    """
    labelled: tuple[Grid, list[_Column]] | None = None
    table: Grid | None = grid
    while table is not None:
        columns = [_measure_column(table, i) for i in range(len(table.header))]
        if layout := _fit(columns, width, is_named=any(table.header)):
            return [(table, *layout)]
        labelled = (table, columns) if table.labels else labelled
        table = table.narrower
    if labelled is None:
        return []
    whole, columns = labelled
    pieces: list[list[int]] = []
    for i in range(whole.labels, len(columns)):
        if pieces and _fit([columns[k] for k in (*pieces[-1], i)], width):
            pieces[-1].append(i)
        else:
            pieces.append([*range(whole.labels), i])
    found = []
    for piece in pieces:
        if (layout := _fit([columns[i] for i in piece], width)) is None:
            return []
        header, rows = (
            [whole.header[i] for i in piece],
            [[row[i] for i in piece] for row in whole.rows],
        )
        best = frozenset((row, piece.index(i)) for row, i in whole.best if i in piece)
        found.append((replace(whole, header=header, rows=rows, best=best), *layout))
    return found


def _fit(
    columns: Sequence[_Column], width: int, *, is_named: bool = True
) -> tuple[list[int], int] | None:
    """Return the widths of the columns and the spaces between them; None if the table is too wide.

    Blocks need several columns with names, so a table without them is never too wide.
    """
    between = len(columns) - 1
    natural, least = [column.natural for column in columns], [column.least for column in columns]
    for widths in (natural, least):
        for gap in GAPS:
            spare = width - gap * between - sum(widths)
            if spare < 0:
                continue
            found = list(widths)
            for _ in range(min(spare, sum(natural) - sum(widths))):
                # A text of t characters has t / w lines, and t / w**2 fewer in a column that is wider by one.
                wrapped = [i for i, column in enumerate(columns) if found[i] < column.natural]
                found[max(wrapped, key=lambda i: columns[i].text / max(found[i], 1) ** 2)] += 1
            return found, gap
    if between and is_named:
        return None
    # longer words stick out
    least[-1] = max(PROSE_WIDTH, width - GAPS[-1] * between - sum(least[:-1]))
    return least, GAPS[-1]


def _draw_table(grid: Grid, widths: Sequence[int], gap: int) -> Iterator[str]:
    """Yield the lines of a table whose cells are wrapped at these widths."""
    rows = [
        [_wrap(cell, width) for cell, width in zip(row, widths, strict=True)] for row in grid.rows
    ]
    header = [_wrap(name, width) for name, width in zip(grid.header, widths, strict=True)]
    height = max(map(len, header)) if any(grid.header) else 0
    shown = [[[""] * (height - len(lines)) + lines for lines in header], *rows] if height else rows
    taken = [
        max(map(_measure, chain.from_iterable(cells)), default=0)
        for cells in zip(*shown, strict=True)
    ]
    align = _align_columns(grid)
    for number, cells in enumerate(shown, -1 if height else 0):
        for line in zip_longest(*cells, fillvalue=""):
            padded = []
            for i, text in enumerate(line):
                spaces = " " * (taken[i] - _measure(text))
                styled = _style(text, BOLD) if (number, i) in grid.best else text
                padded.append(spaces + styled if align[i] == "right" else styled + spaces)
            yield (" " * gap).join(padded)
        if number < 0:
            yield RULE * (sum(taken) + gap * (len(taken) - 1))


def _style(text: str, code: str) -> str:
    return f"{code}{text}{RESET}" if text else text


def _draw_blocks(grid: Grid, width: int) -> Iterator[str]:
    """Yield the lines of one block for each row, with an empty line between them."""
    names = [escape_line(name) for name in grid.header]
    # Values stand below a name that would take half of the line.
    space = (
        max((length for name in names if (length := _measure(name)) <= width // 2), default=0) + 2
    )
    above = [""] * len(names)
    for number, row in enumerate(grid.rows):
        if number:
            yield ""
        above = [
            cell or (last if name in grid.ditto else "")
            for name, cell, last in zip(names, row, above, strict=True)
        ]
        for i, (name, cell) in enumerate(zip(names, above, strict=True)):
            if not cell:
                continue
            text = cell if name in grid.prose else Whole(cell)
            # A column without a name holds the names of the rows.
            indent = space if name else 0
            prefix = name + " " * (indent - _measure(name))
            if indent + _measure_word(text) > width or _measure(name) + 2 > indent > 0:
                yield name
                prefix, indent = "  ", 2
            for k, line in enumerate(_wrap(text, width - indent)):
                styled = _style(line, BOLD) if (number, i) in grid.best else line
                yield (" " * indent if k else prefix) + styled


def draw_html(grid: Grid) -> str:
    """Draw a grid as an HTML table, without colours of its own, so that it can be read on light and on dark."""

    def escape_html(text: str) -> str:
        return html.escape(escape_line(text))

    def draw_row(tag: str, texts: Sequence[str], number: int = -1) -> str:
        shown = [escape_html(text) for text in texts]
        shown = [
            f"<strong>{text}</strong>" if (number, i) in grid.best else text
            for i, text in enumerate(shown)
        ]
        sides = zip(align, shown, strict=True)
        rule = "; border-bottom: 1px solid" * (tag == "th")
        cells = (
            f'<{tag} style="text-align: {side}; {padding}{rule}">{text}</{tag}>'
            for side, text in sides
        )
        return f"<tr>{''.join(cells)}</tr>"

    align = _align_columns(grid)
    padding = "padding: .2em .6em"  # a mail or a plain page has no style that sets columns apart
    parts = [
        '<table style="border-collapse: collapse; margin: 0 0 1.5em; font-variant-numeric: tabular-nums">'
    ]
    if grid.title:
        title = escape_html(grid.title)
        parts.append(
            f'<caption style="caption-side: top; text-align: left; {padding}">{title}</caption>'
        )
    if any(grid.header):
        parts.append(f"<thead>{draw_row('th', grid.header)}</thead>")
    parts += ["<tbody>", *(draw_row("td", row, i) for i, row in enumerate(grid.rows)), "</tbody>"]
    if grid.notes:
        notes = "<br>".join(map(escape_html, grid.notes))
        width = f' colspan="{len(grid.header)}"' if grid.header else ""
        # Notes are set off by size alone: a colour would be lost on one of the grounds.
        # A long one is wrapped before it widens the table much.
        style = f"text-align: left; font-size: smaller; max-width: 36em; overflow-wrap: anywhere; {padding}"
        parts.append(f'<tfoot><tr><td{width} style="{style}">{notes}</td></tr></tfoot>')
    return "\n".join([*parts, "</table>\n"])
