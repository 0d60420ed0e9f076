"""Gold timelines with their documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from closeread.records import Record


class Timelines(list[Record]):
    """Gold timelines, and the documents of their split.

    Args:
        timelines: the records.
        documents: the documents (`closeread.tasks.timeline.cat_xml`); empty if unknown.
        splits: for the timelines of several splits, those of each split; their ids begin with the split and a slash.
    """

    def __init__(
        self,
        timelines: Iterable[Record],
        documents: Iterable[Record] = (),
        splits: Mapping[str, Timelines] | None = None,
    ) -> None:
        super().__init__(timelines)
        self.documents: Sequence[Record] = tuple(documents)
        self.splits: Mapping[str, Timelines] = splits or {}

    @cached_property
    def sentences(self) -> Mapping[str, Collection[int]]:
        """The sentence numbers of every document; empty if the documents are unknown."""
        numbers: dict[str, set[int]] = {}
        for document in self.documents:
            numbers.setdefault(document["id"], set()).update(document["sentences"])
        return numbers

    @cached_property
    def empty(self) -> Collection[str]:
        """The ids of timelines without entries; one whose entries are unknown is not among them."""
        return frozenset(record["id"] for record in self if not record.get("entries", True))

    def split_of(self, name: str) -> Timelines:
        """Return the timelines of the split to which the timeline with this id belongs."""
        return self.splits.get(name.rpartition("/")[0], self)


def timelines_of(records: Sequence[Record]) -> Timelines:
    """Return the records as `Timelines`, with their documents if they have any."""
    return records if isinstance(records, Timelines) else Timelines(records)


def unite(splits: Mapping[str, Sequence[Record]]) -> Timelines:
    """Return the timelines of several splits together.

    Corpora have timelines of the same entities, so an id begins with its split and a slash.
    """
    parts = {split: timelines_of(records) for split, records in splits.items()}
    return Timelines(
        ({**record, "id": f"{split}/{record['id']}"} for split, part in parts.items() for record in part),
        (document for part in parts.values() for document in part.documents),
        parts,
    )
