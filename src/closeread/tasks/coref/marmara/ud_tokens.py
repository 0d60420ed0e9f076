"""Words of Universal Dependencies as tokens of the treebank: inflectional groups, heads and relations.

Conventions: words count from 1 in their sentence, and head 0 is none.  A token is a word, or a multiword token with
all its words.  Trees are UD's: they are not turned round to be head-final.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import NamedTuple

from closeread.tasks.coref.marmara.documents import Token

TAGS = MappingProxyType(
    {
        "NOUN": ("Noun",),
        "PROPN": ("Noun", "Prop"),
        "PRON": ("Pron",),
        "VERB": ("Verb",),
        "AUX": ("Verb",),
        "ADJ": ("Adj",),
        "ADV": ("Adv",),
        "DET": ("Det",),
        "NUM": ("Num",),
        "ADP": ("Postp",),
        "CCONJ": ("Conj",),
        "SCONJ": ("Conj",),
        "PUNCT": ("Punc",),
        "INTJ": ("Interj",),
        "X": ("Dup",),
        # Not in UD_Turkish-IMST.
        "PART": ("Part",),
        "SYM": ("Sym",),
    }
)
"""The tags of a word's group, by its part of speech."""

SUFFIX_TAGS = MappingProxyType({**TAGS, "ADP": ("Adj",)})
"""The tags of the groups of further words of a multiword token, which are suffixes, such as `-li` and `-ki`."""

DERIVED_TAGS = MappingProxyType({"Part": ("Adj",), "Vnoun": ("Noun",), "Conv": ("Adv",)})
"""The tags of the group that a verb form adds."""

RELATIONS = MappingProxyType(
    {
        "det": "DETERMINER",
        "compound": "CLASSIFIER",
        "amod": "MODIFIER",
        "acl": "MODIFIER",
        "nmod": "MODIFIER",
        "nummod": "MODIFIER",
        "advmod": "MODIFIER",
        "advcl": "MODIFIER",
        "appos": "APPOSITION",
        "flat": "COLLOCATION",
        "fixed": "COLLOCATION",
        "nsubj": "SUBJECT",
        "csubj": "SUBJECT",
        "obj": "OBJECT",
        "iobj": "OBJECT",
        "ccomp": "OBJECT",
        "xcomp": "OBJECT",
        "conj": "COORDINATION",
        "cc": "COORDINATION",
        "root": "SENTENCE",
        "vocative": "VOCATIVE",
    }
)
"""Relations by their names in UD, those apart that depend on the case, and `compound:` with whatever follows."""

ADJUNCTS = MappingProxyType(
    {
        "Dat": "DATIVE.ADJUNCT",
        "Loc": "LOCATIVE.ADJUNCT",
        "Abl": "ABLATIVE.ADJUNCT",
        "Ins": "INSTRUMENTAL.ADJUNCT",
        "Equ": "EQU.ADJUNCT",
    }
)
"""The relation `obl` by case; others are modifiers."""

FEATURE = MappingProxyType({name: re.compile(rf"(?:^|\|){name}=([^|]*)") for name in ("Case", "VerbForm")})


class Word(NamedTuple):
    """A word of UD.

    Attributes:
        lemma, tag, features, relation: the columns LEMMA, UPOS, FEATS and DEPREL.
        head: the number of its head, or 0.
    """

    lemma: str
    tag: str
    features: str
    head: int
    relation: str


class SurfaceToken(NamedTuple):
    """A token of the surface: its form, and the numbers of its first and last word."""

    form: str
    first: int
    last: int


def make_tokens(surface: Sequence[SurfaceToken], words: Sequence[Word]) -> list[Token]:
    """Make the tokens of a sentence.

    Args:
        surface: its tokens, which have all its words.
        words: its words; their heads form a tree (see `find_circle`).
    """
    position = [0]
    group = [0]  # of each word in its token
    groups: list[list[list[str]]] = []
    for number, token in enumerate(surface, 1):
        here: list[list[str]] = []
        for word in words[token.first - 1 : token.last]:
            position.append(number)
            group.append(len(here) + 1)
            here += _make_groups(word, is_first=not here)
        groups.append(here)
    tokens: list[Token] = []
    for number, token in enumerate(surface, 1):
        lemma = words[token.first - 1].lemma
        word = words[_find_top(token, words) - 1]
        has_head = word.head > 0
        tokens.append(
            {
                "form": token.form,
                "lemma": token.form if lemma in ("", "_") else lemma,
                "groups": groups[number - 1],
                "head": position[word.head] if has_head else None,
                "head_group": group[word.head] if has_head else None,
                "relation": convert_relation(word),
            }
        )
    return tokens


def _make_groups(word: Word, *, is_first: bool) -> list[list[str]]:
    """Return the groups that a word adds to its token."""
    if not is_first:
        return [list(SUFFIX_TAGS[word.tag])]
    derived = DERIVED_TAGS.get(_get_feature(word, "VerbForm")) if word.tag in ("VERB", "AUX") else None
    return [list(tags) for tags in (TAGS[word.tag], derived) if tags]


def convert_relation(word: Word) -> str:
    """Return the relation of a word, by its name in the treebank."""
    if word.relation == "nmod:poss":
        return "POSSESSOR" if _get_feature(word, "Case") == "Gen" else "CLASSIFIER"
    if word.relation == "obl":
        return ADJUNCTS.get(_get_feature(word, "Case"), "MODIFIER")
    if word.relation.startswith("compound:"):
        return "COLLOCATION"
    return RELATIONS.get(word.relation) or word.relation.upper()


def _get_feature(word: Word, name: str) -> str:
    found = FEATURE[name].search(word.features)
    return found[1] if found else ""


def _find_top(token: SurfaceToken, words: Sequence[Word]) -> int:
    """Return the word of a token whose head is that of the token: the one that is nearest to the root.

    With any other, tokens could form a circle though words do not.
    """
    if token.first == token.last:
        return token.first
    return min(range(token.first, token.last + 1), key=lambda number: _count_heads(number, words))


def _count_heads(number: int, words: Sequence[Word]) -> int:
    count = 0
    while number := words[number - 1].head:
        count += 1
    return count


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
