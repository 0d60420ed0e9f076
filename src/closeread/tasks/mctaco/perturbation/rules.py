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

A replacement changes neither the number of the noun that it counts nor the article before it.  Both are corrected
afterwards, and nothing else:

* A unit of time, "time" or a part of the day is singular after 1 and plural after any other number ("1 day" becomes
  "10 days"), if it was so before: what is singular after another number ("a 2 hour show") stays as it is, and so does
  a number after an article ("a 1 day trip"), which describes what follows the unit.
* "a" and "an" directly before the replacement follow its first sound ("an hour" becomes "a week").
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
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
    find_forms,
    in_words,
    join_forms,
    plural,
)


def _parse_rules(text: str) -> dict[str, tuple[str, ...]]:
    rules = {}
    for rule in text.split("; "):
        word, replacements = rule.split(">")
        rules[word] = tuple(replacements.split(", "))
    return rules


WORD_RULES = {
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

UNIT_SETS = (
    ("second", "hour", "week", "year"),
    ("minute", "day", "month", "century"),
)
"""A unit is replaced by each of the other three of its set, singular by singular, plural by plural."""


NumberRule = Literal["both", "plus_one", "times_ten", "off"]
UnitRule = Literal["table", "any"]

PARTS_OF_THE_DAY = ("night", "morning", "afternoon", "evening")
TIMES = {"once": 1, "twice": 2, "thrice": 3}

# Limits for an answer: two changes at once in a text of thousands of words would fill the memory.
MOST_RESULTS = 10_000
MOST_CHARACTERS = 10_000_000

_NEAR = 60  # how many characters before a place are examined, which keeps long answers cheap
_MOST_WORDS = 10  # of a number

# Agreement: nouns that are counted, and words that begin with a vowel sound ("an hour", "an 18 month break").
_COUNTED = find_forms((*UNIT_SECONDS["proper"], *PARTS_OF_THE_DAY, "time", "weekend"))
_COUNTED_NOUN = re.compile(
    rf"\s+(?:(?:more|full|whole|other)\s+)?({join_forms(_COUNTED)})(?![\w'\u2019-])",
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
    """A replacement of a part of an answer.

    Attributes:
        start: where the part begins.
        end: where it ends.
        new: what takes its place.
        numbers: the number before and after, if it is one and counts something.
    """

    start: int
    end: int
    new: str
    numbers: tuple[Decimal, Decimal] | None = None


def perturb(
    answer: str,
    *,
    number_rule: NumberRule = "both",
    changes: int = 1,
    units: UnitRule = "table",
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

    >>> perturb("two days before", number_rule="off")
    ['two minutes before', 'two months before', 'two centuries before', 'two days after']
    >>> perturb("Usually once")
    ['Rarely once', 'Usually twice', 'Usually ten times']
    >>> "twice a month" in perturb("once a week", changes=2, units="any")
    True
    """
    edits = [*_replace_words(answer, units), *change_numbers(answer, number_rule)]
    # A stable sort keeps the order of the table for replacements at the same place.
    edits.sort(key=lambda edit: edit.start)
    n_most = min(MOST_RESULTS, MOST_CHARACTERS // max(1, len(answer)))
    combined = islice(_combine(edits, changes), n_most)
    variants = dict.fromkeys(_apply(answer, combination) for combination in combined)
    return [variant for variant in variants if variant != answer]


def _combine(edits: Sequence[Edit], changes: int) -> Iterator[tuple[Edit, ...]]:
    """Yield combinations of up to so many edits that do not overlap, those of fewer edits first."""
    for n_edits in range(1, changes + 1):
        for combination in combinations(edits, n_edits):
            if all(edit.end <= following.start for edit, following in pairwise(combination)):
                yield combination


def _apply(answer: str, edits: Sequence[Edit]) -> str:
    """Make replacements that do not overlap, from right to left, so that the offsets of the others stay valid."""
    before = answer
    after = ""
    for start, end, new, numbers in reversed(edits):
        after = before[end:] + after
        before = before[:start]
        article = _ARTICLE.search(before, max(0, start - _NEAR))
        if article is not None:
            form = "an" if _VOWEL.match(new) else "a"
            before = replace_match(article, copy_case(article[0], form))
        elif numbers is not None:
            after = _adjust_noun(after, *numbers)
        after = new + after
    return before + after


def _adjust_noun(after: str, number: Decimal, changed: Decimal) -> str:
    """Return what follows a number that is changed, with the counted noun in the singular or plural."""
    noun = _COUNTED_NOUN.match(after)
    if noun is None or (number == 1) == (changed == 1):
        return after
    singular = _COUNTED[noun[1].lower()]
    is_singular = noun[1].lower() == singular
    # The noun in "a 2 hour show" does not agree with its number, and stays as it is.
    if is_singular != (number == 1):
        return after
    form = singular if changed == 1 else plural(singular)
    return replace_match(noun, copy_case(noun[1], form), group=1)


def replace_match(match: re.Match[str], new: str, group: int = 0) -> str:
    """Return the text in which a pattern matched, with something else in place of the match, or of a group of it."""
    start, end = match.span(group)
    return match.string[:start] + new + match.string[end:]


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
    rules: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for group in WORD_RULES.values():
        for key, replacements in group.items():
            rules[key] += replacements
    unit_sets = UNIT_SETS if unit_rule == "table" else (tuple(UNIT_SECONDS["proper"]),)
    for units in unit_sets:
        for unit in units:
            replacements = tuple(other for other in units if other != unit)
            rules[unit] += replacements
            rules[plural(unit)] = tuple(map(plural, replacements))
    keys = join_forms(map(re.escape, rules))
    pattern = rf"(?ai:(?<=[0-9])(?:a\.m\.|p\.m\.|am|pm)|(?<![\w-])(?:{keys}))(?![\w-])"
    return rules, re.compile(pattern)


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
    last_word = _LAST_WORD.search(answer, max(0, start - _NEAR), start)
    previous = last_word[1].lower() if last_word else ""
    if previous == "per" or NUMBER.fullmatch(previous):
        return True
    follower = _NEXT_WORD.match(answer, end)
    if follower and follower[1].lower() not in _AFTER_A_UNIT:
        return False
    return previous in _BEFORE_A_UNIT or cardinal(previous) is not None


class Number(NamedTuple):
    """A number in an answer.

    Attributes:
        start: where it begins.
        end: where it ends.
        value: how much it is.
        notation: how it is written; "times" is "once" and the like.
    """

    start: int
    end: int
    value: Decimal
    notation: Literal["digits", "words", "times"]


def change_numbers(answer: str, rule: NumberRule) -> Iterator[Edit]:
    """Yield every replacement of a number: of each number in digits, then in words, then of "once" and the like."""
    if rule == "off":
        return
    for number in _find_numbers(answer):
        start, end, value, notation = number
        for changed in _list_changes(number, answer, rule):
            new = _write_number(changed, answer[start:end], notation)
            # "once" counts no noun: "once a week".
            numbers = None if notation == "times" else (value, changed)
            yield Edit(start, end, new, numbers)


def _find_numbers(answer: str) -> Iterator[Number]:
    for match in NUMBER.finditer(answer):
        yield Number(*match.span(), Decimal(match[0].replace(",", "")), "digits")
    yield from _find_numbers_in_words(answer)
    for match in _TIMES.finditer(answer):
        word = match[0].lower()
        if word != "once" or _is_a_number_of_times(answer, *match.span()):
            yield Number(*match.span(), Decimal(TIMES[word]), "times")


def _list_changes(number: Number, answer: str, rule: NumberRule) -> list[Decimal]:
    """List what takes the place of a number: the next, ten times as many, or both."""
    _, end, value, notation = number
    is_hour = notation != "times" and 1 <= value < 13 and _HOUR_OF_THE_DAY.match(answer, end)
    # "7.30 pm"
    if is_hour and value % 1:
        return []
    changes = []
    if rule != "times_ten":
        is_last_hour = is_hour and value == 12
        changes.append(Decimal(1) if is_last_hour else value + 1)
    if rule != "plus_one":
        is_no_hour = is_hour and value > 1
        if not is_no_hour and not _is_a_year(number, answer):
            changes.append(value * 10)
    if notation == "digits":
        return changes
    return [changed for changed in changes if changed < TOO_LARGE]


def _is_a_year(number: Number, answer: str) -> bool:
    if number.notation != "digits" or not _YEAR.fullmatch(answer, number.start, number.end):
        return False
    return _COUNTS_SOMETHING.match(answer, number.end) is None


def _write_number(value: Decimal, old: str, notation: str) -> str:
    """Write a number as another was written."""
    if notation == "digits":
        digits = format(value, ",f" if "," in old else "f")
        return digits.rstrip("0").rstrip(".") if "." in digits else digits
    words = in_words(int(value))
    if notation == "times":
        words = "twice" if value == 2 else f"{words} times"
    return copy_case(old, words)


def _find_numbers_in_words(answer: str) -> Iterator[Number]:
    """Yield every number in words, taking the longest match.

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
            if number is None or _is_attached(answer, start, end):
                continue
            done = end
            if number != 1 or not _is_a_pronoun(answer, start, end):
                yield Number(start, end, Decimal(number), "words")
            break


def _is_attached(answer: str, start: int, end: int) -> bool:
    """Return whether the characters at this place continue before or after it."""
    neighbours = answer[max(start - 1, 0) : start] + answer[end : end + 1]
    return any(neighbour.isalnum() or neighbour in "_-" for neighbour in neighbours)


def _is_a_pronoun(answer: str, start: int, end: int) -> bool:
    """Return whether "one" at this place is a thing or people: "the last one", "one can wait"."""
    if _PEOPLE.match(answer, end):
        return True
    is_thing = _ONE_THING.search(answer, max(0, start - _NEAR), start) is not None
    return is_thing and not _FOLLOWED_BY_A_UNIT.match(answer, end)


def _is_a_number_of_times(answer: str, start: int, end: int) -> bool:
    """Return whether "once" at this place is a number: "once a week", "only once"."""
    is_idiom = _NOT_TIMES.search(answer, max(0, start - _NEAR), start)
    return not is_idiom and _AFTER_TIMES.match(answer, end) is not None
