"""Bridging anaphors and non-referring mentions, counted as in the Universal Anaphora scorer; notes on the rest.

Source: Yu et al. (2022), The Universal Anaphora Scorer; these are the counts of its version 2.0.  Mentions are the same
if they have the same tokens, however other mentions are matched.  Of a non-referring entity with several mentions the
first one counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Floats
from closeread.counts.procedure import Options
from closeread.exceptions import RequestError, pluralize
from closeread.tasks.coref.mention_table import MentionTable
from closeread.tasks.coref.relations import (
    Place,
    find_single_antecedents,
    list_zeros,
    places_by_entity,
    relations_of,
)

if TYPE_CHECKING:
    from closeread.tasks.coref.metrics.matching import MentionMatching


def require_relations(key: MentionTable, response: MentionTable, what: str) -> None:
    """Check that both sides come from files that can have such annotation."""
    if key.relations is None or response.relations is None:
        raise RequestError(f"{what} needs Universal Anaphora files as key and response")


def count_non_referring(matched: MentionMatching) -> Floats:
    """Count the non-referring mentions of both sides, of the key, of the response, (n_documents, 3)."""
    sides = (matched.key, matched.response)
    require_relations(*sides, "scoring non-referring mentions")
    rows = []
    for document in range(len(matched.key.names)):
        relations = (relations_of(table, document).non_referring.values() for table in sides)
        key, response = ({places[0] for places in found} for found in relations)
        rows.append((len(key & response), len(key), len(response)))
    return np.array(rows, np.float64).reshape(-1, 3)


def count_bridging(
    matched: MentionMatching, is_right: Callable[[Place, Place, Mapping[Place, int]], bool]
) -> Floats:
    """Count the bridging anaphors with the right anchor, those of the key, those of the response, (n_documents, 3).

    Args:
        matched: key and response.
        is_right: returns whether the anchor of the response is right, given that of the key, that of the response, and
            the key entity of each mention of the key.
    """
    sides = (matched.key, matched.response)
    require_relations(*sides, "scoring bridging")
    numbers = range(len(matched.key.names))
    for name, table in zip(("key", "response"), sides, strict=True):
        pairs = [pair for document in numbers for pair in relations_of(table, document).bridging]
        if lacking := sum(pair.anchor is None for pair in pairs):
            which = f"anaphors of the {name} without: {lacking:,}"
            raise RequestError(f"scoring bridging needs a MentionAnchor for every anaphor; {which}")
    rows = []
    for document in numbers:
        relations = (relations_of(table, document).bridging for table in sides)
        key, response = ({pair.anaphor: pair.anchor or () for pair in pairs} for pairs in relations)
        mentions = places_by_entity(matched.key, document, list_zeros(document, *sides))
        entity_of = {place: entity for entity, found in mentions.items() for _, place in found}
        right = sum(
            is_right(key[anaphor], response[anaphor], entity_of)
            for anaphor in key.keys() & response.keys()
        )
        rows.append((right, len(key), len(response)))
    return np.array(rows, np.float64).reshape(-1, 3)


BY_MINIMUM = "partial", "minimum"


def describe_relations(
    table: MentionTable, side: str, options: Options, counts: Collection[str]
) -> Iterator[str]:
    """Describe annotation of a side, "key" or "response", that these counts do not score in full."""
    relations = [relations_of(table, document) for document in range(len(table.names))]
    found = []
    if "non_referring/key" not in counts:
        n = sum(len(places) for one in relations for places in one.non_referring.values())
        found.append((n, "non-referring mention", "non-referring mentions"))
    if options["split_antecedents"] == "ignore":
        n = sum(len(one.antecedents) for one in relations)
        found.append((n, "entity with split antecedents", "entities with split antecedents"))
    unknown = sum(one.unknown_markables for one in relations)
    if not any(name.startswith("bridging_") for name in counts):
        n = unknown + sum(len(one.bridging) for one in relations)
        found.append((n, "bridging anaphor", "bridging anaphors"))
    elif unknown:
        anaphors = pluralize(unknown, "bridging anaphor")
        yield f"not scored in the {side}: {anaphors} whose MarkableID or MentionAnchor is unknown"
    if table.relations is not None and table.relations.discourse_deixis is not None:
        n = len(table.relations.discourse_deixis.start)
        found.append((n, "mention of discourse deixis", "mentions of discourse deixis"))
    if named := ", ".join(f"{n:,} {one if n == 1 else several}" for n, one, several in found if n):
        yield f"not scored in the {side}: {named}"
    if options["matching"] in BY_MINIMUM and side == "key":
        outside = sum(
            not all(
                any(start <= token <= end for start, end in table.parts_of(row)) for token in tokens
            )
            for row, tokens in table.minimum.items()
        )
        if outside:
            spans = "minimum span of the key is" if outside == 1 else "minimum spans of the key are"
            yield f"{outside:,} {spans} outside their mentions, which match by the same tokens only"


def digest_relations(
    table: MentionTable, digests: Sequence[bytes], options: Options
) -> list[bytes]:
    """Add minimum spans and split antecedents to the digests of documents, if options make them part of the gold."""
    found: list[list[object]] = [[] for _ in digests]
    if options["matching"] in BY_MINIMUM and table.head is None:
        for row, tokens in table.minimum.items():
            found[int(table.document[row])].append([*table.parts_of(row), tokens])
    if options["split_antecedents"] != "ignore":
        for document, rows in enumerate(found):
            rows += _list_sets(table, document)
    return [
        hashlib.sha256(digest + json.dumps(sorted(rows, key=json.dumps)).encode()).digest()
        if rows
        else digest
        for digest, rows in zip(digests, found, strict=True)
    ]


def _list_sets(table: MentionTable, document: int) -> Iterator[object]:
    """List the entities of a document with split antecedents, and these, by their mentions."""
    relations = relations_of(table, document)
    if not relations.antecedents:
        return
    mentions = places_by_entity(table, document, list_zeros(document, table))
    places = {
        table.label(found[0][0]): sorted(place for _, place in found) for found in mentions.values()
    }
    places |= {name: sorted(found) for name, found in relations.non_referring.items()}
    for whole, antecedents in find_single_antecedents(relations.antecedents).items():
        yield [places[whole], sorted(places[name] for name in antecedents)]
