"""Empty nodes of key and response: one numbering of tokens for both sides, and zeros with their dependencies.

Conventions: words are the same on both sides, empty nodes need not be.  An empty node of one side is the same as one of
the other side if it has the same place: the sentence, the word before it, and its number among the empty nodes after
that word (in CoNLL-U, its id).  A zero is a mention whose head is an empty node; where heads are unknown, the first
token is the head.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.exceptions import pluralize
from closeread.tasks.coref.documents import EmptyNodes, MentionTable, Parts

Number = Callable[[Ints, Ints], Ints]
"""Maps documents and tokens there to the new numbers of the tokens."""

TREATMENTS = {
    "linear": "matched by place (zeros 'dependent' matches them by their dependencies)",
    "dependent": "matched by their dependencies",
    "corefud": "matched by their dependencies, as corefud-scorer does",
    "exclude": "not scored",
}
"""What happens to zeros, by the value of the option `zeros`."""


class Zero(NamedTuple):
    """A zero: the number of its sentence in the document, and its dependencies: a parent's token and a relation."""

    sentence: int
    dependencies: frozenset[tuple[int, str]]


NO_NODES = EmptyNodes(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), ())


def share_numbering(key: MentionTable, response: MentionTable) -> tuple[MentionTable, MentionTable]:
    """Number the tokens of both sides alike: words, and the empty nodes of either side.

    A side that has no empty nodes in a document has the numbering of the other side if its format does not count
    tokens, or counts as many as the other side: then its tokens are words and empty nodes.

    Args:
        key, response: the same documents in the same order, with the same words.

    Returns:
        Both as they are if neither has empty nodes of its own; a mention that encloses an empty node of the other side
        becomes discontinuous.
    """
    if key.empty is None and response.empty is None:
        return key, response
    key, response = _adopt_nodes(key, response), _adopt_nodes(response, key)
    own, other = (_number_places(table.empty or NO_NODES) for table in (key, response))
    if np.array_equal(own, other):
        return key, response
    union, which = np.unique(np.concatenate([own, other]), axis=0, return_inverse=True)
    which = which.reshape(-1)
    return _Renumbering(union, which[: len(own)]).apply(key), _Renumbering(union, which[len(own) :]).apply(response)


def find_zeros(table: MentionTable) -> Mask:
    """Find the zeros among the mentions, (n_mentions,)."""
    return _find_heads(table)[1]


def map_zeros(table: MentionTable) -> dict[int, Zero]:
    """Map the rows of zeros to their sentences and dependencies."""
    nodes = table.empty or NO_NODES
    node, is_zero = _find_heads(table)
    return {
        row: Zero(int(nodes.sentence[node[row]]), frozenset(nodes.dependencies[node[row]]))
        for row in np.flatnonzero(is_zero).tolist()
    }


def _find_heads(table: MentionTable) -> tuple[Ints, Mask]:
    """Find the empty node that is the head of each mention: its index, and whether there is one, (n_mentions,) both."""
    nodes = table.empty or NO_NODES
    head = table.start if table.head is None else table.head
    if not len(nodes.token):
        return np.zeros(len(head), np.int64), np.zeros(len(head), np.bool_)
    width = int(max(nodes.token.max(), head.max(initial=0))) + 1
    places, wanted = nodes.document * width + nodes.token, table.document * width + head
    index = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
    return index, places[index] == wanted


def describe_difference(key: MentionTable, response: MentionTable, zeros: str) -> Iterator[str]:
    """Describe how the empty nodes of both sides differ, and what that means for zeros; nothing if they are the same.

    Args:
        key, response: the same documents in the same order, with the same words.
        zeros: how zeros are matched, one of `TREATMENTS`.
    """
    key, response = _adopt_nodes(key, response), _adopt_nodes(response, key)
    places = [_number_places(table.empty or NO_NODES) for table in (key, response)]
    own, other = (place[~np.isin(place[:, 0], list(response.absent))] for place in places)
    if not np.array_equal(own, other):
        n_shared = len(own) + len(other) - len(np.unique(np.concatenate([own, other]), axis=0))
        nodes = f"{pluralize(len(own), 'empty node')} and the response {len(other):,}"
        yield f"the key has {nodes}, {n_shared:,} of them at the same places; zeros are {TREATMENTS[zeros]}"


def digest_nodes(nodes: EmptyNodes, digests: Sequence[bytes]) -> list[bytes]:
    """Add the empty nodes of each document and their dependencies to the digests of the documents that have any."""
    found = [list[object]() for _ in digests]
    columns = (nodes.document.tolist(), nodes.token.tolist(), nodes.sentence.tolist(), nodes.dependencies)
    for document, token, sentence, dependencies in zip(*columns, strict=True):
        found[document].append([token, sentence, sorted([parent, relation] for parent, relation in dependencies)])
    return [
        hashlib.sha256(digest + json.dumps(rows).encode()).digest() if rows else digest
        for digest, rows in zip(digests, found, strict=True)
    ]


def _adopt_nodes(table: MentionTable, other: MentionTable) -> MentionTable:
    """Return the table with the empty nodes that the other side has in documents where both number tokens alike."""
    theirs, own = other.empty or NO_NODES, table.empty or NO_NODES
    adopted = np.ones(len(table.names), np.bool_)
    if table.n_tokens is not None and other.n_tokens is not None:
        adopted = table.n_tokens == other.n_tokens
    adopted[own.document] = False
    rows = np.flatnonzero(adopted[theirs.document])
    if not len(rows):
        return table
    document = np.concatenate([own.document, theirs.document[rows]])
    order = np.argsort(document, kind="stable")
    dependencies = [*own.dependencies, *(theirs.dependencies[i] for i in rows.tolist())]
    nodes = EmptyNodes(
        document[order],
        np.concatenate([own.token, theirs.token[rows]])[order],
        np.concatenate([own.sentence, theirs.sentence[rows]])[order],
        [dependencies[i] for i in order.tolist()],
    )
    return replace(table, empty=nodes)


def _number_places(nodes: EmptyNodes) -> Ints:
    """Return the places of empty nodes as rows of a matrix, (n_nodes, 4), in ascending order.

    The columns are the document, the number of words before it, the sentence, and its number after that word.
    """
    number = np.arange(len(nodes.token))
    words = nodes.token - (number - np.searchsorted(nodes.document, nodes.document))
    place = np.column_stack([nodes.document, words, nodes.sentence])
    is_new = np.ones(len(place), np.bool_)
    is_new[1:] = (place[1:] != place[:-1]).any(axis=1)
    return np.column_stack([place, number - number[is_new][np.cumsum(is_new) - 1]])


class _Renumbering:
    """New numbers for the tokens of a side: those that they have if the empty nodes of both sides are tokens.

    Args:
        union: the places of the empty nodes of both sides, in ascending order.
        own: (n_nodes,) which of these the side has.
    """

    def __init__(self, union: Ints, own: Ints) -> None:
        self._document, self._words = union[:, 0], union[:, 1]
        token = self._words + np.arange(len(union)) - np.searchsorted(self._document, self._document)
        is_foreign = np.ones(len(union), np.bool_)
        is_foreign[own] = False
        self._foreign = self._document[is_foreign], token[is_foreign]
        self._new_token = token[own]

    def apply(self, table: MentionTable) -> MentionTable:
        """Renumber the tokens of the side's mentions and empty nodes."""
        nodes = table.empty or NO_NODES

        def number(document: Ints, token: Ints) -> Ints:
            return self._number(nodes, document, token)

        return replace(
            table,
            n_tokens=None,
            words=None,
            start=number(table.document, table.start),
            end=number(table.document, table.end),
            head=None if table.head is None else number(table.document, table.head),
            parts=self._number_parts(table, number),
            minimum=_number_minimum(table, number),
            empty=EmptyNodes(nodes.document, self._new_token, nodes.sentence, _number_parents(nodes, number)),
        )

    def _number(self, nodes: EmptyNodes, document: Ints, token: Ints) -> Ints:
        """Number tokens of some documents; -1 stays."""
        width = int(max(token.max(initial=0), nodes.token.max(initial=0), self._words.max(initial=0))) + 2
        places = nodes.document * width + nodes.token
        at = np.searchsorted(places, document * width + token)
        before = at - np.searchsorted(nodes.document, document)
        word = token - before
        # A word moves by the empty nodes of both sides that come before it.
        last = np.searchsorted(self._document * width + self._words, document * width + word, "right")
        moved = word + last - np.searchsorted(self._document, document)
        if not len(places):
            return np.where(token < 0, token, moved)
        at = np.minimum(at, len(places) - 1)
        is_node = places[at] == document * width + token
        return np.where(token < 0, token, np.where(is_node, self._new_token[at], moved))

    def _number_parts(self, table: MentionTable, number: Number) -> dict[int, Parts]:
        """Number the parts of discontinuous mentions, which leave out the empty nodes of the other side."""
        width = int(max(table.end.max(initial=0) + len(self._document), self._foreign[1].max(initial=0))) + 2
        foreign = self._foreign[0] * width + self._foreign[1]
        start, end = (number(table.document, column) + table.document * width for column in (table.start, table.end))
        low, high = np.searchsorted(foreign, start), np.searchsorted(foreign, end)
        rows = np.union1d(np.flatnonzero(high > low), np.fromiter(table.parts, np.int64, len(table.parts))).tolist()
        parts = [table.parts_of(row) for row in rows]
        sizes = [2 * len(spans) for spans in parts]
        borders = np.array(list(chain.from_iterable(chain.from_iterable(parts))), np.int64)
        renumbered = iter(number(np.repeat(table.document[rows], sizes), borders).reshape(-1, 2).tolist())
        found = {}
        for row, spans in zip(rows, parts, strict=True):
            outside = self._foreign[1][low[row] : high[row]].tolist()
            pieces = (_split(start, end, outside) for start, end in islice(renumbered, len(spans)))
            found[row] = tuple(chain.from_iterable(pieces))
        return found


def _number_minimum(table: MentionTable, number: Number) -> dict[int, tuple[int, ...]]:
    rows = list(table.minimum)
    sizes = [len(table.minimum[row]) for row in rows]
    tokens = np.array(list(chain.from_iterable(table.minimum.values())), np.int64)
    renumbered = iter(number(np.repeat(table.document[rows], sizes), tokens).tolist())
    return {row: tuple(islice(renumbered, size)) for row, size in zip(rows, sizes, strict=True)}


def _number_parents(nodes: EmptyNodes, number: Number) -> list[list[tuple[int, str]]]:
    sizes = list(map(len, nodes.dependencies))
    parents = np.array([parent for parent, _ in chain.from_iterable(nodes.dependencies)], np.int64)
    renumbered = iter(number(np.repeat(nodes.document, sizes), parents).tolist())
    return [[(next(renumbered), relation) for _, relation in pairs] for pairs in nodes.dependencies]


def _split(start: int, end: int, outside: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Split a span at the tokens in it that do not belong to it, given in ascending order."""
    for token in outside:
        if start <= token <= end:
            if start < token:
                yield start, token - 1
            start = token + 1
    yield start, end
