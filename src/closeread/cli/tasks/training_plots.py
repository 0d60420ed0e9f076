"""Subcommands that draw training runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli import options, training

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


@click.command(cls=options.WritingCommand, short_help="Draw the loss and the scores of training runs by epoch.")
@click.argument("runs", type=training.FOLDER, nargs=-1, required=True)
@options.output
def plot_training(runs: tuple[Path, ...], output: Path) -> None:
    """Draw the loss and the scores of training runs by epoch, with a dot at the best epoch.

    Each RUN is a folder of `closeread train`.  The scores are those on held-out data.

    \b
    Example:
      closeread plot training coupled decoupled -o curves.png
    """
    from closeread.cli.pictures import draw
    from closeread.corpus.training_curves import draw_training

    draw(output, lambda: draw_training(runs))


COMMANDS: Commands = {"plot": {"training": plot_training}}
