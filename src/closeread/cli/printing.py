"""Standard output and standard error: results in the requested style, notes, progress, and streams of any encoding.

Results are on standard output, notes and errors on standard error; `--quiet` leaves out notes and progress bars, never
errors.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO, cast

import click

from closeread.exceptions import escape, escape_line
from closeread.progress import showing_progress

if TYPE_CHECKING:
    from closeread.tables import Grid, Style

OUTPUT = "standard output"
READABLE = "closeread.readable"
"""The name of our error handler for encoding."""

REPLACEMENTS = {
    "–": "-",
    "—": "-",
    "−": "-",
    "‐": "-",
    "‑": "-",
    "…": "...",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "«": "<<",
    "»": ">>",
    "†": "+",
    "‡": "#",
    "±": "+/-",
    "×": "x",
    "·": "*",
    "•": "*",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "→": "->",
    "←": "<-",
    "²": "2",
    "³": "3",
    "₂": "2",
    "α": "alpha",
    "κ": "kappa",
    "φ": "phi",
    "Φ": "Phi",
    "✓": "v",
    "✗": "x",
    "\u00a0": " ",
    "─": "-",
    "━": "=",
    "═": "=",
    "│": "|",
    "┃": "|",
    "║": "|",
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╞╡╪╸╺", "+"),
}
"""What stands for a character that an encoding lacks; others are written as escape sequences."""


def make_readable(text: str, encoding: str) -> str:
    r"""Replace what an encoding lacks by what people can read.

    Bytes of file names that are not UTF-8 (lone surrogates) are shown as in Python.

    >>> make_readable("1–2… İ", "ascii")
    '1-2... \\u0130'
    >>> make_readable("ö–", "latin-1")
    'ö-'
    """
    return text if text.isascii() else text.encode(encoding, READABLE).decode(encoding)


def can_write(text: str, stream: TextIO) -> bool:
    """Return whether the encoding of a stream has all characters of a text."""
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = error.object[error.start : error.end]
    return "".join(REPLACEMENTS.get(c) or c.encode("ascii", "backslashreplace").decode() for c in found), error.end


codecs.register_error(READABLE, _replace)


class ReadableStream(io.TextIOBase):
    """A stream that writes to another what this can encode, and is silent as soon as that fails.

    It has no `buffer`: click would write UTF-8 to that of an ASCII stream.

    Args:
        stream: the other.
        name: what to call it in the error that the first failure raises; empty to raise none.
    """

    def __init__(self, stream: io.TextIOWrapper, name: str) -> None:
        self.stream = stream
        self._name = name
        self._failed = False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the other stream."""
        return self.stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """The error handler of the other stream."""
        return self.stream.errors

    def write(self, text: str, /) -> int:
        """Write a text.

        Raises:
            TypeError: it is no text; click tries whether a stream takes bytes.
            BrokenPipeError: nobody reads.
            OSError: the text can't be written, for another reason, such as a full disk.
        """
        if not isinstance(text, str):
            raise TypeError(f"{type(text).__name__} is not text")
        if not text:  # so click tries, too, and would swallow the only error
            return 0
        shown = make_readable(text, self.encoding)
        self._attempt(lambda: self.stream.write(shown))
        return len(text)

    def flush(self) -> None:
        """Write what is buffered.

        Raises:
            BrokenPipeError: nobody reads.
            OSError: it can't be written, for another reason.
        """
        if not self.stream.closed:
            self._attempt(self.stream.flush)

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return self.stream.isatty()

    def fileno(self) -> int:
        """Return the number of the file."""
        return self.stream.fileno()

    def writable(self) -> bool:
        """Return that it can be written to."""
        return True

    def _attempt(self, action: Callable[[], object]) -> None:
        if self._failed:
            return
        try:
            action()
        except OSError as error:
            self._failed = True
            self._discard()
            if not self._name:
                return
            if isinstance(error, BrokenPipeError):
                raise
            raise OSError(error.errno, f"can't be written: {error.strerror or error}", self._name) from error

    def _discard(self) -> None:
        """Let what is still buffered go nowhere: Python flushes it when it ends, and would complain once more."""
        with suppress(OSError, ValueError):  # a stream without a file
            nowhere = os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(nowhere, self.stream.fileno())
            finally:
                os.close(nowhere)


@contextmanager
def readable_streams() -> Iterator[None]:
    """Let standard output and standard error take any text in the block; what is written to closed ones is lost.

    An error of standard error is ignored, for there is nowhere to report it.
    """
    before = sys.stdout, sys.stderr
    opened = []
    for name, shown in (("stdout", OUTPUT), ("stderr", "")):
        stream = getattr(sys, name)
        if stream is None:  # closed; a file that is opened later must not get its number
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
            opened.append(stream)
        if isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, cast(TextIO, ReadableStream(stream, shown)))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream in opened:
            stream.close()


def print_result(found: Any, *, style: str = "", output: Path | None = None, as_json: bool = False, **how: Any) -> None:
    """Print the result of an operation, or what it says of what it has written.

    Args:
        found: the result.
        style: the format of the output, of what has several.
        output: the file to write instead.
        as_json: whether to print JSON.
        **how: how to lay out a report.

    Raises:
        ClickException: the result is that something is wrong.
    """
    with writing_to(output):
        if style:
            _show_result(_lay_out(found, **how), style, **how)
        elif isinstance(found, list):
            _show_list(found, as_json=as_json)
        elif as_json or isinstance(found, dict):
            print_json(found if isinstance(found, dict) else found.to_json())
        elif hasattr(found, "draw"):
            click.echo(found.draw(coloured=can_colour(sys.stdout)))
        elif isinstance(found, str):
            click.echo(found)
        elif hasattr(found, "to_grids"):
            print_grids(found.to_grids())
        else:
            said = found.describe() if hasattr(found, "describe") else str(found)
            is_named = getattr(found, "path", None) is not None  # a name may have line ends
            for line in [said] if is_named else said.split("\n"):
                click.echo(escape_line(line))
    if failure := getattr(found, "failure", ""):
        raise click.ClickException(escape(failure))


def _lay_out(found: Any, **how: Any) -> Any:
    """Return a result that knows its tables: of a report, how it is laid out; of several results, them together."""
    if "per_unit" in how:
        from closeread.operations.score import Sheet

        return Sheet(found, how["per_unit"], how["with_counts"], how["digits"])
    if isinstance(found, list):
        from closeread.operations.compare import Comparisons

        return Comparisons(found)
    return found


def _show_result(found: Any, style: str, *, score_only: bool = False, metrics: Sequence[str] = (), **how: Any) -> None:
    if score_only:
        click.echo("\n".join(found.list_main(metrics or ())))
    elif style == "json":
        print_json(found.to_json())
    elif style == "csv":
        click.echo(found.to_csv(), nl=False)
    elif style == "latex":
        print_markup(found.to_latex(), "latex")
    elif style == "html":
        print_markup(found.to_html(), "html")
    else:
        print_grids(found.to_grids(style), cast("Style", style))


def _show_list(found: list[Any], *, as_json: bool) -> None:
    """Print the lines of files that were written, or the verdicts on files.

    Raises:
        ClickException: a file is not valid; an Exit after JSON, which has said so.
    """
    wrong = [str(one) for one in found if getattr(one, "error", None) is not None]
    if as_json:
        print_json([one.to_json() for one in found])
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
        click.echo(click.style(line, dim=True) if can_colour(sys.stderr) else line, err=True)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print the warnings raised in the block to standard error, as notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    messages = (str(warning.message) for warning in caught if issubclass(warning.category, UserWarning))
    tell(line for message in messages for line in message.splitlines())


SWITCHES = {
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "datasets.utils",
    "HF_HUB_DISABLE_PROGRESS_BARS": "huggingface_hub.utils",
}
"""What hides the progress bars of libraries that are imported later, and the modules that hide those of others."""


@contextmanager
def silence_libraries() -> Iterator[None]:
    """Hide progress bars, warnings and log messages below errors in the block, of libraries imported in it, too."""
    import logging

    loaded = [sys.modules[home] for home in SWITCHES.values() if home in sys.modules]
    shown = [one for one in loaded if not one.are_progress_bars_disabled()]
    for one in shown:
        one.disable_progress_bars()
    kept = {name: os.environ.get(name) for name in SWITCHES}
    os.environ |= dict.fromkeys(SWITCHES, "1")
    level = logging.root.manager.disable
    logging.disable(max(level, logging.WARNING))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
        for name, value in kept.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
        for one in shown:
            one.enable_progress_bars()
