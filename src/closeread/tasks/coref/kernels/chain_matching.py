"""The best one-to-one matching of annotated chains and gold chains, and what is wrong with each annotated chain.

Source: Schüller et al. (2018), section 3.4.1, whose kinds of mistakes are made exact here.

Conventions: a table has a row for each annotated chain and a column for each gold chain of a document; a cell is the
number of mentions in both.  Its weight is first the number of links in both, n (n - 1) / 2 of n mentions, then the
number of mentions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, LimitError, Mask
from closeread.assignment import best_assignment

NONE = -1

KINDS = ("exact", "missing", "mixed", "extra", "spurious")
EXACT, MISSING, MIXED, EXTRA, SPURIOUS = range(len(KINDS))

MAX_TOGETHER = 1_000
"""The most chains of a side that mentions connect and that may match; work grows with the cube."""


class Judged(NamedTuple):
    """The annotated chains of a document, compared with gold.

    Attributes:
        reference: (n_rows,) the gold chain that each is compared with; `NONE` if none shares a mention.
        kind: (n_rows,) its kind, an index of `KINDS`.
        missing: (n_rows,) the number of mentions of its reference that it lacks.
        foreign: (n_rows,) the number of its mentions that are in other gold chains.
    """

    reference: Ints
    kind: Ints
    missing: Ints
    foreign: Ints


def judge_chains(shared: Ints, sizes: Ints, gold_sizes: Ints, document: int = 0) -> Judged:
    """Compare the annotated chains of a document with its gold chains.

    The reference of a chain is its match; without one, the gold chain with most common links, then most common
    mentions, then the first.  The kind is the first of these that holds: "exact": the chain is its reference;
    "spurious": none of its mentions is in a gold chain; "mixed": it has mentions of other gold chains; "missing": it
    lacks mentions of its reference; "extra": it has mentions of no gold chain.

    Args:
        shared: (n_rows, n_columns) the mentions in both chains.
        sizes: (n_rows,) the mentions of each annotated chain.
        gold_sizes: (n_columns,) those of each gold chain.
        document: the number of the document, for the error.

    Raises:
        LimitError: more than `MAX_TOGETHER` chains are connected by mentions they share.
    """
    reference = match_chains(shared, document)
    found = shared.sum(axis=1)
    left = np.flatnonzero((reference == NONE) & (found > 0))
    if left.size:
        reference[left] = shared[left].argmax(axis=1)  # most mentions are most links, and the first comes first
    has_reference = reference != NONE
    rows = np.flatnonzero(has_reference)
    common = np.zeros(len(sizes), np.int64)
    common[rows] = shared[rows, reference[rows]]
    missing = np.zeros(len(sizes), np.int64)
    missing[rows] = gold_sizes[reference[rows]] - common[rows]
    foreign = found - common
    kind = np.select(
        [~has_reference, foreign > 0, missing > 0, sizes > found], [SPURIOUS, MIXED, MISSING, EXTRA], EXACT
    )
    return Judged(reference, kind, missing, foreign)


def match_chains(shared: Ints, document: int = 0) -> Ints:
    """Match annotated chains and gold chains one to one, with the greatest total weight.

    Among the best matchings, the one in which the first row has the first column possible, or none if it can't have
    any, then the second row, and so on: it depends on the order of chains alone, not on the solver.

    Args:
        shared: (n_rows, n_columns) the mentions in both chains.
        document: the number of the document, for the error.

    Returns:
        (n_rows,) the column of each row; `NONE` for a row without a match.  Chains that share no mention are no match.

    Raises:
        LimitError: more than `MAX_TOGETHER` chains are connected by mentions they share.
    """
    # Links and mentions in one integer: no total of mentions reaches the weight of a link.
    weight = (shared * (shared - 1) // 2) * (shared.sum() + 1) + shared
    matched = np.full(len(shared), NONE)
    for rows, columns in _list_components(shared > 0):
        own = _match_component(weight[np.ix_(rows, columns)], document)
        matched[rows] = np.where(own == NONE, NONE, columns[own])
    return matched


def _list_components(touches: Mask) -> list[tuple[Ints, Ints]]:
    """List the rows and the columns of each connected part of a table, in ascending order."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_rows, n_columns = touches.shape
    row, column = np.nonzero(touches)
    n = n_rows + n_columns
    graph = coo_array((np.ones(len(row)), (row, n_rows + column)), shape=(n, n))
    label = connected_components(graph, directed=False)[1]
    of_row, of_column = label[:n_rows], label[n_rows:]
    return [(np.flatnonzero(of_row == number), np.flatnonzero(of_column == number)) for number in np.unique(label[row])]


def _match_component(weight: Ints, document: int) -> Ints:
    """Match the rows and columns of a connected part, (n_rows,); `NONE` for a row without a match.

    Raises:
        LimitError: too many rows or columns are left after those that can't be in the best matching.
    """
    rows = _find_useful(weight.T)
    columns = _find_useful(weight[rows])
    side = max(len(rows), len(columns))
    if side > MAX_TOGETHER:
        raise LimitError(document, side, "chains that share mentions with the same chains", MAX_TOGETHER)
    square = np.zeros((side, side), np.int64)
    square[: len(rows), : len(columns)] = weight[np.ix_(rows, columns)]
    found = best_assignment(square)[: len(rows)]
    matched = np.full(len(weight), NONE)
    matched[rows] = np.where(found == NONE, NONE, columns[found])
    return matched


def _find_useful(weight: Ints) -> Ints:
    """Find the columns that may be in the first of the best matchings, in ascending order.

    If n rows have a match, a row with a column that is not among its n heaviest, of which the first come first, could
    have one of these instead, which no other row has.
    """
    n_rows, n_columns = weight.shape
    if n_columns <= n_rows:
        return np.arange(n_columns)
    return np.unique(np.argsort(-weight, axis=1, kind="stable")[:, :n_rows])
