"""Parsing of temporal anchors such as `1888`, `1530-1545`, `1888-Now` or `Unknown-1930`.

Source: Chinnappa, Palmer and Blanco (2020), section 4.2.3, and their released file.

Conventions: years are integers, negative before Christ (`44 BC` is -44), and ranges include both ends.  Each side of a
range is a year, `Now` or `Unknown`, in upper or lower case, and the sides are separated by any dash; any other text is
an event as a whole (`World War II`, `revolution-Now`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

# The blanks before it are taken from the first one on or not at all, so that long runs without a dash are cheap.
DASH = re.compile(r"(?:(?<!\s)\s++)?[-\u2010-\u2015\u2212]\s*+")
YEAR = re.compile(r"(?:(?P<before>AD|CE)\s*)?(?P<year>[0-9]{1,5})(?:\s*(?P<after>BCE|BC|CE|AD))?", re.IGNORECASE)
NOW = "now"
UNKNOWN = "unknown"

SHORT = 200
"""The most characters of a text that is remembered with what it was parsed to."""


class Anchor(NamedTuple):
    """A parsed anchor.

    Attributes:
        kind: "unknown", "years" or "event".
        lower, upper: the first and last year; None at an open end, and if the kind is not "years".
        open_start, open_end: whether the range begins at an unknown time, and whether it lasts until now.
        reversed: whether the range was written with the later year first, and has been swapped.
    """

    kind: str
    lower: int | None = None
    upper: int | None = None
    open_start: bool = False
    open_end: bool = False
    reversed: bool = False


def parse_anchor(text: str | None) -> Anchor:
    """Parse the text of an anchor.

    `Unknown` and empty text are of kind "unknown".  A range that ends at an unknown time is its first year
    (`1888-Unknown` is 1888); `Unknown-Now`, and `Now` alone, are open at both ends.  A first year without an era is
    before Christ if the second one is: `50-44 BC` is -50 to -44.

    >>> parse_anchor("1530-1545")
    Anchor(kind='years', lower=1530, upper=1545, open_start=False, open_end=False, reversed=False)
    >>> parse_anchor("Unknown-1930")
    Anchor(kind='years', lower=None, upper=1930, open_start=True, open_end=False, reversed=False)
    >>> parse_anchor("16th Century").kind
    'event'
    """
    if text is None or not text.strip():
        return Anchor("unknown")
    return _parse_short(text) if len(text) <= SHORT else _parse(text)


@lru_cache(maxsize=2**12)
def _parse_short(text: str) -> Anchor:
    """Parse an anchor, which the rules and the scores both ask for, of gold and of every system that is compared."""
    return _parse(text)


def _parse(text: str) -> Anchor:
    sides = DASH.split(text.strip())
    last = _parse_side(sides[-1])
    first = _parse_side(sides[0], before_christ=isinstance(last, int) and last < 0)
    if len(sides) > 2 or first is None or last is None:
        return Anchor("event")
    if isinstance(first, int):
        return _make_range(first, last)
    if isinstance(last, int):
        # `Now-1888` is `1888-Now` in reverse order.
        return _make_range(last, NOW)._replace(reversed=True) if first == NOW else Anchor("years", None, last, True)
    if first == last == UNKNOWN:
        return Anchor("unknown")
    return Anchor("years", None, None, True, True)


def _make_range(first: int, last: int | str) -> Anchor:
    if isinstance(last, int):
        return Anchor("years", min(first, last), max(first, last), reversed=last < first)
    return Anchor("years", first, None, open_end=True) if last == NOW else Anchor("years", first, first)


def _parse_side(text: str, *, before_christ: bool = False) -> int | str | None:
    """Parse one side of a range: a year, `NOW` or `UNKNOWN`; None for anything else."""
    if text.casefold() in (NOW, UNKNOWN):
        return text.casefold()
    found = YEAR.fullmatch(text)
    if found is None or (found["before"] and found["after"]):
        return None
    era = (found["before"] or found["after"] or ("BC" if before_christ else "AD")).upper()
    return -int(found["year"]) if era.startswith("BC") else int(found["year"])
