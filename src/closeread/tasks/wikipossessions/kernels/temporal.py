"""When a possession was: what its anchor stands for, and how much of one anchor another one has.

Source: Chinnappa, Palmer and Blanco (2020), section 5; where they leave a choice it is an argument here.

Conventions: years are whole numbers, those before Christ negative; a range is its two ends, which belong to it, and its
years are never listed.  What is not years is an event, compared by its normalised name.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

from closeread.tasks.wikipossessions.kernels.anchors import DASH, UNKNOWN, Anchor, parse_anchor
from closeread.tasks.wikipossessions.kernels.names import normalised

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
"""What an anchor stands for; None where there is nothing to score."""


class Reading(NamedTuple):
    """How anchors are read.

    Attributes:
        strip_scope: how events are normalised (`closeread.tasks.wikipossessions.kernels.names`).
        unknown_with_relation: what `Unknown` is where it has a relation: no anchor, or one that equals its like.
        now_year: what `Now` is.
        open_range: what begins at an unknown time, a lone `Now` included: its end alone, or no anchor.
        century: what `13th Century` is: an event, or the years 1201 to 1300.
    """

    strip_scope: str = "all"
    unknown_with_relation: str = "unanchored"
    now_year: int = 2017
    open_range: str = "collapse"
    century: str = "event"


class Tolerance(NamedTuple):
    """How far a range of gold is widened, as a share of its length, and what that changes.

    Attributes:
        share: 0 for not at all.
        rounding: of the years on either side, which are 1 at least; "round" takes a half up.
        recall: against which range recall is measured, the expanded or the original one.
    """

    share: Fraction = Fraction(0)
    rounding: str = "floor"
    recall: str = "expanded"


def time_of(text: str | None, relation: str | None, reading: Reading) -> Time:
    """What an anchor as written stands for.

    >>> time_of("1530-1545", "during", Reading())
    Years(lower=1530, upper=1545)
    >>> time_of("Unknown-Now", "during", Reading())
    Years(lower=2017, upper=2017)
    >>> time_of("the French Revolution", "before", Reading())
    ('french', 'revolution')
    """
    anchor = parse_anchor(text)
    if anchor.kind == "unknown":
        return () if reading.unknown_with_relation == "anchored" and relation is not None else None
    if anchor.kind == "event":
        in_years = century_anchor(text or "") if reading.century == "range" else None
        if in_years is None:
            return normalised(text or "", reading.strip_scope).tokens
        anchor = in_years
    if anchor.open_start and reading.open_range == "ignore":
        return None
    # A lone end stands for the range that is open on the other side; now is the end of what has not ended.
    upper = reading.now_year if anchor.upper is None else anchor.upper
    lower = upper if anchor.lower is None else anchor.lower
    return Years(min(lower, upper), max(lower, upper))


def century_anchor(text: str) -> Anchor | None:
    """The years of a century, or of a range one of whose sides is a century; None where a text is nothing such.

    A century on one side of an unknown time is that century, as a year is that year.

    >>> century_anchor("16th-18th Century")[:3]
    ('years', 1501, 1800)
    >>> century_anchor("5th century BC")[:3]
    ('years', -500, -401)
    >>> century_anchor("Unknown-13th Century")
    Anchor(kind='years', lower=1201, upper=1300, open_start=True, open_end=False, reversed=False)
    """
    sides = DASH.split(text.strip())
    known = [side for side in sides if side.casefold() != UNKNOWN]
    found = [CENTURY.fullmatch(side) for side in known]
    if len(sides) > 2 or not any(century and century["word"] for century in found):
        return None
    era = found[-1]["era"] if found[-1] else None
    anchors = [
        parse_anchor(side) if century is None else _hundred_years(int(century["number"]), century["era"] or era)
        for side, century in zip(known, found, strict=True)
    ]
    until_now = anchors[-1].kind == "years" and anchors[-1].upper is None
    lower = [anchor.lower for anchor in anchors if anchor.lower is not None]
    upper = [anchor.upper for anchor in anchors if anchor.upper is not None]
    if len(lower) + until_now < len(known):
        return None
    return Anchor("years", min(lower), None if until_now else max(upper), sides[0] != known[0], until_now)


def _hundred_years(number: int, era: str | None) -> Anchor:
    first, last = 100 * number - 99, 100 * number
    return Anchor("years", -last, -first) if (era or "").upper().startswith("BC") else Anchor("years", first, last)


def time_overlap(system: Time, gold: Time, tolerance: Tolerance) -> tuple[Fraction, Fraction]:
    """The share of the predicted years that are gold, and of the gold years that are predicted.

    Two events share all or nothing, years and an event nothing.

    >>> [str(share) for share in time_overlap(Years(1530, 1545), Years(1540, 1549), Tolerance())]
    ['3/8', '3/5']
    """
    if not (isinstance(system, Years) and isinstance(gold, Years)):
        same = Fraction(type(system) is type(gold) and system == gold)
        return same, same
    expanded = _expanded(gold, tolerance)
    judged = expanded if tolerance.recall == "expanded" else gold
    return Fraction(_shared(system, expanded), _size(system)), Fraction(_shared(system, judged), _size(judged))


def _expanded(gold: Years, tolerance: Tolerance) -> Years:
    if not tolerance.share:
        return gold
    exact = (gold.upper - gold.lower) * tolerance.share
    rounded = {"floor": floor(exact), "round": floor(exact + Fraction(1, 2)), "ceil": ceil(exact)}
    years = max(1, rounded[tolerance.rounding])
    return Years(gold.lower - years, gold.upper + years)


def _size(years: Years) -> int:
    return years.upper - years.lower + 1


def _shared(one: Years, other: Years) -> int:
    return max(0, min(one.upper, other.upper) - max(one.lower, other.lower) + 1)
