"""Notes on standard error: what a user should know about a result, or about the files that it comes from.

Results are on standard output, notes and errors on standard error; `--quiet` leaves out notes and progress bars, never
errors.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import click

from closeread.cli.printing import can_colour
from closeread.exceptions import RequestError, escape_line
from closeread.suggestions import describe_unknown

P = ParamSpec("P")
T = TypeVar("T")

QUIET = "closeread.quiet"
"""What the context of a command remembers: that notes are left out."""


def _remember(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    # An option that is not given must not undo the one before the command.
    if value:
        from closeread.corpus.downloads import hide_progress

        ctx.meta[QUIET] = True
        ctx.with_resource(hide_progress())


class QuietCommand(click.Command):
    """A command, or a group of them, with the option `--quiet`."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters."""
        help_text = "Leave out notes and progress bars on standard error."
        quiet = click.Option(
            ["-q", "--quiet"], is_flag=True, expose_value=False, is_eager=True, callback=_remember, help=help_text
        )
        own = super().get_params(ctx)
        place = len(own) - ("--help" in own[-1].opts if own else 0)
        return [*own[:place], quiet, *own[place:]]


class QuietGroup(QuietCommand, click.Group):
    """A group with the option `--quiet`, which holds for its subcommands."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a subcommand with its name and its arguments.

        Raises:
            RequestError: there is no such subcommand; the message suggests a similar name.
        """
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if args[0].startswith("-"):
                raise
            what = "command" if ctx.parent is None else f"subcommand of {ctx.info_name}"
            commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
            known = [name for name, command in commands.items() if command is not None and not command.hidden]
            raise RequestError(describe_unknown(what, args[0], known)) from error


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


def hush_libraries(command: Callable[P, T]) -> Callable[P, T]:
    """Decorate a command that works with `datasets` or the Hub: `--quiet` hides what these libraries print."""

    @wraps(command)
    def call(*arguments: P.args, **options: P.kwargs) -> T:
        if not is_quiet():
            return command(*arguments, **options)
        with silence_libraries():
            return command(*arguments, **options)

    return call


@contextmanager
def silence_libraries() -> Iterator[None]:
    """Hide progress bars, warnings and log messages below errors in the block, of libraries imported in it, too.

    The bars of `datasets` and `huggingface_hub` are those of tqdm.  Their own switches are no use here: importing them
    only for that would be slow, and environment variables are read once, so that nothing could undo them.
    """
    import logging

    from tqdm.std import tqdm  # type: ignore[import-untyped]

    begin = tqdm.__init__

    def begin_hidden(bar: Any, *arguments: Any, **options: Any) -> None:
        begin(bar, *arguments, **{**options, "disable": True})

    level = logging.root.manager.disable
    tqdm.__init__ = begin_hidden
    logging.disable(max(level, logging.WARNING))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        tqdm.__init__ = begin
        logging.disable(level)
