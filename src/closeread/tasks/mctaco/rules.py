"""Rules for McTaco's candidates beyond the schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from closeread.corpus.validation import Rules
from closeread.exceptions import quote
from closeread.records import Record, column


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find candidates whose question has a different sentence or category in an earlier row."""
    questions, sentences, categories = (
        column(records, name) for name in ("question_id", "sentence_id", "category")
    )
    first: dict[str, int] = {}
    for index, question in enumerate(questions):
        before = first.setdefault(question, index)
        if before == index:
            continue
        for name, values in (("sentence_id", sentences), ("category", categories)):
            if values[index] != values[before]:
                found = (
                    f"{name} {quote(values[index])}, but {quote(values[before])} in an earlier row"
                )
                yield index, f"question {quote(question)} has {found} (expected one {name})"


RULES = {"document": Rules(find_inconsistencies)}
