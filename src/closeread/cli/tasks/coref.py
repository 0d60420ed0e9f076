"""Subcommands for coreference.  Modules that only one command needs are imported where they are used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.notes import tell
from closeread.cli.procedure_group import ProcedureCommand, given_options

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.counts.rendering import Grid
    from closeread.tasks.coref.error_analysis import ErrorAnalysis
    from closeread.tasks.coref.error_listing import CorefError, DocumentErrors, Mention

HEADER = ["error", "document", "entity", "mentions"]


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
    from closeread.errors import escape, pluralize
    from closeread.tasks.coref.sides import read_documents, write_documents

    documents = read_documents(source, is_response=side == "response")
    tell(documents.notices)
    write_documents(documents, output)
    click.echo(escape(f"{output}: {pluralize(len(documents), 'document')}"))


@click.command(
    cls=ProcedureCommand,
    procedure="coref",
    procedure_options=("matching", "zeros", "duplicates", "words", "word_column", "fields"),
    short_help="Count and list wrong entities and mentions.",
)
@options.key
@options.response
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="List only errors of this kind; may be repeated.")
@click.option("--document", metavar="NAME", help="Count and list only the errors of this document.")
@click.option("--by", multiple=True, metavar="FIELD", help="Also count errors for each value of FIELD.")
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
    from dataclasses import asdict

    from closeread.counts.rendering import Grid
    from closeread.errors import RequestError, describe_unknown
    from closeread.tasks.coref.error_analysis import KINDS
    from closeread.tasks.coref.error_listing import count_by_field, list_documents, list_errors
    from closeread.tasks.coref.procedure import PROCEDURE

    for kind in kinds:
        if kind not in KINDS:
            raise RequestError(describe_unknown("kind of error", kind, list(KINDS)))
    analysis = _analyse(key, response, by, values)
    if document is not None:
        analysis = analysis.select_document(document)
    slices = {field: count_by_field(analysis, field, PROCEDURE.aliases) for field in by}
    wanted = [kind for kind in KINDS if not kinds or kind in kinds]
    counts, documents = analysis.count(), list_documents(analysis, wanted)

    def make_value() -> dict[str, Any]:
        listed = [asdict(error) for error in list_errors(analysis, wanted)]
        by_field = {"slices": slices} if slices else {}
        return {"counts": counts, **by_field, "documents": [asdict(one) for one in documents], "errors": listed}

    def make_table() -> printing.CsvTable:
        rows = ([*_make_row(one), *one.fields.values()] for one in list_errors(analysis, wanted))
        return [*HEADER, *analysis.fields], rows

    def make_grids() -> Iterator[Grid]:
        yield Grid("", ["", "number"], [[kind, f"{n:,}"] for kind, n in counts.items()])
        for field, of in slices.items():
            yield from _make_slice_grids(field, of)
        if document is None and len(analysis.names) > 1:
            yield from _make_document_grids(documents, limit)
        yield from _make_error_grids(analysis, wanted, limit)

    printing.show(values["style"], value=make_value, table=make_table, grids=make_grids)


def _analyse(key: Path, response: Path, by: Sequence[str], values: dict[str, Any]) -> ErrorAnalysis:
    """Read key and response and find the errors.

    Raises:
        RequestError: repeated mentions are to be counted as the reference scorer does, or a side lacks something for a
            field; an InputError if a file is invalid.
    """
    from closeread.counts.sides import Place
    from closeread.errors import RequestError
    from closeread.scoring import open_scorer
    from closeread.tasks.coref.empty_nodes import find_zeros
    from closeread.tasks.coref.error_analysis import find_errors
    from closeread.tasks.coref.matching import match_sides, table_of, without_repeats
    from closeread.tasks.coref.mention_fields import FIELDS
    from closeread.tasks.coref.procedure import PROCEDURE
    from closeread.tasks.coref.slices import require_fields

    if values["duplicates"] == "reference":
        raise RequestError("an error analysis needs every mention in one entity; use --duplicates first")
    scorer = open_scorer("coref", Place(gold=key), given_options(PROCEDURE, values))
    own, other = (without_repeats(table_of(side)) for side in (scorer.gold.records, scorer.read(response).rows))
    require_fields(own, other, scorer.options, [field for field in by if field in FIELDS])
    matching, zeros = scorer.options["matching"], scorer.options["zeros"]
    if zeros == "exclude":
        own, other = (table.select(~find_zeros(table)) for table in (own, other))
    return find_errors(own, other, match_sides(own, other, matching=matching, zeros=zeros).sides)


def _make_slice_grids(field: str, counted: Mapping[str, Mapping[str, int]]) -> Iterator[Grid]:
    """Yield the table of errors in entities by a field, if the field is one of entities, and that of mentions."""
    from closeread.counts.rendering import Grid
    from closeread.tasks.coref.error_analysis import OF_ENTITIES, OF_MENTIONS, RIGHT

    for title, group in (("Entities", (RIGHT, *OF_ENTITIES)), ("Mentions", OF_MENTIONS)):
        rows = [
            [value, *(f"{of[kind]:,}" for kind in group)] for value, of in counted.items() if of.keys() >= set(group)
        ]
        if rows:
            yield Grid(f"{title} by {field}", [field, *(kind.rpartition(" ")[0] for kind in group)], rows)


def _make_document_grids(documents: Sequence[DocumentErrors], limit: int) -> Iterator[Grid]:
    """Yield the table of the worst documents, if there are any to list."""
    from closeread.counts.rendering import Grid
    from closeread.errors import pluralize

    rows = [
        [one.document, *(f"{n:,}" for n in (one.entity_errors, one.mention_errors, one.errors))]
        for one in documents[:limit]
    ]
    left = len(documents) - len(rows)
    notes = [f"{pluralize(left, 'more document')} with errors: see --limit and --json."] if left else []
    if rows:
        yield Grid("Documents with the most errors", ["document", "in entities", "in mentions", "errors"], rows, notes)


def _make_error_grids(analysis: ErrorAnalysis, kinds: Sequence[str], limit: int) -> Iterator[Grid]:
    """Yield the table of the errors of the worst documents, if there are any to list."""
    from itertools import islice

    from closeread.counts.rendering import Grid
    from closeread.errors import pluralize
    from closeread.tasks.coref.error_listing import list_errors

    rows = [_make_row(error) for kind in kinds for error in islice(list_errors(analysis, kinds, only=kind), limit)]
    left = sum(analysis.count()[kind] for kind in kinds) - len(rows)
    notes = ["A bar separates mentions that the other side has in different entities or not at all."]
    notes += [f"{pluralize(left, 'more error')}: see --limit, --json and --format csv."] if left else []
    if rows:
        yield Grid("", HEADER, rows, notes, prose=frozenset({"mentions"}))


def _make_row(error: CorefError) -> list[str]:
    pieces = (", ".join(map(_format_mention, piece)) for piece in error.pieces)
    return [error.kind, error.document, error.entity, " | ".join(pieces)]


def _format_mention(mention: Mention) -> str:
    from closeread.errors import shorten

    place = f"{mention.start}-{mention.end}"
    return place if mention.text is None else f"{shorten(mention.text, 60)} [{place}]"


COMMANDS: Commands = {"convert": {"coref": convert}, "errors": {"coref": errors}}
