"""Subcommands for coreference.  Modules that only one command needs are imported where they are used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.procedure_group import ProcedureCommand, given_options

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.tasks.coref.error_analysis import CorefError, Mention


@click.command(cls=options.WritingCommand)
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
    """Convert coreference annotation to CoNLL (.conll), CorefUD (.conllu) or JSON Lines (.jsonl).

    SOURCE is a file, a folder of files, or - for standard input.  The suffix of the output file decides its format.
    Mentions and entities are kept, and so are heads and words if both formats have them; sentences and all other
    annotation are lost.

    \b
    Examples:
      closeread convert coref key.conllu -o key.conll
      closeread convert coref response.conll -o response.jsonl
      closeread convert coref predictions.jsonlines --side response -o response.conll
    """
    from closeread.errors import escape, pluralize
    from closeread.tasks.coref.sides import read_documents, write_documents

    documents = read_documents(source, is_response=side == "response")
    options.tell(documents.notices)
    write_documents(documents, output)
    click.echo(escape(f"{output}: {pluralize(len(documents), 'document')}"))


@click.command(
    cls=ProcedureCommand, procedure="coref", procedure_options=("matching", "duplicates", "words", "word_column")
)
@options.key
@options.response
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="List only errors of this kind; may be repeated.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="List at most this many errors of each kind in tables; JSON and CSV list all.",
)
@options.style_options
def errors(key: Path, response: Path, kinds: tuple[str, ...], limit: int, **values: Any) -> None:
    """Count and list entities that are split, merged, missing or spurious, and missing or spurious mentions.

    \b
    Examples:
      closeread errors coref key.conll response.conll
      closeread errors coref key.conll response.conll --kind "split entity" --limit 50
      closeread errors coref key.conll response.conll --format csv > errors.csv
    """
    from dataclasses import asdict

    from closeread.counts.rendering import Grid
    from closeread.counts.sides import Place
    from closeread.errors import RequestError, describe_unknown, pluralize
    from closeread.scoring import open_scorer
    from closeread.tasks.coref.error_analysis import KINDS, find_errors
    from closeread.tasks.coref.matching import match_sides, table_of, without_repeats
    from closeread.tasks.coref.procedure import PROCEDURE

    for kind in kinds:
        if kind not in KINDS:
            raise RequestError(describe_unknown("kind of error", kind, list(KINDS)))
    if values["duplicates"] == "reference":
        raise RequestError("an error analysis needs every mention in one entity; use --duplicates first")
    scorer = open_scorer("coref", Place(gold=key), given_options(PROCEDURE, values))
    own, other = (without_repeats(table_of(side)) for side in (scorer.gold.records, scorer.read(response).rows))
    found = find_errors(own, other, match_sides(own, other, matching=scorer.options["matching"]).sides)
    listed = [error for error in found.errors if not kinds or error.kind in kinds]
    header = ["error", "document", "entity", "mentions"]
    counts = [[kind, f"{n:,}"] for kind, n in found.counts.items()]
    rows = [_make_row(error) for kind in KINDS for error in [e for e in listed if e.kind == kind][:limit]]
    left = len(listed) - len(rows)
    notes = ["A bar separates mentions that the other side has in different entities or not at all."]
    notes += [f"{pluralize(left, 'more error')}: see --limit, --json and --format csv."] if left else []
    printing.show(
        values["style"],
        value=lambda: {"counts": found.counts, "errors": [asdict(error) for error in listed]},
        table=lambda: (header, [_make_row(error) for error in listed]),
        grids=lambda: [Grid("", ["", "number"], counts), *([Grid("", header, rows, notes)] if rows else [])],
    )


def _make_row(error: CorefError) -> list[str]:
    pieces = (", ".join(map(_format_mention, piece)) for piece in error.pieces)
    return [error.kind, error.document, error.entity, " | ".join(pieces)]


def _format_mention(mention: Mention) -> str:
    from closeread.errors import shorten

    place = f"{mention.start}-{mention.end}"
    return place if mention.text is None else f"{shorten(mention.text, 60)} [{place}]"


COMMANDS: Commands = {"convert": {"coref": convert}, "errors": {"coref": errors}}
