"""What no schema can say of documents with coreference: mentions that can't be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from closeread.corpora.rules import Rules
from closeread.records import Record
from closeread.tasks.coref.columns import MentionTable


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """The mentions that end before they start or lie beyond their document's end, by the index of the document."""
    if isinstance(records, MentionTable):
        return  # its reader has refused them
    for index, record in enumerate(records):
        for what in find_misplaced_mentions(record):
            yield index, what


def find_misplaced_mentions(record: Record) -> Iterator[str]:
    """The mentions of a document that can't be."""
    n_tokens = record.get("n_tokens")
    for i, cluster in enumerate(record["clusters"]):
        for j, (start, end) in enumerate(cluster):
            if start > end:
                yield f"clusters[{i}][{j}]: [{start}, {end}] ends before it starts; needed: [start, end]"
            elif n_tokens is not None and end >= n_tokens:
                found = f"[{start}, {end}], but the document has {n_tokens} tokens"
                yield f"clusters[{i}][{j}]: {found}; needed: an end before {n_tokens}"


RULES = {"document": Rules(find_inconsistencies)}
