"""The words of CoNLL files, decoded on demand.

Conventions: unless its column is given, the word is the second of four or more cells if the first row of the document
begins with a number, as in SemEval-2010 (``ID TOKEN LEMMA ...``); the fourth of five or more other cells, as in
CoNLL-2011 and 2012 (``DOCUMENT PART NUMBER WORD ...``); the last but one of fewer.  A row of CoNLL-2012 begins with a
number, too, if that is the document's name: its name is in parentheses and its second cell is a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from closeread.tasks.coref.conll_rows import Rows, pack_cells, split_blocks


class ConllDocument(NamedTuple):
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


def guess_word_cell(row: Sequence[bytes], *, is_bare: bool) -> int:
    """Guess the cell of the word, from 0; -1 if there is none.

    Args:
        row: the cells of the first row of a document.
        is_bare: whether the name of the document has no parentheses.

    >>> guess_word_cell(b"1 Tea tea NOUN (1)".split(), is_bare=True)
    1
    >>> guess_word_cell(b"d 0 0 Tea NN (1)".split(), is_bare=False)
    3
    """
    if len(row) >= 4 and row[0].isdigit() and (is_bare or not row[1].isdigit()):
        return 1
    return 3 if len(row) >= 5 else len(row) - 2


class ConllWords:
    """The words of a file's documents, decoded on demand."""

    def __init__(self, data: bytes, documents: Sequence[ConllDocument]) -> None:
        self._data = data
        self._documents = documents

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
        """Return the line of a token, from 1."""
        for rows in self._rows(document):
            lines = np.flatnonzero(rows.is_token)
            if token < len(lines):
                return rows.line + int(lines[token])
            token -= len(lines)
        raise IndexError(f"document {document} has no such token")

    def _rows(self, document: int) -> Iterator[Rows]:
        place = self._documents[document]
        return split_blocks(self._data, place.begin, place.end, place.line)
