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
    """

    def __init__(self, timelines: Iterable[Record], documents: Iterable[Record] = ()) -> None:
        super().__init__(timelines)
        self.documents: Sequence[Record] = tuple(documents)

    @cached_property
    def sentences(self) -> Mapping[str, Collection[int]]:
        """The sentence numbers of every document; empty if the documents are unknown."""
        numbers: dict[str, set[int]] = {}
        for document in self.documents:
            numbers.setdefault(document["id"], set()).update(document["sentences"])
        return numbers

    @cached_property
    def empty(self) -> Collection[str]:
        """The ids of timelines without entries."""
        return frozenset(record["id"] for record in self if not record["entries"])


def timelines_of(records: Sequence[Record]) -> Timelines:
    """Return the records as `Timelines`, with their documents if they have any."""
    return records if isinstance(records, Timelines) else Timelines(records)
