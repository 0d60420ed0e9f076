"""The mention overlap ratio, next to a slow twin."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each
from shared.mention_spans import make_spans
from twins import zeros as twin

from closeread.tasks.coref.metrics.mentions import overlap_counts


@st.composite
def mentions(draw):
    """Up to five mentions of up to two documents, as (document, tokens)."""
    found = []
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, 5))
        tokens = set(range(start, draw(st.integers(start, 8)) + 1))
        tokens -= set(draw(st.lists(st.sampled_from(sorted(tokens)), max_size=len(tokens) - 1)))
        found.append((draw(st.integers(0, 1)), frozenset(tokens)))
    return found


def count(key, response):
    sides = (make_spans([(d, tokens, min(tokens)) for d, tokens in side]) for side in (key, response))
    return overlap_counts(*sides, 2)


@given(key=mentions(), response=mentions())
def test_counts(key, response):
    wanted = [
        twin.mention_overlap(*([tokens for d, tokens in side if d == document] for side in (key, response)))
        for document in (0, 1)
    ]
    np.testing.assert_array_equal(count(key, response), wanted)
    # Precision is the recall of the sides swapped.
    np.testing.assert_array_equal(count(response, key), np.array(wanted)[:, [0, 2, 1]])


T = frozenset


@for_each(
    ("key", "response", "expected"),
    [
        ([], [], (0, 0, 0)),
        ([T({1, 2, 3})], [], (0, 3, 0)),
        ([T({1, 2, 3})], [T({3, 4})], (1, 3, 2)),
        # One to one: a long mention is mapped to the longer of two that lie within it.
        ([T({1, 2, 3, 4, 5})], [T({1, 2}), T({3, 4, 5})], (3, 5, 5)),
        # The best mapping together, 2 + 2, not the longest overlap first, 3 + 0.
        ([T({1, 2, 3}), T({1, 2})], [T({1, 2, 3}), T({2, 3})], (4, 5, 5)),
        ([T({1, 2, 3, 4}), T({2})], [T({2, 3, 4}), T({1, 2})], (4, 5, 5)),
        # A gap is no part of a mention.
        ([T({1, 2, 3})], [T({1, 3})], (2, 3, 2)),
        ([T({1, 4})], [T({2, 3})], (0, 2, 2)),
        ([T({1, 2, 5, 6})], [T({2, 3, 4, 5})], (2, 4, 4)),
    ],
)
def test_by_hand(key, response, expected):
    sides = ([(0, tokens) for tokens in side] for side in (key, response))
    np.testing.assert_array_equal(count(*sides), [expected, (0, 0, 0)])
