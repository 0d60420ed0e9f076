"""Baselines of spelling."""

from __future__ import annotations

from collections.abc import Sequence

from closeread.corpus.baselines import Baseline
from closeread.records import Record


def unchanged(records: Sequence[Record]) -> list[Record]:
    """Predict every word as it was written."""
    return [{"id": record["id"], "word": record["written"]} for record in records]


BASELINES = (Baseline("unchanged", unchanged, "Predict every word as it was written."),)
