"""Rules for coreference documents that the schema can't express: mentions at impossible positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from closeread.corpora.rules import Rules
from closeread.records import Record
from closeread.tasks.coref.columns import MentionTable


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find mentions that end before they start or lie outside the document, with the index of the document."""
    if isinstance(records, MentionTable):
        return  # checked by its reader
    for index, record in enumerate(records):
        for what in find_misplaced_mentions(record):
            yield index, what


def find_misplaced_mentions(record: Record) -> Iterator[str]:
    """Find the mentions of a document that end before they start or lie outside it."""
    n_tokens = record.get("n_tokens")
    for i, cluster in enumerate(record["clusters"]):
        for j, (start, end) in enumerate(cluster):
            if start > end:
                yield f"clusters[{i}][{j}]: [{start}, {end}] ends before it starts (expected [start, end])"
            elif n_tokens is not None and end >= n_tokens:
                found = f"[{start}, {end}] is outside the document, which has {n_tokens} tokens"
                yield f"clusters[{i}][{j}]: {found} (expected an end below {n_tokens})"


RULES = {"document": Rules(find_inconsistencies)}
