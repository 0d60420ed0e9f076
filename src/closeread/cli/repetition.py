"""Options that are given twice: the values add up, or a second value is refused, since only the last would count.

Flags may be repeated, and the last of several ways to choose one thing counts, as in ``--format csv --json``.  Values
from environment variables are defaults, which the command line replaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import click

from closeread.exceptions import escape, shorten

TIMES = {2: "twice"}


class OnceCommand(click.Command):
    """A command that takes the value of an option once, unless the option collects values."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments.

        Raises:
            UsageError: options with a single value are given several times; all of them at once.
        """
        if not ctx.resilient_parsing and (repeated := list(_find_repeated(self.get_params(ctx), ctx, args))):
            raise click.UsageError(f"{'; '.join(repeated)}.", ctx)
        return super().parse_args(ctx, args)


def _find_repeated(params: list[click.Parameter], ctx: click.Context, args: list[str]) -> Iterator[str]:
    """Yield a sentence, without its full stop, for each option with a single value that the arguments give twice."""
    collecting = [_collect(param, f"{number}") for number, param in enumerate(params)]
    options = [option for option in collecting if isinstance(option, click.Option)]
    parser = click.Command(None, params=[*options], add_help_option=False).make_parser(ctx)
    values, _, _ = parser.parse_args(args=list(args))
    if any(option.is_eager and option.name in values for option in options):  # such as --help, which ignores the others
        return
    for option, param in zip(collecting, params, strict=True):
        found = values.get(option.name or "")
        if isinstance(option, click.Option) and option is not param and isinstance(found, list) and len(found) > 1:
            times = TIMES.get(len(found), f"{len(found)} times")
            *former, last = (escape(shorten(_write(value))) for value in found)
            yield f"{max(param.opts, key=len)} is given {times}: {', '.join(former)} and {last}"


def _collect(param: click.Parameter, name: str) -> click.Parameter:
    """Return an option with a single value as one that collects values, under another name; others as they are."""
    if not isinstance(param, click.Option) or param.is_flag or param.multiple or param.count:
        return param
    collecting = copy(param)
    collecting.name, collecting.multiple = name, True
    return collecting


def _write(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def split_names(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Return the names that were given to an option, several times or separated by commas; each once."""
    return tuple(dict.fromkeys(name.strip() for value in values for name in value.split(",")))


def read_choices(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """Return the options of a procedure that were given as NAME=VALUE, by name.

    Raises:
        BadParameter: one is not of this form, or is given twice.
    """
    found: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name:
            wrong = f"'{escape(text)}' is not an option with its value (expected NAME=VALUE)."
            raise click.BadParameter(wrong, ctx, param)
        key = name.replace("-", "_")
        if key in found:
            wrong = f"option {escape(name)} is given twice: {escape(found[key])} and {escape(value)}."
            raise click.BadParameter(wrong, ctx, param)
        found[key] = value
    return found
