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
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import Problem, ProblemList, pluralize, quote, shorten
from closeread.formats.text import UNSAFE
from closeread.tasks.coref.documents import (
    NO_WORDS,
    Document,
    Documents,
    Entity,
    Mention,
    TokenColumns,
    WordLayout,
    list_lengths,
)
from closeread.tasks.coref.formats.lines import (
    FileText,
    Section,
    StoredWords,
    check_continuous,
    check_name,
    has_controls,
    iterate_hash_lines,
    list_words,
    place_mentions,
    read_text,
    report_control,
    sort_spans,
)
from closeread.tasks.coref.formats.reading import DEFAULT_READING, CorefFormat, Reading
from closeread.tasks.coref.notices import count_notice

FILE = "a CoNLL file"

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
NO_MENTION = (b"-", b"_", b"")

NUMBER = re.compile(r"[0-9]+")
WORD = re.compile(r"[^\x00-\x20\x7f\ud800-\udfff]+")
PARTED = re.compile(r"(.+); part ([^\s()]+)")


class Brackets(NamedTuple):
    """The mentions that begin and end on a token.

    Attributes:
        opening: the ids of the mentions that begin, and whether they are of this token alone.
        met: the same ids as the reference scorer meets them: mentions of this token alone come first; a dictionary,
            since these are merged at once.
        closing: the ids of those that end, and began earlier or on this token.
        is_reopened: whether an entity closes and opens again.
    """

    opening: Sequence[tuple[bytes, bool]]
    met: Mapping[bytes, None]
    closing: Sequence[bytes]
    is_reopened: bool


COMMA_ROW = re.compile(rb"^[^\s,#][^\s,]*,[0-9]+,[0-9]+,\S*,\S*\r?$", re.MULTILINE)
"""A row whose columns, of which the second is the part's number and the third the token's, are separated by commas."""


@lru_cache(maxsize=2**16)
def _parse_cell(cell: bytes) -> Brackets | None:
    """Parse a cell with mentions; None if it is invalid."""
    if not CELL.fullmatch(cell) or UNSAFE.search(cell.decode()):
        return None
    opening = []
    closing: list[bytes] = []
    is_reopened = False
    for opens, label, closes in PIECE.findall(cell):
        if not opens:
            closing.append(label)
            continue
        opening.append((label, bool(closes)))
        if not closes and label in closing:
            is_reopened = True
    singles = [label for label, is_single in opening if is_single]
    longer = [label for label, is_single in opening if not is_single]
    return Brackets(opening, dict.fromkeys(singles + longer), closing, is_reopened)


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


@dataclass(kw_only=True, eq=False)
class ConllWords(StoredWords):
    """The words and other columns of a document, whose rows have a layout."""

    layout: _Layout
    digest: bytes
    n_columns: int

    def read_tokens(self) -> Iterator[tuple[int, bytes]]:
        """Yield the line and the word of every token."""
        cell = self.layout.word_cell
        return ((line, cells[cell]) for line, _, cells in self._read_rows())

    def read_rows(self) -> list[list[str]]:
        """Return the rows of each sentence without the cell of the mentions, cells separated by tabs."""
        sentences: dict[int, list[str]] = {}
        for _, sentence, cells in self._read_rows():
            sentences.setdefault(sentence, []).append(b"\t".join(cells[:-1]).decode())
        return list(sentences.values()) or [[]]

    def read_columns(self, cells: Sequence[int]) -> TokenColumns | None:
        """Return some columns, from 0; None if a row lacks such a cell."""
        columns: list[list[str]] = [[] for _ in cells]
        sentences: list[int] = []
        lines: list[int] = []
        # The last cell is that of the mentions.
        least_width = max(cells) + 2
        for line, sentence, row in self._read_rows():
            if len(row) < least_width:
                return None
            sentences.append(sentence)
            lines.append(line)
            for column, cell in zip(columns, cells, strict=True):
                column.append(row[cell].decode())
        return TokenColumns(columns, sentences, lines)

    def read_layout(self) -> WordLayout:
        """Return the sentences, which blank lines separate."""
        starts: list[int] = []
        for token, (_, sentence, _) in enumerate(self._read_rows()):
            if sentence == len(starts):
                starts.append(token)
        return WordLayout(starts)

    def _read_rows(self) -> Iterator[tuple[int, int, list[bytes]]]:
        """Yield the line, the sentence from 0, and the cells of every token."""
        layout = self.layout
        sentence = -1
        width = 0
        for number, line in self._iterate_lines():
            if not line or line.isspace():
                width = 0
            elif not line.startswith(b"#") or layout.is_token(line, width):
                cells = _split_row(line, width or layout.width)
                if width == 0:
                    sentence += 1
                    width = len(cells)
                yield number, sentence, cells


def describe_reopened(counts: Mapping[str, int]) -> str:
    """Say how cells are read in which an entity closes and opens again."""
    cells = pluralize(counts["cells"], "cell")
    how = "what opens is read before what closes, as the reference scorer does"
    return f"an entity closes and opens again in {cells}; {how}"


def read_records(path: Path, reading: Reading = DEFAULT_READING) -> Documents:
    """Read the documents of a CoNLL file."""
    text = read_text(path)
    problems = ProblemList()
    if has_controls(text):
        for number, line in enumerate(text.split(b"\n"), start=1):
            report_control(line, number, problems)
        problems.raise_any(path)
    sections = _split_documents(text, problems)
    stored_text = FileText(path) if reading.is_reread else text
    word_column = 0 if reading.word_column == "auto" else int(reading.word_column)
    reader = _DocumentReader(text, stored_text, word_column, problems)
    documents = [reader.read(section) for section in sections]
    if problems and COMMA_ROW.search(text):
        message = "columns are separated by commas (expected white space)"
        problems = ProblemList([Problem(message)])
    problems.raise_any(path)
    notices = []
    if reader.n_reopened:
        counts = {"cells": reader.n_reopened}
        notices.append(count_notice(describe_reopened, counts, reader.first_reopened))
    return Documents(documents, notices)


# First phase: the documents of a file


def _split_documents(text: bytes, problems: ProblemList) -> list[Section]:
    """Find the lines of each document."""
    sections: list[Section] = []
    lines_by_name: dict[str, int] = {}
    is_open = False
    # Where the lines begin that are in no document, and whether one of them since the last document is a token.
    outside = 0
    has_outside_token = False
    for line, begin, end in iterate_hash_lines(text):
        marker = MARKER.match(text, begin, end)
        if not marker:
            continue
        is_begin = marker[1] == b"begin"
        if is_open:
            if is_begin:
                before = f"document {quote(_name_of(sections[-1]))} (line {sections[-1].line})"
                message = f"a document begins inside {before} (expected '#end document' before it)"
                problems.add(message, line)
            sections[-1] = sections[-1]._replace(end=begin)
            has_outside_token = False
        else:
            has_outside_token = has_outside_token or _find_token(text, outside, begin, problems)
            if not is_begin:
                problems.add("'#end document' without '#begin document'", line)
        outside = end
        is_open = is_begin
        if is_begin:
            header = text[marker.end() : end].rstrip()
            name = parse_name(header) if header else str(len(sections) + 1)
            if name:
                check_name(name, line, lines_by_name, problems)
            else:
                expected = (
                    "expected '#begin document (NAME)' or '#begin document (NAME); part PART'"
                )
                marker_line = quote(text[begin:end].rstrip().decode())
                problems.add(f"{marker_line} has no document name ({expected})", line)
            sections.append(Section(name or "", header, line, end, len(text)))
    if is_open:
        name = quote(_name_of(sections[-1]))
        problems.add(f"document {name} never ends (expected '#end document')", sections[-1].line)
    elif not has_outside_token:
        _find_token(text, outside, len(text), problems)
    if not sections and not problems:
        problems.add(
            "contains no document (expected '#begin document (NAME)' before the first token)"
        )
    return sections


def _name_of(section: Section) -> str:
    return section.name or "without a name"


def _find_token(text: bytes, begin: int, end: int, problems: ProblemList) -> bool:
    """Report the first line between two documents that is a token; return whether there is one."""
    between = text[begin:end]
    if not between.strip():
        return False
    first_line = text.count(b"\n", 0, begin) + 1
    for number, line in enumerate(between.split(b"\n"), start=first_line):
        if line.strip() and not line.startswith(b"#"):
            expected = "expected '#begin document (NAME)' before it"
            problems.add(f"token outside a document ({expected})", number)
            return True
    return False


# Second phase: a document


@dataclass
class _Entities:
    """The entities of a document, as far as it has been read; mentions are numbered in the order in which they open.

    Attributes:
        starts, ends: the first and the last token of each mention; while it is open, the first one twice.
        mentions: the mentions of each entity, by its id.
        met: the ids in the order in which the reference scorer meets them.
        open: the mentions of each entity that are open.
    """

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    mentions: defaultdict[bytes, list[int]] = field(default_factory=lambda: defaultdict(list))
    met: dict[bytes, None] = field(default_factory=dict)
    open: defaultdict[bytes, list[int]] = field(default_factory=lambda: defaultdict(list))

    def take_brackets(self, brackets: Brackets, token: int) -> list[bytes]:
        """Read the brackets of a token, of which those that open come first, as in the reference scorer.

        Returns the ids of entities that close but are not open.
        """
        for label, is_single in brackets.opening:
            number = len(self.starts)
            self.starts.append(token)
            self.ends.append(token)
            self.mentions[label].append(number)
            if not is_single:
                self.open[label].append(number)
        self.met.update(brackets.met)
        stray = []
        for label in brackets.closing:
            numbers = self.open.get(label)
            if numbers:
                self.ends[numbers.pop()] = token
            else:
                stray.append(label)
        return stray

    def list_entities(self) -> tuple[list[Entity], list[int] | None]:
        """Return the entities, and their places in the order of the reference scorer; None if the orders are the same."""
        mentions = list(map(Mention, self.starts, self.ends))
        entities = []
        for label, numbers in self.mentions.items():
            entities.append(Entity(label.decode(), [mentions[number] for number in numbers]))
        if list(self.met) == list(self.mentions):
            return entities, None
        places = {label: place for place, label in enumerate(self.met)}
        return entities, [places[label] for label in self.mentions]


MentionCell = tuple[int, int, int, bool, bytes]
"""A cell with mentions: the token and the line of its row, its column, from 1, whether its row has too few or too many
cells, and its text.  A plain tuple, since every seventh word has one."""


class _Rows(NamedTuple):
    """The words of a document, and the cells of its rows in which mentions begin and end."""

    words: list[bytes]
    mention_cells: list[MentionCell]


@dataclass
class _DocumentReader:
    """Reader of the documents of a file.

    Attributes:
        text: the text of the file.
        stored_text: where the words are read again.
        word_column: the column of the words, from 1; 0 to guess it.
        problems: what is wrong with the file.
        n_reopened: the number of cells in which an entity closes and opens again.
        first_reopened: the first of them, and its line.
    """

    text: bytes
    stored_text: bytes | FileText
    word_column: int
    problems: ProblemList
    n_reopened: int = 0
    first_reopened: str = ""

    def read(self, section: Section) -> Document:
        """Read a document."""
        text = self.text[section.begin : section.end]
        layout = self._find_layout(section, text)
        rows = self._split_rows(section, text, layout)
        entities, reference_order = self._read_entities(rows.mention_cells).list_entities()
        words = NO_WORDS
        if layout.word_cell >= 0:
            packed = b"\n".join([*rows.words, b""])
            words = ConllWords(
                text=self.stored_text,
                section=section,
                layout=layout,
                digest=hashlib.blake2b(packed, digest_size=16).digest(),
                n_columns=layout.width,
            )
        return Document(
            name=section.name,
            entities=entities,
            n_tokens=len(rows.words),
            words=words,
            is_named=bool(section.header),
            reference_order=reference_order,
        )

    def _split_rows(self, section: Section, text: bytes, layout: _Layout) -> _Rows:
        """Split the lines of tokens into cells, and report those that have too few or too many."""
        words: list[bytes] = []
        mention_cells: list[MentionCell] = []
        has_hashes = b"#" in text
        word_cell = layout.word_cell
        # Splitting at tabs alone is faster.  Where it gives as many cells as are expected, some of them may be empty, as
        # `_split_row` says.
        has_blanks = b" " in text or b"\r" in text
        separator = None if has_blanks else b"\t"
        # The number of cells of the rows of the sentence; None before its first row.
        width: int | None = None
        unit = "sentence"
        for number, line in enumerate(text.split(b"\n"), section.line + 1):
            cells = line.split(separator)
            is_ragged = False
            # Other rows than those that are as wide as the last one, and begin with a cell, are looked at closely.
            if len(cells) != width or not cells[0] or (has_hashes and line.startswith(b"#")):
                if not line or line.isspace():
                    width = None
                    continue
                if line.startswith(b"#") and not layout.is_token(line, width or 0):
                    continue
                if len(cells) != width:
                    cells = _split_row(line, width or layout.width)
                    if width is None:
                        # A sentence may be wider or narrower than others, but never lack the word.
                        has_word = len(cells) > word_cell + 1
                        unit = "sentence" if has_word else "document"
                        width = len(cells) if has_word else layout.width
                    is_ragged = len(cells) != width
                    if is_ragged:
                        expected = f"expected {width}, as in other rows of the {unit}"
                        message = f"the number of columns is {len(cells)} ({expected})"
                        self.problems.add(message, number)
            cell = cells[-1]
            if cell not in NO_MENTION:
                mention_cells.append((len(words), number, width, is_ragged, cell))
            words.append(cell if is_ragged else cells[word_cell])
        return _Rows(words, mention_cells)

    def _read_entities(self, mention_cells: Sequence[MentionCell]) -> _Entities:
        """Read the mentions of a document."""
        entities = _Entities()
        for token, line, column, is_ragged, cell in mention_cells:
            brackets = _parse_cell(cell)
            if brackets is not None:
                for label in entities.take_brackets(brackets, token):
                    self._report(line, column, f"{_name_entity(label)} closes but is not open")
                if brackets.is_reopened:
                    self._count_reopened(cell, line)
            elif not is_ragged:
                expected = "expected '-', '(ID)', '(ID' or 'ID)', several separated by '|'"
                message = f"{quote(cell.decode())} is not a valid mention cell ({expected})"
                self._report(line, column, message)
        if any(entities.open.values()):
            place_by_token = {token: (line, column) for token, line, column, _, _ in mention_cells}
            for label, mentions in entities.open.items():
                for mention in mentions:
                    place = place_by_token[entities.starts[mention]]
                    self._report(*place, f"{_name_entity(label)} opens but never closes")
        return entities

    def _report(self, line: int, column: int, message: str) -> None:
        self.problems.add(f"column {column}: {message}", line)

    def _find_layout(self, section: Section, text: bytes) -> _Layout:
        row = _find_first_row(BytesIO(text))
        column = self.word_column
        word_cell = column - 1 if column else _guess_word_cell(row, section.header)
        if column and 0 < len(row) <= column:
            n = pluralize(len(row), "column")
            has = f"the document has {n}, and the last contains the mentions"
            expected = f"1 to {len(row) - 1}" if len(row) > 1 else "auto"
            message = f"the word column is {column}, but {has} (expected {expected})"
            self.problems.add(message, section.line)
            word_cell = -1
        hash_cell = row[0] if row and row[0].startswith(b"#") else b""
        return _Layout(len(row), word_cell, hash_cell)

    def _count_reopened(self, cell: bytes, line: int) -> None:
        self.n_reopened += 1
        if self.n_reopened == 1:
            self.first_reopened = f"{quote(cell.decode())} on line {line}"


def _name_entity(label: bytes) -> str:
    return f"entity {shorten(label.decode(), 60)}"


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
    parenthesized = PARENTHESIZED.fullmatch(text)
    if parenthesized:
        name, part = parenthesized.groups()
    elif BARE.fullmatch(text):
        name, part = _split_part(text)
    else:
        return None
    return name.decode() + (f"; part {part.decode()}" if part else "")


def _split_part(text: bytes) -> tuple[bytes, bytes | None]:
    """Split a name without parentheses from its part."""
    head, separator, tail = text.rpartition(b";")
    match = PART.fullmatch(tail) if separator else None
    return (head.strip(), match[1]) if match else (text.strip(), None)


def _find_first_row(lines: Iterable[bytes]) -> list[bytes]:
    """Find the first complete row of a document; none if it has no rows.

    A row that begins or ends with a tab, or has two in a row, is used only if all do: a cell of it may be empty.  A row
    that begins with ``#`` is used only if all do.
    """
    first: list[bytes] = []
    first_with_hash: list[bytes] = []
    for line in lines:
        cells = line.split()
        if line.startswith(b"#"):
            if not first_with_hash and len(cells) > 1 and _has_mention_cell(cells):
                first_with_hash = cells
        elif cells:
            first = first or cells
            if b"\t\t" not in b"\t%b\t" % line.rstrip(b"\r\n"):
                return cells
    return first or first_with_hash


def dump_conll(documents: Sequence[Document]) -> str:
    """Convert documents to CoNLL text with five columns: document, part, number, word, mentions.

    Words are ``_`` if they are unknown.  Sentences are not kept; ids are kept if all are different numbers.

    Raises:
        ValueError: the number of tokens is unknown, or the format can't express something: a discontinuous mention,
            two crossing mentions of an entity, a word with a blank, a name with a line end.  Two mentions of an
            entity cross even if they share only the token on which one ends and the other begins.
    """
    return _dump(documents, [[] for _ in documents])


def dump_in_frames(documents: Sequence[Document]) -> str:
    """Convert documents to CoNLL text, with the columns and sentences of their own files if all of these are CoNLL.

    Otherwise columns and sentences are those of `dump_conll`, and so are the errors.
    """
    frames = [document.words.read_rows() for document in documents]
    if all(rows and all(map(all, rows)) for rows in frames):
        return _dump(documents, frames)
    return dump_conll(documents)


def _dump(documents: Sequence[Document], frames: Sequence[Sequence[Sequence[str]]]) -> str:
    """Convert documents to text, given the rows of the sentences of each without mentions, or nothing."""
    lengths = list_lengths(documents, FILE)
    check_continuous(documents, FILE)
    text = []
    for document, n_tokens, frame in zip(documents, lengths, frames, strict=True):
        header = format_name(document.name)
        words = list_words(document, n_tokens, WORD, FILE)
        cells = iter(format_cells(document, n_tokens))
        text.append(f"#begin document {header}\n")
        for sentence in frame or [_number_words(document.name, words)]:
            text += [f"{row}\t{'|'.join(next(cells)) or '-'}\n" for row in sentence]
            text.append("\n")
        text.append("#end document\n")
    return "".join(text)


def _number_words(name: str, words: Sequence[str]) -> list[str]:
    """Return the rows of a document without the cell of the mentions: document, part, number, word."""
    parted = PARTED.fullmatch(name)
    stem, part = (parted[1], parted[2]) if parted else (name, "0")
    first_cell = re.sub(r"\s|^#", "_", stem)
    return [f"{first_cell}\t{part}\t{number}\t{word}" for number, word in enumerate(words)]


def format_name(name: str) -> str:
    """Return a document's name, and its part if it has one, as the first line of the document has it."""
    if not name or UNSAFE.search(name):
        raise ValueError(f"document {quote(name)}: {FILE} can't express this name")
    parts = PARTED.fullmatch(name)
    return f"({parts[1]}); part {parts[2]}" if parts else f"({name})"


def format_cells(document: Document, n_tokens: int) -> list[list[str]]:
    """List the brackets of each token of a document: closing ones first, then opening ones, longest mention first.

    Ids of entities are those of the document if they are numbers, otherwise 0, 1, …; some scorers take 07 and 7 for the
    same entity.
    """
    labels = [entity.label for entity in document.entities]
    are_numbers = all(NUMBER.fullmatch(label) for label in labels)
    if not are_numbers or len({label.lstrip("0") for label in labels}) < len(labels):
        labels = [str(number) for number in range(len(labels))]
    spans = sort_spans(document, FILE, may_touch=False)
    return place_mentions(spans, labels, "()", n_tokens)


FORMAT = CorefFormat(read_records, dump_conll)
