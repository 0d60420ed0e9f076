"""How CoNLL files differ: in the names of documents, and in the column of the word.

Conventions: after ``#begin document``, a name is in parentheses, ``(NAME)``, or bare, ``NAME`` (SemEval-2010); both may
be followed by ``; part 000``, which then belongs to the name, or by ``;`` alone.  Unless its column is given, the word
is the second of four or more cells if the first row of the document begins with a number, as in SemEval-2010
(``ID TOKEN LEMMA ...``); the fourth of five or more other cells, as in CoNLL-2011 and 2012
(``DOCUMENT PART NUMBER WORD ...``); the last but one of fewer.  A row of CoNLL-2012 begins with a number, too, if that
is the document's name: its name is in parentheses and its second cell is a number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

PARENTHESIZED = re.compile(rb"[ \t]*\((.+)\)[ \t]*(?:;[ \t]*(?:part[ \t]+([^\s()]+)[ \t]*)?)?")
BARE = re.compile(rb"[ \t]+[^\s(;].*")
PART = re.compile(rb"[ \t]*(?:part[ \t]+([^\s()]+)[ \t]*)?")


def parse_name(text: bytes) -> str | None:
    """Return the name of a document, with its part; None if the text is no name.

    >>> parse_name(b" (nw/a); part 000"), parse_name(b" a"), parse_name(b" (a) b")
    ('nw/a; part 000', 'a', None)
    """
    if found := PARENTHESIZED.fullmatch(text):
        return _join_part(found[1], found[2])
    if not BARE.fullmatch(text):
        return None
    head, separator, tail = text.rpartition(b";")
    part = PART.fullmatch(tail) if separator else None
    return _join_part(head.strip(), part[1]) if part else text.strip().decode("utf-8")


def is_bare(text: bytes) -> bool:
    """Return whether a name has no parentheses; true if there is none.

    >>> is_bare(b" a"), is_bare(b" (a)")
    (True, False)
    """
    return not text.lstrip().startswith(b"(")


def guess_word_cell(row: Sequence[bytes], *, is_bare: bool) -> int:
    """Guess the cell of the word, from 0; -1 if there is none.

    Args:
        row: the cells of the first row of a document.
        is_bare: whether the name of the document has no parentheses.

    >>> guess_word_cell(b"1 Tea tea NOUN (1)".split(), is_bare=True)
    1
    >>> guess_word_cell(b"d 0 0 Tea NN (1)".split(), is_bare=False)
    3
    """
    if len(row) >= 4 and row[0].isdigit() and (is_bare or not row[1].isdigit()):
        return 1
    return 3 if len(row) >= 5 else len(row) - 2


def _join_part(name: bytes, part: bytes | None) -> str:
    return name.decode("utf-8") + (f"; part {part.decode('utf-8')}" if part else "")
