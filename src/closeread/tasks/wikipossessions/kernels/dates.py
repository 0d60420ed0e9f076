"""Parsing of dates in running text: `May 1888`, `c. 1200–1000 BC` or `the fifth century` to years.

Conventions: the result is written as an anchor (`closeread.tasks.wikipossessions.kernels.anchors`).  A text is parsed
completely or not at all: an unknown word, a number that is neither a day nor a year, or a third time makes it invalid.
So do ranges that run backwards and decades that may be centuries (`the 1800s`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from closeread.tasks.wikipossessions.kernels.anchors import DASH

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
    """A single time expression.

    Attributes:
        kind: "century", "decade" or "year".
        first, last: its years, positive in either era.
        before_christ: whether the era is BC; None if no era is given.
        leading: whether the era is written first.
        named: whether an ordinal is followed by the word "century".
    """

    kind: str
    first: int
    last: int
    before_christ: bool | None
    leading: bool
    named: bool

    @property
    def certain(self) -> bool:
        """Whether this is a time regardless of context."""
        if self.kind == "century":
            return self.named
        return self.before_christ is not None or FIRST_YEAR <= self.first <= LAST_YEAR

    @property
    def years(self) -> tuple[int, int]:
        """The first and last year, negative before Christ."""
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
    is_list = between["word"] in ("/", "or") or (between["word"] == "and" and "between" not in before[0])
    if is_list and ends[1].years[0] > ends[0].years[1] + 1:
        return None
    return _format_years(ends[0].years[0], ends[1].years[1])


def _parse_time(match: re.Match[str]) -> _Time:
    era = match["leading"] or match["trailing"]
    before_christ = None if era is None else era.startswith("b")
    if match["year"] or match["decade"]:
        kind = "year" if match["year"] else "decade"
        first = int(match[kind])
        last = first if match["year"] else first + 9
    else:
        kind = "century"
        last = 100 * (int(match["number"]) if match["number"] else 1 + ORDINALS.index(match["ordinal"]))
        first = last - 99
    return _Time(kind, first, last, before_christ, match["leading"] is not None, match["century"] is not None)


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
