"""CoNLL: files of CoNLL-2011 and 2012, SemEval-2010, plain columns, and variants that readers accept.

Conventions: a document is between ``#begin document (NAME)`` or ``#begin document (NAME); part 000`` and
``#end document``; with a part its name is ``NAME; part 000``.  The parentheses may be absent (SemEval-2010), and so may
the name: the document is then named by its number in the file, from 1.  Other lines that begin with ``#`` are comments,
blank lines end sentences, and every other line is a token.  So is a line that begins with ``#`` if it has as many cells
as the tokens around it, or begins with a document name as they do, and its last cell may be one of mentions.

Cells are separated by any number of blanks and tabs; all tokens of a sentence have the same number of cells.  Sentences
may differ: CoNLL-2012 has a column for each predicate of the sentence.  A row that lacks its last cell and ends in a tab
has an empty last cell (as in LitBank).  Any other row with too few cells is split at its tabs: if it then has as many
columns as the others, some are empty (as is a word of OntoGUM).

The last cell contains the mentions: ``-`` and ``_`` mean that there is none, ``(12`` opens a mention of entity 12,
``12)`` closes the last open mention of entity 12, ``(12)`` is a mention of a single token; several are joined, with or
without ``|``.  Ids begin with a digit or an ASCII letter.  As in the reference scorer (Pradhan et al. 2014, version
8.01), opening brackets of a token are processed first: after ``(1``, the cell ``1)|(1`` closes what it opens, a mention
of its token alone, and the earlier mention remains open.

Unless its column is given, the word is the second of four or more cells if the first row of the document begins with a
number, as in SemEval-2010 (``ID TOKEN LEMMA ...``); the fourth of five or more other cells, as in CoNLL-2011 and 2012
(``DOCUMENT PART NUMBER WORD ...``); the last but one of fewer.  A row of CoNLL-2012 begins with a number, too, if that
is the document's name: its name is in parentheses and its second cell is a number.

Of the words, only a digest is kept; the rows of a document are read again when they are asked for.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Ints
from closeread.exceptions import ProblemList, pluralize, quote, shorten
from closeread.formats import Format
from closeread.formats.text import UNSAFE
from closeread.records import Parsed
from closeread.tasks.coref.documents import (
    Document,
    MentionTable,
    count_notice,
    find_words,
    list_lengths,
    make_table,
    split_table,
)
from closeread.tasks.coref.formats.coref_json import table_of
from closeread.tasks.coref.formats.lines import (
    Place,
    StoredWords,
    check_name,
    has_controls,
    list_words,
    place_brackets,
    read_text,
)

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
CONTROL = re.compile(rb"[^\t\r\n -~\x80-\xff]|\r(?!\n|\Z)")

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


def _split_row(line: bytes, width: int) -> list[bytes]:
    """Split a row into as many cells as the rows around it have, if some of them may be empty."""
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


class _Layout(NamedTuple):
    """How the rows of a document are divided into cells.

    Attributes:
        width: the number of cells of its first complete row; 0 if it has none.
        word_cell: the cell of the word, from 0; negative if there is none.
        hash_cell: the first cell of that row if it begins with ``#``, as the document's name may; empty otherwise.
    """

    width: int
    word_cell: int
    hash_cell: bytes

    def is_token(self, line: bytes, width: int) -> bool:
        """Whether a line that begins with ``#`` is a token of a sentence with so many cells, not a comment."""
        cells = line.split()
        has_width = len(cells) == (width or self.width)
        return (has_width or cells[0] == self.hash_cell) and _has_mention_cell(cells)


@dataclass
class _Document:
    """A document that is being read."""

    name: str
    line: int  # of ``#begin``
    begin: int  # of the line after it, in bytes
    layout: _Layout
    width: int = 0  # the number of cells of the rows of the sentence; 0 before its first row
    unit: str = "sentence"  # what has rows of that width
    n_tokens: int = 0
    mentions: list[list[int]] = field(default_factory=list)  # first token, last token, entity
    numbers: dict[bytes, int] = field(default_factory=dict)  # of the entities
    # the entities as the reference scorer meets them
    met: dict[bytes, None] = field(default_factory=dict)
    # The number, the line and the column of the mentions of each entity that are open.
    open: defaultdict[bytes, list[tuple[int, int, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    words: list[bytes] = field(default_factory=list)  # that are not yet in the digest
    digest: Any = field(default_factory=partial(hashlib.blake2b, digest_size=16))

    def take_brackets(
        self,
        opening: Sequence[tuple[bytes, bool]],
        closing: Sequence[bytes],
        line: int,
        problems: ProblemList,
    ) -> None:
        """Read the brackets of the last token."""
        token = self.n_tokens - 1
        for label, is_single in opening:
            if not is_single:
                self.open[label].append((len(self.mentions), line, self.width))
            self.mentions.append([token, token, self.numbers.setdefault(label, len(self.numbers))])
        for label, _ in sorted(opening, key=lambda one: not one[1]):
            self.met.setdefault(label)
        for label in closing:
            if self.open.get(label):
                self.mentions[self.open[label].pop()[0]][1] = token
            else:
                found = f"entity {shorten(label.decode(), 60)} closes but is not open"
                problems.add(f"column {self.width}: {found}", line)

    def split_row(self, line: bytes) -> list[bytes]:
        """Split a row; the first one of a sentence decides how many cells the sentence's rows have."""
        cells = _split_row(line, self.width or self.layout.width)
        if self.width == 0:
            # A sentence may be wider or narrower than others, but never lack the word.
            has_word = len(cells) > self.layout.word_cell + 1
            self.unit = "sentence" if has_word else "document"
            self.width = len(cells) if has_word else self.layout.width
        return cells

    def digest_words(self) -> None:
        """Add the words since the last call to the digest."""
        self.digest.update(b"".join([word + b"\n" for word in self.words]))
        self.words.clear()

    def end(self, problems: ProblemList) -> Document:
        """Return the document, and report mentions that are still open."""
        for label, opened in self.open.items():
            for _, line, column in opened:
                found = f"entity {shorten(label.decode(), 60)} opens but never closes"
                problems.add(f"column {column}: {found}", line)
        self.digest_words()
        first, last, entity = np.array(self.mentions, np.int64).reshape(-1, 3).T
        order = np.argsort(entity, kind="stable")
        met = {label: i for i, label in enumerate(self.met)}
        return Document(
            name=self.name,
            n_tokens=self.n_tokens,
            start=first[order],
            end=last[order],
            entity=entity[order],
            labels=[label.decode() for label in self.numbers],
            rank=[met[label] for label in self.numbers],
        )


class ConllWords(StoredWords):
    """The words and other columns of a file's documents; documents without such a column have no words."""

    def __init__(self, text: bytes, places: Sequence[Place], layouts: Sequence[_Layout]) -> None:
        super().__init__(text, places)
        self._layouts = layouts

    @property
    def width(self) -> int:
        """The number of columns of the widest rows."""
        return max((layout.width for layout in self._layouts), default=0)

    def read_tokens(self, document: int) -> Iterator[tuple[int, bytes]]:
        """Yield the line and the word of every token of a document."""
        cell = self._layouts[document].word_cell
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

    def read_columns(
        self, document: int, cells: Sequence[int]
    ) -> tuple[Sequence[Sequence[str]], Ints] | None:
        """Return some columns, from 0, and the sentence of each token, from 0; None if a row lacks such a cell."""
        columns: list[list[str]] = [[] for _ in cells]
        sentences = []
        # The last cell is that of the mentions.
        least_width = max(cells) + 2
        for _, sentence, row in self._read_rows(document):
            if len(row) < least_width:
                return None
            sentences.append(sentence)
            for column, cell in zip(columns, cells, strict=True):
                column.append(row[cell].decode())
        return columns, np.array(sentences, np.int64)

    def _read_rows(self, document: int) -> Iterator[tuple[int, int, list[bytes]]]:
        """Yield the line, the sentence from 0, and the cells of every token."""
        layout = self._layouts[document]
        sentence, width = -1, 0
        for number, line in self._iterate_lines(document):
            if line.isspace():
                width = 0
            elif not line.startswith(b"#") or layout.is_token(line, width):
                cells = _split_row(line, width or layout.width)
                if width == 0:
                    sentence, width = sentence + 1, len(cells)
                yield number, sentence, cells


def describe_reopened(counts: Mapping[str, int]) -> str:
    """Say how cells are read in which an entity closes and opens again."""
    cells = pluralize(counts["cells"], "cell")
    how = "what opens is read before what closes, as the reference scorer does"
    return f"an entity closes and opens again in {cells}; {how}"


def read_conll(path: Path, word_column: int | None = None) -> MentionTable:
    """Read the documents of a CoNLL file; the column of the word is counted from 1, and guessed if it is None."""
    return table_of(read_records(path, "", word_column).records)


def read_records(path: Path, split: str, word_column: int | None = None) -> Parsed:
    """The same, each with the line on which its document begins; names are the file's, whatever the split."""
    del split
    text, problems = read_text(path), ProblemList()
    if has_controls(text):
        for number, line in enumerate(BytesIO(text), 1):
            if found := CONTROL.search(line):
                problems.add(
                    f"character {found.start() + 1} is the control character U+{ord(found[0]):04X}",
                    number,
                )
        problems.raise_any(path)
    documents: list[Document] = []
    places: list[Place] = []
    layouts: list[_Layout] = []
    seen: dict[str, int] = {}
    unnamed: set[int] = set()
    document: _Document | None = None
    word_cell = -1
    is_outside = False  # whether a token was found after the last document
    n_reopened, first_reopened = 0, ""
    stream, ahead = BytesIO(text), BytesIO(text)

    def end_document(ended: _Document, end: int) -> None:
        documents.append(ended.end(problems))
        places.append(Place(ended.begin, end, ended.line + 1, ended.digest.digest()))
        layouts.append(ended.layout)

    for number, line in enumerate(stream, 1):
        if line.startswith(b"#"):
            if marker := MARKER.match(line):
                is_begin, position = marker[1] == b"begin", stream.tell()
                if document:
                    if is_begin:
                        before = f"document {quote(document.name)} (line {document.line})"
                        problems.add(
                            f"a document begins inside {before} (expected '#end document' before it)",
                            number,
                        )
                    end_document(document, position - len(line))
                    document, is_outside = None, False
                elif not is_begin:
                    problems.add("'#end document' without '#begin document'", number)
                if is_begin:
                    rest = line[marker.end() :].rstrip()
                    name = parse_name(rest) if rest else str(len(documents) + 1)
                    if not rest:
                        unnamed.add(len(documents))
                    if name:
                        check_name(name, number, seen, problems)
                    else:
                        expected = "expected '#begin document (NAME)' or '#begin document (NAME); part PART'"
                        problems.add(
                            f"{quote(line.rstrip().decode())} has no document name ({expected})",
                            number,
                        )
                    ahead.seek(position)
                    row = _find_first_row(ahead)
                    word_cell = word_column - 1 if word_column else _guess_word_cell(row, rest)
                    if word_column and 0 < (n := len(row)) <= word_column:
                        has = f"the document has {pluralize(n, 'column')}, and the last contains the mentions"
                        expected = f"1 to {n - 1}" if n > 1 else "auto"
                        problems.add(
                            f"the word column is {word_column}, but {has} (expected {expected})",
                            number,
                        )
                        word_cell = -1
                    hash_cell = row[0] if row and row[0].startswith(b"#") else b""
                    layout = _Layout(len(row), word_cell, hash_cell)
                    document = _Document(name or "without a name", number, position, layout)
                continue
            if document is None or not document.layout.is_token(line, document.width):
                continue
        if cells := line.split():
            if document is None:
                if not is_outside:
                    problems.add(
                        "token outside a document (expected '#begin document (NAME)' before it)",
                        number,
                    )
                is_outside = True
                continue
            document.n_tokens += 1
            if len(cells) != document.width:
                cells = document.split_row(line)
            is_ragged = len(cells) != document.width
            if is_ragged:
                expected = f"expected {document.width}, as in other rows of the {document.unit}"
                problems.add(f"the number of columns is {len(cells)} ({expected})", number)
            elif word_cell >= 0:
                document.words.append(cells[word_cell])
                if len(document.words) == 2**16:
                    document.digest_words()
            cell = cells[-1]
            if cell in NO_MENTION:
                continue
            if brackets := _parse_cell(cell):
                opening, closing, is_reopened = brackets
                document.take_brackets(opening, closing, number, problems)
                n_reopened += is_reopened
                if n_reopened == is_reopened == 1:
                    first_reopened = f"{quote(cell.decode())} on line {number}"
            elif not is_ragged:
                expected = "expected '-', '(ID)', '(ID' or 'ID)', several separated by '|'"
                what = f"{quote(cell.decode())} is not a valid mention cell ({expected})"
                problems.add(f"column {document.width}: {what}", number)
        elif document:
            document.width = 0
    if document:
        problems.add(
            f"document {quote(document.name)} never ends (expected '#end document')", document.line
        )
        end_document(document, len(text))
    elif not documents and not problems:
        problems.add(
            "contains no document (expected '#begin document (NAME)' before the first token)"
        )
    problems.raise_any(path)
    notices = []
    if n_reopened:
        notices.append(count_notice(describe_reopened, {"cells": n_reopened}, first_reopened))
    table = make_table(
        documents,
        words=ConllWords(text, places, layouts)
        if any(layout.word_cell >= 0 for layout in layouts)
        else None,
        notices=notices,
        unnamed=frozenset(unnamed),
    )
    return Parsed(table, list(seen.values()), [])


def _has_mention_cell(cells: Sequence[bytes]) -> bool:
    """Whether the last cell of a row may be one of mentions; comments may end in a word in parentheses."""
    last = cells[-1]
    return last in NO_MENTION or bool(CELL.fullmatch(last) and DIGIT.search(last))


def _guess_word_cell(row: Sequence[bytes], name: bytes) -> int:
    """Guess the cell of the word, from 0, from a row and the name as written; negative if there is none."""
    is_bare = not name.lstrip().startswith(b"(")
    if len(row) >= 4 and row[0].isdigit() and (is_bare or not row[1].isdigit()):
        return 1
    return 3 if len(row) >= 5 else len(row) - 2


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


def _find_first_row(lines: Iterable[bytes]) -> list[bytes]:
    """Find the first complete row of a document; none if it has no rows.

    A row that begins or ends with a tab, or has two in a row, is used only if all do: a cell of it may be empty.  A row
    that begins with ``#`` is used only if all do.
    """
    first: list[bytes] = []
    first_with_hash: list[bytes] = []
    for line in lines:
        cells = line.split()
        if MARKER.match(line):
            break
        if line.startswith(b"#"):
            if not first_with_hash and len(cells) > 1 and _has_mention_cell(cells):
                first_with_hash = cells
        elif cells:
            first = first or cells
            if b"\t\t" not in b"\t%b\t" % line.rstrip(b"\r\n"):
                return cells
    return first or first_with_hash


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
    frames = [
        words.read_rows(place) if isinstance(words, ConllWords) else [] for words, place in sources
    ]
    return _dump(
        table, frames if all(rows and all(map(all, rows)) for rows in frames) else [[]] * len(table)
    )


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
        words = list_words(table, i, n_tokens, WORD, "a CoNLL file")
        cells = iter(format_cells(document, n_tokens))
        rows = frames[i] or [
            [f"{first_cell}\t{part}\t{number}\t{word}" for number, word in enumerate(words)]
        ]
        text.append(f"#begin document {head}\n")
        text += [
            "".join(f"{row}\t{'|'.join(next(cells)) or '-'}\n" for row in sentence) + "\n"
            for sentence in rows
        ]
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
    columns = zip(
        document.start.tolist(), document.end.tolist(), document.entity.tolist(), strict=True
    )
    spans = sorted((start, -end, entity) for start, end, entity in columns)
    entities = sorted({entity for _, _, entity in spans})
    labels = [document.labels[entity] for entity in entities] if document.labels else []
    if not all(map(NUMBER.fullmatch, labels)) or len({label.lstrip("0") for label in labels}) < len(
        entities
    ):
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
                raise ValueError(
                    f"document {quote(document.name)}: a CoNLL file can't express {found}"
                )
            ends.append(-minus_end)
    cells = place_brackets(
        ((*span, f"({names[span[2]]}", f"{names[span[2]]})") for span in spans), n_tokens
    )
    return [closing + opening for closing, opening in cells]


FORMAT = Format(
    read_records,
    lambda records: dump_conll(table_of(records)),
    suffixes=(".conll",),
    first_line=re.compile(r"#\s*begin\s+document", re.ASCII),
)
