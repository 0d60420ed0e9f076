"""Dates in running text: the years that `May 1888`, `c. 1200–1000 BC` or `the fifth century` tell.

Conventions: what is told is written as an anchor (`closeread.kernels.anchors`).  Durations, days and bare numbers of
few digits tell no year, and neither does a range that runs backwards.  Of several dates the first counts.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import NamedTuple

# fmt: off
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first",
)
# fmt: on
LAST_YEAR = 2099
"""A later number of four digits is no year, unless an era says so."""

MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
NUMBER = r"\d+(?:[.,]\d+)*"
UNIT = r"(?:(?:more|full|long|thousand|million|billion)[\s-]+)*(?:(?:year|month|week|day|hour|minute)s?|seconds)"
DAY = r"\d{1,2}(?:st|nd|rd|th)?"
ERA = r"(?:B\.?C\.?(?:E\.?)?|C\.?E\.?|A\.?D\.?)"

NO_YEARS = re.compile(
    rf"""
    \b{NUMBER}(?:\s*(?:-|–|—|to|or|and)\s*{NUMBER})?[\s-]+{UNIT}\b    # a duration
    | \b\d{{1,3}}(?:,\d{{3}})+\b                                      # an amount
    | \b{DAY}(?:\s*[-–—/]\s*{DAY})?(?:\s+of)?\s+{MONTH}               # days of a month
    | \b{MONTH}\s+{DAY}(?:\s*[-–—/]\s*{DAY})?\b(?!\s*{ERA}(?!\w))
    """,
    re.IGNORECASE | re.VERBOSE,
)
TIME = re.compile(
    rf"""
    (?<!\w)
    (?P<early>A\.?D\.?\s*|C\.?E\.?\s*)?
    (?:
        (?P<ordinal>\d{{1,2}}(?=st|nd|rd|th)|{"|".join(ORDINALS)})(?:st|nd|rd|th)?(?P<century>[\s-]centur(?:y|ies))?
        | (?P<decade>\d{{1,3}}0)s
        | (?P<long>\d{{3,4}})\s*(?:[-–—/]|\b(?:to|until|and)\b)\s*(?P<short>\d{{1,2}})
          (?!\s*{ERA}(?!\w)|\s*[-–—/]\s*\d|st|nd|rd|th)
        | (?P<year>\d{{1,4}})
    )
    (?:\s*(?P<late>{ERA}))?
    (?!\w)
    """,
    re.IGNORECASE | re.VERBOSE,
)
TO = re.compile(r"[\s,]*(?:[-–—/]|\b(?:to|until|till|through|and)\b)[a-z\s.,–—-]*", re.IGNORECASE)


class _Time(NamedTuple):
    """A time as it is written.

    Attributes:
        first, last: its years, counted from the turn of the eras on the side where it is.
        before_christ: on which side that is; None where it is not said.
        kind: "year", "decade", "century", or "ordinal" for a number that may be that of a century.
        digits: how many are written.
        certain: whether it is a time, whatever stands beside it.
        start, end: where it is written.
    """

    first: int
    last: int
    before_christ: bool | None
    kind: str
    digits: int
    certain: bool
    start: int
    end: int


def year_of(text: str) -> str | None:
    """The year or the range of years that a date tells; None where it tells none.

    >>> [year_of(text) for text in ("May 1888", "1530–45", "the 1880s", "the 18th century", "last May")]
    ['1888', '1530-1545', '1880-1889', '1701-1800', None]
    >>> [year_of(text) for text in ("AD 450", "c. 1200–1000 BC", "44 BC to AD 12", "1000 years")]
    ['450', '1200-1000 BC', '44 BC-12 AD', None]
    """
    plain = NO_YEARS.sub(" ", text)
    times = [_time(match) for match in TIME.finditer(plain)]
    for one, other in zip_longest(times, times[1:]):
        if other is not None and TO.fullmatch(plain, one.end, other.start) and _is_range(one, other):
            return _range(one, other)
        if one.certain:
            return _written(*_signed(one, one.before_christ))
    return None


def _time(match: re.Match[str]) -> _Time:
    era = match["early"] or match["late"]
    before_christ = None if era is None else era[0] in "Bb"
    if match["ordinal"]:
        number = int(match["ordinal"]) if match["ordinal"].isdecimal() else 1 + ORDINALS.index(match["ordinal"].lower())
        kind, first, last = "century" if match["century"] else "ordinal", 100 * number - 99, 100 * number
        digits, certain = 0, kind == "century" and number > 0
    elif match["decade"]:
        kind, first, last = "decade", int(match["decade"]), int(match["decade"]) + 9
        digits = len(match["decade"])
        certain = digits == 4 or era is not None
    else:
        written = match["year"] or match["long"]
        kind, first, digits = "year", int(written), len(written)
        last = max(first, int(written[: -len(match["short"])] + match["short"])) if match["short"] else first
        certain = first > 0 and (era is not None or last > first or (digits == 4 and 1000 <= first <= LAST_YEAR))
    return _Time(first, last, before_christ, kind, digits, certain, match.start(), match.end())


def _is_range(one: _Time, other: _Time) -> bool:
    """Whether two times that a dash or `to` joins are the ends of a range."""
    if "ordinal" in (one.kind, other.kind):
        return one.kind == "ordinal" and other.kind == "century"
    if other.certain:
        return one.certain or one.digits >= 3 or (one.kind == "year" and other.before_christ is not None)
    if one.before_christ is False and other.kind == "year":
        return True
    return one.digits >= 3 and other.digits >= 3


def _range(one: _Time, other: _Time) -> str | None:
    """A range from one time to the other, of which the first may leave its era to the second, and the second AD."""
    if one.before_christ and other.before_christ is None:
        return None  # which era the second is of is open
    before_christ = other.before_christ if one.before_christ is None else one.before_christ
    return _written(_signed(one, before_christ)[0], _signed(other, other.before_christ)[1])


def _signed(time: _Time, before_christ: bool | None) -> tuple[int, int]:
    return (-time.last, -time.first) if before_christ else (time.first, time.last)


def _written(lower: int, upper: int) -> str | None:
    """The years as an anchor; None where they run backwards."""
    if lower > upper:
        return None
    if lower < 0 < upper:
        return f"{-lower} BC-{upper} AD"
    years = f"{abs(lower)}" if lower == upper else f"{abs(lower)}-{abs(upper)}"
    return f"{years} BC" if lower < 0 else years
