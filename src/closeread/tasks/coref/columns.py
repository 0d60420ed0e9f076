"""Documents with coreference clusters, kept as columns: what every coreference reader yields.

Conventions: tokens of a document are numbered from 0 across its sentences, and a mention's end is its last token.
Entities are numbered from 0 over all documents, in order of first appearance; those of a document follow each other,
and so do the mentions of an entity.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any, Protocol, overload

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.records import Record

Parts = tuple[tuple[int, int], ...]


class Words(Protocol):
    """The words of documents, and where they stand in their file."""

    def __call__(self, document: int) -> Sequence[str]:
        """The tokens of a document, by its index; empty where its rows hold no words."""
        ...

    def packed(self, document: int) -> bytes:
        """The same as UTF-8, with a line end after each: what is compared when two files have to agree."""
        ...

    def line_of(self, document: int, token: int) -> int:
        """The line on which a token stands, from 1."""
        ...


@dataclass(frozen=True, eq=False)
class MentionTable(Sequence[Record]):
    """The mentions of documents, as columns; reads as records ``{"document", "clusters"}``.

    Attributes:
        names: (n_documents,) the documents' names, in order.
        n_tokens: (n_documents,) how many tokens each has; None where that is not known (JSON Lines).
        document: (n_mentions,) the document of each mention, from 0, never falling.
        start, end: (n_mentions,) first and last token of each mention.
        entity: (n_mentions,) the entity of each mention, from 0, never falling.
        n_entities: how many entities there are.
        parts: the (start, end) of every part of the mentions that are discontinuous, by the mention's index.
        head: (n_mentions,) the token that is a mention's head; None where the format has none.
        labels: the ids of the entities as they stand in the file, by entity; None where it has none.
        words: the tokens of the documents; None where the format has no text.
        absent: the documents that a system sent nothing for; they have no mentions here.
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
    words: Words | None = None
    absent: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.names)

    def select(self, rows: Mask) -> MentionTable:
        """The table with the mentions where the mask is true; entities keep their numbers."""
        kept = np.flatnonzero(rows)
        parts = (
            {new: self.parts[old] for new, old in enumerate(kept.tolist()) if old in self.parts} if self.parts else {}
        )
        return replace(
            self,
            document=self.document[kept],
            start=self.start[kept],
            end=self.end[kept],
            entity=self.entity[kept],
            parts=parts,
            head=None if self.head is None else self.head[kept],
        )

    def label(self, row: int) -> str:
        """The id of a mention's entity in its file; where it has none, its number in its document, from 0."""
        if self.labels is not None:
            return self.labels[int(self.entity[row])]
        return str(self.entity[row] - self.entity[np.searchsorted(self.document, self.document[row])])

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        first, last = np.searchsorted(self.document, [number, number + 1]).tolist()
        clusters: dict[int, list[list[int]]] = {}
        for i in range(first, last):
            clusters.setdefault(int(self.entity[i]), []).append([int(self.start[i]), int(self.end[i])])
        return {"document": self.names[number], "clusters": list(clusters.values())}


class ListedWords:
    """The words of documents as lists.

    Args:
        words: the tokens of every document.
        lines: the line of every token.
    """

    def __init__(self, words: Sequence[Sequence[str]], lines: Sequence[Sequence[int]]) -> None:
        self._words = words
        self._lines = lines

    def __call__(self, document: int) -> Sequence[str]:
        """The tokens of a document."""
        return self._words[document]

    def packed(self, document: int) -> bytes:
        """The same as UTF-8, with a line end after each."""
        return "".join(f"{word}\n" for word in self._words[document]).encode("utf-8")

    def line_of(self, document: int, token: int) -> int:
        """The line on which a token stands."""
        return self._lines[document][token]


def nth_token(parts: Sequence[tuple[int, int]], number: int) -> int:
    """A token of a mention by its number, from 1, which is not beyond the last."""
    token = parts[0][0] + number - 1
    for (_, end), (start, _) in pairwise(parts):
        if token > end:
            token += start - end - 1
    return token


def number_of_token(parts: Parts, token: int) -> int:
    """The number of a token among those of a mention, from 1."""
    return 1 + [t for start, end in parts for t in range(start, end + 1)].index(token)


def mention_table(names: Sequence[str], documents: Iterable[Sequence[Sequence[Sequence[Any]]]]) -> MentionTable:
    """The columns of nested lists: documents of clusters of mentions ``[start, end]``.

    Args:
        names: the documents' names.
        documents: the clusters of each, checked before.
    """
    documents = list(documents)
    clusters = list(chain.from_iterable(documents))
    mentions = list(chain.from_iterable(clusters))
    sizes = np.fromiter(map(len, clusters), np.int64, len(clusters))
    lengths = np.fromiter((sum(map(len, clusters)) for clusters in documents), np.int64, len(documents))
    spans = np.fromiter(chain.from_iterable(mentions), np.int64, 2 * len(mentions)).reshape(-1, 2)
    return MentionTable(
        names=names,
        n_tokens=None,
        document=np.repeat(np.arange(len(documents)), lengths),
        start=spans[:, 0],
        end=spans[:, 1],
        entity=np.repeat(np.arange(len(clusters)), sizes),
        n_entities=len(clusters),
    )


def document_digests(table: MentionTable) -> list[bytes]:
    """The sha256 of each document's clusters and heads, whatever its name, its format and the order of its clusters."""
    entity = np.empty(table.n_entities + 1, np.int64)
    order = np.lexsort((table.end, table.start, table.document))
    seen, first = np.unique(table.entity[order], return_index=True)
    entity[seen[np.argsort(first)]] = np.arange(len(seen))  # numbered by their first mentions
    entity = entity[table.entity]
    starts = np.searchsorted(table.document, np.arange(len(table.names) + 1))
    first_entity = np.full(len(table.names), np.iinfo(np.int64).max)
    np.minimum.at(first_entity, table.document, entity)
    columns = [table.start, table.end, entity - first_entity[table.document]]
    columns += [] if table.head is None else [table.head]
    rows = np.column_stack(columns)
    rows = rows[np.lexsort((*rows.T[::-1], table.document))].astype("<i8")
    parts: dict[int, list[list[list[int]]]] = {}
    for row, spans in table.parts.items():
        parts.setdefault(int(table.document[row]), []).append([list(map(int, span)) for span in spans])
    return [
        hashlib.sha256(rows[start:end].tobytes() + json.dumps(sorted(parts.get(number, []), key=str)).encode()).digest()
        for number, (start, end) in enumerate(pairwise(starts.tolist()))
    ]
