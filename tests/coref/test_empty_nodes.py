"""Key and response with different empty nodes get one numbering of tokens."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.mention_spans import list_parts
from twins.zeros import label_tokens

from closeread.tasks.coref.documents import Document, Documents, EmptyNode, Entity, Mention
from closeread.tasks.coref.empty_nodes import describe_difference, find_zeros, share_numbering
from closeread.tasks.coref.metrics.matching import match_sides

WORDS = st.lists(st.integers(0, 3), min_size=1, max_size=3)
"""The number of words of each sentence of a document."""


def make_side(documents, mentions, dependencies=()):
    """Make a side.

    Args:
        documents: the labels of the tokens of each document, as `label_tokens` returns them.
        mentions: (document, tokens, head), in the order of documents; every mention is an entity.
        dependencies: those of each empty node, if any.
    """
    left = iter(dependencies)
    made = []
    for number, labels in enumerate(documents):
        nodes = [EmptyNode(t, s, next(left, [])) for t, (s, _, i) in enumerate(labels) if i]
        entities = []
        for document, tokens, head in mentions:
            if document == number:
                parts = list_parts(tokens)
                subspans = parts if len(parts) > 1 else ()
                mention = Mention(min(tokens), max(tokens), head, subspans, (head,))
                entities.append(Entity("", [mention]))
        made.append(Document(str(number), entities, n_tokens=len(labels), nodes=nodes))
    return Documents(made)


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


def list_tokens(mention):
    """The tokens of a mention."""
    assert all(start <= end for start, end in mention.spans)
    return [token for start, end in mention.spans for token in range(start, end + 1)]


@given(pair=sides())
def test_equal_tokens_have_equal_numbers(pair):
    renumbered = share_numbering(*(make_side(labels, mentions) for labels, mentions in pair))
    numbers = {}
    for side, (labels, mentions) in zip(renumbered, pair, strict=True):
        for (d, tokens, head), mention in zip(mentions, side.list_mentions(), strict=True):
            found = list_tokens(mention)
            assert len(found) == len(tokens)
            assert found[sorted(tokens).index(head)] == mention.head == mention.minimum[0]
            for token, number in zip(sorted(tokens), found, strict=True):
                assert numbers.setdefault((d, labels[d][token]), number) == number
        assert find_zeros(side).tolist() == [labels[d][head][2] > 0 for d, _, head in mentions]
    # Different tokens of a document have different numbers, in the order of the text.
    for d in range(len(pair[0][0])):
        here = sorted(
            (label, number) for (document, label), number in numbers.items() if document == d
        )
        assert [number for _, number in here] == sorted({number for _, number in here})


@given(pair=sides())
def test_mentions_match_if_they_have_the_same_tokens(pair):
    key, response = (make_side(labels, mentions) for labels, mentions in pair)
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
    key, response = (make_side(LABELS, [(0, {1}, 1)]) for _ in range(2))
    for side, same in zip((key, response), share_numbering(key, response), strict=True):
        assert same.documents == side.documents
    assert list(describe_difference(key, response, "linear")) == []


def test_dependencies_have_the_new_numbers():
    # The key's node hangs from w2 (token 2), the response's, after one that the key lacks, from w2 and that one.
    key = make_side([label_tokens([[0, 0, 1]])], [(0, {2}, 2)], [[(1, "nsubj")]])
    response = make_side(
        [label_tokens([[1, 0, 1]])], [(0, {3}, 3)], [[(-1, "root")], [(0, "dep"), (2, "nsubj")]]
    )
    own, other = share_numbering(key, response)
    assert [document.nodes for document in own.documents] == [[EmptyNode(3, 0, [(2, "nsubj")])]]
    (document,) = other.documents
    assert document.nodes[1] == EmptyNode(3, 0, [(0, "dep"), (2, "nsubj")])
    assert (document.mentions[0].head, document.n_tokens) == (3, 4)


@pytest.mark.parametrize("known", [True, False])
def test_formats_without_empty_nodes_may_count_them(known):
    # A CoNLL file with a row for every token of the key, or JSON Lines without a number of tokens: w1 ∅ w2 ∅ w1.
    key = make_side(LABELS, [(0, {1}, 1), (0, {2}, 2)])
    (document,) = key.documents
    response = without_nodes(key, document.n_tokens if known else None, [1, 2])
    same = share_numbering(key, response)
    assert [side.columns.start.tolist() for side in same] == [[1, 2], [1, 2]]
    assert find_zeros(same[1]).tolist() == [True, False]
    # With fewer rows than the key has tokens, these are the words.
    if known:
        fewer = without_nodes(key, 3, [0, 1])
        assert share_numbering(key, fewer)[1].columns.start.tolist() == [0, 2]
        assert not find_zeros(share_numbering(key, fewer)[1]).any()


def without_nodes(side, n_tokens, tokens):
    """Return a side of one document with mentions of some tokens, without heads and empty nodes."""
    (document,) = side.documents
    entities = [Entity("", [Mention(token, token)]) for token in tokens]
    return Documents([replace(document, entities=entities, nodes=(), n_tokens=n_tokens)])


def test_the_difference_is_described():
    key = make_side(LABELS, [(0, {1}, 1)])
    response = make_side([label_tokens([[0, 0, 1], [1, 0]])], [(0, {1}, 1)])
    (found,) = describe_difference(key, response, "linear")
    assert found == (
        "the key has 2 empty nodes and the response 2, 1 of them at the same places; zeros are matched by place "
        "(zeros 'dependent' matches them by their dependencies)"
    )
    (found,) = describe_difference(key, response, "exclude")
    assert found.endswith("; zeros are not scored")
    (document,) = key.documents
    for n_tokens in (0, None):
        absent = replace(document, nodes=(), n_tokens=n_tokens, is_absent=True)
        assert list(describe_difference(key, Documents([absent]), "linear")) == []
