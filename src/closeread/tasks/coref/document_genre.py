"""The genres of documents, from ids that contain them."""

from __future__ import annotations

import re

CONLL = re.compile(r"(bc|bn|mz|nw|pt|tc|wb)/.+")
GUM = re.compile(r"(?:GUM|GENTLE)_([a-z]+)_.+")


def document_genre(name: str) -> str:
    """Return the genre that the id of a CoNLL-2011, CoNLL-2012, GUM or GENTLE document contains; "" for others.

    >>> document_genre("bn/cnn/00/cnn_0001; part 000"), document_genre("GUM_academic_art"), document_genre("wsj_0026")
    ('bn', 'academic', '')
    """
    found = CONLL.fullmatch(name) or GUM.fullmatch(name)
    return found[1] if found else ""
