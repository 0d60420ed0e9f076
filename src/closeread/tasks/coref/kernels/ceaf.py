"""The best one-to-one mapping between key and response clusters, for all documents at once.

Source: Luo (2005), On coreference resolution performance metrics: the similarity of two clusterings is
the weight of a maximum-weight matching of their clusters.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Floats, Ints, Mask
from closeread.tasks.coref.kernels.sides import sums

# The solver clears an array of all columns for every row, so many small documents are cheaper in several calls.
ROWS_PER_CALL = 500


def best_total(row: Ints, column: Ints, weight: Floats, document: Ints, n_documents: int) -> Floats:
    """The weight of a maximum-weight matching in every document.

    Args:
        row: (n_cells,) the row of every cell; those that are left out weigh nothing.
        column: (n_cells,) its column; no row and no column lies in two documents, no cell occurs twice.
        weight: (n_cells,) its weight, not negative.
        document: (n_cells,) its document.
        n_documents: how many documents there are.

    Returns:
        (n_documents,) float64.
    """
    chosen, open_cells = _forced(row, column, weight)
    rest = np.flatnonzero(open_cells)
    for batch in _batches(row[rest], document[rest]):
        cells = rest[batch]
        chosen[cells[_solved(row[cells], column[cells], weight[cells])]] = True
    return sums(document[chosen], weight[chosen], n_documents)


def _forced(row: Ints, column: Ints, weight: Floats) -> tuple[Mask, Mask]:
    """Choose the cells that need no search.

    A cell that is the only one of its row and the heaviest of its column belongs to some best matching: to put it in
    displaces one cell at most, which is no heavier.  So with row and column exchanged.  Its row and its column are
    then taken, which may leave other cells alone in turn.

    Returns:
        Two masks over the cells: those chosen, those that are still open.
    """
    chosen = np.zeros(len(row), dtype=np.bool_)
    left = np.arange(len(row))
    while left.size:
        r, c, w = row[left], column[left], weight[left]
        picked = np.concatenate([left[_heaviest_alone(r, c, w)], left[_heaviest_alone(c, r, w)]])
        chosen[picked] = True
        taken_row, taken_column = np.zeros(row.max() + 1, np.bool_), np.zeros(column.max() + 1, np.bool_)
        taken_row[row[picked]] = taken_column[column[picked]] = True
        left = left[~(taken_row[r] | taken_column[c])]
        # A long chain gives up one cell a round; the solver is quicker then.
        if 100 * picked.size <= left.size:
            break
    still_open = np.zeros(len(row), dtype=np.bool_)
    still_open[left] = True
    return chosen, still_open


def _heaviest_alone(line: Ints, other: Ints, weight: Floats) -> Ints:
    """The cells that are alone in their line and the heaviest of the line across, one for every line across."""
    heaviest = np.zeros(other.max() + 1)
    np.maximum.at(heaviest, other, weight)
    cells = np.flatnonzero((np.bincount(line)[line] == 1) & (weight == heaviest[other]))
    return cells[np.unique(other[cells], return_index=True)[1]]


def _batches(row: Ints, document: Ints) -> list[Ints]:
    """The cells in groups of whole documents, each of about ROWS_PER_CALL rows, or one document if it has more."""
    if not row.size:
        return []
    rows = np.bincount(document[np.unique(row, return_index=True)[1]])
    batch = ((np.cumsum(rows) - rows) // ROWS_PER_CALL)[document]
    order = np.argsort(batch, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(batch[order])) + 1)


def _solved(row: Ints, column: Ints, weight: Floats) -> Ints:
    """The cells of a maximum-weight matching."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, r = np.unique(row, return_inverse=True)
    columns, c = np.unique(column, return_inverse=True)
    # The solver wants every row matched and no cost zero: a column of its own lets a row go unmatched.
    free = 1.0 + weight.max()
    own = np.arange(len(rows))
    # The solver of older SciPy takes 32-bit indices only, and makes none of wider ones.
    at_row = np.concatenate([r, own]).astype(np.int32)
    at_column = np.concatenate([c, len(columns) + own]).astype(np.int32)
    cost = np.concatenate([free - weight, np.full(len(rows), free)])
    graph = csr_array((cost, (at_row, at_column)), shape=(len(rows), len(columns) + len(rows)))
    matched, at = min_weight_full_bipartite_matching(graph)
    partner = np.empty(len(rows), dtype=np.int64)
    partner[matched] = at
    return np.flatnonzero(partner[r] == c)
