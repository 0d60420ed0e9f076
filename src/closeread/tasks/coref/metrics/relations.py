"""Bridging anaphors and non-referring mentions, counted as in the Universal Anaphora scorer; what is not scored.

Source: Yu et al. (2022), The Universal Anaphora Scorer; these are the counts of its version 2.0.  Mentions are the same
if they have the same tokens, however other mentions are matched.  Of a non-referring entity with several mentions the
first one counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Floats
from closeread.counts.procedure import Options
from closeread.exceptions import RequestError
from closeread.tasks.coref.documents import MentionTable
from closeread.tasks.coref.relations import Place, find_single_antecedents, list_zeros, places_by_entity, relations_of

if TYPE_CHECKING:
    from closeread.tasks.coref.documents import MentionTable
    from closeread.tasks.coref.metrics.matching import Matched


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
    """Check that both sides come from files that can have such annotation."""
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


NON_REFERRING = "non-referring mention", "non-referring mentions"
SPLIT = "entity with split antecedents", "entities with split antecedents"
BRIDGING = "bridging anaphor", "bridging anaphors"
DEIXIS = "mention of discourse deixis", "mentions of discourse deixis"
BY_MINIMUM = "partial", "minimum"
MINIMA = "minimum span of the key is", "minimum spans of the key are"


def describe_relations(table: MentionTable, side: str, options: Options, counts: Collection[str]) -> Iterator[str]:
    """Describe what a side has and is not scored, or not scored in full.

    Args:
        table: the side.
        side: its name, "key" or "response".
        options: all options.
        counts: the names of the counts.
    """
    relations = [relations_of(table, document) for document in range(len(table.names))]
    found = []
    if "non_referring/key" not in counts:
        found.append((sum(len(places) for one in relations for places in one.non_referring.values()), *NON_REFERRING))
    if options["split_antecedents"] == "ignore":
        found.append((sum(len(one.antecedents) for one in relations), *SPLIT))
    if not any(name.startswith("bridging_") for name in counts):
        found.append((sum(len(one.bridging) + one.unknown_markables for one in relations), *BRIDGING))
    elif unknown := sum(one.unknown_markables for one in relations):
        yield f"not scored in the {side}: {_count(unknown, *BRIDGING)} whose MarkableID or MentionAnchor is unknown"
    if table.relations is not None and table.relations.discourse_deixis is not None:
        found.append((len(table.relations.discourse_deixis.start), *DEIXIS))
    if named := ", ".join(_count(*one) for one in found if one[0]):
        yield f"not scored in the {side}: {named}"
    if options["matching"] in BY_MINIMUM and side == "key" and (outside := _count_outside(table)):
        yield f"{_count(outside, *MINIMA)} outside their mentions, which match by the same tokens only"


def digest_relations(table: MentionTable, digests: Sequence[bytes], options: Options) -> list[bytes]:
    """Add to the digests of documents what the options make part of the gold: minimum spans and split antecedents."""
    found: list[list[object]] = [[] for _ in digests]
    if options["matching"] in BY_MINIMUM and table.head is None:
        for row, tokens in table.minimum.items():
            found[int(table.document[row])].append([*table.parts_of(row), tokens])
    if options["split_antecedents"] != "ignore":
        for document, rows in enumerate(found):
            rows += _list_sets(table, document)
    return [
        hashlib.sha256(digest + json.dumps(sorted(rows, key=json.dumps)).encode()).digest() if rows else digest
        for digest, rows in zip(digests, found, strict=True)
    ]


def _count(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def _count_outside(table: MentionTable) -> int:
    """Count the mentions that do not contain their minimum spans."""
    return sum(
        not all(any(start <= token <= end for start, end in table.parts_of(row)) for token in tokens)
        for row, tokens in table.minimum.items()
    )


def _list_sets(table: MentionTable, document: int) -> Iterator[object]:
    """List the entities of a document with split antecedents, and these, by their mentions."""
    relations = relations_of(table, document)
    if not relations.antecedents:
        return
    mentions = places_by_entity(table, document, list_zeros(document, table))
    places = {table.label(found[0][0]): sorted(place for _, place in found) for found in mentions.values()}
    places |= {name: sorted(found) for name, found in relations.non_referring.items()}
    for whole, antecedents in find_single_antecedents(relations.antecedents).items():
        yield [places[whole], sorted(places[name] for name in antecedents)]
