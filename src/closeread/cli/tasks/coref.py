"""Subcommands for coreference.  Modules that only one command needs are imported where they are used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.notes import tell
from closeread.cli.procedure_group import ProcedureCommand, given_options

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


@click.command(cls=options.WritingCommand, short_help="Convert coreference between four formats.")
@click.argument("source", type=options.FILE)
@click.option(
    "--side",
    type=click.Choice(["key", "response"]),
    default="key",
    show_default=True,
    help="Convert gold entities (key) or predicted ones (response), if a JSON Lines file has both.",
)
@options.output
def convert(source: Path, side: str, output: Path) -> None:
    """Convert coreference to CoNLL (.conll), CorefUD (.conllu), Universal Anaphora (.conllua) or JSON Lines (.jsonl).

    SOURCE is a file, a folder of files, or - for standard input.  The suffix of the output file decides its format.
    Mentions and entities are kept, and so are heads and words if both formats have them; sentences and all other
    annotation are lost.

    \b
    Examples:
      closeread convert coref key.conllu -o key.conll
      closeread convert coref response.conll -o response.jsonl
      closeread convert coref predictions.jsonlines --side response \\
        -o response.conll
    """
    from closeread.cli.annotators import name_files
    from closeread.exceptions import escape_line
    from closeread.tasks.coref import conversions

    converted = conversions.convert(name_files([source])[0], output, side=side)
    tell(converted.notices)
    click.echo(escape_line(f"{output}: {converted.summary}"))


@click.command(
    cls=ProcedureCommand,
    procedure="coref",
    procedure_options=("matching", "zeros", "duplicates", "words", "word_column", "fields"),
    by="count errors",
    short_help="Count and list wrong entities and mentions.",
)
@options.key
@options.response
@options.max_bytes
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="List only errors of this kind; may be repeated.")
@click.option("--document", metavar="NAME", help="Count and list only the errors of this document.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="List at most this many documents, and errors of each kind, in tables; JSON and CSV list all.",
)
@options.style_options
def errors(
    key: Path,
    response: Path,
    kinds: tuple[str, ...],
    document: str | None,
    by: tuple[str, ...],
    limit: int,
    **values: Any,
) -> None:
    """Count and list entities that are split, merged, missing or spurious, and missing or spurious mentions.

    The documents with the most errors come first.

    \b
    Examples:
      closeread errors coref key.conll response.conll
      closeread errors coref key.conll response.conll --by genre --by entity_size
      closeread errors coref key.conll response.conll --kind "split entity" \\
        --limit 50
      closeread errors coref key.conll response.conll --format csv > errors.csv
    """
    from closeread.cli.annotators import name_files
    from closeread.tasks.coref.error_kinds import analyse
    from closeread.tasks.coref.procedure import PROCEDURE

    style, given = values.pop("style"), given_options(PROCEDURE, values)
    gold, system = name_files([key, response])
    found = analyse(gold, [system], kinds=kinds, document=document, by=by, limit=limit, **given)
    tell(found.notices)
    printing.show_result(style, found)


COMMANDS: Commands = {"convert": {"coref": convert}, "errors": {"coref": errors}}
