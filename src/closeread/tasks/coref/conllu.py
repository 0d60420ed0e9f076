"""CoNLL-U files with coreference in the annotation of CorefUD, or of GUM.

Conventions: tokens are words and empty nodes (``3.1``), in the order of the file, an empty node with the word ``_``;
lines of multiword tokens (``3-4``) are no tokens.  The mentions are in the last column as ``Entity=``
(`closeread.tasks.coref.conllu_entities`).  Their fields are declared by ``# global.Entity``: `eid` is the entity's id,
`GRP` (in GUM) the same; ids belong to their document.  `head` is the number of the mention's head among its tokens,
from 1; the default is the first token.  Bridging and split antecedents are counted, and otherwise ignored.  A mention
may cross the end of a sentence.

For speed, no loop looks at single bytes of a valid file: lines, cells and Entity values are found with NumPy, a
block at a time.  Large files are never in memory as a whole; if one has a problem, it is read again at once to find all
of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from closeread import limits
from closeread.arrays import Ints
from closeread.exceptions import FormatError
from closeread.formats import Format
from closeread.formats.stored_text import HeldText, Text, find_begin, iterate_parts, open_large
from closeread.formats.text import read_bytes
from closeread.records import Parsed
from closeread.tasks.coref.columns import LazyField, MentionTable
from closeread.tasks.coref.conllu_cells import SmallInts
from closeread.tasks.coref.conllu_headers import Document
from closeread.tasks.coref.conllu_mentions import Mentions
from closeread.tasks.coref.conllu_reader import Reader
from closeread.tasks.coref.conllu_rows import (
    EMPTY,
    FORM,
    RANGE,
    UPOS,
    Rows,
    check_text,
    join_texts,
    split_blocks,
    split_text,
)
from closeread.tasks.coref.conllu_writer import dump_conllu
from closeread.tasks.coref.coref_json import table_of
from closeread.tasks.coref.document_genre import find_genre

BATCH = 2**16
"""From how many pieces of ``Entity=`` values on mentions are found, as soon as a document ends."""


def read_conllu(path: Path) -> MentionTable:
    """Read the documents of a CoNLL-U file.

    Returns:
        The mentions of an entity in the order in which they open; the ids of the file as labels.

    Raises:
        FormatError: the file is not text or not valid CoNLL-U, with all its problems.
    """
    return _read(path)[0]


def read_records(path: Path, split: str) -> Parsed:
    """The same, each with the line on which its document begins; names are the file's, whatever the split."""
    del split
    table, documents = _read(path)
    return Parsed(table, [document.header for document in documents], [])


def _read(path: Path) -> tuple[MentionTable, Sequence[Document]]:
    if (stored := open_large(path)) is not None:
        with suppress(FormatError):  # what is wrong is found in the order of the file if all of it is read at once
            return _read_parts(path, stored, iterate_parts(stored, 0, stored.size), BATCH)
    data = read_bytes(path)
    return _read_parts(path, HeldText(data), [(0, data)], None)


def _read_parts(
    path: Path, text: Text, parts: Iterable[tuple[int, bytes]], batch: int | None
) -> tuple[MentionTable, Sequence[Document]]:
    """Read the parts of a file; with a batch, no further than to the first problem."""
    begin = find_begin(text)
    reader = Reader(text, begin, batch)
    enough = limits.MAX_PROBLEMS if batch is None else 0
    line = 1
    for position, data in parts:
        check_text(path, data)
        for rows in split_blocks(data, 0 if position else begin, len(data), line, position):
            reader.take(rows)
            line += len(rows.end)
            if reader.problems.total > enough:  # counting the problems of a gigabyte of garbage helps nobody
                reader.problems.raise_any(path)
    return _make_table(path, text, reader)


def _make_table(path: Path, text: Text, reader: Reader) -> tuple[MentionTable, Sequence[Document]]:
    reader.finish()
    mentions = reader.misc.finish()
    empty = None if reader.problems.total else reader.empty_nodes.finish(len(reader.headers.documents))
    reader.problems.raise_any(path)
    if mentions is None:
        raise AssertionError(f"{path}: invalid, but no problem was found")
    documents = reader.headers.documents
    n_tokens = np.array(reader.n_tokens, np.int64)
    words = ConlluWords(text, documents, reader.digests)
    fields = _Fields(words, n_tokens, mentions)
    every = np.arange(len(mentions.start))
    genres = [find_genre(document.name) for document in documents]
    table = MentionTable(
        names=[document.name for document in documents],
        n_tokens=n_tokens,
        document=mentions.document,
        start=mentions.start,
        end=mentions.end,
        entity=mentions.entity,
        n_entities=len(mentions.labels),
        parts=mentions.parts,
        head=mentions.head,
        labels=mentions.labels,
        words=words,
        empty=empty,
        mention_fields={
            "pos": LazyField(fields.read_pos, every),
            **({"type": LazyField(fields.read_types, every)} if reader.misc.has_types else {}),
        },
        document_fields={"genre": genres} if any(genres) else {},
        unnamed=frozenset(i for i, document in enumerate(documents) if document.is_numbered),
        notices=list(reader.misc.relations.describe()),
    )
    return table, documents


class ConlluWords:
    """The words of a file's documents, decoded on demand."""

    def __init__(self, text: Text, documents: Sequence[Document], digests: Sequence[bytes]) -> None:
        self._text, self._documents, self._digests = text, documents, digests
        self._lines: tuple[int, Ints] | None = None

    def __call__(self, document: int) -> Sequence[str]:
        """Return the tokens of a document."""
        return self.packed(document).decode().split("\n")[:-1]

    def packed(self, document: int) -> bytes:
        """Return the tokens as UTF-8, each followed by a line end."""
        return b"".join(map(_pack_words, self._rows(document)))

    def digest(self, document: int) -> bytes:
        """Return a digest of the words: equal digests mean equal words, unequal ones may too."""
        return self._digests[document]

    def line_of(self, document: int, token: int) -> int:
        """Return the line of a token, from 1; the lines of a document are kept for the next call."""
        if self._lines is None or self._lines[0] != document:
            self._lines = document, self.lines(document)
        return int(self._lines[1][token])

    def lines(self, document: int) -> Ints:
        """Return the line of every token, from 1."""
        found = [rows.lines[rows.kind < RANGE] + rows.line for rows in self._rows(document)]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def cut_out(self, begin: SmallInts, end: SmallInts) -> list[str]:
        """Return parts of rows, by their positions in the file."""
        order = np.argsort(begin, kind="stable")
        begin, end = begin[order], end[order]
        found: list[str] = []
        for position, data in iterate_parts(self._text, self._documents[0].begin, self._text.size):
            here = slice(*np.searchsorted(begin, [position, position + len(data)]))
            places = (column[here].astype(np.int64) - position for column in (begin, end))
            found += join_texts(np.frombuffer(data, np.uint8), *places).decode().split("\n")[:-1]
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return [found[i] for i in place.tolist()]

    def all_rows(self) -> Iterator[Rows]:
        """Return the rows of all documents."""
        return split_text(self._text, self._documents[0].begin, self._text.size, self._documents[0].line)

    def _rows(self, document: int) -> Iterator[Rows]:
        place, *after = self._documents[document : document + 2]
        return split_text(self._text, place.begin, after[0].begin if after else self._text.size, place.line)


def _pack_words(rows: Rows) -> bytes:
    chosen = np.flatnonzero(rows.kind < RANGE)
    begin, end = rows.cells(FORM, chosen)
    raw, is_empty = rows.raw, rows.kind[chosen] == EMPTY
    if is_empty.any():
        begin, end = np.where(is_empty, len(raw), begin), np.where(is_empty, len(raw) + 1, end)
        raw = np.append(raw, np.frombuffer(b"_\n", np.uint8))
    return join_texts(raw, begin, end)


class _Fields:
    """The fields of the mentions of a file, which few users need."""

    def __init__(self, words: ConlluWords, n_tokens: Ints, mentions: Mentions) -> None:
        self._words, self._mentions = words, mentions
        self._head = (np.cumsum(n_tokens) - n_tokens)[mentions.document] + mentions.head

    def read_types(self, mentions: Ints) -> Sequence[str]:
        """Return the types of the mentions' entities."""
        return self._words.cut_out(self._mentions.type_begin[mentions], self._mentions.type_end[mentions])

    def read_pos(self, mentions: Ints) -> Sequence[str]:
        """Return the universal parts of speech of the mentions' heads."""
        token, which = np.unique(self._head[mentions], return_inverse=True)
        found: list[str] = []
        n_before = 0
        for rows in self._words.all_rows():
            is_token = rows.kind < RANGE
            chosen = np.flatnonzero(is_token)
            n_after = n_before + len(chosen)
            first, last = np.searchsorted(token, [n_before, n_after])
            text = join_texts(rows.raw, *rows.cells(UPOS, chosen[token[first:last] - n_before]))
            found += text.decode().split("\n")[:-1]
            n_before = n_after
        return ["" if found[i] == "_" else found[i] for i in which.tolist()]


FORMAT = Format(
    read_records,
    lambda records: dump_conllu(table_of(records)),
    suffixes=(".conllu",),
    first_line=re.compile(r"#\s*(?:global\.|newdoc|newpar|sent_id|text\b|generator\b|meta::)", re.ASCII),
)
