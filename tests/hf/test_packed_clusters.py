"""Clusters that are nothing but lists of numbers become columns at once; whatever they are, the result is the same."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import closeread
from closeread.exceptions import InputError
from closeread.tasks.coref.columns import stack_clusters
from closeread.tasks.coref.documents import documents_of
from closeread.tasks.coref.key_response import CoreferenceReader

ODD = [
    True,
    -1,
    2**31 - 1,
    2**31,
    2**70,
    1.0,
    1.5,
    float("nan"),
    None,
    "1",
    np.int32(3),
    np.True_,
    np.float64(2),
    [],
]
TOKEN = st.integers(0, 9)
MENTION = st.tuples(TOKEN, TOKEN).map(sorted) | st.tuples(TOKEN, TOKEN, TOKEN).map(sorted).map(
    lambda m: [m[0], m[2], m[1]]
)
DOCUMENT = st.lists(st.lists(MENTION, max_size=4), max_size=4)
NUMBERS = st.lists(TOKEN | st.sampled_from(ODD), max_size=4)
ANYTHING = st.lists(
    st.lists(MENTION | NUMBERS | NUMBERS.map(tuple), max_size=3), max_size=3
) | st.sampled_from(ODD)


@pytest.fixture(scope="module")
def lea(tmp_path_factory):
    return closeread.load_metric("coref_lea", cache_dir=str(tmp_path_factory.mktemp("cache")))


def compute(module, predictions, references):
    try:
        return module.compute(predictions=predictions, references=references)
    except InputError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore::closeread.exceptions.CloseReadWarning")  # repeated mentions
@given(
    st.lists(st.tuples(DOCUMENT, DOCUMENT), max_size=4)
    | st.lists(st.tuples(DOCUMENT | ANYTHING, DOCUMENT | ANYTHING), max_size=3)
)
@example([([[[0, 1], [1, 1]]], [[[0, 0]], [[2, 1]]])])
@example([([[[0, 1, 1]]], [[[0, 1, 2]]])])
@example([([[[0, 1, 1]]], [[[0, 1]]])])
@example([([[[0, 1], [0, 1, 1]]], [[[0, 1]]])])
@example([([[]], [[[0, 1]]])])
@example([([[[0, 1], [0, 1]]], [[[0, 1]]])])
@example([(None, [[[0, 1]]])])
def test_it_is_the_same_in_either_way(lea, pairs):
    predictions, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found = compute(lea, predictions, references)
    with mock.patch.object(CoreferenceReader, "pack", return_value=None):
        assert repr(found) == repr(compute(lea, predictions, references))


@given(
    st.lists(
        st.lists(st.lists(st.tuples(TOKEN, TOKEN).map(sorted), min_size=1, max_size=4), max_size=4)
    )
)
def test_columns_are_those_of_the_slow_way(documents):
    fast, slow = stack_clusters(documents), documents_of(documents).columns
    assert (fast.head is None) == (slow.head is None)
    for name in ("document", "start", "end", "entity"):
        assert getattr(fast, name).tolist() == getattr(slow, name).tolist()


@pytest.mark.parametrize("number", ODD)
def test_odd_numbers_are_left_to_the_schema(number):
    expected = 2**31 - 1 if number == 2**31 - 1 else None
    found = stack_clusters([[[[0, number]]]])
    assert (None if found is None else found.end.tolist()[0]) == expected


def score(predictions, gold):
    try:
        return closeread.score("coref", predictions, gold=gold, metrics=["lea"]).to_dict()
    except InputError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore:the key repeats")
@given(
    st.lists(st.tuples(DOCUMENT, DOCUMENT), max_size=4)
    | st.lists(st.tuples(DOCUMENT | ANYTHING, DOCUMENT | ANYTHING), max_size=3)
)
@example([([[[0, 1], [1, 1]]], [[[0, 0]], [[2, 1]]])])
@example([([[[0, 1], [0, 1]]], [[[0, 1]]])])
@example([(None, [[[0, 1]]])])
def test_scores_are_the_same_in_either_way(pairs):
    predictions, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    forms = [
        (predictions, references),
        [
            [{"document": f"d{i}", "clusters": one} for i, one in enumerate(side)]
            for side in (predictions, references)
        ],
        [{f"\x85{i}": one for i, one in enumerate(side)} for side in (predictions, references)],
    ]
    found = [score(*form) for form in forms]
    with mock.patch("closeread.tasks.coref.files.stack_clusters", return_value=None):
        assert found == [score(*form) for form in forms]
