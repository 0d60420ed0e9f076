"""Unit normalization: hand cases with their reasons, and that no quantity changes."""

from fractions import Fraction

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from shared.for_each import for_each

pytest.importorskip("text_to_num")

from closeread.tasks.mctaco.perturbation.units import (
    UNIT_SECONDS,
    cardinal,
    in_words,
    normalize_units,
    parse_quantity,
)

# text, its normalization under rule "proper", reason
PROPER = [
    ("30 months", "2.5 years", "the paper's own example"),
    ("12 months", "1 year", "a month is a twelfth of a year; singular for 1"),
    ("60 minutes", "1 hour", "singular for 1"),
    ("7 days", "1 week", "a value of exactly 1 is enough"),
    ("6.99 days", "6.99 days", "less than 1 week"),
    ("0.5 hours", "30 minutes", "to a smaller unit as well"),
    (".5 hours", "30 minutes", "no digit before the dot"),
    ("30 month", "2.5 years", "the same in singular and plural"),
    ("365 days", "1 year", "a year is 365 days"),
    ("364 days", "11.97 months", "just less than a year"),
    ("1,000 years", "10 centuries", "thousands separator"),
    ("2,000,000 seconds", "3.31 weeks", "two of them"),
    ("twenty five minutes", "twenty five minutes", "already proper"),
    ("ninety minutes", "1.5 hours", "spelled out"),
    ("one hundred and twenty minutes", "2 hours", "spelled out with and"),
    ("Thirty-six Months", "3 years", "letter case and hyphen do not matter"),
    ("thirty - six months", "3 years", "a hyphen with blanks, as tokenizers leave it"),
    ("a hundred years", "1 century", "a before a scale is part of the number"),
    ("many years", "1 decade", "many is 10"),
    ("tens of years", "1 decade", "tens of is 10"),
    ("hundreds of years", "1 century", "hundreds of is 100"),
    ("thousands of years", "10 centuries", "thousands of is 1000"),
    ("hundreds of thousands of years", "1000 centuries", "both are multiplied"),
    ("a few hundred minutes", "5 hours", "3 times 100"),
    ("several thousand seconds", "1.11 hours", "4 times 1000"),
    ("some hundred years", "some 1 century", "here some is about, not 3"),
    ("2 hundred years", "2 centuries", "digits before a scale"),
    ("1.5 million seconds", "2.48 weeks", "digits with decimals before a scale"),
    ("two and a half thousand years", "25 centuries", "two and a half, scaled"),
    ("half an hour", "30 minutes", "half an"),
    ("a half year", "6 months", "a half"),
    ("half a century", "5 decades", "half a"),
    ("18 and a half months", "1.54 years", "a number and a half"),
    ("a couple of days", "a couple of days", "2 days are less than a week"),
    ("she stayed (about 90 minutes) there", "she stayed (about 1.5 hours) there", "the rest is unchanged"),
    ("(90 minutes)", "(1.5 hours)", "an opening bracket is not part of the number"),
    ("90  minutes\tago", "1.5  hours\tago", "whitespace is unchanged"),
    ("90\u00a0minutes", "1.5\u00a0hours", "so is a no-break space"),
    ("24 hours and 120 seconds", "1 day and 2 minutes", "each expression separately"),
    ("a 90 minute walk", "a 1.5 hours walk", "the article belongs to the walk"),
    ("59.999 minutes", "59.999 minutes", "already proper, digits unchanged"),
    ("3599.99 seconds", "1 hour", "60 minutes after rounding, so the next unit is taken"),
    ("100 days", "3.29 months", "rounded to hundredths"),
    ("0.001 minutes", "0.06 seconds", "seconds where nothing is at least 1"),
]

UNCHANGED = [
    ("2 years", "already proper"),
    ("two years", "already proper, in words"),
    ("1 hours", "already proper, even if not in the singular"),
    ("a second", "1 second"),
    ("an hour", "1 hour"),
    ("2.3333 years", "already proper, with any number of decimals"),
    ("0.3 seconds", "there is no smaller unit"),
    ("0 months", "zero has no proper unit"),
    ("0.000001 minutes", "would be rounded to zero"),
    ("the second day", "an ordinal"),
    ("a second try", "an ordinal"),
    ("the 120 second days", "second before a unit is an ordinal"),
    ("twenty-second days", "an ordinal"),
    ("twenty-second", "an ordinal"),
    ("the thirtieth month", "an ordinal"),
    ("days", "no number"),
    ("90", "no unit"),
    ("ninety of them stayed for days", "the number is not before the unit"),
    ("90 to 120 minutes", "a range"),
    ("ninety to a hundred and twenty minutes", "a range in words"),
    ("90-120 minutes", "a range"),
    ("90\u2013120 minutes", "a range with a dash"),
    ("90 - 120 minutes", "a range with blanks"),
    ("one or two hundred years", "a kind of range"),
    ("between 60 and 90 minutes", "a range"),
    ("5, 10 or 90 minutes", "a list"),
    ("nineteen eighty four months", "a year read in pairs is not a number"),
    ("several thousands of years", "more belongs to the number"),
    ("-30 months", "negative"),
    ("1e400 years", "an exponent"),
    ("9" * 5000 + " months", "absurdly long"),
    ("\u0663\u0660 months", "Arabic-Indic digits"),
    ("\uff13\uff10 months", "full-width digits"),
    ("30\u00b2 months", "a superscript"),
    ("1,00 minutes", "a separator out of place"),
    ("v90 minutes", "a letter before the digits"),
    ("$90 minutes", "a sign before the digits"),
    ("1/90 minutes", "a fraction"),
    ("2\u00bd days", "a fraction sign"),
    ("12:90 minutes", "a clock time"),
    ("a 30-month stay", "a hyphen between number and unit"),
    ("60 minutes' walk", "a possessive"),
    ("60 minutes\u2019 walk", "a possessive with a curly apostrophe"),
    ("90 minutes-long", "a longer word"),
    ("60 minutes and a half", "the half belongs to minutes"),
    ("90 minuteman", "another word"),
    ("how many years", "a question for a number"),
    ("too many days", "no number is meant"),
    ("90 \u017feconds", "a long s"),
    ("millions of years", "not among the number words"),
    ("", "nothing"),
]

# text, its normalization under rule "official", reason
OFFICIAL = [
    ("12 hours", "0.5 days", "0.5 is enough"),
    ("11 hours", "11 hours", "less than 0.5 days"),
    ("15 days", "0.5 months", "a month is 30 days"),
    ("30 days", "1 month", "a month is 30 days"),
    ("12 months", "0.99 years", "360 days of 365"),
    ("a couple weeks", "0.7 months", "a couple is 3 here: 21 of 30 days"),
    ("a couple of weeks", "a couple of weeks", "a couple of is 2: 14 of 30 days are too few"),
    ("several days", "0.57 weeks", "4 days"),
    ("43199 seconds", "0.5 days", "12 hours after rounding, which are half a day"),
]


@for_each(("text", "expected", "why"), PROPER)
def test_proper_unit(text, expected, why):
    assert normalize_units(text) == expected, why


@for_each(("text", "why"), UNCHANGED)
def test_left_unchanged(text, why):
    assert normalize_units(text) == text, why


@for_each(("text", "why"), UNCHANGED)
def test_left_unchanged_inside_a_sentence(text, why):
    sentence = f"It was said that {text}, as you know."
    assert normalize_units(sentence) == sentence, why


@for_each(("text", "expected", "why"), OFFICIAL)
def test_official_rule(text, expected, why):
    assert normalize_units(text, rule="official") == expected, why


@for_each(
    ("text", "expected"),
    [
        ("a", 1),
        ("an", 1),
        ("several", 4),
        ("many", 10),
        ("some", 3),
        ("few", 3),
        ("a few", 3),
        ("couple", 2),
        ("a couple", 2),
        ("couple of", 2),
        ("a couple of", 2),
        ("tens of", 10),
        ("hundreds of", 100),
        ("thousands of", 1000),
        ("1,234.5", Fraction("1234.5")),
        ("one and a half", Fraction(3, 2)),
        ("half a million", 500_000),
        ("zero", 0),
        ("o", None),
        ("second", None),
        ("first", None),
        ("hundreds", None),
        ("five two", None),
        ("and", None),
        ("", None),
        ("1.", None),
        ("1.2.3", None),
        ("a an", None),
    ],
)
def test_quantities(text, expected):
    assert parse_quantity(text) == expected


def test_only_a_couple_differs_by_rule():
    assert parse_quantity("a couple", rule="official") == 3
    assert parse_quantity("a couple of", rule="official") == 2


UNITS = list(UNIT_SECONDS["proper"])
RULES = st.sampled_from(["proper", "official"])


@st.composite
def numbers(draw):
    kind = draw(st.sampled_from(["whole", "decimal", "words", "word"]))
    if kind == "whole":
        return str(draw(st.integers(0, 10**9)))
    if kind == "decimal":
        return str(draw(st.decimals(0, 10**6, places=draw(st.integers(1, 4)))))
    if kind == "words":
        return in_words(draw(st.integers(0, 10**6)))
    return draw(st.sampled_from(["a few", "many", "hundreds of", "half an", "two and a half", "a couple of"]))


def seconds(text, rule):
    """Return the seconds of a text that is one "number unit", and those of its unit."""
    number, unit = text.rsplit(" ", 1)
    unit = {"centuries": "century"}.get(unit, unit.removesuffix("s"))
    size = UNIT_SECONDS[rule][unit]
    return parse_quantity(number, rule=rule) * size, size


@given(numbers(), st.sampled_from(UNITS), RULES)
@example("3599.99", "second", "proper")
def test_the_quantity_is_kept_up_to_rounding(number, unit, rule):
    before, _ = seconds(f"{number} {unit}", rule)
    after, size = seconds(normalize_units(f"{number} {unit}", rule=rule), rule)
    assert abs(before - after) <= size / 100


@given(numbers(), st.sampled_from(UNITS), RULES)
def test_unit_is_the_most_proper_one(number, unit, rule):
    total, size = seconds(normalize_units(f"{number} {unit}", rule=rule), rule)
    assume(total > 0)
    least = 1 if rule == "proper" else Fraction(1, 2)
    fitting = [s for s in UNIT_SECONDS[rule].values() if total >= s * least]
    assert size == max(fitting, default=1)


PHRASES = st.lists(
    st.one_of(
        numbers(),
        st.sampled_from([*UNITS, "days", "months", "centuries", "to", "or", "and", "a half", "-", "(", "second", "of"]),
        st.text(max_size=6),
    ),
    max_size=12,
).map(" ".join)


@given(PHRASES, RULES)
@example("90 minutes 60 seconds", "proper")
@example("60 second and half an minute", "proper")
@example("60 second and a half minute", "proper")
@example("60 second and half minutes", "official")
def test_normalizing_twice_changes_nothing_more(text, rule):
    once = normalize_units(text, rule=rule)
    assert normalize_units(once, rule=rule) == once


@given(st.text(alphabet="abcdefg ,.;:"), numbers(), st.sampled_from(UNITS), st.text(alphabet="bcefg ,.;:"))
def test_the_surrounding_text_is_unchanged(before, number, unit, after):
    alone = normalize_units(f"{number} {unit}")
    assert normalize_units(f"{before}# {number} {unit}; {after}") == f"{before}# {alone}; {after}"


@given(st.integers(0, 10**12 - 1))
def test_number_words_round_trip(number):
    assert cardinal(in_words(number)) == number


@for_each(
    ("number", "words"),
    [
        (0, "zero"),
        (13, "thirteen"),
        (40, "forty"),
        (99, "ninety-nine"),
        (100, "one hundred"),
        (101, "one hundred and one"),
        (1_000, "one thousand"),
        (1_001, "one thousand and one"),
        (1_100, "one thousand one hundred"),
        (2_000_300, "two million three hundred"),
        (10**9, "one billion"),
    ],
)
def test_numbers_in_words(number, words):
    assert in_words(number) == words


@for_each("number", [-1, 10**12])
def test_numbers_that_are_out_of_range(number):
    with pytest.raises(ValueError, match=rf"number is {number} \(expected 0 to 999999999999\)"):
        in_words(number)
