"""`closeread validate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.cli.procedure_group import PAIRED, ProcedureGroup, given_options, procedure_options
from closeread.errors import escape

if TYPE_CHECKING:
    from closeread.counts.table import Procedure

PAIRED_EXAMPLES = {"coref": "key.conll response.conll", "tlinks": "key/ response/"}


def build(procedure: Procedure, corpus: str) -> click.Command:
    """The subcommand of a procedure."""

    @click.command(
        name=procedure.name,
        help=f"""Check a file of predictions without scoring it.

        \b
        Example:
          closeread validate {procedure.name} predictions.jsonl --config sample
        """,
        short_help=procedure.title,
    )
    @click.argument("predictions", type=options.FILE)
    @options.gold_options
    def command(predictions: Path, **values: Any) -> None:
        run(procedure, corpus, predictions, values)

    command.params += procedure_options(procedure, corpus)
    return command


def build_paired(procedure: Procedure) -> click.Command:
    """The subcommand of a procedure that is given key and response."""

    @click.command(
        name=procedure.name,
        help=f"""Check a response beside its key without scoring it.

        \b
        Example:
          closeread validate {procedure.name} {PAIRED_EXAMPLES[procedure.name]}
        """,
        short_help=procedure.title,
    )
    @options.key
    @options.response
    def command(key: Path, response: Path, **values: Any) -> None:
        paired = PAIRED[procedure.name]
        settled = procedure.resolve_options(given_options(procedure, values))
        pair = paired.align(paired.read_key(key, settled), response, settled)
        # Counting refuses what can't be scored with these options.
        options.tell(paired.load().count_pair(pair, options=settled, **paired.least).notices)
        total = len(pair.key)
        given = total - len(pair.response.absent)
        click.echo(escape(f"{response}: valid; {given:,} of the {total:,} documents of {key}"))

    command.params += procedure_options(procedure)
    return command


def run(procedure: Procedure, corpus: str, predictions: Path, values: dict[str, Any]) -> None:
    """Check a file and say that it can be scored."""
    from closeread.scoring import gold_for, submission_for

    places = {name: values[name] for name in ("config", "split", "gold", "data_dir")}
    gold = options.tell_notices(gold_for(corpus, **places))
    settled = procedure.resolve_options({**gold.corpus.procedure_defaults, **given_options(procedure, values)})
    submission = submission_for(gold, predictions, settled)
    options.tell(submission.notices)
    total = len(submission.rows)
    given = sum(row is not None for row in submission.rows)
    where = values["gold"] or f"{gold.corpus.name} {gold.split} ({gold.config})"
    found = f"valid; {given:,} rows for the {total:,} of {where}"
    click.echo(escape(f"{predictions}: {found}"))


command = ProcedureGroup(
    "validate",
    build=build,
    paired=build_paired,
    help="""Check a file of predictions without scoring it; every problem is shown at once.

    \b
    Example:
      closeread validate mctaco predictions.jsonl
    """,
    short_help="Check a file of predictions.",
)
