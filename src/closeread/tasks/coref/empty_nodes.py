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

import numpy as np

from closeread.arrays import Mask
from closeread.exceptions import pluralize
from closeread.tasks.coref.documents import Document, Documents, EmptyNode, Entity, Mention
from closeread.tasks.coref.selection import keep_mentions
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


def find_zeros(documents: Documents) -> Mask:
    """Find the zeros among the mentions, (n_mentions,)."""
    is_zero: list[bool] = []
    for document in documents.documents:
        nodes = document.map_nodes()
        is_zero += [mention.head_or_start in nodes for mention in document.mentions]
    return np.array(is_zero, np.bool_)


def without_zeros(documents: Documents) -> Documents:
    """Return the documents without their zeros."""
    return keep_mentions(documents, ~find_zeros(documents))


def describe_difference(key: Documents, response: Documents, zeros: str) -> Iterator[str]:
    """Describe how the empty nodes of both sides differ, and how `zeros` treats them."""
    n_key = 0
    n_response = 0
    n_common = 0
    for key_document, response_document in zip(key.documents, response.documents, strict=True):
        if not response_document.is_absent:
            expected = set(_list_places(adopt_nodes(key_document, response_document)))
            predicted = set(_list_places(adopt_nodes(response_document, key_document)))
            n_key += len(expected)
            n_response += len(predicted)
            n_common += len(expected & predicted)
    if max(n_key, n_response) > n_common:
        nodes = f"{pluralize(n_key, 'empty node')} and the response {n_response:,}"
        common = f"{n_common:,} of them at the same places"
        yield f"the key has {nodes}, {common}; zeros are {TREATMENTS[zeros]}"


def digest_nodes(document: Document, digest: bytes) -> bytes:
    """Add the empty nodes of a document and their dependencies to its digest, if it has any."""
    if not document.nodes:
        return digest
    rows = [[node.token, node.sentence, sorted(node.dependencies)] for node in document.nodes]
    return hashlib.sha256(digest + json.dumps(rows).encode()).digest()


def share_numbering(key: Documents, response: Documents) -> tuple[Documents, Documents]:
    """Number the tokens of both sides alike: words, and the empty nodes of either side.

    A side that has no empty nodes in a document has the numbering of the other side if its format does not count
    tokens, or counts as many as the other side: then its tokens are words and empty nodes.  A mention that encloses an
    empty node of the other side becomes discontinuous.
    """
    key_documents = []
    response_documents = []
    for pair in zip(key.documents, response.documents, strict=True):
        key_document, response_document = number_alike(pair)
        key_documents.append(key_document)
        response_documents.append(response_document)
    return key.replaced(key_documents), response.replaced(response_documents)


def number_alike(documents: Sequence[Document]) -> list[Document]:
    """Number the tokens of a document alike on all sides, as `share_numbering` does on two."""
    donor = next((document for document in documents if document.nodes), documents[0])
    documents = [adopt_nodes(document, donor) for document in documents]
    places = list(map(_list_places, documents))
    union = sorted(set().union(*places))
    if all(places_of_side == union for places_of_side in places):
        return documents
    numberings = [_Numbering(places_of_side, union) for places_of_side in places]
    return list(map(_renumber, documents, numberings))


def adopt_nodes(document: Document, other: Document) -> Document:
    """Copy empty nodes from the other side if a document has none, and its tokens may be numbered alike."""
    lengths = {document.n_tokens, other.n_tokens} - {None}
    if document.nodes or not other.nodes or len(lengths) > 1:
        return document
    return replace(document, nodes=other.nodes)


def _list_places(document: Document) -> list[Place]:
    """List the places of the empty nodes of a document, in ascending order."""
    places: list[Place] = []
    for n_before, node in enumerate(document.nodes):
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

    @property
    def n_foreign(self) -> int:
        """The number of empty nodes that only the other side has."""
        return len(self._foreign)

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


def _renumber(document: Document, numbering: _Numbering) -> Document:
    """Give the tokens of a document's mentions and empty nodes new numbers."""
    entities = []
    for entity in document.entities:
        mentions = [_renumber_mention(mention, numbering) for mention in entity.mentions]
        entities.append(Entity(entity.label, mentions))
    n_tokens = document.n_tokens
    if n_tokens is not None:
        n_tokens += numbering.n_foreign
    nodes = list(map(numbering.renumber_node, document.nodes))
    return replace(document, entities=entities, nodes=nodes, n_tokens=n_tokens)


def _renumber_mention(mention: Mention, numbering: _Numbering) -> Mention:
    spans = tuple(numbering.split(mention.spans))
    is_discontinuous = mention.subspans or len(spans) > 1
    return mention._replace(
        start=numbering.number(mention.start),
        end=numbering.number(mention.end),
        head=None if mention.head is None else numbering.number(mention.head),
        subspans=spans if is_discontinuous else (),
        minimum=tuple(map(numbering.number, mention.minimum)),
    )
