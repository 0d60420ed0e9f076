"""Candidate answers one by one, which the corpus has as they are (the configs `flat` and `sample_flat`)."""

from __future__ import annotations

from collections.abc import Sequence

from closeread.records import Record


def flatten(records: Sequence[Record]) -> Sequence[Record]:
    """Return the records, which have single values only."""
    return records
