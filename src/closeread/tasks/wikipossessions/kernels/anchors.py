"""Temporal anchors: the years that `1888`, `1530-1545`, `1888-Now` or `Unknown-1930` stand for.

Source: Chinnappa, Palmer and Blanco (2020), and what their released file holds.

Conventions: years are whole numbers, those before Christ negative (`44 BC` is -44), and both ends of a range belong to
it.  A side of a range is a year, `Now` or `Unknown`, in any case and with any dash between the two; a text with
anything else in it is an event as a whole (`World War II`, `revolution-Now`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

DASH = re.compile(r"\s*[-\u2010-\u2015\u2212]\s*")
YEAR = re.compile(r"(?:(?P<before>AD|CE)\s*)?(?P<year>[0-9]{1,5})(?:\s*(?P<after>BCE|BC|CE|AD))?", re.IGNORECASE)
NOW = "now"
UNKNOWN = "unknown"


class Anchor(NamedTuple):
    """What an anchor says.

    Attributes:
        kind: "unknown", "years" or "event".
        lower, upper: the first and the last year; None at an open end, and where there are no years.
        open_start, open_end: whether the range begins at an unknown time, or lasts until now.
        reversed: whether the range was written with its later side first, and has been turned round.
    """

    kind: str
    lower: int | None = None
    upper: int | None = None
    open_start: bool = False
    open_end: bool = False
    reversed: bool = False


def parse_anchor(text: str | None) -> Anchor:
    """The anchor that a text is.

    `Unknown` is no anchor, and neither is nothing.  What ends at an unknown time is its first year (`1888-Unknown`
    is 1888); what lasts until now but begins nobody knows when, a lone `Now` included, is open at both ends.  A year
    without an era takes that of a year before Christ after it: `50-44 BC` is -50 to -44.

    >>> parse_anchor("1530-1545")
    Anchor(kind='years', lower=1530, upper=1545, open_start=False, open_end=False, reversed=False)
    >>> parse_anchor("Unknown-1930")
    Anchor(kind='years', lower=None, upper=1930, open_start=True, open_end=False, reversed=False)
    >>> parse_anchor("16th Century").kind
    'event'
    """
    if text is None or not text.strip():
        return Anchor("unknown")
    sides = DASH.split(text.strip())
    last = _side(sides[-1])
    first = _side(sides[0], before_christ=isinstance(last, int) and last < 0)
    if len(sides) > 2 or first is None or last is None:
        return Anchor("event")
    if isinstance(first, int):
        return _from_year(first, last)
    if isinstance(last, int):
        # From now to a year is that year to now, written the wrong way round.
        return _from_year(last, NOW)._replace(reversed=True) if first == NOW else Anchor("years", None, last, True)
    if first == last == UNKNOWN:
        return Anchor("unknown")
    return Anchor("years", None, None, True, True)


def _from_year(first: int, last: int | str) -> Anchor:
    if isinstance(last, int):
        return Anchor("years", min(first, last), max(first, last), reversed=last < first)
    return Anchor("years", first, None, open_end=True) if last == NOW else Anchor("years", first, first)


def _side(text: str, *, before_christ: bool = False) -> int | str | None:
    """A year, `NOW` or `UNKNOWN`; None for anything else."""
    if text.casefold() in (NOW, UNKNOWN):
        return text.casefold()
    found = YEAR.fullmatch(text)
    if found is None or (found["before"] and found["after"]):
        return None
    era = (found["before"] or found["after"] or ("BC" if before_christ else "AD")).upper()
    return -int(found["year"]) if era.startswith("BC") else int(found["year"])
