"""Figures of documents with coreference."""

from __future__ import annotations

from collections.abc import Sequence

from closeread.records import Record


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Counts of documents, entities and mentions; a singleton is an entity of one mention."""
    sizes: list[int] = []
    for record in records:
        sizes += map(len, record["clusters"])
    return {
        "documents": len(records),
        "entities": len(sizes),
        "singletons": sizes.count(1),
        "mentions": sum(sizes),
    }
