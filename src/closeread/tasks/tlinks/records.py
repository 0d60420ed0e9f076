"""Figures of documents with temporal links, and a row for each link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from closeread.records import Record


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Counts of documents and of links, also by relation."""
    n_links = Counter[str]()
    for record in records:
        n_links.update(tlink["relation"] for tlink in record["tlinks"])
    return {"documents": len(records), "links": n_links.total(), **n_links}


def flatten(records: Sequence[Record]) -> list[Record]:
    """Return a row for each link, in order."""
    rows: list[Record] = []
    for record in records:
        document = {"document": record["document"]}
        rows += [document | tlink for tlink in record["tlinks"]]
    return rows
