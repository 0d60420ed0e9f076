"""Baselines that are given the gold mentions: the two extremes that every coreference metric is read against."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from closeread.corpus.baselines import Baseline
from closeread.records import Record


def one_entity(records: Sequence[Record]) -> list[Record]:
    """Put all mentions of a document into one entity."""
    rows = singletons(records)
    for row in rows:
        mentions = list(chain.from_iterable(row["clusters"]))
        row["clusters"] = [mentions] if mentions else []
    return rows


def singletons(records: Sequence[Record]) -> list[Record]:
    """Make an entity of every mention, each once, in the order of the text."""
    rows = []
    for record in records:
        # Of a mention with several heads, the first is kept.
        clusters: dict[tuple[int, ...], list[list[int]]] = {}
        for mention in sorted(map(list, chain.from_iterable(record["clusters"]))):
            clusters.setdefault(tuple(mention[:2]), [mention])
        rows.append({"document": record["document"], "clusters": list(clusters.values())})
    return rows


BASELINES = (
    Baseline("one-entity", one_entity, "Put all gold mentions of a document into one entity."),
    Baseline("singletons", singletons, "Make every gold mention an entity of its own."),
)
