"""Maximum-weight matching: pairs of rows and columns, one to one, with the greatest total weight.

Source: the Hungarian method by shortest augmenting paths (Kuhn 1955, Tomizawa 1971).  It is exact for integers, and
saves most commands the import of SciPy, whose solver is used for tables in which many rows compete for columns.

Conventions: a cell that is not listed has weight 0, and a row and a column without a cell can't be paired.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from closeread.arrays import Floats, Ints, Mask, sum_groups

# Looking at so many cells takes less time than importing SciPy; a document that needs more of it is left to SciPy.
MAX_CELLS_SEARCHED = 50_000

NONE = -1


def best_assignment(weights: Sequence[Mapping[int, int]]) -> list[int]:
    """Return the column of each row, or `NONE`, in a maximum-weight matching of positive integers, given by column.

    Among ties, it is the first when compared row by row, smallest column first, and `NONE` last.
    """
    column_of, row_prices, column_prices = _solve(weights, inf)
    row_of = {column: row for row, column in enumerate(column_of)}
    # A matching has maximum weight if and only if all its cells are tight and it has all columns with a price.
    tight = []
    for row, cells in enumerate(weights):
        price = row_prices[row]
        columns = sorted(
            column for column, weight in cells.items() if price + column_prices[column] == weight
        )
        # a row without a price may also stay alone, in a column of its own
        if not price:
            columns.append(~row)
        tight.append(columns)
    for row, columns in enumerate(tight):
        for column in columns:
            if column == column_of[row]:
                break
            if _give_column(row, column, tight, column_of, row_of, column_prices):
                break
    return [max(column, NONE) for column in column_of]


def _give_column(
    row: int,
    wanted: int,
    tight: Sequence[Sequence[int]],
    column_of: list[int],
    row_of: dict[int, int],
    column_prices: Mapping[int, int],
) -> bool:
    """Give a row the column that it wants, if later rows can move so that all columns with a price stay taken.

    The search goes from the wanted column to the columns to which its row can move, and so on, until a column is found
    that may be free: the one that the row leaves.
    """
    start = column_of[row]
    came_from: dict[int, int | None] = {wanted: None}
    is_open = True
    queue = [wanted]
    for column in queue:
        if column == start:
            break
        if column in row_of:
            following = tight[row_of[column]] if row_of[column] > row else []
        elif is_open:
            # one more column is taken, so any without a price can be left
            is_open = False
            following = [
                other
                for other, taker in row_of.items()
                if taker >= row and not column_prices.get(other, 0)
            ]
        else:
            continue
        unseen = [other for other in following if other not in came_from]
        came_from |= dict.fromkeys(unseen, column)
        queue += unseen
    else:
        return False
    del row_of[start]
    while (previous := came_from[column]) is not None:
        if previous in row_of:
            mover = row_of.pop(previous)
            column_of[mover] = column
            row_of[column] = mover
        else:
            row_of.pop(column, None)
        column = previous
    column_of[row] = wanted
    row_of[wanted] = row
    return True


class _TooManyCellsError(Exception):
    """A search has looked at more cells than it may."""


def _solve(
    weights: Sequence[Mapping[int, Any]], max_cells: float
) -> tuple[list[int], list[Any], Mapping[int, Any]]:
    """Return a matching of maximum weight: the column of each row, `~row` if it has none; and the dual variables.

    Those are a price of each row and of each column, and where paired, both prices together are the weight; elsewhere
    they are no less.  Rows are added one by one, each along a shortest path of moves of earlier rows.

    Raises:
        _TooManyCellsError: more than `max_cells` cells have to be looked at.
    """
    row_prices: list[Any] = []
    column_prices: defaultdict[int, Any] = defaultdict(int)
    column_of: list[int] = []
    row_of: dict[int, int] = {}
    n_cells = 0
    for start, cells in enumerate(weights):
        row_prices.append(max(cells.values(), default=0))
        column_of.append(~start)
        distance: dict[int, Any] = {}
        came_from: dict[int, int] = {}
        visited: dict[int, Any] = {}
        heap: list[tuple[Any, bool, int]] = []
        row = start
        least = 0
        while True:
            n_cells += len(weights[row])
            if n_cells > max_cells:
                raise _TooManyCellsError
            for column, weight in (*weights[row].items(), (~row, 0)):
                further = least + row_prices[row] + column_prices[column] - weight
                if column not in visited and further < distance.get(column, inf):
                    distance[column] = further
                    came_from[column] = row
                    heappush(heap, (further, column in row_of, column))
            least, _, column = heappop(heap)
            while column in visited:
                least, _, column = heappop(heap)
            if column not in row_of:
                break
            visited[column] = least
            row = row_of[column]
        row_prices[start] -= least
        for passed, passed_at in visited.items():
            row_prices[row_of[passed]] -= least - passed_at
            column_prices[passed] += least - passed_at
        row = NONE
        while row != start:
            row = came_from[column]
            row_of[column] = row
            next_column = column_of[row]
            column_of[row] = column
            column = next_column
    return column_of, row_prices, column_prices


def best_total(row: Ints, column: Ints, weight: Floats, document: Ints, n_documents: int) -> Floats:
    """Return the weight of a maximum-weight matching of each document, from columns of cells.

    Source: Luo (2005), On coreference resolution performance metrics: the similarity of two clusterings is the weight
    of a maximum-weight matching of their clusters.  No row or column is in two documents, and no cell occurs twice.
    """
    chosen = choose_cells(row, column, weight, document, n_documents)
    return sum_groups(document[chosen], weight[chosen], n_documents)


def choose_cells(row: Ints, column: Ints, weight: Floats, document: Ints, n_documents: int) -> Mask:
    """Mark the cells of the matching of which `best_total` returns the weight."""
    chosen = np.zeros(len(row), np.bool_)
    order = np.argsort(document, kind="stable")
    borders = np.searchsorted(document[order], np.arange(n_documents + 1)).tolist()
    for begin, end in pairwise(borders):
        if begin == end:
            continue
        cells = order[begin:end]
        _, row_number = np.unique(row[cells], return_inverse=True)
        table = (row_number, column[cells], weight[cells])
        try:
            chosen[cells] = _choose_by_search(*table)
        except _TooManyCellsError:
            chosen[cells] = _choose_by_scipy(*table)
    return chosen


def _choose_by_search(row: Ints, column: Ints, weight: Floats) -> list[bool]:
    """Mark the cells of a maximum-weight matching; rows are numbered from 0."""
    cells = list(zip(row.tolist(), column.tolist(), weight.tolist(), strict=True))
    table: list[dict[int, float]] = [{} for _ in range(1 + max(row.tolist()))]
    for i, j, cell_weight in cells:
        table[i][j] = cell_weight
    column_of, _, _ = _solve(table, MAX_CELLS_SEARCHED)
    return [column_of[i] == j for i, j, _ in cells]


def _choose_by_scipy(row: Ints, column: Ints, weight: Floats) -> Mask:
    """Mark the cells of a maximum-weight matching; rows are numbered from 0."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n_rows = int(row.max()) + 1
    columns, column_number = np.unique(column, return_inverse=True)
    # The solver matches every row and takes no zero costs: an extra column for each row lets the row stay unmatched.
    cost_unmatched = 1.0 + weight.max()
    rows = np.arange(n_rows)
    cost = np.concatenate([cost_unmatched - weight, np.full(n_rows, cost_unmatched)])
    # Older SciPy solvers accept 32-bit indices only and do not convert wider ones.
    at_row = np.concatenate([row, rows]).astype(np.int32)
    at_column = np.concatenate([column_number, len(columns) + rows]).astype(np.int32)
    graph = csr_array((cost, (at_row, at_column)), shape=(n_rows, len(columns) + n_rows))
    matched, partner_of_matched = min_weight_full_bipartite_matching(graph)
    partner = np.empty(n_rows, dtype=np.int64)
    partner[matched] = partner_of_matched
    is_chosen: Mask = partner[row] == column_number
    return is_chosen
