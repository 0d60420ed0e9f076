"""Read the treebank as Universal Dependencies has it: the CoNLL-U files of UD_Turkish-IMST.

Source: the CoNLL-U format of Universal Dependencies, version 2.

Conventions: a document begins at `# newdoc id = NAME`, and every sentence has a `# sent_id = NAME`.  Tokens are those
of the surface: a multiword token is one, and empty nodes (`3.1`) are none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from closeread import limits
from closeread.exceptions import FormatError, Problem, quote
from closeread.formats.problems import Problems
from closeread.formats.text import UNSAFE, split_lines
from closeread.tasks.coref.formats.conllu import COLUMNS, NEWDOC
from closeread.tasks.coref.marmara.documents import Sentence
from closeread.tasks.coref.marmara.ud_tokens import TAGS, SurfaceToken, Word, find_circle, make_tokens

IS_NEWDOC = re.compile(r"#[ \t]*newdoc(?![^\s=])")
SENT_ID = re.compile(r"#[ \t]*sent_id[ \t]*=[ \t]*+(.*[^ \t\n]|)[ \t]*")
ROW_ID = re.compile(r"([0-9]{1,9})(?:([.-])([0-9]{1,9}))?")
HEAD = re.compile("[0-9]{1,9}")
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
"""Control characters other than tabs."""

ID, FORM, LEMMA, UPOS, FEATS, HEAD_COLUMN, DEPREL = 0, 1, 2, 3, 5, 6, 7
NOTHING = ("", "_")


class UdTreebank(NamedTuple):
    """The documents of CoNLL-U files.

    Attributes:
        documents: the sentences of each document, by its id, in the order of the files.
        files: the file of each document.
        problems: what is wrong, with file and line.
    """

    documents: dict[str, list[Sentence]]
    files: dict[str, str]
    problems: list[Problem]


def read_ud_treebank(files: Mapping[str, tuple[Path, bytes]]) -> UdTreebank:
    """Read CoNLL-U files as one treebank.

    Args:
        files: the path of each file and its bytes, decompressed, by the names that messages show.
    """
    treebank = UdTreebank({}, {}, [])
    names = _Names({}, {})
    for name, (path, data) in files.items():
        try:
            lines = split_lines(path, data)
        except FormatError as error:
            treebank.problems.extend(problem._replace(file=name) for problem in error.problems)
            continue
        reader = _Reader(name, treebank, names)
        reader.read(lines)
        treebank.problems.extend(sorted(reader.problems.listed, key=lambda problem: problem.order))
        if reader.problems.total > len(reader.problems.listed):
            what = f"has at least {reader.problems.total:,} problems; only {limits.MAX_PROBLEMS} are reported"
            treebank.problems.append(Problem(what, None, name))
    return treebank


class _Names(NamedTuple):
    """The file and the line where each document and each sentence is named first."""

    documents: dict[str, tuple[str, int]]
    sentences: dict[str, tuple[str, int]]


class _Row(NamedTuple):
    line: int
    cells: Sequence[str]


class _Header(NamedTuple):
    """The name of a sentence or of a document, and its line."""

    name: str
    line: int


class _Reader:
    """Reader of a file.

    Args:
        name: its name.
        treebank: where its documents are added.
        names: the names of all files so far.

    Attributes:
        problems: its problems.
    """

    def __init__(self, name: str, treebank: UdTreebank, names: _Names) -> None:
        self.problems = Problems()
        self._name, self._treebank, self._names = name, treebank, names
        self._document: _Header | None = None
        self._n_sentences = 0  # in the document
        self._header: _Header | None = None  # of the sentence
        self._rows: list[_Row] = []

    def read(self, lines: Sequence[str]) -> None:
        """Read the lines of the file."""
        for number, line in enumerate(lines, 1):
            if line.startswith("#"):
                self._read_comment(line, number)
            elif line.strip(" \t"):
                self._read_row(line, number)
            else:
                self._end_sentence()
            if self.problems.total > limits.MAX_PROBLEMS:  # counting those of a file of another format helps nobody
                return
        self._end_sentence()
        self._end_document()
        if self._document is None and not self.problems.total:
            self._add("contains no document (expected '# newdoc id = NAME' before the first sentence)")

    def _add(self, what: str, line: int | None = None) -> None:
        self.problems.add(what, line, file=self._name)

    def _read_comment(self, text: str, line: int) -> None:
        is_document = IS_NEWDOC.match(text)
        found = SENT_ID.fullmatch(text)
        if not is_document and not found:
            return
        if self._rows:
            what = "document" if is_document else "sentence"
            self._add(f"a {what} begins inside a sentence (expected a blank line before it)", line)
            self._end_sentence()
        if is_document:
            self._end_document()
            newdoc = NEWDOC.fullmatch(text)
            self._document = _Header((newdoc and newdoc[1]) or "", line)
            self._check_name("document", self._document, self._names.documents, "# newdoc id = NAME")
            self._treebank.documents.setdefault(self._document.name, [])
            self._treebank.files.setdefault(self._document.name, self._name)
        elif found:
            if self._header:
                self._add(f"a second sent_id before a sentence (first on line {self._header.line})", line)
            self._header = _Header(found[1], line)
            self._check_name("sentence", self._header, self._names.sentences, "# sent_id = NAME")

    def _check_name(self, what: str, header: _Header, names: dict[str, tuple[str, int]], expected: str) -> None:
        name, line = header
        if not name:
            self._add(f"{what} without a name (expected '{expected}')", line)
        elif unsafe := UNSAFE.search(name):
            self._add(f"the name {quote(name)} contains the control character U+{ord(unsafe[0]):04X}", line)
        elif (first := names.setdefault(name, (self._name, line))) != (self._name, line):
            place = f"on line {first[1]}" if first[0] == self._name else f"in {first[0]} on line {first[1]}"
            self._add(f"duplicate {what} {quote(name)} (first {place})", line)

    def _end_document(self) -> None:
        if self._document and not self._n_sentences:
            self._add(f"document {quote(self._document.name)} has no sentences", self._document.line)
        self._n_sentences = 0

    def _read_row(self, text: str, line: int) -> None:
        cells = text.split("\t")
        if not self._rows:
            if self._header is None:
                self._add("sentence without a name (expected '# sent_id = NAME' before it)", line)
            if self._document is None:
                self._add("sentence outside a document (expected '# newdoc id = NAME' before it)", line)
                self._document = _Header("", line)  # reported once
        self._rows.append(_Row(line, cells))
        if len(cells) != COLUMNS:
            self._add(f"the number of columns is {len(cells)} (expected {COLUMNS}, separated by tabs)", line)
        elif unsafe := CONTROL.search(text):
            self._add(f"the row contains the control character U+{ord(unsafe[0]):04X}", line)

    def _end_sentence(self) -> None:
        header, rows = self._header, self._rows
        self._header, self._rows = None, []
        if not rows:
            if header:
                self._add(f"sentence {quote(header.name)} has no words", header.line)
            return
        self._n_sentences += 1
        before = self.problems.total
        if any(len(row.cells) != COLUMNS for row in rows):
            return
        surface, of_words = self._read_ids(rows)
        words = [self._read_word(row, len(of_words)) for row in of_words]
        if self.problems.total == before and (circle := find_circle([word.head for word in words])):
            named = ", ".join(map(str, circle))
            self._add(f"column 7: the heads of words {named} form a circle", of_words[circle[0] - 1].line)
        if self.problems.total == before and header and self._document:
            sentence: Sentence = {"number": header.name, "tokens": make_tokens(surface, words)}
            self._treebank.documents.setdefault(self._document.name, []).append(sentence)

    def _read_ids(self, rows: Sequence[_Row]) -> tuple[list[SurfaceToken], list[_Row]]:
        """Return the tokens of a sentence and the rows of its words."""
        surface: list[SurfaceToken] = []
        words: list[_Row] = []
        n_empty = range_end = 0
        for row in rows:
            text, form = row.cells[ID], row.cells[FORM]
            found = ROW_ID.fullmatch(text)
            first, mark, second = (int(found[1]), found[2], int(found[3] or 0)) if found else (0, None, 0)
            n = len(words)
            if found and mark == "." and (first, second) == (n, n_empty + 1):
                n_empty += 1
                continue
            if found and mark == "-" and first == n + 1 and second > first > range_end:
                range_end = second
                surface.append(SurfaceToken(form, first, second))
            elif found and mark is None and first == n + 1:
                words.append(row)
                n_empty = 0
                if first > range_end:
                    surface.append(SurfaceToken(form, first, first))
            else:
                what = f"column 1: {quote(text)} follows word {n}" if n else f"column 1: {quote(text)}"
                self._add(f"{what} (expected {n + 1}, {n}.{n_empty + 1} or a range from {n + 1})", row.line)
                continue
            if not form.strip():
                self._add("column 2: the word is empty (expected a word or '_')", row.line)
        if range_end > len(words):
            self._add(f"the sentence ends before word {range_end}, the last of a multiword token", rows[-1].line)
        return surface, words

    def _read_word(self, row: _Row, n_words: int) -> Word:
        """Return a word, with head 0 if its head is wrong."""
        cells = row.cells
        tag, head, relation = cells[UPOS], cells[HEAD_COLUMN], cells[DEPREL]
        number = int(head) if HEAD.fullmatch(head) else n_words + 1
        if tag not in TAGS:
            self._add(
                f"column 4: {quote(tag)} is not a part of speech of UD (expected one of {', '.join(TAGS)})", row.line
            )
        if number > n_words:
            self._add(f"column 7: {quote(head)} is not a word of the sentence (expected 0 to {n_words})", row.line)
        elif relation in NOTHING or (relation == "root") != (number == 0):
            what = "a relation other than root" if number else "root, since the head is 0"
            self._add(f"column 8: {quote(relation)} (expected {what})", row.line)
        return Word(cells[LEMMA], tag, cells[FEATS], number, relation)
