"""The mentions of documents as columns of numbers, which the metrics count with.

Conventions: entities are numbered from 0 over all documents; the entities of a document are consecutive, and so are the
mentions of an entity.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask

if TYPE_CHECKING:
    from closeread.tasks.coref.documents import Document

WITH_HEAD = 3
"""The length of a mention with a head, ``[start, end, head]``."""

LAST_TOKEN = 2**31 - 1
"""The highest number of a token that the schema allows."""


class Columns(NamedTuple):
    """The mentions of documents, all (n_mentions,).

    Attributes:
        document: the document of each, from 0, in ascending order.
        entity: the entity of each, from 0, in ascending order.
        start, end: the first and the last token.
        head: the head token; None unless all mentions have heads.
    """

    document: Ints
    entity: Ints
    start: Ints
    end: Ints
    head: Ints | None

    def select(self, is_kept: Mask) -> Columns:
        """Return some of the mentions."""
        document, entity, start, end = (column[is_kept] for column in self[:4])
        head = None if self.head is None else self.head[is_kept]
        return Columns(document, entity, start, end, head)


def stack_mentions(documents: Sequence[Document]) -> Columns:
    """Return the mentions of documents as columns."""
    entities = list(chain.from_iterable(document.entities for document in documents))
    mentions = list(chain.from_iterable(entity.mentions for entity in entities))
    heads = [mention.head for mention in mentions]
    entity = _repeat_numbers([entity.mentions for entity in entities])
    return Columns(
        document=_repeat_numbers([document.entities for document in documents])[entity],
        entity=entity,
        start=np.array([mention.start for mention in mentions], np.int64),
        end=np.array([mention.end for mention in mentions], np.int64),
        head=None if None in heads else np.array(heads, np.int64),
    )


def stack_clusters(documents: Sequence[Any]) -> Columns | None:
    """Return the clusters of documents as columns if nothing about them is wrong, or has to be converted.

    All mentions have a head or none has one, no mention ends before it starts, and heads are inside their mentions;
    else, it returns None.
    """
    levels: list[Sequence[Any]] = [documents]
    for _ in range(3):
        if set(map(type, levels[-1])) - {list}:
            return None
        levels.append(list(chain.from_iterable(levels[-1])))
    _, clusters, mentions, numbers = levels
    widths = set(map(len, mentions))
    if set(map(type, numbers)) - {int} or widths not in (set(), {2}, {WITH_HEAD}):
        return None
    if not all(clusters):
        return None
    width = len(mentions[0]) if mentions else WITH_HEAD
    try:
        start, end, *heads = np.fromiter(numbers, np.int64, len(numbers)).reshape(-1, width).T
    except OverflowError:
        return None
    head = heads[0] if heads else start
    is_valid = (start >= 0) & (start <= head) & (head <= end) & (end <= LAST_TOKEN)
    if not is_valid.all():
        return None
    entity = _repeat_numbers(clusters)
    document = _repeat_numbers(documents)[entity]
    return Columns(document, entity, start, end, head if heads else None)


def _repeat_numbers(lists: Sequence[Sequence[Any]]) -> Ints:
    """Return the number of each list, once for each of its members."""
    return np.repeat(np.arange(len(lists)), np.fromiter(map(len, lists), np.int64, len(lists)))


def digest_columns(columns: Columns, n_documents: int, parts: Mapping[int, bytes]) -> list[bytes]:
    """Compute the sha256 of each document's entities and heads; name, format and order of entities don't matter.

    Args:
        columns: the mentions.
        n_documents: the number of documents.
        parts: what `describe_parts` returns for the documents that have discontinuous mentions, by number.
    """
    numbers = [columns.start, columns.end, _number_by_first_mention(columns, n_documents)]
    if columns.head is not None:
        numbers.append(columns.head)
    rows = np.column_stack(numbers)
    rows = rows[np.lexsort((*rows.T[::-1], columns.document))].astype("<i8")
    data = rows.tobytes()
    row_bytes = rows.itemsize * rows.shape[1]
    borders = np.searchsorted(columns.document, np.arange(n_documents + 1)) * row_bytes
    digests = []
    for document, (begin, end) in enumerate(pairwise(borders.tolist())):
        digest = hashlib.sha256(data[begin:end] + parts.get(document, b"[]"))
        digests.append(digest.digest())
    return digests


def _number_by_first_mention(columns: Columns, n_documents: int) -> Ints:
    """Return the entity of each mention, numbered in its document in the order of first mentions."""
    order = np.lexsort((columns.end, columns.start, columns.document))
    entities, first = np.unique(columns.entity[order], return_index=True)
    number = np.empty(int(columns.entity.max(initial=-1)) + 1, np.int64)
    number[entities[np.argsort(first)]] = np.arange(len(entities))
    numbered: Ints = number[columns.entity]
    lowest = np.full(n_documents, np.iinfo(np.int64).max)
    np.minimum.at(lowest, columns.document, numbered)
    in_document: Ints = numbered - lowest[columns.document]
    return in_document


def describe_parts(document: Document) -> bytes:
    """Return the parts of the discontinuous mentions of a document as JSON, in an order of their own."""
    mentions = [list(map(list, mention.subspans)) for mention in document.mentions]
    return json.dumps(sorted(filter(None, mentions), key=str)).encode()
