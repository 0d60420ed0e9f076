"""Errors of a response as they are listed: with their text, the worst documents first, and counted by a field.

Conventions: a document is worse than another if it has more errors of the requested kinds; equally bad ones are in the
order of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from closeread.arrays import Ints
from closeread.exceptions import RequestError
from closeread.suggestions import suggest
from closeread.tasks.coref.error_analysis import OF_ENTITIES, OF_MENTIONS, ErrorAnalysis, Findings
from closeread.tasks.coref.mention_fields import FIELDS


@dataclass(frozen=True)
class Mention:
    """A mention for display.

    Attributes:
        start, end: its first and last token.
        text: its words; None if the file has no text.
    """

    start: int
    end: int
    text: str | None


@dataclass(frozen=True)
class CorefError:
    """One error.

    Attributes:
        kind: its kind.
        document: the document's name.
        entity: the entity's id in its file, or else its number in the document, from 0.
        pieces: the mentions of the entity, grouped by their entity on the other side, with those that it lacks as a
            group; for an error in a mention, that mention.
        fields: the values of all fields, by name; None if the field is one of mentions and the error one of entities.
    """

    kind: str
    document: str
    entity: str
    pieces: tuple[tuple[Mention, ...], ...]
    fields: Mapping[str, str | None]


@dataclass(frozen=True)
class DocumentErrors:
    """The number of errors of a document.

    Attributes:
        document: the document's name.
        errors, entity_errors, mention_errors: the number of errors: all, in entities, in mentions.
        fields: the values of the fields of the document, by name.
    """

    document: str
    errors: int
    entity_errors: int
    mention_errors: int
    fields: Mapping[str, str]


def list_errors(analysis: ErrorAnalysis, kinds: Sequence[str], only: str | None = None) -> Iterator[CorefError]:
    """List the errors of some kinds, kind by kind, the worst documents first.

    Args:
        analysis: the errors.
        kinds: the kinds that make a document bad.
        only: the kind to list; None for all of them.
    """
    rank = np.empty(len(analysis.names), np.int64)
    rank[_rank_documents(analysis, kinds)] = np.arange(len(analysis.names))
    for kind in kinds if only is None else (only,):
        some = analysis.findings[kind]
        values = {field: analysis.values(kind, field) for field in analysis.fields}
        for i, error in _describe(some, np.argsort(rank[some.documents], kind="stable")):
            fields = {field: of[i] or None for field, of in values.items()}
            yield CorefError(kind, *error, fields)


def list_documents(analysis: ErrorAnalysis, kinds: Sequence[str]) -> list[DocumentErrors]:
    """List the documents with errors of some kinds, the worst first."""
    entities, mentions = (
        analysis.count_documents([kind for kind in kinds if kind in group]) for group in (OF_ENTITIES, OF_MENTIONS)
    )
    return [
        DocumentErrors(
            analysis.names[number],
            int(entities[number] + mentions[number]),
            int(entities[number]),
            int(mentions[number]),
            {field: values[number] for field, values in analysis.document_fields.items()},
        )
        for number in _rank_documents(analysis, kinds).tolist()
        if entities[number] + mentions[number]
    ]


def count_by_field(analysis: ErrorAnalysis, field: str, aliases: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Count the findings of each value of a field, by kind; only kinds that have the field.

    Raises:
        RequestError: there is no such field.
    """
    if field not in analysis.fields:
        guess, known = suggest(field, analysis.fields, aliases), ", ".join(analysis.fields)
        raise RequestError(f"no field '{field}' to count errors by{guess and '.'}{guess} (choose from: {known})")
    kinds = analysis.list_kinds(field)
    counted = {kind: Counter(analysis.values(kind, field)) for kind in kinds}
    if field in FIELDS:
        values: Sequence[str] = [part for part in FIELDS[field].parts if any(part in of for of in counted.values())]
    else:
        values = list(dict.fromkeys(analysis.document_fields[field]))
    return {value: {kind: counted[kind][value] for kind in kinds} for value in values}


def _rank_documents(analysis: ErrorAnalysis, kinds: Sequence[str]) -> Ints:
    """Return the documents, the worst first."""
    return np.argsort(-analysis.count_documents(kinds), kind="stable")


def _describe(some: Findings, order: Ints) -> Iterator[tuple[int, tuple[str, str, tuple[tuple[Mention, ...], ...]]]]:
    """Yield some findings in an order: the index of each, and the first fields of its `CorefError`."""
    table = some.table
    size = np.bincount(table.entity, minlength=1)
    # Findings come document by document, and reading the words of a document is slow.
    words = lru_cache(maxsize=1)(table.words) if table.words is not None else None

    def mention(document: int, row: int) -> Mention:
        start, end = int(table.start[row]), int(table.end[row])
        if words is None:
            return Mention(start, end, None)
        parts = table.parts.get(row, ((start, end),))
        return Mention(start, end, " … ".join(" ".join(words(document)[a : b + 1]) for a, b in parts))

    for i in order.tolist():
        first = int(some.rows[i])
        document = int(table.document[first])
        n = int(size[table.entity[first]]) if some.kind in OF_ENTITIES else 1
        groups: dict[int, list[Mention]] = {}
        for row, place in enumerate(some.there[first : first + n].tolist(), start=first):
            groups.setdefault(place, []).append(mention(document, row))
        yield i, (table.names[document], table.label(first), tuple(map(tuple, groups.values())))
