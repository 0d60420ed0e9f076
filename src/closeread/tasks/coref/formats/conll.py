"""Coreference in CoNLL files: CoNLL-2011 and 2012, SemEval-2010, plain columns, and variants that readers accept.

Conventions: a document is between ``#begin document (NAME)`` or ``#begin document (NAME); part 000`` and
``#end document``; with a part its name is ``NAME; part 000``.  The parentheses may be absent (SemEval-2010), and so may
the name: the document is then named by its number in the file, from 1.  Other lines that begin with ``#`` are comments,
blank lines end sentences, and every other line is a token.  Cells are separated by any number of blanks and tabs; all
tokens of a document have the same number of cells.  A row that lacks its last cell and ends in a tab has an empty last
cell (as in LitBank).  Any other row with too few cells is split at its tabs: if it then has as many columns as the
others, some are empty (as is a word of OntoGUM).

The last cell contains the mentions: ``-`` and ``_`` mean that there is none, ``(12`` opens a mention of entity 12,
``12)`` closes the last open mention of entity 12, ``(12)`` is a mention of a single token; several are joined, with or
without ``|``.  Ids begin with a digit or an ASCII letter.  As in the reference scorer (Pradhan et al. 2014, version
8.01), opening brackets of a token are processed first: after ``(1``, the cell ``1)|(1`` closes what it opens, a mention
of its token alone, and the earlier mention remains open.

Unless its column is given, the word is the second of four or more cells if the first row of the document begins with a
number, as in SemEval-2010 (``ID TOKEN LEMMA ...``); the fourth of five or more other cells, as in CoNLL-2011 and 2012
(``DOCUMENT PART NUMBER WORD ...``); the last but one of fewer.  A row of CoNLL-2012 begins with a number, too, if that
is the document's name: its name is in parentheses and its second cell is a number.

Files are read line by line.  Of the words, only a digest is kept; the rows of a document are read again when they are
asked for.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np

from closeread import limits
from closeread.arrays import Ints
from closeread.exceptions import ProblemList, pluralize, quote, shorten
from closeread.formats import Format
from closeread.formats.text import UNSAFE, describe_unsafe, read_bytes
from closeread.records import Parsed
from closeread.tasks.coref.documents import Document, MentionTable, find_words, list_lengths, make_table, split_table
from closeread.tasks.coref.formats.coref_json import table_of
from closeread.tasks.coref.formats.lines import StoredWords, iterate_lines, place_brackets, read_parts

MARKER = re.compile(rb"#[ \t]*(begin|end)[ \t]+document\b")
PARENTHESIZED = re.compile(rb"[ \t]*\((.+)\)[ \t]*(?:;[ \t]*(?:part[ \t]+([^\s()]+)[ \t]*)?)?")
BARE = re.compile(rb"[ \t]+[^\s(;].*")
PART = re.compile(rb"[ \t]*(?:part[ \t]+([^\s()]+)[ \t]*)?")

# Of PropBank's `(ARG0*` no part is an id, and neither is a pair of entities, `(1+2)`.
ID = rb"[0-9A-Za-z][^\x00-\x20\x7f()|*+]*+"
# Possessive, so that a cell with a long id is not tried with every way to split it.
CELL = re.compile(rb"(?:\(%b\)?|%b\))(?:\|?(?:\(%b\)?|%b\)))*+" % (ID, ID, ID, ID))
PIECE = re.compile(rb"(\()?(%b)(\))?" % ID)
DIGIT = re.compile(rb"[0-9]")
NO_MENTION = (b"-", b"_")

NUMBER = re.compile(r"[0-9]+")
WORD = re.compile(r"[^\x00-\x20\x7f\ud800-\udfff]+")
PARTED = re.compile(r"(.+); part ([^\s()]+)")


@lru_cache(maxsize=2**12)
def _parse_cell(cell: bytes) -> tuple[list[tuple[bytes, bool]], list[bytes], bool] | None:
    """Parse a cell with mentions; None if it is invalid.

    Returns:
        The ids that open, each with whether it closes at once; those that close an earlier mention; and whether one
        closes and opens again.
    """
    if not CELL.fullmatch(cell) or UNSAFE.search(cell.decode()):
        return None
    opening, closing, closed, is_reopened = [], [], set(), False
    for opens, label, closes in PIECE.findall(cell):
        if opens:
            opening.append((label, bool(closes)))
            is_reopened |= not closes and label in closed
        else:
            closing.append(label)
            closed.add(label)
    return opening, closing, is_reopened


def split_row(line: bytes, width: int) -> list[bytes]:
    """Split a row into as many cells as the rows of its document have, if some of them may be empty."""
    cells = line.split()
    if len(cells) >= width:
        return cells
    line = line.rstrip(b"\r\n")
    if len(cells) == width - 1 and line.endswith(b"\t"):
        return [*cells, b"-"]
    columns = [column.strip() for column in line.split(b"\t")]
    if len(columns) == width and len(list(filter(None, columns))) == len(cells):
        return [*columns[:-1], columns[-1] or b"-"]
    return cells


@dataclass
class _Place:
    """The place of a document in its file.

    Attributes:
        name: its name.
        line: the line of ``#begin``.
        begin, end: the begin of its first line and the end of its last, in bytes.
        width: the number of cells of its rows.
        word_cell: the cell of the word, from 0; negative if there is none.
        n_tokens: the number of its tokens.
        digest: a digest of its words.
    """

    name: str
    line: int
    begin: int
    end: int
    width: int
    word_cell: int
    n_tokens: int = 0
    digest: bytes = b""


@dataclass
class _Mentions:
    """The mentions of a document that is being read.

    Attributes:
        rows: the first and last token and the entity of each.
        numbers: the entities' numbers.
        met: the entities in the order in which the reference scorer meets them.
        open: the number and the line of the mentions that are open.
    """

    rows: list[list[int]] = field(default_factory=list)
    numbers: dict[bytes, int] = field(default_factory=dict)
    met: dict[bytes, None] = field(default_factory=dict)
    open: defaultdict[bytes, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))


class ConllWords(StoredWords):
    """The words and other columns of a file's documents; documents without such a column have no words."""

    def __init__(self, text: bytes, places: Sequence[_Place]) -> None:
        super().__init__(text, [place.digest for place in places])
        self._places = places

    def read_tokens(self, document: int) -> Iterator[tuple[int, bytes]]:
        """Yield the line and the word of every token of a document."""
        cell = self._places[document].word_cell
        return ((line, cells[cell]) for line, _, cells in self._read_rows(document) if cell >= 0)

    def lines(self, document: int) -> list[int]:
        """Return the line of every token, from 1."""
        return [line for line, _, _ in self._read_rows(document)]

    def read_rows(self, document: int) -> list[list[str]]:
        """Return the rows of each sentence without the cell of the mentions, cells separated by tabs."""
        sentences: dict[int, list[str]] = {}
        for _, sentence, cells in self._read_rows(document):
            sentences.setdefault(sentence, []).append(b"\t".join(cells[:-1]).decode())
        return list(sentences.values()) or [[]]

    def read_columns(self, document: int, cells: Sequence[int]) -> tuple[Sequence[Sequence[str]], Ints] | None:
        """Return some columns, from 0, and the sentence of each token, from 0; None if its rows lack such cells."""
        if 0 < self._places[document].width <= max(cells) + 1:  # the last cell is that of the mentions
            return None
        rows = [(sentence, [row[cell].decode() for cell in cells]) for _, sentence, row in self._read_rows(document)]
        columns = [[row[i] for _, row in rows] for i in range(len(cells))]
        return columns, np.array([sentence for sentence, _ in rows], np.int64)

    def _read_rows(self, document: int) -> Iterator[tuple[int, int, list[bytes]]]:
        """Yield the line, the sentence from 0, and the cells of every token."""
        place, sentence, begins = self._places[document], -1, True
        for number, line in self._iterate_lines(place.begin, place.end, place.line + 1):
            if line.isspace():
                begins = True
            elif not line.startswith(b"#"):
                sentence += begins
                begins = False
                yield number, sentence, split_row(line, place.width)


class _Reader:
    """Reader of the lines of a file."""

    def __init__(self, path: Path, text: bytes, word_column: int | None) -> None:
        self.documents: list[Document] = []
        self.places: list[_Place] = []
        self.seen: dict[str, int] = {}  # the first line of each document name
        self.unnamed: set[int] = set()
        self.problems = ProblemList()
        self._path, self._text, self._word_column = path, text, word_column
        self._line = 0
        self._place: _Place | None = None  # of the current document
        self._mentions = _Mentions()
        self._words: list[bytes] = []
        self._digest = hashlib.blake2b(digest_size=16)
        self._is_outside = False  # whether a token was found after the last document
        self._lacks_words = False  # whether a document has no such column
        self._n_reopened, self._first_reopened = 0, ""

    def take(self, position: int, data: bytes) -> None:
        """Read some lines, given their position in the file."""
        for line in BytesIO(data):
            self._line += 1
            end = position + len(line)
            if line.startswith(b"#"):
                if marker := MARKER.match(line):
                    self._take_marker(marker[1], line, line[marker.end() :].rstrip(), position, end)
                elif self._place and self._looks_like_token(line, self._place.width):
                    found = f"starts with '#' but has {self._place.width} columns like a token"
                    self._report(f"{found} (expected a comment with another number of words)")
            elif cells := line.split():
                self._take_row(line, cells)
            position = end
        self._hash_words()
        if self.problems.total > limits.MAX_PROBLEMS:  # counting the problems of a gigabyte of garbage helps nobody
            self.problems.raise_any(self._path)

    def _looks_like_token(self, line: bytes, width: int) -> bool:
        cells = line.split()
        if len(cells) != width:
            return False
        # Comments may end in a word in parentheses.
        return cells[-1] in NO_MENTION or bool(CELL.fullmatch(cells[-1]) and DIGIT.search(cells[-1]))

    def _take_row(self, line: bytes, cells: list[bytes]) -> None:
        place = self._place
        if place is None:
            if not self._is_outside:
                self._report("token outside a document (expected '#begin document (NAME)' before it)")
            self._is_outside = True
            return
        token = place.n_tokens
        place.n_tokens += 1
        if is_ragged := len(cells) != place.width:
            cells = split_row(line, place.width)
            if is_ragged := len(cells) != place.width:
                found = f"the number of columns is {len(cells)}"
                self._report(f"{found} (expected {place.width}, as in other rows of the document)")
        if place.word_cell >= 0 and not is_ragged:
            self._words.append(cells[place.word_cell])
        cell = cells[-1]
        if cell in NO_MENTION:
            return
        if brackets := _parse_cell(cell):
            self._take_brackets(*brackets, token, cell)
        elif not is_ragged:
            expected = "expected '-', '(ID)', '(ID' or 'ID)', several separated by '|'"
            self._report(f"column {place.width}: {quote(cell.decode())} is not a valid mention cell ({expected})")

    def _take_brackets(
        self,
        opening: Sequence[tuple[bytes, bool]],
        closing: Sequence[bytes],
        is_reopened: bool,
        token: int,
        cell: bytes,
    ) -> None:
        mentions = self._mentions
        for label, is_single in opening:
            if not is_single:
                mentions.open[label].append((len(mentions.rows), self._line))
            mentions.rows.append([token, token, mentions.numbers.setdefault(label, len(mentions.numbers))])
        for label, _ in sorted(opening, key=lambda one: not one[1]):
            mentions.met.setdefault(label)
        for label in closing:
            if mentions.open.get(label):
                mentions.rows[mentions.open[label].pop()[0]][1] = token
            else:
                found = f"entity {shorten(label.decode(), 60)} closes but is not open"
                self._report(f"column {self._place.width if self._place else 0}: {found}")
        if is_reopened:
            self._n_reopened += 1
            self._first_reopened = self._first_reopened or f"{quote(cell.decode())} on line {self._line}"

    def _take_marker(self, kind: bytes, line: bytes, rest: bytes, begin: int, end: int) -> None:
        """Read the begin or the end of a document, and what is in its line after these words."""
        if kind == b"end":
            if self._place:
                self._end_document(self._place, begin)
            else:
                self._report("'#end document' without '#begin document'")
            return
        if self._place:
            before = f"document {quote(self._place.name)} (line {self._place.line})"
            self._report(f"a document begins inside {before} (expected '#end document' before it)")
            self._end_document(self._place, begin)
        row = first_row(iterate_lines(self._text, end))
        is_bare = not rest.lstrip().startswith(b"(")
        name = self._read_name(line, rest)
        self._place = _Place(name, self._line, end, end, len(row), self._choose_word_cell(row, is_bare=is_bare))

    def _read_name(self, line: bytes, rest: bytes) -> str:
        if not rest:
            self.unnamed.add(len(self.documents))
            name = str(len(self.documents) + 1)
        elif parsed := parse_name(rest):
            name = parsed
        else:
            expected = "'#begin document (NAME)' or '#begin document (NAME); part PART'"
            self._report(f"{quote(line.rstrip().decode())} has no document name (expected {expected})")
            return "without a name"
        if unsafe := describe_unsafe(name):
            self._report(f"document name {unsafe}")
        if (before := self.seen.setdefault(name, self._line)) != self._line:
            self._report(f"duplicate document {quote(name)} (first on line {before})")
        return name

    def _choose_word_cell(self, row: Sequence[bytes], *, is_bare: bool) -> int:
        """Return the cell of the word, from 0; negative if there is none."""
        n = len(row)
        if self._word_column is None:
            if n >= 4 and row[0].isdigit() and (is_bare or not row[1].isdigit()):
                return 1
            return 3 if n >= 5 else n - 2
        if not row or self._word_column < n:
            return self._word_column - 1
        if not self._lacks_words:
            has = f"the document has {pluralize(n, 'column')}, and the last contains the mentions"
            expected = f"1 to {n - 1}" if n > 1 else "auto"
            self._report(f"the word column is {self._word_column}, but {has} (expected {expected})")
        self._lacks_words = True
        return -1

    def _end_document(self, place: _Place, end: int) -> None:
        mentions = self._mentions
        for label, opened in mentions.open.items():
            for _, line in opened:
                found = f"entity {shorten(label.decode(), 60)} opens but never closes"
                self._report(f"column {place.width}: {found}", line)
        self._hash_words()
        place.end, place.digest = end, self._digest.digest()
        self.places.append(place)
        first, last, entity = np.array(mentions.rows, np.int64).reshape(-1, 3).T
        order = np.argsort(entity, kind="stable")
        met = {label: i for i, label in enumerate(mentions.met)}
        self.documents.append(
            Document(
                name=place.name,
                n_tokens=place.n_tokens,
                start=first[order],
                end=last[order],
                entity=entity[order],
                labels=[label.decode() for label in mentions.numbers],
                rank=[met[label] for label in mentions.numbers],
            )
        )
        self._place, self._mentions, self._is_outside = None, _Mentions(), False
        self._digest = hashlib.blake2b(digest_size=16)

    def _hash_words(self) -> None:
        self._digest.update(b"".join([word + b"\n" for word in self._words]))
        self._words.clear()

    def _report(self, what: str, line: int | None = None) -> None:
        self.problems.add(what, self._line if line is None else line)

    def finish(self) -> MentionTable:
        """Return all documents."""
        if self._place:
            found = f"document {quote(self._place.name)} never ends (expected '#end document')"
            self._report(found, self._place.line)
            self._end_document(self._place, len(self._text))
        elif not self.documents and not self.problems.total:
            self.problems.add("contains no document (expected '#begin document (NAME)' before the first token)")
        self.problems.raise_any(self._path)
        notices = []
        if self._n_reopened:
            where = f"{pluralize(self._n_reopened, 'cell')} (first: {self._first_reopened})"
            how = "what opens is read before what closes, as the reference scorer does"
            notices.append(f"an entity closes and opens again in {where}; {how}")
        has_words = any(place.word_cell >= 0 for place in self.places)
        return make_table(
            self.documents,
            words=ConllWords(self._text, self.places) if has_words else None,
            notices=notices,
            unnamed=frozenset(self.unnamed),
        )


def read_conll(path: Path, word_column: int | None = None) -> MentionTable:
    """Read the documents of a CoNLL file; the column of the word is counted from 1, and guessed if it is None."""
    return _read(path, word_column)[0]


def read_records(path: Path, split: str, word_column: int | None = None) -> Parsed:
    """The same, each with the line on which its document begins; names are the file's, whatever the split."""
    del split
    return Parsed(*_read(path, word_column), [])


def _read(path: Path, word_column: int | None) -> tuple[MentionTable, list[int]]:
    text = read_bytes(path)
    reader = _Reader(path, text, word_column)
    read_parts(path, text, reader.take)
    return reader.finish(), list(reader.seen.values())


def parse_name(text: bytes) -> str | None:
    """Return the name of a document, with its part; None if the text is no name.

    >>> parse_name(b" (nw/a); part 000"), parse_name(b" a"), parse_name(b" (a) b")
    ('nw/a; part 000', 'a', None)
    """
    if found := PARENTHESIZED.fullmatch(text):
        name, part = found[1], found[2]
    elif not BARE.fullmatch(text):
        return None
    else:
        head, separator, tail = text.rpartition(b";")
        match = PART.fullmatch(tail) if separator else None
        name, part = (head.strip(), match[1]) if match else (text.strip(), None)
    return name.decode() + (f"; part {part.decode()}" if part else "")


def first_row(lines: Iterable[bytes]) -> list[bytes]:
    """Return the cells of the first complete row of a document, given its lines; none if it has no rows.

    A row that begins or ends with a tab, or has two in a row, is used only if all do: a cell of it may be empty.
    """
    first: list[bytes] = []
    for line in lines:
        if line.startswith(b"#"):
            if MARKER.match(line):
                break
        elif cells := line.split():
            first = first or cells
            if b"\t\t" not in b"\t%b\t" % line.rstrip(b"\r\n"):
                return cells
    return first


def dump_conll(table: MentionTable) -> str:
    """Convert documents to CoNLL text with five columns: document, part, number, word, mentions.

    Words are ``_`` if the table has none.  Sentences are not kept; ids are kept if all are different numbers.

    Raises:
        ValueError: the number of tokens is unknown, or the format can't express something: a discontinuous mention,
            two crossing mentions of an entity, a word with a blank, a name with a line end.  Two mentions of an
            entity cross even if they share only the token on which one ends and the other begins.
    """
    return _dump(table, [[]] * len(table))


def dump_in_frames(table: MentionTable) -> str:
    """Convert documents to CoNLL text, with the columns and sentences of their own files if all of these are CoNLL.

    Otherwise columns and sentences are those of `dump_conll`, and so are the errors.
    """
    sources = [find_words(table, document) for document in range(len(table))]
    frames = [words.read_rows(place) if isinstance(words, ConllWords) else [] for words, place in sources]
    return _dump(table, frames if all(rows and all(map(all, rows)) for rows in frames) else [[]] * len(table))


def _dump(table: MentionTable, frames: Sequence[Sequence[Sequence[str]]]) -> str:
    """Convert documents to text, given the rows of the sentences of each without mentions, or nothing."""
    lengths = list_lengths(table, "a CoNLL file")
    if table.parts:
        raise ValueError("a CoNLL file can't express discontinuous mentions")
    text = []
    for i, document in enumerate(split_table(table)):
        name, n_tokens = document.name, lengths[i]
        head, parted = format_name(name), PARTED.fullmatch(name)
        part = parted[2] if parted else "0"
        first_cell = re.sub(r"\s|^#", "_", parted[1] if parted else name)
        words = (table.words(i) if table.words else ()) or ["_"] * n_tokens
        if invalid := [word for word in words if not WORD.fullmatch(word)]:
            raise ValueError(f"document {quote(name)}: a CoNLL file can't express the word {quote(invalid[0])}")
        cells = iter(format_cells(document, n_tokens))
        rows = frames[i] or [[f"{first_cell}\t{part}\t{number}\t{word}" for number, word in enumerate(words)]]
        text.append(f"#begin document {head}\n")
        text += ["".join(f"{row}\t{'|'.join(next(cells)) or '-'}\n" for row in sentence) + "\n" for sentence in rows]
        text.append("#end document\n")
    return "".join(text)


def format_name(name: str) -> str:
    """Return a document's name, and its part if it has one, as the first line of the document has it."""
    if not name or UNSAFE.search(name):
        raise ValueError(f"document {quote(name)}: a CoNLL file can't express this name")
    parts = PARTED.fullmatch(name)
    return f"({parts[1]}); part {parts[2]}" if parts else f"({name})"


def format_cells(document: Document, n_tokens: int) -> list[list[str]]:
    """List the brackets of each token of a document: closing ones first, then opening ones, longest mention first.

    Ids of entities are those of the document if they are numbers, otherwise 0, 1, …; some scorers take 07 and 7 for the
    same entity.
    """
    columns = zip(document.start.tolist(), document.end.tolist(), document.entity.tolist(), strict=True)
    spans = sorted((start, -end, entity) for start, end, entity in columns)
    entities = sorted({entity for _, _, entity in spans})
    labels = [document.labels[entity] for entity in entities] if document.labels else []
    if not all(map(NUMBER.fullmatch, labels)) or len({label.lstrip("0") for label in labels}) < len(entities):
        labels = list(map(str, range(len(entities))))
    names = dict(zip(entities, labels, strict=True))
    open_ends: defaultdict[int, list[int]] = defaultdict(list)
    for start, minus_end, entity in spans:
        ends = open_ends[entity]
        while ends and ends[-1] < start:
            ends.pop()
        if start < -minus_end:
            if ends and ends[-1] < -minus_end:
                found = f"two crossing mentions of one entity, the second on tokens {start} to {-minus_end}"
                raise ValueError(f"document {quote(document.name)}: a CoNLL file can't express {found}")
            ends.append(-minus_end)
    cells = place_brackets(((*span, f"({names[span[2]]}", f"{names[span[2]]})") for span in spans), n_tokens)
    return [closing + opening for closing, opening in cells]


FORMAT = Format(
    read_records,
    lambda records: dump_conll(table_of(records)),
    suffixes=(".conll",),
    first_line=re.compile(r"#\s*begin\s+document", re.ASCII),
)
