"""Verification of questions: a question is kept only if all annotators accept it.

Source: Zhou et al. (2019), step 2: two annotators check that a question asks about one of five temporal properties, is
not answered by a word or phrase of the sentence, and is grammatically and logically correct.  It is kept if they agree
with each other and with whoever wrote it, here: on its category.  Any number of annotators from two up works.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from closeread.corpus.gold import read_rows
from closeread.exceptions import FormatError, Problem, quote
from closeread.records import Record

REASONS = {
    "category": "another category",
    "from_sentence": "answered by the sentence",
    "correct": "not correct",
}
"""Why an annotator rejects a question, by the field that says so."""


class FilteredQuestions(NamedTuple):
    """The questions that were kept and dropped, both in the order of the records.

    Attributes:
        kept: their ids.
        dropped: question id -> the reasons, in the order of `REASONS`.
    """

    kept: list[str]
    dropped: dict[str, list[str]]


def read_verifications(path: Path) -> dict[str, Record]:
    """Read an annotator's file: question id -> row.

    Raises:
        FormatError: a row breaks the schema, or an id is repeated; all problems at once.
    """
    rows = read_rows(path, "mctaco", "verification")
    first: dict[str, Record] = {}
    problems = []
    for number, row in enumerate(rows, start=1):
        if first.setdefault(row["question_id"], row) is not row:
            problems.append(Problem(f"question {quote(row['question_id'])} occurs more than once", number))
    if problems:
        raise FormatError(path, problems)
    return first


def filter_questions(records: Sequence[Record], verifications: Mapping[str, Mapping[str, Record]]) -> FilteredQuestions:
    """Keep the questions that all annotators accept.

    Args:
        records: rows with ``question_id`` and ``category``, the decision of whoever wrote the question; a question may
            have several rows.
        verifications: by the annotator's name, question id -> ``category`` (or "none"), ``from_sentence`` and
            ``correct`` ("yes" or "no").

    Raises:
        FormatError: there are fewer than two annotators, a question has different categories, or an annotator judged
            other questions than these; lists all problems.

    >>> good = {"q0": {"category": "Frequency", "from_sentence": "no", "correct": "yes"}}
    >>> odd = {"q0": {"category": "Typical Time", "from_sentence": "no", "correct": "no"}}
    >>> question = [{"question_id": "q0", "category": "Frequency"}]
    >>> filter_questions(question, {"anna": good, "ben": good})
    FilteredQuestions(kept=['q0'], dropped={})
    >>> filter_questions(question, {"anna": good, "ben": odd}).dropped
    {'q0': ['another category', 'not correct']}
    """
    categories: dict[str, str] = {}
    for record in records:
        categories.setdefault(record["question_id"], record["category"])
    problems = [Problem(what) for what in _find_problems(records, categories, verifications)]
    if problems:
        raise FormatError("verifications", problems)
    accepted = {"from_sentence": "no", "correct": "yes"}
    kept: list[str] = []
    dropped: dict[str, list[str]] = {}
    for question, category in categories.items():
        expected = {"category": category, **accepted}
        reasons = [
            reason
            for field, reason in REASONS.items()
            if any(of_annotator[question][field] != expected[field] for of_annotator in verifications.values())
        ]
        if reasons:
            dropped[question] = reasons
        else:
            kept.append(question)
    return FilteredQuestions(kept, dropped)


def _find_problems(
    records: Sequence[Record], categories: Mapping[str, str], verifications: Mapping[str, Mapping[str, Record]]
) -> Iterator[str]:
    if len(verifications) < 2:
        yield f"the number of annotators is {len(verifications)} (expected at least 2)"
    different = {row["question_id"] for row in records if row["category"] != categories[row["question_id"]]}
    for question in sorted(different):
        yield f"question {quote(question)} has rows of different categories"
    for name, of_annotator in verifications.items():
        for question in categories:
            if question not in of_annotator:
                yield f"{name}: question {quote(question)} has no verification"
        for question in of_annotator:
            if question not in categories:
                yield f"{name}: question {quote(question)} is not one of the questions to verify"
