"""What mentions add to recall and precision: hand cases, enumeration, and sums that are those of whole documents."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import enumeration
from shared.coreference_kernels import MENTIONS, PAIRS, split_sides
from twins.coref_slices import count_parts

from closeread.tasks.coref.metrics.overlap import Side
from closeread.tasks.coref.metrics.slices import METRICS, credit_mentions, sum_credits

N_GROUPS = 3
GROUPS = st.fixed_dictionaries({mention: st.integers(0, N_GROUPS - 1) for mention in MENTIONS})


def count(pairs, of_key, of_response):
    """Count documents of letters, whose order in the text is that of the alphabet: (group, document, 16)."""
    sides = [enumeration.side(documents) for documents in split_sides(pairs)]
    orders = tuple(np.lexsort((side.mention, side.document)) for side in sides)
    groups = tuple(
        np.array([group[chr(code)] for code in side.mention.tolist()], np.int64)
        for side, group in zip(sides, (of_key, of_response), strict=True)
    )
    found = credit_mentions(tuple(sides), (sides, sides), orders)
    return sum_credits(sides, found, groups, N_GROUPS, len(pairs))


def test_the_example_of_moosavi_and_strube():
    """The key is abc, defg and the response ab, cd, fghi, with the vowels as one group and the consonants as another.

    Of the key, the mentions of abc share 2/3, 2/3 and 1/3 of their entity with their entity in the response, those of
    defg 1/4, 0, 2/4 and 2/4.  The links of abc that are found are the one between a and b, half for each; of defg, that
    of f and g: 1 of 3 links of each of them.
    """
    key, response = [["abc", "defg"]], [["ab", "cd", "fghi"]]
    group = {mention: int(mention not in "aeiou") for mention in "abcdefghi"}
    found = count([(list(map(list, key[0])), list(map(list, response[0])))], group, group)[:, 0]
    vowels, consonants = found[:2].reshape(2, len(METRICS), 4)
    expected = {
        # found of the key, the key, found of the response, the response
        "mentions": ([1, 2, 1, 2], [5, 5, 5, 6]),
        "muc": ([0, 1, 0, 1], [2, 4, 2, 4]),
        "b3": (
            [Fraction(2, 3), 2, 1, 2],
            [
                Fraction(2, 3) + Fraction(1, 3) + Fraction(1, 4) + 1,
                5,
                1 + Fraction(1, 2) * 2 + Fraction(2, 4) * 2,
                6,
            ],
        ),
        "lea": (
            [Fraction(1, 2), 2, 1, 2],
            [Fraction(1, 2) + Fraction(2, 3), 5, 1 + Fraction(2, 3), 6],
        ),
    }
    for row, metric in enumerate(METRICS):
        for group_counts, fractions in zip((vowels, consonants), expected[metric], strict=True):
            assert group_counts[row] == pytest.approx(
                [float(one) for one in fractions], abs=1e-12
            ), metric


def test_singletons_and_missing_mentions():
    """The key has the singletons a and b and the pair cd; the response the singletons a and c, and the pair bd."""
    found = count(
        [([["a"], ["b"], ["c", "d"]], [["a"], ["b", "d"], ["c"]])],
        dict.fromkeys("abcd", 0),
        dict.fromkeys("abcd", 0),
    )
    by_metric = dict(zip(METRICS, found[0, 0].reshape(-1, 4).tolist(), strict=True))
    assert by_metric == {
        "mentions": [4, 4, 4, 4],
        "muc": [0, 1, 0, 1],
        "b3": [1 + 1 + 1 / 2 + 1 / 2, 4, 1 + 1 / 2 + 1 / 2 + 1, 4],
        "lea": [1, 4, 1, 4],
    }


def test_nothing_on_a_side():
    none = Side(*(np.zeros(0, np.int64) for _ in range(3)))
    some = enumeration.side([["ab"]])
    order, empty = np.arange(2), np.zeros(0, np.int64)
    credit = credit_mentions((some, none), ((some, none),) * 2, (order, empty))
    found = sum_credits((some, none), credit, (np.zeros(2, np.int64), empty), 1, 1)
    assert found[0, 0].reshape(-1, 4).tolist() == [
        [0, 2, 0, 0],
        [0, 1, 0, 0],
        [0, 2, 0, 0],
        [0, 2, 0, 0],
    ]


@given(PAIRS, GROUPS, GROUPS)
def test_fast_is_enumeration(pairs, of_key, of_response):
    found = count(pairs, of_key, of_response)
    for document, (key, response) in enumerate(pairs):
        recall = count_parts(key, response, of_key.get)
        precision = count_parts(response, key, of_response.get)
        for group in range(N_GROUPS):
            sides = [
                np.array(one.get(group, [0] * 8), float).reshape(-1, 2)
                for one in (recall, precision)
            ]
            assert found[group, document] == pytest.approx(np.hstack(sides).ravel(), abs=1e-12)
