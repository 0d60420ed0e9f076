"""The heaviest assignment in whole numbers, and of several the first by their columns.

Source: the Hungarian method by shortest augmenting paths (Kuhn 1955, Tomizawa 1971).

Conventions: weights are an (n, n) array of integers from 0, of any integer type or of Python's integers; every row gets
a column of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Numbers = NDArray[Any]


def best_assignment(weight: Numbers) -> Ints:
    """The heaviest assignment; of several, that with the smallest columns, row by row, and no column last.

    Args:
        weight: (n, n) integers from 0; 0 stands for no pair.

    Returns:
        (n,) the column of every row, -1 where it has none.
    """
    u, v, column_of = _heaviest(weight)
    row_of = np.argsort(column_of)
    pair = weight > 0
    # Every heaviest assignment of all rows has tight cells only, and every assignment of tight cells is as heavy.
    tight = _exchangeable(u[:, None] + v[None, :] == weight, row_of)
    rows_of = np.ascontiguousarray(tight.T)
    for row in range(len(weight)):
        own = column_of[row]
        wanted = np.flatnonzero(rows_of[:, row] & pair[row])
        wanted = wanted[wanted < own] if pair[row, own] else wanted
        if len(wanted):
            _shift(row, wanted, rows_of, column_of, row_of)
        own = column_of[row]
        if pair[row, own]:
            rows_of[own], rows_of[:, row] = False, False
        else:
            # It stays alone; with which cell of no weight is open.
            rows_of[:, row] &= ~pair[row]
    return np.where(pair[np.arange(len(weight)), column_of], column_of, -1)


def _exchangeable(tight: Mask, row_of: Ints) -> Mask:
    """The tight cells that some assignment of tight cells has: those on a cycle, by way of the rows' own columns."""
    if len(tight) == 1:
        return tight
    from scipy.sparse import csr_array  # SciPy takes 0.1 s to import, and few articles need it
    from scipy.sparse.csgraph import connected_components

    # A row leads to those whose columns it could have.
    leads = csr_array(tight[:, np.argsort(row_of)])
    group_of_row = connected_components(leads, directed=True, connection="strong")[1]
    exchangeable: Mask = tight & (group_of_row[:, None] == group_of_row[row_of][None, :])
    return exchangeable


def _shift(row: int, wanted: Numbers, rows_of: Mask, column_of: Ints, row_of: Ints) -> None:
    """Give a row the first of the wanted columns that it can have, by moving other rows round to its own column.

    Args:
        row: who wants another column.
        wanted: the columns, the first choice first.
        rows_of: (n, n) which rows, along the second axis, could have which column.
        column_of, row_of: (n,) the assignment, which is changed.
    """
    goal = int(column_of[row])
    step = np.full(len(rows_of), -1)  # the column that a row moves to, so that in the end some row has the goal
    step[row] = goal
    front = np.array([goal])  # columns that can become free, found in the last round
    while len(front) and step[row_of[wanted[0]]] < 0:
        rows = rows_of[front]
        movers = np.flatnonzero(rows.any(axis=0) & (step < 0))
        step[movers] = front[rows[:, movers].argmax(axis=0)]
        front = column_of[movers]
    able = wanted[step[row_of[wanted]] >= 0]
    if not len(able):
        return
    column, mover = int(able[0]), row
    while mover >= 0:
        following = int(row_of[column]) if column != goal else -1
        column_of[mover], row_of[column] = column, mover
        mover = following
        column = int(step[mover])


def _heaviest(weight: Numbers) -> tuple[Numbers, Numbers, Ints]:
    """An assignment of the largest total, and what shows that there is none larger.

    Returns:
        (n,) u and (n,) v with u[i] + v[j] >= weight[i, j] everywhere, equal where assigned; (n,) every row's column.
    """
    n = len(weight)
    u, v = weight.max(axis=1), np.zeros(n, weight.dtype)
    row_of = np.full(n, -1)
    for row in range(n):
        distance = u[row] + v - weight[row]
        came_from = np.full(n, row)
        done = np.zeros(n, np.bool_)
        while True:
            least = distance[~done].min()
            front = ~done & (distance == least)
            ends = np.flatnonzero(front & (row_of < 0))
            if len(ends):
                break
            done |= front
            rows = row_of[front]
            further = least + u[rows, None] + v[None, :] - weight[rows]
            nearest = further.argmin(axis=0)
            further = further[nearest, np.arange(n)]
            nearer = ~done & (further < distance)
            distance[nearer], came_from[nearer] = further[nearer], rows[nearest[nearer]]
        u[row_of[done]] -= least - distance[done]
        v[done] += least - distance[done]
        u[row] -= least
        column = int(ends[0])
        column_of = np.full(n, -1)
        column_of[row_of[row_of >= 0]] = np.flatnonzero(row_of >= 0)
        while column >= 0:
            mover = int(came_from[column])
            row_of[column] = mover
            column = -1 if mover == row else int(column_of[mover])
    return u, v, np.argsort(row_of)
