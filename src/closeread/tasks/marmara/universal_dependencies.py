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
        return next(
            (
                one[len(name) + 1 :]
                for one in self.features.split("|")
                if one.startswith(f"{name}=")
            ),
            "",
        )


Surface = tuple[str, int, int]
"""A token of the surface: its form, and the numbers of its first and last word."""


def make_tokens(surface: Sequence[Surface], words: Sequence[Word]) -> list[Record]:
    """Make the tokens of a sentence, which have all its words; the heads of words form a tree."""

    def count_heads(number: int) -> int:
        count = 0
        while number := words[number - 1].head:
            count += 1
        return count

    position, group = [0], [0]  # of each word: its token, and its group there
    tokens: list[Record] = []
    for place, (form, first, last) in enumerate(surface, 1):
        numbers = range(first, last + 1)
        groups: list[list[str]] = []
        for number in numbers:
            word = words[number - 1]
            position.append(place)
            group.append(len(groups) + 1)
            groups.append(list((SUFFIX_TAGS if groups else TAGS)[word.tag]))
            derived = DERIVED_TAGS.get(word.get_feature("VerbForm"))
            if number == first and derived and word.tag in ("VERB", "AUX"):
                groups.append(list(derived))
        lemma = words[first - 1].lemma
        tokens.append(
            {"form": form, "lemma": form if lemma in ("", "_") else lemma, "groups": groups}
        )
    for token, (_, first, last) in zip(tokens, surface, strict=True):
        # The head of a token is that of its word that is nearest to the root: with any other, tokens could form a
        # circle though words do not.
        word = words[min(range(first, last + 1), key=count_heads) - 1]
        head = {"head": position[word.head] or None, "head_group": group[word.head] or None}
        token |= {**head, "relation": convert_relation(word)}
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
        problems: what is wrong, with file and line.
    """

    def __init__(self, files: Mapping[str, tuple[Path, bytes]]) -> None:
        """Read files: the path of each and its bytes, decompressed, by the names that messages show."""
        self.documents: dict[str, list[Record]] = {}
        self.files: dict[str, str] = {}
        self.problems: list[Problem] = []
        # The file and the line where each name is first.
        self._named: dict[str, dict[str, tuple[str, int]]] = {"document": {}, "sentence": {}}
        for name, (path, data) in files.items():
            try:
                lines = split_lines(path, data)
            except FormatError as error:
                self.problems += [problem._replace(file=name) for problem in error.problems]
            else:
                self._read(name, lines)
                self.problems += sorted(self._found, key=lambda problem: problem.order)

    def _read(self, file: str, lines: Iterable[str]) -> None:
        self._file, self._found = file, ProblemList()  # and its problems
        # The names of the document and of the sentence, and their lines; whether the document has sentences.
        self._document: tuple[str, int] | None = None
        self._sentence: tuple[str, int] | None = None
        self._has_sentences = False
        self._rows: list[tuple[int, list[str]]] = []  # line and cells
        for number, line in enumerate(lines, 1):
            if line.startswith("#"):
                if newdoc := NEWDOC.match(line):
                    self._begin("document", newdoc[1] or "", number)
                elif sent_id := SENT_ID.fullmatch(line):
                    self._begin("sentence", sent_id[1], number)
            elif line.strip(" \t"):
                self._read_row(line, number)
            else:
                self._end_sentence()
            # counting those of a file of another format helps nobody
            if self._found.total > limits.MAX_PROBLEMS:
                return
        self._end_sentence()
        self._end_document()
        if self._document is None and not self._found.total:
            self._add(
                "contains no document (expected '# newdoc id = NAME' before the first sentence)"
            )

    def _add(self, what: str, line: int | None = None) -> None:
        self._found.add(what, line, file=self._file)

    def _begin(self, what: str, name: str, line: int) -> None:
        """Begin a document, or a sentence."""
        if self._rows:
            self._add(f"a {what} begins inside a sentence (expected a blank line before it)", line)
            self._end_sentence()
        if what == "document":
            self._end_document()
            self._document, expected = (name, line), "# newdoc id = NAME"
        else:
            if self._sentence:
                self._add(
                    f"a second sent_id before a sentence (first on line {self._sentence[1]})", line
                )
            self._sentence, expected = (name, line), "# sent_id = NAME"
        if not name:
            self._add(f"{what} without a name (expected '{expected}')", line)
        elif unsafe := UNSAFE.search(name):
            self._add(
                f"the name {quote(name)} contains the control character U+{ord(unsafe[0]):04X}",
                line,
            )
        elif (first := self._named[what].setdefault(name, (self._file, line))) != (
            self._file,
            line,
        ):
            place = (
                f"on line {first[1]}"
                if first[0] == self._file
                else f"in {first[0]} on line {first[1]}"
            )
            self._add(f"duplicate {what} {quote(name)} (first {place})", line)
        if what == "document":
            self.documents.setdefault(name, [])
            self.files.setdefault(name, self._file)

    def _end_document(self) -> None:
        if self._document and not self._has_sentences:
            name, line = self._document
            self._add(f"document {quote(name)} has no sentences", line)
        self._has_sentences = False

    def _read_row(self, text: str, line: int) -> None:
        cells = text.split("\t")
        if not self._rows:
            if self._sentence is None:
                self._add("sentence without a name (expected '# sent_id = NAME' before it)", line)
            if self._document is None:
                self._add(
                    "sentence outside a document (expected '# newdoc id = NAME' before it)", line
                )
                self._document = ("", line)  # reported once
        self._rows.append((line, cells))
        if len(cells) != COLUMNS:
            self._add(
                f"the number of columns is {len(cells)} (expected {COLUMNS}, separated by tabs)",
                line,
            )
        elif unsafe := CONTROL.search(text):
            self._add(f"the row contains the control character U+{ord(unsafe[0]):04X}", line)

    def _end_sentence(self) -> None:
        name, rows, self._sentence, self._rows = self._sentence, self._rows, None, []
        if not rows:
            if name:
                self._add(f"sentence {quote(name[0])} has no words", name[1])
            return
        self._has_sentences = True
        before = self._found.total
        if any(len(cells) != COLUMNS for _, cells in rows):
            return
        surface: list[Surface] = []
        of_words: list[tuple[int, list[str]]] = []
        n_empty = range_end = 0
        for line, cells in rows:
            text, form = cells[:2]
            found = ROW_ID.fullmatch(text)
            first, mark, second = (
                (int(found[1]), found[2], int(found[3] or 0)) if found else (0, "", 0)
            )
            n = len(of_words)
            if mark == "." and (first, second) == (n, n_empty + 1):
                n_empty += 1
                continue
            if mark == "-" and first == n + 1 and second > first > range_end:
                range_end = second
                surface.append((form, first, second))
            elif mark is None and first == n + 1:
                of_words.append((line, cells))
                n_empty = 0
                if first > range_end:
                    surface.append((form, first, first))
            else:
                follows = f" follows word {n}" if n else ""
                expected = f"expected {n + 1}, {n}.{n_empty + 1} or a range from {n + 1}"
                self._add(f"column 1: {quote(text)}{follows} ({expected})", line)
                continue
            if not form.strip():
                self._add("column 2: the word is empty (expected a word or '_')", line)
        if range_end > len(of_words):
            self._add(
                f"the sentence ends before word {range_end}, the last of a multiword token",
                rows[-1][0],
            )
        words = [self._read_word(line, cells, len(of_words)) for line, cells in of_words]
        if self._found.total == before and (circle := find_circle([word.head for word in words])):
            named = ", ".join(map(str, circle))
            self._add(
                f"column 7: the heads of words {named} form a circle", of_words[circle[0] - 1][0]
            )
        if self._found.total == before and name and self._document:
            sentence = {"number": name[0], "tokens": make_tokens(surface, words)}
            self.documents.setdefault(self._document[0], []).append(sentence)

    def _read_word(self, line: int, cells: Sequence[str], n_words: int) -> Word:
        _, _, lemma, tag, _, features, head, relation, _, _ = cells
        number = int(head) if HEAD.fullmatch(head) else n_words + 1
        if tag not in TAGS:
            self._add(
                f"column 4: {quote(tag)} is not a part of speech of UD (expected one of {', '.join(TAGS)})",
                line,
            )
        if number > n_words:
            self._add(
                f"column 7: {quote(head)} is not a word of the sentence (expected 0 to {n_words})",
                line,
            )
        elif relation in ("", "_") or (relation == "root") != (number == 0):
            what = "a relation other than root" if number else "root, since the head is 0"
            self._add(f"column 8: {quote(relation)} (expected {what})", line)
        return Word(lemma, tag, features, number, relation)
