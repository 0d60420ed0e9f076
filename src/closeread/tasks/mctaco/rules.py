"""Rules for McTaco's candidates beyond the schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from closeread.corpus.validation import Rules
from closeread.exceptions import quote
from closeread.records import Record, column


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find candidates whose question has a different sentence or category in an earlier row."""
    columns = {name: column(records, name) for name in ("sentence_id", "category")}
    first_rows: dict[str, int] = {}
    for index, question in enumerate(column(records, "question_id")):
        first = first_rows.setdefault(question, index)
        if first == index:
            continue
        for name, values in columns.items():
            if values[index] != values[first]:
                both = f"{quote(values[index])}, but {quote(values[first])} in an earlier row"
                yield index, f"question {quote(question)} has {name} {both} (expected one {name})"


RULES = {"document": Rules(find_inconsistencies)}
