"""Baselines that are given the gold mentions: the two extremes that every coreference metric is read against."""

from __future__ import annotations

from collections.abc import Sequence

from closeread.corpus.baselines import Baseline
from closeread.records import Record


def one_entity(records: Sequence[Record]) -> list[Record]:
    """Put all mentions of a document into one entity."""
    return [
        {"document": record["document"], "clusters": [mentions] if (mentions := _list_mentions(record)) else []}
        for record in records
    ]


def singletons(records: Sequence[Record]) -> list[Record]:
    """Make an entity of every mention."""
    return [
        {"document": record["document"], "clusters": [[mention] for mention in _list_mentions(record)]}
        for record in records
    ]


def _list_mentions(record: Record) -> list[list[int]]:
    """The mentions of a document, each once, in the order of the text."""
    mentions = sorted((tuple(mention) for cluster in record["clusters"] for mention in cluster), reverse=True)
    return [list(mention) for mention in sorted({mention[:2]: mention for mention in mentions}.values())]


BASELINES = (
    Baseline("one-entity", one_entity, "Put all gold mentions of a document into one entity."),
    Baseline("singletons", singletons, "Make an entity of every gold mention."),
)
