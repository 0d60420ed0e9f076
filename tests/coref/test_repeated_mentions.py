"""Mentions that occur more than once on a side: what the reference scorer does, next to an exact twin."""

import numpy as np
from hypothesis import example, given
from shared.coreference_kernels import REPEATING_PAIRS, count_sides, split_sides
from twins import coref as twin

from closeread.tasks.coref.metrics.overlap import Side
from closeread.tasks.coref.metrics.repeats import (
    count_blanc_of_repeats,
    find_repeats,
    has_repeats,
    keep_as_reference,
    repeated_overlap,
)


def test_repeats_are_found_with_the_first_row():
    side = Side(np.array([0, 0, 0, 1, 0, 0]), np.array([7, 5, 7, 7, 5, 7]), np.array([1, 0, 0, 3, 2, 2]))
    assert sorted(map(tuple, find_repeats(side).tolist())) == [(1, 4), (2, 0), (2, 5)]


def test_the_reference_keeps_what_the_key_lacks():
    key, response = twin.side([["ab"]]), twin.side([["ax", "abx", "x"]])
    assert response.select(keep_as_reference(key, response)).mention.tolist() == [ord(m) for m in "axbxx"]


@given(REPEATING_PAIRS)
def test_repeats_are_found_on_either_side(pairs):
    for documents in split_sides(pairs):
        repeats = [twin.mentions(document, document)[0] < sum(map(len, document)) for document in documents]
        assert has_repeats(twin.side(documents)) == any(repeats)


@given(REPEATING_PAIRS)
def test_fast_is_twin(pairs):
    key, response = split_sides(pairs)
    kept = twin.as_reference(key, response)
    side = twin.side(response).select(keep_as_reference(twin.side(key), twin.side(response)))
    assert side.mention.tolist() == twin.side(kept).mention.tolist()
    twin.assert_equal_counts(count_sides(twin.side(key), side, len(key), repeated_overlap), key, kept)


@given(REPEATING_PAIRS)
@example([(["a", "bc", "cd"], ["a", "bc", "cd", "de"])])
def test_clusters_that_lost_their_singletons_are_not_counted(pairs):
    key, response = (
        [[[] if len(cluster) == 1 else cluster for cluster in clusters] for clusters in documents]
        for documents in split_sides(pairs)
    )
    kept = twin.as_reference(key, response)
    twin.assert_equal_counts(count_sides(twin.side(key), twin.side(kept), len(key), repeated_overlap), key, kept)


@given(REPEATING_PAIRS)
def test_blanc_is_a_count_of_sets_whatever_is_repeated(pairs):
    key, response = split_sides(pairs)
    got = count_blanc_of_repeats(repeated_overlap(twin.side(key), twin.side(response), len(key)).places)
    assert got.sum(axis=0).tolist() == twin.summed(twin.blanc, key, response)
