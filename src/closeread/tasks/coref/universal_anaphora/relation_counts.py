"""Bridging anaphors and non-referring mentions, counted as in the Universal Anaphora scorer; notes on the rest.

Source: Yu et al. (2022), The Universal Anaphora Scorer; these are the counts of its version 2.0.  Mentions are the same
if they have the same tokens, however other mentions are matched.  Of a non-referring entity with several mentions the
first one counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from closeread.arrays import Floats
from closeread.counts.procedure import Options
from closeread.exceptions import RequestError, pluralize
from closeread.tasks.coref.documents import Document, Documents
from closeread.tasks.coref.metrics.matching import MatchedMentions
from closeread.tasks.coref.spans import contains
from closeread.tasks.coref.universal_anaphora.relations import (
    NO_RELATIONS,
    Place,
    find_single_antecedents,
    list_places,
    list_zeros,
)


def require_relations(key: Documents, response: Documents, what: str) -> None:
    """Check that both sides come from files that can have such annotation."""
    if not (key.has_relations and response.has_relations):
        raise RequestError(f"{what} needs Universal Anaphora files as key and response")


def pair_documents(matched: MatchedMentions) -> Iterator[tuple[Document, Document]]:
    """Yield the documents of both sides."""
    return zip(matched.key.documents, matched.response.documents, strict=True)


def count_non_referring(matched: MatchedMentions) -> Floats:
    """Count the non-referring mentions of both sides, of the key, of the response, (n_documents, 3)."""
    require_relations(matched.key, matched.response, "scoring non-referring mentions")
    counts = []
    for documents in pair_documents(matched):
        key, response = map(find_non_referring, documents)
        counts.append((len(key & response), len(key), len(response)))
    return np.array(counts, np.float64).reshape(-1, 3)


def find_non_referring(document: Document) -> set[Place]:
    """Return the first mention of each non-referring entity."""
    relations = document.relations or NO_RELATIONS
    return {mentions[0] for mentions in relations.non_referring.values()}


def count_bridging(matched: MatchedMentions, metric: str) -> Floats:
    """Count the bridging anaphors with the right anchor, those of the key, those of the response, (n_documents, 3).

    Any anchor is right for `bridging_anaphors`, the same mention for `bridging_mentions`, and a mention of the same
    entity of the key for `bridging_entities`.
    """
    require_relations(matched.key, matched.response, "scoring bridging")
    for name, side in (("key", matched.key), ("response", matched.response)):
        anchors = chain.from_iterable(
            find_anchors(document).values() for document in side.documents
        )
        n_lacking = list(anchors).count(None)
        if n_lacking:
            raise RequestError(
                "scoring bridging needs a MentionAnchor for every anaphor; "
                f"anaphors of the {name} without: {n_lacking:,}"
            )
    counts = []
    for key, response in pair_documents(matched):
        entity_of: dict[Place | None, int] = {}
        for entity, places in enumerate(list_places(key, list_zeros(key, response))):
            entity_of.update(dict.fromkeys(places, entity))
        key_anchors = find_anchors(key)
        response_anchors = find_anchors(response)
        n_right = 0
        for anaphor in key_anchors.keys() & response_anchors.keys():
            anchor = key_anchors[anaphor]
            other = response_anchors[anaphor]
            if metric == "bridging_anaphors" or anchor == other:
                n_right += 1
            elif metric == "bridging_entities" and anchor in entity_of:
                n_right += entity_of[anchor] == entity_of.get(other)
        counts.append((n_right, len(key_anchors), len(response_anchors)))
    return np.array(counts, np.float64).reshape(-1, 3)


def find_anchors(document: Document) -> dict[Place, Place | None]:
    """Return the anchor of each bridging anaphor of a document."""
    relations = document.relations or NO_RELATIONS
    return {pair.anaphor: pair.anchor for pair in relations.bridging}


BY_MINIMUM = "partial", "minimum"


def describe_relations(
    documents: Documents, side: str, options: Options, counts: Collection[str]
) -> Iterator[str]:
    """Describe annotation of a side, "key" or "response", that these counts do not score in full."""
    n_non_referring = n_split = n_bridging = n_unknown = n_deixis = 0
    for document in documents.documents:
        relations = document.relations or NO_RELATIONS
        n_non_referring += sum(map(len, relations.non_referring.values()))
        n_split += len(relations.antecedents)
        n_bridging += len(relations.bridging)
        n_unknown += relations.unknown_markables
        if document.deixis is not None:
            n_deixis += len(document.deixis.mentions)
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
    numbers.append((n_deixis, "mention of discourse deixis", "mentions of discourse deixis"))
    unscored = [f"{n:,} {noun if n == 1 else plural}" for n, noun, plural in numbers if n]
    if unscored:
        yield f"not scored in the {side}: {', '.join(unscored)}"
    if options["matching"] in BY_MINIMUM and side == "key":
        n_outside = 0
        for mention in documents.list_mentions():
            n_outside += not all(contains(mention.spans, token) for token in mention.minimum)
        if n_outside:
            spans = "minimum span of the key is"
            if n_outside > 1:
                spans = "minimum spans of the key are"
            yield f"{n_outside:,} {spans} outside their mentions, which match by the same tokens only"


def digest_relations(document: Document, digest: bytes, options: Options) -> bytes:
    """Add minimum spans and split antecedents to the digest of a document, if options make them part of the gold.

    Minimum spans matter where heads are unknown.
    """
    annotation: list[object] = []
    if options["matching"] in BY_MINIMUM:
        annotation += [
            [*mention.spans, mention.minimum]
            for mention in document.mentions
            if mention.minimum and mention.head is None
        ]
    if options["split_antecedents"] != "ignore":
        for _, mentions, antecedents in list_split_entities(document):
            annotation.append([sorted(mentions), sorted(map(sorted, antecedents.values()))])
    if not annotation:
        return digest
    text = json.dumps(sorted(annotation, key=json.dumps))
    return hashlib.sha256(digest + text.encode()).digest()


def list_split_entities(
    document: Document,
) -> Iterator[tuple[int, Sequence[Place], Mapping[str, Sequence[Place]]]]:
    """List the entities of a document with split antecedents.

    Yields:
        The number of the entity in the document, its mentions, and the mentions of each antecedent by its name.
    """
    relations = document.relations or NO_RELATIONS
    number_of: dict[str, int] = {}
    mentions_of: dict[str, Sequence[Place]] = {}
    for number, places in enumerate(list_places(document, list_zeros(document))):
        if places:
            name = document.label_of(number)
            number_of[name] = number
            mentions_of[name] = places
    antecedents_of = find_single_antecedents(relations.antecedents)
    for name, number in number_of.items():
        antecedents = {}
        for antecedent in antecedents_of.get(name, ()):
            non_referring = relations.non_referring.get(antecedent)
            antecedents[antecedent] = non_referring or mentions_of[antecedent]
        if antecedents:
            yield number, mentions_of[name], antecedents
