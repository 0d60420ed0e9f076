"""Counts where mentions are matched by minimum spans, so that several mentions of a side can be the same.

Source: the scorer of Moosavi et al. (2019, github.com/ns-moosavi/coval), whose counts of MUC, B-cubed, CEAFe and LEA
these are.  As for the reference scorer (`repeated_mentions`), the last cluster of a mention is the one that counts on
the other side, but recall and precision are counted alike: each row of a side is looked up on the other.  Its CEAFm
divides by clusters, and it has no BLANC: for these, CEAFm counts a mention of two clusters as often as both have it,
and BLANC is that of `repeated_mentions`.

Conventions: as in `repeated_mentions`.  Without repeated mentions all counts are those of `entity_metrics`.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Floats, Ints, Mask, mark_run_starts
from closeread.tasks.coref.kernels.entity_metrics import ceaf_counts
from closeread.tasks.coref.kernels.overlap import match_rows, number_cells
from closeread.tasks.coref.kernels.repeated_mentions import RepeatedOverlap, find_occurrences, repeated_overlap
from closeread.tasks.coref.kernels.sides import Side, mention_codes


class MinimumOverlap(RepeatedOverlap):
    """An overlap of sides whose mentions are matched by minimum spans."""


def minimum_overlap(key: Side, response: Side, n_documents: int) -> MinimumOverlap:
    """Build the table of key and response; arguments as for `overlap.overlap`."""
    return MinimumOverlap(**vars(repeated_overlap(key, response, n_documents)))


def muc_counts(overlap: MinimumOverlap) -> Floats:
    """MUC recall; pass `overlap.transposed` for precision.

    Returns:
        (n_documents, 2) float64, columns `entity_metrics.ONE_SIDE`.
    """
    found = overlap.per_document(overlap.key_rows - (overlap.key_rows > 0))
    return np.column_stack([found, overlap.per_key_document(np.maximum(overlap.key.size - 1, 0))])


def b_cubed_counts(overlap: MinimumOverlap) -> Floats:
    """B-cubed recall; pass `overlap.transposed` for precision."""
    found = overlap.key_rows**2 / overlap.key.size[overlap.cell_key]
    return np.column_stack([overlap.per_document(found), overlap.per_key_document(overlap.key.size)])


def ceafm_counts(overlap: MinimumOverlap) -> Floats:
    """CEAF where two clusters share a mention as often as both have it."""
    codes, key_row, response_row, cell = _match(overlap)
    sides = zip(codes, overlap.sides, (key_row, response_row), strict=True)
    nth = [_number_repeats(code, side.entity)[row] for code, side, row in sides]
    shared = np.bincount(cell[nth[0] == nth[1]], minlength=len(overlap.cell_key))
    return ceaf_counts(overlap, shared.astype(np.float64), overlap.key.size, overlap.response.size)


def ceafe_counts(overlap: MinimumOverlap) -> Floats:
    """CEAF by twice the rows of the key cluster that the response cluster has, over the sum of both sizes."""
    codes, _, response_row, cell = _match(overlap)
    is_first = find_occurrences(codes[1], overlap.sides[1].entity).first[response_row]
    shared = np.bincount(cell[is_first], minlength=len(overlap.cell_key))
    sizes = overlap.key.size[overlap.cell_key] + overlap.response.size[overlap.cell_response]
    return ceaf_counts(overlap, 2.0 * shared / sizes, overlap.key.size > 0, overlap.response.size > 0)


def _match(overlap: MinimumOverlap) -> tuple[list[Ints], Ints, Ints, Ints]:
    """Return the codes of both sides, and key row, response row and cell of each pair of rows that match."""
    key, response = overlap.sides
    codes = mention_codes(key, response)
    key_row, response_row = match_rows(codes[0], codes[1])
    numbers = number_cells(key, response, key_row, response_row)
    return codes, key_row, response_row, np.unique(numbers, return_inverse=True)[1]


def _number_repeats(code: Ints, entity: Ints) -> Ints:
    """Number the rows of each mention in each cluster from 0."""
    order = np.lexsort((entity, code))
    is_new: Mask = mark_run_starts(code[order]) | mark_run_starts(entity[order])
    places = np.arange(len(order))
    number = np.empty_like(order)
    number[order] = places - np.maximum.accumulate(np.where(is_new, places, 0))
    return number
