"""Candidate expansion: which answers are kept and added, and that questions are independent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each

from closeread.tasks.mctaco.perturbation.candidates import (
    Technique,
    by_masking,
    by_retrieval,
    by_rules,
    expand,
    masked_variants,
)

MASK = "[MASK]"


def row(number, answer, question="q0"):
    return {
        "id": f"r{number}",
        "question_id": question,
        "sentence_id": f"s-{question}",
        "sentence": "The band rehearsed.",
        "question": "When?",
        "answer": answer,
        "label": "yes",
        "category": "Typical Time",
    }


def make_technique(name, many):
    return Technique(name, lambda rows: [[f"{row['answer']} {name}{i}" for i in range(many)] for row in rows])


def answers(rows):
    return [row["answer"] for row in rows]


def test_output_row():
    assert expand([row(7, "at dawn")], [make_technique("t", 1)]) == [
        {
            "id": "q0-c00",
            "question_id": "q0",
            "sentence_id": "s-q0",
            "sentence": "The band rehearsed.",
            "question": "When?",
            "answer": "at dawn",
            "category": "Typical Time",
            "technique": "original",
            "source": "r7",
        },
        {
            "id": "q0-c01",
            "question_id": "q0",
            "sentence_id": "s-q0",
            "sentence": "The band rehearsed.",
            "question": "When?",
            "answer": "at dawn t0",
            "category": "Typical Time",
            "technique": "t",
            "source": "r7",
        },
    ]


def test_a_full_question_gets_no_more_candidates():
    received = []

    def variants(rows):
        received.extend(row["question_id"] for row in rows)
        return [["new"] for _ in rows]

    expand([row(0, "x"), row(1, "y"), row(2, "z", "q1")], [Technique("t", variants)], limit=2)
    assert received == ["q1"]


def test_answers_that_differ_in_case_and_whitespace_are_the_same():
    variants = Technique("t", lambda rows: [["AT  dawn", "at dusk", " at Dusk", "", " "] for _ in rows])
    found = expand([row(0, "at dawn"), row(1, "At dawn "), row(2, "noon")], [variants])
    assert [(new["answer"], new["source"]) for new in found[:2]] == [("at dawn", "r0"), ("noon", "r2")]
    assert len(found) == 3
    assert found[2]["answer"] in ("at dusk", " at Dusk")


def test_rows_of_a_question_need_not_be_adjacent():
    found = expand([row(0, "x"), row(1, "y", "q1"), row(2, "z")], [])
    assert [(new["id"], new["answer"]) for new in found] == [
        ("q0-c00", "x"),
        ("q0-c01", "z"),
        ("q1-c00", "y"),
    ]


def test_the_three_techniques():
    pytest.importorskip("sklearn")
    from closeread.tasks.mctaco.perturbation.candidates import PhraseIndex

    techniques = [
        by_rules(),
        by_masking(lambda texts: [["perhaps"] for _ in texts], mask_token=MASK),
        by_retrieval(PhraseIndex(["before the evening concert"])),
    ]
    found = expand([row(0, "in the evening")], techniques, events=())
    assert answers(found)[:2] == ["in the evening", "in the morning"]
    assert {(new["answer"], new["technique"]) for new in found[2:5]} == {
        ("perhaps the evening", "masked"),
        ("in perhaps evening", "masked"),
        ("in the perhaps", "masked"),
    }
    assert (found[5]["answer"], found[5]["technique"]) == ("before the evening concert", "retrieval")


def test_options_of_the_rules():
    pytest.importorskip("text_to_num")
    few = {"number_rule": "plus_one", "units": "any", "changes": 2}
    assert "twice a month" in answers(expand([row(0, "once a week")], [by_rules(**few)], limit=99))
    assert "1 century ago" in answers(expand([row(0, "1 week ago")], [by_rules(**few)], limit=99))
    assert "an week" in answers(expand([row(0, "an hour")], [by_rules(agreement="keep")]))


def event(number, answer, question):
    return row(number, answer, question) | {"category": "Event Ordering"}


PHRASES = Technique("phrases", lambda rows: [["went home"] for _ in rows], replaces_phrases=True)
WORDS = Technique("words", lambda rows: [[f"{row['answer']} later"] for row in rows])


def test_phrases_replace_events_and_words_are_replaced_elsewhere():
    rows = [row(0, "at dawn"), event(1, "she sang", "q1")]
    found = expand(rows, [WORDS, PHRASES])
    assert [(new["source"], new["answer"]) for new in found] == [
        ("r0", "at dawn"),
        ("r0", "at dawn later"),
        ("r1", "she sang"),
        ("r1", "went home"),
    ]


def test_without_events_every_technique_is_applied_to_every_answer():
    found = expand([row(0, "at dawn"), event(1, "she sang", "q1")], [WORDS, PHRASES], events=())
    assert answers(found) == ["at dawn", "at dawn later", "went home", "she sang", "she sang later", "went home"]


def test_other_categories_can_be_events():
    found = expand([row(0, "at dawn"), event(1, "she sang", "q1")], [WORDS, PHRASES], events=["Typical Time"])
    assert answers(found) == ["at dawn", "went home", "she sang", "she sang later"]


@for_each(
    ("options", "message"),
    [
        ({"limit": 0}, r"limit is 0 \(expected at least 1\)"),
        ({"seed": -1}, r"seed is -1 \(expected 0 or more\)"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        expand([], [], **options)


def test_a_technique_that_skips_rows_is_an_error():
    with pytest.raises(ValueError, match=r"technique t returned 0 lists of variants \(expected 1, one per row\)"):
        expand([row(0, "x")], [Technique("t", lambda rows: [])])


def test_the_order_is_the_same_in_every_process():
    found = expand([row(0, "x")], [make_technique("a", 6)], limit=4, seed=3)
    assert answers(found) == ["x", "x a2", "x a4", "x a1"]


ROWS = st.lists(
    st.tuples(st.sampled_from(["x", "X", "y", "z z", "now"]), st.sampled_from(["q0", "q1", "q2"])),
    max_size=12,
).map(lambda pairs: [row(i, answer, question) for i, (answer, question) in enumerate(pairs)])
LIMITS = st.integers(1, 9)
TECHNIQUES = [
    make_technique("a", 3),
    Technique("same", lambda rows: [["One", "one"] for _ in rows]),
    make_technique("b", 2),
]


@given(ROWS, LIMITS, st.integers(0, 5))
def test_limits_and_originals(rows, limit, seed):
    found = expand(rows, TECHNIQUES, limit=limit, seed=seed)
    for question in {row["question_id"] for row in rows}:
        mine = [new for new in found if new["question_id"] == question]
        originals = [new for new in mine if new["technique"] == "original"]
        assert len(mine) <= max(limit, len(originals))
        assert {new["answer"].casefold() for new in originals} == {
            row["answer"].casefold() for row in rows if row["question_id"] == question
        }
        assert mine[: len(originals)] == originals
        assert len({new["answer"].casefold() for new in mine}) == len(mine)
    assert len({new["id"] for new in found}) == len(found)
    by_id = {row["id"]: row for row in rows}
    assert all(by_id[new["source"]]["question_id"] == new["question_id"] for new in found)


@given(ROWS, LIMITS)
def test_questions_are_independent(rows, limit):
    together = expand(rows, TECHNIQUES, limit=limit)
    for question in {row["question_id"] for row in rows}:
        alone = expand([row for row in rows if row["question_id"] == question], TECHNIQUES, limit=limit)
        assert alone == [new for new in together if new["question_id"] == question]


def masked_row(answer):
    return {"sentence": "The bridge was painted.", "question": "How long did it take?", "answer": answer}


def always(*fillings):
    return lambda texts: [fillings for _ in texts]


def test_every_word_is_masked_once_in_its_context():
    received = []

    def fill(texts):
        received.extend(texts)
        return always("x")(texts)

    assert masked_variants([masked_row("two days."), masked_row("a week")], fill=fill, mask_token=MASK) == [
        ["x days.", "two x."],
        ["x week", "a x"],
    ]
    context = "The bridge was painted. How long did it take? "
    assert received == [context + answer for answer in (f"{MASK} days.", f"two {MASK}.", f"{MASK} week", f"a {MASK}")]


@for_each(
    ("answer", "fillings", "expected", "why"),
    [
        ("days", ["weeks", "months", "years", "hours"], ["weeks", "months", "years"], "the top three"),
        ("days", ["days", "weeks", "Days", "hours"], ["weeks", "hours"], "the word itself is skipped"),
        ("days", [".", "-", "", " ", "weeks"], ["weeks"], "punctuation is skipped"),
        ("days", [" weeks", "weeks "], ["weeks"], "whitespace around a filling is ignored"),
        ("days", ["weeks", "weeks", "hours"], ["weeks", "hours"], "no duplicates"),
        ("days", [], [], "no filling"),
        ("it's 9:30", ["x"], ["x 9:30", "it's x"], "apostrophe and colon are inside a word"),
        ("no no", ["no", "yes"], ["yes no", "no yes"], "each place separately"),
        ("a b", ["b", "a"], ["b b", "a a"], "only the masked word is compared"),
        ("?!", ["x"], [], "no word"),
        ("", ["x"], [], "nothing"),
    ],
)
def test_fillings(answer, fillings, expected, why):
    assert masked_variants([masked_row(answer)], fill=always(*fillings), mask_token=MASK) == [expected], why


def test_top():
    assert masked_variants([masked_row("a")], fill=always("x", "y"), mask_token=MASK, top=1) == [["x"]]


def test_a_model_that_skips_texts_is_an_error():
    with pytest.raises(ValueError, match=r"returned fillings for 1 texts \(expected 2, one per masked word\)"):
        masked_variants([masked_row("two days")], fill=lambda texts: [["x"]], mask_token=MASK)


@given(st.lists(st.text(), max_size=4), st.lists(st.text(max_size=4), max_size=6))
def test_no_duplicates_and_never_the_answer_itself(answers, fillings):
    results = masked_variants([masked_row(answer) for answer in answers], fill=always(*fillings), mask_token=MASK)
    assert len(results) == len(answers)
    for answer, variants in zip(answers, results, strict=True):
        assert answer not in variants
        assert len(set(variants)) == len(variants)
