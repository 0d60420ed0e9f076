"""Mentions that occur more than once on a side: what the reference scorer does, next to an exact twin."""

import numpy as np
from hypothesis import example, given
from shared.coreference_kernels import PAIRS, REPEATING_PAIRS, count_sides, split_sides
from twins import coref as twin

from closeread.tasks.coref.metrics.overlap import Side
from closeread.tasks.coref.metrics.repeats import (
    blanc_counts,
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


@given(PAIRS)
def test_without_repeats_nothing_changes(pairs):
    sides = [twin.side(documents) for documents in split_sides(pairs)]
    usual, repeated = (count_sides(*sides, len(pairs), *build) for build in ((), (repeated_overlap,)))
    for name, counts in usual.items():
        np.testing.assert_array_equal(counts, repeated[name], err_msg=name)


def cell_counts(table):
    return np.column_stack([table.shared, table.last_in_both, table.key_rows, table.response_rows]).tolist()


@given(REPEATING_PAIRS)
def test_the_cells_of_the_table(pairs):
    key, response = split_sides(pairs)
    table = repeated_overlap(twin.side(key), twin.side(response), len(key))
    got = cell_counts(table)
    assert cell_counts(table.transposed.transposed) == got
    expected, starts = [], np.cumsum([(0, 0)] + [(len(k), len(r)) for k, r in pairs], axis=0)
    for (k, r), (k0, r0) in zip(pairs, starts.tolist(), strict=False):
        in_key, in_response = twin.where(k), twin.where(r)
        for i, j in ((i, j) for i, one in enumerate(k) for j, other in enumerate(r) if set(one) & set(other)):
            both = set(k[i]) & set(r[j])
            last_in_both = sum(in_key[m] == i and in_response[m] == j for m in both)
            key_rows = sum(r[j].count(m) and in_response[m] == j for m in k[i])
            response_rows = sum(k[i].count(m) and in_key[m] == i for m in r[j])
            expected.append([i + k0, j + r0, len(both), last_in_both, key_rows, response_rows])
    cells = np.column_stack([table.cell_key, table.cell_response]).tolist()
    assert [cell + counted for cell, counted in zip(cells, got, strict=True)] == expected


@given(REPEATING_PAIRS)
def test_blanc_is_a_count_of_sets_whatever_is_repeated(pairs):
    key, response = split_sides(pairs)
    got = blanc_counts(repeated_overlap(twin.side(key), twin.side(response), len(key)))
    assert got.sum(axis=0).tolist() == twin.summed(twin.blanc, key, response)
