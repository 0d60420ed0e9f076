"""Baselines that ignore the question (Zhou et al., 2019, Table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from closeread.corpora.baselines import Baseline, Resources
from closeread.records import Record


def always_positive(records: Sequence[Record], resources: Resources) -> list[Record]:
    """Label every answer plausible."""
    return [{"id": record["id"], "label": "yes"} for record in records]


def always_negative(records: Sequence[Record], resources: Resources) -> list[Record]:
    """Label every answer implausible."""
    return [{"id": record["id"], "label": "no"} for record in records]


def random(records: Sequence[Record], resources: Resources) -> list[Record]:
    """Label every answer by a fair coin flip."""
    heads = resources.rng.random(len(records)) < 0.5
    return [{"id": record["id"], "label": "yes" if head else "no"} for record, head in zip(records, heads, strict=True)]


BASELINES: Mapping[str, Baseline] = {
    "always-positive": always_positive,
    "always-negative": always_negative,
    "random": random,
}
