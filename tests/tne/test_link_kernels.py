"""Kernels that compare links: against an exact twin, and what must hold of any links."""

import tracemalloc

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from shared.for_each import for_each
from twins import links as twin

from closeread.tasks.tne.kernels.links import (
    COUNTS,
    MAX_DOCUMENTS,
    N_LABELS,
    PHRASE_BITS,
    confusion,
    document_of,
    group_labels,
    pairs,
    phrases_of,
    tallies,
    triplets,
)

N_PHRASES = 4
PHRASE = st.integers(0, N_PHRASES - 1)
LINK = st.tuples(PHRASE, PHRASE, st.integers(1, 3) | st.sampled_from([1, N_LABELS - 1])).filter(lambda x: x[0] != x[1])
SIDE = st.lists(LINK, max_size=12)
DOCUMENTS = st.lists(st.tuples(SIDE, SIDE, SIDE), max_size=4)
UPREP = st.sampled_from(["any", "last"])


def arrays(sides):
    """The sides of documents, which are lists of links, as the kernels take them."""
    rows = [(number, *link) for number, links in enumerate(sides) for link in links]
    document, anchor, complement, label = np.array(rows, np.int64).reshape(-1, 4).T
    return group_labels(pairs(document, anchor, complement), label)


def tally(documents, uprep, with_fallback=True):
    system, gold, fallback = ([document[side] for document in documents] for side in range(3))
    return tallies(arrays(system), arrays(gold), arrays(fallback) if with_fallback else None, uprep)


def totals(values):
    return {name: int(value) for name, value in zip(COUNTS, np.asarray(values).sum(axis=0), strict=True)}


NUMBERS = st.tuples(st.integers(0, MAX_DOCUMENTS - 1), *[st.integers(0, 2**PHRASE_BITS - 1)] * 2)


def packed(numbers):
    return pairs(*(np.array([number]) for number in numbers))


@given(NUMBERS, NUMBERS, st.integers(0, N_LABELS - 1))
@example((MAX_DOCUMENTS - 1, *[2**PHRASE_BITS - 1] * 2), (0, 0, 0), N_LABELS - 1)
def test_a_pair_is_one_integer(one, other, label):
    pair = packed(one)
    assert (document_of(pair).item(), *(phrase.item() for phrase in phrases_of(pair))) == one
    assert (packed(other) < pair) == (other < one)
    triplet = triplets(pair, np.array([label]))
    assert triplet >= 0
    assert (triplet < triplets(packed(other), np.array([N_LABELS - 1]))) == ((*one, label) < (*other, N_LABELS - 1))


@given(SIDE)
def test_pairs_of_a_side(links):
    side = arrays([links])
    labels = twin.labels_of(links)
    names = list(zip(*(phrase.tolist() for phrase in phrases_of(side.pair)), strict=True))
    assert names == sorted(labels)
    assert side.first.tolist() == [labels[pair][0] for pair in names]
    assert side.last.tolist() == [labels[pair][-1] for pair in names]
    assert len(side.triplet) == len(set(links))
    assert sorted(set(side.triplet.tolist())) == side.triplet.tolist()


@given(DOCUMENTS, UPREP, st.booleans())
def test_counts_are_the_twins(documents, uprep, with_fallback):
    values = tally(documents, uprep, with_fallback).by_document(len(documents))
    assert values.shape == (len(documents), len(COUNTS))
    for row, (system, gold, fallback) in zip(values.tolist(), documents, strict=True):
        expected = twin.counts(system, gold, fallback if with_fallback else None, uprep)
        assert dict(zip(COUNTS, row, strict=True)) == expected


@given(DOCUMENTS, UPREP)
def test_counts_by_label_are_the_twins(documents, uprep):
    found = tally(documents, uprep)
    values = found.by_group(len(documents), N_LABELS, lambda _, label: label)
    assert np.array_equal(values.sum(axis=0), found.by_document(len(documents)))
    for wanted in range(N_LABELS):
        for row, (system, gold, fallback) in zip(values[wanted].tolist(), documents, strict=True):
            expected = twin.counts(system, gold, fallback, uprep, lambda _, label, wanted=wanted: label == wanted)
            assert dict(zip(COUNTS, row, strict=True)) == expected


@given(DOCUMENTS, UPREP)
def test_counts_by_pair_are_the_twins(documents, uprep):
    found = tally(documents, uprep)
    values = found.by_group(len(documents), 2, lambda pair, _: (phrases_of(pair)[0] == 0).astype(np.int64))
    assert np.array_equal(values.sum(axis=0), found.by_document(len(documents)))
    for wanted in (0, 1):
        for row, (system, gold, fallback) in zip(values[wanted].tolist(), documents, strict=True):
            expected = twin.counts(
                system, gold, fallback, uprep, lambda pair, _, wanted=wanted: (pair[0] == 0) == wanted
            )
            assert dict(zip(COUNTS, row, strict=True)) == expected


@given(DOCUMENTS)
def test_confusion_is_the_twins(documents):
    system, gold = (arrays([document[side] for document in documents]) for side in (0, 1))
    n_pairs = len(documents) * N_PHRASES * (N_PHRASES - 1)
    expected = np.zeros((N_LABELS, N_LABELS), np.int64)
    for ours, theirs, _ in documents:
        for (row, column), n in twin.confusion(ours, theirs, range(N_PHRASES)).items():
            expected[row or 0, column or 0] += n
    matrix = confusion(system, gold, n_pairs)
    assert np.array_equal(matrix, expected)
    # All ordered pairs are in it, and what is counted can be read off its margins.
    counted = totals(tallies(system, gold).by_document(len(documents)))
    assert matrix.sum() == n_pairs
    assert matrix[1:, 1:].trace() == counted["links/right"]
    assert matrix[:, 1:].sum() == counted["links/system"]
    assert matrix[1:].sum() == counted["links/gold"]
    assert matrix[1:, 1:].sum() == counted["linked/system"] == counted["linked/gold"]


def test_a_confusion_by_hand():
    # Gold: np0 in or at np1 (predicted: at), np2 on np1 (predicted: of), np1 of np0 (not predicted).  Predicted in
    # addition: np0 by np2.  The labels of, in, on, at and by are 1, 3, 5, 15 and 4.
    gold = arrays([[(0, 1, 15), (0, 1, 3), (2, 1, 5), (1, 0, 1)]])
    system = arrays([[(0, 1, 15), (0, 1, 1), (2, 1, 1), (0, 2, 4)]])
    matrix = confusion(system, gold, 6)
    cells = {(int(row), int(column)): int(matrix[row, column]) for row, column in np.argwhere(matrix)}
    assert cells == {(15, 15): 1, (5, 1): 1, (1, 0): 1, (0, 4): 1, (0, 0): 2}
    # Predicted: by, which is neither of the two gold labels, so the last of them counts.
    matrix = confusion(arrays([[(0, 1, 4)]]), arrays([[(0, 1, 15), (0, 1, 3)]]), 2)
    assert matrix[3, 4] == matrix[0, 0] == 1


# What must hold of any links.


@given(st.lists(SIDE, max_size=3), UPREP)
def test_perfect_is_all_and_nothing_is_none(sides, uprep):
    same = totals(tallies(arrays(sides), arrays(sides), arrays(sides), uprep).by_document(len(sides)))
    assert same["links/right"] == same["links/system"] == same["links/gold"]
    assert same["linked/system"] == same["linked/gold"] == same["links/gold"]
    assert same["triplets/right"] == same["triplets/system"] == same["triplets/gold"] == len(arrays(sides).triplet)
    assert same["fallback/right"] == same["fallback/gold"] == 0
    nothing = totals(tallies(arrays([]), arrays(sides), arrays(sides), uprep).by_document(len(sides)))
    of_system = ("links/right", "links/system", "linked/system", "linked/gold", "triplets/right", "triplets/system")
    assert [nothing[name] for name in of_system] == [0] * len(of_system)
    assert nothing["fallback/gold"] == nothing["links/gold"] == same["links/gold"]
    if uprep == "any":
        assert nothing["fallback/right"] == nothing["fallback/gold"]


@given(DOCUMENTS)
def test_swapping_the_sides_swaps_precision_and_recall(documents):
    # One label a pair: of several, a system's first counts, and any of gold's.
    single = [[[(*pair, labels[0]) for pair, labels in twin.labels_of(side).items()] for side in d] for d in documents]
    there = totals(tally(single, "any", with_fallback=False).by_document(len(single)))
    back = totals(tally([(gold, system, []) for system, gold, _ in single], "any", False).by_document(len(single)))
    for name in ("links", "triplets"):
        assert back[f"{name}/right"] == there[f"{name}/right"]
        assert back[f"{name}/system"] == there[f"{name}/gold"]
        assert back[f"{name}/gold"] == there[f"{name}/system"]
    assert back["linked/system"] == there["linked/gold"] == there["linked/system"]
    # Triplets know no first one: they swap whatever the labels.
    there = totals(tally(documents, "any", with_fallback=False).by_document(len(documents)))
    back = totals(
        tally([(gold, system, []) for system, gold, _ in documents], "any", False).by_document(len(documents))
    )
    assert back["triplets/right"] == there["triplets/right"]
    assert (back["triplets/system"], back["triplets/gold"]) == (there["triplets/gold"], there["triplets/system"])


@given(DOCUMENTS, UPREP, st.randoms())
def test_the_order_of_documents_and_links_does_not_matter(documents, uprep, random):
    order = random.sample(range(len(documents)), len(documents))

    def shuffled(links):
        """The links in another order, but for the labels of one pair among themselves."""
        places = random.sample(links, len(links))
        labels = {pair: iter(of_pair) for pair, of_pair in twin.labels_of(links).items()}
        return [(anchor, complement, next(labels[anchor, complement])) for anchor, complement, _ in places]

    other = [tuple(map(shuffled, documents[number])) for number in order]
    values = tally(documents, uprep).by_document(len(documents))
    assert np.array_equal(tally(other, uprep).by_document(len(documents)), values[order])


@given(DOCUMENTS, UPREP)
def test_counts_stay_within_bounds(documents, uprep):
    found = totals(tally(documents, uprep).by_document(len(documents)))
    assert 0 <= found["links/right"] <= found["linked/system"] == found["linked/gold"]
    assert found["linked/system"] <= min(found["links/system"], found["links/gold"])
    assert 0 <= found["triplets/right"] <= min(found["triplets/system"], found["triplets/gold"])
    assert found["links/system"] <= found["triplets/system"]
    assert found["links/gold"] <= found["triplets/gold"]
    assert 0 <= found["fallback/right"] <= found["fallback/gold"]
    assert found["fallback/gold"] == found["links/gold"] - found["linked/gold"]
    last = totals(tally(documents, "last").by_document(len(documents)))
    assert last["fallback/right"] <= totals(tally(documents, "any").by_document(len(documents)))["fallback/right"]


@for_each("n", [0, 1])
def test_nothing_to_compare(n):
    nothing = arrays([])
    assert not tallies(nothing, nothing, nothing).by_document(n).any()
    assert tallies(nothing, nothing).by_group(n, 3, lambda pair, _: pair).shape == (3, n, len(COUNTS))
    assert confusion(nothing, nothing, 0).sum() == 0


def test_memory_grows_with_links_and_not_with_pairs():
    n, size = 20_000, 2**PHRASE_BITS  # a matrix of the pairs would have 17 thousand million cells
    rng = np.random.default_rng(7)
    anchor, complement = rng.integers(0, size, (2, n))
    pair, label = pairs(np.zeros(n, np.int64), anchor, complement), rng.integers(1, N_LABELS, n)
    tracemalloc.start()
    side = group_labels(pair, label)
    found = tallies(side, side, side).by_document(1)[0]
    matrix = confusion(side, side, size * (size - 1))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found[0] == found[1] == found[2] == len(set(pair.tolist()))
    assert matrix.sum() == size * (size - 1)
    assert peak < 1000 * n
