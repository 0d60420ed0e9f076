"""The replacement rules: hand cases with their reasons, and properties of all results."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shared.for_each import for_each

pytest.importorskip("text_to_num")

from closeread.tasks.mctaco.perturbation.rules import UNIT_SETS, WORD_RULES, perturb

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
NUMBER_RULES = st.sampled_from(["both", "plus_one", "times_ten", "off"])


@given(ANSWERS, NUMBER_RULES)
def test_no_duplicates_and_never_the_answer_itself(answer, rule):
    results = perturb(answer, number_rule=rule)
    assert answer not in results
    assert len(set(results)) == len(results)


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


@given(ANSWERS, NUMBER_RULES)
def test_the_number_rule_only_adds(answer, rule):
    plain = perturb(answer, number_rule="off")
    assert [result for result in perturb(answer, number_rule=rule) if result in set(plain)] == plain
