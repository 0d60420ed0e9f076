"""CoNLL files of coreference: CoNLL-2011 and 2012, plain columns, and what their readers have come to accept.

Conventions: a document stands between ``#begin document (NAME)`` or ``#begin document (NAME); part 000`` and
``#end document``; with a part its name is ``NAME; part 000``.  Other lines that begin with ``#`` are comments,
blank lines end sentences, and every other line is a token.  Cells are separated by any number of blanks and tabs;
every token of a document has as many.  The last cell holds the mentions: ``-`` and ``_`` say that there is none,
``(12`` opens one of entity 12, ``12)`` closes the one of entity 12 that was opened last, ``(12)`` is one of a single
token; several stand side by side, with or without ``|``.  A row that lacks its last cell and ends in a tab has an
empty one (so LitBank).  The word is the fourth cell where there are five or more, otherwise the last but one.

No byte of a sound file is looked at by Python: line ends and cells are found with NumPy, a block at a time, and only
cells that hold a bracket are parsed, all together (`closeread.tasks.coref.conll_cells`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Ints, Mask
from closeread.errors import quote
from closeread.formats import Format
from closeread.formats.problems import LISTED, Problems
from closeread.formats.text import BYTE_ORDER_MARK, UNSAFE, read_bytes
from closeread.records import Parsed
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.conll_cells import CELL, Cells, gathered, mentions_at_once, mentions_one_by_one
from closeread.tasks.coref.conll_text import MARKER, NEWLINE, RETURN, SPACE, TAB, check_text, line_spans, row_width
from closeread.tasks.coref.conll_writer import dump_conll
from closeread.tasks.coref.coref_json import table_of

HASH, HYPHEN, UNDERSCORE = b"#-_"

BEGIN = re.compile(rb"#[ \t]*begin[ \t]+document[ \t]*\((.+)\)[ \t]*(?:;[ \t]*(?:part[ \t]+([^\s()]+)[ \t]*)?)?")


class _Document(NamedTuple):
    """Where a document stands in the file's bytes.

    Attributes:
        name: its name.
        line: the line after ``#begin``.
        begin, end: where its first line begins and its last one ends.
        width: how many cells its rows have.
        n_tokens: how many tokens it has.
        words: a digest of its words and of the blanks after them; equal ones are of equal words.
    """

    name: str
    line: int
    begin: int
    end: int
    width: int
    n_tokens: int
    words: bytes

    @property
    def word_cell(self) -> int:
        """The cell of a row that is the word, from 0; -1 where there is none."""
        return 3 if self.width >= 5 else self.width - 2


class _Rows(NamedTuple):
    """The lines of a block, as columns; positions count from the start of the block.

    Attributes:
        line: the number of the first one.
        offset: where the block begins in the file.
        raw: (n_bytes,) its bytes.
        blank: (n_bytes,) which of them belong to no cell.
        marks: where every cell begins and every line ends.
        last_mark: the index in `marks` of each line's end.
        begin: where each line begins.
        end: where each one's line end stands.
        cells: how many cells each has.
        last: where its last cell begins.
        is_token, is_comment: what it is; a blank one is neither.
        is_short: it ends in a tab, so that its last cell may be an empty one.
        is_plain: its last cell is ``-`` or ``_``.
    """

    line: int
    offset: int
    raw: NDArray[np.uint8]
    blank: Mask
    marks: Ints
    last_mark: Ints
    begin: Ints
    end: Ints
    cells: Ints
    last: Ints
    is_token: Mask
    is_comment: Mask
    is_short: Mask
    is_plain: Mask


def read_conll(path: Path) -> MentionTable:
    """The documents of a CoNLL file.

    Returns:
        The mentions of an entity in the order in which they open; the ids of the file as labels.

    Raises:
        FormatError: the file can't be read as text, or is not of this format, with all that is wrong with it.
    """
    return _read(path).table(path)


def read_records(path: Path, split: str) -> Parsed:
    """The same, each with the line on which its document begins; names are the file's, whatever the split."""
    del split
    reader = _read(path)
    return Parsed(reader.table(path), list(reader.lines.values()), [])


def _read(path: Path) -> _Reader:
    data = read_bytes(path)
    begin = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    check_text(path, data, begin)
    reader = _Reader(data)
    for rows in _blocks(data, begin, len(data), 1):
        reader.take(rows)
        if reader.problems.total > LISTED:  # nobody gains by a count of what is wrong with a gigabyte of garbage
            break
    else:
        reader.finish()
    return reader


def _blocks(data: bytes, begin: int, end: int, line: int) -> Iterator[_Rows]:
    """The lines of a stretch of the file, block by block.

    Args:
        data: the file.
        begin, end: where the stretch begins and ends, each at a line's begin.
        line: the number of its first line.
    """
    for first, last in line_spans(data, begin, end):
        rows = _rows(data, first, last, line)
        yield rows
        line += len(rows.end)


def _rows(data: bytes, first: int, last: int, line: int) -> _Rows:
    raw = np.frombuffer(data, np.uint8, last - first, first)
    if raw[-1] != NEWLINE:
        raw = np.append(raw, np.uint8(NEWLINE))
    blank = raw <= SPACE
    is_end = raw == NEWLINE
    is_mark = ~blank
    is_mark[1:] &= blank[:-1]
    is_mark |= is_end
    marks = np.flatnonzero(is_mark)
    last_mark = np.flatnonzero(is_end[marks])
    cells = np.diff(last_mark, prepend=-1) - 1
    end = marks[last_mark]
    begin = np.concatenate([[0], end[:-1] + 1])
    # Of a line without cells the rest is no matter, as long as it can be looked up.
    cell = marks[np.maximum(last_mark - 1, 0)]
    is_comment = raw[begin] == HASH
    letter = raw[cell]
    return _Rows(
        line=line,
        offset=first,
        raw=raw,
        blank=blank,
        marks=marks,
        last_mark=last_mark,
        begin=begin,
        end=end,
        cells=cells,
        last=cell,
        is_token=(cells > 0) & ~is_comment,
        is_comment=is_comment,
        is_short=raw[end - 1 - (raw[end - 1] == RETURN)] == TAB,
        is_plain=((letter == HYPHEN) | (letter == UNDERSCORE)) & blank.take(cell + 1, mode="clip"),
    )


class _Reader:
    """Goes through the blocks of a file, one document after the other."""

    def __init__(self, data: bytes) -> None:
        self.problems = Problems()
        self._data = data
        self._documents: list[_Document] = []
        self.lines: dict[str, int] = {}  # where each document's name was first seen
        self._current: _Document | None = None
        self._is_outside = False  # whether a token has been found since the last document
        self._cells: list[Cells] = []
        self._words = hashlib.blake2b(digest_size=16)  # of the current document

    def take(self, rows: _Rows) -> None:
        """Read on."""
        done = 0
        for i in np.flatnonzero(rows.is_comment).tolist():
            if marker := MARKER.match(self._data, rows.offset + int(rows.begin[i])):
                self._take_tokens(rows, done, i)
                self._take_marker(rows, i, is_begin=marker[1] == b"begin")
                done = i + 1
            elif self._current and rows.cells[i] == self._current.width and self._ends_like_a_token(rows, i):
                found = f"begins with '#', but has the {self._current.width} columns of a token"
                self.problems.add(f"{found}; needed: a comment of another number of words", rows.line + i)
        self._take_tokens(rows, done, len(rows.end))

    def _ends_like_a_token(self, rows: _Rows, i: int) -> bool:
        cell = self._data[rows.offset + int(rows.last[i]) : rows.offset + int(rows.end[i])].rstrip()
        return cell in (b"-", b"_") or CELL.fullmatch(cell) is not None

    def finish(self) -> None:
        """Nothing follows."""
        if self._current:
            found = f"document {quote(self._current.name)} never ends; needed: '#end document' after it"
            self.problems.add(found, self._current.line - 1)
            self._end_document(self._current, len(self._data))
        elif not self._documents and not self.problems.total:
            self.problems.add("holds no document; needed: '#begin document (NAME)' before its first token")

    def table(self, path: Path) -> MentionTable:
        """All that was read.

        Raises:
            FormatError: anything was wrong.
        """
        if self.problems.total > LISTED:
            self.problems.raise_any(path)
        columns = zip(*self._cells, strict=True) if self._cells else ([np.zeros(0, np.int64)] for _ in Cells._fields)
        cells = Cells(*(np.concatenate(column) for column in columns))
        found = None if self.problems.total else mentions_at_once(self._data, cells)
        if found is None:
            widths = [document.width for document in self._documents]
            found = mentions_one_by_one(self._data, cells, widths, self.problems)
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
        )

    def _take_marker(self, rows: _Rows, i: int, *, is_begin: bool) -> None:
        line = rows.line + i
        begin, end = rows.offset + int(rows.begin[i]), rows.offset + int(rows.end[i])
        if not is_begin:
            if self._current:
                self._end_document(self._current, begin)
            else:
                self.problems.add("'#end document', but no document has begun", line)
            return
        if self._current:
            found = f"a document begins, but {quote(self._current.name)} of line {self._current.line - 1} has not ended"
            self.problems.add(f"{found}; needed: '#end document' between them", line)
            self._end_document(self._current, begin)
        self._current = _Document(
            self._name(begin, end, line), line + 1, end + 1, end + 1, row_width(self._data, end + 1), 0, b""
        )
        self._words = hashlib.blake2b(digest_size=16)

    def _name(self, begin: int, end: int, line: int) -> str:
        text = self._data[begin:end].rstrip()
        parts = BEGIN.fullmatch(text)
        if not parts:
            found = quote(text.decode("utf-8"))
            needed = "'#begin document (NAME)' or '#begin document (NAME); part PART'"
            self.problems.add(f"{found} names no document; needed: {needed}", line)
            return "without a name"
        name = parts[1].decode("utf-8") + (f"; part {parts[2].decode('utf-8')}" if parts[2] else "")
        if unsafe := UNSAFE.search(name):
            self.problems.add(f"the name {quote(name)} holds the control character U+{ord(unsafe[0]):04X}", line)
        before = self.lines.setdefault(name, line)
        if before != line:
            self.problems.add(f"document {quote(name)} stands on line {before} already; needed: one of a name", line)
        return name

    def _end_document(self, document: _Document, end: int) -> None:
        self._documents.append(document._replace(end=end, words=self._words.digest()))
        self._current = None
        self._is_outside = False

    def _take_tokens(self, rows: _Rows, first: int, last: int) -> None:
        chosen = slice(first, last)
        is_token = rows.is_token[chosen]
        n_tokens = int(np.count_nonzero(is_token))
        if not n_tokens:
            return
        document = self._current
        if not document:
            if not self._is_outside:
                line = rows.line + first + int(np.argmax(is_token))
                self.problems.add("a token stands outside a document; needed: '#begin document (NAME)' before", line)
            self._is_outside = True
            return
        cells, width = rows.cells[chosen], document.width
        is_empty = rows.is_short[chosen] & (cells == width - 1)
        is_ragged = is_token & (cells != width) & ~is_empty
        if is_ragged.any():
            self._say_what_is_ragged(cells, is_ragged, rows.line + first, width)
        held = np.flatnonzero(is_token & ~rows.is_plain[chosen] & ~is_empty)
        self._cells.append(
            Cells(
                document=np.full(len(held), len(self._documents)),
                token=np.cumsum(is_token)[held] + (document.n_tokens - 1),
                line=held + (rows.line + first),
                begin=rows.last[chosen][held] + rows.offset,
                end=rows.end[chosen][held] + rows.offset,
                is_ragged=is_ragged[held],
            )
        )
        if document.word_cell >= 0 and not self.problems.total:
            self._words.update(_padded(rows, document.word_cell, first + np.flatnonzero(is_token)))
        self._current = document._replace(n_tokens=document.n_tokens + n_tokens)

    def _say_what_is_ragged(self, cells: Ints, is_ragged: Mask, first_line: int, width: int) -> None:
        rows = np.flatnonzero(is_ragged)
        needed = f"needed: {width}, as in the other rows of the document"
        for row in rows[:LISTED].tolist():
            self.problems.add(f"the number of columns is {cells[row]}; {needed}", first_line + row)
        self.problems.total += len(rows[LISTED:])


class ConllWords:
    """The words of a file's documents, taken from its bytes when they are asked for."""

    def __init__(self, data: bytes, documents: Sequence[_Document]) -> None:
        self._data = data
        self._documents = documents

    def __call__(self, document: int) -> Sequence[str]:
        """The tokens of a document."""
        return self.packed(document).decode("utf-8").split("\n")[:-1]

    def packed(self, document: int) -> bytes:
        """The same as UTF-8, with a line end after each."""
        cell = self._documents[document].word_cell
        return b"".join(_packed(rows, cell) for rows in self._rows(document)) if cell >= 0 else b""

    def digest(self, document: int) -> bytes:
        """Equal ones are of equal words; different ones can be."""
        return self._documents[document].words

    def line_of(self, document: int, token: int) -> int:
        """The line on which a token stands."""
        for rows in self._rows(document):
            lines = np.flatnonzero(rows.is_token)
            if token < len(lines):
                return rows.line + int(lines[token])
            token -= len(lines)
        raise IndexError(f"document {document} has no such token")

    def _rows(self, document: int) -> Iterator[_Rows]:
        place = self._documents[document]
        return _blocks(self._data, place.begin, place.end, place.line)


def _packed(rows: _Rows, cell: int) -> bytes:
    """A cell of every token, with a line end after each."""
    lines = np.flatnonzero(rows.is_token)
    mark = rows.last_mark[lines] - rows.cells[lines] + cell
    # As many cells end as begin; marks are cells and line ends.
    end = np.flatnonzero(rows.blank[1:] & ~rows.blank[:-1])[mark - lines] + 1
    text, after = gathered(rows.raw, rows.marks[mark], end + 1)
    text[after - 1] = NEWLINE
    return text.tobytes()


def _padded(rows: _Rows, cell: int, lines: Ints) -> bytes:
    """A cell of some lines, each with all that stands before the next cell."""
    mark = rows.last_mark[lines] - rows.cells[lines] + cell
    return gathered(rows.raw, rows.marks[mark], rows.marks[mark + 1])[0].tobytes()


FORMAT = Format(
    read_records,
    lambda records: dump_conll(table_of(records)),
    suffixes=(".conll",),
    first_line=re.compile(r"#\s*begin\s+document", re.ASCII),
)
