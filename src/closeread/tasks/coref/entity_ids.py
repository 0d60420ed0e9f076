"""Ids of entities in files that are written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from closeread.tasks.coref.columns import MentionTable


def choose_ids(
    table: MentionTable, entities: Sequence[int], expressible: re.Pattern[str], prefix: str = ""
) -> dict[int, str]:
    """Choose the ids of a document's entities: those of the table if the format can express them, else 1, 2, …

    Args:
        table: the documents.
        entities: the numbers of the entities.
        expressible: matches an id that the format can express.
        prefix: what numbers begin with.
    """
    labels = [table.labels[entity] for entity in entities] if table.labels else []
    if len(set(labels)) == len(entities) and all(expressible.fullmatch(label) for label in labels):
        return dict(zip(entities, labels, strict=True))
    return {entity: f"{prefix}{i}" for i, entity in enumerate(entities, start=1)}
