"""The time of a possession: interpretation of its anchor, and the overlap of two anchors.

Source: Chinnappa, Palmer and Blanco (2020), section 5; where they leave a choice, it is an argument here.

Conventions: years are integers, negative before Christ; a range is stored as its two ends, both included.  Anchors
without years are events, compared by their normalized names.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

from closeread.tasks.wikipossessions.kernels.anchors import DASH, UNKNOWN, Anchor, parse_anchor
from closeread.tasks.wikipossessions.kernels.names import normalize_name

OPEN_RANGES = ("collapse", "ignore")
CENTURIES = ("event", "range")
UNKNOWN_WITH_RELATION = ("unanchored", "anchored")
TOLERANCE_ROUNDINGS = ("floor", "round", "ceil")
TOLERANCE_RECALLS = ("expanded", "original")

CENTURY = re.compile(
    r"(?:the\s+)?(?P<number>[1-9][0-9]?)(?:st|nd|rd|th)(?P<word>\s*centur(?:y|ies))?(?:\s*(?P<era>BCE|BC|CE|AD))?",
    re.IGNORECASE,
)


class Years(NamedTuple):
    """A range of years, both ends included."""

    lower: int
    upper: int


Event = tuple[str, ...]
Time = Years | Event | None
"""The interpretation of an anchor; None if there is nothing to score."""


class Reading(NamedTuple):
    """How anchors are read.

    Attributes:
        strip_scope: how event names are normalized (`closeread.tasks.wikipossessions.kernels.names`).
        unknown_with_relation: how to treat `Unknown` with a relation: as no anchor, or as an anchor that equals only
            another such `Unknown`.
        now_year: the year of `Now`.
        open_range: how to treat a range that begins at an unknown time, including `Now` alone: as its last year, or as
            no anchor.
        century: how to treat `13th Century`: as an event, or as the years 1201 to 1300.
    """

    strip_scope: str = "all"
    unknown_with_relation: str = "unanchored"
    now_year: int = 2017
    open_range: str = "collapse"
    century: str = "event"


class Tolerance(NamedTuple):
    """How gold ranges are widened.

    Attributes:
        share: the years added on each side, as a fraction of the length; 0 adds none.
        rounding: how these years, at least 1, are rounded; "round" rounds half up.
        recall: whether recall is measured against the expanded or the original range.
    """

    share: Fraction = Fraction(0)
    rounding: str = "floor"
    recall: str = "expanded"


def parse_time(text: str | None, relation: str | None, reading: Reading) -> Time:
    """Interpret the text of an anchor.

    >>> parse_time("1530-1545", "during", Reading())
    Years(lower=1530, upper=1545)
    >>> parse_time("Unknown-Now", "during", Reading())
    Years(lower=2017, upper=2017)
    >>> parse_time("the French Revolution", "before", Reading())
    ('french', 'revolution')
    """
    anchor = parse_anchor(text)
    if anchor.kind == "unknown":
        return () if reading.unknown_with_relation == "anchored" and relation is not None else None
    if anchor.kind == "event":
        in_years = parse_century(text or "") if reading.century == "range" else None
        if in_years is None:
            return normalize_name(text or "", reading.strip_scope).tokens
        anchor = in_years
    if anchor.open_start and reading.open_range == "ignore":
        return None
    # A range with an open start is its last year; a range with an open end lasts until now.
    upper = reading.now_year if anchor.upper is None else anchor.upper
    lower = upper if anchor.lower is None else anchor.lower
    return Years(min(lower, upper), max(lower, upper))


def parse_century(text: str) -> Anchor | None:
    """Parse a century, or a range with a century on at least one side; None for any other text.

    `Unknown` next to a century is treated as next to a year.

    >>> parse_century("16th-18th Century")[:3]
    ('years', 1501, 1800)
    >>> parse_century("5th century BC")[:3]
    ('years', -500, -401)
    >>> parse_century("Unknown-13th Century")
    Anchor(kind='years', lower=1201, upper=1300, open_start=True, open_end=False, reversed=False)
    """
    sides = DASH.split(text.strip())
    known = [side for side in sides if side.casefold() != UNKNOWN]
    found = [CENTURY.fullmatch(side) for side in known]
    if len(sides) > 2 or not any(century and century["word"] for century in found):
        return None
    era = found[-1]["era"] if found[-1] else None
    anchors = [
        parse_anchor(side) if century is None else _make_century(int(century["number"]), century["era"] or era)
        for side, century in zip(known, found, strict=True)
    ]
    until_now = anchors[-1].kind == "years" and anchors[-1].upper is None
    lower = [anchor.lower for anchor in anchors if anchor.lower is not None]
    upper = [anchor.upper for anchor in anchors if anchor.upper is not None]
    if len(lower) + until_now < len(known):
        return None
    return Anchor("years", min(lower), None if until_now else max(upper), sides[0] != known[0], until_now)


def _make_century(number: int, era: str | None) -> Anchor:
    first, last = 100 * number - 99, 100 * number
    return Anchor("years", -last, -first) if (era or "").upper().startswith("BC") else Anchor("years", first, last)


def time_overlap(system: Time, gold: Time, tolerance: Tolerance) -> tuple[Fraction, Fraction]:
    """Return the fractions of the predicted years that are in gold, and of the gold years that are predicted.

    Two events overlap completely or not at all; years and an event do not overlap.

    >>> [str(share) for share in time_overlap(Years(1530, 1545), Years(1540, 1549), Tolerance())]
    ['3/8', '3/5']
    """
    if not (isinstance(system, Years) and isinstance(gold, Years)):
        same = Fraction(type(system) is type(gold) and system == gold)
        return same, same
    expanded = _expand(gold, tolerance)
    judged = expanded if tolerance.recall == "expanded" else gold
    return Fraction(_count_shared_years(system, expanded), _count_years(system)), Fraction(
        _count_shared_years(system, judged), _count_years(judged)
    )


def _expand(gold: Years, tolerance: Tolerance) -> Years:
    if not tolerance.share:
        return gold
    exact = (gold.upper - gold.lower) * tolerance.share
    rounded = {"floor": floor(exact), "round": floor(exact + Fraction(1, 2)), "ceil": ceil(exact)}
    years = max(1, rounded[tolerance.rounding])
    return Years(gold.lower - years, gold.upper + years)


def _count_years(years: Years) -> int:
    return years.upper - years.lower + 1


def _count_shared_years(one: Years, other: Years) -> int:
    return max(0, min(one.upper, other.upper) - max(one.lower, other.lower) + 1)
