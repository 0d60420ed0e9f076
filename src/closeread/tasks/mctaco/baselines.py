"""Baselines that ignore the question (Zhou et al., 2019, Table 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from closeread.corpus.baselines import SEED, Baseline
from closeread.records import Record


def always_positive(records: Sequence[Record]) -> list[Record]:
    """Label every answer plausible."""
    return [{"id": record["id"], "label": "yes"} for record in records]


def always_negative(records: Sequence[Record]) -> list[Record]:
    """Label every answer implausible."""
    return [{"id": record["id"], "label": "no"} for record in records]


def random(records: Sequence[Record], *, seed: str) -> list[Record]:
    """Label every answer by a fair coin flip."""
    heads = np.random.default_rng(int(seed)).random(len(records)) < 0.5
    return [
        {"id": record["id"], "label": "yes" if head else "no"}
        for record, head in zip(records, heads, strict=True)
    ]


BASELINES = (
    Baseline("always-positive", always_positive, "Label every answer plausible."),
    Baseline("always-negative", always_negative, "Label every answer implausible."),
    Baseline("random", random, "Label every answer by a fair coin flip.", (SEED,)),
)
