"""The best one-to-one mapping of key clusters to response clusters, for all documents at once.

Source: Luo (2005), On coreference resolution performance metrics: the similarity of two clusterings is
the weight of a maximum-weight matching of their clusters.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Floats, Ints, LimitError, Mask
from closeread.tasks.coref.kernels.sides import sum_by_index

# The solver clears an array of all columns for each row, so many small documents are faster in several calls.
ROWS_PER_CALL = 500

MANY_ROWS = 2000
"""Of documents with more rows than this, cells that need no search are found one by one, which takes linear time."""

MAX_ROWS = 20_000
"""The most key entities of a document that have to be mapped by search; it takes seconds, and the square of them.

More are mapped in phases, unless that takes more than `phases.MAX_PHASES`.
"""

MAX_ROWS_IN_PHASES = 100_000
"""The most key entities of a document that are mapped in phases, each of which takes up to half a second then."""


def best_total(row: Ints, column: Ints, weight: Floats, document: Ints, n_documents: int) -> Floats:
    """Weight of a maximum-weight matching, per document.

    Args:
        row: (n_cells,) the row of each cell; cells that are not listed have weight 0.
        column: (n_cells,) its column; no row or column is in two documents, and no cell occurs twice.
        weight: (n_cells,) its weight, not negative.
        document: (n_cells,) its document.
        n_documents: the number of documents.

    Returns:
        (n_documents,) float64.

    Raises:
        LimitError: a document has more than `MAX_ROWS` rows that no rule maps, nor the phases.
    """
    chosen, undecided = _choose_forced(row, column, weight)
    rest = np.flatnonzero(undecided)
    for batch in _split_into_batches(row[rest], document[rest]):
        cells = rest[batch]
        solve = _solve_many if len(np.unique(row[cells])) > MANY_ROWS else _solve
        chosen[cells[solve(row[cells], column[cells], weight[cells], document[cells])]] = True
    return sum_by_index(document[chosen], weight[chosen], n_documents)


def _choose_forced(row: Ints, column: Ints, weight: Floats) -> tuple[Mask, Mask]:
    """Choose the cells that need no search.

    A cell that is the only one of its row and the heaviest of its column belongs to some best matching: adding it
    displaces at most one cell, which is no heavier.  The same holds with row and column swapped.  Its row and its
    column are then taken, which may leave other cells alone in their row or column.

    Returns:
        Two masks over the cells: the chosen ones, and the undecided ones.
    """
    chosen = np.zeros(len(row), dtype=np.bool_)
    rest = np.arange(len(row))
    while rest.size:
        r, c, w = row[rest], column[rest], weight[rest]
        picked = np.concatenate([rest[_find_forced(r, c, w)], rest[_find_forced(c, r, w)]])
        chosen[picked] = True
        taken_row, taken_column = np.zeros(row.max() + 1, np.bool_), np.zeros(column.max() + 1, np.bool_)
        taken_row[row[picked]] = taken_column[column[picked]] = True
        rest = rest[~(taken_row[r] | taken_column[c])]
        # In a long chain each round finds one cell only; the solver is faster then.
        if 100 * picked.size <= rest.size:
            break
    undecided = np.zeros(len(row), dtype=np.bool_)
    undecided[rest] = True
    return chosen, undecided


def _find_forced(line: Ints, other: Ints, weight: Floats) -> Ints:
    """Find the cells that are alone in their line and the heaviest of the other line, one per other line."""
    heaviest = np.zeros(other.max() + 1)
    np.maximum.at(heaviest, other, weight)
    cells = np.flatnonzero((np.bincount(line)[line] == 1) & (weight == heaviest[other]))
    return cells[np.unique(other[cells], return_index=True)[1]]


def _split_into_batches(row: Ints, document: Ints) -> list[Ints]:
    """Split the cells into groups of whole documents, of about ROWS_PER_CALL rows each or a single larger document."""
    if not row.size:
        return []
    rows = np.bincount(document[np.unique(row, return_index=True)[1]])
    batch = ((np.cumsum(rows) - rows) // ROWS_PER_CALL)[document]
    order = np.argsort(batch, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(batch[order])) + 1)


def _solve_many(row: Ints, column: Ints, weight: Floats, document: Ints) -> Ints:
    """Find the cells of a maximum-weight matching of many rows; arguments as for `_solve`.

    Raises:
        LimitError: more than `MAX_ROWS` need a search, and can't be mapped in phases.
    """
    from closeread.tasks.coref.kernels.tangles import add_leaves, peel

    row, column = (np.unique(line, return_inverse=True)[1] for line in (row, column))
    peeled = peel(row, column, weight)
    left = np.flatnonzero(peeled.left)
    chosen = np.zeros(len(row), np.bool_)
    if len(left):
        solve = _solve_huge if len(np.unique(row[left])) > MAX_ROWS else _solve
        chosen[left[solve(row[left], column[left], peeled.weight[left], document[left])]] = True
    return np.flatnonzero(add_leaves(row, column, chosen, peeled.leaves))


def _solve_huge(row: Ints, column: Ints, weight: Floats, document: Ints) -> Ints:
    """Find the cells of a maximum-weight matching in phases; arguments as for `_solve`.

    Raises:
        LimitError: there are more rows than `MAX_ROWS_IN_PHASES`, or they take too many phases.
    """
    from closeread.tasks.coref.kernels.phases import match_in_phases

    (rows, r), (_, c) = (np.unique(line, return_inverse=True) for line in (row, column))
    found = match_in_phases(r, c, weight) if len(rows) <= MAX_ROWS_IN_PHASES else None
    if found is None:
        limit = MAX_ROWS if len(rows) <= MAX_ROWS_IN_PHASES else MAX_ROWS_IN_PHASES
        what = "entities of the key that overlap with each other's matches"
        raise LimitError(int(document[0]), len(rows), what, limit)
    return np.flatnonzero(found.chosen)


def _solve(row: Ints, column: Ints, weight: Floats, document: Ints) -> Ints:
    """Find the cells of a maximum-weight matching."""
    del document
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, r = np.unique(row, return_inverse=True)
    columns, c = np.unique(column, return_inverse=True)
    # The solver matches every row and takes no zero costs: an extra column for each row lets the row stay unmatched.
    free = 1.0 + weight.max()
    own = np.arange(len(rows))
    # Older SciPy solvers accept 32-bit indices only and do not convert wider ones.
    at_row = np.concatenate([r, own]).astype(np.int32)
    at_column = np.concatenate([c, len(columns) + own]).astype(np.int32)
    cost = np.concatenate([free - weight, np.full(len(rows), free)])
    graph = csr_array((cost, (at_row, at_column)), shape=(len(rows), len(columns) + len(rows)))
    matched, at = min_weight_full_bipartite_matching(graph)
    partner = np.empty(len(rows), dtype=np.int64)
    partner[matched] = at
    return np.flatnonzero(partner[r] == c)
