"""What each mention adds to recall and precision, so that scores can be summed over any groups of mentions.

Conventions: recall is the sum of what is found over the sum of what there is; summed over all mentions of the key, both
are the counts of the whole metric.  Precision is the same with the sides swapped.  No mention occurs twice on a side.

* mentions: a mention is 1, and is found if the other side has it.
* MUC (Vilain et al. 1995): a cluster of n mentions has n - 1 links.  The link of a mention that is not the first of its
  cluster is 1, and is found if an earlier mention of its cluster is in its cluster on the other side, too.  This is the
  anaphor-decomposable score of the CRAC shared task (Žabokrtský et al. 2022), where an anaphor is
  resolved if the response links it to one of its antecedents.
* B-cubed (Bagga and Baldwin 1998): a mention is 1; the share of its cluster that is with it on the other side is found.
* LEA (Moosavi and Strube 2016): a cluster of n mentions has weight n and n (n - 1) / 2 links.  Each link is divided
  between its two mentions, so that a mention is 1, and the share of its n - 1 links is found.  A singleton has one
  link, to itself, which is found if the mention is a singleton on the other side, too.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Floats, Ints, Mask, mark_run_starts
from closeread.tasks.coref.kernels.overlap import match_rows
from closeread.tasks.coref.kernels.sides import Side, mention_codes, sum_by_index

METRICS = ("mentions", "muc", "b3", "lea")
"""The metrics that are sums over mentions; the others map clusters to clusters or count links between clusters."""


Lookups = tuple[tuple[Side, Side], tuple[Side, Side]]
"""Key and response twice: with the codes by which the mentions of the key are found, and those of the response."""


def share_mentions(sides: tuple[Side, Side], lookups: Lookups, orders: tuple[Ints, Ints]) -> tuple[Floats, Floats]:
    """Return what each mention of the key adds to recall, and what each of the response adds to precision.

    Args:
        sides: key and response, with equal codes for mentions that match.
        lookups: the same rows, as the entities of mentions are found; usually `sides` twice.
        orders: for each side (n_mentions,) its rows in the order of the text.

    Returns:
        For each side (n_mentions, 2 * len(METRICS)): for each of `METRICS` what is found, and what there is.
    """
    key_code, response_code = mention_codes(*sides)
    matched = np.isin(key_code, response_code), np.isin(response_code, key_code)
    key_row, its_row = match_rows(*mention_codes(*lookups[0]))
    its_key_row, response_row = match_rows(*mention_codes(*lookups[1]))
    return (
        _share_side(*sides, orders[0], matched[0], key_row, its_row),
        _share_side(sides[1], sides[0], orders[1], matched[1], response_row, its_key_row),
    )


def sum_groups(
    sides: tuple[Side, Side], shares: tuple[Floats, Floats], groups: tuple[Ints, Ints], n_groups: int, n_documents: int
) -> Floats:
    """Sum the shares of the mentions of each group, for every document.

    Args:
        sides: key and response.
        shares: as `share_mentions` returns them.
        groups: for each side (n_mentions,) the group of each mention, from 0.
        n_groups, n_documents: the numbers of groups and of documents.

    Returns:
        (n_groups, n_documents, 4 * len(METRICS)): for each of `METRICS` what is found of the key, what the key has,
        what is found of the response, what the response has.
    """
    sums = []
    for side, values, group in zip(sides, shares, groups, strict=True):
        index = group * n_documents + side.document
        columns = [sum_by_index(index, column, n_groups * n_documents) for column in values.T]
        sums.append(np.column_stack(columns).reshape(n_groups, n_documents, len(METRICS), 2))
    return np.concatenate(sums, axis=3).reshape(n_groups, n_documents, -1)


def _share_side(own: Side, other: Side, order: Ints, matched: Mask, own_row: Ints, other_row: Ints) -> Floats:
    """Return what each mention of a side adds to its recall.

    Args:
        own, other: the side, and the other one.
        order: the rows of the side in the order of the text.
        matched: (n_mentions,) whether the other side has the mention.
        own_row, other_row: (n_found,) the rows of the side whose entity on the other side is found, and where.
    """
    n = len(own.entity)
    size = np.bincount(own.entity, minlength=1)[own.entity]
    there = np.full(n, -1)
    there[own_row] = other.entity[other_row]
    is_found = there >= 0
    cell = np.where(is_found, own.entity * (other.n_entities + 1) + there, -1)
    _, number, n_shared = np.unique(cell, return_inverse=True, return_counts=True)
    shared = np.where(is_found, n_shared[number], 0)
    is_alone_there = np.bincount(other.entity, minlength=1)[there] == 1
    is_first = _mark_first(own.entity, order)
    lea = np.where(size == 1, is_found & is_alone_there, np.maximum(shared - 1, 0) / np.maximum(size - 1, 1))
    ones = np.ones(n)
    found_all = (
        (matched, ones),
        (is_found & ~_mark_first(cell, order), ~is_first),
        (shared / np.maximum(size, 1), ones),
        (lea, ones),
    )
    return np.column_stack([column for pair in found_all for column in pair]).astype(np.float64)


def _mark_first(values: Ints, order: Ints) -> Mask:
    """Mark the first row of each value, in an order of the rows."""
    by_value = order[np.argsort(values[order], kind="stable")]
    first = np.zeros(len(values), np.bool_)
    first[by_value] = mark_run_starts(values[by_value])
    return first
