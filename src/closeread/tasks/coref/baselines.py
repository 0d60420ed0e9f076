"""Baselines that are given the gold mentions: the two extremes that every coreference metric is read against."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from closeread.corpus.baselines import Baseline
from closeread.records import Record


def one_entity(records: Sequence[Record]) -> list[Record]:
    """Put all mentions of a document into one entity."""
    rows = []
    for record in records:
        mentions = _list_mentions(record)
        clusters = [mentions] if mentions else []
        rows.append({"document": record["document"], "clusters": clusters})
    return rows


def singletons(records: Sequence[Record]) -> list[Record]:
    """Make an entity of every mention, each once, in the order of the text."""
    rows = []
    for record in records:
        clusters = [[mention] for mention in _list_mentions(record)]
        rows.append({"document": record["document"], "clusters": clusters})
    return rows


def _list_mentions(record: Record) -> list[list[int]]:
    """Return each mention of a document once, in the order of the text; of several heads, the first is kept."""
    mentions: dict[tuple[int, ...], list[int]] = {}
    for mention in sorted(map(list, chain.from_iterable(record["clusters"]))):
        mentions.setdefault(tuple(mention[:2]), mention)
    return list(mentions.values())


BASELINES = (
    Baseline("one-entity", one_entity, "Put all gold mentions of a document into one entity."),
    Baseline("singletons", singletons, "Make every gold mention an entity of its own."),
)
