"""Baselines that ignore the question (Zhou et al., 2019, Table 2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from closeread.corpus.baselines import SEED, Baseline
from closeread.records import Record
from closeread.tasks.mctaco.procedure import make_rows


def label_all(records: Sequence[Record], *, plausible: bool) -> list[Record]:
    """Label every answer alike."""
    return make_rows(records, np.full(len(records), plausible))


def random(records: Sequence[Record], *, seed: str) -> list[Record]:
    """Label every answer by a fair coin flip."""
    generator = np.random.default_rng(int(seed))
    return make_rows(records, generator.random(len(records)) < 0.5)


ALWAYS_POSITIVE = Baseline(
    "always-positive", partial(label_all, plausible=True), "Label every answer plausible."
)
ALWAYS_NEGATIVE = Baseline(
    "always-negative", partial(label_all, plausible=False), "Label every answer implausible."
)
RANDOM = Baseline("random", random, "Label every answer by a fair coin flip.", (SEED,))
BASELINES = (ALWAYS_POSITIVE, ALWAYS_NEGATIVE, RANDOM)
