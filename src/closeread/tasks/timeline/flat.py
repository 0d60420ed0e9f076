"""Event mentions of timelines one by one, for data frames and SQL (the configs `flat` and `sample_flat`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from closeread.records import ColumnRecords, Record

SPAN = ("document", "sentence", "start", "end")
NAMES = ("id", "entity", "entry", "position", "anchor", "mention", *SPAN)
UNKNOWN: Mapping[str, Any] = dict.fromkeys(SPAN)


def flatten(records: Sequence[Record]) -> ColumnRecords:
    """Return a row for each event mention, in the order of the timelines, of their entries and of the mentions."""
    return ColumnRecords.from_rows(NAMES, _rows(records))


def _rows(records: Sequence[Record]) -> Iterator[tuple[Any, ...]]:
    for record in records:
        for number, entry in enumerate(record["entries"]):
            mentions = entry["mentions"]
            spans = entry.get("spans") or [UNKNOWN] * len(mentions)
            for mention, span in zip(mentions, spans, strict=True):
                about = (record["id"], record["entity"], number, entry["position"], entry["anchor"])
                yield (*about, mention, *(span[name] for name in SPAN))
