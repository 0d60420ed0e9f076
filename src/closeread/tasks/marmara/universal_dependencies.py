"""The treebank as Universal Dependencies has it: the CoNLL-U files of UD_Turkish-IMST.

Conventions: a document begins at `# newdoc id = NAME`, and every sentence has a `# sent_id = NAME`.  Words count from 1
in their sentence, and head 0 is none.  A token is that of the surface: a word, or a multiword token with all its words;
empty nodes (`3.1`) are none.  Trees are UD's: they are not turned round to be head-final.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from closeread import limits
from closeread.exceptions import quote
from closeread.formats.text import UNSAFE, split_lines
from closeread.records import Record
from closeread.tasks.marmara.documents import Notes

# fmt: off
TAGS = {
    "NOUN": ("Noun",), "PROPN": ("Noun", "Prop"), "PRON": ("Pron",), "VERB": ("Verb",), "AUX": ("Verb",),
    "ADJ": ("Adj",), "ADV": ("Adv",), "DET": ("Det",), "NUM": ("Num",), "ADP": ("Postp",), "CCONJ": ("Conj",),
    "SCONJ": ("Conj",), "PUNCT": ("Punc",), "INTJ": ("Interj",), "X": ("Dup",),
    "PART": ("Part",), "SYM": ("Sym",),  # not in UD_Turkish-IMST
}
"""The tags of a word's group, by its part of speech."""

RELATIONS = {
    "det": "DETERMINER", "compound": "CLASSIFIER",
    "amod": "MODIFIER", "acl": "MODIFIER", "nmod": "MODIFIER", "nummod": "MODIFIER", "advmod": "MODIFIER",
    "advcl": "MODIFIER", "appos": "APPOSITION", "flat": "COLLOCATION", "fixed": "COLLOCATION",
    "nsubj": "SUBJECT", "csubj": "SUBJECT", "obj": "OBJECT", "iobj": "OBJECT", "ccomp": "OBJECT", "xcomp": "OBJECT",
    "conj": "COORDINATION", "cc": "COORDINATION", "root": "SENTENCE", "vocative": "VOCATIVE",
}
"""Relations by their names in UD, except those that depend on the case, and `compound:` with any subtype."""

ADJUNCTS = {
    "Dat": "DATIVE.ADJUNCT", "Loc": "LOCATIVE.ADJUNCT", "Abl": "ABLATIVE.ADJUNCT", "Ins": "INSTRUMENTAL.ADJUNCT",
    "Equ": "EQU.ADJUNCT",
}
"""The relation `obl` by case; others are modifiers."""
# fmt: on

SUFFIX_TAGS = TAGS | {"ADP": ("Adj",)}
"""The tags of the groups of further words of a multiword token, which are suffixes, such as `-li` and `-ki`."""

DERIVED_TAGS = {"Part": ("Adj",), "Vnoun": ("Noun",), "Conv": ("Adv",)}
"""The tags of the group that a verb form adds."""

COLUMNS = 10
NEWDOC = re.compile(r"#[ \t]*newdoc(?![^\s=])(?:(?:[ \t]+id)?[ \t]*=[ \t]*+(.*[^ \t\n]|)[ \t]*\Z)?")
SENT_ID = re.compile(r"#[ \t]*sent_id[ \t]*=[ \t]*+(.*[^ \t\n]|)[ \t]*")
ROW_ID = re.compile(r"([0-9]{1,9})(?:([.-])([0-9]{1,9}))?")
HEAD = re.compile("[0-9]{1,9}")
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
"""Control characters other than tabs."""


class Word(NamedTuple):
    """A word of UD: the columns LEMMA, UPOS, FEATS, HEAD and DEPREL."""

    lemma: str
    tag: str
    features: str
    head: int
    relation: str

    def get_feature(self, name: str) -> str:
        """Return the value of a feature; empty if it has none."""
        start = f"{name}="
        for feature in self.features.split("|"):
            if feature.startswith(start):
                return feature.removeprefix(start)
        return ""


Surface = tuple[str, int, int]
"""A token of the surface: its form, and the numbers of its first and last word."""


def make_tokens(surface: Sequence[Surface], words: Sequence[Word]) -> list[Record]:
    """Make the tokens of a sentence, which have all its words; the heads of words form a tree."""

    # The token of each word, and its group there, from 1; of the root, which is 0, neither.
    positions: list[int | None] = [None]
    group_numbers: list[int | None] = [None]
    tokens: list[Record] = []
    for position, (form, first, last) in enumerate(surface, start=1):
        groups: list[list[str]] = []
        for number in range(first, last + 1):
            word = words[number - 1]
            positions.append(position)
            group_numbers.append(len(groups) + 1)
            tags = SUFFIX_TAGS if groups else TAGS
            groups.append(list(tags[word.tag]))
            derived = DERIVED_TAGS.get(word.get_feature("VerbForm"))
            if number == first and derived and word.tag in ("VERB", "AUX"):
                groups.append(list(derived))
        lemma = words[first - 1].lemma
        if lemma in ("", "_"):
            lemma = form
        tokens.append({"form": form, "lemma": lemma, "groups": groups})
    for token, (_, first, last) in zip(tokens, surface, strict=True):
        word = _find_top(first, last, words)
        token["head"] = positions[word.head]
        token["head_group"] = group_numbers[word.head]
        token["relation"] = convert_relation(word)
    return tokens


def _find_top(first: int, last: int, words: Sequence[Word]) -> Word:
    """Return the word of a token that is nearest to the root, whose head is that of the token.

    With any other, tokens could form a circle though words do not.
    """

    def count_heads(number: int) -> int:
        count = 0
        head = words[number - 1].head
        while head:
            count += 1
            head = words[head - 1].head
        return count

    return words[min(range(first, last + 1), key=count_heads) - 1]


def convert_relation(word: Word) -> str:
    """Return the relation of a word, by its name in the treebank."""
    if word.relation == "nmod:poss":
        return "POSSESSOR" if word.get_feature("Case") == "Gen" else "CLASSIFIER"
    if word.relation == "obl":
        return ADJUNCTS.get(word.get_feature("Case"), "MODIFIER")
    if word.relation.startswith("compound:"):
        return "COLLOCATION"
    return RELATIONS.get(word.relation) or word.relation.upper()


def find_circle(heads: Sequence[int]) -> list[int]:
    """Return words that are each other's heads, by number; none if the heads form a tree.

    >>> find_circle([2, 0, 2]), find_circle([2, 3, 2]), find_circle([0, 2])
    ([], [2, 3], [2])
    """
    rooted = {0}
    for number in range(1, len(heads) + 1):
        path: dict[int, int] = {}
        while number not in rooted and number not in path:
            path[number] = len(path)
            number = heads[number - 1]
        if number in path:
            return sorted(list(path)[path[number] :])
        rooted |= path.keys()
    return []


class UdTreebank:
    """The documents of CoNLL-U files that are one treebank.

    Attributes:
        documents: the sentences of each document, by its id, in the order of the files.
        files: the file of each document.
        notes: what is wrong.
    """

    def __init__(self, files: Mapping[str, tuple[Path, bytes]], notes: Notes) -> None:
        """Read files: the path of each and its bytes, decompressed, by the names that messages show."""
        self.documents: dict[str, list[Record]] = {}
        self.files: dict[str, str] = {}
        self.notes = notes
        # The file and the line where each name is first, of a document and of a sentence.
        self.first_places: dict[tuple[str, str], tuple[str, int]] = {}
        for name, (path, data) in files.items():
            of_file = Notes(file=name)
            with of_file.catching():
                _UdFile(self, of_file).read(split_lines(path, data))
            notes.problems.extend(sorted(of_file.problems, key=lambda problem: problem.order))


class _Header(NamedTuple):
    """The name of a document or of a sentence, and its line."""

    name: str
    line: int


class _Row(NamedTuple):
    """The columns of a word, of a range of words or of an empty node, and their line."""

    cells: list[str]
    line: int


class _UdFile:
    """A file of a treebank, as it is read: its document, and of this a sentence with its rows, so far."""

    def __init__(self, treebank: UdTreebank, notes: Notes) -> None:
        self._treebank = treebank
        self._file = notes.file
        self._problems = notes.problems
        self._report = notes.report
        self._document: _Header | None = None
        self._has_sentences = False
        self._sentence: _Header | None = None
        self._rows: list[_Row] = []

    def read(self, lines: Iterable[str]) -> None:
        """Read the file, and add its documents to the treebank."""
        for number, line in enumerate(lines, start=1):
            if line.startswith("#"):
                self._read_comment(line, number)
            elif line.strip(" \t"):
                self._read_row(line, number)
            else:
                self._end_sentence()
            # Counting those of a file of another format helps nobody.
            if self._problems.total > limits.MAX_PROBLEMS:
                return
        self._end_sentence()
        self._end_document()
        if self._document is None and not self._problems:
            self._report(
                "contains no document (expected '# newdoc id = NAME' before the first sentence)"
            )

    def _read_comment(self, text: str, line: int) -> None:
        newdoc = NEWDOC.match(text)
        if newdoc:
            self._begin_document(_Header(newdoc[1] or "", line))
            return
        sent_id = SENT_ID.fullmatch(text)
        if sent_id:
            self._begin_sentence(_Header(sent_id[1], line))

    def _begin_document(self, document: _Header) -> None:
        self._break_off("document", document.line)
        self._end_document()
        self._document = document
        self._check_name("document", document, "# newdoc id = NAME")
        self._treebank.documents.setdefault(document.name, [])
        self._treebank.files.setdefault(document.name, self._file)

    def _begin_sentence(self, sentence: _Header) -> None:
        self._break_off("sentence", sentence.line)
        if self._sentence is not None:
            self._report(
                f"a second sent_id before a sentence (first on line {self._sentence.line})",
                sentence.line,
            )
        self._sentence = sentence
        self._check_name("sentence", sentence, "# sent_id = NAME")

    def _break_off(self, kind: str, line: int) -> None:
        """End a sentence where something begins inside it."""
        if self._rows:
            self._report(
                f"a {kind} begins inside a sentence (expected a blank line before it)", line
            )
            self._end_sentence()

    def _check_name(self, kind: str, header: _Header, expected: str) -> None:
        name, line = header
        unsafe = UNSAFE.search(name)
        if not name:
            self._report(f"{kind} without a name (expected '{expected}')", line)
        elif unsafe:
            character = f"the control character U+{ord(unsafe[0]):04X}"
            self._report(f"the name {quote(name)} contains {character}", line)
        else:
            place = (self._file, line)
            first_file, first_line = self._treebank.first_places.setdefault((kind, name), place)
            if (first_file, first_line) != place:
                where = f"on line {first_line}"
                if first_file != self._file:
                    where = f"in {first_file} {where}"
                self._report(f"duplicate {kind} {quote(name)} (first {where})", line)

    def _end_document(self) -> None:
        if self._document is not None and not self._has_sentences:
            name, line = self._document
            self._report(f"document {quote(name)} has no sentences", line)
        self._has_sentences = False

    def _read_row(self, text: str, line: int) -> None:
        is_first = not self._rows
        if is_first and self._sentence is None:
            self._report("sentence without a name (expected '# sent_id = NAME' before it)", line)
        if is_first and self._document is None:
            self._report(
                "sentence outside a document (expected '# newdoc id = NAME' before it)", line
            )
            # It is reported once.
            self._document = _Header("", line)
        cells = text.split("\t")
        self._rows.append(_Row(cells, line))
        unsafe = CONTROL.search(text)
        if len(cells) != COLUMNS:
            self._report(
                f"the number of columns is {len(cells)} (expected {COLUMNS}, separated by tabs)",
                line,
            )
        elif unsafe:
            character = f"the control character U+{ord(unsafe[0]):04X}"
            self._report(f"the row contains {character}", line)

    def _end_sentence(self) -> None:
        sentence = self._sentence
        rows = self._rows
        self._sentence = None
        self._rows = []
        if not rows:
            if sentence is not None:
                self._report(f"sentence {quote(sentence.name)} has no words", sentence.line)
            return
        self._has_sentences = True
        if any(len(row.cells) != COLUMNS for row in rows):
            return
        n_problems = self._problems.total
        surface, word_rows = self._number_rows(rows)
        words = [self._read_word(row, len(word_rows)) for row in word_rows]
        if self._problems.total > n_problems:
            return
        circle = find_circle([word.head for word in words])
        if circle:
            self._report(
                f"column 7: the heads of words {', '.join(map(str, circle))} form a circle",
                word_rows[circle[0] - 1].line,
            )
        elif sentence is not None and self._document is not None:
            record = {"number": sentence.name, "tokens": make_tokens(surface, words)}
            self._treebank.documents.setdefault(self._document.name, []).append(record)

    def _number_rows(self, rows: Sequence[_Row]) -> tuple[list[Surface], list[_Row]]:
        """Check the numbers of rows, and return the tokens of the surface and the rows of the words."""
        surface: list[Surface] = []
        words: list[_Row] = []
        n_empty = 0
        range_end = 0
        for row in rows:
            text, form = row.cells[:2]
            first, mark, second = parse_row_id(text)
            n_words = len(words)
            follows_word = first == n_words + 1
            if mark == "." and (first, second) == (n_words, n_empty + 1):
                n_empty += 1
                continue
            if mark == "-" and follows_word and second > first > range_end:
                range_end = second
                surface.append((form, first, second))
            elif mark == "" and follows_word:
                words.append(row)
                n_empty = 0
                if first > range_end:
                    surface.append((form, first, first))
            else:
                message = f"column 1: {quote(text)}"
                if n_words:
                    message += f" follows word {n_words}"
                following = n_words + 1
                expected = (
                    f"expected {following}, {n_words}.{n_empty + 1} or a range from {following}"
                )
                self._report(f"{message} ({expected})", row.line)
                continue
            if not form.strip():
                self._report("column 2: the word is empty (expected a word or '_')", row.line)
        if range_end > len(words):
            self._report(
                f"the sentence ends before word {range_end}, the last of a multiword token",
                rows[-1].line,
            )
        return surface, words

    def _read_word(self, row: _Row, n_words: int) -> Word:
        _, _, lemma, tag, _, features, head, relation, _, _ = row.cells
        number = int(head) if HEAD.fullmatch(head) else n_words + 1
        if tag not in TAGS:
            self._report(
                "column 4: "
                f"{quote(tag)} is not a part of speech of UD (expected one of {', '.join(TAGS)})",
                row.line,
            )
        if number > n_words:
            self._report(
                f"column 7: {quote(head)} is not a word of the sentence (expected 0 to {n_words})",
                row.line,
            )
        elif relation in ("", "_") or (relation == "root") != (number == 0):
            expected = "a relation other than root" if number else "root, since the head is 0"
            self._report(f"column 8: {quote(relation)} (expected {expected})", row.line)
        return Word(lemma, tag, features, number, relation)


def parse_row_id(text: str) -> tuple[int, str, int]:
    """Return the number of a row, and its mark and second number if it has them: `3`, `3-4` or `3.1`; 0 if it has none.

    >>> parse_row_id("3"), parse_row_id("3-4"), parse_row_id("3.1"), parse_row_id("x")
    ((3, '', 0), (3, '-', 4), (3, '.', 1), (0, '', 0))
    """
    match = ROW_ID.fullmatch(text)
    if match is None:
        return 0, "", 0
    return int(match[1]), match[2] or "", int(match[3] or 0)
