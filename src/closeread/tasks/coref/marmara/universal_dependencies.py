"""The treebank as Universal Dependencies has it: the CoNLL-U files of UD_Turkish-IMST.

Conventions: a document begins at `# newdoc id = NAME`, and every sentence has a `# sent_id = NAME`.  Words count from 1
in their sentence, and head 0 is none.  A token is that of the surface: a word, or a multiword token with all its words;
empty nodes (`3.1`) are none.  Trees are UD's: they are not turned round to be head-final.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from closeread import limits
from closeread.exceptions import FormatError, Problem, ProblemList, quote
from closeread.formats.text import UNSAFE, split_lines
from closeread.records import Record

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
"""Relations by their names in UD, those apart that depend on the case, and `compound:` with whatever follows."""

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
        return next((one[len(name) + 1 :] for one in self.features.split("|") if one.startswith(f"{name}=")), "")


class SurfaceToken(NamedTuple):
    """A token of the surface: its form, and the numbers of its first and last word."""

    form: str
    first: int
    last: int


def make_tokens(surface: Sequence[SurfaceToken], words: Sequence[Word]) -> list[Record]:
    """Make the tokens of a sentence, which have all its words; the heads of words form a tree."""
    position = [0]
    group = [0]  # of each word in its token
    groups: list[list[list[str]]] = []
    for number, token in enumerate(surface, 1):
        here: list[list[str]] = []
        for word in words[token.first - 1 : token.last]:
            position.append(number)
            group.append(len(here) + 1)
            if here:
                here.append(list(SUFFIX_TAGS[word.tag]))
                continue
            here.append(list(TAGS[word.tag]))
            derived = DERIVED_TAGS.get(word.get_feature("VerbForm"))
            if derived and word.tag in ("VERB", "AUX"):
                here.append(list(derived))
        groups.append(here)

    def count_heads(number: int) -> int:
        count = 0
        while number := words[number - 1].head:
            count += 1
        return count

    tokens = []
    for token, of_token in zip(surface, groups, strict=True):
        lemma = words[token.first - 1].lemma
        # The head of a token is that of its word that is nearest to the root: with any other, tokens could form a
        # circle though words do not.
        word = words[min(range(token.first, token.last + 1), key=count_heads) - 1]
        tokens.append(
            {
                "form": token.form,
                "lemma": token.form if lemma in ("", "_") else lemma,
                "groups": of_token,
                "head": position[word.head] or None,
                "head_group": group[word.head] or None,
                "relation": convert_relation(word),
            }
        )
    return tokens


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
    seen = [0] * (len(heads) + 1)  # the word from which each was reached first
    for start in range(1, len(heads) + 1):
        number = start
        while number and not seen[number]:
            seen[number] = start
            number = heads[number - 1]
        if number and seen[number] == start:
            circle = [number]
            while (head := heads[circle[-1] - 1]) != number:
                circle.append(head)
            return sorted(circle)
    return []


def read_ud_treebank(
    files: Mapping[str, tuple[Path, bytes]],
) -> tuple[dict[str, list[Record]], dict[str, str], list[Problem]]:
    """Read CoNLL-U files as one treebank.

    Args:
        files: the path of each file and its bytes, decompressed, by the names that messages show.

    Returns:
        The sentences of each document, by its id, in the order of the files; the file of each document; and what is
        wrong, with file and line.
    """
    reader = _Reader()
    problems: list[Problem] = []
    for name, (path, data) in files.items():
        try:
            lines = split_lines(path, data)
        except FormatError as error:
            problems += [problem._replace(file=name) for problem in error.problems]
            continue
        problems += sorted(reader.read(name, lines), key=lambda problem: problem.order)
    return reader.documents, reader.files, problems


class _Header(NamedTuple):
    """The name of a sentence or of a document, and its line."""

    name: str
    line: int


class _Reader:
    """Reader of files, one after the other."""

    def __init__(self) -> None:
        self.documents: dict[str, list[Record]] = {}
        self.files: dict[str, str] = {}
        # The file and the line where each name is first.
        self._named: dict[str, dict[str, tuple[str, int]]] = {"document": {}, "sentence": {}}

    def read(self, name: str, lines: Sequence[str]) -> ProblemList:
        """Read the lines of a file; return its problems."""
        self._file, self._problems = name, ProblemList()
        self._document: _Header | None = None
        self._n_sentences = 0  # in the document
        self._header: _Header | None = None  # of the sentence
        self._rows: list[tuple[int, list[str]]] = []  # line and cells
        for number, line in enumerate(lines, 1):
            if line.startswith("#"):
                self._read_comment(line, number)
            elif line.strip(" \t"):
                self._read_row(line, number)
            else:
                self._end_sentence()
            if self._problems.total > limits.MAX_PROBLEMS:  # counting those of a file of another format helps nobody
                return self._problems
        self._end_sentence()
        self._end_document()
        if self._document is None and not self._problems.total:
            self._add("contains no document (expected '# newdoc id = NAME' before the first sentence)")
        return self._problems

    def _add(self, what: str, line: int | None = None) -> None:
        self._problems.add(what, line, file=self._file)

    def _read_comment(self, text: str, line: int) -> None:
        newdoc, sent_id = NEWDOC.match(text), SENT_ID.fullmatch(text)
        found = newdoc or sent_id
        if not found:
            return
        what = "document" if newdoc else "sentence"
        if self._rows:
            self._add(f"a {what} begins inside a sentence (expected a blank line before it)", line)
            self._end_sentence()
        name = found[1] or ""
        if newdoc:
            self._end_document()
            self._document, expected = _Header(name, line), "# newdoc id = NAME"
        else:
            if self._header:
                self._add(f"a second sent_id before a sentence (first on line {self._header.line})", line)
            self._header, expected = _Header(name, line), "# sent_id = NAME"
        if not name:
            self._add(f"{what} without a name (expected '{expected}')", line)
        elif unsafe := UNSAFE.search(name):
            self._add(f"the name {quote(name)} contains the control character U+{ord(unsafe[0]):04X}", line)
        elif (first := self._named[what].setdefault(name, (self._file, line))) != (self._file, line):
            place = f"on line {first[1]}" if first[0] == self._file else f"in {first[0]} on line {first[1]}"
            self._add(f"duplicate {what} {quote(name)} (first {place})", line)
        if newdoc:
            self.documents.setdefault(name, [])
            self.files.setdefault(name, self._file)

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
        self._rows.append((line, cells))
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
        before = self._problems.total
        if any(len(cells) != COLUMNS for _, cells in rows):
            return
        surface: list[SurfaceToken] = []
        of_words: list[tuple[int, list[str]]] = []
        n_empty = range_end = 0
        for line, cells in rows:
            text, form = cells[:2]
            found = ROW_ID.fullmatch(text)
            first, mark, second = (int(found[1]), found[2], int(found[3] or 0)) if found else (0, "", 0)
            n = len(of_words)
            if mark == "." and (first, second) == (n, n_empty + 1):
                n_empty += 1
                continue
            if mark == "-" and first == n + 1 and second > first > range_end:
                range_end = second
                surface.append(SurfaceToken(form, first, second))
            elif mark is None and first == n + 1:
                of_words.append((line, cells))
                n_empty = 0
                if first > range_end:
                    surface.append(SurfaceToken(form, first, first))
            else:
                what = f"column 1: {quote(text)} follows word {n}" if n else f"column 1: {quote(text)}"
                self._add(f"{what} (expected {n + 1}, {n}.{n_empty + 1} or a range from {n + 1})", line)
                continue
            if not form.strip():
                self._add("column 2: the word is empty (expected a word or '_')", line)
        if range_end > len(of_words):
            self._add(f"the sentence ends before word {range_end}, the last of a multiword token", rows[-1][0])
        words = [self._read_word(line, cells, len(of_words)) for line, cells in of_words]
        if self._problems.total == before and (circle := find_circle([word.head for word in words])):
            named = ", ".join(map(str, circle))
            self._add(f"column 7: the heads of words {named} form a circle", of_words[circle[0] - 1][0])
        if self._problems.total == before and header and self._document:
            sentence = {"number": header.name, "tokens": make_tokens(surface, words)}
            self.documents.setdefault(self._document.name, []).append(sentence)

    def _read_word(self, line: int, cells: Sequence[str], n_words: int) -> Word:
        _, _, lemma, tag, _, features, head, relation, _, _ = cells
        number = int(head) if HEAD.fullmatch(head) else n_words + 1
        if tag not in TAGS:
            self._add(f"column 4: {quote(tag)} is not a part of speech of UD (expected one of {', '.join(TAGS)})", line)
        if number > n_words:
            self._add(f"column 7: {quote(head)} is not a word of the sentence (expected 0 to {n_words})", line)
        elif relation in ("", "_") or (relation == "root") != (number == 0):
            what = "a relation other than root" if number else "root, since the head is 0"
            self._add(f"column 8: {quote(relation)} (expected {what})", line)
        return Word(lemma, tag, features, number, relation)
