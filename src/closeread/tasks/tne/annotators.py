"""Documents of several annotators, aligned: the same documents in the same order with the same noun phrases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from closeread.errors import FormatError, Problem, join_names, pluralize, quote
from closeread.records import Record
from closeread.tasks.tne.columns import Documents, documents_of

EXTENT = ("first_char", "last_char", "first_token", "last_token", "text")


def align(annotators: Sequence[Sequence[Record]], names: Sequence[str]) -> list[Documents]:
    """Return the documents of every annotator in the order of the first.

    Args:
        annotators: the documents of each, at least one; ids are unique.
        names: the names of the annotators in messages.

    Raises:
        FormatError: the annotators don't have the same documents, or text, tokens or noun phrases of a document differ;
            all problems at once.
    """
    first, *rest = map(documents_of, annotators)
    ids = first.column("id")
    aligned = [first]
    problems: list[str] = []
    for documents, name in zip(rest, names[1:], strict=True):
        theirs = dict(zip(documents.column("id"), documents, strict=True))
        problems += _compare_documents(ids, theirs, names[0], name)
        for one in first:
            if one["id"] in theirs:
                problems += _compare_contents(one, theirs[one["id"]], names[0], name)
        aligned.append(Documents([theirs.get(document, {"id": document}) for document in ids]))
    if problems:
        raise FormatError("annotations", [Problem(what) for what in problems])
    return aligned


def _compare_documents(ids: Sequence[str], theirs: Mapping[str, Record], own: str, other: str) -> Iterator[str]:
    """Find documents that only one of the two has."""
    known = set(ids)
    lacking = [name for name in ids if name not in theirs]
    extra = [name for name in theirs if name not in known]
    if lacking:
        yield f"{other} lacks {len(lacking):,} of the {len(ids):,} documents of {own}: {join_names(lacking)}"
    if extra:
        yield f"{other} has {pluralize(len(extra), 'document')} that {own} lacks: {join_names(extra)}"


def _compare_contents(one: Record, two: Record, own: str, other: str) -> Iterator[str]:
    """Find differences in the fields of a document that both annotators have."""
    of_document = f"document {quote(one['id'])}"
    for name, unit in (("text", "character"), ("tokens", "token")):
        a, b = one.get(name), two.get(name)
        if a is not None and b is not None and a != b:
            same = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
            yield f"{of_document}: {own} and {other} differ in {name} from {unit} {same} on (counted from 0)"
    a, b = one.get("nps"), two.get("nps")
    if a is not None and b is not None and a != b:
        yield from (f"{of_document}: {what}" for what in _compare_phrases(a, b, own, other))


def _compare_phrases(ours: Sequence[Record], theirs: Sequence[Record], own: str, other: str) -> Iterator[str]:
    a, b = ({phrase["id"]: phrase for phrase in side} for side in (ours, theirs))
    for name, phrase in a.items():
        if name not in b:
            yield f"{other} lacks {name}, which is {_describe(phrase)} in {own}"
        elif _span(phrase) != _span(b[name]):
            yield f"{name} is {_describe(b[name])} in {other} but {_describe(phrase)} in {own}"
    for name, phrase in b.items():
        if name not in a:
            yield f"{other} has {name}, {_describe(phrase)}, which {own} lacks"


def _span(phrase: Record) -> list[Any]:
    return [phrase[name] for name in EXTENT]


def _describe(phrase: Record) -> str:
    characters = f"characters {phrase['first_char']} to {phrase['last_char']}"
    last = "null" if phrase["last_token"] is None else phrase["last_token"]
    return f"{quote(phrase['text'])} ({characters}, tokens {phrase['first_token']} to {last})"
