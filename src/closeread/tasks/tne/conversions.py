"""Conversion of predictions for TNE: to arrays, to links, to gold; links spread over clusters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from closeread.corpus.conversions import Conversion, Converted
from closeread.corpus.figures import read_systems
from closeread.corpus.gold import dump_gold, read_corpus_gold, read_file
from closeread.corpus.names import load_corpus
from closeread.counts.annotators import Annotator
from closeread.counts.procedure import Place
from closeread.exceptions import RequestError, pluralize
from closeread.files import write_text
from closeread.formats.json_lines import dump_json_lines
from closeread.records import Record
from closeread.tasks.tne import closure, tne_arrays

FORMS = ("arrays", "jsonl", "gold")


def convert(
    source: Annotator,
    output: Path | None,
    place: Place,
    *,
    form: str | None = None,
    close: bool = False,
    clusters: str | Path | None = None,
) -> Converted:
    """Convert predictions.

    Args:
        source: a file or rows in memory.
        output: the file to write; None to write nothing.
        place: where gold is.
        form: the leaderboard's "arrays", "jsonl" of links, or "gold" documents with these links; None for links.
        close: spread links over clusters.
        clusters: take clusters from this file instead of gold.

    Returns:
        The rows, or gold documents.

    Raises:
        RequestError: an option does not accept its value; an InputError if something is missing or invalid.
    """
    if form not in (None, *FORMS):
        raise RequestError(f"form is {form!r} (expected one of {', '.join(FORMS)})")
    gold = read_corpus_gold(place)
    documents: Sequence[Record] = gold.records
    if clusters is not None:
        corpus = load_corpus("tne")
        clustered = read_file(corpus, Path(clusters), corpus.default_split, "annotation")
        documents = closure.replace_clusters(documents, clustered, "gold", str(clusters))
    given = [row for row in read_systems(gold, source.source, "error").rows if row is not None]
    rows = closure.close_rows(given, documents) if close else given
    notices, records = list(gold.notices), rows
    if form == "arrays":
        text = tne_arrays.dump_submission(rows, documents)
        notices += tne_arrays.describe_losses(rows)
    elif form == "gold":
        records = closure.make_gold(rows, documents, source.name)
        text = "" if output is None else dump_gold(load_corpus("tne"), output, records)
    else:
        text = dump_json_lines(rows)
    if output is not None:
        write_text(output, text)
    before, after = (sum(len(row["relations"]) for row in side) for side in (given, rows))
    spread = f"; {pluralize(before, 'link')} given, {after - before:,} added" if close else ""
    return Converted(records, f"{pluralize(len(rows), 'document')}{spread}", notices)


CONVERSIONS = {"tne": Conversion(convert, "tne")}
