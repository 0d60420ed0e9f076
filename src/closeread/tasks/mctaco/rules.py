"""What no schema can say of McTaco's candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from closeread.corpora.rules import Rules
from closeread.errors import quote
from closeread.records import Record, column


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Candidates whose question stood with another sentence or category before."""
    questions, sentences, categories = (column(records, name) for name in ("question_id", "sentence_id", "category"))
    if len(set(zip(questions, sentences, categories, strict=True))) == len(set(questions)):
        return
    first: dict[str, int] = {}
    for index, question in enumerate(questions):
        before = first.setdefault(question, index)
        if before == index:
            continue
        for name, values in (("sentence_id", sentences), ("category", categories)):
            if values[index] != values[before]:
                found = f"{name} {quote(values[index])}, but {quote(values[before])} for another candidate"
                yield index, f"question {quote(question)} has {found}; needed: one"


RULES = {"document": Rules(find_inconsistencies)}
