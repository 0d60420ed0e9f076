"""Standard output and standard error: results in the requested style, notes, progress, and streams of any encoding.

Results are on standard output, notes and errors on standard error; `--quiet` leaves out notes and progress, never
errors.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

from closeread.exceptions import escape_line
from closeread.progress import showing_progress

if TYPE_CHECKING:
    from closeread.tables import Grid, Style

READABLE = "closeread.readable"
"""The name of closeread's error handler for encoding."""

PLAIN = str.maketrans({"–": "-", "─": "-", "…": "...", "†": "+", "‡": "#", "“": '"', "”": '"'})
"""What stands for a character of tables that an encoding lacks; others are written as escape sequences."""


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(PLAIN)
    return text.encode("ascii", "backslashreplace").decode(), error.end


codecs.register_error(READABLE, _replace)


def prepare_streams() -> None:
    """Let standard output and standard error take any text; what is written to a closed standard error is lost."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed; a file that is opened later must not get its number
            # What is opened to be read refuses to be written.
            access = os.O_RDONLY if name == "stdout" else os.O_WRONLY
            setattr(sys, name, open(os.open(os.devnull, access), "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=READABLE)


def print_result(
    result: Any,
    *,
    style: str = "",
    output: Path | None = None,
    as_json: bool = False,
    **layout: Any,
) -> None:
    """Print the result of an operation, or write it to a file, in a style if it has several.

    The layout is that of a report: which of its parts are printed, and how.
    """
    if isinstance(result, str | dict) or hasattr(result, "draw"):
        if style not in ("", "table") and not (style == "json" and isinstance(result, dict)):
            raise click.UsageError(f"--format {style} goes with --stats")
        style = ""
    with writing_to(output):
        if style:
            _print_styled(result, style, **layout)
        elif isinstance(result, list):
            _print_list(result, as_json=as_json)
        elif isinstance(result, dict):
            print_json(result)
        elif as_json:
            print_json(result.to_dict())
        elif hasattr(result, "draw"):
            click.echo(result.draw(coloured=can_colour(sys.stdout)))
        elif isinstance(result, str):
            click.echo(result)
        elif hasattr(result, "_to_grids"):
            print_grids(result._to_grids())
        else:
            _print_lines(result)


def _print_lines(result: Any) -> None:
    """Print what a result says of itself; the name of a file that was written may have line ends."""
    text = result.describe() if hasattr(result, "describe") else str(result)
    lines = text.split("\n") if getattr(result, "path", None) is None else [text]
    for line in lines:
        click.echo(escape_line(line))


def _print_styled(result: Any, style: str, **layout: Any) -> None:
    """Print a result in a format: of a report, as it is laid out."""
    score_only = layout.pop("score_only", False)
    metrics = layout.pop("metrics", None)
    if layout:
        from closeread.operations.score import Sheet

        result = Sheet(result, **layout)
    if score_only:
        click.echo("\n".join(result.list_main(metrics or ())))
    elif style == "json":
        content = result.to_dict()
        # However many systems are compared with a baseline, a command prints a list.
        is_pair = getattr(result, "baseline", None) is not None and isinstance(content, dict)
        print_json([content] if is_pair else content)
    elif style == "eee":
        print_json(result.to_eee())
    elif style in ("table", "markdown"):
        print_grids(result._to_grids(style), cast("Style", style))
    else:
        text = getattr(result, f"to_{style}")()
        if style == "html":
            encoding = sys.stdout.encoding or "utf-8"
            text = text.encode(encoding, "xmlcharrefreplace").decode(encoding)
        click.echo(text, nl=False)


def _print_list(results: list[Any], *, as_json: bool) -> None:
    """Print the lines of files that were written, or the verdicts on files; what is not valid is an error."""
    invalid = [result for result in results if getattr(result, "error", None) is not None]
    if as_json:
        print_json([result.to_dict() for result in results])
        if invalid:
            raise click.exceptions.Exit(1)
        return
    for result in results:
        if result not in invalid:
            click.echo(escape_line(str(result)))
    if invalid:
        raise click.ClickException("\n".join(map(str, invalid)))


def print_grids(grids: Iterable[Grid], style: Style = "table") -> None:
    """Print tables, separated by a blank line, with bold and dim text if standard output is a terminal that has it."""
    from closeread.tables import draw

    coloured = can_colour(sys.stdout)
    click.echo("\n".join(draw(grid, style, coloured=coloured) for grid in grids), nl=False)


@contextmanager
def writing_to(path: Path | None) -> Iterator[None]:
    """Write what the block prints to a file, whole or not at all; if the path is None, print it."""
    if path is None:
        yield
        return
    from closeread.files import open_text, replacing

    with (
        replacing(path) as partial,
        open_text(partial, path, READABLE) as file,
        redirect_stdout(file),
    ):
        yield


def print_json(value: object) -> None:
    """Print a value as indented JSON; what a terminal might act on, or its encoding lacks, is an escape sequence."""
    import json

    characters = []
    for character in json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False):
        is_plain = character.isprintable() or character == "\n"
        characters.append(character if is_plain else json.dumps(character)[1:-1])
    text = "".join(characters)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2, allow_nan=False)
    click.echo(text)


def is_terminal(file: TextIO) -> bool:
    """Return whether a file is a terminal that knows escape sequences."""
    return file.isatty() and os.environ.get("TERM") != "dumb"


def can_colour(file: TextIO) -> bool:
    """Return whether a file is a terminal on which the user wants colours (https://no-color.org)."""
    return is_terminal(file) and not os.environ.get("NO_COLOR")


SECONDS_BEFORE_PROGRESS = 2.0
"""After how many seconds progress is shown."""

SECONDS_BETWEEN_CHANGES = 0.5
"""How often it changes then."""

ERASE = "\r\x1b[K"
"""What removes the line of progress from a terminal."""

LINE = "closeread.line"
"""What the context of a command remembers: that there may be a line of progress."""


@contextmanager
def showing_line(name: str = "") -> Iterator[None]:
    """Show in a line on standard error what the block is doing, if it takes long, unless asked for quiet or in a pipe.

    The name is shown until progress is reported; libraries with progress bars of their own need none.
    """
    if is_quiet() or not is_terminal(sys.stderr):
        yield
        return
    progress = ""
    is_done = threading.Event()
    start = time.monotonic()
    meta = click.get_current_context().meta

    def show(activity: str, done: int, total: int) -> None:
        nonlocal progress
        progress = f"{activity} {done:,} of {total:,}"

    def draw() -> None:
        wait = SECONDS_BEFORE_PROGRESS
        while not is_done.wait(wait):
            wait = SECONDS_BETWEEN_CHANGES
            text = progress
            if not text and "tqdm" not in sys.modules:
                text = name
            if text:
                line = f"{text} … {time.monotonic() - start:.0f} s"
                meta[LINE] = True
                click.echo(ERASE + line[: get_terminal_size().columns - 1], err=True, nl=False)

    thread = threading.Thread(target=draw, daemon=True)
    thread.start()
    try:
        with showing_progress(show):
            yield
    finally:
        is_done.set()
        thread.join()
        if meta.pop(LINE, False):
            click.echo(ERASE, err=True, nl=False)


def echo_above(line: str, *, err: bool = True) -> None:
    """Print a line where the line of progress may be."""
    context = click.get_current_context(silent=True)
    if context is not None and LINE in context.meta:
        click.echo(ERASE, err=True, nl=False)
    click.echo(line, err=err)


QUIET = "closeread.quiet"
"""What the context of a command remembers: that notes are left out."""


def remember_quiet(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Remember `--quiet`; where it is not given, it must not undo the one before the command."""
    if value:
        ctx.meta[QUIET] = True


def is_quiet() -> bool:
    """Return whether the user asked for quiet."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def tell(notices: Iterable[str]) -> None:
    """Print notices to standard error, dim on a terminal, unless the user asked for quiet; equal ones once, counted."""
    if is_quiet():
        return
    for notice, times in Counter(notices).items():
        repeated = f" ({times:,} times)" if times > 1 else ""
        line = f"note: {escape_line(notice)}{repeated}"
        echo_above(click.style(line, dim=True) if can_colour(sys.stderr) else line)


@contextmanager
def quieting_libraries() -> Iterator[None]:
    """Print the warnings raised in the block as notes; if the user asked for quiet, hide bars and log messages, too.

    Errors are logged anyway.
    """
    if is_quiet():
        import logging  # takes 7 ms to import

        os.environ |= {
            "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }
        logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            yield
    finally:
        if is_quiet():
            logging.disable(logging.NOTSET)
    lines: list[str] = []
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            lines += str(warning.message).splitlines()
    tell(lines)
