"""Conversion of timelines, and of documents between CAT and TimeML."""

from __future__ import annotations

from pathlib import Path

from closeread.corpus.conversions import Conversion, Converted
from closeread.corpus.gold import read_annotator_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import write_submission
from closeread.counts.annotators import Annotator
from closeread.exceptions import pluralize
from closeread.files import write_text
from closeread.tasks.timeline.cat_timeml import convert_document, is_document


def convert(source: Annotator, output: Path | None) -> Converted:
    """Convert timelines between a folder and JSON Lines, or a document between CAT (.xml) and TimeML (.tml).

    Args:
        source: a file, a folder, or timelines in memory.
        output: what to write; None to write nothing, and return timelines.

    Raises:
        RequestError: the output can't hold the source; an InputError if the source is missing or invalid.
    """
    if output is not None and isinstance(source.source, Path) and is_document(source.source, output):
        converted = convert_document(source.source, output)
        write_text(output, converted.text)
        return Converted([], "1 document", [*converted.notices, *(f"lost: {what}." for what in converted.lost)])
    corpus = load_corpus("semeval2015_timeline")
    gold = read_annotator_gold(corpus, source)
    if output is not None:
        write_submission(output, gold.records, corpus)
    return Converted(gold.records, pluralize(len(gold.records), "timeline"), gold.notices)


CONVERSIONS = {"timeline": Conversion(convert)}
