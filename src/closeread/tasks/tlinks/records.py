"""Figures of documents with temporal links, and a row for each link."""

from __future__ import annotations

from collections.abc import Sequence

from closeread.records import Record


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Counts of documents and of links, also by relation."""
    figures: dict[str, float] = {"documents": len(records), "links": 0}
    for record in records:
        figures["links"] += len(record["tlinks"])
        for tlink in record["tlinks"]:
            relation = tlink["relation"]
            figures[relation] = figures.get(relation, 0) + 1
    return figures


def flatten(records: Sequence[Record]) -> list[Record]:
    """Return a row for each link, in order."""
    rows: list[Record] = []
    for record in records:
        document = {"document": record["document"]}
        rows += [document | tlink for tlink in record["tlinks"]]
    return rows
