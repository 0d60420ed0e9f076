"""Baselines that are given the gold mentions: the two extremes that every coreference metric is read against."""

from __future__ import annotations

from collections.abc import Sequence

from closeread.corpus.baselines import Baseline
from closeread.records import Record


def one_entity(records: Sequence[Record]) -> list[Record]:
    """Put all mentions of a document into one entity."""
    rows = singletons(records)
    return [
        {**row, "clusters": [[one for (one,) in row["clusters"]]] if row["clusters"] else []}
        for row in rows
    ]


def singletons(records: Sequence[Record]) -> list[Record]:
    """Make an entity of every mention, each once, in the order of the text."""
    rows = []
    for record in records:
        mentions = sorted(
            (tuple(mention) for cluster in record["clusters"] for mention in cluster), reverse=True
        )
        once = sorted({mention[:2]: mention for mention in mentions}.values())
        rows.append(
            {"document": record["document"], "clusters": [[list(mention)] for mention in once]}
        )
    return rows


BASELINES = (
    Baseline("one-entity", one_entity, "Put all gold mentions of a document into one entity."),
    Baseline("singletons", singletons, "Make every gold mention an entity of its own."),
)
