"""CoNLL-U Plus files of Universal Anaphora, with a column for each layer of annotation.

Conventions: ``# global.columns = ID FORM … IDENTITY BRIDGING DISCOURSE_DEIXIS …`` names the columns; rows may lack the
last ones.  Cells are separated by tabs if that gives enough of them, otherwise by any blanks and tabs.  A document
begins at ``# newdoc id = NAME``.  Its tokens are words and zeros (``3.1``), in the order of the file, a zero with the
word ``_``.  A mention of words does not contain the zeros between them.  Ids of words count up, in the
document from 0 or 1 or in each sentence from 1.  A layer's markables are described in `conllua_markables`; those whose
entity's id ends in ``-Pseudo`` are non-referring.

Source: M. Poesio et al., Universal Anaphora in CoNLL-U-Plus, version 1.1 (github.com/UniversalAnaphora).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from closeread.exceptions import quote
from closeread.formats import Format
from closeread.formats.problems import Problems
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import Parsed
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.conllua_bridging import BridgingReader
from closeread.tasks.coref.conllua_markables import MarkableReader
from closeread.tasks.coref.conllua_table import DocumentTokens, make_table
from closeread.tasks.coref.conllua_writer import COLUMNS, dump_conllua
from closeread.tasks.coref.coref_json import table_of

COMMENT = re.compile(r"#[ \t]*(newdoc|global\.columns)(?![^\s=])(?:[ \t]+id)?[ \t]*(?:=(.*))?")
TOKEN_ID = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?")
BLANKS = re.compile(r"[ \t]+")
REQUIRED = ("ID", "FORM", "IDENTITY")
OPTIONAL = ("BRIDGING", "DISCOURSE_DEIXIS")


@dataclass(frozen=True)
class _Columns:
    """The columns of a file: their number, and the places of those that are read."""

    number: int
    place: dict[str, int]

    @property
    def needed(self) -> int:
        """The number of cells that a row must have."""
        return 1 + max(self.place.values())

    def fit(self, cells: Sequence[str]) -> bool:
        """Return whether a row may have this many cells."""
        return self.needed <= len(cells) <= self.number

    def split(self, text: str) -> list[str]:
        """Split a row at tabs if that gives enough cells, otherwise at any blanks and tabs."""
        by_tab = [cell.strip(" ") for cell in text.split("\t")]
        return by_tab if self.fit(by_tab) else BLANKS.split(text.strip(" \t"))


def _columns_of(names: Sequence[str]) -> _Columns:
    return _Columns(len(names), {name: names.index(name) for name in (*REQUIRED, *OPTIONAL) if name in names})


def read_records(path: Path, split: str) -> Parsed:
    """Read the documents of a file, each with the line on which it begins; names are the file's, whatever the split.

    Raises:
        FormatError: the file is not text or not valid, with all its problems.
    """
    del split
    reader = _read(read_lines(path))
    reader.problems.raise_any(path)
    table = reader.table()
    reader.problems.raise_any(path)
    return Parsed(table, list(reader.seen.values()), [])


def _read(lines: Sequence[str]) -> _Reader:
    reader = _Reader()
    for number, line in enumerate(lines, start=1):
        reader.take(number, line)
    reader.finish()
    return reader


def _read_text(text: str) -> MentionTable | None:
    reader = _read(text.split("\n"))
    return None if reader.problems.total else reader.table()


class _Reader:
    """Reader of the lines of a file."""

    def __init__(self) -> None:
        self.problems = Problems()
        self.documents: list[DocumentTokens] = []
        self.identity = MarkableReader(self.problems)
        self.deixis = MarkableReader(self.problems)
        self.bridging = BridgingReader(self.problems)
        self.seen: dict[str, int] = {}  # the first line of each document name
        self._columns: _Columns | None = None
        self._word: int | None = None  # the id of the last word; None at the begin of a document
        self._zero: int | None = None  # the number of the last zero after it
        self._begins_sentence = True
        self._is_outside = False  # whether a token was found before the first document

    def take(self, number: int, line: str) -> None:
        """Read a line."""
        if not line.strip(" \t"):
            self._begins_sentence = True
        elif line.startswith("#"):
            if comment := COMMENT.fullmatch(line):
                value = (comment[2] or "").strip(" \t")
                if comment[1] == "newdoc":
                    self._begin_document(number, value)
                else:
                    self._take_columns(number, value.split())
        else:
            self._take_row(number, line)

    def finish(self) -> None:
        """Handle the end of the file."""
        self._end_document()
        if not self.documents and not self.problems.total:
            self._report("contains no document (expected '# newdoc id = NAME' before the first sentence)")

    def table(self) -> MentionTable:
        """Return all documents; only if there are no problems."""
        return make_table(self.documents, self.identity, self.deixis, self.bridging, self.problems)

    def _report(self, what: str, line: int | None = None) -> None:
        self.problems.add(what, line)

    def _begin_document(self, line: int, name: str) -> None:
        self._end_document()
        if not name:
            self._report("document without a name (expected '# newdoc id = NAME')", line)
        elif unsafe := UNSAFE.search(name):
            self._report(f"document name {quote(name)} contains the control character U+{ord(unsafe[0]):04X}", line)
        elif (before := self.seen.setdefault(name, line)) != line:
            self._report(f"duplicate document {quote(name)} (first on line {before})", line)
        self.documents.append(DocumentTokens(name))

    def _end_document(self) -> None:
        if self.documents:
            self.identity.end_document()
            self.deixis.end_document()
            self.bridging.end_document()
        self._word = self._zero = None
        self._begins_sentence = True

    def _take_columns(self, line: int, names: list[str]) -> None:
        self._columns = _columns_of(names)
        lacking = [name for name in REQUIRED if name not in names]
        if lacking:
            self._report(f"global.columns lacks {' and '.join(lacking)} (expected columns such as {COLUMNS})", line)
        elif twice := [name for name in self._columns.place if names.count(name) > 1]:
            self._report(f"global.columns has {quote(twice[0])} twice", line)
        else:
            return
        self._columns = _columns_of(COLUMNS.split())

    def _take_row(self, line: int, text: str) -> None:
        if self._columns is None:
            self._report(f"row without a declaration of its columns (expected '# global.columns = {COLUMNS}')", line)
            self._columns = _columns_of(COLUMNS.split())
        if UNSAFE.search(text.replace("\t", "")):
            self._report("the row contains a control character", line)
        if not self.documents:
            if not self._is_outside:
                self._report("token outside a document (expected '# newdoc id = NAME' before it)", line)
            self._is_outside = True
            return
        cells = self._columns.split(text)
        if not self._columns.fit(cells):
            fewest, most = self._columns.needed, self._columns.number
            expected = f"{fewest} to {most}" if fewest < most else f"{most}"
            self._report(f"the number of columns is {len(cells)} (expected {expected})", line)
            return
        self._take_token(line, cells, self._columns.place)

    def _take_token(self, line: int, cells: list[str], place: dict[str, int]) -> None:
        document = self.documents[-1]
        is_zero = self._take_id(line, place["ID"] + 1, cells[place["ID"]])
        self._begins_sentence = False
        if not cells[place["FORM"]]:
            self._report(f"column {place['FORM'] + 1}: the word is empty (expected a word or '_')", line)
        word, token = document.add(line, cells[place["FORM"]], is_zero=is_zero)
        for name, cell in ((name, cells[i]) for name, i in place.items() if name not in ("ID", "FORM")):
            if cell == "_":
                continue
            where = f"column {place[name] + 1}"
            if not cell:
                self._report(f"{where}: the cell is empty (expected '_' or annotation)", line)
            elif name == "BRIDGING":
                self.bridging.take(line, where, cell)
            else:
                layer = self.identity if name == "IDENTITY" else self.deixis
                layer.take(line, where, word, token if is_zero else None, cell)

    def _take_id(self, line: int, column: int, text: str) -> bool:
        """Read the id, which must be a next one; return whether it is that of a zero."""
        parts = TOKEN_ID.fullmatch(text)
        number, zero = (int(part) if part else None for part in parts.groups()) if parts else (None, None)
        is_usual = zero is None and number == (self._word or 0) + 1
        if not is_usual and (number, zero) not in (expected := self._list_next_ids()):
            names = ", ".join(f"{n}" if z is None else f"{n}.{z}" for n, z in expected)
            after = f" follows word {self._word}" if self._word is not None else ""
            self._report(f"column {column}: {quote(text)}{after} (expected one of {names})", line)
        if number is not None:
            self._word, self._zero = number, zero
        return zero is not None

    def _list_next_ids(self) -> list[tuple[int, int | None]]:
        """List the ids that can come next, each with its number as a zero."""
        if self._word is None:
            return [(0, None), (1, None), (0, 0), (0, 1)]
        following = [0, 1] if self._zero is None else [self._zero + 1]
        expected: list[tuple[int, int | None]] = [(self._word + 1, None), *((self._word, zero) for zero in following)]
        if self._begins_sentence and self._word > 0:
            expected += [(1, None), (0, 0), (0, 1)]
        return expected


FORMAT = Format(
    read_records,
    lambda records: dump_conllua(table_of(records), _read_text),
    suffixes=(".conllua",),
    first_line=re.compile(r"#\s*global\.columns\s*=(?:.*\s)?IDENTITY(?:\s|$)", re.ASCII),
)
