"""Annotators of McTaco: questions that all of them accept, and candidate answers that all of them label alike.

Source: Zhou et al. (2019).  In step 2, two annotators check that a question asks about one of five temporal
properties, is not answered by a word or phrase of the sentence, and is grammatically and logically correct.  It is kept
if they agree with each other and with whoever wrote it, here: on its category.  In step 4, four annotators label every
candidate likely, unlikely or invalid; it is kept if all label it likely or all label it unlikely.  Here any number of
annotators from two up works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Literal, NamedTuple

from closeread.corpus.gold import read_rows
from closeread.corpus.schema import fields, load_schema
from closeread.exceptions import FormatError, Problem, quote
from closeread.records import Record

GoldLabel = Literal["yes", "no"]

_GOLD: Mapping[str, GoldLabel] = {"likely": "yes", "unlikely": "no"}
_LABELS = (*_GOLD, "invalid")


@dataclass(frozen=True)
class Unanimity:
    """The candidates that were kept and dropped, both in the order of the first annotator's labels.

    Attributes:
        kept: id -> "yes" if all annotators chose likely, "no" if all chose unlikely.
        dropped: id -> one label per annotator, if they differ or are all invalid.
        pairs: the number of pairs of annotators with a label for the same candidate, over all candidates.
        agreeing_pairs: the number of these pairs with the same label.
    """

    kept: dict[str, GoldLabel]
    dropped: dict[str, tuple[str, ...]]
    pairs: int
    agreeing_pairs: int

    @property
    def observed_agreement(self) -> float | None:
        """Proportion of agreeing pairs, not corrected for chance, from 0 to 1; None if there are no candidates."""
        return self.agreeing_pairs / self.pairs if self.pairs else None


def unanimous(annotations: Sequence[Mapping[str, str]], names: Sequence[str] | None = None) -> Unanimity:
    """Keep the candidates on which all annotators agree.

    Args:
        annotations: for each annotator, candidate id -> "likely", "unlikely" or "invalid".
        names: the annotators' names in error messages; None to number them.

    Raises:
        FormatError: there are fewer than two annotators, they labelled different ids, or a label is unknown; lists
            all problems.

    >>> result = unanimous([{"a": "likely", "b": "unlikely", "c": "likely"},
    ...                     {"a": "likely", "b": "unlikely", "c": "invalid"}])
    >>> result.kept, result.dropped
    ({'a': 'yes', 'b': 'no'}, {'c': ('likely', 'invalid')})
    """
    _check(annotations, names or [f"annotator {number}" for number in range(1, len(annotations) + 1)])
    kept: dict[str, GoldLabel] = {}
    dropped: dict[str, tuple[str, ...]] = {}
    agreeing = 0
    for candidate in annotations[0]:
        labels = tuple(annotation[candidate] for annotation in annotations)
        agreeing += sum(comb(count, 2) for count in Counter(labels).values())
        if len(set(labels)) == 1 and labels[0] in _GOLD:
            kept[candidate] = _GOLD[labels[0]]
        else:
            dropped[candidate] = labels
    pairs = comb(len(annotations), 2) * len(annotations[0])
    return Unanimity(kept, dropped, pairs=pairs, agreeing_pairs=agreeing)


def _check(annotations: Sequence[Mapping[str, str]], names: Sequence[str]) -> None:
    problems = [Problem(what) for what in _find_problems(annotations, names)]
    if problems:
        raise FormatError("annotations", problems)


def _find_problems(annotations: Sequence[Mapping[str, str]], names: Sequence[str]) -> Iterator[str]:
    if len(annotations) < 2:
        yield f"the number of annotators is {len(annotations)} (expected at least 2)"
    candidates = dict.fromkeys(candidate for annotation in annotations for candidate in annotation)
    for name, annotation in zip(names, annotations, strict=True):
        for candidate in candidates:
            if candidate not in annotation:
                yield f"{name}: {candidate!r} has no label, but another annotator labelled it"
            elif annotation[candidate] not in _LABELS:
                label = annotation[candidate]
                yield f"{name}: {candidate!r} has label {label!r} (expected one of {', '.join(_LABELS)})"


def read_labels(path: Path) -> dict[str, str]:
    """Read an annotator's file: candidate id -> label.

    Raises:
        FormatError: a row breaks the schema, or an id is repeated; all problems at once.
    """
    return {row["id"]: row["label"] for row in read_rows(path, "mctaco", "annotation")}


def gold_rows(result: Unanimity, candidates: Path | None = None) -> list[Record]:
    """Return a row for every kept candidate.

    Args:
        result: the kept candidates with their labels.
        candidates: a file with the records of all candidates, to return gold records; None to return ids and labels.

    Raises:
        FormatError: the file lacks kept candidates, or breaks the schema; all problems at once.
    """
    if candidates is None:
        return [{"id": name, "label": label} for name, label in result.kept.items()]
    rows = {row["id"]: row for row in read_rows(candidates, "mctaco", "candidate")}
    problems = [
        Problem(f"candidate {quote(name)} was annotated but is not in this file")
        for name in result.kept
        if name not in rows
    ]
    if problems:
        raise FormatError(candidates, problems)
    names = [field.name for field in fields(load_schema("mctaco"))]
    return [{field: {**rows[name], "label": label}[field] for field in names} for name, label in result.kept.items()]


def dropped_rows(result: Unanimity) -> list[Record]:
    """Return a row for every dropped candidate, with the labels of all annotators."""
    return [{"id": name, "labels": list(labels)} for name, labels in result.dropped.items()]


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
    problems = [Problem(what) for what in _find_question_problems(records, categories, verifications)]
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


def _find_question_problems(
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
