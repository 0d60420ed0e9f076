"""Rules for misspelt words beyond the schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from closeread.corpus.validation import Rules
from closeread.exceptions import quote
from closeread.records import Record


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find words that are written as they are meant."""
    for index, record in enumerate(records):
        if record["written"] == record["word"]:
            yield index, f"{quote(record['word'])} is not misspelt"


RULES = {"document": Rules(find_inconsistencies)}
