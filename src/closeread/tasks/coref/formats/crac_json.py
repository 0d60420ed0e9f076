"""CRAC's JSON, and that of Maverick: an array of documents with `tokens` and `clusters_token_offsets`.

Conventions: mentions are ``[first, last]``, and tokens that begin with ``##`` are empty nodes, as `coref_json` reads
them; null entities are those of a document without annotation.  The documents may be in any dialect of `coref_json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from closeread.exceptions import FormatError, Problem
from closeread.formats.json_lines import dump_json_lines, parse_json
from closeread.formats.text import read_lines
from closeread.records import Parsed
from closeread.tasks.coref.documents import Document, Documents
from closeread.tasks.coref.formats.coref_json import (
    SURROGATES,
    find_dialect,
    read_dialect,
)
from closeread.tasks.coref.formats.marked_text import list_spans, list_tokens
from closeread.tasks.coref.formats.reading import DEFAULT_READING, CorefFormat, Reading


def read_records(path: Path, reading: Reading = DEFAULT_READING) -> Documents:
    """Read the documents of a file."""
    try:
        records = parse_json("\n".join(read_lines(path)), SURROGATES)
    except JSONDecodeError as error:
        what = f"is not valid JSON: {error.msg} (column {error.colno})"
        raise FormatError(path, [Problem(what, error.lineno)]) from None
    except ValueError as error:
        raise FormatError(path, [Problem(str(error), 1)]) from None
    dialect = find_dialect(records[0]) if isinstance(records, list) and records else None
    if dialect is None:
        expected = (
            "expected an array of documents with 'doc_id', 'tokens' and 'clusters_token_offsets'"
        )
        raise FormatError(path, [Problem(f"has no documents of coreference ({expected})", 1)])
    parsed = Parsed(records, [1] * len(records), [])
    return read_dialect(path, parsed, dialect, is_response=reading.is_response)


def dump_crac_json(documents: Sequence[Document], *, blind: bool = False) -> str:
    """Convert documents to JSON, a document per line; without their entities if `blind`.

    Raises:
        ValueError: a mention is discontinuous, or the documents have no words.
    """
    lines = []
    tokens_by_document = list_tokens(documents, "CRAC's JSON")
    for document, tokens in zip(documents, tokens_by_document, strict=True):
        record: dict[str, Any] = {
            "doc_id": document.name,
            "tokens": tokens,
            "clusters_token_offsets": None,
            "clusters_text_mentions": None,
        }
        if not blind:
            offsets = list_spans(document)
            record["clusters_token_offsets"] = offsets
            record["clusters_text_mentions"] = [_join_words(tokens, cluster) for cluster in offsets]
        lines.append(dump_json_lines([record]).removesuffix("\n"))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _join_words(tokens: Sequence[str], cluster: Sequence[Sequence[int]]) -> list[str]:
    """Return the text of each mention of a cluster."""
    return [" ".join(tokens[start : end + 1]) for start, end in cluster]


FORMAT = CorefFormat(read_records, dump_crac_json, can_be_blind=True)
