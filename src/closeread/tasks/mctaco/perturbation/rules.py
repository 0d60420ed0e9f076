"""Rule-based perturbation: replace words, units and numbers of an answer.

Source: Zhou et al. (2019), step 3, with the rules of the appendix, Table 3, as data: "early>late" means that
"early" in an answer is replaced by "late".  A word may be in several groups ("night"); its replacements are then
concatenated in the order of the groups.  The paper does not say how numbers are perturbed; its examples need the next
number ("2 a.m." becomes "3 p.m.") and ten times as many ("1 day" becomes "10 days").

Word boundaries: a key has no letter, digit, underscore or hyphen next to it, so "mid-morning" and "two-day" are
single words, but "today's" contains "today".  "am", "pm", "a.m." and "p.m." may directly follow a digit ("7am").

Two rules are narrower than in the paper, which matches whole words only:

* "am" is a time of day only after a digit or a spelled-out hour ("7 am", "7:30 am", "9 : am", "seven am");
  otherwise it is the verb.
* "second" is a unit after a number or "per", and after words such as "a", "every" and "last" if no noun or
  adjective follows ("a second ago"); otherwise it is the ordinal ("the second day", "a second child").

Other ambiguities are ignored ("it will last" contains the key "last").

A number is written as it was, in digits, in words or as "once" and "twice" (then "three times").  These
are left unchanged: clock times, ranges, ordinals and numbers attached to other characters ("9:30", "7.30 pm", "10-15",
"3rd"); "a", "few" and similar words; "one" for a thing or for people ("the last one", "one can wait"), and "once" for
a time or in an idiom ("at once", "once in a while").  Two kinds of number can't be ten times as large: hours of the
day, which go on from 12 to 1, and years ("1990" at the end, or before punctuation, "BC", "during" and the like).

A replacement changes neither the number of the noun that it counts nor the article before it.  With
``adjust``, both are corrected afterwards, and nothing else:

* A unit of time, "time" or a part of the day is singular after 1 and plural after any other number ("1 day" becomes
  "10 days"), if it was so before: what is singular after another number ("a 2 hour show") stays as it is, and so does
  a number after an article ("a 1 day trip"), which describes what follows the unit.
* "a" and "an" directly before the replacement follow its first sound ("an hour" becomes "a week").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from itertools import combinations, islice, pairwise
from typing import Literal, NamedTuple

from closeread.tasks.mctaco.perturbation.units import (
    FORMS,
    SCALES,
    TOO_LARGE,
    UNIT_SECONDS,
    cardinal,
    in_words,
    plural,
)


def _parse_rules(text: str) -> dict[str, tuple[str, ...]]:
    rules = (rule.split(">") for rule in text.split("; "))
    return {word: tuple(others.split(", ")) for word, others in rules}


WORD_RULES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "adjective": _parse_rules(
        "early>late; late>early; morning>late night; night>early morning; evening>morning; everlasting>periodic; "
        "initial>last; first>last; last>first; overdue>on time; belated>punctual; long-term>short-term; "
        "delayed>early; punctual>belated"
    ),
    "frequency": _parse_rules(
        "always>sometimes, never; occasionally>always, never; often>rarely; usually>rarely; rarely>always; "
        "constantly>sometimes; never>sometimes, always; regularly>occasionally, never"
    ),
    "period": _parse_rules("night>day; day>night"),
    "typical time": _parse_rules(
        "now>later; today>yesterday; tomorrow>yesterday; tonight>last night; yesterday>tomorrow; am>pm; pm>am; "
        "a.m.>p.m.; p.m.>a.m.; afternoon>morning; morning>evening; night>morning; after>before; before>after"
    ),
}

UNIT_SETS: tuple[tuple[str, ...], ...] = (
    ("second", "hour", "week", "year"),
    ("minute", "day", "month", "century"),
)
"""A unit is replaced by each of the other three of its set, singular by singular, plural by plural."""


NumberRule = Literal["both", "plus_one", "times_ten", "off"]
UnitRule = Literal["table", "any"]
Agreement = Literal["adjust", "keep"]

PARTS_OF_THE_DAY = ("night", "morning", "afternoon", "evening")
TIMES = {"once": 1, "twice": 2, "thrice": 3}

# Limits for an answer: two changes at once in a text of thousands of words would fill the memory.
MOST_RESULTS, MOST_CHARACTERS = 10_000, 10_000_000

_NEAR = 60  # how many characters before a place are examined, which keeps long answers cheap
_MOST_WORDS = 10  # of a number

# Agreement: nouns that are counted, and words that begin with a vowel sound ("an hour", "an 18 month break").
_COUNTED = {
    form: unit
    for unit in (*UNIT_SECONDS["proper"], *PARTS_OF_THE_DAY, "time", "weekend")
    for form in (unit, plural(unit))
}
_COUNTED_NOUN = re.compile(
    rf"\s+(?:(?:more|full|whole|other)\s+)?({'|'.join(sorted(_COUNTED, key=len, reverse=True))})(?![\w'\u2019-])",
    re.IGNORECASE | re.ASCII,
)
_ARTICLE = re.compile(r"(?<![\w'\u2019-])(an?)(?=\s+\Z)", re.IGNORECASE)
_VOWEL = re.compile(
    r"(?!one\b)[aeiou]|hours?\b|8|1[18](?:[0-9]{3})*(?![0-9])|1[18],", re.IGNORECASE
)

# Numbers.
_HALF_OF_THE_DAY = r"(?:am|pm|a\.m\.|p\.m\.)(?![\w-])"
NUMBER = re.compile(
    r"(?<![\w.,:/-])(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15})(?:\.[0-9]{1,15})?"
    rf"(?:(?=(?ai:{_HALF_OF_THE_DAY}))|(?![\w:/-]|[.,][0-9]))"
)
"""A number in digits."""

_TIMES = re.compile(rf"(?<![\w-])(?ai:{'|'.join(TIMES)})(?![\w-])")
_HOUR_OF_THE_DAY = re.compile(  # tokenizers leave "9 : am"
    rf"[\s:]*(?:{_HALF_OF_THE_DAY}|o['\u2019]?clock\b)", re.IGNORECASE | re.ASCII
)
_YEAR = re.compile(r"[12][0-9]{3}")
_COUNTS_SOMETHING = re.compile(
    r"\s+(?!(?:a\s?\.?\s?d|b\s?\.?\s?c|bce|ce|after|and|at|before|by|during|in|on|or|through|till|to|until|when)\b)\w",
    re.IGNORECASE,
)
_ONE_THING = re.compile(
    r"\b(?:an|any|another|each|every|first|last|new|next|no|only|other|same|some|that|the|this|which)\s+\Z",
    re.IGNORECASE,
)
_PEOPLE = re.compile(r"\s+(?:can(?:not)?|could|may|might|must|should|will|would)\b", re.IGNORECASE)
_FOLLOWED_BY_A_UNIT = re.compile(rf"\s+(?:{FORMS}|time|times)\b", re.IGNORECASE)
_NOT_TIMES = re.compile(r"\bat\s+\Z", re.IGNORECASE)
_AFTER_TIMES = re.compile(
    r"\s*(?:[^\w\s]|\Z)"
    r"|\s+(?!(?:(?:and|in)\s+(?:a|every)\s+while|in\s+a\s+blue\s+moon|(?:and\s+)?for\s+all)\b)"
    r"(?:a|an|and|annually|daily|during|each|every|for|in|monthly|or|per|weekly|yearly)\b"
    rf"|\s+(?:last|next|that|this)\s+(?:{FORMS}|{'|'.join(PARTS_OF_THE_DAY)})\b",
    re.IGNORECASE,
)

# "am" and "second".
_HOURS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|thirty|o['\u2019]?clock"
)
_CLOCK_TIME = re.compile(rf"(?:[0-9]|\b(?:{_HOURS}))[\s:]*$", re.IGNORECASE)
_LAST_WORD = re.compile(r"(?<![^\s(\"'\u201c\u2018])([\w.,]+)\s+$")
_NEXT_WORD = re.compile(r"\s+(\w+)")
# fmt: off
_BEFORE_A_UNIT = frozenset({
    "a", "all", "an", "another", "any", "each", "every", "few", "first", "half", "last", "next", "other",
    "same", "single", "split", "that", "this",
})
_AFTER_A_UNIT = frozenset({
    "after", "afterwards", "ago", "and", "as", "at", "away", "before", "but", "by", "during", "each",
    "earlier", "every", "for", "from", "if", "in", "later", "long", "now", "of", "on", "or", "per",
    "prior", "since", "than", "that", "the", "then", "to", "until", "when", "while", "with",
})
# fmt: on


class Edit(NamedTuple):
    """A replacement of a part of an answer."""

    start: int
    end: int
    new: str
    # the number before and after, if it counts something
    numbers: tuple[Decimal, Decimal] | None = None


def perturb(
    answer: str,
    *,
    number_rule: NumberRule = "both",
    changes: int = 1,
    units: UnitRule = "table",
    agreement: Agreement = "adjust",
) -> list[str]:
    """Return every answer that one replacement makes, or several at once.

    Results are in order from left to right, and at the same place in the order of the rule table; those of two changes
    come after those of one.  Keys are case-insensitive; replacements keep the capitalization of the replaced word
    ("7 PM" becomes "7 AM").  The answer itself is never returned, and there are no duplicates.  There are at most
    `MOST_RESULTS` answers, of at most `MOST_CHARACTERS` together.

    Args:
        answer: a candidate answer.
        number_rule: ``plus_one`` and ``times_ten`` replace each number, in digits or in words as it was; ``both`` does
            one and the other.
        changes: how many replacements to make at once, at most; 1 or more.
        units: ``table`` replaces a unit by those of its set in the paper's table, ``any`` by all others.
        agreement: ``adjust`` makes the unit after a changed number singular or plural and chooses "a" or "an" before
            a replacement; ``keep`` leaves both as they were, as in the corpus itself.

    >>> perturb("two days before", number_rule="off")
    ['two minutes before', 'two months before', 'two centuries before', 'two days after']
    >>> perturb("Usually once")
    ['Rarely once', 'Usually twice', 'Usually ten times']
    >>> "twice a month" in perturb("once a week", changes=2, units="any")
    True
    """
    if changes < 1:
        raise ValueError(f"changes is {changes} (expected at least 1)")
    edits = [*_replace_words(answer, units), *change_numbers(answer, number_rule)]
    # A stable sort keeps the order of the table for replacements at the same place.
    edits.sort(key=lambda edit: edit.start)
    made = (
        _apply(answer, chosen, agreement)
        for number in range(1, changes + 1)
        for chosen in combinations(edits, number)
        if all(one.end <= other.start for one, other in pairwise(chosen))
    )
    most = min(MOST_RESULTS, MOST_CHARACTERS // max(1, len(answer)))
    return [result for result in dict.fromkeys(islice(made, most)) if result != answer]


def _apply(answer: str, edits: Sequence[Edit], agreement: Agreement) -> str:
    """Make replacements that do not overlap, from right to left, so that the offsets of the others stay valid."""
    before, after = answer, ""
    for start, end, new, numbers in reversed(edits):
        before, after = before[:start], before[end:] + after
        if agreement == "adjust":
            article = _ARTICLE.search(before, max(0, start - _NEAR))
            if article is not None:
                adjusted = "an" if _VOWEL.match(new) else "a"
                before = (
                    before[: article.start()]
                    + copy_case(article[0], adjusted)
                    + before[article.end() :]
                )
            elif numbers is not None and (noun := _COUNTED_NOUN.match(after)):
                one, changed = (number == 1 for number in numbers)
                unit = _COUNTED[noun[1].lower()]
                if one != changed and (noun[1].lower() == unit) == one:
                    form = copy_case(noun[1], unit if changed else plural(unit))
                    after = after[: noun.start(1)] + form + after[noun.end(1) :]
        after = new + after
    return before + after


def copy_case(old: str, new: str) -> str:
    """Return a text with the capitals of another: none, the first letter, or all letters.

    >>> copy_case("Day", "months"), copy_case("DAY", "months"), copy_case("A", "an")
    ('Months', 'MONTHS', 'An')
    """
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[0].upper() + new[1:] if old[0].isupper() else new


@cache
def _merge_rules(unit_rule: UnitRule) -> tuple[dict[str, tuple[str, ...]], re.Pattern[str]]:
    """Return the replacements of every word, and a pattern that finds these words."""
    rules: dict[str, tuple[str, ...]] = {}
    for group in WORD_RULES.values():
        for key, replacements in group.items():
            rules[key] = rules.get(key, ()) + replacements
    for units in UNIT_SETS if unit_rule == "table" else (tuple(UNIT_SECONDS["proper"]),):
        for unit in units:
            others = tuple(other for other in units if other != unit)
            rules[unit] = rules.get(unit, ()) + others
            rules[plural(unit)] = tuple(map(plural, others))
    keys = "|".join(re.escape(key) for key in sorted(rules, key=lambda key: (-len(key), key)))
    return rules, re.compile(
        rf"(?ai:(?<=[0-9])(?:a\.m\.|p\.m\.|am|pm)|(?<![\w-])(?:{keys}))(?![\w-])"
    )


def _replace_words(answer: str, unit_rule: UnitRule) -> Iterator[Edit]:
    rules, pattern = _merge_rules(unit_rule)
    for match in pattern.finditer(answer):
        key = match[0].lower()
        start, end = match.span()
        if key == "am" and not _CLOCK_TIME.search(answer, max(0, start - _NEAR), start):
            continue
        if key == "second" and not _is_a_unit(answer, start, end):
            continue
        for new in rules[key]:
            yield Edit(start, end, copy_case(match[0], new))


def _is_a_unit(answer: str, start: int, end: int) -> bool:
    """Return whether "second" at this place is the unit, not the ordinal; see the module."""
    found = _LAST_WORD.search(answer, max(0, start - _NEAR), start)
    previous = found[1].lower() if found else ""
    if previous == "per" or NUMBER.fullmatch(previous):
        return True
    follower = _NEXT_WORD.match(answer, end)
    if follower and follower[1].lower() not in _AFTER_A_UNIT:
        return False
    return previous in _BEFORE_A_UNIT or cardinal(previous) is not None


def change_numbers(answer: str, rule: NumberRule) -> Iterator[Edit]:
    """Yield every replacement of a number: of each number in digits, then in words, then of "once" and the like."""
    if rule == "off":
        return
    digits = [
        (match.span(), Decimal(match[0].replace(",", "")), "digits")
        for match in NUMBER.finditer(answer)
    ]
    words = [(span, Decimal(value), "words") for span, value in _find_numbers_in_words(answer)]
    times = [
        (match.span(), Decimal(TIMES[match[0].lower()]), "times")
        for match in _TIMES.finditer(answer)
        if match[0].lower() != "once" or _is_a_number_of_times(answer, *match.span())
    ]
    for (start, end), value, kind in (*digits, *words, *times):
        old = answer[start:end]
        is_hour = kind != "times" and 1 <= value < 13 and _HOUR_OF_THE_DAY.match(answer, end)
        is_year = (
            kind == "digits" and _YEAR.fullmatch(old) and not _COUNTS_SOMETHING.match(answer, end)
        )
        if is_hour and value != int(value):  # "7.30 pm"
            continue
        for change in ("plus_one", "times_ten") if rule == "both" else (rule,):
            changed = value + 1 if change == "plus_one" else value * 10
            if is_hour and changed > 12:
                changed = Decimal(1)
                if change == "times_ten":
                    continue
            if (is_year and change == "times_ten") or (kind != "digits" and changed >= TOO_LARGE):
                continue
            if kind == "digits":
                new = format(changed, ",f" if "," in old else "f")
                new = new.rstrip("0").rstrip(".") if "." in new else new
            else:
                new = in_words(int(changed))
                new = copy_case(
                    old, new if kind == "words" else "twice" if changed == 2 else f"{new} times"
                )
            # "once" counts no noun: "once a week".
            yield Edit(start, end, new, None if kind == "times" else (value, changed))


def _find_numbers_in_words(answer: str) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield the place and value of every number in words, taking the longest match.

    A bare "hundred" is not a number, since it belongs to the word before it ("several hundred"); "one" is none where it
    stands for a thing or for people ("the last one", "one can").
    """
    words = [match.span() for match in re.finditer(r"[^\W\d_]+", answer)]
    done = 0
    for i, (start, first_end) in enumerate(words):
        first = answer[start:first_end].lower()
        if start < done or first in SCALES or (first != "a" and cardinal(first) is None):
            continue
        for _, end in reversed(words[i : i + _MOST_WORDS]):
            number = cardinal(answer[start:end])
            neighbours = answer[max(start - 1, 0) : start] + answer[end : end + 1]
            if number is None or any(
                neighbour.isalnum() or neighbour in "_-" for neighbour in neighbours
            ):
                continue
            done = end
            is_thing = _ONE_THING.search(answer, max(0, start - _NEAR), start) is not None
            is_thing = is_thing and not _FOLLOWED_BY_A_UNIT.match(answer, end)
            if number != 1 or not (is_thing or _PEOPLE.match(answer, end)):
                yield (start, end), number
            break


def _is_a_number_of_times(answer: str, start: int, end: int) -> bool:
    """Return whether "once" at this place is a number: "once a week", "only once"."""
    is_idiom = _NOT_TIMES.search(answer, max(0, start - _NEAR), start)
    return not is_idiom and _AFTER_TIMES.match(answer, end) is not None
