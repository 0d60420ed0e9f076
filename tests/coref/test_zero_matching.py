"""Matching of zeros by their dependencies, next to a slow twin."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.mention_spans import match_spans
from twins.zeros import best_sum, zero_similarity

DEPENDENCIES = st.sets(st.tuples(st.integers(-1, 3), st.integers(0, 2)), max_size=4)
ZEROS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), DEPENDENCIES), max_size=5)
"""Zeros as (document, sentence, dependencies)."""


def make_nodes(mentions, zeros):
    """Return the head of every mention as an empty node, which has the dependencies of a zero."""
    nodes = []
    for (document, _, head), (_, sentence, found) in zip(mentions, zeros, strict=True):
        dependencies = [(parent, str(relation)) for parent, relation in found]
        nodes.append((document, head, sentence, dependencies))
    return nodes


def compare(key, response):
    return zero_similarity(key[2], response[2]) if key[:2] == response[:2] else Fraction(0)


@given(key=ZEROS, response=ZEROS)
def test_the_choice_of_pairs_is_optimal(key, response):
    codes = match(key, response)
    pairs = [
        (i, j) for i, one in enumerate(codes[0]) for j, other in enumerate(codes[1]) if one == other
    ]
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    chosen = [compare(key[i], response[j]) for i, j in pairs]
    assert sum(chosen) == best_sum([[compare(k, r) for r in response] for k in key])


def match(key, response):
    """Match zeros that have no tokens in common, so that nothing but their dependencies can match them."""
    sides = []
    for first, zeros in ((0, key), (100, response)):
        sides.append([(d, {place}, place) for place, (d, _, _) in enumerate(zeros, start=first)])
    nodes = [make_nodes(*side) for side in zip(sides, (key, response), strict=True)]
    return match_spans(*sides, nodes=nodes, matching="head", by_dependency=True)


def one(*dependencies, document=0, sentence=0):
    return document, sentence, set(dependencies)


@pytest.mark.parametrize(
    ("key", "response", "expected"),
    [
        (one((3, 0)), one((3, 0)), 11),
        (one((3, 0)), one((3, 1)), 1),  # only the parent
        (one((3, 0)), one((2, 0)), 0),  # a relation alone is nothing
        (one((-1, 0)), one((-1, 0)), 11),  # the root is a parent
        (one((3, 0)), one((3, 0), sentence=1), 0),
        (one((3, 0)), one((3, 0), document=1), 0),
        (one(), one(), 0),
        # Of three dependencies the response has one: F1 = 2/4 of the dependencies and of the parents.
        (one((1, 0), (2, 0), (3, 0)), one((3, 0)), Fraction(11, 2)),
        # Two relations to one parent: 2/3 of the dependencies, 1 of the parents.
        (one((1, 0), (1, 1)), one((1, 0)), Fraction(23, 3)),
    ],
)
def test_by_hand(key, response, expected):
    assert compare(key, response) == expected
    codes = match([key], [response])
    assert (codes[0] == codes[1]) == bool(expected)


def test_zeros_are_matched_before_all_others():
    # The key's zero at token 5 has the dependencies of the response's at token 6; that at token 5 is left over.
    key, response = [(0, {5}, 5)], [(0, {5}, 5), (0, {6}, 6)]
    nodes = (make_nodes(key, [one((3, 0))]), make_nodes(response, [one((3, 1)), one((3, 0))]))
    for matching in ("exact", "head", "partial"):
        (own,), theirs = match_spans(
            key, response, nodes=nodes, matching=matching, by_dependency=True
        )
        assert [code == own for code in theirs] == [False, True]
        (own,), theirs = match_spans(key, response, nodes=nodes, matching=matching)
        assert [code == own for code in theirs] == [True, False]
