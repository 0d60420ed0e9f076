"""Bridging anaphors and non-referring mentions, counted as in the Universal Anaphora scorer; notes on the rest.

Source: Yu et al. (2022), The Universal Anaphora Scorer; these are the counts of its version 2.0.  Mentions are the same
if they have the same tokens, however other mentions are matched.  Of a non-referring entity with several mentions the
first one counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from closeread.arrays import Floats
from closeread.counts.procedure import Options
from closeread.exceptions import RequestError, pluralize
from closeread.tasks.coref.mention_table import MentionTable
from closeread.tasks.coref.metrics.inexact_matching import contains
from closeread.tasks.coref.metrics.matching import MatchedMentions
from closeread.tasks.coref.universal_anaphora.relations import (
    Place,
    find_single_antecedents,
    list_zeros,
    places_by_entity,
    relations_of,
)


def require_relations(key: MentionTable, response: MentionTable, what: str) -> None:
    """Check that both sides come from files that can have such annotation."""
    if key.relations is None or response.relations is None:
        raise RequestError(f"{what} needs Universal Anaphora files as key and response")


def count_non_referring(matched: MatchedMentions) -> Floats:
    """Count the non-referring mentions of both sides, of the key, of the response, (n_documents, 3)."""
    require_relations(matched.key, matched.response, "scoring non-referring mentions")
    counts = []
    for document in range(len(matched.key.names)):
        sides = []
        for table in (matched.key, matched.response):
            entities = relations_of(table, document).non_referring.values()
            sides.append({mentions[0] for mentions in entities})
        counts.append((len(sides[0] & sides[1]), len(sides[0]), len(sides[1])))
    return np.array(counts, np.float64).reshape(-1, 3)


def count_bridging(matched: MatchedMentions, metric: str) -> Floats:
    """Count the bridging anaphors with the right anchor, those of the key, those of the response, (n_documents, 3).

    Any anchor is right for `bridging_anaphors`, the same mention for `bridging_mentions`, and a mention of the same
    entity of the key for `bridging_entities`.
    """
    tables = (matched.key, matched.response)
    require_relations(*tables, "scoring bridging")
    documents = range(len(matched.key.names))
    key, response = ([find_anchors(table, document) for document in documents] for table in tables)
    for side, anchors in (("key", key), ("response", response)):
        n_lacking = sum(list(of_document.values()).count(None) for of_document in anchors)
        if n_lacking:
            raise RequestError(
                "scoring bridging needs a MentionAnchor for every anaphor; "
                f"anaphors of the {side} without: {n_lacking:,}"
            )
    counts = []
    for document in documents:
        entity_of: dict[Place | None, int] = {}
        mentions = places_by_entity(matched.key, document, list_zeros(document, *tables))
        for entity, places in mentions.items():
            for _, place in places:
                entity_of[place] = entity
        n_right = 0
        for anaphor in key[document].keys() & response[document].keys():
            anchor = key[document][anaphor]
            other = response[document][anaphor]
            if metric == "bridging_anaphors" or anchor == other:
                n_right += 1
            elif metric == "bridging_entities" and anchor in entity_of:
                n_right += entity_of[anchor] == entity_of.get(other)
        counts.append((n_right, len(key[document]), len(response[document])))
    return np.array(counts, np.float64).reshape(-1, 3)


def find_anchors(table: MentionTable, document: int) -> dict[Place, Place | None]:
    """Return the anchor of each bridging anaphor of a document."""
    return {pair.anaphor: pair.anchor for pair in relations_of(table, document).bridging}


BY_MINIMUM = "partial", "minimum"


def describe_relations(
    table: MentionTable, side: str, options: Options, counts: Collection[str]
) -> Iterator[str]:
    """Describe annotation of a side, "key" or "response", that these counts do not score in full."""
    n_non_referring = n_split = n_bridging = n_unknown = 0
    for document in range(len(table.names)):
        relations = relations_of(table, document)
        n_non_referring += sum(map(len, relations.non_referring.values()))
        n_split += len(relations.antecedents)
        n_bridging += len(relations.bridging)
        n_unknown += relations.unknown_markables
    numbers = []
    if "non_referring/key" not in counts:
        numbers.append((n_non_referring, "non-referring mention", "non-referring mentions"))
    if options["split_antecedents"] == "ignore":
        numbers.append(
            (n_split, "entity with split antecedents", "entities with split antecedents")
        )
    if not any(name.startswith("bridging_") for name in counts):
        numbers.append((n_bridging + n_unknown, "bridging anaphor", "bridging anaphors"))
    elif n_unknown:
        anaphors = pluralize(n_unknown, "bridging anaphor")
        yield f"not scored in the {side}: {anaphors} whose MarkableID or MentionAnchor is unknown"
    if table.relations is not None and table.relations.discourse_deixis is not None:
        n_mentions = len(table.relations.discourse_deixis.start)
        numbers.append((n_mentions, "mention of discourse deixis", "mentions of discourse deixis"))
    unscored = [f"{n:,} {noun if n == 1 else plural}" for n, noun, plural in numbers if n]
    if unscored:
        yield f"not scored in the {side}: {', '.join(unscored)}"
    if options["matching"] in BY_MINIMUM and side == "key":
        n_outside = 0
        for row, tokens in table.minimum.items():
            parts = table.parts_of(row)
            n_outside += not all(contains(parts, token) for token in tokens)
        if n_outside:
            spans = "minimum span of the key is"
            if n_outside > 1:
                spans = "minimum spans of the key are"
            yield f"{n_outside:,} {spans} outside their mentions, which match by the same tokens only"


def digest_relations(
    table: MentionTable, digests: Sequence[bytes], options: Options
) -> list[bytes]:
    """Add minimum spans and split antecedents to the digests of documents, if options make them part of the gold."""
    annotations: list[list[object]] = [[] for _ in digests]
    if options["matching"] in BY_MINIMUM and table.head is None:
        for row, tokens in table.minimum.items():
            annotations[int(table.document[row])].append([*table.parts_of(row), tokens])
    if options["split_antecedents"] != "ignore":
        for document, annotation in enumerate(annotations):
            for _, mentions, antecedents in list_split_entities(table, document):
                annotation.append([sorted(mentions), sorted(map(sorted, antecedents.values()))])
    new_digests = []
    for digest, annotation in zip(digests, annotations, strict=True):
        if annotation:
            text = json.dumps(sorted(annotation, key=json.dumps))
            digest = hashlib.sha256(digest + text.encode()).digest()
        new_digests.append(digest)
    return new_digests


def list_split_entities(
    table: MentionTable, document: int
) -> Iterator[tuple[int, Sequence[Place], Mapping[str, Sequence[Place]]]]:
    """List the entities of a document with split antecedents.

    Yields:
        The entity, its mentions, and the mentions of each antecedent by its name.
    """
    relations = relations_of(table, document)
    entity_of: dict[str, int] = {}
    mentions_of: dict[str, Sequence[Place]] = {}
    places = places_by_entity(table, document, list_zeros(document, table))
    for entity, mentions in places.items():
        name = table.label(mentions[0][0])
        entity_of[name] = entity
        mentions_of[name] = [place for _, place in mentions]
    antecedents_of = find_single_antecedents(relations.antecedents)
    for name, entity in entity_of.items():
        antecedents = {}
        for antecedent in antecedents_of.get(name, ()):
            non_referring = relations.non_referring.get(antecedent)
            antecedents[antecedent] = non_referring or mentions_of[antecedent]
        if antecedents:
            yield entity, mentions_of[name], antecedents
