"""`closeread convert`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.errors import pluralize

if TYPE_CHECKING:
    from closeread.records import Record


@click.group()
def command() -> None:
    """Write a file in another format.

    \b
    Examples:
      closeread convert coref key.conllu -o key.conll
      closeread convert tne mine.jsonl --to arrays -o for_the_leaderboard.jsonl
      closeread convert timeline TimeLines_Gold_Standard -o timelines.jsonl
    """


@command.command(cls=options.WritingCommand)
@click.argument("source", type=options.FILE)
@options.output
def coref(source: Path, output: Path) -> None:
    """Coreference to the format of the suffix: CoNLL (.conll), CorefUD (.conllu) or JSON Lines (.jsonl).

    Mentions and entities are kept, and so are heads and words where both formats have them; sentences and all other
    annotation are lost.

    \b
    Examples:
      closeread convert coref key.conllu -o key.conll
      closeread convert coref response.conll -o response.jsonl
    """
    from closeread.errors import escape
    from closeread.tasks.coref.sides import read_documents, write_documents

    documents = read_documents(source)
    write_documents(documents, output)
    click.echo(escape(f"{output}: {pluralize(len(documents), 'document')}"))


@command.command(cls=options.WritingCommand)
@click.argument("predictions", type=options.FILE)
@click.option(
    "--to",
    "form",
    type=click.Choice(["arrays", "jsonl"]),
    required=True,
    help="The leaderboard's arrays, or JSON Lines of links.",
)
@options.gold_options
@options.output
def tne(predictions: Path, form: str, output: Path, **places: Any) -> None:
    """Predictions for TNE, from JSON Lines to the arrays of the leaderboard or back.

    The file is checked as by `closeread validate`.  An array holds one preposition for every pair of noun phrases and
    no fallbacks; what is lost is said.

    \b
    Examples:
      closeread convert tne mine.jsonl --to arrays --config unlabeled -o for_the_leaderboard.jsonl
      closeread convert tne arrays.jsonl --to jsonl --config sample -o links.jsonl
    """
    from closeread.errors import escape
    from closeread.files import write_text
    from closeread.formats.json_lines import dump_json_lines
    from closeread.scoring import gold_for, submission_for
    from closeread.tasks import load_procedure
    from closeread.tasks.tne import tne_arrays

    gold = options.tell_notices(gold_for("tne", **places))
    settled = load_procedure(gold.corpus.procedure).resolve_options(gold.corpus.procedure_defaults)
    rows = [row for row in submission_for(gold, predictions, {**settled, "missing": "error"}).rows if row is not None]
    if form == "arrays":
        write_text(output, tne_arrays.dump_submission(rows, gold.records))
        options.tell(_lost(rows))
    else:
        write_text(output, dump_json_lines(rows))
    click.echo(escape(f"{output}: {len(rows):,} documents"))


def _lost(rows: Sequence[Record]) -> Iterator[str]:
    """What arrays can't hold of some rows, a sentence a kind."""
    links = sum(len(row["relations"]) for row in rows)
    pairs = sum(len({(link["anchor"], link["complement"]) for link in row["relations"]}) for row in rows)
    if links > pairs:
        why = "of several prepositions for a pair an array holds the first"
        yield f"{links - pairs:,} of {links:,} links are lost: {why}."
    fallbacks = sum(len(row.get("fallback") or ()) for row in rows)
    if fallbacks:
        yield f"{fallbacks:,} fallbacks are lost: an array holds none."


@command.command(cls=options.WritingCommand)
@click.argument("source", type=options.FILE)
@options.output
def timeline(source: Path, output: Path) -> None:
    """Timelines from a folder to JSON Lines (.jsonl) or back, or a document from CAT (.xml) to TimeML (.tml) or back.

    What the other format does not hold is said.

    \b
    Examples:
      closeread convert timeline TimeLines_Gold_Standard -o timelines.jsonl
      closeread convert timeline timelines.jsonl -o timelines
      closeread convert timeline 7_Rain.xml -o 7_Rain.tml
    """
    from closeread.corpora.gold import load_corpus, read_own_gold
    from closeread.corpora.submissions import write_submission
    from closeread.errors import RequestError, escape
    from closeread.files import write_text
    from closeread.tasks.timeline.cat_xml import SUFFIX, TITLES_SUFFIX

    documents = {(SUFFIX, TITLES_SUFFIX): _as_timeml, (TITLES_SUFFIX, SUFFIX): _as_cat}
    if convert := documents.get((source.suffix, output.suffix)):
        text, lost = convert(source)
        write_text(output, text)
        options.tell(f"lost: {what}." for what in lost)
        click.echo(escape(f"{output}: 1 document"))
    elif {source.suffix, output.suffix} & {SUFFIX, TITLES_SUFFIX}:
        raise RequestError(f"a document becomes one in the other format: {SUFFIX} becomes {TITLES_SUFFIX}, or back")
    else:
        corpus = load_corpus("semeval2015_timeline")
        timelines = options.tell_notices(read_own_gold(corpus, source)).records
        write_submission(output, timelines, corpus)
        click.echo(escape(f"{output}: {pluralize(len(timelines), 'timeline')}"))


def _as_timeml(path: Path) -> tuple[str, list[str]]:
    """A document in CAT as the text of a TimeML file, and what that does not hold."""
    from closeread.errors import FormatError, Problem
    from closeread.formats.timeml import dump_timeml
    from closeread.tasks.timeline.cat_timeml import as_timeml, lost_in_timeml
    from closeread.tasks.timeline.cat_xml import read_document

    read = read_document(path)
    if read.problems:
        raise FormatError(path, read.problems)
    options.tell(notice.at(str(path)) for notice in read.notices)
    try:
        return dump_timeml(as_timeml(read.document)), lost_in_timeml(read.document)
    except ValueError as error:
        raise FormatError(path, [Problem(str(error))]) from None


def _as_cat(path: Path) -> tuple[str, list[str]]:
    """A TimeML document as the text of a file in CAT, and what that does not hold."""
    from closeread.errors import FormatError, Problem
    from closeread.formats.timeml import read_timeml
    from closeread.tasks.timeline.cat_timeml import as_cat, lost_in_cat
    from closeread.tasks.timeline.cat_xml import dump_document

    document = read_timeml(path)
    try:
        return dump_document(as_cat(document)), lost_in_cat(document)
    except ValueError as error:
        raise FormatError(path, [Problem(str(error))]) from None
