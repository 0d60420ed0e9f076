"""Large files of TNE: columns from some documents or rows at a time, so that not all of them are objects at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, chain
from typing import Any

import numpy as np

from closeread.arrays import Ints
from closeread.coded_columns import PackedTexts
from closeread.formats.stored_lines import StoredRecords, UnfitError
from closeread.records import Record
from closeread.tasks.tne.columns import Clusters, Documents, Links, NounPhrases, SystemRows, documents_of

NEEDED = ("id", "text", "tokens", "nps", "coref", "np_relations")
"""The fields that all documents must have, since rules are not checked for the others."""

KEPT = ("id", "text", "domain", "forum")
"""The fields that are kept as they are."""


class StoredDocuments(Documents):
    """Documents with their columns, which become records when they are asked for.

    Args:
        stored: the records.
        batches: the same records, some at a time, valid.

    Raises:
        UnfitError: a document lacks a field.
    """

    def __init__(self, stored: StoredRecords, batches: Iterable[Documents]) -> None:
        super().__init__(stored)
        self._stored = stored
        names: dict[str | None, str | None] = {}
        parts = [_Part(batch, names) for batch in batches]
        self._kept = {name: list(chain.from_iterable(part.kept[name] for part in parts)) for name in KEPT}
        self.sizes = np.concatenate([part.sizes for part in parts])
        first = list(accumulate((len(part.sizes) for part in parts), initial=0))
        self.links = join_links([part.links for part in parts], first)
        self.noun_phrases = _join_noun_phrases([part.noun_phrases for part in parts], [part.words for part in parts])
        self.clusters = _join_clusters([part.clusters for part in parts], first)
        self.is_cut = np.concatenate([part.is_cut for part in parts])
        self.is_padded = np.concatenate([part.is_padded for part in parts])
        self.without_last_token = [
            (begin + index, name)
            for begin, part in zip(first, parts, strict=False)
            for index, name in part.without_last_token
        ]

    def column(self, name: str) -> Sequence[Any]:
        """Return a field of every document, None where it is missing; most fields have to be parsed again."""
        return self._kept[name] if name in self._kept else super().column(name)

    def lacks(self, *names: str) -> bool:
        """Return whether a document lacks one of these fields."""
        return super().lacks(*(name for name in names if name not in NEEDED))

    @cached_property
    def sentence(self) -> Ints:
        """(n,) the sentence in which a noun phrase begins, numbered uniquely within its document; see `Documents`."""
        return np.concatenate([Documents(batch).sentence for batch in self._stored.batches()])


class _Part:
    """What is kept of some documents: nothing that refers to a record, and few strings.

    Strings that are kept would stay scattered among those that go, which slows down all that come.

    Args:
        documents: the documents.
        names: the ids and types of clusters; new ones are added, so that equal ones are one object.
    """

    def __init__(self, documents: Documents, names: dict[str | None, str | None]) -> None:
        if documents.lacks(*NEEDED):
            raise UnfitError
        self.kept = {name: documents.column(name) for name in KEPT}
        self.sizes = documents.sizes
        self.links = documents.links
        self.words = PackedTexts.pack(documents.noun_phrases.text)
        self.noun_phrases = replace(documents.noun_phrases, text=())
        clusters = documents.clusters
        kinds = [names.setdefault(kind, kind) for kind in clusters.kind]
        self.clusters = replace(clusters, ids=[names.setdefault(name, name) or "" for name in clusters.ids], kind=kinds)
        self.is_cut = documents.is_cut
        self.is_padded = documents.is_padded
        self.without_last_token = documents.without_last_token


def join_links(parts: Sequence[Links], first: Sequence[int]) -> Links:
    """Return the links of several parts, given the number of the first document of each."""
    return Links(
        _shift([part.document for part in parts], first),
        np.concatenate([part.anchor for part in parts]),
        np.concatenate([part.complement for part in parts]),
        np.concatenate([part.label for part in parts]),
    )


def _shift(parts: Sequence[Ints], first: Sequence[int]) -> Ints:
    """Return the numbers of several parts, given what to add to those of each."""
    return np.concatenate([part + begin for part, begin in zip(parts, first, strict=False)])


def _join_noun_phrases(parts: Sequence[NounPhrases], words: Sequence[PackedTexts]) -> NounPhrases:
    first = list(accumulate(map(len, words), initial=0))
    return NounPhrases(
        np.concatenate([[0], _shift([part.starts[1:] for part in parts], first)]),
        np.concatenate([part.first_char for part in parts]),
        np.concatenate([part.last_char for part in parts]),
        np.concatenate([part.first_token for part in parts]),
        np.concatenate([part.last_token for part in parts]),
        PackedTexts.join(words),
    )


def _join_clusters(parts: Sequence[Clusters], first: Sequence[int]) -> Clusters:
    before = list(accumulate((len(part.ids) for part in parts), initial=0))
    return Clusters(
        _shift([part.document for part in parts], first),
        list(chain.from_iterable(part.ids for part in parts)),
        list(chain.from_iterable(part.kind for part in parts)),
        _shift([part.member_of for part in parts], before),
        np.concatenate([part.member for part in parts]),
    )


def unite_documents(batches: Iterable[Sequence[Record]], stored: StoredRecords) -> StoredDocuments:
    """Return the documents of a file, from some at a time, with their columns.

    Raises:
        UnfitError: a document lacks a field.
    """
    return StoredDocuments(stored, map(documents_of, batches))


def unite_rows(batches: Iterable[Sequence[Record]], stored: Sequence[Record]) -> SystemRows:
    """Return the rows of a submission with their columns, from some at a time."""
    parts = [(rows.ids, rows.links, rows.fallback) for rows in map(SystemRows, batches)]
    first = list(accumulate((len(ids) for ids, _, _ in parts), initial=0))
    rows = SystemRows(stored)
    rows.ids = list(chain.from_iterable(ids for ids, _, _ in parts))
    rows.present = np.ones(len(rows.ids), np.bool_)
    rows.links = join_links([links for _, links, _ in parts], first)
    rows.fallback = join_links([fallback for _, _, fallback in parts], first)
    return rows
