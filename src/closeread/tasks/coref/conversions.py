"""Conversion of coreference between CoNLL, CorefUD, Universal Anaphora and JSON Lines."""

from __future__ import annotations

from pathlib import Path

from closeread.corpus.conversions import Conversion, Converted
from closeread.counts.annotators import Annotator
from closeread.exceptions import RequestError, pluralize
from closeread.tasks.coref.sides import read_documents, take_documents, write_documents

SIDES = ("key", "response")


def convert(source: Annotator, output: Path | None, *, side: str = "key") -> Converted:
    """Convert documents to the format of the output's suffix.

    Args:
        source: a file, a folder or documents in memory.
        output: the file to write; None to write nothing.
        side: gold entities ("key") or predicted ones ("response"), if a JSON Lines file has both.

    Raises:
        RequestError: the suffix is unknown, or the format can't express the documents; a FormatError if they are
            invalid.
    """
    if side not in SIDES:
        raise RequestError(f"side is {side!r} (expected {' or '.join(SIDES)})")
    is_response = side == "response"
    if isinstance(source.source, Path):
        documents = read_documents(source.source, is_response=is_response)
    else:
        documents = take_documents(source.source, source.name, is_response=is_response)
    if output is not None:
        write_documents(documents, output)
    return Converted(documents, pluralize(len(documents), "document"), documents.notices)


CONVERSIONS = {"coref": Conversion(convert)}
