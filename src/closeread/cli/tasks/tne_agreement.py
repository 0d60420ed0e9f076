"""Subcommand for annotators of TNE: their agreement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.cli.annotators import print_agreement
from closeread.cli.help_groups import GroupedCommand

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


@click.command(cls=GroupedCommand, short_help="Score the second annotator against the first.")
@options.files
@click.option(
    "--by",
    type=click.Choice(["domain", "forum"]),
    multiple=True,
    help="Also report scores for each domain, or each forum, of the documents.",
)
@options.style_options
def agreement(files: tuple[Path, ...], by: tuple[str, ...], style: Any) -> None:
    """Score the second annotator's links and clusters against the first's.

    Each file is an annotator.  Of more than two, each is scored against all before, and F1 scores and accuracies are
    averaged over pairs.

    Files are in the corpus's format, JSON Lines or Parquet.  Links may also be given as a system's predictions, with
    the prepositions of unlinked pairs (fallback), which UPrep needs.  Clusters are compared without singletons.
    Annotation that one of the files lacks is not compared.

    \b
    Examples:
      closeread agreement tne anna.jsonl ben.jsonl
      closeread agreement tne anna.jsonl ben.jsonl cem.jsonl --by domain
      closeread agreement tne anna.jsonl.gz ben.jsonl.gz --json
    """
    print_agreement("tne", files, style, by=by)


COMMANDS: Commands = {"agreement": {"tne": agreement}}
