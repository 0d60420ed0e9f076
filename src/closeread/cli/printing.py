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
    found = error.object[error.start : error.end].translate(PLAIN)
    return found.encode("ascii", "backslashreplace").decode(), error.end


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
    found: Any, *, style: str = "", output: Path | None = None, as_json: bool = False, **how: Any
) -> None:
    """Print the result of an operation, or write it to a file, in a style if it has several; `how` is for a report."""
    if isinstance(found, str | dict) or hasattr(found, "draw"):
        if style not in ("", "table") and not (style == "json" and isinstance(found, dict)):
            raise click.UsageError(f"--format {style} goes with --stats")
        style = ""
    with writing_to(output):
        if style:
            _print_styled(found, style, **how)
        elif isinstance(found, list):
            _print_list(found, as_json=as_json)
        elif as_json or isinstance(found, dict):
            print_json(found if isinstance(found, dict) else found.to_dict())
        elif hasattr(found, "draw"):
            click.echo(found.draw(coloured=can_colour(sys.stdout)))
        elif isinstance(found, str):
            click.echo(found)
        elif hasattr(found, "_to_grids"):
            print_grids(found._to_grids())
        else:
            said = found.describe() if hasattr(found, "describe") else str(found)
            is_named = getattr(found, "path", None) is not None  # a name may have line ends
            for line in [said] if is_named else said.split("\n"):
                click.echo(escape_line(line))


def _print_styled(found: Any, style: str, **how: Any) -> None:
    """Print a result in a format: of a report, as it is laid out; of several comparisons, them together."""
    if "per_unit" in how:
        from closeread.operations.score import Sheet

        found = Sheet(found, how["per_unit"], how["with_counts"], how["digits"], how["source"])
    elif isinstance(found, list):
        from closeread.counts.results import Several

        found = Several(found)
    if how.get("score_only"):
        click.echo("\n".join(found.list_main(how.get("metrics") or ())))
    elif style == "json":
        print_json(found.to_dict())
    elif style == "eee":
        print_json(found.to_eee())
    elif style in ("table", "markdown"):
        print_grids(found._to_grids(style), cast("Style", style))
    else:
        text, encoding = getattr(found, f"to_{style}")(), sys.stdout.encoding or "utf-8"
        shown = (
            text.encode(encoding, "xmlcharrefreplace").decode(encoding) if style == "html" else text
        )
        click.echo(shown, nl=False)


def _print_list(found: list[Any], *, as_json: bool) -> None:
    """Print the lines of files that were written, or the verdicts on files; what is not valid is an error."""
    wrong = [str(one) for one in found if getattr(one, "error", None) is not None]
    if as_json:
        print_json([one.to_dict() for one in found])
        if wrong:
            raise click.exceptions.Exit(1)
        return
    for one in found:
        if getattr(one, "error", None) is None:
            click.echo(escape_line(str(one)))
    if wrong:
        raise click.ClickException("\n".join(wrong))


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

    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    shown = "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    try:
        shown.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        shown = json.dumps(value, indent=2, allow_nan=False)
    click.echo(shown)


def is_terminal(file: TextIO) -> bool:
    """Return whether a file is a terminal that knows escape sequences."""
    return file.isatty() and os.environ.get("TERM") != "dumb"


def can_colour(file: TextIO) -> bool:
    """Return whether a file is a terminal on which the user wants colours (https://no-color.org)."""
    return is_terminal(file) and not os.environ.get("NO_COLOR")


PAUSE, TICK = 2.0, 0.5
"""After how many seconds progress is shown, and how often it changes then."""

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
    shown, is_done, start, meta = (
        "",
        threading.Event(),
        time.monotonic(),
        click.get_current_context().meta,
    )

    def show(what: str, done: int, total: int) -> None:
        nonlocal shown
        shown = f"{what} {done:,} of {total:,}"

    def draw() -> None:
        wait = PAUSE
        while not is_done.wait(wait):
            wait = TICK
            if text := shown or ("" if "tqdm" in sys.modules else name):
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
    messages = (
        str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)
    )
    tell(line for message in messages for line in message.splitlines())
