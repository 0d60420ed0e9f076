"""Help whose lines don't end inside the name of an option, such as --word-column, as click's do."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)+")
WHOLE = "\N{NON-BREAKING HYPHEN}"


def _join(text: str) -> str:
    return OPTION.sub(lambda option: option[0].replace("-", WHOLE), text)


class WholeOptionsFormatter(click.HelpFormatter):
    """A formatter that never breaks the name of an option."""

    def write_text(self, text: str) -> None:
        """Write a text, wrapped."""
        super().write_text(_join(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write options with their descriptions, wrapped."""
        super().write_dl([(first, _join(second)) for first, second in rows], col_max, col_spacing)

    def getvalue(self) -> str:
        """Return everything that was written."""
        return super().getvalue().replace(WHOLE, "-")


class HelpContext(click.Context):
    """The context of a command with such help."""

    formatter_class = WholeOptionsFormatter
