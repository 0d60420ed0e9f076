"""The genres of documents, as far as their names tell."""

from __future__ import annotations

import re

GENRE = re.compile(
    r"(?P<ontonotes>bc|bn|mz|nw|pt|tc|wb)/.+"  # OntoNotes, as in CoNLL-2011 and 2012
    r"|(?:GUM|GENTLE|AMALGUM)_(?P<gum>[A-Za-z]+)_.+",  # GUM and its sister corpora
    re.DOTALL,
)


def find_genre(name: str) -> str:
    """Return the genre in a document's name; empty if the name has none.

    >>> find_genre("bn/cnn/00/cnn_0001; part 000"), find_genre("GUM_academic_art"), find_genre("ferry")
    ('bn', 'academic', '')
    """
    found = GENRE.fullmatch(name)
    return found[found.lastgroup or 0] if found else ""
