"""Reader of CoNLL files, a block of lines after the other."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from closeread import limits
from closeread.arrays import Ints, Mask
from closeread.exceptions import pluralize, quote
from closeread.formats.problems import Problems
from closeread.formats.stored_text import Text, iterate_lines
from closeread.formats.text import UNSAFE
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.conll_cells import CELL, gather
from closeread.tasks.coref.conll_layout import guess_word_cell, is_bare, parse_name
from closeread.tasks.coref.conll_mentions import MentionReader
from closeread.tasks.coref.conll_rows import Rows, fill_empty_cells, pack_padded_cells
from closeread.tasks.coref.conll_text import MARKER, first_row
from closeread.tasks.coref.conll_words import ConllWords, Document

DIGIT = re.compile(rb"[0-9]")


class Reader:
    """Reader of the blocks of a file, one document after the other.

    Args:
        text: the file.
        word_column: the column of the word, from 1; None to guess it.
        batch: the number of bytes of cells from which on the mentions of complete documents are read; None to read all
            mentions at the end, so that all problems are found in the order of the file.

    Attributes:
        problems: the problems found.
        lines: the first line of each document name.
    """

    def __init__(self, text: Text, word_column: int | None, batch: int | None = None) -> None:
        self.problems = Problems()
        self._text = text
        self._word_column = word_column
        self._documents: list[Document] = []
        self.lines: dict[str, int] = {}
        self._unnamed: list[int] = []
        self._lacks_words = False  # whether a document has no such column
        self._current: Document | None = None
        self._is_outside = False  # whether a token was found after the last document
        self._mentions = MentionReader(self.problems, batch)
        self._words = hashlib.blake2b(digest_size=16)  # of the current document

    def take(self, rows: Rows) -> None:
        """Read a block."""
        done = 0
        for i in np.flatnonzero(rows.is_comment).tolist():
            if marker := MARKER.match(line := rows.raw[rows.begin[i] : rows.end[i]].tobytes()):
                self._take_tokens(rows, done, i)
                self._take_marker(rows, i, marker[1], line, line[marker.end() :].rstrip())
                done = i + 1
            elif self._current and rows.cells[i] == self._current.width and self._ends_like_a_token(rows, i):
                found = f"starts with '#' but has {self._current.width} columns like a token"
                self.problems.add(f"{found} (expected a comment with another number of words)", rows.line + i)
        self._take_tokens(rows, done, len(rows.end))

    def _ends_like_a_token(self, rows: Rows, i: int) -> bool:
        cell = rows.raw[rows.last[i] : rows.end[i]].tobytes().rstrip()
        # Comments may end in a word in parentheses.
        return cell in (b"-", b"_") or (CELL.fullmatch(cell) is not None and DIGIT.search(cell) is not None)

    def finish(self) -> None:
        """Handle the end of the file."""
        if self._current:
            found = f"document {quote(self._current.name)} never ends (expected '#end document')"
            self.problems.add(found, self._current.line - 1)
            self._end_document(self._current, self._text.size)
        elif not self._documents and not self.problems.total:
            self.problems.add("contains no document (expected '#begin document (NAME)' before the first token)")

    def table(self, path: Path) -> MentionTable:
        """Return all documents.

        Raises:
            FormatError: the file has problems.
        """
        if self.problems.total > limits.MAX_PROBLEMS:
            self.problems.raise_any(path)
        found = self._mentions.finish()
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
            words=ConllWords(self._text, self._documents) if has_words else None,
            rank=found.rank,
            notices=self._mentions.describe_reopened(),
            unnamed=frozenset(self._unnamed),
        )

    def _take_marker(self, rows: Rows, i: int, kind: bytes, text: bytes, rest: bytes) -> None:
        """Read the begin or the end of a document, and what is in its line after these words."""
        line = rows.line + i
        begin, end = rows.offset + int(rows.begin[i]), rows.offset + int(rows.end[i])
        if kind == b"end":
            if self._current:
                self._end_document(self._current, begin)
            else:
                self.problems.add("'#end document' without '#begin document'", line)
            return
        if self._current:
            before = f"document {quote(self._current.name)} (line {self._current.line - 1})"
            self.problems.add(f"a document begins inside {before} (expected '#end document' before it)", line)
            self._end_document(self._current, begin)
        row = first_row(iterate_lines(self._text, end + 1))
        self._current = Document(
            name=self._name(rest, text, line),
            line=line + 1,
            begin=end + 1,
            end=end + 1,
            width=len(row),
            word_cell=self._word_cell(row, line, is_bare=is_bare(rest)),
            n_tokens=0,
            words=b"",
        )
        self._words = hashlib.blake2b(digest_size=16)

    def _name(self, rest: bytes, text: bytes, line: int) -> str:
        if not rest:
            self._unnamed.append(len(self._documents))
            name = str(len(self._documents) + 1)
        elif parsed := parse_name(rest):
            name = parsed
        else:
            found = quote(text.rstrip().decode("utf-8"))
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

    def _end_document(self, document: Document, end: int) -> None:
        self._documents.append(document._replace(end=end, words=self._words.digest()))
        self._mentions.end_document(document.width)
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
        width = document.width
        rows = fill_empty_cells(rows, width, lines)
        cells = rows.cells[lines]
        is_empty = rows.is_short[lines] & (cells == width - 1)
        is_ragged = is_token & (cells != width) & ~is_empty
        if is_ragged.any():
            self._describe_ragged(cells, is_ragged, rows.line + first, width)
        full = np.flatnonzero(is_token & ~rows.is_plain[lines] & ~is_empty)
        text, after = gather(rows.raw, rows.last[lines][full], rows.end[lines][full] + 1)
        self._mentions.take(
            text,
            after,
            document=len(self._documents),
            token=np.cumsum(is_token)[full] + (document.n_tokens - 1),
            line=full + (rows.line + first),
            is_ragged=is_ragged[full],
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
