"""Rule-based perturbation: replace words, units and numbers of an answer.

Source: Zhou et al. (2019), step 3; the rules are in `closeread.tasks.mctaco.perturbation.rule_table`, those for numbers
in `closeread.tasks.mctaco.perturbation.number_rules`.

Word boundaries: a key has no letter, digit, underscore or hyphen next to it, so "mid-morning" and "two-day" are
single words, but "today's" contains "today".  "am", "pm", "a.m." and "p.m." may directly follow a digit ("7am").

Two rules are narrower than in the paper, which matches whole words only:

* "am" is a time of day only after a digit or a spelled-out hour ("7 am", "7:30 am", "9 : am", "seven am");
  otherwise it is the verb.
* "second" is a unit after a number or "per", and after words such as "a", "every" and "last" if no noun or
  adjective follows ("a second ago"); otherwise it is the ordinal ("the second day", "a second child").

Other ambiguities are ignored ("it will last" contains the key "last").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, islice, pairwise
from typing import Literal

from closeread.tasks.mctaco.perturbation.edits import Agreement, Edit, apply_edits, copy_case, look_back
from closeread.tasks.mctaco.perturbation.number_rules import NUMBER, NumberRule, change_numbers
from closeread.tasks.mctaco.perturbation.number_words import cardinal
from closeread.tasks.mctaco.perturbation.rule_table import UNIT_SETS, WORD_RULES
from closeread.tasks.mctaco.perturbation.units import UNIT_SECONDS, plural

UnitRule = Literal["table", "any"]

MOST_RESULTS = 10_000
MOST_CHARACTERS = 10_000_000
"""Limits for an answer: two changes at once in a text of thousands of words would fill the memory."""

_HALVES_OF_THE_DAY = ("am", "pm", "a.m.", "p.m.")


@cache
def _merge_rules(unit_rule: UnitRule) -> Mapping[str, tuple[str, ...]]:
    rules: dict[str, tuple[str, ...]] = {}
    for group in WORD_RULES.values():
        for key, replacements in group.items():
            rules[key] = rules.get(key, ()) + replacements
    for units in UNIT_SETS if unit_rule == "table" else (tuple(UNIT_SECONDS["proper"]),):
        for unit in units:
            others = tuple(other for other in units if other != unit)
            rules[unit] = rules.get(unit, ()) + others
            rules[plural(unit)] = tuple(map(plural, others))
    return rules


def _join_keys(keys: Sequence[str]) -> str:
    return "|".join(re.escape(key) for key in sorted(keys, key=lambda key: (-len(key), key)))


@cache
def _compile_keys(unit_rule: UnitRule) -> re.Pattern[str]:
    keys = _join_keys(tuple(_merge_rules(unit_rule)))
    return re.compile(rf"(?ai:(?<=[0-9])(?:{_join_keys(_HALVES_OF_THE_DAY)})|(?<![\w-])(?:{keys}))(?![\w-])")


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
    ("7 PM" becomes "7 AM").  The answer itself is never returned, and there are no duplicates.

    Args:
        answer: a candidate answer.
        number_rule: ``plus_one`` and ``times_ten`` replace each number, in digits or in words as it was ("3" becomes
            "4", "twenty-five" "twenty-six", "1,000" "1,001", "once" "twice"), ``both`` does one and the other, and
            ``off`` leaves numbers unchanged.
        changes: how many replacements to make at once, at most; 1 or more.
        units: ``table`` replaces a unit by those of its set in the paper's table, ``any`` by all others from second to
            century, decades included.
        agreement: ``adjust`` makes the unit after a changed number singular or plural and chooses "a" or "an" before
            a replacement; ``keep`` leaves both as they were, as in the corpus itself.

    Returns:
        At most `MOST_RESULTS` answers, of at most `MOST_CHARACTERS` together.

    Raises:
        ValueError: changes is less than 1.
        MissingExtraError: text2num is not installed, and numbers in words are looked for: if `number_rule` is not
            ``off``, or the answer contains "second".

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
        apply_edits(answer, chosen, agreement)
        for number in range(1, changes + 1)
        for chosen in combinations(edits, number)
        if all(one.end <= other.start for one, other in pairwise(chosen))
    )
    most = min(MOST_RESULTS, MOST_CHARACTERS // max(1, len(answer)))
    results = dict.fromkeys(islice(made, most))
    return [result for result in results if result != answer]


def _replace_words(answer: str, unit_rule: UnitRule) -> Iterator[Edit]:
    rules = _merge_rules(unit_rule)
    for match in _compile_keys(unit_rule).finditer(answer):
        key = match[0].lower()
        start, end = match.span()
        if key == "am" and not _CLOCK_TIME.search(answer, look_back(start), start):
            continue
        if key == "second" and not _is_a_unit(answer, start, end):
            continue
        for new in rules[key]:
            yield Edit(start, end, copy_case(match[0], new))


def _is_a_unit(answer: str, start: int, end: int) -> bool:
    """Return whether "second" at this place is the unit, not the ordinal; see the module."""
    found = _LAST_WORD.search(answer, look_back(start), start)
    previous = found[1].lower() if found else ""
    if previous == "per" or NUMBER.fullmatch(previous):
        return True
    follower = _NEXT_WORD.match(answer, end)
    if follower and follower[1].lower() not in _AFTER_A_UNIT:
        return False
    return previous in _BEFORE_A_UNIT or cardinal(previous) is not None
