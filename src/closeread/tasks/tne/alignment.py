"""Annotators' documents, aligned and checked.

Conventions: annotators have the same texts, tokens and noun phrases, as far as they have them; documents are in the
order of the first annotator's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from operator import itemgetter
from typing import Any

from closeread.counts.agreement import find_lacking
from closeread.exceptions import FormatError, Problem, quote
from closeread.records import Record

CONTENTS = {"text": "character", "tokens": "token", "nps": "noun phrase"}
"""The layers that annotators are given, and the units of each."""

EXTENT = ("first_char", "last_char", "first_token", "last_token", "text")


def raise_problems(source: object, problems: Sequence[str]) -> None:
    """Raise a FormatError if there are problems."""
    if problems:
        raise FormatError(source, list(map(Problem, problems)))


def align(annotators: Sequence[Sequence[Record]], names: Sequence[str]) -> list[list[Record]]:
    """Return the documents of every annotator in the order of the first."""
    ids = [dict.fromkeys(record["id"] for record in documents) for documents in annotators]
    problems = [problem.message for problem in find_lacking(ids, names, "document")]
    # The first annotator who has a layer of a document, and the layer.
    layers: dict[tuple[str, str], tuple[str, Any]] = {}
    aligned = []
    for documents, name in zip(annotators, names, strict=True):
        record_by_id = {record["id"]: record for record in documents}
        in_order = [record_by_id.get(document, {"id": document}) for document in ids[0]]
        problems += _compare_layers(in_order, name, layers)
        aligned.append(in_order)
    raise_problems("annotations", problems)
    return aligned


def _compare_layers(
    documents: Sequence[Record], name: str, layers: dict[tuple[str, str], tuple[str, Any]]
) -> list[str]:
    """Compare the layers of an annotator's documents with those that are known, to which new ones are added."""
    problems = []
    for record in documents:
        for content in CONTENTS:
            layer = record.get(content)
            if layer is None:
                continue
            owner, expected = layers.setdefault((record["id"], content), (name, layer))
            if layer != expected:
                place = f"document {quote(record['id'])}"
                differences = _compare_contents(content, expected, layer, owner, name)
                problems += [f"{place}: {difference}" for difference in differences]
    return problems


def _compare_contents(
    content: str, first: Sequence[Any], second: Sequence[Any], first_name: str, second_name: str
) -> Iterator[str]:
    """Yield differences in a layer of a document that both annotators have."""
    if content == "nps":
        yield from _compare_phrases(first, second, first_name, second_name)
        return
    place = len(first)
    for number, (unit, other_unit) in enumerate(zip_longest(first, second)):
        if unit != other_unit:
            place = number
            break
    where = f"{content} from {CONTENTS[content]} {place} on (counted from 0)"
    yield f"{first_name} and {second_name} differ in {where}"


def _compare_phrases(
    first: Sequence[Record], second: Sequence[Record], first_name: str, second_name: str
) -> Iterator[str]:
    """Yield differences between the noun phrases of two annotators."""
    first_by_id = {phrase["id"]: phrase for phrase in first}
    second_by_id = {phrase["id"]: phrase for phrase in second}
    extent = itemgetter(*EXTENT)
    for name, phrase in first_by_id.items():
        words = _describe(phrase)
        other = second_by_id.get(name)
        if other is None:
            yield f"{second_name} lacks {name}, which is {words} in {first_name}"
        elif extent(phrase) != extent(other):
            yield f"{name} is {_describe(other)} in {second_name} but {words} in {first_name}"
    for name, phrase in second_by_id.items():
        if name not in first_by_id:
            yield f"{second_name} has {name}, {_describe(phrase)}, which {first_name} lacks"


def _describe(phrase: Record) -> str:
    characters = f"characters {phrase['first_char']} to {phrase['last_char']}"
    last = "null" if phrase["last_token"] is None else phrase["last_token"]
    return f"{quote(phrase['text'])} ({characters}, tokens {phrase['first_token']} to {last})"
