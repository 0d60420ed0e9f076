"""Adjudication by unanimity: hand cases, error messages, and properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each

from closeread.exceptions import FormatError
from closeread.tasks.mctaco.annotation import unanimous

LIKELY, UNLIKELY, INVALID = "likely", "unlikely", "invalid"


@for_each(
    ("labels", "gold", "why"),
    [
        ((LIKELY,) * 4, "yes", "all four"),
        ((UNLIKELY,) * 4, "no", "all four"),
        ((INVALID,) * 4, None, "an invalid candidate is dropped, even if all agree"),
        ((LIKELY, LIKELY, LIKELY, UNLIKELY), None, "three of four are not enough"),
        ((LIKELY, LIKELY, LIKELY, INVALID), None, "neither with an invalid one"),
        ((UNLIKELY, UNLIKELY), "no", "two annotators are enough"),
        ((LIKELY,) * 9, "yes", "nine as well"),
    ],
)
def test_one_candidate(labels, gold, why):
    result = unanimous([{"c": label} for label in labels])
    assert result.kept == ({"c": gold} if gold else {}), why
    assert result.dropped == ({} if gold else {"c": labels}), why


def test_order_of_the_first_annotator():
    result = unanimous([dict.fromkeys("bca", LIKELY), dict.fromkeys("abc", LIKELY)])
    assert list(result.kept) == ["b", "c", "a"]


def test_observed_agreement():
    # a: all 3 pairs of 3 agree; b: 1 of 3; together 4 of 6
    result = unanimous([{"a": LIKELY, "b": LIKELY}, {"a": LIKELY, "b": LIKELY}, {"a": LIKELY, "b": INVALID}])
    assert (result.agreeing_pairs, result.pairs) == (4, 6)
    assert result.observed_agreement == pytest.approx(4 / 6)


def test_no_candidates():
    assert unanimous([{}, {}]).observed_agreement is None


@for_each(
    ("annotations", "message"),
    [
        ([], "the number of annotators is 0 (expected at least 2)"),
        ([{"a": LIKELY}], "the number of annotators is 1 (expected at least 2)"),
        (
            [{"a": LIKELY, "b": "maybe"}, {"c": "Likely"}],
            "annotator 1: 'b' has label 'maybe' (expected one of likely, unlikely, invalid)\n"
            "annotator 1: 'c' has no label, but another annotator labelled it\n"
            "annotator 2: 'a' has no label, but another annotator labelled it\n"
            "annotator 2: 'b' has no label, but another annotator labelled it\n"
            "annotator 2: 'c' has label 'Likely' (expected one of likely, unlikely, invalid)",
        ),
    ],
)
def test_all_problems_at_once(annotations, message):
    with pytest.raises(FormatError) as caught:
        unanimous(annotations)
    assert [problem.message for problem in caught.value.problems] == message.split("\n")


def test_many_problems_are_counted():
    with pytest.raises(FormatError, match=r"25 problems \(first 20 shown\):"):
        unanimous([{str(i): LIKELY for i in range(25)}, {}])


LABELS = st.sampled_from([LIKELY, UNLIKELY, INVALID])


@given(st.integers(2, 5).flatmap(lambda n: st.dictionaries(st.text(max_size=2), st.tuples(*[LABELS] * n))))
def test_every_candidate_is_kept_or_dropped(labels):
    annotators = range(max(map(len, labels.values()), default=2))
    result = unanimous([{candidate: given[i] for candidate, given in labels.items()} for i in annotators])
    assert result.kept.keys() | result.dropped.keys() == labels.keys()
    assert not result.kept.keys() & result.dropped.keys()
    assert all({**labels}[candidate] == given for candidate, given in result.dropped.items())
    assert 0 <= (result.observed_agreement or 0) <= 1
    reverse = unanimous([{candidate: given[i] for candidate, given in labels.items()} for i in reversed(annotators)])
    assert reverse.kept == result.kept
    assert reverse.agreeing_pairs == result.agreeing_pairs
