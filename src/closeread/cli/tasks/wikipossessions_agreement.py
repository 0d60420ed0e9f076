"""Subcommand for annotators of WikiPossessions: their agreement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.help_groups import GroupedCommand
from closeread.cli.notes import tell

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


class AgreementCommand(GroupedCommand):
    """A command with the options of the measure, which is imported only when they are needed."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters."""
        from closeread.tasks.wikipossessions.agreement import OPTIONS

        return [*options.declared_options(OPTIONS), *super().get_params(ctx)]


@click.command(cls=AgreementCommand, short_help="Score the second annotator against the first.")
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
    from closeread.cli.annotators import name_files
    from closeread.tasks.wikipossessions.agreement import compare_annotators

    given = {name: value for name, value in values.items() if value is not None}
    found = compare_annotators(name_files(files), **given)
    tell(found.notices)
    printing.show_result(style, found)


COMMANDS: Commands = {"agreement": {"wikipossessions": agreement}}
