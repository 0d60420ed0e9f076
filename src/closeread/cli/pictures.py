"""Figures for commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli.notes import tell

if TYPE_CHECKING:
    from closeread.corpus.figures import Drawing


def draw(output: Path, make: Callable[[], Drawing]) -> None:
    """Draw a figure, write it, and print what is drawn.

    Raises:
        RequestError: the output is not a picture.
    """
    from closeread.drawing.pictures import check_suffix, write_picture
    from closeread.exceptions import escape_line

    check_suffix(output)
    drawing = make()
    tell(drawing.notices)
    write_picture(drawing.figure, output)
    click.echo(escape_line(f"{output}: {drawing.summary}"))
