"""The score of zero anaphors, where CorefUD's scorer looks for mentions, and mention overlap, next to slow twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.mention_spans import make_spans
from twins import zeros as twin

from closeread.tasks.coref.metrics.corefud import Aliases, compare_by_aliases, find_aliases
from closeread.tasks.coref.metrics.mentions import Anaphors, count_anaphors, count_overlaps
from closeread.tasks.coref.metrics.overlap import Side

ENTITIES = st.lists(st.integers(0, 3), max_size=7)
"""The entity of each mention."""


def columns(entities, zeros, order):
    """Convert mentions of one document to columns."""
    n = len(entities)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    return Anaphors(
        np.zeros(n, np.int64), np.array(entities, np.int64), rank, np.array(zeros, np.bool_)
    )


def list_entities(side):
    """List the mentions of each entity in the order of the text, with whether they are zeros."""
    found = [[] for _ in range(4)]
    for mention in np.argsort(side.rank).tolist():
        found[side.entity[mention]].append((mention, bool(side.is_counted[mention])))
    return [entity for entity in found if entity]


@st.composite
def sides(draw):
    entities = draw(ENTITIES)
    zeros = draw(st.lists(st.booleans(), min_size=len(entities), max_size=len(entities)))
    return columns(entities, zeros, draw(st.permutations(range(len(entities)))))


@given(key=sides(), response=sides(), seed=st.randoms())
def test_zero_anaphors(key, response, seed):
    n_pairs = seed.randint(0, min(len(key.entity), len(response.entity)))
    others = seed.sample(range(len(response.entity)), n_pairs)
    match = dict(zip(seed.sample(range(len(key.entity)), n_pairs), others, strict=True))
    rows = np.array([match.get(mention, -1) for mention in range(len(key.entity))], np.int64)
    found = count_anaphors(key, response, rows, 1)
    assert found.tolist() == [
        list(twin.zero_anaphors(list_entities(key), list_entities(response), match))
    ]


def score(key, response):
    """Score two lists of entities; mentions are letters, zeros are upper case, and equal letters match."""
    sides = []
    for entities in (key, response):
        letters = [letter for entity in entities for letter in entity]
        numbers = [number for number, entity in enumerate(entities) for _ in entity]
        sides.append(
            (
                columns(numbers, [letter.isupper() for letter in letters], range(len(letters))),
                letters,
            )
        )
    (own, here), (other, there) = sides
    match = {letter: place for place, letter in enumerate(there)}
    return count_anaphors(
        own, other, np.array([match.get(letter, -1) for letter in here], np.int64), 1
    )[0].tolist()


@pytest.mark.parametrize(
    ("key", "response", "expected"),
    [
        (["aBC"], ["aBC"], [2, 2, 2]),
        (["Abc"], ["Abc"], [0, 0, 0]),  # the first mention of an entity is no anaphor
        (["aB"], [], [0, 1, 0]),
        ([], ["aB"], [0, 0, 1]),
        (["aB"], ["cB"], [0, 1, 1]),  # its antecedent is another entity's
        (["aB"], ["Ba"], [0, 1, 0]),  # the match is the first of its entity
        (["abC"], ["bC", "a"], [1, 1, 1]),  # any earlier mention will do
        (["abC"], ["xC", "ab"], [0, 1, 1]),
        (["abC", "dE"], ["aC", "bE", "d"], [1, 2, 2]),
        (["aBC"], ["aC", "xBy"], [1, 2, 2]),
        (["aB"], ["aB", "xYZ"], [1, 1, 3]),
        (["xB", "a"], ["aB"], [0, 1, 1]),
    ],
)
def test_zero_anaphors_by_hand(key, response, expected):
    assert score(key, response) == expected


PLACES = st.lists(st.integers(0, 7), max_size=6, unique=True)


def look_up(key, response, key_rows, response_rows):
    """Look up mentions with these places, of which some rows match; return their places and those where they are found."""
    codes = [[*range(len(key))], [*range(len(key), len(key) + len(response))]]
    for i, j in zip(key_rows, response_rows, strict=True):
        codes[1][j] = codes[0][i]
    sides = tuple(Side.of_rows([(0, code, 0) for code in of_side]) for of_side in codes)
    places = (np.array(of_side, np.int64) for of_side in (key, response))
    found = find_aliases(sides, *places)
    (key_alias, response_place), (key_place, response_alias) = (
        [side.mention.tolist() for side in pair] for pair in (found.recall, found.precision)
    )
    assert found.zeros[1].tolist() == response_place
    return [key_place, response_place, key_alias, response_alias, found.zeros[0].tolist()]


@given(key=PLACES, response=PLACES, seed=st.randoms())
def test_lookups(key, response, seed):
    n_pairs = seed.randint(0, min(len(key), len(response)))
    rows = seed.sample(range(len(key)), n_pairs), seed.sample(range(len(response)), n_pairs)
    # the later mention of the key decides
    rows = zip(*sorted(zip(*rows, strict=True)), strict=True) if n_pairs else ([], [])
    rows = [list(of_side) for of_side in rows]
    pairs = [(key[i], response[j]) for i, j in zip(*rows, strict=True)]
    wanted = twin.look_up(key, response, pairs)
    assert look_up(key, response, *rows) == [key, response, *map(list, wanted)]


def test_lookups_by_hand():
    # Places 1, 2 and 3: the key's at 1 matches the response's at 2, and the key's at 2 the response's at 3.  The key's
    # at 2 is then looked up at 1, where the response's first match has put it.
    _, _, key_alias, response_alias, zero_alias = look_up([1, 2], [1, 2, 3], [0, 1], [1, 2])
    assert key_alias == [2, 1]
    assert response_alias == [2, 1, 2]
    # The score of zeros finds both at their own places.
    assert zero_alias == [1, 2]


def test_two_mentions_that_are_looked_up_at_the_same_place():
    """As in phi3 of CorefUD's scorer, CEAFm counts each mention of the key's entity that the response's has."""
    key = Side.of_rows([(0, 0, 0), (0, 1, 0), (0, 2, 0)])
    response = Side.of_rows([(0, 3, 0), (0, 4, 1), (0, 4, 2)])
    pair = (key._replace(mention=np.array([3, 3, 5])), response)
    count = compare_by_aliases((key, response), Aliases(pair, pair, None), 1)
    assert count("ceafm").tolist() == [[2, 3, 2, 3]]
    # mentions are those that match, and repeated ones count once
    assert count("mentions").tolist() == [[0, 3, 0, 2]]


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
    sides = (
        make_spans([(d, tokens, min(tokens)) for d, tokens in side]) for side in (key, response)
    )
    return count_overlaps(*sides)


@given(key=mentions(), response=mentions())
def test_counts(key, response):
    wanted = [
        twin.mention_overlap(
            *([tokens for d, tokens in side if d == document] for side in (key, response))
        )
        for document in (0, 1)
    ]
    np.testing.assert_array_equal(count(key, response), wanted)
    # Precision is the recall of the sides swapped.
    np.testing.assert_array_equal(count(response, key), np.array(wanted)[:, [0, 2, 1]])


T = frozenset


@pytest.mark.parametrize(
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
