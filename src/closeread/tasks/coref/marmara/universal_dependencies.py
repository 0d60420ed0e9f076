"""The treebank as Universal Dependencies has it: the CoNLL-U files of UD_Turkish-IMST.

Conventions: what `coref.formats.conllu` reads is read here once more, for what the treebank has beside words.  A
document begins at `# newdoc id = NAME`, and every sentence has a `# sent_id = NAME`.  Words count from 1 in their
sentence, and head 0 is none.  A token is that of the surface: a word, or a multiword token with all its words; empty
nodes (`3.1`) are none.  Trees are UD's: they are not turned round to be head-final.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import ProblemList, quote
from closeread.formats.text import read_lines
from closeread.records import Record
from closeread.tasks.coref.formats.conllu import NEWDOC, read_conllu
from closeread.tasks.coref.marmara.documents import Sentence

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

SENT_ID = re.compile(r"#[ \t]*sent_id[ \t]*=[ \t]*+(.*[^ \t\n])[ \t]*")
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
        return next((one[len(name) + 1 :] for one in self.features.split("|") if one.startswith(f"{name}=")), "")


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
        groups: list[list[str]] = []
        for word in words[first - 1 : last]:
            position.append(place)
            group.append(len(groups) + 1)
            groups.append(list((SUFFIX_TAGS if groups else TAGS)[word.tag]))
            derived = DERIVED_TAGS.get(word.get_feature("VerbForm"))
            if len(groups) == 1 and derived and word.tag in ("VERB", "AUX"):
                groups.append(list(derived))
        lemma = words[first - 1].lemma
        tokens.append({"form": form, "lemma": form if lemma in ("", "_") else lemma, "groups": groups})
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
    """Return words that are each other's heads, by number; none if the heads form a tree."""
    rooted = {0}
    for number in range(1, len(heads) + 1):
        path: list[int] = []
        while number not in rooted and number not in path:
            path.append(number)
            number = heads[number - 1]
        if number in path:
            return sorted(path[path.index(number) :])
        rooted.update(path)
    return []


def read_sentences(path: Path, file: str) -> dict[str, list[Sentence]]:
    """Read the sentences of each document of a CoNLL-U file, by its id; messages name the file `file`."""
    read_conllu(path)  # which finds whatever is wrong with the format
    problems = ProblemList()
    documents: dict[str, list[Sentence]] = {}
    for document, number, rows in _split_sentences(read_lines(path), documents, problems):
        before = problems.total
        surface: list[Surface] = []
        words: list[Word] = []
        last = 0  # word of the multiword token
        n_words = sum(cells[0].isdigit() for _, cells in rows)
        for line, (number_cell, form, *cells) in rows:
            if "-" in number_cell:
                first, last = map(int, number_cell.split("-"))
                surface.append((form, first, last))
            elif number_cell.isdigit():
                words.append(_read_word(line, cells, n_words, problems))
                if len(words) > last:
                    surface.append((form, len(words), len(words)))
        line = rows[0][0]
        if not number:
            problems.add("sentence without a name (expected '# sent_id = NAME' before it)", line)
        if problems.total == before and (circle := find_circle([word.head for word in words])):
            problems.add(f"column 7: the heads of words {', '.join(map(str, circle))} form a circle", line)
        if problems.total == before:
            documents[document].append(Sentence(file, line, number, make_tokens(surface, words), {}))
    problems.raise_any(path)
    for document, sentences in documents.items():
        if not sentences:
            problems.add(f"document {quote(document)} has no sentences")
    problems.raise_any(path)
    return documents


def _split_sentences(
    lines: Iterable[str], documents: dict[str, list[Sentence]], problems: ProblemList
) -> Iterator[tuple[str, str, list[tuple[int, list[str]]]]]:
    """Yield the document and the name of each sentence, and the line and the cells of its rows; add documents."""
    document = number = ""
    rows: list[tuple[int, list[str]]] = []
    for line, text in enumerate([*lines, ""], 1):
        newdoc = NEWDOC.fullmatch(text)
        if text.startswith("#") and not newdoc:
            if sent_id := SENT_ID.fullmatch(text):
                number = sent_id[1]
        elif text.strip(" \t") and not newdoc:
            rows.append((line, text.split("\t")))
        elif rows:
            yield document, number, rows
            number, rows = "", []
        if newdoc:
            document = newdoc[1] or ""
        if (newdoc or rows) and not document and document not in documents:
            problems.add("document without a name (expected '# newdoc id = NAME')", line)
        if newdoc or rows:
            documents.setdefault(document, [])


def _read_word(line: int, cells: Sequence[str], n_words: int, problems: ProblemList) -> Word:
    """Read the word of a row, given the cells after its form."""
    lemma, tag, _, features, head, relation, *_ = cells
    number = int(head) if HEAD.fullmatch(head) else n_words + 1
    if tag not in TAGS:
        problems.add(f"column 4: {quote(tag)} is not a part of speech of UD (expected one of {', '.join(TAGS)})", line)
    if number > n_words:
        problems.add(f"column 7: {quote(head)} is not a word of the sentence (expected 0 to {n_words})", line)
    elif relation in ("", "_") or (relation == "root") != (number == 0):
        what = "a relation other than root" if number else "root, since the head is 0"
        problems.add(f"column 8: {quote(relation)} (expected {what})", line)
    return Word(lemma, tag, features, number, relation)
