"""Times of possessions: anchors such as `1888`, `1530-1545`, `1888-Now` or `Unknown-1930`.

Source: Chinnappa, Palmer and Blanco (2020), sections 4.2.3 and 5, and their released file.

Conventions: years are integers, negative before Christ (`44 BC` is -44), and ranges include both ends.  Each side of a
range is a year, `Now` or `Unknown`, in upper or lower case, and the sides are separated by any dash; any other text is
an event as a whole (`World War II`, `revolution-Now`).  Events are compared by their normalized names.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import NamedTuple

from closeread.tasks.wikipossessions.matching import normalize_name

# The blanks before it are taken from the first one on or not at all, so that long runs without a dash are cheap.
DASH = re.compile(r"(?:(?<!\s)\s++)?[-\u2010-\u2015\u2212]\s*+")
YEAR = re.compile(
    r"(?:(?P<before>AD|CE)\s*)?(?P<year>[0-9]{1,5})(?:\s*(?P<after>BCE|BC|CE|AD))?", re.IGNORECASE
)
NOW = "now"
UNKNOWN = "unknown"


class Anchor(NamedTuple):
    """A parsed anchor.

    Attributes:
        kind: "unknown", "years" or "event".
        lower, upper: the first and the last year; None at an open end, and if the kind is not "years".
        open_start: whether the range begins at an unknown time.
        open_end: whether it lasts until now.
        reversed: whether it was written with the later year first, and has been swapped.
    """

    kind: str
    lower: int | None = None
    upper: int | None = None
    open_start: bool = False
    open_end: bool = False
    reversed: bool = False


# the rules and the scores both ask, of gold and of every system that is compared
@lru_cache(maxsize=2**12)
def parse_anchor(text: str | None) -> Anchor:
    """Parse the text of an anchor.

    `Unknown` and empty text are of kind "unknown".  A range that ends at an unknown time is its first year
    (`1888-Unknown` is 1888); `Unknown-Now`, and `Now` alone, are open at both ends.  A first year without an era is
    before Christ if the second one is: `50-44 BC` is -50 to -44, and `600-0 BC` is -600 to 0.  A second year AD with
    fewer digits continues the first one: `1890-92` is 1890 to 1892.

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
    last = _parse_side(sides[-1])
    first = _parse_side(sides[0], before_christ=_is_before_christ(sides[-1]))
    if len(sides) > 2 or first is None or last is None:
        return Anchor("event")
    if len(sides) == 2 and not any(map(_is_before_christ, sides)):
        last = _continue_year(sides[0], sides[1], last)
    if isinstance(first, int) and isinstance(last, int):
        return Anchor("years", min(first, last), max(first, last), reversed=last < first)
    if isinstance(first, int):
        if last == NOW:
            return Anchor("years", first, open_end=True)
        return Anchor("years", first, first)
    if isinstance(last, int):
        if first == NOW:  # `Now-1888` is `1888-Now` in reverse order
            return Anchor("years", last, open_end=True, reversed=True)
        return Anchor("years", upper=last, open_start=True)
    if first == last == UNKNOWN:
        return Anchor("unknown")
    return Anchor("years", open_start=True, open_end=True)


def _parse_side(text: str, *, before_christ: bool = False) -> int | str | None:
    """Parse one side of a range: a year, `NOW` or `UNKNOWN`; None for anything else."""
    if text.casefold() in (NOW, UNKNOWN):
        return text.casefold()
    match = YEAR.fullmatch(text)
    if match is None or (match["before"] and match["after"]):
        return None
    year = int(match["year"])
    era = match["before"] or match["after"]
    if era:
        before_christ = era.upper().startswith("BC")
    return -year if before_christ else year


def _is_before_christ(side: str) -> bool:
    """Tell whether a side of a range is a year with the era BC, such as the year 0 in `600-0 BC`."""
    year = YEAR.fullmatch(side)
    return year is not None and (year["after"] or "").upper().startswith("BC")


def _continue_year(first: str, last: str, year: int | str) -> int | str:
    """Return the last year of a range AD, with the digits of the first one that it omits, as in `1890-92`.

    Years with an era of their own are complete.
    """
    start = YEAR.fullmatch(first)
    end = YEAR.fullmatch(last)
    if start is None or end is None or start["after"] or end["before"]:
        return year
    if len(end["year"]) >= len(start["year"]):
        return year
    omitted = start["year"][: -len(end["year"])]
    return int(omitted + end["year"])


class Years(NamedTuple):
    """A range of years, both ends included."""

    lower: int
    upper: int

    @property
    def length(self) -> int:
        """The number of years."""
        return self.upper - self.lower + 1


Time = Years | tuple[str, ...] | None
"""The interpretation of an anchor: years, or the words of an event; None if there is nothing to score."""

YEAR_OF_NOW = 2017
"""The year in which the articles were downloaded."""


def parse_time(text: str | None) -> Time:
    """Interpret the text of an anchor.

    A range from an unknown time on is its last year, and a range until now lasts until `YEAR_OF_NOW`.

    >>> parse_time("1530-1545"), parse_time("Unknown-Now")
    (Years(lower=1530, upper=1545), Years(lower=2017, upper=2017))
    >>> parse_time("the French Revolution")
    ('french', 'revolution')
    """
    anchor = parse_anchor(text)
    if anchor.kind == "unknown":
        return None
    if anchor.kind == "event":
        return normalize_name(text or "").tokens
    upper = YEAR_OF_NOW if anchor.upper is None else anchor.upper
    lower = upper if anchor.lower is None else anchor.lower
    return Years(min(lower, upper), max(lower, upper))


def time_overlap(system: Time, gold: Time, tolerance: str = "0") -> tuple[Fraction, Fraction]:
    """Return the fractions of the predicted years that are in gold, and of the gold years that are predicted.

    Two events overlap completely or not at all; years and an event do not overlap.  The tolerance, a fraction of the
    length of the gold range, widens it on both sides, by whole years, rounded down, but by one at least.

    >>> [str(share) for share in time_overlap(Years(1530, 1545), Years(1540, 1549))]
    ['3/8', '3/5']
    """
    if not (isinstance(system, Years) and isinstance(gold, Years)):
        same = Fraction(type(system) is type(gold) and system == gold)
        return same, same
    share = Fraction(tolerance)
    if share:
        margin = max(1, floor((gold.upper - gold.lower) * share))
        gold = Years(gold.lower - margin, gold.upper + margin)
    # P = |Y ∩ Y_gold| / |Y| and R = |Y ∩ Y_gold| / |Y_gold|, where Y and Y_gold are sets of years.
    n_common = max(0, min(system.upper, gold.upper) - max(system.lower, gold.lower) + 1)
    return Fraction(n_common, system.length), Fraction(n_common, gold.length)
