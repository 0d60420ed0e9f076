"""Chains from scored pairs: by hand, and against a slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import marmara_features as twin

from closeread.tasks.marmara.baseline import build_chains

ALL, BEST = "svc", "svr"


def build(learner, spans, scores, candidates=None):
    """Chains from a table of scores, a row for each second mention."""
    rows = [np.array(row[:second], float) for second, row in enumerate(scores)]
    allowed = [
        np.ones(n, bool) if candidates is None else np.array(candidates[n][:n], bool)
        for n in range(len(rows))
    ]
    return build_chains(learner, spans, zip(rows, allowed, strict=True))


A, B, C, D = [0, 0], [2, 2], [4, 4], [6, 6]
SPANS = [tuple(span) for span in (A, B, C, D)]


@pytest.mark.parametrize(
    ("why", "link", "scores", "expected"),
    [
        ("all that are above 0", ALL, [[], [-1], [1, 1], [-1, -1, -1]], [[A, B, C]]),
        ("0 is not above 0", ALL, [[], [0], [0, 0], [0, 0, 0]], []),
        ("only the best", BEST, [[], [-1], [0.5, 0.9], [-1, -1, -1]], [[B, C]]),
        ("0.1 is not above 0.1", BEST, [[], [0.1], [-1, 0.11], [-1, -1, -1]], [[B, C]]),
        ("the nearest of equals", BEST, [[], [-1], [-1, -1], [0.7, 0.7, 0.3]], [[B, D]]),
        ("chains grow", BEST, [[], [1], [-1, 1], [-1, -1, 1]], [[A, B, C, D]]),
        ("by first mention", BEST, [[], [-1], [-1, 1], [1, -1, -1]], [[A, D], [B, C]]),
    ],
)
def test_chains(why, link, scores, expected):
    assert build(link, SPANS, scores) == expected, why


def test_overlapping_mentions_are_never_in_one_chain():
    spans = [(0, 2), (0, 0), (5, 5)]
    assert build(ALL, spans, [[], [1], [-1, -1]]) == []
    # The nearest is linked first, and what it has joined stands against the other.
    assert build(ALL, spans, [[], [-1], [1, 1]]) == [[[0, 0], [5, 5]]]
    # The best link alone is tried, even if nothing comes of it.
    assert build(BEST, [(0, 0), (2, 4), (3, 3)], [[], [-1], [0.5, 0.9]]) == []
    # Sharing the last token is overlapping, standing side by side is not.
    assert build(BEST, [(0, 1), (1, 2)], [[], [1]]) == []
    assert build(BEST, [(0, 1), (2, 2)], [[], [1]]) == [[[0, 1], [2, 2]]]


def test_only_candidates_are_linked():
    scores = [[], [-1], [0.5, 0.9], [-1, -1, -1]]
    candidates = [[], [True], [True, False], [True, True, True]]
    assert build(BEST, SPANS, scores, candidates) == [[A, C]]
    assert build(ALL, SPANS, scores, candidates) == [[A, C]]
    assert build(BEST, SPANS[:2], [[], [1]], [[], [False]]) == []


TYPES = ["pronoun", "proper", "noun"]


@st.composite
def scored_mentions(draw):
    spans = draw(st.sets(st.tuples(st.integers(0, 12), st.integers(0, 3)), max_size=9))
    spans = sorted(
        ((start, start + more) for start, more in spans), key=lambda span: (span[0], -span[1])
    )
    n = len(spans)
    value = st.sampled_from([-1, 0, 0.05, 0.1, 0.2, 0.7])
    scores = [[draw(value) for _ in range(second)] for second in range(n)]
    return spans, [draw(st.sampled_from(TYPES)) for _ in range(n)], scores


@given(scored_mentions(), st.sampled_from(["svc", "svr"]))
@settings(max_examples=100)
def test_random_scores_against_the_twin(made, learner):
    spans, types, scores = made
    candidates = [
        [types[i] != "pronoun" or types[j] == "pronoun" for i in range(j)]
        for j in range(len(spans))
    ]
    found = build(learner, spans, scores, candidates)
    table = {(i, j): row[i] for j, row in enumerate(scores) for i in range(j)}
    expected = twin.link(learner, spans, types, table)
    assert found == [[list(span) for span in chain] for chain in expected]
