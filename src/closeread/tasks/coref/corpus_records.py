"""The records of a corpus of coreference as columns, with what its fields add: lengths, words and genres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from closeread.records import Record
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.matching import Documents, table_of

GENRE = "genre"


class RecordWords:
    """The words of records, which have no lines.

    Args:
        records: records with `sentences`, whose `tokens` have a `form`.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records

    def __call__(self, document: int) -> Sequence[str]:
        """The tokens of a document."""
        return [token["form"] for sentence in self._records[document]["sentences"] for token in sentence["tokens"]]

    def packed(self, document: int) -> bytes:
        """The same as UTF-8, with a line end after each."""
        return "".join(f"{word}\n" for word in self(document)).encode("utf-8")

    def line_of(self, document: int, token: int) -> int:
        """0: records have no lines."""
        del document, token
        return 0


def table_of_corpus(records: Documents) -> MentionTable:
    """Convert documents to columns, with the lengths, words and genres of records of a corpus that have these."""
    table = table_of(records)
    given: list[Record] = [] if isinstance(records, MentionTable) else [one for one in records if isinstance(one, dict)]
    if not given or len(given) < len(records):
        return table
    if all(record.get("n_tokens") is not None for record in given):
        table = replace(table, n_tokens=np.array([record["n_tokens"] for record in given], np.int64))
    if all("sentences" in record for record in given):
        table = replace(table, words=RecordWords(given))
    if any(record.get(GENRE) for record in given):
        table = replace(table, document_fields={GENRE: [record.get(GENRE) or "" for record in given]})
    return table
