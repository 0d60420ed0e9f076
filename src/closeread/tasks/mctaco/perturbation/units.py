"""English number words, and unit normalization: temporal expressions "number unit" in their most proper unit.

Number words are parsed with text2num, which rejects what is not a number ("nineteen eighty four", "five two"), where
other libraries add up the words.

Source: Zhou et al. (2019), the "unit normalization" of their BERT baseline.

Conventions: sizes are exact fractions of seconds.  There are two rules:

* ``proper``: a month is a twelfth of a year; the most proper unit is the largest in which the value is at least 1,
  or seconds if there is none.
* ``official``: as in the authors' script: a month is 30 days, the value must be at least 0.5, and "a couple" is 3.

Numbers are digits ("30", "1,000", "2.5"), spelled-out cardinals ("twenty-five"), the number words of the tables
below, any of these followed by a scale ("a few hundred", "1.5 million"), and "half an hour", "a half hour" and
"two and a half years".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Literal

from closeread.exceptions import MissingExtraError

Rule = Literal["proper", "official"]

SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9}
TOO_LARGE = 10**12

# More words than any number below `TOO_LARGE` has; keeps very long input cheap.
_MOST_WORDS_OF_A_CARDINAL = 24
_A_SCALE = re.compile(rf"^a(?=\s+(?:{'|'.join(SCALES)})\b)")
_LETTERS = re.compile(r"[a-z]{2,}(?:(?:\s*-\s*|\s+)[a-z]{2,})*")

# fmt: off
_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# fmt: on

_UNITS = ("second", "minute", "hour", "day", "week", "month", "year", "decade", "century")
_DAY = Fraction(86_400)
_YEAR = 365 * _DAY


def _measure_units(month: Fraction) -> dict[str, Fraction]:
    up_to_the_week = (Fraction(1), Fraction(60), Fraction(3600), _DAY, 7 * _DAY)
    from_the_year = (_YEAR, 10 * _YEAR, 100 * _YEAR)
    return dict(zip(_UNITS, (*up_to_the_week, month, *from_the_year), strict=True))


UNIT_SECONDS: dict[Rule, dict[str, Fraction]] = {
    "proper": _measure_units(_YEAR / 12),
    "official": _measure_units(30 * _DAY),
}
"""Seconds per unit, by rule; units in the singular, smallest first."""

_LEAST_VALUE: dict[Rule, Fraction] = {"proper": Fraction(1), "official": Fraction(1, 2)}

_NUMBER_WORDS = {
    "a": 1, "an": 1, "couple": 2, "a couple": 2, "couple of": 2, "a couple of": 2, "some": 3, "few": 3, "a few": 3,
    "several": 4, "many": 10, "tens of": 10, "hundreds of": 100, "thousands of": 1000, "tens of thousands of": 10_000,
    "hundreds of thousands of": 100_000,
}  # fmt: skip

_HALVES = ("half a", "half an", "a half")
_AND_A_HALF = " and a half"

_DIGITS = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+")
# Longer numbers are not quantities, and can be costly to parse.
_MOST_DIGITS = 18
# Scales can follow each other ("a few hundred thousand"), but no number needs more words.
_MOST_WORDS_OF_A_NUMBER = 32


def plural(unit: str) -> str:
    """Return the plural of a unit.

    >>> plural("century")
    'centuries'
    """
    return "centuries" if unit == "century" else f"{unit}s"


def find_forms(nouns: Iterable[str]) -> dict[str, str]:
    """Return the singular and the plural of nouns, each with the singular.

    >>> find_forms(["century"])
    {'century': 'century', 'centuries': 'century'}
    """
    singulars = {}
    for noun in nouns:
        singulars[noun] = noun
        singulars[plural(noun)] = noun
    return singulars


def join_forms(forms: Iterable[str]) -> str:
    """Return a part of a pattern that matches the longest of some words."""
    return "|".join(sorted(forms, key=len, reverse=True))


_SINGULARS = find_forms(UNIT_SECONDS["proper"])
FORMS = join_forms(_SINGULARS)
"""The units in the singular and plural, as a part of a pattern."""

# Changing the number would change the meaning if the unit is part of a longer word, a possessive, followed by "and a
# half", or "second" before a unit (the ordinal in "120 second days").
_UNIT = re.compile(
    rf"(?<=\s)(?ai:(?!second\s+(?:{FORMS})\b)(?:{FORMS}))(?![\w'\u2019-])"
    # "60 seconds and half a minute" are two quantities.
    rf"(?!\s+and\s+(?:a\s+)?half\b(?!\s+(?:an?\s+)?(?:{FORMS})\b))",
    re.IGNORECASE,
)

_WORD = re.compile(r"""[^\s("'\u201c\u2018\[~]+""")
_MOST_WORDS = 12

_BETWEEN_NUMBERS = frozenset({"to", "or", "and", "through", "-", "\u2013", "\u2014"})
_BEFORE_MANY = frozenset({"how", "so", "too", "as", "that"})
# Number words that may precede a number without being part of it: "some 90 minutes", "a 90 minute walk".
_BEFORE_A_NUMBER = frozenset({"a", "an", "some"})


def cardinal(text: str) -> int | None:
    """Return the value of a cardinal number in words, or None if the text is not one.

    Case is ignored, and words may be separated by spaces or hyphens.  "a" counts as one only before a scale
    ("a hundred"); ordinals, plurals ("hundreds") and years read in pairs are not cardinals.

    >>> cardinal("Twenty-five"), cardinal("a hundred and one"), cardinal("a"), cardinal("second")
    (25, 101, None, None)
    """
    words = _A_SCALE.sub("one", text.strip().lower())
    if not _LETTERS.fullmatch(words):
        return None
    parts = re.split(r"[\s-]+", words)
    # No cardinal ends in s, but text2num parses "hundreds" as 100.
    if len(parts) > _MOST_WORDS_OF_A_CARDINAL or any(part.endswith("s") for part in parts):
        return None
    try:
        from text_to_num import text2num  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtraError("parsing number words", "text2num", extra="perturb") from error
    try:
        return int(text2num(re.sub(r"(?:(?<!\s)\s++)?-\s*+", "-", words), "en"))
    except ValueError:
        return None


def in_words(number: int) -> str:
    """Write a number from 0 on, below `TOO_LARGE`, in words, with "and" before tens and units.

    >>> in_words(1_121)
    'one thousand one hundred and twenty-one'
    """
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, unit = divmod(number, 10)
        return _TENS[tens] + (f"-{_SMALL[unit]}" if unit else "")
    name, size = next((name, size) for name, size in reversed(SCALES.items()) if size <= number)
    multiple, remainder = divmod(number, size)
    words = f"{in_words(multiple)} {name}"
    if remainder:
        words += " and " if remainder < 100 else " "
        words += in_words(remainder)
    return words


def find_units(text: str) -> list[str]:
    """Return the units of time that a text names, each once, in the singular and in order.

    Hyphenated and possessive units are none, and neither is the ordinal in "the second day".

    >>> find_units("half an hour a day"), find_units("Weeks"), find_units("a two-day tour")
    (['hour', 'day'], ['week'], [])
    """
    units = [_SINGULARS[match[0].lower()] for match in _UNIT.finditer(f" {text}")]
    return list(dict.fromkeys(units))


def parse_quantity(text: str, *, rule: Rule = "proper") -> Fraction | None:
    """Parse the number before a unit, which is never negative; None if the whole text is not a number.

    Signs, exponents, digits other than 0-9, numbers of more than 18 characters in digits and of more than 32 words are
    not accepted.  Under ``official``, "a couple" is 3 ("a couple of" is 2 under both rules).

    >>> parse_quantity("one and a half"), parse_quantity("hundreds of"), parse_quantity("1e400")
    (Fraction(3, 2), Fraction(100, 1), None)
    """
    words = " ".join(text.lower().split())
    if words.count(" ") >= _MOST_WORDS_OF_A_NUMBER:
        return None
    if words in _HALVES:
        return Fraction(1, 2)
    if words.endswith(_AND_A_HALF):
        number = _parse_number(words.removesuffix(_AND_A_HALF))
        return None if number is None else number + Fraction(1, 2)
    if rule == "official" and words in ("couple", "a couple"):
        return Fraction(3)
    if words in _NUMBER_WORDS:
        return Fraction(_NUMBER_WORDS[words])
    number = _parse_number(words)
    if number is not None:
        return number
    # A number before a scale: "a few hundred".  "some hundred" means about one hundred, not three.
    head, _, last = words.rpartition(" ")
    if last not in SCALES or head in ("", "some"):
        return None
    multiple = parse_quantity(head, rule=rule)
    return None if multiple is None else multiple * SCALES[last]


def _parse_number(words: str) -> Fraction | None:
    if len(words) <= _MOST_DIGITS and _DIGITS.fullmatch(words):
        return Fraction(words.replace(",", ""))
    number = cardinal(words)
    return None if number is None else Fraction(number)


def normalize_units(text: str, *, rule: Rule = "proper") -> str:
    """Rewrite every "number unit" in its most proper unit, and leave the rest of the text unchanged.

    The value is written in digits, rounded to hundredths (half to even), without trailing zeros; the unit is
    singular if and only if that value is 1.  So a quantity changes by at most 0.01 of the new unit.  If rounding
    reaches the next unit, that unit is used ("3599.99 seconds" becomes "1 hour").

    Left unchanged are:

    * expressions that already have the most proper unit, in any spelling ("two years", "1 hours", "a second",
      "2.3333 years");
    * zero, and values that would be rounded to zero;
    * one end of a range or list ("90 to 120 minutes", "5, 10 or 90 minutes"), and a number directly after another;
    * numbers that `parse_quantity` does not accept ("-30 months", "1e400 years"), ordinals ("the second day"), "how
      many" and the like, hyphenated and possessive units ("30-month", "60 minutes' walk"), and units followed by
      "and a half".

    >>> normalize_units("about 30 months, or thirty months")
    'about 2.5 years, or 2.5 years'
    >>> normalize_units("12 hours"), normalize_units("12 hours", rule="official")
    ('12 hours', '0.5 days')
    """
    pieces = []
    begin = copied = 0
    for match in _UNIT.finditer(text):
        unit = _SINGULARS[match[0].lower()]
        number = _find_last_number(text[begin : match.start()], rule)
        if number is not None:
            start, end, quantity = number
            value, proper = _choose_unit(quantity, unit, rule)
            if value and (value, proper) != (quantity, unit):
                blanks = text[begin + end : match.start()]
                form = proper if value == 1 else plural(proper)
                pieces += [text[copied : begin + start], _write_digits(value), blanks, form]
                copied = match.end()
        begin = match.end()
    return "".join([*pieces, text[copied:]])


def _choose_unit(quantity: Fraction, unit: str, rule: Rule) -> tuple[Fraction, str]:
    """Return a quantity in its most proper unit, and this unit; it is rounded unless this is the unit that it has."""
    sizes = UNIT_SECONDS[rule]
    proper = _find_largest_unit(quantity * sizes[unit], rule)
    if proper == unit:
        return quantity, unit
    value = round(quantity * sizes[unit] / sizes[proper], 2)
    # Rounding may reach the next unit.
    return _choose_unit(value, proper, rule)


def _write_digits(value: Fraction) -> str:
    """Write a value that is rounded to hundredths."""
    units, hundredths = divmod(int(value * 100), 100)
    return f"{units}.{hundredths:02d}".rstrip("0").rstrip(".")


def _find_last_number(before: str, rule: Rule) -> tuple[int, int, Fraction] | None:
    """Return the longest number at the end of a text: its start, end and value; None if more belongs to it."""
    words = list(_WORD.finditer(before))[-_MOST_WORDS:]
    for i, word in enumerate(words):
        phrase = before[word.start() :]
        quantity = parse_quantity(phrase, rule=rule)
        if quantity is not None:
            previous = [earlier[0].lower() for earlier in words[:i]]
            if not _stands_alone(phrase, previous, rule):
                return None
            return word.start(), len(before.rstrip()), quantity
    return None


def _stands_alone(phrase: str, before: Sequence[str], rule: Rule) -> bool:
    if not before:
        return True
    previous = before[-1]
    if phrase.strip().lower() == "many":
        return previous not in _BEFORE_MANY
    if previous in _BEFORE_A_NUMBER:
        return True
    if previous in _BETWEEN_NUMBERS and len(before) > 1:
        previous = before[-2]
    return parse_quantity(previous.rstrip(","), rule=rule) is None


def _find_largest_unit(seconds: Fraction, rule: Rule) -> str:
    """Return the largest unit in which a duration has at least the least value, or seconds."""
    largest = "second"
    for unit, size in UNIT_SECONDS[rule].items():
        if seconds >= size * _LEAST_VALUE[rule]:
            largest = unit
    return largest
