"""Figures of documents with coreference."""

from __future__ import annotations

from collections.abc import Sequence

from closeread.records import Record


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Counts of documents, entities and mentions; a singleton is an entity of one mention."""
    clusters = [cluster for record in records for cluster in record["clusters"]]
    return {
        "documents": len(records),
        "entities": len(clusters),
        "singletons": sum(len(cluster) == 1 for cluster in clusters),
        "mentions": sum(map(len, clusters)),
    }
