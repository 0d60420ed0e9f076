"""`closeread validate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.options import GroupedCommand
from closeread.cli.printing import tell
from closeread.cli.procedure_group import (
    ProcedureGroup,
    corpus_options,
    examples,
    given_options,
    gold_arguments,
    procedure_options,
    read_place,
)
from closeread.exceptions import escape, escape_line

if TYPE_CHECKING:
    from closeread.counts.procedure import Procedure


def build(procedure: Procedure, corpus: str | None, name: str) -> click.Command:
    """Return the subcommand of a procedure."""

    @click.command(
        cls=GroupedCommand,
        name=procedure.name,
        help="Validate files of predictions without scoring them.\n\n"
        + examples(procedure, corpus, f"validate {name}", "--config sample" if corpus else "", "--json"),
        short_help=procedure.title[0].upper() + procedure.title[1:],
    )
    @gold_arguments(corpus)
    @click.argument(
        "predictions",
        type=options.FILE,
        nargs=-1,
        required=True,
        metavar="PREDICTIONS..." if corpus else "RESPONSE...",
    )
    @options.max_bytes
    @click.option(
        "--json",
        "as_json",
        is_flag=True,
        help="Print a list with an object for each file: 'file', 'valid', 'rows' (gold records with predictions; null "
        "if the file is not valid) and 'problems'.",
    )
    def command(predictions: tuple[Path, ...], **values: Any) -> None:
        run(procedure, name, predictions, values)

    command.params += [*corpus_options(corpus), *procedure_options(procedure, corpus)]
    return command


def run(procedure: Procedure, name: str, predictions: Sequence[Path], values: dict[str, Any]) -> None:
    """Validate files, and print how many gold records each covers, or its problems.

    Raises:
        Exit: a file is not valid.
    """
    from closeread.operations.validate import validate_with
    from closeread.scoring import open_scorer

    scorer = open_scorer(name, read_place(values), given_options(procedure, values))
    tell(scorer.gold.notices)
    verdicts = [validate_with(scorer, path) for path in predictions]
    tell(notice for verdict in verdicts for notice in verdict.notices)
    if values["as_json"]:
        objects = [verdict.to_json() for verdict in verdicts]
        printing.print_json(objects)
    else:
        total = len(scorer.gold.records)
        where = values["gold"] or "{0} {2} ({1})".format(*scorer.gold.origin)
        for verdict in verdicts:
            if verdict.error is None:
                found = f"valid; {verdict.rows:,} of {total:,} gold records of {where} have predictions"
                click.echo(escape_line(f"{verdict.name}: {found}"))
    wrong = [str(verdict.error) for verdict in verdicts if verdict.error is not None]
    if wrong and not values["as_json"]:
        raise click.ClickException(escape("\n".join(wrong)))
    if wrong:
        raise click.exceptions.Exit(1)


command = ProcedureGroup(
    "validate",
    build=build,
    help="""Validate files of predictions without scoring them, and report all problems of all files at once.

    \b
    Examples:
      closeread validate mctaco predictions.jsonl
      closeread validate mctaco first.jsonl second.jsonl --json
      closeread validate coref key.conll response.conll
    """,
    short_help="Validate files of predictions.",
)
