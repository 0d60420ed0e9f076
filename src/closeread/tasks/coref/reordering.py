"""A response in the order of the key's documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from closeread.arrays import Ints
from closeread.tasks.coref.columns import MentionTable, Words


def reorder(key: MentionTable, response: MentionTable) -> MentionTable:
    """Return the response with the documents of the key, in the key's order."""
    if list(response.names) == list(key.names):
        return response
    index = {name: i for i, name in enumerate(key.names)}
    place = np.array([index[name] for name in response.names], np.int64)
    document = place[response.document]
    order = np.argsort(document, kind="stable")
    entity = response.entity[order]
    new_entity = np.concatenate([[False], entity[1:] != entity[:-1]]) if len(entity) else np.zeros(0, bool)
    source = {int(p): i for i, p in enumerate(place)}
    labels, rank = response.labels, response.rank
    first = entity[new_entity | (np.arange(len(entity)) == 0)]
    return replace(
        response.take(order),
        names=key.names,
        n_tokens=_move_counts(response.n_tokens, place, len(key.names)),
        document=document[order],
        entity=np.cumsum(new_entity),
        empty=response.empty and response.empty.move(place),
        document_fields={},
        unnamed=frozenset(),
        files=(),
        labels=None if labels is None else [labels[e] for e in first],
        rank=None if rank is None else rank[first],
        words=_Reordered(response.words, source) if response.words else key.words,
        absent=frozenset(range(len(key.names))) - source.keys(),
    )


def _move_counts(counts: Ints | None, place: Ints, n_documents: int) -> Ints | None:
    """Return the number of tokens of each document in the new order, 0 for those without a response."""
    if counts is None:
        return None
    moved = np.zeros(n_documents, np.int64)
    moved[place] = counts
    return moved


class _Reordered:
    """The words of documents in another order.

    Args:
        words: the words in the old order.
        source: the old index of each document that has one.
    """

    def __init__(self, words: Words, source: dict[int, int]) -> None:
        self._words, self._source = words, source

    def __call__(self, document: int) -> Sequence[str]:
        return self._words(self._source[document]) if document in self._source else []

    def packed(self, document: int) -> bytes:
        return self._words.packed(self._source[document]) if document in self._source else b""

    def line_of(self, document: int, token: int) -> int:
        return self._words.line_of(self._source[document], token)
