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

Of the words, only a digest is kept; the rows of a document are read again when they are asked for.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from closeread.arrays import Ints
from closeread.exceptions import ProblemList, pluralize, quote, shorten
from closeread.formats import Format
from closeread.formats.text import UNSAFE
from closeread.records import Parsed
from closeread.tasks.coref.documents import (
    Document,
    MentionTable,
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
class _Document:
    """A document that is being read."""

    name: str
    line: int  # of ``#begin``
    begin: int  # of the line after it, in bytes
    width: int  # the number of cells of its rows
    word_cell: int  # from 0; negative if there is none
    n_tokens: int = 0
    mentions: list[list[int]] = field(default_factory=list)  # first token, last token, entity
    numbers: dict[bytes, int] = field(default_factory=dict)  # of the entities
    # the entities as the reference scorer meets them
    met: dict[bytes, None] = field(default_factory=dict)
    # The number and the line of the mentions of each entity that are open.
    open: defaultdict[bytes, list[tuple[int, int]]] = field(
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
                self.open[label].append((len(self.mentions), line))
            self.mentions.append([token, token, self.numbers.setdefault(label, len(self.numbers))])
        for label, _ in sorted(opening, key=lambda one: not one[1]):
            self.met.setdefault(label)
        for label in closing:
            if self.open.get(label):
                self.mentions[self.open[label].pop()[0]][1] = token
            else:
                found = f"entity {shorten(label.decode(), 60)} closes but is not open"
                problems.add(f"column {self.width}: {found}", line)

    def digest_words(self) -> None:
        """Add the words since the last call to the digest."""
        self.digest.update(b"".join([word + b"\n" for word in self.words]))
        self.words.clear()

    def end(self, problems: ProblemList) -> Document:
        """Return the document, and report mentions that are still open."""
        for label, opened in self.open.items():
            for _, line in opened:
                found = f"entity {shorten(label.decode(), 60)} opens but never closes"
                problems.add(f"column {self.width}: {found}", line)
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

    def __init__(
        self, text: bytes, places: Sequence[Place], columns: Sequence[tuple[int, int]]
    ) -> None:
        super().__init__(text, places)
        # the number of cells of each document's rows, and the cell of the word
        self._columns = columns

    def read_tokens(self, document: int) -> Iterator[tuple[int, bytes]]:
        """Yield the line and the word of every token of a document."""
        cell = self._columns[document][1]
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
        """Return some columns, from 0, and the sentence of each token, from 0; None if its rows lack such cells."""
        # the last cell is that of the mentions
        if 0 < self._columns[document][0] <= max(cells) + 1:
            return None
        rows = [
            (sentence, [row[cell].decode() for cell in cells])
            for _, sentence, row in self._read_rows(document)
        ]
        columns = [[row[i] for _, row in rows] for i in range(len(cells))]
        return columns, np.array([sentence for sentence, _ in rows], np.int64)

    def _read_rows(self, document: int) -> Iterator[tuple[int, int, list[bytes]]]:
        """Yield the line, the sentence from 0, and the cells of every token."""
        sentence, begins = -1, True
        for number, line in self._iterate_lines(document):
            if line.isspace():
                begins = True
            elif not line.startswith(b"#"):
                sentence += begins
                begins = False
                yield number, sentence, _split_row(line, self._columns[document][0])


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
    columns: list[tuple[int, int]] = []
    seen: dict[str, int] = {}
    unnamed: set[int] = set()
    document: _Document | None = None
    is_outside = False  # whether a token was found after the last document
    n_reopened, first_reopened = 0, ""
    stream, ahead = BytesIO(text), BytesIO(text)

    def end_document(ended: _Document, end: int) -> None:
        documents.append(ended.end(problems))
        places.append(Place(ended.begin, end, ended.line + 1, ended.digest.digest()))
        columns.append((ended.width, ended.word_cell))

    for number, line in enumerate(stream, 1):
        if line.startswith(b"#"):
            if not (marker := MARKER.match(line)):
                if document and _looks_like_token(line, document.width):
                    what = f"starts with '#' but has {document.width} columns like a token"
                    problems.add(
                        f"{what} (expected a comment with another number of words)", number
                    )
                continue
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
                    expected = (
                        "expected '#begin document (NAME)' or '#begin document (NAME); part PART'"
                    )
                    problems.add(
                        f"{quote(line.rstrip().decode())} has no document name ({expected})", number
                    )
                ahead.seek(position)
                row = _find_first_row(ahead)
                word_cell = word_column - 1 if word_column else _guess_word_cell(row, rest)
                if word_column and 0 < (n := len(row)) <= word_column:
                    has = f"the document has {pluralize(n, 'column')}, and the last contains the mentions"
                    expected = f"1 to {n - 1}" if n > 1 else "auto"
                    problems.add(
                        f"the word column is {word_column}, but {has} (expected {expected})", number
                    )
                    word_cell = -1
                document = _Document(
                    name or "without a name", number, position, len(row), word_cell
                )
        elif cells := line.split():
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
                cells = _split_row(line, document.width)
            if is_ragged := len(cells) != document.width:
                what = f"the number of columns is {len(cells)}"
                problems.add(
                    f"{what} (expected {document.width}, as in other rows of the document)", number
                )
            elif document.word_cell >= 0:
                document.words.append(cells[document.word_cell])
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
        where = f"{pluralize(n_reopened, 'cell')} (first: {first_reopened})"
        how = "what opens is read before what closes, as the reference scorer does"
        notices.append(f"an entity closes and opens again in {where}; {how}")
    table = make_table(
        documents,
        words=ConllWords(text, places, columns) if any(cell >= 0 for _, cell in columns) else None,
        notices=notices,
        unnamed=frozenset(unnamed),
    )
    return Parsed(table, list(seen.values()), [])


def _looks_like_token(line: bytes, width: int) -> bool:
    cells = line.split()
    if len(cells) != width:
        return False
    # Comments may end in a word in parentheses.
    return cells[-1] in NO_MENTION or bool(CELL.fullmatch(cells[-1]) and DIGIT.search(cells[-1]))


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
