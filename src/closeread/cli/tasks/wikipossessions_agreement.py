"""Subcommand for annotators of WikiPossessions: their agreement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.records import Record


class AgreementCommand(click.Command):
    """A command with the options of the measure, which is imported only when they are needed."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters."""
        from closeread.tasks.wikipossessions.agreement import OPTIONS

        return [*options.declared_options(OPTIONS), *super().get_params(ctx)]


@click.command(cls=AgreementCommand)
@click.argument("first", type=options.FILE)
@click.argument("second", type=options.FILE)
@options.style_options
def agreement(first: Path, second: Path, style: Any, **values: Any) -> None:
    """Score the second annotator's possessors and ordered pairs against the first's; add Cohen's kappa of the labels.

    Files are in the corpus's format, JSON Lines or Parquet.  Labels and ordered pairs are compared on the possessors
    that both annotators have, as in the paper; --pairs all compares the ordered pairs of all possessors.

    \b
    Examples:
      closeread agreement wikipossessions anna.csv ben.csv
      closeread agreement wikipossessions anna.csv ben.csv --pairs all
      closeread agreement wikipossessions anna.jsonl ben.jsonl --setting partial --json
    """
    from closeread.corpora.gold import load_corpus, read_own_gold
    from closeread.counts.rendering import Grid
    from closeread.errors import pluralize
    from closeread.tasks.wikipossessions.agreement import agreement as measure

    corpus = load_corpus("wikipossessions")

    def read(path: Path) -> Sequence[Record]:
        gold = read_own_gold(corpus, path)
        options.tell(f"{path}: {notice}" for notice in gold.notices)
        return gold.records

    one, two = options.read_all((first, second), read)
    given = {name: value for name, value in values.items() if value is not None}
    found = measure(one, two, names=(str(first), str(second)), **given)
    header = ["", "precision", "recall", "same label", "kappa"]
    compared = "these" if found.options["pairs"] == "shared" else "all"
    notes = [
        f"Labels are compared on the {pluralize(found.shared, 'possessor')} that both annotators have.",
        f"Ordered pairs are those of {compared} possessors.",
    ]
    printing.show(
        style,
        value=found.to_json,
        table=lambda: ([*header, "shared"], [[*row, found.shared] for row in found.rows()]),
        grids=lambda: [Grid("", header, [list(map(printing.format_cell, row)) for row in found.rows()], notes)],
    )


COMMANDS: Commands = {"agreement": {"wikipossessions": agreement}}
