"""Turkish letters and suffixes: lower case, suffixes after an apostrophe, capitals."""

from __future__ import annotations

import re

_APOSTROPHE = re.compile("(?<!^)['’‘`´]")
_DOTS = str.maketrans({"I": "ı", "İ": "i"})


def lower(text: str) -> str:
    """Return a text in Turkish lower case, in which I becomes ı, and İ becomes i.

    >>> lower("IĞDIR'DAN İZMİR'E")
    "ığdır'dan izmir'e"
    """
    return text.translate(_DOTS).lower()


def strip_suffix(form: str) -> str:
    """Return a form without its first apostrophe and what follows; an apostrophe at its beginning stays.

    >>> strip_suffix("Ankara'nın"), strip_suffix("'Ankara'nın'"), strip_suffix("evin")
    ('Ankara', "'Ankara", 'evin')
    """
    return _APOSTROPHE.split(form, maxsplit=1)[0]


def is_capitalised(text: str) -> bool:
    """Return whether a text begins with a capital letter.

    >>> is_capitalised("İzmir"), is_capitalised("izmir"), is_capitalised("'İzmir"), is_capitalised("")
    (True, False, False, False)
    """
    return text[:1].isalpha() and lower(text[0]) != text[0]
