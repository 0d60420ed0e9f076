"""Notes on standard error: what a user should know about a result, or about the files that it comes from.

Results are on standard output, notes and errors on standard error; `--quiet` leaves notes out, never errors.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from closeread.cli.printing import can_colour
from closeread.errors import escape

QUIET = "closeread.quiet"
"""What the context of a command remembers: that notes are left out."""


def _remember(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    # An option that is not given must not undo the one before the command.
    if value:
        ctx.meta[QUIET] = True


class QuietCommand(click.Command):
    """A command, or a group of them, with the option `--quiet`."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters."""
        help_text = "Leave out notes on standard error."
        quiet = click.Option(
            ["-q", "--quiet"], is_flag=True, expose_value=False, is_eager=True, callback=_remember, help=help_text
        )
        own = super().get_params(ctx)
        place = len(own) - ("--help" in own[-1].opts if own else 0)
        return [*own[:place], quiet, *own[place:]]


class QuietGroup(QuietCommand, click.Group):
    """A group with the option `--quiet`, which holds for its subcommands."""


def tell(notices: Iterable[str]) -> None:
    """Print notices to standard error, dim on a terminal, unless the user asked for quiet; equal ones once, counted."""
    context = click.get_current_context(silent=True)
    if context is not None and context.meta.get(QUIET):
        return
    for notice, times in Counter(notices).items():
        repeated = f" ({times:,} times)" if times > 1 else ""
        line = f"note: {escape(notice)}{repeated}"
        click.echo(click.style(line, dim=True) if can_colour(sys.stderr) else line, err=True)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print the warnings raised in the block to standard error, as notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    messages = (str(warning.message) for warning in caught if issubclass(warning.category, UserWarning))
    tell(line for message in messages for line in message.splitlines())
