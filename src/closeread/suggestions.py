"""Suggestions for unknown names: the similar name that was probably meant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from unicodedata import normalize

from closeread.exceptions import escape_line

NO_ALIASES: Mapping[str, str] = MappingProxyType({})

LONGEST_NAME = 100
"""How much of an unknown name is compared with known ones, which takes time that grows with its square."""

_SCORE = re.compile(r"(?<![\W_])[\W_]++(f|f1|f_?score|p|r|precision|recall|score)$", re.IGNORECASE)
"""The score after the name of a metric, as in `muc_f1` and `ceafe/f`."""


def describe_unknown(what: str, name: str, known: Sequence[str], aliases: Mapping[str, str] = NO_ALIASES) -> str:
    """Write the message for an unknown name, with the most similar known one.

    >>> describe_unknown("corpus", "mctacos", ["mctaco", "tne"])
    "no such corpus: 'mctacos'. Did you mean 'mctaco'? (choose from: mctaco, tne)"
    """
    guess = suggest(str(name), known, aliases)  # in Python a name may be anything
    return (
        f"no such {what}: '{escape_line(str(name))}'{guess and '.'}{guess} (choose from: {', '.join(known) or 'none'})"
    )


def suggest(name: str, known: Sequence[str], aliases: Mapping[str, str] = NO_ALIASES) -> str:
    """Ask whether a known name was meant, with a space before the question; empty if none is similar.

    >>> suggest("B-Cubed/F1", ["b3", "lea"], {"bcubed": "b3"})
    " Did you mean 'b3'?"
    """
    near = find_similar(name, known, aliases)
    return f" Did you mean '{near}'?" if near is not None else ""


def find_similar(name: str, known: Sequence[str], aliases: Mapping[str, str] = NO_ALIASES) -> str | None:
    """Return the known name that was probably meant; None if none is similar.

    Case, punctuation and a score after the name don't matter; aliases are names that others use.
    """
    from difflib import get_close_matches

    name = name[:LONGEST_NAME]
    meant = {alias: target for alias, target in aliases.items() if target in known} | {one: one for one in known}
    folded = {_fold(one): target for one, target in meant.items()}
    stem = _SCORE.sub("", name)
    for text in map(_fold, (name, stem)):
        if text in folded:
            return folded[text]
    close = get_close_matches(name, meant, n=1) or get_close_matches(stem, meant, n=1)
    return meant[close[0]] if close else None


def _fold(name: str) -> str:
    """Return a name without case, punctuation and superscripts."""
    return "".join(c for c in normalize("NFKC", name).lower() if c.isalnum())
