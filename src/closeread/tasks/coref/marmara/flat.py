"""Mentions one by one, for data frames and SQL (the configs `flat` and `sample_flat`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from closeread.records import ColumnRecords, Record

NAMES = ("document", "genre", "id", "sentence", "start", "end", "text", "chain")


def flatten(records: Sequence[Record]) -> ColumnRecords:
    """Return a row for each mention, in the order of the documents and of their mentions."""
    return ColumnRecords.from_rows(NAMES, _rows(records))


def _rows(records: Sequence[Record]) -> Iterator[tuple[Any, ...]]:
    for record in records:
        words = [token["form"] for sentence in record["sentences"] for token in sentence["tokens"]]
        chains = {tuple(span): chain for chain, spans in enumerate(record["clusters"]) for span in spans}
        for mention in record["mentions"]:
            start, end = mention["start"], mention["end"]
            place = (mention["id"], mention["sentence"], start, end)
            text = " ".join(words[start : end + 1])
            yield (record["document"], record["genre"], *place, text, chains.get((start, end)))
