"""Key and response with different empty nodes get one numbering of tokens."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.mention_spans import list_parts
from twins.zeros import label_tokens

from closeread.tasks.coref.documents import EmptyNode
from closeread.tasks.coref.empty_nodes import (
    Zero,
    describe_difference,
    find_zeros,
    map_zeros,
    share_numbering,
)
from closeread.tasks.coref.mention_table import MentionTable
from closeread.tasks.coref.metrics.matching import match_sides

WORDS = st.lists(st.integers(0, 3), min_size=1, max_size=3)
"""The number of words of each sentence of a document."""


def make_table(documents, mentions, dependencies=()):
    """Make a table.

    Args:
        documents: the labels of the tokens of each document, as `label_tokens` returns them.
        mentions: (document, tokens, head), in the order of documents; every mention is an entity.
        dependencies: those of each empty node, if any.
    """
    left = iter(dependencies)
    nodes = [
        [EmptyNode(t, s, next(left, [])) for t, (s, _, i) in enumerate(labels) if i]
        for labels in documents
    ]
    n = len(mentions)
    return MentionTable(
        names=[str(d) for d in range(len(documents))],
        n_tokens=np.array([len(labels) for labels in documents]),
        document=np.array([d for d, _, _ in mentions], np.int64),
        start=np.array([min(tokens) for _, tokens, _ in mentions], np.int64),
        end=np.array([max(tokens) for _, tokens, _ in mentions], np.int64),
        entity=np.arange(n),
        n_entities=n,
        parts={
            i: list_parts(tokens)
            for i, (_, tokens, _) in enumerate(mentions)
            if len(list_parts(tokens)) > 1
        },
        head=np.array([head for _, _, head in mentions], np.int64),
        minimum={i: (head,) for i, (_, _, head) in enumerate(mentions)},
        empty=nodes if any(nodes) else None,
    )


@st.composite
def sides(draw):
    """Labels of the tokens of documents, and mentions, of two sides with the same words."""
    documents = draw(st.lists(WORDS, min_size=1, max_size=2))
    found = []
    for _ in range(2):
        labels = []
        for sentences in documents:
            numbers = [
                [draw(st.sampled_from((0, 0, 1, 2))) for _ in range(n + 1)] for n in sentences
            ]
            labels.append(label_tokens(numbers))
        mentions = []
        for d, tokens in enumerate(labels):
            for _ in range(draw(st.integers(0, 4)) if tokens else 0):
                start = draw(st.integers(0, len(tokens) - 1))
                chosen = set(range(start, draw(st.integers(start, len(tokens) - 1)) + 1))
                chosen -= draw(st.sets(st.sampled_from(sorted(chosen)), max_size=len(chosen) - 1))
                mentions.append((d, chosen, draw(st.sampled_from(sorted(chosen)))))
        found.append((labels, mentions))
    return found


def list_tokens(table, row):
    """The tokens of a mention."""
    parts = table.parts.get(row, ((int(table.start[row]), int(table.end[row])),))
    assert all(start <= end for start, end in parts)
    return [token for start, end in parts for token in range(start, end + 1)]


@given(pair=sides())
def test_equal_tokens_have_equal_numbers(pair):
    tables = share_numbering(*(make_table(labels, mentions) for labels, mentions in pair))
    numbers = {}
    for table, (labels, mentions) in zip(tables, pair, strict=True):
        assert table.document.tolist() == [d for d, _, _ in mentions]
        for row, (d, tokens, head) in enumerate(mentions):
            found = list_tokens(table, row)
            assert len(found) == len(tokens)
            assert found[sorted(tokens).index(head)] == table.head[row] == table.minimum[row][0]
            for token, number in zip(sorted(tokens), found, strict=True):
                assert numbers.setdefault((d, labels[d][token]), number) == number
        zeros = [labels[d][head][2] > 0 for d, _, head in mentions]
        assert find_zeros(table).tolist() == zeros
    # Different tokens of a document have different numbers, in the order of the text.
    for d in range(len(pair[0][0])):
        here = sorted(
            (label, number) for (document, label), number in numbers.items() if document == d
        )
        assert [number for _, number in here] == sorted({number for _, number in here})


@given(pair=sides())
def test_mentions_match_if_they_have_the_same_tokens(pair):
    key, response = (make_table(labels, mentions) for labels, mentions in pair)
    own, other = match_sides(key, response, "reference").sides
    sets = [
        [(d, {labels[d][t] for t in tokens}) for d, tokens, _ in mentions]
        for labels, mentions in pair
    ]
    # every mention is an entity; some repeats are dropped
    kept = [sets[1][row] for row in other.entity.tolist()]
    for i, one in enumerate(sets[0]):
        for j, two in enumerate(kept):
            assert (
                own.document[i] == other.document[j] and own.mention[i] == other.mention[j]
            ) == (one == two)


LABELS = [label_tokens([[0, 1, 0], [1, 0]])]
"""Two sentences, w1 ∅ w2 and ∅ w1, where ∅ is an empty node."""


def test_the_same_empty_nodes_change_nothing():
    key, response = (make_table(LABELS, [(0, {1}, 1)]) for _ in range(2))
    assert share_numbering(key, response) == (key, response)
    assert list(describe_difference(key, response, "linear")) == []


def test_dependencies_have_the_new_numbers():
    # The key's node hangs from w2 (token 2), the response's, after one that the key lacks, from w2 and that one.
    key = make_table([label_tokens([[0, 0, 1]])], [(0, {2}, 2)], [[(1, "nsubj")]])
    response = make_table(
        [label_tokens([[1, 0, 1]])], [(0, {3}, 3)], [[(-1, "root")], [(0, "dep"), (2, "nsubj")]]
    )
    own, other = map(map_zeros, share_numbering(key, response))
    assert own == {0: Zero(0, frozenset({(2, "nsubj")}))}
    assert other == {0: Zero(0, frozenset({(0, "dep"), (2, "nsubj")}))}


@pytest.mark.parametrize("known", [True, False])
def test_formats_without_empty_nodes_may_count_them(known):
    # A CoNLL file with a row for every token of the key, or JSON Lines without a number of tokens: w1 ∅ w2 ∅ w1.
    key = make_table(LABELS, [(0, {1}, 1), (0, {2}, 2)])
    response = replace(key, empty=None, head=None, n_tokens=key.n_tokens if known else None)
    same = share_numbering(key, response)
    assert [table.start.tolist() for table in same] == [[1, 2], [1, 2]]
    assert find_zeros(same[1]).tolist() == [True, False]
    # With fewer rows than the key has tokens, these are the words.
    fewer = replace(
        key, empty=None, n_tokens=np.array([3]), start=np.array([0, 1]), end=np.array([0, 1])
    )
    if known:
        assert share_numbering(key, fewer)[1].start.tolist() == [0, 2]
        assert not find_zeros(share_numbering(key, fewer)[1]).any()


def test_the_difference_is_described():
    key = make_table(LABELS, [(0, {1}, 1)])
    response = make_table([label_tokens([[0, 0, 1], [1, 0]])], [(0, {1}, 1)])
    (found,) = describe_difference(key, response, "linear")
    assert found == (
        "the key has 2 empty nodes and the response 2, 1 of them at the same places; zeros are matched by place "
        "(zeros 'dependent' matches them by their dependencies)"
    )
    (found,) = describe_difference(key, response, "exclude")
    assert found.endswith("; zeros are not scored")
    absent = replace(key, empty=None, n_tokens=np.array([0]), absent=frozenset([0]))
    assert list(describe_difference(key, absent, "linear")) == []
    assert list(describe_difference(key, replace(absent, n_tokens=None), "linear")) == []
