"""Subcommand for annotators of WikiPossessions: their agreement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.cli.annotators import AgreementCommand, print_agreement

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


@click.command(cls=AgreementCommand, task="wikipossessions", short_help="Score the second annotator against the first.")
@options.files
@options.style_options
def agreement(files: tuple[Path, ...], style: Any, **values: Any) -> None:
    """Score the second annotator's possessors and ordered pairs against the first's; add Cohen's kappa of the labels.

    Each file is an annotator.  Of more than two, each is scored against all before, and F1 scores and kappas are
    averaged over pairs.

    Files are in the corpus's format, JSON Lines or Parquet.  Labels and ordered pairs are compared on the possessors
    that both annotators have, as in the paper; --pairs all compares the ordered pairs of all possessors.

    \b
    Examples:
      closeread agreement wikipossessions anna.csv ben.csv
      closeread agreement wikipossessions anna.csv ben.csv cem.csv --pairs all
      closeread agreement wikipossessions anna.csv ben.csv --setting partial \\
        --json
    """
    print_agreement("wikipossessions", files, style, **values)


COMMANDS: Commands = {"agreement": {"wikipossessions": agreement}}
