"""One-to-one mappings with the greatest total: of key entities to response entities, and of mentions to mentions.

Source: Luo (2005), On coreference resolution performance metrics: the similarity of two clusterings is the weight of a
maximum-weight matching of their clusters.  Where several choices of pairs of mentions have the same sum, the result is
that of SciPy's solver for all candidates of the document in the order of the text, as in CorefUD's scorer
(github.com/ufal/corefud-scorer, version 1.2).
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Floats, Ints, LimitError, Mask
from closeread.tasks.coref.metrics.overlap import sum_by_index

ROWS_PER_CALL = 500
"""About how many rows are solved in one call: each call takes time, and the solver clears all columns for each row."""

MAX_ROWS = 20_000
"""The most key entities that are connected by what they share with response entities and have to be mapped by search.

It takes seconds, which grow with the square of them.
"""


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
    """
    chosen, undecided = _choose_forced(row, column, weight)
    rest = np.flatnonzero(undecided)
    if len(rest):
        group = connect(row[rest], column[rest])
        n_rows = np.bincount(group[np.unique(row[rest], return_index=True)[1]])
        if (most := int(n_rows.max())) > MAX_ROWS:
            first = int(document[rest[np.argmax(group == n_rows.argmax())]])
            raise LimitError(first, most, "entities of the key that overlap with each other's matches", MAX_ROWS)
        batch = (np.cumsum(n_rows) - n_rows) // ROWS_PER_CALL
        for cells in (rest[part] for part in split_by(batch[group], np.arange(len(rest)))):
            chosen[cells[_solve_sparse(row[cells], column[cells], weight[cells])]] = True
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


def connect(row: Ints, column: Ints) -> Ints:
    """Number the groups of cells that are connected by rows and columns they share, (n_cells,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    (rows, r), (columns, c) = (np.unique(line, return_inverse=True) for line in (row, column))
    size = len(rows) + len(columns)
    graph = coo_array((np.ones(len(r)), (r, len(rows) + c)), shape=(size, size))
    group: Ints = connected_components(graph, directed=False)[1][r]
    return group


def split_by(number: Ints, rows: Ints) -> list[Ints]:
    """Split some rows into groups of the same number."""
    rows = rows[np.argsort(number[rows], kind="stable")]
    return np.split(rows, np.flatnonzero(np.diff(number[rows])) + 1) if len(rows) else []


def _solve_sparse(row: Ints, column: Ints, weight: Floats) -> Ints:
    """Find the cells of a maximum-weight matching."""
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
