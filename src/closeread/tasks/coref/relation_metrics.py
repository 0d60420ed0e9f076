"""Counts of bridging anaphors and of non-referring mentions, as in the Universal Anaphora scorer.

Source: Yu et al. (2022), The Universal Anaphora Scorer; these are the counts of its version 2.0.  Mentions are the same
if they have the same tokens, however other mentions are matched.  Of a non-referring entity with several mentions the
first one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Floats
from closeread.exceptions import RequestError
from closeread.tasks.coref.relations import Place, list_zeros, places_by_entity, relations_of

if TYPE_CHECKING:
    from closeread.tasks.coref.columns import MentionTable
    from closeread.tasks.coref.matching import Matched

Anchors = dict[Place, Place]
"""The anchors of a document's bridging anaphors."""


def count_non_referring(matched: Matched) -> Floats:
    """Count the non-referring mentions of both sides, of the key, of the response, (n_documents, 3)."""
    require_relations(matched.key, matched.response, "scoring non-referring mentions")

    def count(document: int) -> tuple[int, int, int]:
        own, other = (
            {places[0] for places in relations_of(table, document).non_referring.values()}
            for table in (matched.key, matched.response)
        )
        return len(own & other), len(own), len(other)

    return _count_documents(matched, count)


def count_bridging_anaphors(matched: Matched) -> Floats:
    """Count the bridging anaphors, (n_documents, 3), the columns as above."""
    return _count_bridging(matched, lambda document, own, other: True)


def count_bridging_mentions(matched: Matched) -> Floats:
    """Count the bridging anaphors with the right mention as their anchor, (n_documents, 3)."""
    return _count_bridging(matched, lambda document, own, other: own == other)


def count_bridging_entities(matched: Matched) -> Floats:
    """Count the bridging anaphors with a mention of the right entity as their anchor, (n_documents, 3)."""
    entities: dict[int, dict[Place, int]] = {}

    def is_right(document: int, own: Place, other: Place) -> bool:
        if own == other:
            return True
        if document not in entities:
            entities[document] = _map_entities(matched, document)
        entity = entities[document].get(own)
        return entity is not None and entity == entities[document].get(other)

    return _count_bridging(matched, is_right)


def require_relations(key: MentionTable, response: MentionTable, what: str) -> None:
    """Check that both sides come from files that can have such annotation.

    Raises:
        RequestError: they don't.
    """
    if key.relations is None or response.relations is None:
        raise RequestError(f"{what} needs Universal Anaphora files as key and response")


def _count_documents(matched: Matched, count: Callable[[int], tuple[int, int, int]]) -> Floats:
    rows = [count(document) for document in range(len(matched.key.names))]
    return np.array(rows, np.float64).reshape(-1, 3)


def _count_bridging(matched: Matched, is_right: Callable[[int, Place, Place], bool]) -> Floats:
    sides = (matched.key, matched.response)
    require_relations(*sides, "scoring bridging")
    own, other = (list(_list_anchors(table, name)) for table, name in zip(sides, ("key", "response"), strict=True))

    def count(document: int) -> tuple[int, int, int]:
        ours, theirs = own[document], other[document]
        found = sum(is_right(document, ours[anaphor], theirs[anaphor]) for anaphor in ours.keys() & theirs.keys())
        return found, len(ours), len(theirs)

    return _count_documents(matched, count)


def _list_anchors(table: MentionTable, name: str) -> Iterator[Anchors]:
    """List the anchors of each document."""
    found = [relations_of(table, document).bridging for document in range(len(table.names))]
    lacking = sum(pair.anchor is None for pairs in found for pair in pairs)
    if lacking:
        which = f"anaphors of the {name} without: {lacking:,}"
        raise RequestError(f"scoring bridging needs a MentionAnchor for every anaphor; {which}")
    return ({pair.anaphor: pair.anchor for pair in pairs if pair.anchor is not None} for pairs in found)


def _map_entities(matched: Matched, document: int) -> dict[Place, int]:
    """Map the places of a document's key mentions to their entities."""
    zeros = list_zeros(document, matched.key, matched.response)
    mentions = places_by_entity(matched.key, document, zeros)
    return {place: entity for entity, found in mentions.items() for _, place in found}
