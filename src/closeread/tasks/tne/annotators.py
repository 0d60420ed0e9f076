"""Documents of several annotators, laid side by side: the same ones, in one order, with the same noun phrases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from closeread.errors import FormatError, Problem, join_names, pluralize, quote
from closeread.records import Record
from closeread.tasks.tne.columns import Documents, documents_of

EXTENT = ("first_char", "last_char", "first_token", "last_token", "text")


def side_by_side(annotators: Sequence[Sequence[Record]], names: Sequence[str]) -> list[Documents]:
    """The documents of every annotator in the order of the first's.

    Args:
        annotators: the documents of each, at least one; ids are unique.
        names: what to call the annotators.

    Raises:
        FormatError: they don't have the same documents, or two tell another text or other tokens or noun phrases of
            one; all problems at once.
    """
    first, *others = map(documents_of, annotators)
    ids = first.column("id")
    laid = [first]
    problems: list[str] = []
    for documents, name in zip(others, names[1:], strict=True):
        theirs = dict(zip(documents.column("id"), documents, strict=True))
        problems += _other_documents(ids, theirs, names[0], name)
        for one in first:
            if one["id"] in theirs:
                problems += _differences(one, theirs[one["id"]], names[0], name)
        laid.append(Documents([theirs.get(document, {"id": document}) for document in ids]))
    if problems:
        raise FormatError("annotations", [Problem(what) for what in problems])
    return laid


def _other_documents(ids: Sequence[str], theirs: Mapping[str, Record], own: str, other: str) -> Iterator[str]:
    """The documents that only one of two has."""
    known = set(ids)
    lacking = [name for name in ids if name not in theirs]
    extra = [name for name in theirs if name not in known]
    if lacking:
        yield f"{other} lacks {len(lacking):,} of the {len(ids):,} documents of {own}: {join_names(lacking)}"
    if extra:
        yield f"{other} has {pluralize(len(extra), 'document')} that {own} lacks: {join_names(extra)}"


def _differences(one: Record, two: Record, own: str, other: str) -> Iterator[str]:
    """What two annotators don't tell alike of a document, where both tell it."""
    of_document = f"document {quote(one['id'])}"
    for name, unit in (("text", "character"), ("tokens", "token")):
        a, b = one.get(name), two.get(name)
        if a is not None and b is not None and a != b:
            same = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
            yield f"{of_document}: {name} of {other} differs from {unit} {same} on, from 0, from that of {own}"
    a, b = one.get("nps"), two.get("nps")
    if a is not None and b is not None and a != b:
        yield from (f"{of_document}: {what}" for what in _other_phrases(a, b, own, other))


def _other_phrases(ours: Sequence[Record], theirs: Sequence[Record], own: str, other: str) -> Iterator[str]:
    a, b = ({phrase["id"]: phrase for phrase in side} for side in (ours, theirs))
    for name, phrase in a.items():
        if name not in b:
            yield f"{other} lacks {name}, which is {_extent(phrase)} in {own}"
        elif _told(phrase) != _told(b[name]):
            yield f"{name} is {_extent(b[name])} in {other}; needed: {_extent(phrase)}, as in {own}"
    for name, phrase in b.items():
        if name not in a:
            yield f"{other} has {name}, {_extent(phrase)}, which {own} lacks"


def _told(phrase: Record) -> list[Any]:
    return [phrase[name] for name in EXTENT]


def _extent(phrase: Record) -> str:
    characters = f"characters {phrase['first_char']} to {phrase['last_char']}"
    last = "null" if phrase["last_token"] is None else phrase["last_token"]
    return f"{quote(phrase['text'])} ({characters}, tokens {phrase['first_token']} to {last})"
