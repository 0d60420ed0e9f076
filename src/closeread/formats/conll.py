"""CoNLL files of coreference: CoNLL-2011 and 2012, plain columns, and what their readers have come to accept.

Conventions: a document stands between ``#begin document (NAME)`` or ``#begin document (NAME); part 000`` and
``#end document``; with a part its name is ``NAME; part 000``.  Other lines that begin with ``#`` are comments,
blank lines end sentences, and every other line is a token.  Cells are separated by any number of blanks and tabs;
every token of a document has as many.  The last cell holds the mentions: ``-`` and ``_`` say that there is none,
``(12`` opens one of entity 12, ``12)`` closes the one of entity 12 that was opened last, ``(12)`` is one of a single
token; several stand side by side, with or without ``|``.  A row that lacks its last cell and ends in a tab has an
empty one (so LitBank).  The word is the fourth cell where there are five or more, otherwise the last but one.

No byte of a sound file is looked at by Python: line ends and cells are found with NumPy, a block at a time, and only
cells that hold a bracket are parsed, all together (`closeread.formats.conll_cells`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.errors import FormatError, Problem, quoted
from closeread.formats.conll_cells import (
    CELL,
    Cells,
    gathered,
    mentions_at_once,
    mentions_one_by_one,
)
from closeread.formats.problems import LISTED, Problems
from closeread.formats.text import BYTE_ORDER_MARK, MAX_LINE_BYTES, UNSAFE, read_bytes
from closeread.mentions import Ints, MentionTable, Words

BLOCK = 2**20
"""How many bytes are looked at together; what NumPy makes of them then stays in the processor's cache."""

NEWLINE, TAB, RETURN, SPACE, HASH, HYPHEN, UNDERSCORE, DELETE = b"\n\t\r #-_\x7f"
FIRST_BEYOND_ASCII = 0x80

BEGIN = re.compile(rb"#[ \t]*begin[ \t]+document[ \t]*\((.+)\)[ \t]*(?:;[ \t]*(?:part[ \t]+([^\s()]+)[ \t]*)?)?")
MARKER = re.compile(rb"#[ \t]*(begin|end)[ \t]+document\b")
ID = re.compile(r"[0-9]+")
WORD = re.compile(r"[^\x00-\x20\x7f\ud800-\udfff]+")
PARTED = re.compile(r"(.+); part ([^\s()]+)")


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
    blank: NDArray[np.bool_]
    marks: Ints
    last_mark: Ints
    begin: Ints
    end: Ints
    cells: Ints
    last: Ints
    is_token: NDArray[np.bool_]
    is_comment: NDArray[np.bool_]
    is_short: NDArray[np.bool_]
    is_plain: NDArray[np.bool_]


def read_conll(path: Path) -> MentionTable:
    """The documents of a CoNLL file.

    Returns:
        The mentions of an entity in the order in which they open; the ids of the file as labels.

    Raises:
        FormatError: the file can't be read as text, or is not of this format, with all that is wrong with it.
    """
    data = read_bytes(path)
    begin = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    _check_text(path, data, begin)
    reader = _Reader(data)
    for rows in _blocks(data, begin, len(data), 1):
        reader.take(rows)
        if reader.problems.total > LISTED:  # nobody gains by a count of what is wrong with a gigabyte of garbage
            break
    else:
        reader.finish()
    return reader.table(path)


def _check_text(path: Path, data: bytes, begin: int) -> None:
    """Refuse what is no UTF-8 text with lines of a sensible length."""
    if begin == len(data):
        raise FormatError(path, [Problem("is empty")])
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError(path, [Problem("is UTF-16 text; needed: UTF-8")])
    if b"\0" in data:
        raise FormatError(path, [Problem("is a binary file (it holds NUL bytes); needed: UTF-8 text")])
    problems = Problems()
    is_ascii = data.isascii()
    for first, last in _line_spans(data, begin, len(data)):
        if last - first > max(MAX_LINE_BYTES, BLOCK):
            found = f"has {last - first:,} bytes; a line may have {MAX_LINE_BYTES:,}"
            problems.add(found, _line_at(data, first))
        elif _has_controls(data, first, last) or not (is_ascii or _is_utf8(data, first, last)):
            _say_what_is_no_text(data[first:last].split(b"\n"), _line_at(data, first), problems)
        if problems.total > LISTED:  # as binary files have in their first block
            break
    problems.raise_any(path)


def _has_controls(data: bytes, first: int, last: int) -> bool:
    """Whether the text holds a control character of ASCII beside tabs and line ends."""
    raw = np.frombuffer(data, np.uint8, last - first, first)
    lines = np.flatnonzero(raw == NEWLINE)
    allowed = len(lines) + np.count_nonzero(raw == TAB) + np.count_nonzero(raw[lines - 1] == RETURN)
    return bool(np.count_nonzero(raw < SPACE) != allowed or np.count_nonzero(raw == DELETE))


def _is_utf8(data: bytes, first: int, last: int) -> bool:
    """Whether the text is UTF-8: its runs of bytes beyond ASCII, each with the byte that ends it, say that."""
    raw = np.frombuffer(data, np.uint8, last - first, first)
    beyond = np.flatnonzero(raw >= FIRST_BEYOND_ASCII)
    if not beyond.size:
        return True
    # The byte after a run keeps runs apart; a sequence never reaches over it.
    after = beyond[np.append(np.diff(beyond) > 1, True)] + 1
    try:
        raw[np.union1d(beyond, after[after < len(raw)])].tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _say_what_is_no_text(lines: Sequence[bytes], first_line: int, problems: Problems) -> None:
    for number, line in enumerate(lines, first_line):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            found = f"byte {error.start + 1} (0x{line[error.start]:02x}) is not UTF-8; needed: UTF-8 text"
            problems.add(found, number)
        if unsafe := re.search(rb"[^\t -~\x80-\xff]", line.removesuffix(b"\r")):
            problems.add(f"character {unsafe.start() + 1} is the control character U+{ord(unsafe[0]):04X}", number)


def _line_at(data: bytes, position: int) -> int:
    """The number of the line that begins at a position."""
    return data.count(b"\n", 0, position) + 1


def _line_spans(data: bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Where blocks of whole lines begin and end; one that is longer than `BLOCK` is a single line."""
    while begin < end:
        last = min(begin + BLOCK, end)
        if last < end:
            last = data.rfind(b"\n", begin, last) + 1 or data.find(b"\n", last, end) + 1 or end
        yield begin, last
        begin = last


def _blocks(data: bytes, begin: int, end: int, line: int) -> Iterator[_Rows]:
    """The lines of a stretch of the file, block by block.

    Args:
        data: the file.
        begin, end: where the stretch begins and ends, each at a line's begin.
        line: the number of its first line.
    """
    for first, last in _line_spans(data, begin, end):
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
        self._lines: dict[str, int] = {}  # where each document's name was first seen
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
            found = f"document {quoted(self._current.name)} never ends; needed: '#end document' after it"
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
            words=_ConllWords(self._data, self._documents) if has_words else None,
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
            found = (
                f"a document begins, but {quoted(self._current.name)} of line {self._current.line - 1} has not ended"
            )
            self.problems.add(f"{found}; needed: '#end document' between them", line)
            self._end_document(self._current, begin)
        self._current = _Document(
            self._name(begin, end, line), line + 1, end + 1, end + 1, _width(self._data, end + 1), 0, b""
        )
        self._words = hashlib.blake2b(digest_size=16)

    def _name(self, begin: int, end: int, line: int) -> str:
        text = self._data[begin:end].rstrip()
        parts = BEGIN.fullmatch(text)
        if not parts:
            found = quoted(text.decode("utf-8"))
            needed = "'#begin document (NAME)' or '#begin document (NAME); part PART'"
            self.problems.add(f"{found} names no document; needed: {needed}", line)
            return "without a name"
        name = parts[1].decode("utf-8") + (f"; part {parts[2].decode('utf-8')}" if parts[2] else "")
        if unsafe := UNSAFE.search(name):
            self.problems.add(f"the name {quoted(name)} holds the control character U+{ord(unsafe[0]):04X}", line)
        before = self._lines.setdefault(name, line)
        if before != line:
            self.problems.add(f"document {quoted(name)} stands on line {before} already; needed: one of a name", line)
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

    def _say_what_is_ragged(self, cells: Ints, is_ragged: NDArray[np.bool_], first_line: int, width: int) -> None:
        rows = np.flatnonzero(is_ragged)
        needed = f"needed: {width}, as in the other rows of the document"
        for row in rows[:LISTED].tolist():
            self.problems.add(f"the number of columns is {cells[row]}; {needed}", first_line + row)
        self.problems.total += len(rows[LISTED:])


def _width(data: bytes, begin: int) -> int:
    """How many cells the rows of the document have that begins here: those of the first one that is complete.

    A row that ends in a tab says nothing as long as others don't: its last cell may be empty.
    """
    width = 0
    while begin < len(data):
        end = data.find(b"\n", begin) + 1 or len(data)
        line = data[begin:end]
        if line.startswith(b"#"):
            if MARKER.match(line):
                break
        elif cells := line.split():
            width = width or len(cells)
            if not line.removesuffix(b"\n").removesuffix(b"\r").endswith(b"\t"):
                return len(cells)
        begin = end
    return width


class _ConllWords:
    """The words of a file's documents, taken from its bytes when they are asked for."""

    def __init__(self, data: bytes, documents: Sequence[_Document]) -> None:
        self._data = data
        self._documents = documents

    def __call__(self, document: int) -> Sequence[str]:
        return self.packed(document).decode("utf-8").split("\n")[:-1]

    def packed(self, document: int) -> bytes:
        cell = self._documents[document].word_cell
        return b"".join(_packed(rows, cell) for rows in self._rows(document)) if cell >= 0 else b""

    def digest(self, document: int) -> bytes:
        """Equal ones are of equal words; different ones can be."""
        return self._documents[document].words

    def line_of(self, document: int, token: int) -> int:
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


def token_differences(key: MentionTable, response: MentionTable) -> list[Problem]:
    """Where documents that both have are not of the same tokens; one problem a document, by the response's line.

    Words are compared where both have them.
    """
    index = {name: i for i, name in enumerate(key.names)}
    shared = ((index[name], i) for i, name in enumerate(response.names) if name in index)
    return [problem for k, r in shared for problem in _differences(key, k, response, r)]


def _same_at_a_glance(key: Words | None, k: int, response: Words | None, r: int) -> bool:
    if not isinstance(key, _ConllWords) or not isinstance(response, _ConllWords):
        return False
    return key.digest(k) == response.digest(r)


def _differences(key: MentionTable, k: int, response: MentionTable, r: int) -> Iterator[Problem]:
    name = f"document {quoted(response.names[r])}"
    line = None
    if _same_at_a_glance(key.words, k, response.words, r):
        return
    if key.words and response.words:
        expected, found = key.words.packed(k), response.words.packed(r)
        if expected == found:
            return
        # Some write "_" for every word that they don't know.
        if expected.strip(b"_\n") and found.strip(b"_\n"):
            pairs = zip(key.words(k), response.words(r), strict=False)
            token = next((i for i, (ours, theirs) in enumerate(pairs) if ours != theirs), None)
            if token is not None:
                line = response.words.line_of(r, token)
                ours, theirs = quoted(key.words(k)[token]), quoted(response.words(r)[token])
                place = f"line {key.words.line_of(k, token)}"
                yield Problem(f"token {token} of {name} is {theirs}; in the key ({place}) it is {ours}", line)
    if key.n_tokens is not None and response.n_tokens is not None and key.n_tokens[k] != response.n_tokens[r]:
        counted = "" if isinstance(response.words, _ConllWords | None) else ", empty nodes among them"
        tokens = f"{response.n_tokens[r]:,} tokens{counted}"
        yield Problem(f"{name} has {tokens}; in the key it has {key.n_tokens[k]:,}", line)


def dump_conll(table: MentionTable) -> str:
    """The documents as CoNLL text of five columns: document, part, number, word, mentions.

    Words are ``_`` where the table has none; sentences are not kept, and ids are only if all are numbers.

    Raises:
        ValueError: the number of tokens is not known, or the format can't express something: a discontinuous mention,
            two mentions of an entity that cross, a word with a blank, a name with a line end.
    """
    if table.n_tokens is None:
        raise ValueError("a CoNLL file has a row for every token, and the number of tokens is not known")
    if table.parts:
        raise ValueError("a CoNLL file can't express mentions of several parts")
    n_tokens = table.n_tokens.tolist()
    borders = np.searchsorted(table.document, np.arange(len(table.names) + 1)).tolist()
    return "".join(
        _dumped(table, i, slice(first, last), n_tokens[i]) for i, (first, last) in enumerate(pairwise(borders))
    )


def _dumped(table: MentionTable, document: int, mentions: slice, n_tokens: int) -> str:
    name = table.names[document]
    if not name or UNSAFE.search(name):
        raise ValueError(f"document {quoted(name)}: a CoNLL file can't express this name")
    parts = PARTED.fullmatch(name)
    head, part = (f"({parts[1]}); part {parts[2]}", parts[2]) if parts else (f"({name})", "0")
    first_cell = re.sub(r"\s|^#", "_", parts[1] if parts else name)
    words = (table.words(document) if table.words else ()) or ["_"] * n_tokens
    if unfit := [word for word in words if not WORD.fullmatch(word)]:
        raise ValueError(f"document {quoted(name)}: a CoNLL file can't express the word {quoted(unfit[0])}")
    cells = _dumped_cells(table, mentions, n_tokens)
    rows = [
        f"{first_cell}\t{part}\t{i}\t{word}\t{'|'.join(cell) or '-'}\n"
        for i, (word, cell) in enumerate(zip(words, cells, strict=True))
    ]
    return "".join([f"#begin document {head}\n", *rows, "\n#end document\n"])


def _dumped_cells(table: MentionTable, mentions: slice, n_tokens: int) -> list[list[str]]:
    """What opens and closes on each token: what closes first, then what opens, the longest first."""
    entity, start, end = (column[mentions].tolist() for column in (table.entity, table.start, table.end))
    names = _ids(table, sorted(set(entity)))
    opening: list[list[str]] = [[] for _ in range(n_tokens)]
    closing: list[list[str]] = [[] for _ in range(n_tokens)]
    open_ends: dict[int, list[int]] = {}
    for first, minus_last, number in sorted((s, -e, n) for n, s, e in zip(entity, start, end, strict=True)):
        last = -minus_last
        if first == last:
            opening[first].append(f"({names[number]})")
            continue
        ends = open_ends.setdefault(number, [])
        while ends and ends[-1] <= first:
            ends.pop()
        if ends and ends[-1] < last:
            found = f"two mentions of one entity that cross, the second on tokens {first} to {last}"
            raise ValueError(
                f"document {quoted(table.names[table.document[mentions][0]])}: a CoNLL file can't express {found}"
            )
        ends.append(last)
        opening[first].append(f"({names[number]}")
        closing[last].append(f"{names[number]})")
    return [closes + opens for closes, opens in zip(closing, opening, strict=True)]


def _ids(table: MentionTable, entities: Sequence[int]) -> dict[int, str]:
    """The ids of a document's entities: those of the table if they are numbers, otherwise counted from 0."""
    labels = [table.labels[entity] for entity in entities] if table.labels else []
    if len(set(labels)) == len(entities) and all(ID.fullmatch(label) for label in labels):
        return dict(zip(entities, labels, strict=True))
    return {entity: str(i) for i, entity in enumerate(entities)}
