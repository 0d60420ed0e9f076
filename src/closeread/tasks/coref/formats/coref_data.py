"""coref-data: JSON Lines, and Parquet (read only): `sentences[].tokens[].text`, chains of ``[sentence, first, last]``.

Its JSON Lines, the form that is also written, are read as a dialect of `coref_json`.  Conventions: a document is written
as a single sentence, and ids of tokens such as 3.1 are those of empty nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from closeread.exceptions import Problem, quote
from closeread.formats.json_lines import dump_json_lines
from closeread.formats.parquet import read_parquet
from closeread.records import Parsed, Record
from closeread.tasks.coref.documents import Document, Documents
from closeread.tasks.coref.formats.coref_json import DIALECTS, read_dialect
from closeread.tasks.coref.formats.lines import number_tokens
from closeread.tasks.coref.formats.marked_text import list_spans, list_tokens
from closeread.tasks.coref.formats.reading import DEFAULT_READING, CorefFormat, Reading

if TYPE_CHECKING:
    import pyarrow as pa

FIELDS = ("id", "sentences", "coref_chains")


def read_records(path: Path, reading: Reading = DEFAULT_READING) -> Documents:
    """Read the documents of a Parquet file."""
    del reading
    rows = list(read_parquet(path, _find_missing_columns))
    return read_dialect(path, Parsed(rows, [1] * len(rows), []), DIALECTS["coref_chains"])


def _find_missing_columns(schema: pa.Schema) -> list[Problem]:
    """Report the columns of coref-data that a Parquet file lacks."""
    missing = [name for name in FIELDS if name not in schema.names]
    if not missing:
        return []
    counts = "counts are scored by `closeread score --from-counts`"
    names = ", ".join(map(quote, missing))
    return [Problem(f"is a Parquet file without {names} (expected coref-data; {counts})")]


def make_rows(documents: Sequence[Document], *, blind: bool = False) -> list[Record]:
    """Convert documents to rows, without their entities if `blind`.

    Raises:
        ValueError: a mention is discontinuous, or the documents have no words.
    """
    rows = []
    tokens_by_document = list_tokens(documents, "coref-data", mark=False)
    for document, tokens in zip(documents, tokens_by_document, strict=True):
        nodes = document.map_nodes()
        ids = number_tokens(len(tokens), nodes)
        text = " ".join(token for number, token in enumerate(tokens) if number not in nodes)
        rows_of_tokens = [
            {"id": name, "text": token} for name, token in zip(ids, tokens, strict=True)
        ]
        sentence = {"id": 1, "text": text, "speaker": None, "tokens": rows_of_tokens}
        chains = [] if blind else list(map(_place_mentions, list_spans(document)))
        rows.append(
            {"id": document.name, "text": text, "sentences": [sentence], "coref_chains": chains}
        )
    return rows


def _place_mentions(cluster: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the mentions of a cluster, all of them in the first sentence."""
    return [[0, start, end] for start, end in cluster]


def dump_coref_data(documents: Sequence[Document], *, blind: bool = False) -> str:
    """Convert documents to JSON Lines of coref-data, as `make_rows` does."""
    return dump_json_lines(make_rows(documents, blind=blind))


FORMAT = CorefFormat(read_records, dump_coref_data, can_be_blind=True)
