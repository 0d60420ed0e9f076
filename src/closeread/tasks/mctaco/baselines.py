"""Baselines that ignore the question (Zhou et al., 2019, Table 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from closeread.corpus.baselines import SEED, Baseline
from closeread.records import Record
from closeread.tasks.mctaco.procedure import make_rows


def always_positive(records: Sequence[Record]) -> list[Record]:
    """Label every answer plausible."""
    return make_rows(records, np.ones(len(records), np.bool_))


def always_negative(records: Sequence[Record]) -> list[Record]:
    """Label every answer implausible."""
    return make_rows(records, np.zeros(len(records), np.bool_))


def random(records: Sequence[Record], *, seed: str) -> list[Record]:
    """Label every answer by a fair coin flip."""
    return make_rows(records, np.random.default_rng(int(seed)).random(len(records)) < 0.5)


BASELINES = (
    Baseline("always-positive", always_positive, "Label every answer plausible."),
    Baseline("always-negative", always_negative, "Label every answer implausible."),
    Baseline("random", random, "Label every answer by a fair coin flip.", (SEED,)),
)
