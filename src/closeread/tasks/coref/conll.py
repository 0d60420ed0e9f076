"""Coreference in CoNLL files: CoNLL-2011 and 2012, SemEval-2010, plain columns, and the variants that readers commonly
accept.

Conventions: a document is between ``#begin document (NAME)`` or ``#begin document (NAME); part 000`` and
``#end document``; with a part its name is ``NAME; part 000``.  The parentheses may be absent (`conll_layout`), and so
may the name: the document is then named by its number in the file, from 1.  Other lines that begin with ``#`` are
comments, blank lines end sentences, and every other line is a token.  Cells are separated by any number of blanks and
tabs; all tokens of a document have the same number of cells.  The last cell contains the mentions: ``-`` and ``_`` mean
that there is none, ``(12`` opens a mention of entity 12, ``12)`` closes the last open mention of entity 12, ``(12)`` is
a mention of a single token; several are joined, with or without ``|`` (`conll_cells`).  A row that lacks its last cell
and ends in a tab has an empty last cell (as in LitBank).  Which cell has the word is given or guessed (`conll_layout`).

For speed, no loop looks at single bytes of a valid file: line ends and cells are found with NumPy, a block at a time
(`conll_rows`), and only cells with a bracket are parsed, all together.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from closeread import limits
from closeread.arrays import Ints, Mask
from closeread.errors import pluralize, quote
from closeread.formats import Format
from closeread.formats.problems import Problems
from closeread.formats.text import BYTE_ORDER_MARK, UNSAFE, read_bytes
from closeread.records import Parsed
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.conll_cells import CELL, Cells, Mentions, read_mentions_at_once
from closeread.tasks.coref.conll_cells_one_by_one import read_mentions_one_by_one
from closeread.tasks.coref.conll_layout import guess_word_cell, is_bare, parse_name
from closeread.tasks.coref.conll_rows import Rows, pack_cells, pack_padded_cells, split_blocks
from closeread.tasks.coref.conll_text import MARKER, check_text, first_row
from closeread.tasks.coref.conll_writer import dump_conll
from closeread.tasks.coref.coref_json import table_of

__all__ = ["DIGIT", "FORMAT", "ConllWords", "read_conll", "read_records"]

DIGIT = re.compile(rb"[0-9]")


class _Document(NamedTuple):
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


def read_conll(path: Path, word_column: int | None = None) -> MentionTable:
    """Read the documents of a CoNLL file.

    Args:
        path: the file.
        word_column: the column of the word, from 1; None to guess it.

    Returns:
        The mentions of an entity in the order in which they open; the ids of the file as labels.

    Raises:
        FormatError: the file is not text or not valid CoNLL, with all its problems.
    """
    return _read(path, word_column).table(path)


def read_records(path: Path, split: str, word_column: int | None = None) -> Parsed:
    """The same, each with the line on which its document begins; names are the file's, whatever the split."""
    del split
    reader = _read(path, word_column)
    return Parsed(reader.table(path), list(reader.lines.values()), [])


def _read(path: Path, word_column: int | None) -> _Reader:
    data = read_bytes(path)
    begin = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    check_text(path, data, begin)
    reader = _Reader(data, word_column)
    for rows in split_blocks(data, begin, len(data), 1):
        reader.take(rows)
        if reader.problems.total > limits.MAX_PROBLEMS:  # counting the problems of a gigabyte of garbage helps nobody
            break
    else:
        reader.finish()
    return reader


class _Reader:
    """Reader of the blocks of a file, one document after the other."""

    def __init__(self, data: bytes, word_column: int | None) -> None:
        self.problems = Problems()
        self._data = data
        self._word_column = word_column
        self._documents: list[_Document] = []
        self.lines: dict[str, int] = {}  # the first line of each document name
        self._unnamed: list[int] = []
        self._lacks_words = False  # whether a document has no such column
        self._current: _Document | None = None
        self._is_outside = False  # whether a token was found after the last document
        self._cells: list[Cells] = []
        self._words = hashlib.blake2b(digest_size=16)  # of the current document

    def take(self, rows: Rows) -> None:
        """Read a block."""
        done = 0
        for i in np.flatnonzero(rows.is_comment).tolist():
            if marker := MARKER.match(self._data, rows.offset + int(rows.begin[i])):
                self._take_tokens(rows, done, i)
                self._take_marker(rows, i, marker)
                done = i + 1
            elif self._current and rows.cells[i] == self._current.width and self._ends_like_a_token(rows, i):
                found = f"starts with '#' but has {self._current.width} columns like a token"
                self.problems.add(f"{found} (expected a comment with another number of words)", rows.line + i)
        self._take_tokens(rows, done, len(rows.end))

    def _ends_like_a_token(self, rows: Rows, i: int) -> bool:
        cell = self._data[rows.offset + int(rows.last[i]) : rows.offset + int(rows.end[i])].rstrip()
        # Comments may end in a word in parentheses.
        return cell in (b"-", b"_") or (CELL.fullmatch(cell) is not None and DIGIT.search(cell) is not None)

    def finish(self) -> None:
        """Handle the end of the file."""
        if self._current:
            found = f"document {quote(self._current.name)} never ends (expected '#end document')"
            self.problems.add(found, self._current.line - 1)
            self._end_document(self._current, len(self._data))
        elif not self._documents and not self.problems.total:
            self.problems.add("contains no document (expected '#begin document (NAME)' before the first token)")

    def table(self, path: Path) -> MentionTable:
        """Return all documents.

        Raises:
            FormatError: the file has problems.
        """
        if self.problems.total > limits.MAX_PROBLEMS:
            self.problems.raise_any(path)
        columns = zip(*self._cells, strict=True) if self._cells else ([np.zeros(0, np.int64)] for _ in Cells._fields)
        cells = Cells(*(np.concatenate(column) for column in columns))
        found = None if self.problems.total else read_mentions_at_once(self._data, cells)
        if found is None:
            widths = [document.width for document in self._documents]
            found = read_mentions_one_by_one(self._data, cells, widths, self.problems)
            self.problems.raise_any(path)
        has_words = any(document.word_cell >= 0 for document in self._documents)
        return MentionTable(
            names=[document.name for document in self._documents],
            n_tokens=np.array([document.n_tokens for document in self._documents], np.int64),
            document=found.document,
            start=found.start,
            end=found.end,
            entity=found.entity,
            n_entities=len(found.labels),
            labels=found.labels,
            words=ConllWords(self._data, self._documents) if has_words else None,
            rank=found.rank,
            notices=self._note_reopened(cells, found),
            unnamed=frozenset(self._unnamed),
        )

    def _note_reopened(self, cells: Cells, found: Mentions) -> list[str]:
        if not len(found.reopened):
            return []
        first = found.reopened[0]
        cell = quote(self._data[cells.begin[first] : cells.end[first]].rstrip().decode("utf-8"))
        where = f"{pluralize(len(found.reopened), 'cell')} (first: {cell} on line {cells.line[first]})"
        how = "what opens is read before what closes, as the reference scorer does"
        return [f"an entity closes and opens again in {where}; {how}"]

    def _take_marker(self, rows: Rows, i: int, marker: re.Match[bytes]) -> None:
        line = rows.line + i
        begin, end = rows.offset + int(rows.begin[i]), rows.offset + int(rows.end[i])
        if marker[1] == b"end":
            if self._current:
                self._end_document(self._current, begin)
            else:
                self.problems.add("'#end document' without '#begin document'", line)
            return
        if self._current:
            before = f"document {quote(self._current.name)} (line {self._current.line - 1})"
            self.problems.add(f"a document begins inside {before} (expected '#end document' before it)", line)
            self._end_document(self._current, begin)
        rest = self._data[marker.end() : end].rstrip()
        row = first_row(self._data, end + 1)
        self._current = _Document(
            name=self._name(rest, begin, end, line),
            line=line + 1,
            begin=end + 1,
            end=end + 1,
            width=len(row),
            word_cell=self._word_cell(row, line, is_bare=is_bare(rest)),
            n_tokens=0,
            words=b"",
        )
        self._words = hashlib.blake2b(digest_size=16)

    def _name(self, rest: bytes, begin: int, end: int, line: int) -> str:
        if not rest:
            self._unnamed.append(len(self._documents))
            name = str(len(self._documents) + 1)
        elif parsed := parse_name(rest):
            name = parsed
        else:
            found = quote(self._data[begin:end].rstrip().decode("utf-8"))
            expected = "'#begin document (NAME)' or '#begin document (NAME); part PART'"
            self.problems.add(f"{found} has no document name (expected {expected})", line)
            return "without a name"
        if unsafe := UNSAFE.search(name):
            found = f"document name {quote(name)} contains the control character U+{ord(unsafe[0]):04X}"
            self.problems.add(found, line)
        before = self.lines.setdefault(name, line)
        if before != line:
            self.problems.add(f"duplicate document {quote(name)} (first on line {before})", line)
        return name

    def _word_cell(self, row: Sequence[bytes], line: int, *, is_bare: bool) -> int:
        """Return the cell of the word, from 0; -1 if there is none."""
        if self._word_column is None:
            return guess_word_cell(row, is_bare=is_bare)
        if row and self._word_column >= len(row):
            if not self._lacks_words:
                has = f"the document has {pluralize(len(row), 'column')}, and the last contains the mentions"
                expected = f"1 to {len(row) - 1}" if len(row) > 1 else "auto"
                self.problems.add(f"the word column is {self._word_column}, but {has} (expected {expected})", line)
            self._lacks_words = True
            return -1
        return self._word_column - 1

    def _end_document(self, document: _Document, end: int) -> None:
        self._documents.append(document._replace(end=end, words=self._words.digest()))
        self._current = None
        self._is_outside = False

    def _take_tokens(self, rows: Rows, first: int, last: int) -> None:
        lines = slice(first, last)
        is_token = rows.is_token[lines]
        n_tokens = int(np.count_nonzero(is_token))
        if not n_tokens:
            return
        document = self._current
        if not document:
            if not self._is_outside:
                line = rows.line + first + int(np.argmax(is_token))
                self.problems.add("token outside a document (expected '#begin document (NAME)' before it)", line)
            self._is_outside = True
            return
        cells, width = rows.cells[lines], document.width
        is_empty = rows.is_short[lines] & (cells == width - 1)
        is_ragged = is_token & (cells != width) & ~is_empty
        if is_ragged.any():
            self._describe_ragged(cells, is_ragged, rows.line + first, width)
        full = np.flatnonzero(is_token & ~rows.is_plain[lines] & ~is_empty)
        self._cells.append(
            Cells(
                document=np.full(len(full), len(self._documents)),
                token=np.cumsum(is_token)[full] + (document.n_tokens - 1),
                line=full + (rows.line + first),
                begin=rows.last[lines][full] + rows.offset,
                end=rows.end[lines][full] + rows.offset,
                is_ragged=is_ragged[full],
            )
        )
        if document.word_cell >= 0 and not self.problems.total:
            self._words.update(pack_padded_cells(rows, document.word_cell, first + np.flatnonzero(is_token)))
        self._current = document._replace(n_tokens=document.n_tokens + n_tokens)

    def _describe_ragged(self, cells: Ints, is_ragged: Mask, first_line: int, width: int) -> None:
        rows = np.flatnonzero(is_ragged)
        expected = f"(expected {width}, as in other rows of the document)"
        for row in rows[: limits.MAX_PROBLEMS].tolist():
            self.problems.add(f"the number of columns is {cells[row]} {expected}", first_line + row)
        self.problems.total += len(rows[limits.MAX_PROBLEMS :])


class ConllWords:
    """The words of a file's documents, decoded on demand."""

    def __init__(self, data: bytes, documents: Sequence[_Document]) -> None:
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
        return split_blocks(self._data, place.begin, place.end, place.line)


FORMAT = Format(
    read_records,
    lambda records: dump_conll(table_of(records)),
    suffixes=(".conll",),
    first_line=re.compile(r"#\s*begin\s+document", re.ASCII),
)
