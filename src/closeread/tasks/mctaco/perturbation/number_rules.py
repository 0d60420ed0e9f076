"""Rule-based perturbation of numbers: replace one number of an answer by another.

Source: Zhou et al. (2019), step 3, where numbers and quantities ("2", "once") are extracted and perturbed.  The paper
does not say how; its examples need the next number ("2 a.m." becomes "3 p.m.") and ten times as many ("1 day" becomes
"10 days").

Conventions: a number is written as it was, in digits, in words or as "once" and "twice" (then "three times").  These
are left unchanged: clock times, ranges, ordinals and numbers attached to other characters ("9:30", "7.30 pm", "10-15",
"3rd"); "a", "few" and similar words; "one" for a thing or for people ("the last one", "one can wait"), and "once" for
a time or in an idiom ("at once", "once in a while").  Two kinds of number can't be ten times as large: hours of the
day, which go on from 12 to 1, and years ("1990" at the end, or before punctuation, "BC", "during" and the like).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Literal, NamedTuple

from closeread.tasks.mctaco.perturbation.edits import PARTS_OF_THE_DAY, Edit, copy_case, look_back
from closeread.tasks.mctaco.perturbation.number_words import TOO_LARGE, cardinal, in_words, scale
from closeread.tasks.mctaco.perturbation.units import UNIT_SECONDS, plural

NumberRule = Literal["both", "plus_one", "times_ten", "off"]
_Change = Literal["plus_one", "times_ten"]
_Way = Literal["digits", "words", "times"]

CHANGES: Mapping[NumberRule, tuple[_Change, ...]] = MappingProxyType(
    {
        "both": ("plus_one", "times_ten"),
        "plus_one": ("plus_one",),
        "times_ten": ("times_ten",),
        "off": (),
    }
)

TIMES: Mapping[str, int] = MappingProxyType({"once": 1, "twice": 2, "thrice": 3})
_TIMES_AS_WORDS = {1: "once", 2: "twice"}

_HALF_OF_THE_DAY = r"(?:am|pm|a\.m\.|p\.m\.)(?![\w-])"
NUMBER = re.compile(
    r"(?<![\w.,:/-])(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15})(?:\.[0-9]{1,15})?"
    rf"(?:(?=(?ai:{_HALF_OF_THE_DAY}))|(?![\w:/-]|[.,][0-9]))"
)
"""A number in digits."""

# Tokenizers leave "9 : am".
_HOUR_OF_THE_DAY = re.compile(rf"[\s:]*(?:{_HALF_OF_THE_DAY}|o['\u2019]?clock\b)", re.IGNORECASE | re.ASCII)
_YEAR = re.compile(r"[12][0-9]{3}")
_COUNTS_SOMETHING = re.compile(
    r"\s+(?!(?:a\s?\.?\s?d|b\s?\.?\s?c|bce|ce|after|and|at|before|by|during|in|on|or|through|till|to|until|when)\b)\w",
    re.IGNORECASE,
)
_MOST_WORDS = 10

_UNIT = "|".join(form for unit in UNIT_SECONDS["proper"] for form in (unit, plural(unit)))
_ONE_THING = re.compile(
    r"\b(?:an|any|another|each|every|first|last|new|next|no|only|other|same|some|that|the|this|which)\s+\Z",
    re.IGNORECASE,
)
_PEOPLE = re.compile(r"\s+(?:can(?:not)?|could|may|might|must|should|will|would)\b", re.IGNORECASE)
_BEFORE_A_UNIT = re.compile(rf"\s+(?:{_UNIT}|time|times)\b", re.IGNORECASE)
_NOT_TIMES = re.compile(r"\bat\s+\Z", re.IGNORECASE)
_AFTER_TIMES = re.compile(
    r"\s*(?:[^\w\s]|\Z)"
    r"|\s+(?!(?:(?:and|in)\s+(?:a|every)\s+while|in\s+a\s+blue\s+moon|(?:and\s+)?for\s+all)\b)"
    r"(?:a|an|and|annually|daily|during|each|every|for|in|monthly|or|per|weekly|yearly)\b"
    rf"|\s+(?:last|next|that|this)\s+(?:{_UNIT}|{'|'.join(PARTS_OF_THE_DAY)})\b",
    re.IGNORECASE,
)


class _Number(NamedTuple):
    start: int
    end: int
    value: Decimal
    way: _Way


def change_numbers(answer: str, rule: NumberRule) -> Iterator[Edit]:
    """Yield every replacement of a number: of each number in digits, then in words, then of "once" and the like.

    Raises:
        MissingExtraError: text2num is not installed.
    """
    if not CHANGES[rule]:
        return
    for number in _find_numbers(answer):
        for change in CHANGES[rule]:
            value = _change(answer, number, change)
            new = None if value is None else _write(answer[number.start : number.end], value, number.way)
            if value is not None and new is not None:
                # "once" counts no noun: "once a week".
                counts = None if number.way == "times" else (number.value, value)
                yield Edit(number.start, number.end, new, counts)


def _find_numbers(answer: str) -> Iterator[_Number]:
    for match in NUMBER.finditer(answer):
        yield _Number(match.start(), match.end(), Decimal(match[0].replace(",", "")), "digits")
    for start, end, number in _find_spelled_out_numbers(answer):
        if number != 1 or not _is_a_pronoun(answer, start, end):
            yield _Number(start, end, Decimal(number), "words")
    for match in re.finditer(rf"(?<![\w-])(?ai:{'|'.join(TIMES)})(?![\w-])", answer):
        word = match[0].lower()
        if word != "once" or _is_a_number_of_times(answer, *match.span()):
            yield _Number(*match.span(), Decimal(TIMES[word]), "times")


def _change(answer: str, number: _Number, change: _Change) -> Decimal | None:
    """Return another number; None if there is none."""
    value = number.value
    changed = value + 1 if change == "plus_one" else value * 10
    if number.way != "times" and _HOUR_OF_THE_DAY.match(answer, number.end) and 1 <= value < 13:
        if value != int(value):  # "7.30 pm"
            return None
        return changed if changed <= 12 else Decimal(1) if change == "plus_one" else None
    if change == "plus_one" or number.way != "digits" or not _YEAR.fullmatch(answer, number.start, number.end):
        return changed
    return changed if _COUNTS_SOMETHING.match(answer, number.end) else None


def _write(old: str, value: Decimal, way: _Way) -> str | None:
    """Write a number as another one is written; None if it is too large to be written in words."""
    if way == "digits":
        new = format(value, ",f" if "," in old else "f")
        return new.rstrip("0").rstrip(".") if "." in new else new
    if value >= TOO_LARGE:
        return None
    words = in_words(int(value))
    return copy_case(old, _TIMES_AS_WORDS.get(int(value), f"{words} times") if way == "times" else words)


def _find_spelled_out_numbers(answer: str) -> Iterator[tuple[int, int, int]]:
    """Find the start, end and value of every number in words, taking the longest match.

    A bare "hundred" is not a number, since it belongs to the word before it ("several hundred").
    """
    words = [match.span() for match in re.finditer(r"[^\W\d_]+", answer)]
    done = 0
    for i, (start, first_end) in enumerate(words):
        first = answer[start:first_end].lower()
        if start < done or scale(first) or (first != "a" and cardinal(first) is None):
            continue
        for _, end in reversed(words[i : i + _MOST_WORDS]):
            number = cardinal(answer[start:end])
            if number is not None and not _is_glued(answer, start, end):
                yield start, end, number
                done = end
                break


def _is_glued(answer: str, start: int, end: int) -> bool:
    neighbours = answer[max(start - 1, 0) : start] + answer[end : end + 1]
    return any(neighbour.isalnum() or neighbour in "_-" for neighbour in neighbours)


def _is_a_pronoun(answer: str, start: int, end: int) -> bool:
    """Return whether "one" at this place stands for a thing or for people: "the last one", "one can"."""
    if _PEOPLE.match(answer, end):
        return True
    return _ONE_THING.search(answer, look_back(start), start) is not None and not _BEFORE_A_UNIT.match(answer, end)


def _is_a_number_of_times(answer: str, start: int, end: int) -> bool:
    """Return whether "once" at this place is a number: "once a week", "only once"."""
    return not _NOT_TIMES.search(answer, look_back(start), start) and _AFTER_TIMES.match(answer, end) is not None
