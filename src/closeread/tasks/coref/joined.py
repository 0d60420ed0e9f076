"""Documents of several files as one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import TypeVar

import numpy as np

from closeread.arrays import Ints
from closeread.exceptions import join_names
from closeread.tasks.coref.columns import EmptyNodes, MentionTable, Words
from closeread.tasks.coref.relations import Relations, select_layer

T = TypeVar("T")


def join_tables(tables: Mapping[str, MentionTable]) -> MentionTable:
    """Join the documents of several files, whose names differ.

    Heads, numbers of tokens and relations are kept if all files have them.

    Args:
        tables: the documents of each file, by the file's path in its folder.
    """
    parts = list(tables.values())
    documents = _starts(parts, len)
    entities = _starts(parts, lambda table: table.n_entities)
    mentions = _starts(parts, lambda table: len(table.document))
    return MentionTable(
        names=_chain(table.names for table in parts),
        n_tokens=_concatenate_all([table.n_tokens for table in parts]),
        document=_shift([table.document for table in parts], documents),
        start=np.concatenate([table.start for table in parts]),
        end=np.concatenate([table.end for table in parts]),
        entity=_shift([table.entity for table in parts], entities),
        n_entities=sum(table.n_entities for table in parts),
        parts=_renumber([table.parts for table in parts], mentions),
        # Without mentions, a file has no heads even if its format does.
        head=_concatenate_all([table.head if len(table.document) else table.start for table in parts]),
        labels=_chain(map(_list_labels, parts)) if any(table.labels is not None for table in parts) else None,
        words=_join_words(parts),
        empty=_join_empty_nodes(parts, documents),
        minimum=_renumber([table.minimum for table in parts], mentions),
        relations=_join_relations(tables),
        mention_fields=_join_fields(parts, lambda table: table.mention_fields, lambda table: len(table.document)),
        document_fields=_join_fields(parts, lambda table: table.document_fields, len),
        notices=_join_notices(tables),
        rank=_join_ranks(parts, entities),
        unnamed=frozenset(start + i for table, start in zip(parts, documents, strict=True) for i in table.unnamed),
        files=_chain([file] * len(table) for file, table in tables.items()),
    )


class JoinedWords:
    """The words of documents of several files; lines are those of their file.

    Args:
        places: the words of each document's file, and the document's number there.
    """

    def __init__(self, places: Sequence[tuple[Words | None, int]]) -> None:
        self._places = places

    def __call__(self, document: int) -> Sequence[str]:
        """Return the tokens of a document; nothing if its file has no words."""
        words, place = self._places[document]
        return () if words is None else words(place)

    def packed(self, document: int) -> bytes:
        """Return the same as UTF-8, each followed by a line end."""
        words, place = self._places[document]
        return b"" if words is None else words.packed(place)

    def line_of(self, document: int, token: int) -> int:
        """Return the line of a token in its file, from 1; 0 if the file has no words."""
        words, place = self._places[document]
        return 0 if words is None else words.line_of(place, token)

    def source(self, document: int) -> tuple[Words | None, int]:
        """Return the words of a document's file, and the document's number there."""
        return self._places[document]


def find_words(table: MentionTable, document: int) -> tuple[Words | None, int]:
    """Return the words of a document's file, and the document's number there."""
    words = table.words
    return words.source(document) if isinstance(words, JoinedWords) else (words, document)


def _join_words(tables: Sequence[MentionTable]) -> JoinedWords | None:
    """Return the words of the documents of several files; None if no file has any."""
    if all(table.words is None for table in tables):
        return None
    return JoinedWords([find_words(table, i) for table in tables for i in range(len(table))])


def _join_notices(tables: Mapping[str, MentionTable]) -> list[str]:
    """Return each notice once, with the files that it is about."""
    files: dict[str, list[str]] = {}
    for file, table in tables.items():
        for notice in table.notices:
            files.setdefault(notice, []).append(file)
    return [f"{join_names(names)}: {notice}" for notice, names in files.items()]


def _join_relations(tables: Mapping[str, MentionTable]) -> Relations | None:
    relations = [table.relations for table in tables.values() if table.relations is not None]
    if len(relations) < len(tables):
        return None
    layer = None
    if any(one.discourse_deixis is not None for one in relations):
        layer = join_tables({file: select_layer(table, "discourse_deixis") for file, table in tables.items()})
    return Relations({name: found for one in relations for name, found in one.documents.items()}, layer)


def _starts(tables: Sequence[MentionTable], size: Callable[[MentionTable], int]) -> list[int]:
    """Return what comes before each table, given the size of each."""
    return list(accumulate(map(size, tables), initial=0))[:-1]


def _shift(columns: Sequence[Ints], starts: Sequence[int]) -> Ints:
    return np.concatenate([column + start for column, start in zip(columns, starts, strict=True)])


def _concatenate_all(columns: Sequence[Ints | None]) -> Ints | None:
    """Concatenate columns; None if one is missing."""
    present = [column for column in columns if column is not None]
    return np.concatenate(present) if len(present) == len(columns) else None


def _renumber(values: Sequence[Mapping[int, T]], starts: Sequence[int]) -> dict[int, T]:
    return {start + i: value for one, start in zip(values, starts, strict=True) for i, value in one.items()}


def _chain(lists: Iterable[Sequence[T]]) -> list[T]:
    return list(chain.from_iterable(lists))


def _join_ranks(tables: Sequence[MentionTable], starts: Sequence[int]) -> Ints | None:
    """Concatenate the ranks of entities; None if no file has any."""
    if all(table.rank is None for table in tables):
        return None
    return _shift([np.arange(table.n_entities) if table.rank is None else table.rank for table in tables], starts)


def _list_labels(table: MentionTable) -> Sequence[str]:
    """Return the id of each entity, or its number in the document if the file has no ids."""
    if table.labels is not None:
        return table.labels
    rows = np.searchsorted(table.entity, np.arange(table.n_entities))
    return [table.label(row) for row in rows.tolist()]


def _join_fields(
    tables: Sequence[MentionTable],
    fields: Callable[[MentionTable], Mapping[str, Sequence[str]]],
    size: Callable[[MentionTable], int],
) -> dict[str, Sequence[str]]:
    """Join the values of fields, "" where a file has no such field."""
    names = dict.fromkeys(chain.from_iterable(map(fields, tables)))
    return {name: _chain(fields(table).get(name, [""] * size(table)) for table in tables) for name in names}


def _join_empty_nodes(tables: Sequence[MentionTable], starts: Sequence[int]) -> EmptyNodes | None:
    present = [(table.empty, start) for table, start in zip(tables, starts, strict=True) if table.empty is not None]
    if not present:
        return None
    return EmptyNodes(
        np.concatenate([nodes.document + start for nodes, start in present]),
        np.concatenate([nodes.token for nodes, _ in present]),
        np.concatenate([nodes.sentence for nodes, _ in present]),
        _chain(nodes.dependencies for nodes, _ in present),
    )
