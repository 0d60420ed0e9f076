"""A maximum-weight matching of one large, sparse table of cells, by duals that are raised for all lines at once.

Source: the primal-dual method (Kuhn 1955) in phases, as of Hopcroft and Karp (1973): a phase moves the duals along the
shortest ways from all free rows, by Dijkstra's search, and then takes a largest matching of the cells that are tight.
A matching that leaves no line free proves with its duals that no other weighs more.

Every line needs a partner for that.  So each row gets a column of its own and each column a row of its own, both at
weight 0, and where a row takes a column, their own lines take each other.  That doubles the cells; the weight of the
best matching stays the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask

TOLERANCE = 1e-12
"""Cells are tight if their weight differs from the sum of their duals by less than this part of the largest weight."""

MAX_PHASES = 100
"""The most phases of a search; tables with random cells take about fifty."""


class Duals(NamedTuple):
    """A matching and the duals that prove it best.

    Attributes:
        chosen: (n_cells,) the cells of the matching.
        of_rows, of_columns: the duals of rows and columns, not negative; those of the row and the column of a cell sum
            to its weight at least, and all of them to the weight of the matching, up to rounding.
    """

    chosen: Mask
    of_rows: Floats
    of_columns: Floats


class _Cells(NamedTuple):
    """The doubled table, sorted by row: (n_cells,) rows, columns and costs, and the number of rows or columns."""

    row: Ints
    column: Ints
    cost: Floats
    n: int


def match_in_phases(row: Ints, column: Ints, weight: Floats) -> Duals | None:
    """Find a matching of maximum weight.

    Args:
        row, column: (n_cells,) the row and the column of each cell, numbered from 0 without gaps; no cell occurs twice.
        weight: (n_cells,) its weight, above 0.

    Returns:
        The matching; None if it takes more than `MAX_PHASES`.
    """
    n_rows, n_columns = int(row.max()) + 1, int(column.max()) + 1
    cells = _double(row, column, weight, n_rows, n_columns)
    slack = TOLERANCE * float(weight.max())
    of_columns = np.full(cells.n, np.inf)
    np.minimum.at(of_columns, cells.column, cells.cost)
    of_rows = np.full(cells.n, np.inf)
    np.minimum.at(of_rows, cells.row, cells.cost - of_columns[cells.column])
    partner = np.full(cells.n, -1)
    for _ in range(MAX_PHASES):
        reduced = cells.cost - of_rows[cells.row] - of_columns[cells.column]
        partner = _match_tight(cells, reduced <= slack, partner)
        free = np.flatnonzero(partner < 0)
        if not len(free):
            # What a line and its own line have together is never negative, and is all there is.
            duals_of_rows = -of_rows[:n_rows] - of_columns[n_columns:]
            return Duals(partner[row] == column, duals_of_rows, -of_columns[:n_columns] - of_rows[n_rows:])
        to_row, to_column = _measure_ways(cells, np.maximum(reduced, 0), partner, free)
        of_rows -= to_row
        of_columns += to_column
    return None


def _double(row: Ints, column: Ints, weight: Floats, n_rows: int, n_columns: int) -> _Cells:
    """Add a column for each row and a row for each column."""
    own_row, own_column = n_rows + np.arange(n_columns), n_columns + np.arange(n_rows)
    rows = np.concatenate([row, np.arange(n_rows), own_row, n_rows + column])
    columns = np.concatenate([column, own_column, np.arange(n_columns), n_columns + row])
    costs = np.concatenate([-weight, np.zeros(n_rows + n_columns + len(row))])
    order = np.lexsort((columns, rows))
    return _Cells(rows[order], columns[order], costs[order], n_rows + n_columns)


def _match_tight(cells: _Cells, tight: Mask, partner: Ints) -> Ints:
    """Return the column of each row in a largest matching of tight cells, -1 if it has none.

    Args:
        cells, tight: the cells, and which of them are tight.
        partner: a matching of them.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    is_own = partner[cells.row] == cells.column
    at = np.flatnonzero(tight | is_own)
    # The solver starts with the first free column of each row in turn: here with the matching that there is.
    column, starts = cells.column[at].astype(np.int32), _find_starts(cells.row[at], cells.n)
    own = np.flatnonzero(is_own[at])
    first = starts[cells.row[at[own]]]
    column[own], column[first] = column[first], column[own]
    order = np.argsort(partner < 0, kind="stable")
    sizes = np.diff(starts)[order]
    new_starts = np.append(0, np.cumsum(sizes))
    column = column[np.repeat(starts[order] - new_starts[:-1], sizes) + np.arange(len(at))]
    ones = np.ones(len(at), np.int8)
    graph = csr_array((ones, column, new_starts.astype(np.int32)), shape=(cells.n, cells.n))
    found = np.empty_like(partner)
    found[order] = maximum_bipartite_matching(graph, perm_type="column")
    return found


def _find_starts(row: Ints, n: int) -> Ints:
    """Return where each of n rows starts in a sorted list of rows, and the end."""
    return np.append(0, np.cumsum(np.bincount(row, minlength=n)))


def _measure_ways(cells: _Cells, reduced: Floats, partner: Ints, free: Ints) -> tuple[Floats, Floats]:
    """Return how far rows and columns are from the nearest free row, at most as far as the last free column."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    # A column with a partner leads to it at no cost, so both are one node.
    node = cells.n + np.arange(cells.n)
    taken = np.flatnonzero(partner >= 0)
    node[partner[taken]] = taken
    starts = _find_starts(cells.row, 2 * cells.n).astype(np.int32)
    graph = csr_array((reduced, node[cells.column].astype(np.int32), starts), shape=(2 * cells.n, 2 * cells.n))
    distance = dijkstra(graph, indices=free, min_only=True)
    ends = distance[node[node >= cells.n]]
    distance = np.minimum(distance, ends[np.isfinite(ends)].max())
    return distance[: cells.n], distance[node]
