"""Times of possessions: anchors such as `1888`, `1530-1545`, `1888-Now` or `Unknown-1930`, and dates in running text.

Source: Chinnappa, Palmer and Blanco (2020), sections 4.2.3 and 5, and their released file; where they leave a choice,
it is an argument here.

Conventions: years are integers, negative before Christ (`44 BC` is -44), and ranges include both ends.  Each side of a
range is a year, `Now` or `Unknown`, in upper or lower case, and the sides are separated by any dash; any other text is
an event as a whole (`World War II`, `revolution-Now`).  Events are compared by their normalized names.

A date in running text, such as `May 1888`, `c. 1200–1000 BC` or `the fifth century`, is parsed completely or not at
all: an unknown word, a number that is neither a day nor a year, or a third time makes it invalid.  So do ranges that
run backwards and decades that may be centuries (`the 1800s`).
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
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
    """A parsed anchor."""

    kind: str  # "unknown", "years" or "event"
    lower: int | None = None  # the first year; None at an open end, and if the kind is not "years"
    upper: int | None = None
    open_start: bool = False  # whether the range begins at an unknown time
    open_end: bool = False  # whether it lasts until now
    reversed: bool = False  # whether it was written with the later year first, and has been swapped


@lru_cache(
    maxsize=2**12
)  # the rules and the scores both ask, of gold and of every system that is compared
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
        return (
            Anchor("years", first, None, open_end=True)
            if last == NOW
            else Anchor("years", first, first)
        )
    if isinstance(last, int):
        if first == NOW:  # `Now-1888` is `1888-Now` in reverse order
            return Anchor("years", last, None, open_end=True, reversed=True)
        return Anchor("years", None, last, True)
    return (
        Anchor("unknown") if first == last == UNKNOWN else Anchor("years", None, None, True, True)
    )


def _parse_side(text: str, *, before_christ: bool = False) -> int | str | None:
    """Parse one side of a range: a year, `NOW` or `UNKNOWN`; None for anything else."""
    if text.casefold() in (NOW, UNKNOWN):
        return text.casefold()
    found = YEAR.fullmatch(text)
    if found is None or (found["before"] and found["after"]):
        return None
    era = (found["before"] or found["after"] or ("BC" if before_christ else "AD")).upper()
    return -int(found["year"]) if era.startswith("BC") else int(found["year"])


def _is_before_christ(side: str) -> bool:
    """Tell whether a side of a range is a year with the era BC, such as the year 0 in `600-0 BC`."""
    year = YEAR.fullmatch(side)
    return year is not None and (year["after"] or "").upper().startswith("BC")


def _continue_year(first: str, last: str, year: int | str) -> int | str:
    """Return the last year of a range AD, with the digits of the first one that it omits, as in `1890-92`.

    Years with an era of their own are complete.
    """
    start, end = YEAR.fullmatch(first), YEAR.fullmatch(last)
    if start is None or end is None or start["after"] or end["before"]:
        return year
    if len(end["year"]) >= len(start["year"]):
        return year
    omitted = start["year"][: -len(end["year"])]
    return int(omitted + end["year"])


# fmt: off
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first",
)
# fmt: on
FIRST_YEAR, LAST_YEAR = 1000, 2099
"""Other numbers are years only with an era or as the start of a range of years."""

MONTH = (
    "(?<![a-z])(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
DAY = r"(?<!\w)(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?!\w)"
DAYS = rf"{DAY}(?: ?(?:[-/]|to|and|or) ?{DAY})?"
DATES = rf"(?:{DAYS}(?: of)? {MONTH}|{MONTH}(?: {DAYS})?)"
NO_YEARS = re.compile(
    rf"{DATES}(?:-{DATES})*"
    rf"|{DAY}[-/]{DAY}[-/](?=\d{{4}}(?!\d))"
    rf"|(?<=\d{{4}})-{DAY}-{DAY}"
    r"|(?<![\w-])(?:first|second|third|fourth|last) (?:half|third|quarter|decade)(?![a-z])",
    re.ASCII,
)
ERA = r"(?<![a-z])(?:b\.? ?c(?:\.? ?e)?|a\.? ?d|c\.? ?e)(?![a-z])\.?"
TIME = re.compile(
    rf"(?:(?P<leading>{ERA}) ?)?"
    rf"(?:(?:(?P<number>[1-9]\d?)(?:st|nd|rd|th)|(?P<ordinal>{'|'.join(ORDINALS)}))(?P<century>[ -]centur(?:y|ies))?"
    r"|(?P<decade>(?:[1-9]\d?)?[1-9]0)s"
    r"|(?P<year>[1-9]\d{0,4}))"
    rf"(?: ?(?P<trailing>{ERA}))?",
    re.ASCII,
)
AROUND = (
    r"(?:[ ,.]|(?:early|mid|late)-"
    "|(?:the|in|on|of|by|from|since|after|before|until|till|to|through|during|between|and|or|c|ca|circa|about|around"
    "|approximately|as|sometime|early|mid|middle|late|later|beginning|start|end|half|part|years?(?= $)|spring|summer"
    "|autumn|fall|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday)(?![a-z]))*+"
)
BEFORE = re.compile(AROUND)
BETWEEN = re.compile(rf"[ ,.]*+(?P<word>[-/]|(?:to|until|till|through|and|or)(?![a-z])){AROUND}")
AFTER = re.compile("[ ,.]*")


class _Time(NamedTuple):
    """A single time expression: a century, a decade or a year, with its years, positive in either era."""

    kind: str
    first: int
    last: int
    before_christ: bool | None
    leading: bool  # whether the era is written first
    named: bool  # whether an ordinal is followed by the word "century"

    @property
    def certain(self) -> bool:
        if self.kind == "century":
            return self.named
        return self.before_christ is not None or FIRST_YEAR <= self.first <= LAST_YEAR

    @property
    def years(self) -> tuple[int, int]:
        return (-self.last, -self.first) if self.before_christ else (self.first, self.last)


def date_to_anchor(text: str) -> str | None:
    """Return the year or range of years of a date, as an anchor; None if there is none.

    >>> [date_to_anchor(text) for text in ("May 1888", "1530–45", "the 1880s", "the 18th century", "last May")]
    ['1888', '1530-1545', '1880-1889', '1701-1800', None]
    >>> [date_to_anchor(text) for text in ("AD 450", "c. 1200–1000 BC", "44 BC to AD 12", "1000 years")]
    ['450', '1200-1000 BC', '44 BC-12 AD', None]
    """
    plain = NO_YEARS.sub(" ", DASH.sub("-", " ".join(text.lower().split())))
    found = list(TIME.finditer(plain))
    if not 1 <= len(found) <= 2 or any(match["leading"] and match["trailing"] for match in found):
        return None
    before = BEFORE.fullmatch(plain, 0, found[0].start())
    if before is None or AFTER.fullmatch(plain, found[-1].end()) is None:
        return None
    one, other = _parse_time(found[0]), _parse_time(found[-1])
    if len(found) == 1:
        return _format_years(*one.years) if one.certain else None
    between = BETWEEN.fullmatch(plain, found[0].end(), found[1].start())
    ends = _find_ends(one, other)
    if between is None or ends is None:
        return None
    # Two times joined by "or" or "and" are a range only if they are adjacent.
    is_list = between["word"] in ("/", "or") or (
        between["word"] == "and" and "between" not in before[0]
    )
    if is_list and ends[1].years[0] > ends[0].years[1] + 1:
        return None
    return _format_years(ends[0].years[0], ends[1].years[1])


def _parse_time(match: re.Match[str]) -> _Time:
    era = match["leading"] or match["trailing"]
    before_christ = None if era is None else era.startswith("b")
    leading = match["leading"] is not None
    if match["number"] or match["ordinal"]:
        last = 100 * (
            int(match["number"]) if match["number"] else 1 + ORDINALS.index(match["ordinal"])
        )
        return _Time(
            "century", last - 99, last, before_christ, leading, match["century"] is not None
        )
    kind, length = ("year", 1) if match["year"] else ("decade", 10)
    first = int(match[kind])
    return _Time(kind, first, first + length - 1, before_christ, leading, named=False)


def _find_ends(one: _Time, other: _Time) -> tuple[_Time, _Time] | None:
    """Complete the ends of a range, where one may omit an era or digits that the other has; None if ambiguous."""
    same_kind = one.kind == other.kind
    if not (same_kind or one.certain):
        return None
    if one.before_christ is None or other.before_christ is None:
        # The era of the second time also applies to the first; that of the first applies to the second only if AD.
        if other.leading or (one.before_christ and other.before_christ is None):
            return None
        era = one.before_christ if other.before_christ is None else other.before_christ
        one, other = one._replace(before_christ=era), other._replace(before_christ=era)
        if same_kind and one.kind == "year" and len(str(other.first)) < len(str(one.first)):
            whole = int(str(one.first)[: -len(str(other.first))] + str(other.first))
            if era and whole < one.first:
                return None  # 37-4 BC may end in 34 or 4
            if not era:
                other = other._replace(first=whole, last=whole)
    begins = one.certain or one.kind == "century" or one.first >= 100
    return (one, other) if begins and other.certain else None


def _format_years(lower: int, upper: int) -> str | None:
    """Write the years as an anchor; None if they run backwards."""
    if lower > upper:
        return None
    if lower < 0 < upper:
        return f"{-lower} BC-{upper} AD"
    years = f"{abs(lower)}" if lower == upper else f"{abs(lower)}-{abs(upper)}"
    return f"{years} BC" if lower < 0 else years


CENTURY = re.compile(
    r"(?:the\s+)?(?P<number>[1-9][0-9]?)(?:st|nd|rd|th)(?P<word>\s*centur(?:y|ies))?(?:\s*(?P<era>BCE|BC|CE|AD))?",
    re.IGNORECASE,
)


class Years(NamedTuple):
    """A range of years, both ends included."""

    lower: int
    upper: int


Time = Years | tuple[str, ...] | None
"""The interpretation of an anchor: years, or the words of an event; None if there is nothing to score."""


def parse_time(
    text: str | None,
    relation: str | None = None,
    *,
    strip_scope: str = "all",
    unknown_with_relation: str = "unanchored",
    now_year: str = "2017",
    open_range: str = "collapse",
    century: str = "event",
    **_: str,
) -> Time:
    """Interpret the text of an anchor, with the procedure's options.

    >>> parse_time("1530-1545"), parse_time("Unknown-Now")
    (Years(lower=1530, upper=1545), Years(lower=2017, upper=2017))
    >>> parse_time("the French Revolution")
    ('french', 'revolution')
    """
    anchor = parse_anchor(text)
    if anchor.kind == "unknown":
        return () if unknown_with_relation == "anchored" and relation is not None else None
    if anchor.kind == "event":
        in_years = parse_century(text or "") if century == "range" else None
        if in_years is None:
            return normalize_name(text or "", strip_scope).tokens
        anchor = in_years
    if anchor.open_start and open_range == "ignore":
        return None
    # A range with an open start is its last year; a range with an open end lasts until now.
    upper = int(now_year) if anchor.upper is None else anchor.upper
    lower = upper if anchor.lower is None else anchor.lower
    return Years(min(lower, upper), max(lower, upper))


def parse_century(text: str) -> Anchor | None:
    """Parse a century, or a range with a century on at least one side; None for any other text.

    `Unknown` next to a century is treated as next to a year.

    >>> parse_century("16th-18th Century")[:3], parse_century("5th century BC")[:3]
    (('years', 1501, 1800), ('years', -500, -401))
    >>> parse_century("Unknown-13th Century")
    Anchor(kind='years', lower=1201, upper=1300, open_start=True, open_end=False, reversed=False)
    """
    sides = DASH.split(text.strip())
    known = [side for side in sides if side.casefold() != UNKNOWN]
    found = [CENTURY.fullmatch(side) for side in known]
    if len(sides) > 2 or not any(century and century["word"] for century in found):
        return None
    era = found[-1]["era"] if found[-1] else None
    anchors = []
    for side, century in zip(known, found, strict=True):
        if century is None:
            anchors.append(parse_anchor(side))
            continue
        last = 100 * int(century["number"])
        is_before_christ = (century["era"] or era or "").upper().startswith("BC")
        anchors.append(
            Anchor("years", -last, 99 - last)
            if is_before_christ
            else Anchor("years", last - 99, last)
        )
    until_now = anchors[-1].kind == "years" and anchors[-1].upper is None
    lower = [anchor.lower for anchor in anchors if anchor.lower is not None]
    upper = [anchor.upper for anchor in anchors if anchor.upper is not None]
    if len(lower) + until_now < len(known):
        return None
    return Anchor(
        "years", min(lower), None if until_now else max(upper), sides[0] != known[0], until_now
    )


def time_overlap(
    system: Time,
    gold: Time,
    *,
    tolerance: str = "0",
    tolerance_rounding: str = "floor",
    tolerance_recall: str = "expanded",
    **_: str,
) -> tuple[Fraction, Fraction]:
    """Return the fractions of the predicted years that are in gold, and of the gold years that are predicted.

    Two events overlap completely or not at all; years and an event do not overlap.  The tolerance, a fraction of the
    length of the gold range, widens it on both sides, by a year at least.

    >>> [str(share) for share in time_overlap(Years(1530, 1545), Years(1540, 1549))]
    ['3/8', '3/5']
    """
    if not (isinstance(system, Years) and isinstance(gold, Years)):
        same = Fraction(type(system) is type(gold) and system == gold)
        return same, same
    expanded = gold
    if share := Fraction(tolerance):
        exact = (gold.upper - gold.lower) * share
        rounded = {
            "floor": floor(exact),
            "round": floor(exact + Fraction(1, 2)),
            "ceil": ceil(exact),
        }
        years = max(1, rounded[tolerance_rounding])
        expanded = Years(gold.lower - years, gold.upper + years)

    def cover(whole: Years, other: Years) -> Fraction:
        shared = min(whole.upper, other.upper) - max(whole.lower, other.lower) + 1
        return Fraction(max(0, shared), whole.upper - whole.lower + 1)

    return cover(system, expanded), cover(
        expanded if tolerance_recall == "expanded" else gold, system
    )
