"""Possessions one by one, for data frames and SQL (the configs `flat` and `sample_flat`)."""

from __future__ import annotations

from collections.abc import Sequence

from closeread.records import ColumnRecords, Record

POSSESSION = (
    *("type", "possessor", "certainty", "order", "anchor", "anchor_kind", "lower", "upper"),
    *("open_start", "open_end", "relation", "relation_certainty"),
)


def flatten(records: Sequence[Record]) -> ColumnRecords:
    """Return a row for each possession, in the order of the articles and of their possessions."""
    return ColumnRecords.from_rows(
        ("article", *POSSESSION),
        (
            (record["article"], *(possession[name] for name in POSSESSION))
            for record in records
            for possession in record["possessions"]
        ),
    )
