"""Matching by the first part of the key's mentions, and by minimum spans, next to slow and obvious rules."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from shared.mention_spans import list_parts, make_spans

from closeread.tasks.coref.metrics.matching import match_mentions

TOKENS = st.frozensets(st.integers(0, 7), min_size=1, max_size=5)
MENTIONS = st.lists(st.tuples(st.integers(0, 1), TOKENS), max_size=7, unique=True)


def in_order(mentions):
    return sorted(mentions, key=lambda m: (m[0], min(m[1]), max(m[1]), len(m[1])))


def without_ties(mentions):
    """Keep one of the mentions that the order of the text does not tell apart."""
    return list(
        {
            (document, min(tokens), max(tokens), len(tokens)): (document, tokens) for document, tokens in mentions
        }.values()
    )


def craft(key, response):
    """Match mentions one after the other."""
    same = set(key) & set(response)
    pairs = {(mention, mention) for mention in same}
    used = set()
    for document, tokens in in_order(set(response) - same):
        for other, its in in_order(set(key) - same):
            first, last = list_parts(its)[0]
            if document == other and any(first <= start and end <= last for start, end in list_parts(tokens)):
                if (other, its) not in used:
                    used.add((other, its))
                    pairs.add(((other, its), (document, tokens)))
                break
    return pairs


def matches(key, response, matching, minimum=None):
    ours, theirs = match_mentions(make_spans(key, minimum), make_spans(response), matching)
    return {(key[i], response[j]) for i, code in enumerate(ours) for j in np.flatnonzero(theirs == code).tolist()}


@given(MENTIONS, MENTIONS)
def test_craft(key, response):
    key, response = without_ties(key), without_ties(response)
    assert matches(key, response, "craft") == craft(key, response)


def test_craft_by_hand():
    key = [(0, frozenset({1, 2, 5})), (0, frozenset({4, 5}))]
    # Both lie in the first part of the first mention; the second comes too late, and does not look any further.
    response = [(0, frozenset({1, 5})), (0, frozenset({2, 4}))]
    assert matches(key, response, "craft") == {(key[0], response[0])}
    # The second part of the key's mention does not count.
    assert matches(key[:1], [(0, frozenset({5}))], "craft") == set()


@given(MENTIONS, MENTIONS, st.data())
def test_minimum_spans(key, response, data):
    spans_of_key = st.one_of(st.none(), st.frozensets(st.integers(0, 7), min_size=1, max_size=3))
    drawn = [data.draw(spans_of_key) for _ in key]
    minimum = {i: tuple(sorted(span)) for i, span in enumerate(drawn) if span}
    found = matches(key, response, "partial", minimum)
    same = set(key) & set(response)
    assert {(mention, mention) for mention in same} <= found
    may_match = {
        (k, r)
        for i, k in enumerate(key)
        for r in response
        if k not in same and r not in same and k[0] == r[0] and drawn[i] and drawn[i] <= r[1] <= k[1]
    }
    rest = found - {(mention, mention) for mention in same}
    assert rest <= may_match
    assert len({k for k, _ in rest}) == len({r for _, r in rest}) == len(rest)
    # No pair is left that could still be matched.
    assert not [pair for pair in may_match if all(pair[0] != k and pair[1] != r for k, r in rest)]
