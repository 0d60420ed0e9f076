"""Annotators of McTaco: questions that all of them accept, and candidate answers that all of them label alike.

Source: Zhou et al. (2019).  In step 2, two annotators check that a question asks about one of five temporal
properties, is not answered by a word or phrase of the sentence, and is grammatically and logically correct.  It is kept
if they agree with each other and with whoever wrote it, here: on its category.  In step 4, four annotators label every
candidate likely, unlikely or invalid; it is kept if all label it likely or all label it unlikely.  Here any number of
annotators from two up works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import comb
from pathlib import Path

from closeread.arrays import ratio
from closeread.corpus.gold import read_rows
from closeread.corpus.schema import fields, load_schema
from closeread.exceptions import FormatError, Problem, quote, read_all
from closeread.records import Record

GOLD_LABELS = {"likely": "yes", "unlikely": "no"}


def read_labels(annotators: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """Read annotators' files: candidate id -> one label per annotator, in the order of the first file."""
    annotations = [
        {row["id"]: row["label"] for row in rows}
        for rows in read_all(annotators, lambda path: read_rows(path, "mctaco", "annotation"))
    ]
    candidates = dict.fromkeys(candidate for annotation in annotations for candidate in annotation)
    problems = [
        f"{path}: {candidate!r} has no label, but another annotator labelled it"
        for path, annotation in zip(annotators, annotations, strict=True)
        for candidate in candidates
        if candidate not in annotation
    ]
    _raise_any("annotations", annotators, problems)
    return {
        candidate: tuple(annotation[candidate] for annotation in annotations)
        for candidate in candidates
    }


def find_unanimous(labels: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the candidates that all annotators label likely ("yes") or all label unlikely ("no").

    >>> find_unanimous({"a": ("likely", "likely"), "b": ("unlikely", "unlikely"), "c": ("likely", "invalid")})
    {'a': 'yes', 'b': 'no'}
    """
    return {
        candidate: GOLD_LABELS[votes[0]]
        for candidate, votes in labels.items()
        if len(set(votes)) == 1 and votes[0] in GOLD_LABELS
    }


def measure_observed_agreement(labels: Mapping[str, tuple[str, ...]]) -> float:
    """Return the proportion of pairs of annotators with the same label of a candidate, not corrected for chance.

    >>> measure_observed_agreement({"a": ("likely",) * 3, "b": ("likely", "likely", "invalid")})  # 3 + 1 of 3 + 3
    0.6666666666666666
    """
    agreeing = sum(comb(count, 2) for votes in labels.values() for count in Counter(votes).values())
    return float(ratio(agreeing, sum(comb(len(votes), 2) for votes in labels.values())))


def gold_rows(kept: Mapping[str, str], candidates: Path | None = None) -> list[Record]:
    """Return a row for every kept candidate: its id and label, or its gold record from a file of all candidates."""
    if candidates is None:
        return [{"id": name, "label": label} for name, label in kept.items()]
    rows = {row["id"]: row for row in read_rows(candidates, "mctaco", "candidate")}
    if lacking := [name for name in kept if name not in rows]:
        what = "was annotated but is not in this file"
        raise FormatError(
            candidates, [Problem(f"candidate {quote(name)} {what}") for name in lacking]
        )
    names = [field.name for field in fields(load_schema("mctaco"))]
    return [
        {field: {**rows[name], "label": label}[field] for field in names}
        for name, label in kept.items()
    ]


REASONS = {
    "category": "another category",
    "from_sentence": "answered by the sentence",
    "correct": "not correct",
}
"""Why an annotator rejects a question, by the field that says so."""


def read_verifications(annotators: Sequence[Path]) -> dict[str, dict[str, Record]]:
    """Read annotators' files: the name of each (a file that is given twice is two annotators), question id -> row."""

    def read(path: Path) -> dict[str, Record]:
        first: dict[str, Record] = {}
        problems = [
            Problem(f"question {quote(row['question_id'])} occurs more than once", number)
            for number, row in enumerate(read_rows(path, "mctaco", "verification"), start=1)
            if first.setdefault(row["question_id"], row) is not row
        ]
        if problems:
            raise FormatError(path, problems)
        return first

    names = [
        f"{path}" if path not in annotators[:n] else f"{path} ({n + 1})"
        for n, path in enumerate(annotators)
    ]
    return dict(zip(names, read_all(annotators, read), strict=True))


def filter_questions(
    records: Sequence[Record], verifications: Mapping[str, Mapping[str, Record]]
) -> dict[str, list[str]]:
    """Return the questions in the order of the records, each with the reasons to drop it; none if all accept it.

    Args:
        records: rows with ``question_id`` and ``category``, the decision of whoever wrote the question; a question may
            have several rows.
        verifications: by the annotator's name, question id -> ``category`` (or "none"), ``from_sentence`` and
            ``correct`` ("yes" or "no").

    >>> good = {"q0": {"category": "Frequency", "from_sentence": "no", "correct": "yes"}}
    >>> odd = {"q0": {"category": "Typical Time", "from_sentence": "no", "correct": "no"}}
    >>> filter_questions([{"question_id": "q0", "category": "Frequency"}], {"anna": good, "ben": odd})
    {'q0': ['another category', 'not correct']}
    """
    categories = {record["question_id"]: record["category"] for record in records}
    problems = []
    for name, of_annotator in verifications.items():
        lacking = [question for question in categories if question not in of_annotator]
        others = [question for question in of_annotator if question not in categories]
        problems += [
            f"{name}: question {quote(question)} has no verification" for question in lacking
        ]
        problems += [
            f"{name}: question {quote(question)} is not one of the questions to verify"
            for question in others
        ]
    _raise_any("verifications", verifications, problems)
    return {
        question: [
            reason
            for (field, reason), expected in zip(
                REASONS.items(), (category, "no", "yes"), strict=True
            )
            if any(
                of_annotator[question][field] != expected for of_annotator in verifications.values()
            )
        ]
        for question, category in categories.items()
    }


def _raise_any(
    source: str, annotators: Sequence[object] | Mapping[str, object], problems: Sequence[str]
) -> None:
    if len(annotators) < 2:
        problems = [
            f"the number of annotators is {len(annotators)} (expected at least 2)",
            *problems,
        ]
    if problems:
        raise FormatError(source, [Problem(what) for what in problems])
