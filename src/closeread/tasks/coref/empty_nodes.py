"""Empty nodes of key and response: one numbering of tokens for both sides, and zeros with their dependencies.

Conventions: words are the same on both sides, empty nodes need not be.  An empty node of one side is the same as one of
the other side if it has the same place: the number of words before it, the sentence, and its number among the empty
nodes there (in CoNLL-U, its id).  A zero is a mention whose head is an empty node; where heads are unknown, the first
token is the head.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.exceptions import pluralize
from closeread.tasks.coref.documents import EmptyNode
from closeread.tasks.coref.mention_table import MentionTable

Nodes = Sequence[Sequence[EmptyNode]]  # of each document
Place = tuple[int, int, int]

TREATMENTS = {
    "linear": "matched by place (zeros 'dependent' matches them by their dependencies)",
    "dependent": "matched by their dependencies",
    "corefud": "matched by their dependencies, as corefud-scorer does",
    "exclude": "not scored",
}
"""How zeros are treated, in words, by the value of the option `zeros`."""


class Zero(NamedTuple):
    """A zero: the number of its sentence in the document, and its dependencies: a parent's token and a relation."""

    sentence: int
    dependencies: frozenset[tuple[int, str]]


def find_zeros(table: MentionTable) -> Mask:
    """Find the zeros among the mentions, (n_mentions,)."""
    mask = np.zeros(len(table.start), np.bool_)
    mask[list(_find_heads(table))] = True
    return mask


def map_zeros(table: MentionTable) -> dict[int, Zero]:
    """Map the rows of zeros to their sentences and dependencies."""
    return {
        row: Zero(node.sentence, frozenset(node.dependencies))
        for row, node in _find_heads(table).items()
    }


def _find_heads(table: MentionTable) -> dict[int, EmptyNode]:
    """Map the rows of zeros to the empty nodes that are their heads."""
    if table.empty is None:
        return {}
    nodes = {(document, node.token): node for document, of in enumerate(table.empty) for node in of}
    heads = table.start if table.head is None else table.head
    places = enumerate(zip(table.document.tolist(), heads.tolist(), strict=True))
    return {row: nodes[place] for row, place in places if place in nodes}


def describe_difference(key: MentionTable, response: MentionTable, zeros: str) -> Iterator[str]:
    """Describe how the empty nodes of both sides differ, and how `zeros` treats them."""
    places = []
    for table in (adopt_nodes(key, response), adopt_nodes(response, key)):
        by_document = enumerate(_list_places(table))
        places.append(
            {(i, *place) for i, of in by_document if i not in response.absent for place in of}
        )
    of_key, of_response = places
    if of_key != of_response:
        nodes = f"{pluralize(len(of_key), 'empty node')} and the response {len(of_response):,}"
        common = f"{len(of_key & of_response):,} of them at the same places"
        yield f"the key has {nodes}, {common}; zeros are {TREATMENTS[zeros]}"


def digest_nodes(nodes: Nodes, digests: Sequence[bytes]) -> list[bytes]:
    """Add the empty nodes of each document and their dependencies to the digests of the documents that have any."""
    rows = [
        [[one.token, one.sentence, sorted(map(list, one.dependencies))] for one in of]
        for of in nodes
    ]
    return [
        hashlib.sha256(digest + json.dumps(found).encode()).digest() if found else digest
        for digest, found in zip(digests, rows, strict=True)
    ]


def share_numbering(key: MentionTable, response: MentionTable) -> tuple[MentionTable, MentionTable]:
    """Number the tokens of both sides alike: words, and the empty nodes of either side.

    A side that has no empty nodes in a document has the numbering of the other side if its format does not count
    tokens, or counts as many as the other side: then its tokens are words and empty nodes.  A mention that encloses an
    empty node of the other side becomes discontinuous.
    """
    if key.empty is None and response.empty is None:
        return key, response
    key, response = adopt_nodes(key, response), adopt_nodes(response, key)
    of_key, of_response = _list_places(key), _list_places(response)
    if of_key == of_response:
        return key, response
    union = [sorted({*one, *two}) for one, two in zip(of_key, of_response, strict=True)]
    return _renumber(key, of_key, union), _renumber(response, of_response, union)


def adopt_nodes(table: MentionTable, other: MentionTable) -> MentionTable:
    """Copy empty nodes from the other side for documents whose token numbering agrees, if the table has none there."""
    if other.empty is None:
        return table
    present: Nodes = table.empty or [()] * len(table)
    is_alike = [True] * len(table)
    if table.n_tokens is not None and other.n_tokens is not None:
        is_alike = (table.n_tokens == other.n_tokens).tolist()
    copied = zip(present, other.empty, is_alike, strict=True)
    nodes = [here or (there if alike else ()) for here, there, alike in copied]
    return (
        table if list(map(len, present)) == list(map(len, nodes)) else replace(table, empty=nodes)
    )


def _list_places(table: MentionTable) -> list[list[Place]]:
    """List the places of the empty nodes of each document, in ascending order."""
    found: list[list[Place]] = [[] for _ in table.names]
    for places, nodes in zip(found, table.empty or (), strict=False):
        for i, node in enumerate(nodes):
            place = (node.token - i, node.sentence)
            places.append((*place, places[-1][2] + 1 if places and places[-1][:2] == place else 0))
    return found


class _Numbering:
    """New numbers for the tokens of a document: those that they have if the empty nodes of both sides are tokens."""

    def __init__(self, places: Sequence[Place], union: Sequence[Place]) -> None:
        self._union = union
        new_token = {place: place[0] + i for i, place in enumerate(union)}
        self._new_token = {place[0] + i: new_token[place] for i, place in enumerate(places)}
        self._tokens = list(self._new_token)
        own = set(places)
        self.foreign = [token for place, token in new_token.items() if place not in own]

    def __call__(self, token: int) -> int:
        if token < 0 or token in self._new_token:
            return self._new_token.get(token, token)
        word = token - bisect_left(self._tokens, token)
        return word + bisect_left(self._union, (word + 1,))

    def split(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield the new numbers of a part of a mention, without the empty nodes of the other side inside it."""
        start, end = self(first), self(last)
        for token in self.foreign[
            bisect_left(self.foreign, start) : bisect_left(self.foreign, end)
        ]:
            if start < token:
                yield start, token - 1
            start = token + 1
        yield start, end


def _renumber(
    table: MentionTable, places: Sequence[Sequence[Place]], union: Sequence[Sequence[Place]]
) -> MentionTable:
    """Renumber the tokens of a side's mentions and empty nodes, given the places of its nodes and of both sides'."""
    numberings = list(map(_Numbering, places, union))
    documents = table.document.tolist()

    def number(tokens: Ints) -> Ints:
        pairs = zip(documents, tokens.tolist(), strict=True)
        return np.array([numberings[document](token) for document, token in pairs], np.int64)

    parts = {}
    for row, document in enumerate(documents):
        split = tuple(
            one for part in table.parts_of(row) for one in numberings[document].split(*part)
        )
        if row in table.parts or len(split) > 1:
            parts[row] = split
    nodes = [
        [
            EmptyNode(
                of(one.token),
                one.sentence,
                [(of(parent), name) for parent, name in one.dependencies],
            )
            for one in some
        ]
        for of, some in zip(numberings, table.empty or [()] * len(table), strict=True)
    ]
    return replace(
        table,
        n_tokens=None,
        start=number(table.start),
        end=number(table.end),
        head=None if table.head is None else number(table.head),
        parts=parts,
        minimum={
            row: tuple(map(numberings[documents[row]], tokens))
            for row, tokens in table.minimum.items()
        },
        empty=nodes,
    )
