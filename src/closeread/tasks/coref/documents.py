"""Documents with coreference clusters, as columns: the result of every coreference reader.

Conventions: tokens of a document are numbered from 0 across its sentences, and a mention's end is its last token.
Entities are numbered from 0 over all documents, in order of first appearance; the entities of a document are
consecutive, and so are the mentions of an entity.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple, Protocol, TypeVar, overload

import numpy as np

from closeread import limits
from closeread.arrays import Ints, Mask
from closeread.exceptions import MAX_NAMES_SHOWN, join_names, quote
from closeread.records import Record
from closeread.tasks.coref.relations import Relations, select_layer

T = TypeVar("T")
Parts = tuple[tuple[int, int], ...]  # the first and the last token of each part of a mention

WITH_HEAD = 3  # the length of a mention with a head, ``[start, end, head]``
GENRE = "genre"
LAST_TOKEN = 2**31 - 1  # the highest number of a token that the schema allows


class Words(Protocol):
    """The words of documents, and their lines in the file.

    Some have a method `digest`, too, which returns a digest of a document's words, for comparison with words of the
    same class; different digests do not imply different words.
    """

    def __call__(self, document: int) -> Sequence[str]:
        """Return the tokens of a document, by its index; nothing if its rows have no words."""
        ...

    def packed(self, document: int) -> bytes:
        """Return the tokens as UTF-8, each followed by a line end, for comparison of two files."""
        ...

    def line_of(self, document: int, token: int) -> int:
        """Return the line of a token, from 1; 0 if it has none."""
        ...


class EmptyNode(NamedTuple):
    """A token that is an empty node."""

    token: int
    sentence: int  # its number in the document, from 0
    # the enhanced ones: the parent's token, -1 for the root; relation
    dependencies: Sequence[tuple[int, str]]


class TreeRow(NamedTuple):
    """A token with its part of speech, its part of a constituency tree, and its sentence in the document, from 0."""

    word: str
    tag: str
    cell: str
    sentence: int


@dataclass(frozen=True, eq=False)
class Trees:
    """The constituency trees of documents, both (n_documents,)."""

    rows: Sequence[Sequence[TreeRow]]  # the tokens
    digests: Sequence[bytes]  # of words, tags, trees and sentences


@dataclass(frozen=True, eq=False)
class MentionTable(Sequence[Record]):
    """The mentions of documents as columns; a sequence of records ``{"document", "clusters"}``.

    Mentions in records are ``[start, end]``, or ``[start, end, head]`` if the table has heads.
    """

    names: Sequence[str]  # (n_documents,)
    n_tokens: Ints | None  # (n_documents,); None if unknown (JSON Lines)
    document: Ints  # (n_mentions,), from 0, in ascending order
    start: Ints  # (n_mentions,) the first token
    end: Ints  # (n_mentions,) the last token
    entity: Ints  # (n_mentions,), from 0, in ascending order
    n_entities: int
    # of the discontinuous mentions, by index of the mention
    parts: Mapping[int, Parts] = field(default_factory=dict)
    head: Ints | None = None  # (n_mentions,) the head token; None if the format has no heads
    labels: Sequence[str] | None = None  # the ids of the entities in the file; None if it has none
    words: Words | None = None  # None if the format has no text
    # (n_documents,) the empty nodes of each; None if there are none
    empty: Sequence[Sequence[EmptyNode]] | None = None
    # the tokens of minimum spans, by mention
    minimum: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    trees: Trees | None = None  # None if they were not read
    # by name; "" is an unknown value
    mention_fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # such as the genre; "" if unknown
    document_fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # annotation beside identity; None if the format can't have it
    relations: Relations | None = None
    notices: Sequence[str] = ()  # of its reader, such as on annotation that is not scored
    # the documents without a response; they have no mentions here
    absent: frozenset[int] = frozenset()
    # the documents without a name in their file, whose names are numbers
    unnamed: frozenset[int] = frozenset()
    # (n_entities,) the place of each entity in the order in which the reference scorer meets them, of which the first
    # keeps a repeated mention; None if that is the order of their numbers.
    rank: Ints | None = None
    # (n_documents,) their files in the folder; empty if all are from one file
    files: Sequence[str] = ()

    # The names of the documents of files that were left out because of their errors; of a response, also the key's.
    broken: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.names)

    def select(self, rows: Mask) -> MentionTable:
        """Return the table with the mentions where the mask is true; entities keep their numbers."""
        return self.take(np.flatnonzero(rows))

    def without(self, names: Collection[str]) -> MentionTable:
        """Return the table without the mentions of some documents, by name."""
        if not names:
            return self
        others = [number for number, name in enumerate(self.names) if name not in names]
        return self.select(np.isin(self.document, others))

    def take(self, rows: Ints) -> MentionTable:
        """Return the table with these mentions in this order; entities keep their numbers."""
        order = rows.tolist()
        return replace(
            self,
            document=self.document[rows],
            start=self.start[rows],
            end=self.end[rows],
            entity=self.entity[rows],
            parts=_renumber(self.parts, order),
            minimum=_renumber(self.minimum, order),
            mention_fields={
                name: [values[i] for i in order] for name, values in self.mention_fields.items()
            },
            head=None if self.head is None else self.head[rows],
        )

    def parts_of(self, row: int) -> Parts:
        """Return the (start, end) of each part of a mention."""
        return self.parts.get(row) or ((int(self.start[row]), int(self.end[row])),)

    def label(self, row: int) -> str:
        """Return the id of a mention's entity in the file, or else its number in the document, from 0."""
        if self.labels is not None:
            return self.labels[int(self.entity[row])]
        return str(
            self.entity[row] - self.entity[np.searchsorted(self.document, self.document[row])]
        )

    def file_of(self, document: int) -> str | None:
        """Return the file of a document in its folder; None if all are from one file."""
        return self.files[document] if self.files else None

    def line_of(self, document: int, token: int) -> int | None:
        """Return the line of a token; None if it has none."""
        return None if self.words is None else self.words.line_of(document, token) or None

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        first, last = np.searchsorted(self.document, [number, number + 1]).tolist()
        columns = [self.start, self.end, *([] if self.head is None else [self.head])]
        rows = np.column_stack([column[first:last] for column in columns]).tolist()
        clusters: dict[int, list[list[int]]] = {}
        for entity, mention in zip(self.entity[first:last].tolist(), rows, strict=True):
            clusters.setdefault(entity, []).append(mention)
        return {"document": self.names[number], "clusters": list(clusters.values())}


def _renumber(values: Mapping[int, T], rows: Sequence[int]) -> dict[int, T]:
    return {new: values[old] for new, old in enumerate(rows) if old in values} if values else {}


@dataclass(frozen=True, eq=False)
class Document:
    """A document as a reader yields it; its columns are those of `MentionTable`, with numbers inside the document."""

    name: str
    n_tokens: int | None
    start: Ints
    end: Ints
    entity: Ints
    labels: Sequence[str] | None  # None if these are the numbers of the entities
    head: Ints | None = None
    parts: Mapping[int, Parts] = field(default_factory=dict)
    minimum: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    rank: Sequence[int] | None = None
    empty: Sequence[EmptyNode] = ()
    fields: dict[str, list[str]] = field(default_factory=dict)  # of mentions


def make_table(documents: Sequence[Document], **others: Any) -> MentionTable:
    """Join documents; `others` are further columns of the table.

    Numbers of tokens and heads are kept if all documents have them, and "" is the value of a field that one lacks.
    """
    n_entities = [int(one.entity.max(initial=-1)) + 1 for one in documents]
    entities = list(accumulate(n_entities, initial=0))
    mentions = list(accumulate((len(one.start) for one in documents), initial=0))
    ranks = [
        begin + i
        for one, n, begin in zip(documents, n_entities, entities, strict=False)
        for i in one.rank or range(n)
    ]
    lengths = [one.n_tokens for one in documents]
    heads = [one.head for one in documents if one.head is not None]
    fields = dict.fromkeys(name for one in documents for name in one.fields)
    labels = (
        map(str, range(n)) if one.labels is None else one.labels
        for one, n in zip(documents, n_entities, strict=True)
    )

    def number(values: Iterable[Mapping[int, T]]) -> dict[int, T]:
        return {
            n + i: value for of, n in zip(values, mentions, strict=False) for i, value in of.items()
        }

    def join(columns: Iterable[Ints]) -> Ints:
        return np.concatenate([np.zeros(0, np.int64), *columns])

    return MentionTable(
        names=[one.name for one in documents],
        n_tokens=None if None in lengths else np.array(lengths, np.int64),
        document=np.repeat(np.arange(len(documents)), np.diff(mentions)),
        start=join(one.start for one in documents),
        end=join(one.end for one in documents),
        entity=join(one.entity + n for one, n in zip(documents, entities, strict=False)),
        n_entities=entities[-1],
        labels=None
        if all(one.labels is None for one in documents)
        else list(chain.from_iterable(labels)),
        head=join(heads) if len(heads) == len(documents) else None,
        parts=number(one.parts for one in documents),
        minimum=number(one.minimum for one in documents),
        empty=[one.empty for one in documents] if any(one.empty for one in documents) else None,
        mention_fields={
            name: [
                value
                for one in documents
                for value in one.fields.get(name) or [""] * len(one.start)
            ]
            for name in fields
        },
        rank=None if ranks == list(range(len(ranks))) else np.array(ranks, np.int64),
        **others,
    )


def split_table(table: MentionTable) -> Iterator[Document]:
    """Split a table into its documents, which have heads if the table has them, or no mentions."""
    borders = np.searchsorted(table.document, np.arange(len(table) + 1)).tolist()
    head = table.head if len(table.document) else table.start
    for i, (first, last) in enumerate(pairwise(borders)):
        rows = slice(first, last)
        begin, end = (
            (int(table.entity[first]), int(table.entity[last - 1]) + 1) if first < last else (0, 0)
        )
        yield Document(
            name=table.names[i],
            n_tokens=None if table.n_tokens is None else int(table.n_tokens[i]),
            start=table.start[rows],
            end=table.end[rows],
            entity=table.entity[rows] - begin,
            labels=None if table.labels is None else table.labels[begin:end],
            head=None if head is None else head[rows],
            parts=_renumber(table.parts, range(first, last)),
            minimum=_renumber(table.minimum, range(first, last)),
            rank=None if table.rank is None else (table.rank[begin:end] - begin).tolist(),
            empty=table.empty[i] if table.empty else (),
            fields={name: list(values[rows]) for name, values in table.mention_fields.items()},
        )


class ListedWords:
    """The words of documents as lists, and the line of every token, if they have lines."""

    def __init__(self, words: Sequence[Sequence[str]], lines: Sequence[Sequence[int]] = ()) -> None:
        self._words, self._lines = words, lines

    def __call__(self, document: int) -> Sequence[str]:
        """Return the tokens of a document."""
        return self._words[document]

    def packed(self, document: int) -> bytes:
        """Return the tokens as UTF-8, each followed by a line end."""
        return "".join(f"{word}\n" for word in self._words[document]).encode("utf-8")

    def line_of(self, document: int, token: int) -> int:
        """Return the line of a token; 0 if it has none."""
        lines = self._lines[document] if self._lines else ()
        return lines[token] if token < len(lines) else 0


def merge_adjacent(parts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge parts that have no token between them."""
    runs: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if runs and start <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], max(end, runs[-1][1]))
        else:
            runs.append((start, end))
    return runs


def nth_token(parts: Sequence[tuple[int, int]], number: int) -> int:
    """Return a token of a mention by its number, from 1, which is not beyond the last."""
    token = parts[0][0] + number - 1
    for (_, end), (start, _) in pairwise(parts):
        if token > end:
            token += start - end - 1
    return token


def number_of_token(parts: Parts, token: int) -> int:
    """Return the number of a token among those of a mention, from 1."""
    return 1 + [t for start, end in parts for t in range(start, end + 1)].index(token)


def mention_table(
    names: Sequence[str], documents: Iterable[Sequence[Sequence[Sequence[Any]]]]
) -> MentionTable:
    """Convert nested lists, already validated, to columns: documents of clusters of ``[start, end]`` with heads or not.

    Raises:
        ValueError: some mentions have heads, and some have none.
    """
    documents = list(documents)
    clusters = list(chain.from_iterable(documents))
    mentions = list(chain.from_iterable(clusters))
    widths = set(map(len, mentions)) or {WITH_HEAD}
    if len(widths) > 1:
        raise ValueError(
            "some mentions have a head, and some have none (expected heads for all mentions or for none)"
        )
    return _make_columns(names, documents, clusters, mentions, list(chain.from_iterable(mentions)))


def _make_columns(
    names: Sequence[str],
    documents: Sequence[Any],
    clusters: Sequence[Any],
    mentions: Sequence[Any],
    numbers: Sequence[Any],
) -> MentionTable:
    width = len(mentions[0]) if mentions else WITH_HEAD
    columns = np.fromiter(numbers, np.int64, len(numbers)).reshape(-1, width).T
    document, entity = (
        np.repeat(np.arange(len(some)), np.fromiter(map(len, some), np.int64, len(some)))
        for some in (documents, clusters)
    )
    return MentionTable(
        names=names,
        n_tokens=None,
        document=document[entity],
        start=columns[0],
        end=columns[1],
        entity=entity,
        n_entities=len(clusters),
        head=columns[2] if width == WITH_HEAD else None,
    )


Documents = MentionTable | Sequence[Any]
"""Columns; or a list with one item per document: its entities, a record with them, or None."""


def table_of(documents: Documents) -> MentionTable:
    """Return documents as columns, with the lengths, words and genres of records that have them.

    A document without a name gets its number, from 0, as its name.
    """
    if isinstance(documents, MentionTable):
        return documents
    records = [document if isinstance(document, dict) else {} for document in documents]
    names = [str(record.get("document", i)) for i, record in enumerate(records)]
    absent = frozenset(i for i, document in enumerate(documents) if document is None)
    table = replace(mention_table(names, list_clusters(documents)), absent=absent)
    if all(record.get("n_tokens") is not None for record in records):
        table = replace(
            table, n_tokens=np.array([record["n_tokens"] for record in records], np.int64)
        )
    if records and all("sentences" in record for record in records):
        sentences = [[sentence["tokens"] for sentence in record["sentences"]] for record in records]
        words = [
            [token["form"] for token in chain.from_iterable(of_document)]
            for of_document in sentences
        ]
        table = replace(table, words=ListedWords(words))
    if any(record.get(GENRE) for record in records):
        table = replace(
            table, document_fields={GENRE: [record.get(GENRE) or "" for record in records]}
        )
    return table


def list_clusters(documents: Sequence[Any]) -> list[Any]:
    """Return the entities of each document; none for a document without a response."""
    return [
        document["clusters"] if isinstance(document, dict) else document or []
        for document in documents
    ]


def pack_clusters(documents: Sequence[Any]) -> MentionTable | None:
    """Convert the clusters of documents to columns if nothing about them is wrong, or has to be converted.

    Their names are numbers from 0.  All mentions have a head or none has one, no mention ends before it starts, and
    heads are inside their mentions; else, it returns None.
    """
    levels: list[Sequence[Any]] = [documents]
    for _ in range(3):
        if set(map(type, levels[-1])) - {list}:
            return None
        levels.append(list(chain.from_iterable(levels[-1])))
    _, clusters, mentions, numbers = levels
    if (
        set(map(type, numbers)) - {int}
        or set(map(len, mentions)) not in (set(), {2}, {WITH_HEAD})
        or not all(clusters)
    ):
        return None
    try:
        table = _make_columns(
            list(map(str, range(len(documents)))), documents, clusters, mentions, numbers
        )
    except OverflowError:
        return None
    head = table.start if table.head is None else table.head
    is_right = (
        (table.start >= 0) & (table.start <= head) & (head <= table.end) & (table.end <= LAST_TOKEN)
    )
    return replace(table, unnamed=frozenset(range(len(documents)))) if is_right.all() else None


def document_digests(table: MentionTable) -> list[bytes]:
    """Compute the sha256 of each document's clusters and heads; name, format and order of clusters don't matter."""
    borders = np.searchsorted(table.document, np.arange(len(table) + 1))
    order = np.lexsort((table.end, table.start, table.document))
    seen, first = np.unique(table.entity[order], return_index=True)
    number = np.empty(table.n_entities + 1, np.int64)
    # entities are numbered by their first mentions
    number[seen[np.argsort(first)]] = np.arange(len(seen))
    entity = number[table.entity]
    lowest = np.full(len(table), np.iinfo(np.int64).max)
    np.minimum.at(lowest, table.document, entity)
    columns = [
        table.start,
        table.end,
        entity - lowest[table.document],
        *([] if table.head is None else [table.head]),
    ]
    rows = np.column_stack(columns)
    rows = rows[np.lexsort((*rows.T[::-1], table.document))].astype("<i8")
    parts: dict[int, list[list[list[int]]]] = {}
    for row, spans in table.parts.items():
        parts.setdefault(int(table.document[row]), []).append(
            [list(map(int, span)) for span in spans]
        )
    texts = {
        document: json.dumps(sorted(spans, key=str)).encode() for document, spans in parts.items()
    }
    data, width = rows.tobytes(), rows.itemsize * rows.shape[1]
    return [
        hashlib.sha256(data[start * width : end * width] + texts.get(document, b"[]")).digest()
        for document, (start, end) in enumerate(pairwise(borders.tolist()))
    ]


class CountedNotice(str):
    """A notice on things of a file that were counted; those of several files are added up.

    Attributes:
        describe: words the notice, given the counts; notices of one kind share it.
        counts: the numbers, by what was counted.
        example: the place of the first of these things; empty if there is none to name.
    """

    describe: Callable[[Mapping[str, int]], str]
    counts: Mapping[str, int]
    example: str


def count_notice(
    describe: Callable[[Mapping[str, int]], str], counts: Mapping[str, int], example: str = ""
) -> CountedNotice:
    """Return a notice on what was counted in a file."""
    text = describe(counts)
    if example:
        text += f" (first: {example})"
    notice = CountedNotice(text)
    notice.describe = describe
    notice.counts = counts
    notice.example = example
    return notice


def fold_notices(tables: Mapping[str, MentionTable]) -> list[str]:
    """Return each kind of notice once, with the files that it is about and the sums of its counts."""
    files_by_kind: dict[object, dict[str, str]] = {}
    for file, table in tables.items():
        for notice in table.notices:
            kind = notice.describe if isinstance(notice, CountedNotice) else notice
            files_by_kind.setdefault(kind, {})[file] = notice
    folded = []
    for notices in files_by_kind.values():
        files = join_names(list(notices))
        if len(notices) > MAX_NAMES_SHOWN:
            files += f" ({len(notices):,} files)"
        folded.append(f"{files}: {_add_up(notices)}")
    return folded


def _add_up(notices: Mapping[str, str]) -> str:
    """Return one notice for those of one kind, by file."""
    first_file, first = next(iter(notices.items()))
    if not isinstance(first, CountedNotice) or len(notices) == 1:
        return first
    sums: Counter[str] = Counter()
    for notice in notices.values():
        if isinstance(notice, CountedNotice):
            sums.update(notice.counts)
    example = f"{first.example} of {quote(first_file)}" if first.example else ""
    return count_notice(first.describe, sums, example)


def join_tables(tables: Mapping[str, MentionTable]) -> MentionTable:
    """Join the documents of several files, whose names differ, given by the file's path in its folder.

    Heads, numbers of tokens and relations are kept if all files have them.
    """
    parts = list(tables.values())
    starts = accumulate(map(len, parts), initial=0)
    fields = dict.fromkeys(name for table in parts for name in table.document_fields)
    relations = [table.relations for table in parts if table.relations is not None]
    layer = None
    if any(one.discourse_deixis is not None for one in relations) and len(relations) == len(parts):
        layer = join_tables(
            {file: select_layer(table, "discourse_deixis") for file, table in tables.items()}
        )
    by_name = {name: found for one in relations for name, found in one.documents.items()}
    return make_table(
        [document for table in parts for document in split_table(table)],
        words=None
        if all(table.words is None for table in parts)
        else JoinedWords([find_words(table, i) for table in parts for i in range(len(table))]),
        relations=Relations(by_name, layer) if len(relations) == len(parts) else None,
        document_fields={
            name: [
                value
                for table in parts
                for value in table.document_fields.get(name) or [""] * len(table)
            ]
            for name in fields
        },
        notices=fold_notices(tables),
        unnamed=frozenset(
            start + i for table, start in zip(parts, starts, strict=False) for i in table.unnamed
        ),
        files=[file for file, table in tables.items() for _ in table.names],
        broken=frozenset().union(*(table.broken for table in parts)),
    )


class JoinedWords:
    """The words of documents of several files, if these have any; lines are those of the file."""

    def __init__(self, places: Sequence[tuple[Words | None, int]]) -> None:
        self.places = places  # the words of each document's file, and the document's number there

    def __call__(self, document: int) -> Sequence[str]:
        """Return the tokens of a document."""
        words, place = self.places[document]
        return () if words is None else words(place)

    def packed(self, document: int) -> bytes:
        """Return the tokens as UTF-8, each followed by a line end."""
        words, place = self.places[document]
        return b"" if words is None else words.packed(place)

    def line_of(self, document: int, token: int) -> int:
        """Return the line of a token; 0 if it has none."""
        words, place = self.places[document]
        return 0 if words is None else words.line_of(place, token)


def are_known(words: Sequence[str]) -> bool:
    """Return whether any word of a document is known; CoNLL and CoNLL-U have ``_`` where words are not."""
    return not {"_"}.issuperset(words)


def find_words(table: MentionTable, document: int) -> tuple[Words | None, int]:
    """Return the words of a document's file, and the document's number there."""
    words = table.words
    return words.places[document] if isinstance(words, JoinedWords) else (words, document)


def reorder(key: MentionTable, response: MentionTable) -> MentionTable:
    """Return the response with the documents of the key, in the key's order; those that it lacks have no mentions."""
    if list(response.names) == list(key.names):
        return response
    given = {document.name: (i, document) for i, document in enumerate(split_table(response))}
    none = np.zeros(0, np.int64)
    n_tokens = None if response.n_tokens is None else 0
    documents, places = [], []
    for name in key.names:
        place, document = given.get(name) or (
            None,
            Document(name, n_tokens, none, none, none, None, head=none),
        )
        documents.append(document)
        places.append((None, 0) if place is None else find_words(response, place))
    return make_table(
        documents,
        words=JoinedWords(places) if response.words else key.words,
        relations=response.relations,
        notices=response.notices,
        broken=response.broken,
        absent=frozenset(i for i, name in enumerate(key.names) if name not in given),
    )


def list_lengths(table: MentionTable, kind: str) -> list[int]:
    """Return the number of tokens of each document, to make a row for each in a file, which messages call `kind`.

    Raises:
        ValueError: it is unknown; or without their words, which take memory themselves, documents are said to have more
            than `limits.MAX_TOKENS` together.
    """
    if table.n_tokens is None:
        raise ValueError(f"{kind} has a row for every token, but the number of tokens is unknown")
    lengths: list[int] = table.n_tokens.tolist()
    if table.words is None and sum(lengths) > limits.MAX_TOKENS:
        longest = max(range(len(lengths)), key=lengths.__getitem__)
        most = f"most: {quote(table.names[longest])}, {lengths[longest]:,}"
        found = f"the documents have {sum(lengths):,} tokens ({most})"
        raise ValueError(
            f"{kind} has a row for every token: {found}, but no words (limit: {limits.MAX_TOKENS:,})"
        )
    return lengths


GENRE_IN_NAME = re.compile(
    r"(?P<ontonotes>bc|bn|mz|nw|pt|tc|wb)/.+"  # OntoNotes, as in CoNLL-2011 and 2012
    r"|(?:GUM|GENTLE|AMALGUM)_(?P<gum>[A-Za-z]+)_.+",  # GUM and its sister corpora
    re.DOTALL,
)


def find_genre(name: str) -> str:
    """Return the genre in a document's name; empty if the name has none.

    >>> find_genre("bn/cnn/00/cnn_0001; part 000"), find_genre("GUM_academic_art"), find_genre("ferry")
    ('bn', 'academic', '')
    """
    found = GENRE_IN_NAME.fullmatch(name)
    return found[found.lastgroup or 0] if found else ""
