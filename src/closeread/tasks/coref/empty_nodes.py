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
from closeread.tasks.coref.spans import Span

Place = tuple[int, int, int]
"""The place of an empty node: the number of words before it, its sentence, and its number among those there."""

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
    nodes = list(map(_map_tokens, table.empty))
    heads = table.start if table.head is None else table.head
    node_by_row = {}
    pairs = zip(table.document.tolist(), heads.tolist(), strict=True)
    for row, (document, head) in enumerate(pairs):
        if head in nodes[document]:
            node_by_row[row] = nodes[document][head]
    return node_by_row


def _map_tokens(nodes: Sequence[EmptyNode]) -> dict[int, EmptyNode]:
    return {node.token: node for node in nodes}


def describe_difference(key: MentionTable, response: MentionTable, zeros: str) -> Iterator[str]:
    """Describe how the empty nodes of both sides differ, and how `zeros` treats them."""
    places_of_key = _list_places(adopt_nodes(key, response))
    places_of_response = _list_places(adopt_nodes(response, key))
    n_key = 0
    n_response = 0
    n_common = 0
    for document, places in enumerate(zip(places_of_key, places_of_response, strict=True)):
        if document not in response.absent:
            expected, predicted = map(set, places)
            n_key += len(expected)
            n_response += len(predicted)
            n_common += len(expected & predicted)
    if max(n_key, n_response) > n_common:
        nodes = f"{pluralize(n_key, 'empty node')} and the response {n_response:,}"
        common = f"{n_common:,} of them at the same places"
        yield f"the key has {nodes}, {common}; zeros are {TREATMENTS[zeros]}"


def digest_nodes(
    nodes_by_document: Sequence[Sequence[EmptyNode]], digests: Sequence[bytes]
) -> list[bytes]:
    """Add the empty nodes of each document and their dependencies to the digests of the documents that have any."""
    digests_with_nodes = []
    for nodes, digest in zip(nodes_by_document, digests, strict=True):
        if nodes:
            rows = [[node.token, node.sentence, sorted(node.dependencies)] for node in nodes]
            digest = hashlib.sha256(digest + json.dumps(rows).encode()).digest()
        digests_with_nodes.append(digest)
    return digests_with_nodes


def share_numbering(key: MentionTable, response: MentionTable) -> tuple[MentionTable, MentionTable]:
    """Number the tokens of both sides alike: words, and the empty nodes of either side.

    A side that has no empty nodes in a document has the numbering of the other side if its format does not count
    tokens, or counts as many as the other side: then its tokens are words and empty nodes.  A mention that encloses an
    empty node of the other side becomes discontinuous.
    """
    if key.empty is None and response.empty is None:
        return key, response
    key = adopt_nodes(key, response)
    response = adopt_nodes(response, key)
    places_of_key = _list_places(key)
    places_of_response = _list_places(response)
    if places_of_key == places_of_response:
        return key, response
    numberings_of_key = []
    numberings_of_response = []
    for expected, predicted in zip(places_of_key, places_of_response, strict=True):
        union = sorted({*expected, *predicted})
        numberings_of_key.append(_Numbering(expected, union))
        numberings_of_response.append(_Numbering(predicted, union))
    return _renumber(key, numberings_of_key), _renumber(response, numberings_of_response)


def adopt_nodes(table: MentionTable, other: MentionTable) -> MentionTable:
    """Copy empty nodes from the other side for documents whose token numbering agrees, if the table has none there."""
    if other.empty is None:
        return table
    is_alike = [True] * len(table)
    if table.n_tokens is not None and other.n_tokens is not None:
        is_alike = (table.n_tokens == other.n_tokens).tolist()
    nodes_by_document = list(_list_nodes(table))
    has_copied = False
    for document, nodes in enumerate(other.empty):
        if nodes and is_alike[document] and not nodes_by_document[document]:
            nodes_by_document[document] = nodes
            has_copied = True
    return replace(table, empty=nodes_by_document) if has_copied else table


def _list_nodes(table: MentionTable) -> Sequence[Sequence[EmptyNode]]:
    """List the empty nodes of each document."""
    return table.empty or [()] * len(table)


def _list_places(table: MentionTable) -> list[list[Place]]:
    """List the places of the empty nodes of each document, in ascending order."""
    return list(map(_list_places_of, _list_nodes(table)))


def _list_places_of(nodes: Sequence[EmptyNode]) -> list[Place]:
    places: list[Place] = []
    for n_before, node in enumerate(nodes):
        place = (node.token - n_before, node.sentence)
        is_next = places and places[-1][:2] == place
        places.append((*place, places[-1][2] + 1 if is_next else 0))
    return places


class _Numbering:
    """New numbers for the tokens of a document: those that they have if the empty nodes of both sides are tokens."""

    def __init__(self, places: Sequence[Place], union: Sequence[Place]) -> None:
        self._union = union
        new_tokens = {place: place[0] + i for i, place in enumerate(union)}
        # The new number of each empty node of this side.
        self._new_tokens = {place[0] + i: new_tokens[place] for i, place in enumerate(places)}
        self._nodes = list(self._new_tokens)
        # The new numbers of the empty nodes that only the other side has.
        self._foreign = [new_tokens[place] for place in sorted(new_tokens.keys() - set(places))]

    def number(self, token: int) -> int:
        """Return the new number of a token; a negative one stays."""
        if token < 0:
            return token
        if token in self._new_tokens:
            return self._new_tokens[token]
        word = token - bisect_left(self._nodes, token)
        return word + bisect_left(self._union, (word + 1,))

    def split(self, spans: Sequence[Span]) -> Iterator[Span]:
        """Yield the spans of a mention in new numbers, without the empty nodes of the other side inside them."""
        for first, last in spans:
            start = self.number(first)
            end = self.number(last)
            inside = slice(bisect_left(self._foreign, start), bisect_left(self._foreign, end))
            for node in self._foreign[inside]:
                if start < node:
                    yield start, node - 1
                start = node + 1
            yield start, end

    def renumber_node(self, node: EmptyNode) -> EmptyNode:
        """Return an empty node with new numbers for itself and its parents."""
        dependencies = [(self.number(parent), relation) for parent, relation in node.dependencies]
        return EmptyNode(self.number(node.token), node.sentence, dependencies)


def _renumber(table: MentionTable, numberings: Sequence[_Numbering]) -> MentionTable:
    """Renumber the tokens of a side's mentions and empty nodes, with the numbering of each document."""
    numbering_by_row = [numberings[document] for document in table.document.tolist()]

    def number(tokens: Ints) -> Ints:
        pairs = zip(numbering_by_row, tokens.tolist(), strict=True)
        return np.array([numbering.number(token) for numbering, token in pairs], np.int64)

    parts = {}
    for row, numbering in enumerate(numbering_by_row):
        spans = tuple(numbering.split(table.parts_of(row)))
        if row in table.parts or len(spans) > 1:
            parts[row] = spans
    nodes_by_document = []
    for numbering, nodes in zip(numberings, _list_nodes(table), strict=True):
        nodes_by_document.append(list(map(numbering.renumber_node, nodes)))
    minimum = {
        row: tuple(map(numbering_by_row[row].number, tokens))
        for row, tokens in table.minimum.items()
    }
    return replace(
        table,
        n_tokens=None,
        start=number(table.start),
        end=number(table.end),
        head=None if table.head is None else number(table.head),
        parts=parts,
        minimum=minimum,
        empty=nodes_by_document,
    )
