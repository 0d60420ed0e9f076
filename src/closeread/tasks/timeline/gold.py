"""Gold timelines together with the documents that they are about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from closeread.records import Record


class Timelines(list[Record]):
    """Gold timelines, and the documents of their split.

    Args:
        timelines: the records.
        documents: the documents (`closeread.tasks.timeline.cat_xml`); none where they are not known.

    Attributes:
        documents: the same.
    """

    def __init__(self, timelines: Iterable[Record], documents: Iterable[Record] = ()) -> None:
        super().__init__(timelines)
        self.documents: Sequence[Record] = tuple(documents)

    @cached_property
    def sentences(self) -> Mapping[str, Collection[int]]:
        """The numbers of the sentences of every document; empty where the documents are not known."""
        numbers: dict[str, set[int]] = {}
        for document in self.documents:
            numbers.setdefault(document["id"], set()).update(document["sentences"])
        return numbers

    @cached_property
    def empty(self) -> Collection[str]:
        """The ids of the timelines without an entry."""
        return frozenset(record["id"] for record in self if not record["entries"])


def timelines_of(records: Sequence[Record]) -> Timelines:
    """The records with their documents, where they have any."""
    return records if isinstance(records, Timelines) else Timelines(records)
