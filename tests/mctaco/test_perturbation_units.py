"""Unit normalization: hand cases with their reasons, and that no quantity changes."""

from fractions import Fraction

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

pytest.importorskip("text_to_num")

from closeread.tasks.mctaco.perturbation.units import (
    UNIT_SECONDS,
    cardinal,
    in_words,
    normalize_units,
    parse_quantity,
)

# Texts, and their normalization under a rule.
PROPER = (
    "30 months > 2.5 years; 12 months > 1 year; 60 minutes > 1 hour; 7 days > 1 week; 6.99 days > 6.99 days; "
    "0.5 hours > 30 minutes; .5 hours > 30 minutes; 30 month > 2.5 years; 365 days > 1 year; "
    "364 days > 11.97 months; 1,000 years > 10 centuries; 2,000,000 seconds > 3.31 weeks; "
    "twenty five minutes > twenty five minutes; ninety minutes > 1.5 hours; "
    "one hundred and twenty minutes > 2 hours; Thirty-six Months > 3 years; thirty - six months > 3 years; "
    "a hundred years > 1 century; many years > 1 decade; tens of years > 1 decade; hundreds of years > 1 century; "
    "thousands of years > 10 centuries; hundreds of thousands of years > 1000 centuries; "
    "a few hundred minutes > 5 hours; several thousand seconds > 1.11 hours; some hundred years > some 1 century; "
    "2 hundred years > 2 centuries; 1.5 million seconds > 2.48 weeks; "
    "two and a half thousand years > 25 centuries; half an hour > 30 minutes; a half year > 6 months; "
    "half a century > 5 decades; 18 and a half months > 1.54 years; a couple of days > a couple of days; "
    "she stayed (about 90 minutes) there > she stayed (about 1.5 hours) there; (90 minutes) > (1.5 hours); "
    "90  minutes\tago > 1.5  hours\tago; 90\xa0minutes > 1.5\xa0hours; "
    "24 hours and 120 seconds > 1 day and 2 minutes; a 90 minute walk > a 1.5 hours walk; "
    "59.999 minutes > 59.999 minutes; 3599.99 seconds > 1 hour; 100 days > 3.29 months; "
    "0.001 minutes > 0.06 seconds"
)
OFFICIAL = (
    "12 hours > 0.5 days; 11 hours > 11 hours; 15 days > 0.5 months; 30 days > 1 month; 12 months > 0.99 years; "
    "a couple weeks > 0.7 months; a couple of weeks > a couple of weeks; several days > 0.57 weeks; "
    "43199 seconds > 0.5 days"
)

# Proper already, in any spelling; ordinals; no number or no unit; ranges, lists and what more belongs to; what is no
# number; hyphens and possessives; units with a half; and questions for a number.
UNCHANGED = (
    "2 years; two years; 1 hours; a second; an hour; 2.3333 years; 0.3 seconds; 0 months; 0.000001 minutes; "
    "the second day; a second try; the 120 second days; twenty-second days; twenty-second; the thirtieth month; "
    "days; 90; ninety of them stayed for days; 90 to 120 minutes; ninety to a hundred and twenty minutes; "
    "90-120 minutes; 90\u2013120 minutes; 90 - 120 minutes; one or two hundred years; between 60 and 90 minutes; "
    "5, 10 or 90 minutes; nineteen eighty four months; several thousands of years; -30 months; 1e400 years; "
    "\u0663\u0660 months; \uff13\uff10 months; 30\xb2 months; 1,00 minutes; v90 minutes; $90 minutes; "
    "1/90 minutes; 2\xbd days; 12:90 minutes; a 30-month stay; 60 minutes' walk; 60 minutes\u2019 walk; "
    "90 minutes-long; 60 minutes and a half; 90 minuteman; how many years; too many days; 90 \u017feconds; "
    "millions of years"
)


@pytest.mark.parametrize(("texts", "rule"), [(PROPER, "proper"), (OFFICIAL, "official")])
def test_normalization(texts, rule):
    for one in texts.split("; "):
        text, expected = one.split(" > ")
        assert normalize_units(text, rule=rule) == expected, text


@pytest.mark.parametrize("text", ["", "9" * 5000 + " months", *UNCHANGED.split("; ")])
def test_left_unchanged(text):
    for sentence in (text, f"It was said that {text}, as you know."):
        assert normalize_units(sentence) == sentence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((word, 1) for word in ("a", "an")),
        *((word, 2) for word in ("couple", "a couple", "couple of", "a couple of")),
        *((word, 3) for word in ("some", "few", "a few")),
        *zip(
            ("several", "many", "tens of", "hundreds of", "thousands of"),
            (4, 10, 10, 100, 1000),
            strict=True,
        ),
        ("1,234.5", Fraction("1234.5")),
        ("one and a half", Fraction(3, 2)),
        ("half a million", 500_000),
        ("zero", 0),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, None),
        *(
            (text, None)
            for text in (
                "o",
                "second",
                "first",
                "hundreds",
                "five two",
                "and",
                "",
                "1.",
                "1.2.3",
                "a an",
            )
        ),
    ],
)
def test_quantities(text, expected):
    assert parse_quantity(text) == expected
    assert parse_quantity(text, rule="official") == (
        3 if text in ("couple", "a couple") else expected
    )


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
    return draw(
        st.sampled_from(
            ["a few", "many", "hundreds of", "half an", "two and a half", "a couple of"]
        )
    )


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
        st.sampled_from(
            [
                *UNITS,
                "days",
                "months",
                "centuries",
                "to",
                "or",
                "and",
                "a half",
                "-",
                "(",
                "second",
                "of",
            ]
        ),
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


@given(
    st.text(alphabet="abcdefg ,.;:"),
    numbers(),
    st.sampled_from(UNITS),
    st.text(alphabet="bcefg ,.;:"),
)
def test_the_surrounding_text_is_unchanged(before, number, unit, after):
    alone = normalize_units(f"{number} {unit}")
    assert normalize_units(f"{before}# {number} {unit}; {after}") == f"{before}# {alone}; {after}"


@given(st.integers(0, 10**12 - 1))
def test_number_words_round_trip(number):
    assert cardinal(in_words(number)) == number


@pytest.mark.parametrize(
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
