"""Annotators of McTaco: questions that all of them accept, and candidate answers that all of them label alike.

Source: Zhou et al. (2019).  In step 2, two annotators check that a question asks about one of five temporal
properties, is not answered by a word or phrase of the sentence, and is grammatically and logically correct.  It is kept
if they agree with each other and with whoever wrote it, here: on its category.  In step 4, four annotators label every
candidate likely, unlikely or invalid; it is kept if all label it likely or all label it unlikely.  Here any number of
annotators from two up works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

from closeread.arrays import ratio
from closeread.corpus.gold import read_rows
from closeread.corpus.schema import fields, load_schema
from closeread.counts.agreement import find_lacking
from closeread.counts.annotators import require_two
from closeread.exceptions import FormatError, Problem, quote, read_all
from closeread.files import write_texts
from closeread.formats.json_lines import dump_json_lines
from closeread.records import Record

GOLD_LABELS = {"likely": "yes", "unlikely": "no"}


def read_labels(annotators: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """Read annotators' files: candidate id -> one label per annotator, in the order of the first file."""
    annotations = read_all(annotators, _read_annotation)
    require_two(annotations)
    problems = list(find_lacking(annotations, list(map(str, annotators)), "candidate"))
    if problems:
        raise FormatError("annotations", problems)
    labels = {}
    for candidate in annotations[0]:
        labels[candidate] = tuple(annotation[candidate] for annotation in annotations)
    return labels


def _read_annotation(path: Path) -> dict[str, str]:
    """Read the labels of an annotator by candidate id."""
    return {row["id"]: row["label"] for row in read_rows(path, "mctaco", "annotation")}


def find_unanimous(labels: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the candidates that all annotators label likely ("yes") or all label unlikely ("no").

    >>> find_unanimous({"a": ("likely", "likely"), "b": ("unlikely", "unlikely"), "c": ("likely", "invalid")})
    {'a': 'yes', 'b': 'no'}
    """
    gold_labels = {}
    for candidate, votes in labels.items():
        distinct = set(votes)
        label = GOLD_LABELS.get(votes[0])
        if len(distinct) == 1 and label is not None:
            gold_labels[candidate] = label
    return gold_labels


def measure_observed_agreement(labels: Mapping[str, tuple[str, ...]]) -> float:
    """Return the proportion of pairs of annotators with the same label of a candidate, not corrected for chance.

    >>> measure_observed_agreement({"a": ("likely",) * 3, "b": ("likely", "likely", "invalid")})  # 3 + 1 of 3 + 3
    0.6666666666666666
    """
    n_pairs = n_agreeing = 0
    for votes in labels.values():
        for first, second in combinations(votes, 2):
            n_pairs += 1
            n_agreeing += first == second
    return float(ratio(n_agreeing, n_pairs))


def gold_rows(gold_labels: Mapping[str, str], candidates: Path | None = None) -> list[Record]:
    """Return a row for every candidate that is kept.

    Args:
        gold_labels: the labels of these candidates by id.
        candidates: a file of all candidates, for rows that are gold records; without it, rows have id and label only.
    """
    if candidates is None:
        return [{"id": name, "label": label} for name, label in gold_labels.items()]
    rows = {row["id"]: row for row in read_rows(candidates, "mctaco", "candidate")}
    problems = [
        Problem(f"candidate {quote(name)} was annotated but is not in this file")
        for name in gold_labels
        if name not in rows
    ]
    if problems:
        raise FormatError(candidates, problems)
    columns = [field.name for field in fields(load_schema("mctaco"))]
    gold = []
    for name, label in gold_labels.items():
        record = {**rows[name], "label": label}
        gold.append({column: record[column] for column in columns})
    return gold


REASONS = {
    "category": "another category",
    "from_sentence": "answered by the sentence",
    "correct": "not correct",
}
"""Why an annotator rejects a question, by the field that says so."""


def read_verifications(annotators: Sequence[Path]) -> dict[str, dict[str, Record]]:
    """Read annotators' files: the name of each (a file that is given twice is two annotators), question id -> row."""
    verifications = read_all(annotators, _read_verification)
    names = []
    for index, path in enumerate(annotators):
        is_repeated = path in annotators[:index]
        names.append(f"{path} ({index + 1})" if is_repeated else f"{path}")
    return dict(zip(names, verifications, strict=True))


def _read_verification(path: Path) -> dict[str, Record]:
    """Read the rows of an annotator by question id."""
    verification: dict[str, Record] = {}
    problems = []
    for number, row in enumerate(read_rows(path, "mctaco", "verification"), start=1):
        question = row["question_id"]
        if question in verification:
            problems.append(Problem(f"question {quote(question)} occurs more than once", number))
        verification[question] = row
    if problems:
        raise FormatError(path, problems)
    return verification


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
    require_two(verifications)
    sides = [categories, *verifications.values()]
    problems = list(find_lacking(sides, ["gold", *verifications], "question"))
    if problems:
        raise FormatError("verifications", problems)
    reasons = {}
    for question, category in categories.items():
        rows = [verification[question] for verification in verifications.values()]
        reasons[question] = _list_reasons(rows, category)
    return reasons


def _list_reasons(rows: Sequence[Record], category: str) -> list[str]:
    """List why some annotator rejects a question, from the rows of all annotators."""
    accepted = {"category": category, "from_sentence": "no", "correct": "yes"}
    reasons = []
    for field, reason in REASONS.items():
        if any(row[field] != accepted[field] for row in rows):
            reasons.append(reason)
    return reasons


def write_decisions(output: Path, text: str, dropped: Path | None, rows: Sequence[Record]) -> None:
    """Write what is kept, and the rows of what is dropped if there is a file for them: both or none."""
    texts = {output: text}
    if dropped is not None:
        texts[dropped] = dump_json_lines(rows)
    write_texts(texts)
