"""The attributes IG and REL of a word: its lemma and inflectional groups, and its head.

Conventions: IG is `[(1,"LEMMA+TAG+TAG")(2,"TAG+TAG")]`, nothing in which is escaped: a group ends at a `")` before
`(` or before the final `]`, so that `(1,""+Punc")` is a quotation mark.  REL is `[WORD,GROUP,(RELATION)]`, or `[,( )]`
where there is no head.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

GROUP = re.compile(r'\(([0-9]{1,4}),"(.*?)"\)(?=\(|\Z)', re.DOTALL)
RELATION = re.compile(r"\[\s*([1-9][0-9]{0,8})\s*,\s*([1-9][0-9]{0,8})\s*,\s*\(([^()]*)\)\s*\]")
NO_RELATION = re.compile(r"\[\s*,\s*\(\s*\)\s*\]")


class Analysis(NamedTuple):
    """What IG says.

    Attributes:
        lemma: the first tag of the first group.
        groups: the other tags of every group.
    """

    lemma: str
    groups: tuple[tuple[str, ...], ...]


class Relation(NamedTuple):
    """What REL says.

    Attributes:
        head: the IX of the head.
        group: the number of its group, from 1.
        name: the relation.
    """

    head: int
    group: int
    name: str


@lru_cache(100_000)
def parse_groups(text: str) -> Analysis | None:
    """Return the lemma and the groups in IG; None if it has another form, or no groups.

    >>> parse_groups('[(1,"ev+Noun+A3sg+P3sg+Loc")(2,"Adj+Rel")]')
    Analysis(lemma='ev', groups=(('Noun', 'A3sg', 'P3sg', 'Loc'), ('Adj', 'Rel')))
    >>> [parse_groups(text).lemma for text in ('[(1,""+Punc")]', '[(1,"++Punc")]')]
    ['"', '+']
    """
    text = text.strip()
    if not (text.startswith("[(") and text.endswith(")]")):
        return None
    inner = text[1:-1]
    lemma, place = "", 0
    groups: list[tuple[str, ...]] = []
    while place < len(inner):
        found = GROUP.match(inner, place)
        if found is None or int(found[1]) != len(groups) + 1:
            return None
        if not groups:
            lemma, tags = _split_lemma(found[2])
        else:
            tags = found[2].split("+")
        if not lemma or any(not tag or '"' in tag for tag in tags):
            return None
        groups.append(tuple(tags))
        place = found.end()
    return Analysis(lemma, tuple(groups))


def _split_lemma(text: str) -> tuple[str, list[str]]:
    """Split the tags of the first group; a `+` at the start is the lemma, not a separator."""
    if text.startswith("+"):
        return "+", text[1:].removeprefix("+").split("+") if text != "+" else []
    lemma, *tags = text.split("+")
    return lemma, tags


@lru_cache(100_000)
def parse_relation(text: str) -> Relation | None:
    """Return the head in REL; None if there is none.

    Raises:
        ValueError: REL has another form.

    >>> parse_relation("[2,1,(POSSESSOR)]"), parse_relation("[,( )]")
    (Relation(head=2, group=1, name='POSSESSOR'), None)
    """
    found = RELATION.fullmatch(text.strip())
    if found is not None and (name := found[3].strip()):
        return Relation(int(found[1]), int(found[2]), name)
    if NO_RELATION.fullmatch(text.strip()) is None:
        raise ValueError(f"{text!r} is not a relation")
    return None
