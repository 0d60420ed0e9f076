"""The words and other columns of the documents of CoNLL files, read again when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints
from closeread.formats.stored_text import Text
from closeread.tasks.coref.conll_rows import Rows, fill_empty_cells, pack_cells, split_text


class Document(NamedTuple):
    """The position of a document in the bytes of the file.

    Attributes:
        name: its name.
        line: the line after ``#begin``.
        begin, end: the begin of its first line and the end of its last.
        width: the number of cells of its rows.
        word_cell: the cell of the word, from 0; -1 if there is none.
        n_tokens: the number of its tokens.
        words: a digest of its words and the blanks after them; equal digests mean equal words.
    """

    name: str
    line: int
    begin: int
    end: int
    width: int
    word_cell: int
    n_tokens: int
    words: bytes


class ConllWords:
    """The words of a file's documents, decoded on demand."""

    def __init__(self, text: Text, documents: Sequence[Document]) -> None:
        self._text = text
        self._documents = documents
        self._lines: tuple[int, Ints] | None = None

    def __call__(self, document: int) -> Sequence[str]:
        """Return the tokens of a document."""
        return self.packed(document).decode("utf-8").split("\n")[:-1]

    def packed(self, document: int) -> bytes:
        """Return the tokens as UTF-8, each followed by a line end."""
        cell = self._documents[document].word_cell
        return b"".join(pack_cells(rows, cell) for rows in self._rows(document)) if cell >= 0 else b""

    def digest(self, document: int) -> bytes:
        """Return a digest of the words: equal digests mean equal words, unequal ones may too."""
        return self._documents[document].words

    def line_of(self, document: int, token: int) -> int:
        """Return the line of a token, from 1; the lines of a document are kept for the next call."""
        if self._lines is None or self._lines[0] != document:
            self._lines = document, self.lines(document)
        return int(self._lines[1][token])

    def read_rows(self, document: int) -> list[list[str]]:
        """Return the rows of each sentence without the cell of the mentions, cells separated by tabs.

        Rows that have no other cell are empty.
        """
        width = self._documents[document].width - 1
        found = self.read_columns(document, range(width)) if width > 0 else None
        if found is None:
            return [[""] * self._documents[document].n_tokens]
        rows, sentences = zip(*found[0], strict=True), found[1].tolist()
        return [
            ["\t".join(row) for row, _ in of_sentence]
            for _, of_sentence in groupby(zip(rows, sentences, strict=True), key=lambda item: item[1])
        ]

    def lines(self, document: int) -> Ints:
        """Return the line of every token, from 1."""
        found = [np.flatnonzero(rows.is_token) + rows.line for rows in self._rows(document)]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def read_columns(self, document: int, cells: Sequence[int]) -> tuple[Sequence[Sequence[str]], Ints] | None:
        """Return some columns, from 0, and the sentence of each token, from 0; None if its rows lack such cells."""
        if 0 < self._documents[document].width <= max(cells) + 1:  # the last cell is that of the mentions
            return None
        columns: list[list[str]] = [[] for _ in cells]
        n_blank, blanks = 0, [np.zeros(0, np.int64)]
        for rows in self._rows(document):
            for column, cell in zip(columns, cells, strict=True):
                column += pack_cells(rows, cell).decode("utf-8").split("\n")[:-1]
            before = n_blank + np.cumsum(~(rows.is_token | rows.is_comment))
            blanks.append(before[rows.is_token])
            n_blank = int(before[-1])
        return columns, np.unique(np.concatenate(blanks), return_inverse=True)[1]

    def _rows(self, document: int) -> Iterator[Rows]:
        place = self._documents[document]
        for rows in split_text(self._text, place.begin, place.end, place.line):
            yield fill_empty_cells(rows, place.width, slice(0, len(rows.end)))
