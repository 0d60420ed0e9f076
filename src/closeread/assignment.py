"""Maximum-weight matching: pairs of rows and columns, one to one, with the greatest total weight.

Source: the Hungarian method by shortest augmenting paths (Kuhn 1955, Tomizawa 1971).  It is exact for integers, takes
tables with few cells, and saves most commands the import of SciPy, whose solver is used for large tables of floats.

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

from closeread.arrays import Floats, Ints, LimitError, Mask, sum_groups

MAX_CELLS = 2_000  # the most cells of a document that are solved without SciPy
MAX_ROWS = 20_000
"""The most key entities of a document that overlap with each other's matches and have to be mapped by search.

It takes seconds, which grow with the square of them.
"""

NONE = -1


def best_assignment(weights: Sequence[Mapping[int, int]]) -> list[int]:
    """Return the column of each row, or `NONE`, in a maximum-weight matching of positive integers, given by column.

    Among ties, it is the first when compared row by row, smallest column first, and `NONE` last.
    """
    column_of, u, v = _solve(weights)
    row_of = {column: row for row, column in enumerate(column_of)}
    # A matching has maximum weight if and only if all its cells are tight and it has all columns with a price.
    tight = [
        [
            *sorted(column for column, weight in cells.items() if u[row] + v[column] == weight),
            *[~row] * (not u[row]),
        ]
        for row, cells in enumerate(weights)
    ]
    for row, columns in enumerate(tight):
        for wanted in columns:
            if wanted == column_of[row] or _shift(row, wanted, tight, column_of, row_of, v):
                break
    return [max(column, NONE) for column in column_of]


def _shift(
    row: int,
    wanted: int,
    tight: Sequence[Sequence[int]],
    column_of: list[int],
    row_of: dict[int, int],
    v: Mapping[int, int],
) -> bool:
    """Give a row the column that it wants, if later rows can move so that all columns with a price stay taken."""
    own = column_of[row]
    came_from: dict[int, int | None] = {wanted: None}
    has_end = False
    for column in (queue := [wanted]):
        if column == own:
            break
        if column in row_of:
            following = tight[row_of[column]] if row_of[column] > row else []
        elif has_end:
            continue
        else:  # one more column is taken, so any without a price can be left
            following = [one for one, by in row_of.items() if by >= row and not v.get(one, 0)]
            has_end = True
        new = [one for one in following if one not in came_from]
        came_from |= dict.fromkeys(new, column)
        queue += new
    else:
        return False
    del row_of[own]
    while (before := came_from[column]) is not None:
        if before in row_of:
            mover = row_of.pop(before)
            column_of[mover], row_of[column] = column, mover
        else:
            row_of.pop(column, None)
        column = before
    column_of[row], row_of[wanted] = wanted, row
    return True


def _solve(weights: Sequence[Mapping[int, Any]]) -> tuple[list[int], list[Any], Mapping[int, Any]]:
    """Return a matching of maximum weight: the column of each row, `~row` if it has none; and the dual variables.

    Those are a price of each row and of each column, u[i] + v[j] >= weights[i][j] >= 0, with equality where paired.
    """
    u: list[Any] = []
    v: defaultdict[int, Any] = defaultdict(int)
    column_of: list[int] = []
    row_of: dict[int, int] = {}
    for start, cells in enumerate(weights):
        u.append(max(cells.values(), default=0))
        column_of.append(~start)
        distance: dict[int, Any] = {}
        came_from: dict[int, int] = {}
        done: dict[int, Any] = {}
        heap: list[tuple[Any, bool, int]] = []
        row, least = start, 0
        while True:
            for column, weight in (*weights[row].items(), (~row, 0)):
                further = least + u[row] + v[column] - weight
                if column not in done and further < distance.get(column, inf):
                    distance[column], came_from[column] = further, row
                    heappush(heap, (further, column in row_of, column))
            least, _, column = heappop(heap)
            while column in done:
                least, _, column = heappop(heap)
            if column not in row_of:
                break
            done[column] = least
            row = row_of[column]
        u[start] -= least
        for passed, at in done.items():
            u[row_of[passed]] -= least - at
            v[passed] += least - at
        while True:
            row = came_from[column]
            row_of[column] = row
            column_of[row], column = column, column_of[row]
            if row == start:
                break
    return column_of, u, v


def best_total(row: Ints, column: Ints, weight: Floats, document: Ints, n_documents: int) -> Floats:
    """Return the weight of a maximum-weight matching of each document, from columns of cells.

    Source: Luo (2005), On coreference resolution performance metrics: the similarity of two clusterings is the weight
    of a maximum-weight matching of their clusters.  No row or column is in two documents, and no cell occurs twice.
    """
    chosen, undecided = _choose_forced(row, column, weight)
    rest = np.flatnonzero(undecided)
    rest = rest[np.argsort(document[rest], kind="stable")]
    borders = [*np.flatnonzero(np.diff(document[rest], prepend=-1)).tolist(), len(rest)]
    for begin, end in pairwise(borders):
        cells = rest[begin:end]
        rows, r = np.unique(row[cells], return_inverse=True)
        if len(rows) > MAX_ROWS:
            what = "entities of the key that overlap with each other's matches"
            raise LimitError(int(document[cells[0]]), len(rows), what, MAX_ROWS)
        if len(cells) > MAX_CELLS:
            chosen[cells[_solve_sparse(r, column[cells], weight[cells])]] = True
            continue
        table: list[dict[int, float]] = [{} for _ in rows]
        listed = list(zip(r.tolist(), column[cells].tolist(), weight[cells].tolist(), strict=True))
        for i, j, value in listed:
            table[i][j] = value
        column_of = _solve(table)[0]
        chosen[cells] = [column_of[i] == j for i, j, _ in listed]
    return sum_groups(document[chosen], weight[chosen], n_documents)


def _choose_forced(row: Ints, column: Ints, weight: Floats) -> tuple[Mask, Mask]:
    """Return the masks of the cells that are chosen without search, and of those that are left undecided.

    A cell that is the only one of its row and the heaviest of its column belongs to some best matching: adding it
    displaces at most one cell, which is no heavier.  The same holds with row and column swapped.  Its row and its
    column are then taken, which may leave other cells alone in their row or column.
    """
    chosen, undecided = np.zeros(len(row), np.bool_), np.zeros(len(row), np.bool_)
    rest = np.arange(len(row))
    while rest.size:
        r, c, w = row[rest], column[rest], weight[rest]
        picked = np.concatenate([rest[_find_forced(r, c, w)], rest[_find_forced(c, r, w)]])
        chosen[picked] = True
        taken_row, taken_column = (
            np.zeros(row.max() + 1, np.bool_),
            np.zeros(column.max() + 1, np.bool_),
        )
        taken_row[row[picked]] = taken_column[column[picked]] = True
        rest = rest[~(taken_row[r] | taken_column[c])]
        # In a long chain each round finds one cell only; search is faster then.
        if 100 * picked.size <= rest.size:
            break
    undecided[rest] = True
    return chosen, undecided


def _find_forced(line: Ints, other: Ints, weight: Floats) -> Ints:
    """Find the cells that are alone in their line and the heaviest of the other line, one per other line."""
    heaviest = np.zeros(other.max() + 1)
    np.maximum.at(heaviest, other, weight)
    cells = np.flatnonzero((np.bincount(line)[line] == 1) & (weight == heaviest[other]))
    return cells[np.unique(other[cells], return_index=True)[1]]


def _solve_sparse(row: Ints, column: Ints, weight: Floats) -> Ints:
    """Find the cells of a maximum-weight matching; rows are numbered from 0."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n_rows = int(row.max()) + 1
    columns, c = np.unique(column, return_inverse=True)
    # The solver matches every row and takes no zero costs: an extra column for each row lets the row stay unmatched.
    free = 1.0 + weight.max()
    own = np.arange(n_rows)
    # Older SciPy solvers accept 32-bit indices only and do not convert wider ones.
    at_row = np.concatenate([row, own]).astype(np.int32)
    at_column = np.concatenate([c, len(columns) + own]).astype(np.int32)
    cost = np.concatenate([free - weight, np.full(n_rows, free)])
    graph = csr_array((cost, (at_row, at_column)), shape=(n_rows, len(columns) + n_rows))
    matched, at = min_weight_full_bipartite_matching(graph)
    partner = np.empty(n_rows, dtype=np.int64)
    partner[matched] = at
    return np.flatnonzero(partner[row] == c)
