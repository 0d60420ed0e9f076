"""Figures of documents with coreference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from closeread.records import Record


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Counts of documents, tokens, entities and mentions; a singleton is an entity of one mention."""
    sizes: list[int] = []
    n_tokens = 0
    n_empty_nodes = 0
    for record in records:
        sizes += map(len, record["clusters"])
        n_tokens += record.get("n_tokens") or 0
        n_empty_nodes += len(record.get("empty_nodes", ()))
    figures: dict[str, float] = {"documents": len(records)}
    if n_tokens:
        figures["tokens"] = n_tokens - n_empty_nodes
    if n_empty_nodes:
        figures["empty nodes"] = n_empty_nodes
    return figures | {
        "entities": len(sizes),
        "singletons": sizes.count(1),
        "mentions": sum(sizes),
    }


def flatten(records: Sequence[Record]) -> list[Record]:
    """Return a row for each mention of a corpus's documents, in the order of the entities."""
    rows: list[Record] = []
    for record in records:
        words = list(chain.from_iterable(record["sentences"]))
        document = {name: record[name] for name in ("document", "group", "genre")}
        for number, mentions in enumerate(record["clusters"]):
            for start, end, *heads in mentions:
                row = {
                    "entity": number,
                    "label": record["labels"][number],
                    "start": start,
                    "end": end,
                    "head": heads[0] if heads else None,
                    "text": " ".join(words[start : end + 1]),
                }
                rows.append(document | row)
    return rows
