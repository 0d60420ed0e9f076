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
from typing import NamedTuple

from closeread.corpus.gold import read_rows
from closeread.corpus.schema import fields, load_schema
from closeread.exceptions import FormatError, Problem, quote
from closeread.records import Record

GOLD_LABELS = {"likely": "yes", "unlikely": "no"}
LABELS = (*GOLD_LABELS, "invalid")


class Unanimity(NamedTuple):
    """The candidates that were kept and dropped, both in the order of the first annotator's labels."""

    kept: dict[str, str]  # id -> "yes" if all annotators chose likely, "no" if all chose unlikely
    dropped: dict[str, tuple[str, ...]]  # id -> one label per annotator, if they differ or are all invalid
    pairs: int  # of annotators with a label for the same candidate, over all candidates
    agreeing_pairs: int  # those with the same label

    @property
    def observed_agreement(self) -> float | None:
        """Proportion of agreeing pairs, not corrected for chance, from 0 to 1; None if there are no candidates."""
        return self.agreeing_pairs / self.pairs if self.pairs else None


def unanimous(annotations: Sequence[Mapping[str, str]], names: Sequence[str] = ()) -> Unanimity:
    """Keep the candidates on which all annotators agree.

    Args:
        annotations: for each annotator, candidate id -> "likely", "unlikely" or "invalid".
        names: the annotators' names in error messages; none to number them.

    >>> result = unanimous([{"a": "likely", "b": "unlikely", "c": "likely"},
    ...                     {"a": "likely", "b": "unlikely", "c": "invalid"}])
    >>> result.kept, result.dropped
    ({'a': 'yes', 'b': 'no'}, {'c': ('likely', 'invalid')})
    """
    names = names or [f"annotator {number}" for number in range(1, len(annotations) + 1)]
    problems = _check_number(annotations)
    candidates = dict.fromkeys(candidate for annotation in annotations for candidate in annotation)
    for name, annotation in zip(names, annotations, strict=True):
        for candidate in candidates:
            if candidate not in annotation:
                problems.append(f"{name}: {candidate!r} has no label, but another annotator labelled it")
            elif (label := annotation[candidate]) not in LABELS:
                problems.append(f"{name}: {candidate!r} has label {label!r} (expected one of {', '.join(LABELS)})")
    _raise_any("annotations", problems)
    labels = {candidate: tuple(annotation[candidate] for annotation in annotations) for candidate in annotations[0]}
    kept = {
        candidate: GOLD_LABELS[given[0]]
        for candidate, given in labels.items()
        if len(set(given)) == 1 and given[0] in GOLD_LABELS
    }
    dropped = {candidate: given for candidate, given in labels.items() if candidate not in kept}
    agreeing = sum(comb(count, 2) for given in labels.values() for count in Counter(given).values())
    return Unanimity(kept, dropped, comb(len(annotations), 2) * len(labels), agreeing)


def _check_number(annotators: Sequence[object] | Mapping[str, object]) -> list[str]:
    return [] if len(annotators) > 1 else [f"the number of annotators is {len(annotators)} (expected at least 2)"]


def _raise_any(source: str, problems: Sequence[str]) -> None:
    if problems:
        raise FormatError(source, [Problem(what) for what in problems])


def read_labels(path: Path) -> dict[str, str]:
    """Read an annotator's file: candidate id -> label."""
    return {row["id"]: row["label"] for row in read_rows(path, "mctaco", "annotation")}


def gold_rows(kept: Mapping[str, str], candidates: Path | None = None) -> list[Record]:
    """Return a row for every kept candidate: its id and label, or its gold record from a file of all candidates."""
    if candidates is None:
        return [{"id": name, "label": label} for name, label in kept.items()]
    rows = {row["id"]: row for row in read_rows(candidates, "mctaco", "candidate")}
    problems = [
        Problem(f"candidate {quote(name)} was annotated but is not in this file") for name in kept if name not in rows
    ]
    if problems:
        raise FormatError(candidates, problems)
    names = [field.name for field in fields(load_schema("mctaco"))]
    return [{field: {**rows[name], "label": label}[field] for field in names} for name, label in kept.items()]


REASONS = {
    "category": "another category",
    "from_sentence": "answered by the sentence",
    "correct": "not correct",
}
"""Why an annotator rejects a question, by the field that says so."""


def read_verifications(path: Path) -> dict[str, Record]:
    """Read an annotator's file: question id -> row."""
    first: dict[str, Record] = {}
    problems = [
        Problem(f"question {quote(row['question_id'])} occurs more than once", number)
        for number, row in enumerate(read_rows(path, "mctaco", "verification"), start=1)
        if first.setdefault(row["question_id"], row) is not row
    ]
    if problems:
        raise FormatError(path, problems)
    return first


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
    >>> question = [{"question_id": "q0", "category": "Frequency"}]
    >>> filter_questions(question, {"anna": good, "ben": good})
    {'q0': []}
    >>> filter_questions(question, {"anna": good, "ben": odd})
    {'q0': ['another category', 'not correct']}
    """
    categories: dict[str, str] = {}
    for record in records:
        categories.setdefault(record["question_id"], record["category"])
    problems = _check_number(verifications)
    different = {row["question_id"] for row in records if row["category"] != categories[row["question_id"]]}
    problems += [f"question {quote(question)} has rows of different categories" for question in sorted(different)]
    for name, of_annotator in verifications.items():
        lacking = [question for question in categories if question not in of_annotator]
        others = [question for question in of_annotator if question not in categories]
        problems += [f"{name}: question {quote(question)} has no verification" for question in lacking]
        problems += [f"{name}: question {quote(question)} is not one of the questions to verify" for question in others]
    _raise_any("verifications", problems)
    return {
        question: [
            reason
            for (field, reason), expected in zip(REASONS.items(), (category, "no", "yes"), strict=True)
            if any(of_annotator[question][field] != expected for of_annotator in verifications.values())
        ]
        for question, category in categories.items()
    }
