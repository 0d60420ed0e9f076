"""The mentions of documents as columns: what the metrics count with.

Conventions: entities are numbered from 0 over all documents; the entities of a document are consecutive, and so are the
mentions of an entity.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from closeread.arrays import Ints, Mask

if TYPE_CHECKING:
    from closeread.tasks.coref.documents import Document, EmptyNode, Mention, TreeRow
    from closeread.tasks.coref.universal_anaphora.relations import Relations

T = TypeVar("T")

Parts = tuple[tuple[int, int], ...]
"""The first and the last token of each part of a mention."""

WITH_HEAD = 3
"""The length of a mention with a head, ``[start, end, head]``."""

LAST_TOKEN = 2**31 - 1
"""The highest number of a token that the schema allows."""


@dataclass(frozen=True, eq=False)
class Trees:
    """The constituency trees of documents, both (n_documents,).

    Attributes:
        rows: the tokens.
        digests: of words, tags, trees and sentences.
    """

    rows: Sequence[Sequence[TreeRow]]
    digests: Sequence[bytes]


@dataclass(frozen=True, eq=False)
class MentionTable:
    """The mentions of documents as columns.

    Attributes:
        names: (n_documents,) the names of the documents.
        n_tokens: (n_documents,) their numbers of tokens; None unless all are known.
        document: (n_mentions,) the document of each mention, from 0, in ascending order.
        start, end: (n_mentions,) the first and the last token.
        entity: (n_mentions,) the entity, from 0, in ascending order.
        n_entities: the number of entities, those without mentions included.
        parts: the first and the last token of each part of the discontinuous mentions, by the row of the mention.
        head: (n_mentions,) the head token; None unless all mentions have heads.
        labels: (n_entities,) the ids of the entities in their file; None if no file has any.
        empty: (n_documents,) the empty nodes of each document; None if there are none.
        minimum: the tokens of minimum spans, by the row of the mention.
        trees: the constituents; None if they were not read.
        tags: (n_mentions,) the part of speech of each head, empty if it is unknown; None if no file has any.
        relations: annotation beside identity, by the name of the document; None if the format can't have it.
        absent: the documents without a response; they have no mentions here.
        rank: (n_entities,) the place of each entity in the order in which the reference scorer meets them, of which
            the first keeps a repeated mention; None if that is the order of their numbers.
        is_named: whether the documents have names; those of lists in memory are numbers.
    """

    names: Sequence[str]
    n_tokens: Ints | None
    document: Ints
    start: Ints
    end: Ints
    entity: Ints
    n_entities: int
    parts: Mapping[int, Parts] = field(default_factory=dict)
    head: Ints | None = None
    labels: Sequence[str] | None = None
    empty: Sequence[Sequence[EmptyNode]] | None = None
    minimum: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    trees: Trees | None = None
    tags: Sequence[str] | None = None
    relations: Relations | None = None
    absent: frozenset[int] = frozenset()
    rank: Ints | None = None
    is_named: bool = True

    def __len__(self) -> int:
        return len(self.names)

    def select(self, rows: Mask) -> MentionTable:
        """Return the table with the mentions where the mask is true; entities keep their numbers."""
        return self.take(np.flatnonzero(rows))

    def take(self, rows: Ints) -> MentionTable:
        """Return the table with these mentions in this order; entities keep their numbers."""
        order = rows.tolist()
        return replace(
            self,
            document=self.document[rows],
            start=self.start[rows],
            end=self.end[rows],
            entity=self.entity[rows],
            parts=_renumber(self.parts, order),
            minimum=_renumber(self.minimum, order),
            tags=None if self.tags is None else [self.tags[row] for row in order],
            head=None if self.head is None else self.head[rows],
        )

    def parts_of(self, row: int) -> Parts:
        """Return the (start, end) of each part of a mention."""
        return self.parts.get(row) or ((int(self.start[row]), int(self.end[row])),)

    def label(self, row: int) -> str:
        """Return the id of a mention's entity in the file, or else its number in the document, from 0."""
        if self.labels is not None:
            return self.labels[int(self.entity[row])]
        return str(
            self.entity[row] - self.entity[np.searchsorted(self.document, self.document[row])]
        )


def _renumber(values: Mapping[int, T], rows: Sequence[int]) -> dict[int, T]:
    return {new: values[old] for new, old in enumerate(rows) if old in values} if values else {}


def stack_documents(documents: Sequence[Document]) -> MentionTable:
    """Return the mentions of documents as columns.

    Heads, lengths and relations are kept if all documents have them.
    """
    entities = list(chain.from_iterable(document.entities for document in documents))
    mentions = list(chain.from_iterable(entity.mentions for entity in entities))
    heads = [mention.head for mention in mentions]
    lengths = [document.n_tokens for document in documents]
    n_mentions = np.array([len(entity.mentions) for entity in entities], np.int64)
    n_entities = np.array([len(document.entities) for document in documents], np.int64)
    entity = np.repeat(np.arange(len(entities)), n_mentions)
    document_of_entity = np.repeat(np.arange(len(documents)), n_entities)
    has_nodes = any(document.nodes for document in documents)
    return MentionTable(
        names=[document.name for document in documents],
        n_tokens=None if None in lengths else np.array(lengths, np.int64),
        document=document_of_entity[entity],
        start=np.array([mention.start for mention in mentions], np.int64),
        end=np.array([mention.end for mention in mentions], np.int64),
        entity=entity,
        n_entities=len(entities),
        parts={row: mention.subspans for row, mention in enumerate(mentions) if mention.subspans},
        head=None if None in heads else np.array(heads, np.int64),
        labels=_stack_labels(documents),
        empty=[document.nodes for document in documents] if has_nodes else None,
        minimum={row: mention.minimum for row, mention in enumerate(mentions) if mention.minimum},
        trees=_stack_trees(documents),
        tags=_stack_tags(mentions),
        relations=_stack_relations(documents),
        absent=frozenset(number for number, document in enumerate(documents) if document.is_absent),
        rank=_stack_orders(documents),
    )


def _stack_labels(documents: Sequence[Document]) -> list[str] | None:
    """Return the ids of all entities, or their numbers in documents without ids; None if there are no ids."""
    labels = []
    has_labels = False
    for document in documents:
        for number, entity in enumerate(document.entities):
            has_labels = has_labels or bool(entity.label)
            labels.append(entity.label or str(number))
    return labels if has_labels else None


def _stack_tags(mentions: Sequence[Mention]) -> list[str] | None:
    if all(mention.tag is None for mention in mentions):
        return None
    return [mention.tag or "" for mention in mentions]


def _stack_trees(documents: Sequence[Document]) -> Trees | None:
    trees = [document.constituents for document in documents if document.constituents is not None]
    if not trees or len(trees) < len(documents):
        return None
    return Trees([tree.rows for tree in trees], [tree.digest for tree in trees])


def _stack_relations(documents: Sequence[Document]) -> Relations | None:
    by_name = {
        document.name: document.relations
        for document in documents
        if document.relations is not None
    }
    if not by_name or len(by_name) < len(documents):
        return None
    from closeread.tasks.coref.universal_anaphora.relations import Relations

    deixis = [document.deixis for document in documents if document.deixis is not None]
    return Relations(by_name, stack_documents(deixis) if deixis else None)


def _stack_orders(documents: Sequence[Document]) -> Ints | None:
    """Return the places of all entities in the order of the reference scorer; None if that is their own order."""
    if all(document.reference_order is None for document in documents):
        return None
    places: list[int] = []
    for document in documents:
        order = document.reference_order or range(len(document.entities))
        first = len(places)
        places += [first + place for place in order]
    return np.array(places, np.int64)


def pack_clusters(documents: Sequence[Any]) -> MentionTable | None:
    """Convert the clusters of documents to columns if nothing about them is wrong, or has to be converted.

    Their names are numbers from 0.  All mentions have a head or none has one, no mention ends before it starts, and
    heads are inside their mentions; else, it returns None.
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
        columns = np.fromiter(numbers, np.int64, len(numbers)).reshape(-1, width).T
    except OverflowError:
        return None
    entity = _repeat_numbers(clusters)
    table = MentionTable(
        names=list(map(str, range(len(documents)))),
        n_tokens=None,
        document=_repeat_numbers(documents)[entity],
        start=columns[0],
        end=columns[1],
        entity=entity,
        n_entities=len(clusters),
        head=columns[2] if width == WITH_HEAD else None,
    )
    head = table.start if table.head is None else table.head
    is_inside = (table.start <= head) & (head <= table.end)
    is_valid = is_inside & (table.start >= 0) & (table.end <= LAST_TOKEN)
    return replace(table, is_named=False) if is_valid.all() else None


def _repeat_numbers(lists: Sequence[Sequence[Any]]) -> Ints:
    """Return the number of each list, once for each of its members."""
    return np.repeat(np.arange(len(lists)), np.fromiter(map(len, lists), np.int64, len(lists)))


def document_digests(table: MentionTable) -> list[bytes]:
    """Compute the sha256 of each document's clusters and heads; name, format and order of clusters don't matter."""
    columns = [table.start, table.end, _number_by_first_mention(table)]
    if table.head is not None:
        columns.append(table.head)
    rows = np.column_stack(columns)
    rows = rows[np.lexsort((*rows.T[::-1], table.document))].astype("<i8")
    data = rows.tobytes()
    row_bytes = rows.itemsize * rows.shape[1]
    borders = np.searchsorted(table.document, np.arange(len(table) + 1)) * row_bytes
    texts = _describe_discontinuous_mentions(table)
    digests = []
    for document, (begin, end) in enumerate(pairwise(borders.tolist())):
        digest = hashlib.sha256(data[begin:end] + texts.get(document, b"[]"))
        digests.append(digest.digest())
    return digests


def _number_by_first_mention(table: MentionTable) -> Ints:
    """Return the entity of each mention, numbered in its document in the order of first mentions."""
    order = np.lexsort((table.end, table.start, table.document))
    entities, first = np.unique(table.entity[order], return_index=True)
    number = np.empty(table.n_entities + 1, np.int64)
    number[entities[np.argsort(first)]] = np.arange(len(entities))
    numbered: Ints = number[table.entity]
    lowest = np.full(len(table), np.iinfo(np.int64).max)
    np.minimum.at(lowest, table.document, numbered)
    in_document: Ints = numbered - lowest[table.document]
    return in_document


def _describe_discontinuous_mentions(table: MentionTable) -> dict[int, bytes]:
    """Return the parts of the discontinuous mentions of the documents that have any, as JSON."""
    mentions_by_document: dict[int, list[list[list[int]]]] = {}
    for row, spans in table.parts.items():
        mentions = mentions_by_document.setdefault(int(table.document[row]), [])
        mentions.append([[int(start), int(end)] for start, end in spans])
    return {
        document: json.dumps(sorted(mentions, key=str)).encode()
        for document, mentions in mentions_by_document.items()
    }
