"""Masked-word replacement with invented models."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each

from closeread.tasks.mctaco.perturbation.candidates import masked_variants

MASK = "[MASK]"


def row(answer):
    return {"sentence": "The bridge was painted.", "question": "How long did it take?", "answer": answer}


def always(*fillings):
    return lambda texts: [fillings for _ in texts]


def test_every_word_is_masked_once_in_its_context():
    received = []

    def fill(texts):
        received.extend(texts)
        return always("x")(texts)

    assert masked_variants([row("two days."), row("a week")], fill=fill, mask_token=MASK) == [
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
    assert masked_variants([row(answer)], fill=always(*fillings), mask_token=MASK) == [expected], why


def test_no_rows():
    assert masked_variants([], fill=always("x"), mask_token=MASK) == []


def test_top():
    assert masked_variants([row("a")], fill=always("x", "y"), mask_token=MASK, top=1) == [["x"]]


def test_a_model_that_skips_texts_is_an_error():
    with pytest.raises(ValueError, match=r"returned fillings for 1 texts \(expected 2, one per masked word\)"):
        masked_variants([row("two days")], fill=lambda texts: [["x"]], mask_token=MASK)


@given(st.lists(st.text(), max_size=4), st.lists(st.text(max_size=4), max_size=6))
def test_no_duplicates_and_never_the_answer_itself(answers, fillings):
    results = masked_variants([row(answer) for answer in answers], fill=always(*fillings), mask_token=MASK)
    assert len(results) == len(answers)
    for answer, variants in zip(answers, results, strict=True):
        assert answer not in variants
        assert len(set(variants)) == len(variants)
