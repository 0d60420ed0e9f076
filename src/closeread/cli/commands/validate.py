"""`closeread validate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.cli.help_groups import GroupedCommand
from closeread.cli.procedure_group import (
    ProcedureGroup,
    corpus_options,
    examples,
    given_options,
    gold_arguments,
    procedure_options,
    read_place,
)
from closeread.errors import escape

if TYPE_CHECKING:
    from closeread.counts.procedure import Procedure


def build(procedure: Procedure, corpus: str | None, name: str) -> click.Command:
    """Return the subcommand of a procedure."""

    @click.command(
        cls=GroupedCommand,
        name=procedure.name,
        help="Validate a file of predictions without scoring it.\n\n"
        + examples(procedure, corpus, f"validate {name}", "--config sample" if corpus else ""),
        short_help=procedure.title[0].upper() + procedure.title[1:],
    )
    @gold_arguments(corpus)
    @click.argument("predictions", type=options.FILE, metavar="PREDICTIONS" if corpus else "RESPONSE")
    def command(predictions: Path, **values: Any) -> None:
        run(procedure, name, predictions, values)

    command.params += [*corpus_options(corpus), *procedure_options(procedure, corpus)]
    return command


def run(procedure: Procedure, name: str, predictions: Path, values: dict[str, Any]) -> None:
    """Validate a file and print how many gold records it covers."""
    from closeread.scoring import open_scorer

    scorer = open_scorer(name, read_place(values), given_options(procedure, values))
    options.tell(scorer.gold.notices)
    system = scorer.read(predictions)
    options.tell(scorer.remarks(system))
    total = len(scorer.gold.records)
    where = values["gold"] or "{0} {2} ({1})".format(*scorer.gold.origin)
    found = f"valid; {total - len(system.missing):,} of {total:,} gold records of {where} have predictions"
    click.echo(escape(f"{predictions}: {found}"))


command = ProcedureGroup(
    "validate",
    build=build,
    help="""Validate a file of predictions without scoring it, and report all problems at once.

    \b
    Examples:
      closeread validate mctaco predictions.jsonl
      closeread validate coref key.conll response.conll
    """,
    short_help="Validate a file of predictions.",
)
