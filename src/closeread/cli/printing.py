"""Results on standard output, in the requested style."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

import click

from closeread.cli.streams import READABLE, can_write, make_readable
from closeread.progress import showing_progress

if TYPE_CHECKING:
    from closeread.counts.results import Result
    from closeread.tables import Grid, Style

CsvTable = tuple[Sequence[str], Iterable[Sequence[object]]]
"""Header and rows."""


def show(
    style: Literal["json", "csv"] | Style,
    *,
    value: Callable[[], object],
    table: Callable[[], CsvTable],
    grids: Callable[[], Iterable[Grid]],
) -> None:
    """Print a result.

    Args:
        style: the output format; only the function that it needs is called.
        value: returns what is printed as JSON.
        table: returns what is printed as CSV, numbers in full.
        grids: returns the tables, which are separated by a blank line.
    """
    from closeread.tables import csv_text

    if style == "json":
        print_json(value())
    elif style == "csv":
        click.echo(csv_text(*table()), nl=False)
    else:
        print_grids(grids(), style)


def show_result(style: Literal["json", "csv"] | Style, result: Result) -> None:
    """Print a result that knows its tables."""
    show(style, value=result.to_json, table=result.to_rows, grids=result.to_grids)


def print_grids(grids: Iterable[Grid], style: Style = "table") -> None:
    """Print tables, separated by a blank line, with bold and dim text if standard output is a terminal that has it."""
    from closeread.tables import draw

    coloured = can_colour(sys.stdout)
    text = "\n".join(draw(grid, style, coloured=coloured) for grid in grids)
    if style == "latex":
        print_markup(text, style)
    else:
        click.echo(text, nl=False)


@contextmanager
def writing_to(path: Path | None) -> Iterator[None]:
    """Write what the block prints to a file, whole or not at all; if the path is None, print it.

    Raises:
        OSError: the file can't be written.
    """
    if path is None:
        yield
        return
    from closeread.files import open_text, replacing

    with replacing(path) as partial, open_text(partial, path, READABLE) as file, redirect_stdout(file):
        yield


def print_json(value: object) -> None:
    """Print a value as indented JSON; what a terminal might act on, or its encoding lacks, is an escape sequence."""
    import json

    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    shown = "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    click.echo(shown if can_write(shown, sys.stdout) else json.dumps(value, indent=2, allow_nan=False))


def print_markup(text: str, style: Literal["latex", "html"]) -> None:
    """Print LaTeX or HTML that is valid though standard output may lack characters."""
    encoding = sys.stdout.encoding or "utf-8"
    if style == "html":
        shown = text.encode(encoding, "xmlcharrefreplace").decode(encoding)
    elif can_write(text, sys.stdout):
        shown = text
    else:  # escape sequences of characters are no commands
        parts = ((c, make_readable(c, encoding)) for c in text)
        shown = "".join(c if c == part else part.replace("\\", r"\textbackslash{}") for c, part in parts)
    click.echo(shown, nl=False)


def can_colour(file: TextIO) -> bool:
    """Return whether a file is a terminal on which the user wants colours (https://no-color.org)."""
    return file.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextmanager
def showing_bars() -> Iterator[None]:
    """Show progress in the block as bars on standard error, if it is a terminal, unless asked for quiet."""
    from closeread.cli.notes import is_quiet

    if not sys.stderr.isatty() or is_quiet():
        yield
        return
    with ExitStack() as stack:
        bars: Any = None
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            nonlocal bars
            if bars is None:  # imported for what takes long only
                from rich.console import Console
                from rich.progress import Progress as Bars

                bars = stack.enter_context(Bars(console=Console(stderr=True), transient=True))
            if what not in tasks:
                for shown in tasks.values():
                    bars.remove_task(shown)
                tasks.clear()
                tasks[what] = bars.add_task(what.capitalize(), total=total)
            bars.update(tasks[what], completed=done, total=total)

        stack.enter_context(showing_progress(show))
        yield
