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
from itertools import zip_longest
from types import SimpleNamespace
from typing import Any, Literal

from closeread.exceptions import escape, escape_line

Style = Literal["table", "markdown", "latex"]
Align = Literal["left", "right"]
NOTHING = "–"
NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(e[+-]?[0-9]+)?[*%†‡]*( .*)?")
"""A cell that starts with a number, unlike a date or the name of a mention."""


@dataclass(frozen=True)
class Grid:
    """The content of a table.

    Attributes:
        title: a line above the table; may be empty.
        header: the names of the columns; none for a title and notes alone.
        rows: the cells; columns that contain only numbers are right-aligned.
        notes: sentences below the table.
        texts: columns that are left-aligned even if all cells begin with a number.
        prose: columns that may be wrapped, at spaces; all others are never broken.
        ditto: columns in which an empty cell stands for the one above.
        best: cells to emphasize, by row and column.
        labels: how many columns, from the left, name the rows.
        narrower: the same for a narrow terminal, if there is such a table.
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
    """Exchange the rows of a grid and its columns; `corner` names the new first column, which has the old header."""
    names = [Whole(row[0]) for row in grid.rows]
    rows = [
        [title, *(row[column] for row in grid.rows)]
        for column, title in enumerate(grid.header[1:], start=1)
    ]
    best = frozenset((column - 1, row + 1) for row, column in grid.best)
    return Grid(grid.title, [corner, *names], rows, grid.notes, frozenset({corner}), best=best)


# inside of a line, for Markdown
MARKUP = re.compile(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
CODE = re.compile(r"(`[^`]+`)")
# what readers of the rendered text find in it, such as formulas, mentions, emoji and links, unless it is code
LINKED = re.compile(r"[$@]|://|www\.|:[\w+-]+:|#[0-9]", re.IGNORECASE)
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
    if style == "latex":
        return _draw_latex(grid)
    if style == "markdown":
        return _draw_markdown(grid)
    lines = _draw_lines(grid, find_width() if width is None else width)
    if not coloured:
        lines = [STYLES.sub("", line) for line in lines]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _draw_markdown(grid: Grid) -> str:
    rows = [[_mark_up(cell) for cell in row] for row in grid.rows]
    for row, column in grid.best:
        rows[row][column] = f"**{rows[row][column]}**"
    paragraphs = []
    if grid.title.strip():
        paragraphs.append(f"**{_mark_up(grid.title).strip()}**")
    if grid.header:
        align = _align_columns(grid)
        header, *body = _pad_columns([list(map(_mark_up, grid.header)), *rows], align)
        # A colon says to which side a column is aligned.
        rule = []
        for name, side in zip(header, align, strict=True):
            dashes = "-" * (measure(name) + 1)
            rule.append(f"{dashes}:" if side == "right" else f":{dashes}")
        lines = [f"| {' | '.join(cells)} |" for cells in (header, *body)]
        paragraphs.append("\n".join([lines[0], f"|{'|'.join(rule)}|", *lines[1:]]))
    paragraphs += [_mark_up_note(note) for note in grid.notes if note]
    return "\n\n".join(paragraphs) + "\n"


def _draw_latex(grid: Grid) -> str:
    lines = []
    if grid.header:
        align = _align_columns(grid)
        texts = [[escape_line(cell) for cell in row] for row in (grid.header, *grid.rows)]
        header, *rows = [
            f" {' & '.join(map(escape_latex, row))} \\\\" for row in _pad_columns(texts, align)
        ]
        lines.append(rf"\begin{{tabular}}{{{''.join(side[0] for side in align)}}}")
        lines += [r"\toprule", header, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"]
    lines = [guard_latex_rows("\n".join(lines))]
    lines += [f"% {escape_line(line)}" for line in (grid.title, *grid.notes) if line]
    return "\n".join([*lines, ""])


def _pad_columns(rows: Sequence[Sequence[str]], align: Sequence[Align]) -> list[list[str]]:
    """Return a header and rows with spaces, so that columns are even; with two more than the header needs."""
    padded_columns = []
    for (name, *cells), side in zip(zip(*rows, strict=True), align, strict=True):
        column = [name, *(cell.strip() for cell in cells)]
        width = max(measure(name) + 2, *map(measure, column))
        padded_columns.append([_pad(cell, width, side) for cell in column])
    return [list(row) for row in zip(*padded_columns, strict=True)]


def guard_latex_rows(text: str) -> str:
    """Return a LaTeX table whose rows LaTeX does not take for an argument of the end of the row before."""
    return ARGUMENT.sub(r"\1{}", text)


LATEX = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "^": r"\^{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "\\": r"\textbackslash{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "³": r"$^3$",
    NOTHING: "--",
}
"""What stands for characters that LaTeX acts on, or that not every font has."""


def escape_latex(text: str) -> str:
    """Escape untrusted text for LaTeX."""
    return "".join(LATEX.get(character, character) for character in escape_line(text))


def _mark_up(cell: str) -> str:
    """Return the Markdown that shows a cell as it is."""
    line = escape_line(cell)
    return line if isinstance(cell, Markup) else escape_markdown(line)


def _mark_up_note(note: str) -> str:
    """Return a paragraph of Markdown, in which code stays code, and bars are no borders of cells."""
    text = ""
    for number, part in enumerate(CODE.split(escape_line(note))):
        is_code = number % 2 == 1
        if not is_code:
            part = " ".join(escape_markdown(word).replace(r"\|", "|") for word in part.split(" "))
        # Code is apart from code.
        if text.endswith("`") and part.startswith("`"):
            text += " "
        text += part
    return BLOCK.sub(r"\\\g<0>", text)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return comma-separated values; texts that are formulas in a spreadsheet begin with `'`, controls are escaped."""
    # The writer quotes a cell with one of the characters that end its lines, and readers take a lone \r for such an
    # end; the writer returns a row if its file returns what it is to write.
    file: Any = SimpleNamespace(write=str)
    writer: Any = csv.writer(file, lineterminator="\r\n")
    lines = []
    for row in (header, *rows):
        line = writer.writerow([_disarm(cell) for cell in row])
        lines.append(line.removesuffix("\r\n") + "\n")
    return "".join(lines).encode("utf-8", "backslashreplace").decode()


def _disarm(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula, without control characters."""
    if not isinstance(cell, str):
        return cell
    text = CONTROL.sub(lambda match: escape(match[0]), cell)
    if FORMULA.match(text) and not SIGNED.fullmatch(text):
        return f"'{text}"
    return text


def escape_markdown(text: str) -> str:
    """Return the Markdown that shows a text of one line as it is, such as a cell of a table."""
    if LINKED.search(text):
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
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
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


def _align_columns(grid: Grid) -> list[Align]:
    """Return how each column is aligned: to the right if it contains only numbers."""
    align: list[Align] = []
    for column, name in enumerate(grid.header):
        cells = [row[column] for row in grid.rows if row[column]]
        is_numeric = all(cell == NOTHING or NUMBER.fullmatch(cell) for cell in cells)
        align.append("right" if cells and is_numeric and name not in grid.texts else "left")
    return align


def _pad(text: str, width: int, side: Align) -> str:
    """Fill a text with spaces; escape sequences take no room."""
    spaces = " " * (width - measure(STYLES.sub("", text)))
    return spaces + text if side == "right" else text + spaces


def format_cell(cell: str | float | None) -> str:
    """Format a cell of a table: counts with commas, other numbers to three digits, None as a dash."""
    if cell is None:
        return NOTHING
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


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
FIRST_COMBINING = "\u0300"
"""The first combining character; all characters before it that can be printed are one column wide."""


def find_width() -> int:
    """Return the width of the terminal in columns, or `COLUMNS`; 100 in pipes and files."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        from shutil import get_terminal_size

        return get_terminal_size((PIPE_WIDTH, 24)).columns
    return PIPE_WIDTH


def _draw_lines(grid: Grid, width: int) -> list[str]:
    """Draw a grid for a terminal, with escape sequences: the best values are bold, and notes dim."""
    lines = []
    if grid.title:
        lines += [*_wrap(grid.title, width), ""]
    notes = grid.notes
    if grid.header:
        layouts = _lay_out(grid, width)
        if layouts:
            # a narrower table has notes of its own
            notes = layouts[0].grid.notes
            tables = ["\n".join(_draw_table(layout)) for layout in layouts]
            lines += "\n\n".join(tables).split("\n")
        else:
            lines += _draw_blocks(grid, width)
            if notes:
                lines.append("")
    for note in notes:
        lines += [_style(line, DIM) for line in _wrap(note, width)]
    return lines


def measure(text: str) -> int:
    """Return how many columns of a terminal an escaped text takes."""
    # `wcwidth` takes 20 ms to import.
    if text.isascii() or (text.isprintable() and max(text) < FIRST_COMBINING):
        return len(text)
    from wcwidth import wcswidth

    return wcswidth(text)


def _wrap(text: str, width: int) -> list[str]:
    """Escape a text and break it at spaces into lines of at most `width` columns; longer words stay whole."""
    escaped = escape_line(text)
    if isinstance(text, Whole) or measure(escaped) <= width:
        return [escaped]
    lines: list[str] = []
    for word in WORD.findall(escaped):
        if lines and measure(lines[-1]) + 1 + measure(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def wrap_paragraph(text: str, width: int) -> list[str]:
    """Return the lines of a paragraph as `_wrap` does; spaces at its beginning are kept."""
    content = text.lstrip(" ")
    indent = " " * (len(text) - len(content))
    return [indent + line for line in _wrap(content, width - len(indent))]


def _measure_word(text: str) -> int:
    """Return the width of the longest part of a text that is never broken."""
    escaped = escape_line(text)
    words = [escaped] if isinstance(text, Whole) else WORD.findall(escaped)
    return max(map(measure, words), default=0)


@dataclass(frozen=True)
class _Column:
    """How wide a column is.

    Attributes:
        natural: its width if nothing is wrapped.
        least: the least width that it needs.
        text: the width of all that may be wrapped.
    """

    natural: int
    least: int
    text: int


@dataclass(frozen=True)
class _Layout:
    """A grid with the widths of its columns, and the spaces between them."""

    grid: Grid
    widths: list[int]
    gap: int


def _measure_column(grid: Grid, number: int) -> _Column:
    name = grid.header[number]
    cells = [row[number] for row in grid.rows]
    name_width = measure(escape_line(name))
    widths = [measure(escape_line(cell)) for cell in cells]
    widest = max(widths, default=0)
    natural = max(widest, name_width)
    if name not in grid.prose:
        return _Column(natural, max(widest, _measure_word(name)), name_width)
    least = max(min(widest, PROSE_WIDTH), *map(_measure_word, (name, *cells)))
    return _Column(natural, least, sum(widths))


def _lay_out(grid: Grid, width: int) -> list[_Layout]:
    """Return the tables that show a grid: one, if the grid or a narrower one fits; none if it takes blocks."""
    last_with_labels = None
    table: Grid | None = grid
    while table is not None:
        if layout := _fit(table, width):
            return [layout]
        if table.labels:
            last_with_labels = table
        table = table.narrower
    return [] if last_with_labels is None else _split(last_with_labels, width)


def _split(grid: Grid, width: int) -> list[_Layout]:
    """Return tables with the labels of a grid and as many other columns as fit; none if a column is too wide."""
    labels = list(range(grid.labels))
    layouts: list[_Layout] = []
    columns = labels
    for number in range(grid.labels, len(grid.header)):
        layout = _fit(_select_columns(grid, [*columns, number]), width)
        if layout is not None and layouts:
            layouts[-1] = layout
        else:
            columns = labels
            layout = _fit(_select_columns(grid, [*columns, number]), width)
            if layout is None:
                return []
            layouts.append(layout)
        columns = [*columns, number]
    return layouts


def _select_columns(grid: Grid, columns: Sequence[int]) -> Grid:
    header = [grid.header[column] for column in columns]
    rows = [[row[column] for column in columns] for row in grid.rows]
    best = frozenset((row, columns.index(column)) for row, column in grid.best if column in columns)
    return replace(grid, header=header, rows=rows, best=best)


def _fit(grid: Grid, width: int) -> _Layout | None:
    """Return a grid with widths of its columns; None if it is too wide.

    Blocks need several columns with names, so a table without them is never too wide.
    """
    columns = [_measure_column(grid, number) for number in range(len(grid.header))]
    n_gaps = len(columns) - 1
    natural = [column.natural for column in columns]
    least = [column.least for column in columns]
    for widths in (natural, least):
        for gap in GAPS:
            spare = width - gap * n_gaps - sum(widths)
            if spare >= 0:
                return _Layout(grid, _widen(widths, columns, spare), gap)
    if n_gaps and any(grid.header):
        return None
    # longer words stick out
    least[-1] = max(PROSE_WIDTH, width - GAPS[-1] * n_gaps - sum(least[:-1]))
    return _Layout(grid, least, GAPS[-1])


def _widen(widths: Sequence[int], columns: Sequence[_Column], spare: int) -> list[int]:
    """Return the widths of columns that share what is to spare, so that few lines are needed."""
    wider = list(widths)
    for _ in range(spare):
        wrapped = [i for i, column in enumerate(columns) if wider[i] < column.natural]
        if not wrapped:
            break
        # A text of t characters has t / w lines, and t / w**2 fewer in a column that is wider by one.
        widest = max(wrapped, key=lambda i: columns[i].text / max(wider[i], 1) ** 2)
        wider[widest] += 1
    return wider


def _draw_table(layout: _Layout) -> Iterator[str]:
    """Yield the lines of a table whose cells are wrapped at the widths of their columns."""
    grid = layout.grid
    rows = [_wrap_row(row, layout.widths) for row in grid.rows]
    header = _wrap_row(grid.header, layout.widths) if any(grid.header) else []
    # names stand at the bottom of a header of several lines
    height = max(map(len, header), default=0)
    header = [[""] * (height - len(lines)) + lines for lines in header]
    widths = [0] * len(grid.header)
    for cells in (header, *rows):
        for column, lines in enumerate(cells):
            widths[column] = max(widths[column], *map(measure, lines))
    align = _align_columns(grid)

    def join(cells: Sequence[Sequence[str]]) -> Iterator[str]:
        for texts in zip_longest(*cells, fillvalue=""):
            padded = map(_pad, texts, widths, align)
            yield (" " * layout.gap).join(padded)

    if header:
        yield from join(header)
        yield RULE * (sum(widths) + layout.gap * (len(widths) - 1))
    for number, cells in enumerate(rows):
        for column, lines in enumerate(cells):
            if (number, column) in grid.best:
                cells[column] = [_style(line, BOLD) for line in lines]
        yield from join(cells)


def _wrap_row(row: Sequence[str], widths: Sequence[int]) -> list[list[str]]:
    return [_wrap(cell, width) for cell, width in zip(row, widths, strict=True)]


def _style(text: str, code: str) -> str:
    return f"{code}{text}{RESET}" if text else text


def _draw_blocks(grid: Grid, width: int) -> Iterator[str]:
    """Yield the lines of one block for each row, with an empty line between them."""
    names = [escape_line(name) for name in grid.header]
    # Values stand below a name that would take half of the line.
    short_names = [measure(name) for name in names if measure(name) <= width // 2]
    space = max(short_names, default=0) + 2
    previous = [""] * len(names)
    for number, row in enumerate(grid.rows):
        if number:
            yield ""
        for column, name in enumerate(names):
            cell = row[column]
            if not cell and grid.header[column] in grid.ditto:
                cell = previous[column]
            previous[column] = cell
            if not cell:
                continue
            text = cell if grid.header[column] in grid.prose else Whole(cell)
            # A column without a name holds the names of the rows.
            indent = space if name else 0
            prefix = name + " " * (indent - measure(name))
            is_long_name = measure(name) + 2 > indent > 0
            if is_long_name or indent + _measure_word(text) > width:
                yield name
                indent = 2
                prefix = "  "
            for line in _wrap(text, width - indent):
                yield prefix + (_style(line, BOLD) if (number, column) in grid.best else line)
                prefix = " " * indent


def draw_html(grid: Grid) -> str:
    """Draw a grid as an HTML table, without colours of its own, so that it can be read on light and on dark."""
    align = _align_columns(grid)
    # a mail or a plain page has no style that sets columns apart
    padding = "padding: .2em .6em"

    def draw_row(tag: str, texts: Iterable[str], style: str) -> str:
        row = ""
        for side, text in zip(align, texts, strict=True):
            row += f'<{tag} style="text-align: {side}; {style}">{text}</{tag}>'
        return f"<tr>{row}</tr>"

    parts = [
        '<table style="border-collapse: collapse; margin: 0 0 1.5em; font-variant-numeric: tabular-nums">'
    ]
    if grid.title:
        style = f"caption-side: top; text-align: left; {padding}"
        parts.append(f'<caption style="{style}">{_escape_html(grid.title)}</caption>')
    if any(grid.header):
        header = draw_row(
            "th", map(_escape_html, grid.header), f"{padding}; border-bottom: 1px solid"
        )
        parts.append(f"<thead>{header}</thead>")
    parts.append("<tbody>")
    for number, row in enumerate(grid.rows):
        texts = [_escape_html(cell) for cell in row]
        for column, text in enumerate(texts):
            if (number, column) in grid.best:
                texts[column] = f"<strong>{text}</strong>"
        parts.append(draw_row("td", texts, padding))
    parts.append("</tbody>")
    if grid.notes:
        notes = "<br>".join(map(_escape_html, grid.notes))
        width = f' colspan="{len(grid.header)}"' if grid.header else ""
        # Notes are set off by size alone: a colour would be lost on one of the grounds.
        # A long one is wrapped before it widens the table much.
        style = f"text-align: left; font-size: smaller; max-width: 36em; overflow-wrap: anywhere; {padding}"
        parts.append(f'<tfoot><tr><td{width} style="{style}">{notes}</td></tr></tfoot>')
    return "\n".join([*parts, "</table>\n"])


def _escape_html(text: str) -> str:
    return html.escape(escape_line(text))
