"""Parsing and writing of English cardinal numbers.

Parsing uses text2num, which rejects what is not a number ("nineteen eighty four", "five two"), where other libraries
add up the words.  Writing is done here, since it takes only a few lines.
"""

from __future__ import annotations

import re

from closeread.exceptions import MissingExtraError

_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9}

# More words than any number below a thousand billion has; keeps very long input cheap.
_MOST_WORDS = 24

_A_SCALE = re.compile(rf"^a(?=\s+(?:{'|'.join(_SCALES)})\b)")
_WORDS = re.compile(r"[a-z]{2,}(?:(?:\s*-\s*|\s+)[a-z]{2,})*")

# fmt: off
_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# fmt: on

TOO_LARGE = 10**12


def scale(word: str) -> int | None:
    """Return the factor of a word such as "hundred"; None for any other word.

    >>> scale("thousand")
    1000
    """
    return _SCALES.get(word)


def cardinal(text: str) -> int | None:
    """Return the value of a cardinal number in words, or None if the text is not one.

    Case is ignored, and words may be separated by spaces or hyphens.  "a" counts as one only before a scale
    ("a hundred"); ordinals, plurals ("hundreds") and years read in pairs are not cardinals.

    Raises:
        MissingExtraError: text2num is not installed.

    >>> cardinal("Twenty-five"), cardinal("a hundred and one"), cardinal("a"), cardinal("second")
    (25, 101, None, None)
    """
    words = _A_SCALE.sub("one", text.strip().lower())
    if not _WORDS.fullmatch(words):
        return None
    parts = re.split(r"[\s-]+", words)
    # No cardinal ends in s, but text2num parses "hundreds" as 100.
    if len(parts) > _MOST_WORDS or any(part.endswith("s") for part in parts):
        return None
    return _read(re.sub(r"(?:(?<!\s)\s++)?-\s*+", "-", words))


def _read(words: str) -> int | None:
    try:
        from text_to_num import text2num  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtraError("parsing number words", "text2num", extra="perturb") from error
    try:
        return int(text2num(words, "en"))
    except ValueError:
        return None


def in_words(number: int) -> str:
    """Write a number in words, with "and" before tens and units, so that `cardinal` can parse it.

    Args:
        number: from 0 to a thousand billion, exclusive.

    Raises:
        ValueError: the number is negative or too large.

    >>> in_words(1_121)
    'one thousand one hundred and twenty-one'
    """
    if not 0 <= number < TOO_LARGE:
        raise ValueError(f"number is {number} (expected 0 to {TOO_LARGE - 1})")
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, unit = divmod(number, 10)
        return _TENS[tens] + (f"-{_SMALL[unit]}" if unit else "")
    name, size = next((name, size) for name, size in reversed(_SCALES.items()) if size <= number)
    many, rest = divmod(number, size)
    head = f"{in_words(many)} {name}"
    if not rest:
        return head
    return f"{head} and {in_words(rest)}" if rest < 100 else f"{head} {in_words(rest)}"
