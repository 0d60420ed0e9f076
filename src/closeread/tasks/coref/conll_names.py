"""Names of documents in CoNLL files, as text after ``#begin document``.

Conventions: a name is in parentheses, ``(NAME)``, or bare, ``NAME`` (SemEval-2010); both may be followed by
``; part 000``, which then belongs to the name, or by ``;`` alone.
"""

from __future__ import annotations

import re

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


def _join_part(name: bytes, part: bytes | None) -> str:
    return name.decode("utf-8") + (f"; part {part.decode('utf-8')}" if part else "")
