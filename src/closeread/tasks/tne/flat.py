"""Links one by one, for data frames and SQL (the configs `flat` and `sample_flat`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from closeread.records import ColumnRecords, Record

NAMES = (
    *("id", "domain", "forum", "anchor", "anchor_text", "preposition", "complement", "complement_text"),
    "complement_coref_cluster_id",
)


def flatten(records: Sequence[Record]) -> ColumnRecords:
    """Return a row for each link, in the order of the documents and of their links."""
    return ColumnRecords.from_rows(NAMES, _rows(records))


def _rows(records: Sequence[Record]) -> Iterator[tuple[Any, ...]]:
    for record in records:
        texts = {np["id"]: np["text"] for np in record["nps"]}
        about = (record["id"], record.get("domain"), record.get("forum"))
        for link in record.get("np_relations") or ():
            anchor, complement = link["anchor"], link["complement"]
            ends = (anchor, texts[anchor], link["preposition"], complement, texts[complement])
            yield (*about, *ends, link["complement_coref_cluster_id"])
