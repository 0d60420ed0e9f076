"""Documents without some of their mentions, and with each mention in one entity, as options ask for.

Conventions: entities that lose all mentions stay, so that the others keep their numbers.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import compress

import numpy as np

from closeread.arrays import Mask
from closeread.tasks.coref.documents import Document, Documents, Entity, Mention
from closeread.tasks.coref.spans import Span, count_tokens


def keep_mentions(documents: Documents, is_kept: Mask) -> Documents:
    """Return the documents with some of their mentions, in the order of their columns."""
    packed = documents.packed
    if packed is not None:
        columns = packed.columns.select(is_kept)
        return Documents(packed._replace(columns=columns), documents.notices, documents.broken)
    flags = iter(is_kept.tolist())
    selected = []
    for document in documents.documents:
        entities = []
        for entity in document.entities:
            mentions = list(compress(entity.mentions, flags))
            entities.append(Entity(entity.label, mentions))
        selected.append(replace(document, entities=entities))
    return documents.replaced(selected)


def without_singletons(documents: Documents) -> Documents:
    """Return the documents without the mentions of entities that have only one."""
    entity = documents.columns.entity
    return keep_mentions(documents, np.bincount(entity)[entity] > 1)


def order_by_text(document: Document, *, in_first_entity: bool) -> Document:
    """Put the entities in the order of their mentions in the text, and drop mentions that an entity repeats.

    The first mentions of two entities decide which of them comes first; if these are the same, the next ones do.  Of
    mentions with the same start, longer ones come first.  So the order does not depend on that of the file.  With
    `in_first_entity`, mentions of earlier entities are dropped, too.
    """
    distinct: list[tuple[str, dict[Position, Mention]]] = []
    for entity in document.entities:
        mentions: dict[Position, Mention] = {}
        for mention in entity.mentions:
            mentions.setdefault(find_position(mention), mention)
        if mentions:
            distinct.append((entity.label, mentions))
    distinct.sort(key=lambda pair: sorted(pair[1]))
    entities = []
    seen: set[Position] = set()
    for label, mentions in distinct:
        first = [mention for position, mention in mentions.items() if position not in seen]
        entities.append(Entity(label, first))
        if in_first_entity:
            seen.update(mentions)
    return replace(document, entities=entities, reference_order=None)


Position = tuple[int, int, tuple[Span, ...]]
"""What orders mentions in the text: the first token, minus the number of tokens, and the tokens."""


def find_position(mention: Mention) -> Position:
    """Return the position of a mention in the text."""
    runs = mention.runs
    return (runs[0][0], -count_tokens(runs), runs)


def order_as_reference(document: Document) -> Document:
    """Put the entities in the order in which the reference scorer meets them."""
    if document.reference_order is None:
        return document
    pairs = zip(document.reference_order, document.entities, strict=True)
    by_place = dict(pairs)
    entities = [by_place[place] for place in sorted(by_place)]
    return replace(document, entities=entities, reference_order=None)
