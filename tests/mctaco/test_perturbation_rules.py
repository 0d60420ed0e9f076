"""The replacement rules: hand cases with their reasons, and properties of all results."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

pytest.importorskip("text_to_num")

from closeread.tasks.mctaco.perturbation.rules import (
    MOST_CHARACTERS,
    MOST_RESULTS,
    UNIT_SETS,
    WORD_RULES,
    perturb,
)

# Answers and all results in order, "-" for none: words and units of the table; articles fit what follows.
WORDS = (
    "always > sometimes | never; at night > at early morning | at day | at morning; "
    "by day > by night | by minute | by month | by century; "
    "last night > first night | last early morning | last day | last morning; "
    "now or now > later or now | now or later; Usually > Rarely; USUALLY > RARELY; "
    "long-term plans > short-term plans; overdue > on time; today's news > yesterday's news; "
    "after the rain > before the rain; 7 am > 7 pm; 7 PM > 7 AM; 7am > 7pm; 7:30 am > 7:30 pm; 9 : am > 9 : pm; "
    "seven am > seven pm; I am late > I am early; 7 a.m. > 7 p.m.; 7 a.m., or so > 7 p.m., or so; 7p.m. > 7a.m.; "
    "spam > -; a lately built barn > -; mid-morning > -; two-day > -; the first one > the last one; "
    "an hour > a second | a week | a year; 2 hours > 2 seconds | 2 weeks | 2 years; "
    "2 centuries > 2 minutes | 2 days | 2 months; one century > one minute | one day | one month; a decade > -; "
    "every second > every hour | every week | every year; 5 second > 5 hour | 5 week | 5 year; "
    "two second > two hour | two week | two year; "
    "100 per second each > 100 per hour each | 100 per week each | 100 per year each; "
    "a second later > an hour later | a week later | a year later; a second child > -; the second > -; Second > -; "
    "every second house > -; se\u017feconds > -; blue > -; an hour > a second | a week | a year; "
    "a week > a second | an hour | a year; A week > A second | An hour | A year; "
    "half a week > half a second | half an hour | half a year; a late train > an early train; "
    "an early train > a late train; a belated gift > a punctual gift; an overdue train > an on time train; "
    "7 a now > 7 a later; vitamin-a week > vitamin-a second | vitamin-a hour | vitamin-a year"
)

# By the rule for numbers, answers and the results that change one: digits, words, numbers of times, hours of the
# day and years; units and articles agree with them.
NUMBERS = {
    "plus_one": (
        "3 > 4; three > four; Three > Four; twenty-five > twenty-six; twenty five > twenty-six; "
        "a hundred > one hundred and one; several hundred > -; 2.5 > 3.5; 1,000 > 1,001; 999 > 1000; "
        "3 or four > 4 or four | 3 or five; 9:30 > -; 10-15 > -; 3rd > -; v3 > -; 1.2.3 > -; 3. > 4.; one-way > -; "
        "\u0663 > -; a few > -; thrice > four times; three times > four times; "
        "once every 3 weeks > twice every 3 weeks | once every 4 weeks; only once > only twice; "
        "once, maybe twice > twice, maybe twice | once, maybe three times; "
        "once in a lifetime > twice in a lifetime; once this year > twice this year; two-once > -; "
        "the last one > -; one of the cans > two of the cans; the last one hour > the last two hours; 2am > 3am; "
        "20 pm > 21 pm; 0 days > 1 day; 1 full week > 2 full weeks; one more night > two more nights; "
        "1 time > 2 times; 2 hours > 3 hours; 5 second > 6 second; a 1 day trip > a 2 day trip; "
        "1 day's walk > 2 day's walk; 1 dayroom > 2 dayroom; 1 long day > 2 long day; "
        "a 7 hour show > an 8 hour show; an 8 hour show > a 9 hour show; a 10 hour show > an 11 hour show; "
        "a 1,799 step walk > a 1,800 step walk; a 17 hour show > an 18 hour show"
    ),
    "times_ten": (
        "3 > 30; three > thirty; one hundred and one > one thousand and ten; 2.5 > 25; 0.05 > 0.5; "
        "1,000.5 > 10,005; four\nthree > forty\nthree | four\nthirty; nine hundred ninety nine billion > -; "
        "1,990 > 19,900; 1600 beads > 16000 beads; one century > ten centuries; 1 DAY > 10 DAYS; 0.1 days > 1 day; "
        "an 11 hour show > a 110 hour show; a 1,800 hour show > an 18,000 hour show"
    ),
    "both": (
        "3 > 4 | 30; once > twice | ten times; Twice > Three times | Twenty times; at once > -; "
        "once he had left > -; once the rain stopped > -; once in a while > -; once and for all > -; "
        "once this had ended > -; no one > -; one can wait > -; 2 a.m. > 3 a.m.; 1 a.m. > 2 a.m. | 10 a.m.; "
        "12 pm > 1 pm; twelve o'clock > one o'clock; 12 PM > 1 PM; "
        "Twelve O'Clock > One O'Clock; 7.30 pm > -; 9 : am > 10 : am; in 1990 > in 1991; "
        "1990 years > 1991 years | 19900 years; in 1995 during a trip > in 1996 during a trip; 1600 BC > 1601 BC; "
        "1910 a.d > 1911 a.d; 1 day > 2 days | 10 days"
    ),
}


def list_cases(text):
    cases = [one.split(" > ") for one in text.split("; ")]
    return [
        (answer, [] if expected == "-" else expected.split(" | ")) for answer, expected in cases
    ]


@pytest.mark.parametrize(("answer", "expected"), [("", []), *list_cases(WORDS)])
def test_words_and_units(answer, expected):
    assert perturb(answer, number_rule="off") == expected


LONG = "x" * 80


@pytest.mark.parametrize(
    ("answer", "rule", "expected"),
    [
        *(
            (answer, rule, expected)
            for rule, text in NUMBERS.items()
            for answer, expected in list_cases(text)
        ),
        ("9" * 400, "plus_one", []),
        ("0", "times_ten", []),
        (f"3 or {LONG} 12 pm", "plus_one", [f"4 or {LONG} 12 pm", f"3 or {LONG} 1 pm"]),
    ],
)
def test_numbers(answer, rule, expected):
    words = perturb(answer, number_rule="off")
    assert [
        result for result in perturb(answer, number_rule=rule) if result not in words
    ] == expected


def test_numbers_and_words_are_replaced_from_left_to_right():
    assert perturb("3 hours now", number_rule="plus_one") == [
        "4 hours now",
        "3 seconds now",
        "3 weeks now",
        "3 years now",
        "3 hours later",
    ]


def test_the_unit_sets_are_closed():
    for units in UNIT_SETS:
        for unit in units:
            reached = {
                result.removeprefix("one ") for result in perturb(f"one {unit}", number_rule="off")
            }
            assert set(units) - {unit} <= reached


def test_every_key_of_the_table_is_replaced():
    for group in WORD_RULES.values():
        for key, replacements in group.items():
            assert {f"7 {new}" for new in replacements} <= set(perturb(f"7 {key}"))


ANSWERS = st.lists(
    st.one_of(
        st.sampled_from([key for group in WORD_RULES.values() for key in group]),
        st.sampled_from(
            ["second", "days", "Years", "3", "1,000", "twenty", "five", "hundred", "a", "7am", "-"]
        ),
        st.text(max_size=5),
    ),
    max_size=7,
).flatmap(lambda words: st.sampled_from([" ".join(words), "".join(words), "-".join(words)]))


def known_replacements():
    words = {new for group in WORD_RULES.values() for many in group.values() for new in many}
    units = {unit for units in UNIT_SETS for unit in units}
    return words | units | {f"{unit}s" for unit in units} | {"centuries"}


ARTICLE = re.compile(r"\b(a)n\b", re.IGNORECASE)


@given(ANSWERS)
@example("first last")
@example("an hour")
@example("early early")
def test_exactly_one_span_is_replaced_by_an_entry_of_the_table(answer):
    known = known_replacements()
    results = perturb(answer, number_rule="off")
    # The article before a replacement follows its first sound.
    answer, *results = (ARTICLE.sub(r"\1", text) for text in (answer, *results))
    for result in results:
        assert any(
            answer.startswith(result[:start])
            and answer[start:].endswith(result[start + len(new) :])
            for new in known
            for start in range(len(result))
            if result[start : start + len(new)].lower() == new
        ), result


def test_words_beside_a_replacement_agree_with_it():
    assert perturb("1 day", number_rule="times_ten")[0] == "10 days"
    assert perturb("an hour") == ["a second", "a week", "a year"]


@pytest.mark.parametrize(
    ("old", "new"), [("2 a.m.", "3 p.m."), ("1 day", "10 days"), ("once a week", "twice a month")]
)
def test_the_examples_of_the_paper(old, new):
    assert new in perturb(old, changes=2, units="any")


def test_two_changes_come_after_one():
    assert perturb("2 a.m.", changes=2) == ["3 a.m.", "2 p.m.", "3 p.m."]
    assert perturb("now or today", changes=2) == [
        "later or today",
        "now or yesterday",
        "later or yesterday",
    ]


def test_changes_are_of_different_places():
    # Three words for night, at one place; more changes than places are no more answers.
    assert (
        perturb("at night", changes=2)
        == perturb("at night")
        == ["at early morning", "at day", "at morning"]
    )
    assert len(perturb("now now now", changes=3)) == len(perturb("now now now", changes=9)) == 7


def test_number_and_unit_change_together():
    assert "10 centuries" in perturb("1 day", changes=2)
    assert "an early morning or a later" not in perturb("a night or a now", changes=1)
    assert "an early morning or a later" in perturb("a night or a now", changes=2)


def test_any_unit():
    units = ["second", "minute", "hour", "day", "week", "month", "year", "decade", "century"]
    found = perturb("one week", number_rule="off", units="any")
    assert found == [f"one {unit}" for unit in units if unit != "week"]
    assert perturb("ten decades", number_rule="off", units="any")[-1] == "ten centuries"


def test_a_text_of_many_words_has_a_limited_number_of_results():
    assert len(perturb("now " * 200, changes=2)) == MOST_RESULTS
    long = "now " * 20_000
    assert len(perturb(long, changes=2)) == MOST_CHARACTERS // len(long)


def test_long_answers_are_as_their_parts():
    # What is far away changes nothing: all contexts are read anew at the end of a long answer.
    before = "blue " * 20
    for answer in (
        "7 am",
        "a second ago",
        "every 1 day",
        "the last one",
        "at once",
        "once in a while",
        "a 7 hour show",
    ):
        assert perturb(before + answer) == [before + new for new in perturb(answer)]
