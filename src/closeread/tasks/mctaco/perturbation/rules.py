"""Rule-based perturbation: replace one word, unit or number of an answer.

Source: Zhou et al. (2019), step 3; the rules are in `closeread.tasks.mctaco.perturbation.rule_table`.

Word boundaries: a key has no letter, digit, underscore or hyphen next to it, so "mid-morning" and "two-day" are
single words, but "today's" contains "today".  "am", "pm", "a.m." and "p.m." may directly follow a digit ("7am").

Two rules are narrower than in the paper, which matches whole words only:

* "am" is a time of day only after a digit or a spelled-out hour ("7 am", "7:30 am", "9 : am", "seven am");
  otherwise it is the verb.
* "second" is a unit after a number or "per", and after words such as "a", "every" and "last" if no noun or
  adjective follows ("a second ago"); otherwise it is the ordinal ("the second day", "a second child").

Other ambiguities are ignored ("it will last" contains the key "last"), and articles are not corrected ("an hour"
becomes "an week"), as in the corpus itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Literal

from closeread.tasks.mctaco.perturbation.number_words import TOO_LARGE, cardinal, in_words, scale
from closeread.tasks.mctaco.perturbation.rule_table import UNIT_SETS, WORD_RULES
from closeread.tasks.mctaco.perturbation.units import plural

NumberRule = Literal["off", "plus_one", "times_ten"]

_Replacement = tuple[int, int, str]


def _merge_rules() -> dict[str, tuple[str, ...]]:
    rules: dict[str, tuple[str, ...]] = {}
    for group in WORD_RULES.values():
        for key, replacements in group.items():
            rules[key] = rules.get(key, ()) + replacements
    for units in UNIT_SETS:
        for unit in units:
            others = tuple(other for other in units if other != unit)
            rules[unit] = rules.get(unit, ()) + others
            rules[plural(unit)] = tuple(map(plural, others))
    return rules


_RULES = _merge_rules()
_HALVES_OF_THE_DAY = ("am", "pm", "a.m.", "p.m.")


def _join_keys(keys: tuple[str, ...]) -> str:
    return "|".join(re.escape(key) for key in sorted(keys, key=lambda key: (-len(key), key)))


_KEY = re.compile(
    rf"(?ai:(?<=[0-9])(?:{_join_keys(_HALVES_OF_THE_DAY)})|(?<![\w-])(?:{_join_keys(tuple(_RULES))}))(?![\w-])"
)

_HOURS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|thirty|o['\u2019]?clock"
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

_NUMBER = re.compile(r"(?<![\w.,:/-])(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15})(?:\.[0-9]{1,15})?(?![\w:/-]|[.,][0-9])")
_MOST_WORDS = 10

_CHANGES: dict[NumberRule, Callable[[Decimal], Decimal]] = {
    "plus_one": lambda number: number + 1,
    "times_ten": lambda number: number * 10,
}


def perturb(answer: str, *, number_rule: NumberRule = "off") -> list[str]:
    """Return every answer that a single replacement makes.

    Results are in order from left to right, and at the same place in the order of the rule table.  Keys are
    case-insensitive; replacements keep the capitalization of the replaced word ("7 PM" becomes "7 AM").  The answer
    itself is never returned, and there are no duplicates.

    Args:
        answer: a candidate answer.
        number_rule: ``off`` leaves numbers unchanged; ``plus_one`` and ``times_ten`` also replace each number, in
            digits or in words as it was ("3" becomes "4", "twenty-five" "twenty-six", "1,000" "1,001").  Clock
            times, ranges and numbers attached to other characters are left unchanged ("9:30", "10-15", "3rd"), as
            are "a", "few" and similar words.

    Raises:
        MissingExtraError: text2num is not installed, and the answer contains a number in words or "second".

    >>> perturb("two days before")
    ['two minutes before', 'two months before', 'two centuries before', 'two days after']
    >>> perturb("Usually", number_rule="plus_one")
    ['Rarely']
    """
    replacements = list(_replace_words(answer))
    if number_rule != "off":
        replacements += _replace_numbers(answer, _CHANGES[number_rule])
    # A stable sort keeps the order of the table for replacements at the same place.
    replacements.sort(key=lambda replacement: replacement[0])
    results = dict.fromkeys(answer[:start] + new + answer[end:] for start, end, new in replacements)
    return [result for result in results if result != answer]


def _replace_words(answer: str) -> Iterator[_Replacement]:
    for match in _KEY.finditer(answer):
        key = match[0].lower()
        if key == "am" and not _CLOCK_TIME.search(answer[: match.start()]):
            continue
        if key == "second" and not _is_a_unit(answer[: match.start()], answer[match.end() :]):
            continue
        for new in _RULES[key]:
            yield match.start(), match.end(), _copy_case(match[0], new)


def _is_a_unit(before: str, after: str) -> bool:
    """Return whether "second" in this context is the unit, not the ordinal; see the module."""
    found = _LAST_WORD.search(before.lower())
    previous = found[1] if found else ""
    if previous == "per" or _NUMBER.fullmatch(previous):
        return True
    follower = _NEXT_WORD.match(after.lower())
    if follower and follower[1] not in _AFTER_A_UNIT:
        return False
    return previous in _BEFORE_A_UNIT or cardinal(previous) is not None


def _copy_case(old: str, new: str) -> str:
    if old.isupper():
        return new.upper()
    return new[0].upper() + new[1:] if old[0].isupper() else new


def _replace_numbers(answer: str, change: Callable[[Decimal], Decimal]) -> Iterator[_Replacement]:
    for match in _NUMBER.finditer(answer):
        grouping = "," if "," in match[0] else ""
        new = format(change(Decimal(match[0].replace(",", ""))), f"{grouping}f")
        yield match.start(), match.end(), new.rstrip("0").rstrip(".") if "." in new else new
    for start, end, number in _find_spelled_out_numbers(answer):
        changed = int(change(Decimal(number)))
        if changed < TOO_LARGE:
            yield start, end, _copy_case(answer[start:end], in_words(changed))


def _find_spelled_out_numbers(answer: str) -> Iterator[tuple[int, int, int]]:
    """Find the start, end and value of every number in words, taking the longest match.

    A bare "hundred" is not a number, since it belongs to the word before it ("several hundred").
    """
    words = [match.span() for match in re.finditer(r"[^\W\d_]+", answer)]
    done = 0
    for i, (start, first_end) in enumerate(words):
        if start < done or scale(answer[start:first_end].lower()):
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
