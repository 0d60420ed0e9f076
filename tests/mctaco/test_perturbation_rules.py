"""The replacement rules: hand cases with their reasons, and properties of all results."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shared.for_each import for_each

pytest.importorskip("text_to_num")

from closeread.tasks.mctaco.perturbation.rules import MOST_CHARACTERS, MOST_RESULTS, UNIT_SETS, WORD_RULES, perturb

# answer, all results in order, reason
WORDS = [
    ("always", ["sometimes", "never"], "two replacements, in the order of the table"),
    ("at night", ["at early morning", "at day", "at morning"], "one key in three groups"),
    ("by day", ["by night", "by minute", "by month", "by century"], "the period first, then the units"),
    ("last night", ["first night", "last early morning", "last day", "last morning"], "left to right"),
    ("now or now", ["later or now", "now or later"], "each place separately"),
    ("Usually", ["Rarely"], "a capital stays"),
    ("USUALLY", ["RARELY"], "all capitals stay"),
    ("long-term plans", ["short-term plans"], "a key with a hyphen"),
    ("overdue", ["on time"], "two words for one"),
    ("today's news", ["yesterday's news"], "an apostrophe ends a word"),
    ("after the rain", ["before the rain"], "both directions"),
    ("7 am", ["7 pm"], "a time of day"),
    ("7 PM", ["7 AM"], "capitals stay"),
    ("7am", ["7pm"], "directly after a digit"),
    ("7:30 am", ["7:30 pm"], "a clock time"),
    ("9 : am", ["9 : pm"], "a clock time as tokenizers leave it"),
    ("seven am", ["seven pm"], "an hour in words"),
    ("I am late", ["I am early"], "am is the verb here"),
    ("7 a.m.", ["7 p.m."], "with dots"),
    ("7 a.m., or so", ["7 p.m., or so"], "with dots, before a comma"),
    ("7p.m.", ["7a.m."], "with dots, directly after a digit"),
    ("spam", [], "inside a word"),
    ("a lately built barn", [], "inside a word"),
    ("mid-morning", [], "a hyphen makes one word"),
    ("two-day", [], "a hyphen makes one word"),
    ("the first one", ["the last one"], "an ordinal of the table"),
    ("an hour", ["a second", "a week", "a year"], "the article fits the new word"),
    ("2 hours", ["2 seconds", "2 weeks", "2 years"], "plural by plural"),
    ("2 centuries", ["2 minutes", "2 days", "2 months"], "an uncommon plural"),
    ("one century", ["one minute", "one day", "one month"], "and its singular"),
    ("a decade", [], "in neither set"),
    ("every second", ["every hour", "every week", "every year"], "the unit"),
    ("5 second", ["5 hour", "5 week", "5 year"], "the unit after a number"),
    ("two second", ["two hour", "two week", "two year"], "the unit after a number in words"),
    ("100 per second each", ["100 per hour each", "100 per week each", "100 per year each"], "after per"),
    ("a second later", ["an hour later", "a week later", "a year later"], "the unit"),
    ("a second child", [], "the ordinal"),
    ("the second", [], "the ordinal"),
    ("Second", [], "the ordinal"),
    ("every second house", [], "the ordinal"),
    ("se\u017feconds", [], "a long s makes another word"),
    ("", [], "nothing"),
    ("blue", [], "no key"),
]


@for_each(("answer", "expected", "why"), WORDS)
def test_words_and_units(answer, expected, why):
    assert perturb(answer, number_rule="off") == expected, why


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
            reached = {result.removeprefix("one ") for result in perturb(f"one {unit}", number_rule="off")}
            assert set(units) - {unit} <= reached


def test_every_key_of_the_table_is_replaced():
    for group in WORD_RULES.values():
        for key, replacements in group.items():
            assert {f"7 {new}" for new in replacements} <= set(perturb(f"7 {key}"))


ANSWERS = st.lists(
    st.one_of(
        st.sampled_from([key for group in WORD_RULES.values() for key in group]),
        st.sampled_from(["second", "days", "Years", "3", "1,000", "twenty", "five", "hundred", "a", "7am", "-"]),
        st.text(max_size=5),
    ),
    max_size=7,
).flatmap(lambda words: st.sampled_from([" ".join(words), "".join(words), "-".join(words)]))


def known_replacements():
    words = {new for group in WORD_RULES.values() for many in group.values() for new in many}
    units = {unit for units in UNIT_SETS for unit in units}
    return words | units | {f"{unit}s" for unit in units} | {"centuries"}


@given(ANSWERS)
@example("first last")
@example("early early")
def test_exactly_one_span_is_replaced_by_an_entry_of_the_table(answer):
    known = known_replacements()
    for result in perturb(answer, number_rule="off", agreement="keep"):
        assert any(
            answer.startswith(result[:start]) and answer[start:].endswith(result[start + len(new) :])
            for new in known
            for start in range(len(result))
            if result[start : start + len(new)].lower() == new
        ), result


# answer, number_rule, results that change a number, reason
NUMBERS = [
    ("3", "plus_one", ["4"], "digits"),
    ("3", "times_ten", ["30"], "digits"),
    ("three", "plus_one", ["four"], "words"),
    ("three", "times_ten", ["thirty"], "words"),
    ("Three", "plus_one", ["Four"], "a capital stays"),
    ("twenty-five", "plus_one", ["twenty-six"], "two words are one number"),
    ("twenty five", "plus_one", ["twenty-six"], "also with a space"),
    ("one hundred and one", "times_ten", ["one thousand and ten"], "and is part of it"),
    ("a hundred", "plus_one", ["one hundred and one"], "so is a before a scale"),
    ("several hundred", "plus_one", [], "several is not an exact number"),
    ("2.5", "plus_one", ["3.5"], "decimals stay"),
    ("2.5", "times_ten", ["25"], "no zeros at the end"),
    ("0.05", "times_ten", ["0.5"], "no float noise"),
    ("1,000", "plus_one", ["1,001"], "separators stay"),
    ("999", "plus_one", ["1000"], "no separator where there was none"),
    ("1,000.5", "times_ten", ["10,005"], "separators with decimals"),
    ("3 or four", "plus_one", ["4 or four", "3 or five"], "one at a time, left to right"),
    ("9:30", "plus_one", [], "a clock time"),
    ("10-15", "plus_one", [], "a range"),
    ("3rd", "plus_one", [], "an ordinal"),
    ("v3", "plus_one", [], "part of a name"),
    ("1.2.3", "plus_one", [], "no number"),
    ("3.", "plus_one", ["4."], "the end of a sentence"),
    ("0", "times_ten", [], "the same again"),
    ("four\nthree", "times_ten", ["forty\nthree", "four\nthirty"], "a line break is whitespace"),
    ("one-way", "plus_one", [], "a hyphen makes one word"),
    ("nine hundred ninety nine billion", "times_ten", [], "too large to write in words"),
    ("9" * 400, "plus_one", [], "absurdly long"),
    ("\u0663", "plus_one", [], "Arabic-Indic digits"),
    ("a few", "plus_one", [], "not exact"),
    ("three", "off", [], "off"),
    ("3", "both", ["4", "30"], "the next, then ten times as many"),
    ("once", "both", ["twice", "ten times"], "a number of times"),
    ("Twice", "both", ["Three times", "Twenty times"], "a capital stays"),
    ("thrice", "plus_one", ["four times"], "an uncommon word"),
    ("three times", "plus_one", ["four times"], "the same in two words"),
    ("once every 3 weeks", "plus_one", ["twice every 3 weeks", "once every 4 weeks"], "two numbers"),
    ("only once", "plus_one", ["only twice"], "at the end"),
    ("once, maybe twice", "plus_one", ["twice, maybe twice", "once, maybe three times"], "before punctuation"),
    ("at once", "both", [], "immediately"),
    ("once he had left", "both", [], "as soon as"),
    ("once the rain stopped", "both", [], "as soon as"),
    ("once in a while", "both", [], "an idiom"),
    ("once and for all", "both", [], "an idiom"),
    ("once in a lifetime", "plus_one", ["twice in a lifetime"], "a number of times"),
    ("once this year", "plus_one", ["twice this year"], "a number of times"),
    ("once this had ended", "both", [], "as soon as"),
    ("two-once", "plus_one", [], "a hyphen makes one word"),
    ("the last one", "plus_one", [], "a thing"),
    ("no one", "both", [], "nobody"),
    ("one can wait", "both", [], "people"),
    ("one of the cans", "plus_one", ["two of the cans"], "a number"),
    ("the last one hour", "plus_one", ["the last two hours"], "a number before a unit"),
    ("2 a.m.", "both", ["3 a.m."], "an hour of the day; there is no hour 20"),
    ("1 a.m.", "both", ["2 a.m.", "10 a.m."], "there is an hour 10"),
    ("2am", "plus_one", ["3am"], "directly before the half of the day"),
    ("12 pm", "both", ["1 pm"], "the hour after 12"),
    ("twelve o'clock", "both", ["one o'clock"], "an hour in words"),
    ("7.30 pm", "both", [], "a clock time"),
    ("9 : am", "both", ["10 : am"], "an hour as tokenizers leave it"),
    ("20 pm", "plus_one", ["21 pm"], "no hour of the twelve"),
    ("in 1990", "both", ["in 1991"], "a year"),
    ("1990 years", "both", ["1991 years", "19900 years"], "a number of years"),
    ("1,990", "times_ten", ["19,900"], "years have no separator"),
    ("in 1995 during a trip", "both", ["in 1996 during a trip"], "a year before a preposition"),
    ("1600 BC", "both", ["1601 BC"], "a year"),
    ("1910 a.d", "both", ["1911 a.d"], "a year"),
    ("1600 beads", "times_ten", ["16000 beads"], "a number of beads"),
    ("3 or " + "x" * 80 + " 12 pm", "plus_one", ["4 or " + "x" * 80 + " 12 pm", "3 or " + "x" * 80 + " 1 pm"], "long"),
]


@for_each(("answer", "rule", "expected", "why"), NUMBERS)
def test_numbers(answer, rule, expected, why):
    found = perturb(answer, number_rule=rule)
    words = perturb(answer, number_rule="off")
    assert [result for result in found if result not in words] == expected, why


# answer, number_rule, results that change a number, reason
AGREEMENT = [
    ("1 day", "both", ["2 days", "10 days"], "the paper's example"),
    ("one century", "times_ten", ["ten centuries"], "an uncommon plural"),
    ("1 DAY", "times_ten", ["10 DAYS"], "all capitals stay"),
    ("0 days", "plus_one", ["1 day"], "singular after 1"),
    ("0.1 days", "times_ten", ["1 day"], "singular after what becomes 1"),
    ("1 full week", "plus_one", ["2 full weeks"], "a word between number and unit"),
    ("one more night", "plus_one", ["two more nights"], "a part of the day"),
    ("1 time", "plus_one", ["2 times"], "times"),
    ("2 hours", "plus_one", ["3 hours"], "it was plural"),
    ("5 second", "plus_one", ["6 second"], "it did not agree before"),
    ("a 1 day trip", "plus_one", ["a 2 day trip"], "describes the trip"),
    ("1 day's walk", "plus_one", ["2 day's walk"], "a possessive"),
    ("1 dayroom", "plus_one", ["2 dayroom"], "a longer word"),
    ("1 long day", "plus_one", ["2 long day"], "a word that may belong to something else"),
    ("a 7 hour show", "plus_one", ["an 8 hour show"], "eight"),
    ("an 8 hour show", "plus_one", ["a 9 hour show"], "nine"),
    ("a 10 hour show", "plus_one", ["an 11 hour show"], "eleven"),
    ("an 11 hour show", "times_ten", ["a 110 hour show"], "one hundred and ten"),
    ("a 1,799 step walk", "plus_one", ["a 1,800 step walk"], "one thousand eight hundred"),
    ("a 17 hour show", "plus_one", ["an 18 hour show"], "eighteen"),
    ("a 1,800 hour show", "times_ten", ["an 18,000 hour show"], "eighteen thousand"),
]


@for_each(("answer", "rule", "expected", "why"), AGREEMENT)
def test_numbers_agree_with_the_words_beside_them(answer, rule, expected, why):
    words = perturb(answer, number_rule="off")
    assert [result for result in perturb(answer, number_rule=rule) if result not in words] == expected, why


ARTICLES = [
    ("an hour", ["a second", "a week", "a year"], "a before consonants"),
    ("a week", ["a second", "an hour", "a year"], "an before a silent letter"),
    ("A week", ["A second", "An hour", "A year"], "a capital stays"),
    ("half a week", ["half a second", "half an hour", "half a year"], "after half"),
    ("a late train", ["an early train"], "an before a vowel"),
    ("an early train", ["a late train"], "and back"),
    ("a belated gift", ["a punctual gift"], "it still fits"),
    ("an overdue train", ["an on time train"], "two words for one"),
    ("7 a now", ["7 a later"], "any a"),
    ("vitamin-a week", ["vitamin-a second", "vitamin-a hour", "vitamin-a year"], "part of a word"),
]


@for_each(("answer", "expected", "why"), ARTICLES)
def test_articles_fit_the_replacement(answer, expected, why):
    assert perturb(answer, number_rule="off") == expected, why


def test_words_beside_a_replacement_can_be_kept():
    assert perturb("1 day", number_rule="times_ten", agreement="keep")[0] == "10 day"
    assert perturb("an hour", agreement="keep") == ["an second", "an week", "an year"]


@for_each(("old", "new"), [("2 a.m.", "3 p.m."), ("1 day", "10 days"), ("once a week", "twice a month")])
def test_the_examples_of_the_paper(old, new):
    assert new in perturb(old, changes=2, units="any")


def test_two_changes_come_after_one():
    assert perturb("2 a.m.", changes=2) == ["3 a.m.", "2 p.m.", "3 p.m."]
    assert perturb("now or today", changes=2) == ["later or today", "now or yesterday", "later or yesterday"]


def test_changes_are_of_different_places():
    # Three words for night, at one place; more changes than places are no more answers.
    assert perturb("at night", changes=2) == perturb("at night") == ["at early morning", "at day", "at morning"]
    assert len(perturb("now now now", changes=3)) == len(perturb("now now now", changes=9)) == 7


def test_number_and_unit_change_together():
    assert "10 centuries" in perturb("1 day", changes=2)
    assert "10 century" in perturb("1 day", changes=2, agreement="keep")
    assert "an early morning or a later" not in perturb("a night or a now", changes=1)
    assert "an early morning or a later" in perturb("a night or a now", changes=2)


def test_any_unit():
    units = ["second", "minute", "hour", "day", "week", "month", "year", "decade", "century"]
    found = perturb("one week", number_rule="off", units="any")
    assert found == [f"one {unit}" for unit in units if unit != "week"]
    assert perturb("ten decades", number_rule="off", units="any")[-1] == "ten centuries"


def test_at_least_one_change():
    with pytest.raises(ValueError, match=r"changes is 0 \(expected at least 1\)"):
        perturb("now", changes=0)


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
