"""Heads of mentions that a response gives without heads, from the dependency trees of the key.

The head is the highest word of the mention, as the block MoveHead of Udapi finds it, with which the organisers of CRAC
complete the answers of language models (https://github.com/udapi/udapi-python):

1. Candidates are the tokens whose parent in the tree is outside the mention; empty nodes have none, so they are
   candidates.  A single one is the head.
2. Candidates with a parent inside in the enhanced graph are left out, or if none is left, those with all parents inside.
   A single one is the head; if none is left, the first token is.
3. A candidate that governs all others in the tree is the head, where an empty node stands for its first parent that is a
   word; otherwise the first candidate is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from closeread.tasks.coref.documents import ROOT, Document, Documents, Entity, Mention, Node

EMPTY = Node(None, ())


def add_heads(key: Documents, response: Documents) -> Documents:
    """Return the response with heads from the key's trees; as it is if a document with mentions has no tree there."""
    documents = []
    for of_key, document in zip(key.documents, response.documents, strict=True):
        if not document.entities:
            documents.append(document)
            continue
        nodes_of_key = of_key.words.read_nodes()
        if nodes_of_key is None:
            return response
        nodes = _renumber(nodes_of_key, _pair_tokens(of_key, document))
        entities = [_add_entity_heads(entity, nodes) for entity in document.entities]
        documents.append(replace(document, entities=entities))
    return response.replaced(documents)


def _add_entity_heads(entity: Entity, nodes: Mapping[int, Node]) -> Entity:
    mentions = [
        mention._replace(head=find_head(_list_tokens(mention), nodes))
        for mention in entity.mentions
    ]
    return Entity(entity.label, mentions)


def _list_tokens(mention: Mention) -> list[int]:
    tokens: list[int] = []
    for start, end in mention.spans:
        tokens += range(start, end + 1)
    return tokens


def _pair_tokens(key: Document, response: Document) -> dict[int, int]:
    """Map the tokens of the key to those of the response: all of them, or words if there are other empty nodes."""
    nodes_of_key = {node.token for node in key.nodes}
    nodes_of_response = {node.token for node in response.nodes}
    n_tokens = key.n_tokens or 0
    if not nodes_of_response or nodes_of_key == nodes_of_response:
        return {token: token for token in range(n_tokens)}
    words = [token for token in range(n_tokens) if token not in nodes_of_key]
    n_in_response = len(words) + len(nodes_of_response)
    in_response = [token for token in range(n_in_response) if token not in nodes_of_response]
    return dict(zip(words, in_response, strict=True))


def _renumber(nodes: Sequence[Node], token_of_key: Mapping[int, int]) -> dict[int, Node]:
    """Return the nodes of the key by tokens of the response; parents that the response lacks are the root."""
    renumbered = {}
    for token, new_token in token_of_key.items():
        node = nodes[token]
        parent = None if node.parent is None else token_of_key.get(node.parent, ROOT)
        parents = [token_of_key.get(parent, ROOT) for parent in node.parents]
        renumbered[new_token] = Node(parent, parents)
    return renumbered


def find_head(tokens: Sequence[int], nodes: Mapping[int, Node]) -> int:
    """Return the head of a mention with these tokens, in ascending order; tokens without a node are empty nodes."""
    inside = set(tokens)
    candidates = [token for token in tokens if nodes.get(token, EMPTY).parent not in inside]
    if len(candidates) == 1:
        return candidates[0]
    parents = {token: nodes.get(token, EMPTY).parents for token in candidates}
    highest = [token for token in candidates if inside.isdisjoint(parents[token])]
    if not highest:
        highest = [token for token in candidates if not inside.issuperset(parents[token])]
    if not highest:
        return tokens[0]
    words = [_find_word(token, nodes) for token in highest]
    paths = [_climb(word, nodes) for word in words if word is not None]
    for token in highest:
        if paths and all(token in path for path in paths):
            return token
    return highest[0]


def _find_word(token: int, nodes: Mapping[int, Node]) -> int | None:
    """Return a word, or for an empty node its first parent that is a word or the root; None if it has none."""
    if nodes.get(token, EMPTY).parent is not None:
        return token
    for parent in nodes.get(token, EMPTY).parents:
        if parent == ROOT or nodes[parent].parent is not None:
            return parent
    return None


def _climb(token: int, nodes: Mapping[int, Node]) -> list[int]:
    """Return a word and all words that govern it in the tree."""
    path = []
    parent: int | None = token
    while parent is not None and parent != ROOT and parent not in path:
        path.append(parent)
        parent = nodes[parent].parent
    return path
