"""Replacements of words in an answer, and the corrections of the words next to them.

Conventions: a replacement changes neither the number of the noun that it counts nor the article before it.  With
``adjust``, both are corrected afterwards, and nothing else:

* A unit of time, "time" or a part of the day is singular after 1 and plural after any other number ("1 day" becomes
  "10 days"), if it was so before: what is singular after another number ("a 2 hour show") stays as it is, and so does
  a number after an article ("a 1 day trip"), which describes what follows the unit.
* "a" and "an" directly before the replacement follow its first sound ("an hour" becomes "a week").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, NamedTuple

from closeread.tasks.mctaco.perturbation.units import UNIT_SECONDS, plural

Agreement = Literal["adjust", "keep"]


class Edit(NamedTuple):
    """A replacement.

    Attributes:
        start: the offset of its first character in the answer.
        end: the offset after its last.
        new: the text that replaces them.
        numbers: the number before and after, if it is one that counts something.
    """

    start: int
    end: int
    new: str
    numbers: tuple[Decimal, Decimal] | None = None


PARTS_OF_THE_DAY = ("night", "morning", "afternoon", "evening")

_COUNTED = {
    form: unit
    for unit in (*UNIT_SECONDS["proper"], *PARTS_OF_THE_DAY, "time", "weekend")
    for form in (unit, plural(unit))
}
_COUNTED_NOUN = re.compile(
    rf"\s+(?:(?:more|full|whole|other)\s+)?({'|'.join(sorted(_COUNTED, key=len, reverse=True))})(?![\w'\u2019-])",
    re.IGNORECASE | re.ASCII,
)
_NEAR = 60
_ARTICLE = re.compile(r"(?<![\w'\u2019-])(an?)(?=\s+\Z)", re.IGNORECASE)

# Words and numbers that replace others and begin with the sound of a vowel: "an hour", "an 18 month break".
_VOWEL = re.compile(r"(?!one\b)[aeiou]|hours?\b|8|1[18](?:[0-9]{3})*(?![0-9])|1[18],", re.IGNORECASE)


def apply_edits(answer: str, edits: Sequence[Edit], agreement: Agreement = "adjust") -> str:
    """Make replacements in an answer.

    Args:
        answer: a candidate answer.
        edits: replacements that do not overlap, in their order.
        agreement: ``adjust`` corrects numbers and articles; ``keep`` changes nothing else.

    >>> edits = [Edit(0, 1, "10", (Decimal(1), Decimal(10)))]
    >>> apply_edits("1 day", edits), apply_edits("1 day", edits, "keep")
    ('10 days', '10 day')
    """
    # From right to left, so that the offsets of what is still to be replaced stay valid.
    before, after = answer, ""
    for edit in reversed(edits):
        after = before[edit.end :] + after
        before = before[: edit.start]
        if agreement == "adjust":
            article = _ARTICLE.search(before, look_back(edit.start))
            if edit.numbers is not None and article is None:
                after = _adjust_noun(after, *edit.numbers)
            elif article is not None:
                before = _adjust_article(before, article, edit.new)
        after = edit.new + after
    return before + after


def look_back(place: int) -> int:
    """Return where to begin to look for what stands before a place: near enough that long answers are no problem."""
    return max(0, place - _NEAR)


def _adjust_noun(after: str, old: Decimal, new: Decimal) -> str:
    noun = _COUNTED_NOUN.match(after)
    if noun is None or (old == 1) == (new == 1):
        return after
    form = noun[1].lower()
    unit = _COUNTED[form]
    if (form == unit) != (old == 1):
        return after
    adjusted = unit if new == 1 else plural(unit)
    return after[: noun.start(1)] + copy_case(noun[1], adjusted) + after[noun.end(1) :]


def _adjust_article(before: str, article: re.Match[str], new: str) -> str:
    adjusted = "an" if _VOWEL.match(new) else "a"
    return before[: article.start()] + copy_case(article[0], adjusted) + before[article.end() :]


def copy_case(old: str, new: str) -> str:
    """Return a text with the capitals of another: none, the first letter, or all letters.

    >>> copy_case("Day", "months"), copy_case("DAY", "months"), copy_case("A", "an")
    ('Months', 'MONTHS', 'An')
    """
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[0].upper() + new[1:] if old[0].isupper() else new
