"""Matching of mentions, next to trying every choice of pairs, and to slow and obvious rules."""

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shared.mention_spans import make_spans, match_spans

from closeread.exceptions import RequestError
from closeread.tasks.coref.documents import Entity
from closeread.tasks.coref.metrics import inexact_matching as module
from closeread.tasks.coref.metrics.inexact_matching import match_mentions

MATCHINGS = ("exact", "head", "partial")


def find_matches(key, response, matching):
    """Find the pairs of mentions with the same code."""
    ours, theirs = match_spans(key, response, matching=matching)
    return [(i, j) for i, own in enumerate(ours) for j, other in enumerate(theirs) if own == other]


def similarity(key, response, matching):
    """Return the similarity of two different mentions; 0 if they can't match."""
    (document, tokens, head), (other_document, other_tokens, other_head) = key, response
    if document != other_document:
        return 0
    if matching == "head":
        fits = head == other_head
    else:
        fits = matching == "partial" and head in other_tokens and other_tokens <= tokens
    return len(tokens & other_tokens) / len(tokens) if fits else 0


def identity(mention, matching):
    return mention if matching == "head" else mention[:2]


@st.composite
def mentions(draw):
    found = []
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, 4))
        tokens = frozenset(range(start, draw(st.integers(start, 6)) + 1))
        if draw(st.booleans()) and len(tokens) > 1:
            tokens -= {draw(st.sampled_from(sorted(tokens)))}
        found.append((draw(st.integers(0, 1)), tokens, draw(st.sampled_from(sorted(tokens)))))
    return found


@given(key=mentions(), response=mentions(), matching=st.sampled_from(MATCHINGS))
@example(key=[], response=[], matching="head")
def test_the_choice_of_pairs_is_optimal(key, response, matching):
    pairs = find_matches(key, response, matching)
    same = {
        (i, j)
        for i, k in enumerate(key)
        for j, r in enumerate(response)
        if identity(k, matching) == identity(r, matching)
    }
    assert same <= set(pairs)
    rest = {(key[i], response[j]) for i, j in set(pairs) - same}
    # One to one among mentions of one side only; repeated mentions share the match of their first.
    assert len({identity(k, matching) for k, _ in rest}) == len(
        {identity(r, matching) for _, r in rest}
    )
    ours = first_of_each(key, [response[j] for _, j in same], matching)
    theirs = first_of_each(response, [key[i] for i, _ in same], matching)
    chosen = [(i, j) for i in ours for j in theirs if (i, j) in pairs]
    worth = [similarity(key[i], response[j], matching) for i, j in chosen]
    assert all(value > 0 for value in worth)
    assert len({i for i, _ in chosen}) == len({j for _, j in chosen}) == len(chosen)
    assert sum(worth) == pytest.approx(best_sum(key, ours, response, theirs, matching))


def first_of_each(side, known, matching):
    seen = {identity(mention, matching) for mention in known}
    first = []
    for i, mention in enumerate(side):
        if identity(mention, matching) not in seen:
            seen.add(identity(mention, matching))
            first.append(i)
    return first


def best_sum(key, ours, response, theirs, matching):
    table = [[similarity(key[i], response[j], matching) for j in theirs] for i in ours]
    if len(ours) > len(theirs):
        table = [list(column) for column in zip(*table, strict=True)] or [[] for _ in theirs]
    columns = range(max(len(ours), len(theirs)))
    return max(
        sum(row[c] for row, c in zip(table, order, strict=True))
        for order in permutations(columns, len(table))
    )


@given(key=mentions(), response=mentions(), matching=st.sampled_from(MATCHINGS), seed=st.randoms())
def test_the_order_of_mentions_does_not_matter(key, response, matching, seed):
    def places(ours, theirs):
        return {(ours[i], theirs[j]) for i, j in find_matches(ours, theirs, matching)}

    # Of mentions with the same tokens, the head of the first counts, so only one of each is kept.
    key, response = ([s[i] for i in first_of_each(s, [], matching)] for s in (key, response))
    assert places(seed.sample(key, len(key)), seed.sample(response, len(response))) == places(
        key, response
    )


T = frozenset
LONG, SHORT = (0, T({0, 1, 2, 3}), 1), (0, T({1, 2}), 1)
ALL_FOUR = [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize(
    ("key", "response", "expected"),
    [
        # The head of the key decides, not that of the response.
        ([LONG], [(0, T({1, 2}), 2)], {"exact": [], "head": [], "partial": [(0, 0)]}),
        # A response that is longer than the key may have its head, but does not lie within it.
        ([SHORT], [LONG], {"exact": [], "head": [(0, 0)], "partial": []}),
        ([LONG], [(0, T({2, 3}), 2)], {"exact": [], "head": [], "partial": []}),
        ([LONG], [(1, T({1, 2}), 1)], {"exact": [], "head": [], "partial": []}),
        # The same tokens are matched first, even if that leaves the rest without a match.
        ([LONG, SHORT], [SHORT], {"exact": [(1, 0)], "head": [(1, 0)], "partial": [(1, 0)]}),
        # The same tokens with another head are another mention, but only for `head`.
        ([LONG], [(0, LONG[1], 2)], {"exact": [(0, 0)], "head": [], "partial": [(0, 0)]}),
        # Of two candidates the longer one is better.
        ([LONG], [SHORT, (0, T({0, 1, 2}), 1)], {"exact": [], "head": [(0, 1)], "partial": [(0, 1)]}),
        # The largest sum, not the best pair: 1/2 + 1/3 > 2/3 (partial).
        (
            [(0, T({0, 1}), 1), (0, T({1, 2, 3}), 1)],
            [(0, T({1}), 1), (0, T({1, 2}), 1)],
            {"exact": [], "head": [(0, 0), (1, 1)], "partial": [(0, 0), (1, 1)]},
        ),
        # A gap is no part of a mention.
        ([(0, T({0, 2}), 0)], [(0, T({0, 1, 2}), 0)], {"exact": [], "head": [(0, 0)], "partial": []}),
        ([(0, T({0, 1, 2}), 0)], [(0, T({0, 2}), 0)], {"exact": [], "head": [(0, 0)], "partial": [(0, 0)]}),
        ([(0, T({0, 1, 2}), 1)], [(0, T({0, 2}), 0)], {"exact": [], "head": [], "partial": []}),
        # Repeated mentions have the same matches.
        ([LONG, LONG], [SHORT, SHORT], {"exact": [], "head": ALL_FOUR, "partial": ALL_FOUR}),
    ],
)  # fmt: skip
def test_by_hand(key, response, expected):
    assert {matching: find_matches(key, response, matching) for matching in MATCHINGS} == expected


def test_parts_without_a_gap_are_one():
    whole = make_spans([LONG])
    (first, second) = whole.documents
    mention = first.mentions[0]._replace(subspans=((0, 1), (2, 3)))
    split = whole.replaced([replace(first, entities=[Entity("", [mention])]), second])
    assert [codes.tolist() for codes in match_mentions(whole, split)] == [[0], [0]]


TOKENS = st.frozensets(st.integers(0, 7), min_size=1, max_size=5)
MENTIONS = st.lists(st.tuples(st.integers(0, 1), TOKENS), max_size=7, unique=True)


def matches(key, response, matching, minimum=None):
    ours, theirs = match_spans(key, response, minimum=minimum, matching=matching)
    return {
        (key[i], response[j])
        for i, own in enumerate(ours)
        for j, other in enumerate(theirs)
        if own == other
    }


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
        if k not in same
        and r not in same
        and k[0] == r[0]
        and drawn[i]
        and drawn[i] <= r[1] <= k[1]
    }
    rest = found - {(mention, mention) for mention in same}
    assert rest <= may_match
    assert len({k for k, _ in rest}) == len({r for _, r in rest}) == len(rest)
    # No pair is left that could still be matched.
    assert not [pair for pair in may_match if all(pair[0] != k and pair[1] != r for k, r in rest)]


def test_as_many_pairs_as_the_limit_are_matched(monkeypatch):
    key, response = [(0, frozenset({0, 1}), 0)], [(0, frozenset({0, 1, 2}), 0)]
    monkeypatch.setattr(module, "MAX_PAIRS", 1)
    assert find_matches(key, response, "head") == [(0, 0)]
    monkeypatch.setattr(module, "MAX_PAIRS", 0)
    with pytest.raises(RequestError, match=r"1 pairs of mentions that may match .*at most 0"):
        find_matches(key, response, "head")
