"""The treebank as Universal Dependencies has it: the CoNLL-U files of UD_Turkish-IMST.

Conventions: a document begins at `# newdoc id = NAME`, and every sentence has a `# sent_id = NAME`.  Head 0 is none.  A
token is that of the surface: a word, or a multiword token with all its words; empty nodes (`3.1`) are none.  Trees
are UD's: they are not turned round to be head-final.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import ProblemList, quote
from closeread.formats.text import BYTE_ORDER_MARK, check_text, describe_unsafe
from closeread.records import Record
from closeread.tasks.coref.formats.conllu_sentences import (
    RANGE,
    WORD,
    Row,
    Sentence,
    iterate_sentences,
    read_ids,
)
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

NEWDOC = re.compile(r"#[ \t]*newdoc(?![^\s=])(?:(?:[ \t]+id)?[ \t]*=[ \t]*+(.*[^ \t\n]|)[ \t]*\Z)?")
SENT_ID = re.compile(r"#[ \t]*sent_id[ \t]*=[ \t]*+(.*[^ \t\n]|)[ \t]*")
HEAD = re.compile("[0-9]{1,9}")


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
            with notes.on(name).catching():
                text = data.removeprefix(BYTE_ORDER_MARK)
                check_text(path, text)
                file = _UdFile(self, name)
                file.read(text)
                file.problems.raise_any(path)


class _Header(NamedTuple):
    """The name of a document or of a sentence, and its line."""

    name: str
    line: int


class _UdFile:
    """A file of a treebank, as it is read: its problems, its document and its sentence, so far."""

    def __init__(self, treebank: UdTreebank, file: str) -> None:
        self.problems = ProblemList()
        self._treebank = treebank
        self._file = file
        self._document: _Header | None = None
        self._has_sentences = False
        self._sentence: _Header | None = None

    def read(self, text: bytes) -> None:
        """Read the file, and add its documents to the treebank."""
        n_problems = 0
        for sentence in iterate_sentences(text, 1, self.problems):
            # Where a row is missing, all ids after it would be problems.
            is_whole = self.problems.total == n_problems
            is_one_sentence = self._read_comments(sentence)
            if is_whole and is_one_sentence:
                self._read_sentence(sentence)
            self._has_sentences |= bool(sentence.lines) or not is_whole
            self._sentence = None
            n_problems = self.problems.total
        self._end_document()
        if self._document is None and not self.problems:
            self.problems.add(
                "contains no document (expected '# newdoc id = NAME' before the first sentence)"
            )

    def _read_comments(self, sentence: Sentence) -> bool:
        """Read the names of documents and of the sentence; return whether all of them are before its rows."""
        for line, comment in sentence.comments:
            text = comment.decode().removesuffix("\r")
            newdoc = NEWDOC.match(text)
            sent_id = SENT_ID.fullmatch(text)
            if (newdoc or sent_id) and sentence.lines and line > sentence.lines[0]:
                kind = "document" if newdoc else "sentence"
                expected = "expected a blank line before it"
                self.problems.add(f"a {kind} begins inside a sentence ({expected})", line)
                return False
            if newdoc:
                self._begin_document(_Header(newdoc[1] or "", line))
            elif sent_id:
                self._end_sentence()
                self._sentence = _Header(sent_id[1], line)
                self._check_name("sentence", self._sentence, "# sent_id = NAME")
        return True

    def _begin_document(self, document: _Header) -> None:
        self._end_document()
        self._document = document
        self._check_name("document", document, "# newdoc id = NAME")
        self._treebank.documents.setdefault(document.name, [])
        self._treebank.files.setdefault(document.name, self._file)

    def _end_sentence(self) -> None:
        """Report a sentence of which there is only the name."""
        if self._sentence is not None:
            name, line = self._sentence
            self.problems.add(f"sentence {quote(name)} has no words", line)

    def _check_name(self, kind: str, header: _Header, expected: str) -> None:
        name, line = header
        unsafe = describe_unsafe(name)
        if not name:
            self.problems.add(f"{kind} without a name (expected '{expected}')", line)
        elif unsafe:
            self.problems.add(f"the name {unsafe}", line)
        else:
            place = (self._file, line)
            first_file, first_line = self._treebank.first_places.setdefault((kind, name), place)
            if (first_file, first_line) != place:
                where = f"on line {first_line}"
                if first_file != self._file:
                    where = f"in {first_file} {where}"
                self.problems.add(f"duplicate {kind} {quote(name)} (first {where})", line)

    def _end_document(self) -> None:
        if self._document is not None and not self._has_sentences:
            name, line = self._document
            self.problems.add(f"document {quote(name)} has no sentences", line)
        self._has_sentences = False

    def _read_sentence(self, sentence: Sentence) -> None:
        """Add a sentence to its document, if nothing is wrong with it."""
        if not sentence.lines:
            self._end_sentence()
            return
        first_line = sentence.lines[0]
        if self._sentence is None:
            expected = "expected '# sent_id = NAME' before it"
            self.problems.add(f"sentence without a name ({expected})", first_line)
        if self._document is None:
            expected = "expected '# newdoc id = NAME' before it"
            self.problems.add(f"sentence outside a document ({expected})", first_line)
            # It is reported once.
            self._document = _Header("", first_line)
        n_problems = self.problems.total
        surface, word_rows = self._list_tokens(sentence)
        words = [self._read_word(row, len(word_rows)) for row in word_rows]
        if self.problems.total > n_problems:
            return
        circle = find_circle([word.head for word in words])
        if circle:
            message = f"the heads of words {', '.join(map(str, circle))} form a circle"
            self.problems.add(f"column 7: {message}", word_rows[circle[0] - 1][0])
        elif self._sentence is not None:
            record = {"number": self._sentence.name, "tokens": make_tokens(surface, words)}
            self._treebank.documents.setdefault(self._document.name, []).append(record)

    def _list_tokens(self, sentence: Sentence) -> tuple[list[Surface], list[Row]]:
        """Return the tokens of the surface, and the rows of the words."""
        ids = read_ids(sentence, 0, self.problems)
        surface: list[Surface] = []
        words: list[Row] = []
        last_of_range = 0
        for kind, row in zip(ids.kinds, sentence.list_rows(), strict=True):
            cells = row[1]
            if kind == RANGE:
                first, last_of_range = map(int, cells[0].split(RANGE))
                surface.append((cells[1].decode(), first, last_of_range))
            elif kind == WORD:
                words.append(row)
                number = len(words)
                if number > last_of_range:
                    surface.append((cells[1].decode(), number, number))
        return surface, words

    def _read_word(self, row: Row, n_words: int) -> Word:
        line, cells = row
        _, _, lemma, tag, _, features, head, relation, _, _ = [cell.decode() for cell in cells]
        number = int(head) if HEAD.fullmatch(head) else n_words + 1
        if tag not in TAGS:
            expected = f"expected one of {', '.join(TAGS)}"
            message = f"{quote(tag)} is not a part of speech of UD ({expected})"
            self.problems.add(f"column 4: {message}", line)
        if number > n_words:
            message = f"{quote(head)} is not a word of the sentence (expected 0 to {n_words})"
            self.problems.add(f"column 7: {message}", line)
        elif relation in ("", "_") or (relation == "root") != (number == 0):
            expected = "a relation other than root" if number else "root, since the head is 0"
            self.problems.add(f"column 8: {quote(relation)} (expected {expected})", line)
        return Word(lemma, tag, features, number, relation)
