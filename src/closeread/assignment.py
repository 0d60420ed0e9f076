"""Maximum-weight assignment in exact integers, with ties broken by column order.

Source: the Hungarian method by shortest augmenting paths (Kuhn 1955, Tomizawa 1971).  SciPy's solver is not used
because it works in floating point and breaks ties arbitrarily.

Conventions: weights are an (n, n) array of non-negative integers, of any integer dtype or of Python integers; every row
gets a different column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Ints, Mask

Numbers = NDArray[Any]


def best_assignment(weight: Numbers) -> Ints:
    """Return the maximum-weight assignment; among ties, the first when compared row by row, smallest column first.

    A row without a column comes after all columns in that comparison.

    Args:
        weight: (n, n) non-negative integers; 0 means that the two can't be paired.

    Returns:
        (n,) the column of each row, or -1 if it has none.
    """
    u, v, column_of = _solve(weight)
    row_of = np.argsort(column_of)
    pair = weight > 0
    # A full assignment has maximum weight if and only if all its cells are tight.
    tight = _mark_exchangeable(u[:, None] + v[None, :] == weight, row_of)
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
            # The row stays unpaired; which of its zero-weight cells it takes is still open.
            rows_of[:, row] &= ~pair[row]
    return np.where(pair[np.arange(len(weight)), column_of], column_of, -1)


def _mark_exchangeable(tight: Mask, row_of: Ints) -> Mask:
    """Return the tight cells that are in some full assignment of tight cells: those on an alternating cycle."""
    if len(tight) == 1:
        return tight
    from scipy.sparse import csr_array  # takes 0.1 s to import, and few articles need it
    from scipy.sparse.csgraph import connected_components

    # A row has an edge to each row whose column it could take.
    leads = csr_array(tight[:, np.argsort(row_of)])
    group_of_row = connected_components(leads, directed=True, connection="strong")[1]
    exchangeable: Mask = tight & (group_of_row[:, None] == group_of_row[row_of][None, :])
    return exchangeable


def _shift(row: int, wanted: Numbers, rows_of: Mask, column_of: Ints, row_of: Ints) -> None:
    """Give a row the first of the wanted columns that is possible, by moving other rows along a cycle.

    Args:
        row: the row to move.
        wanted: the columns, in order of preference.
        rows_of: (n, n) which rows (second axis) could take each column (first axis).
        column_of, row_of: (n,) the assignment, modified in place.
    """
    goal = int(column_of[row])
    step = np.full(len(rows_of), -1)  # the column each row moves to, so that some row ends up at the goal
    step[row] = goal
    front = np.array([goal])  # columns that can become free, from the last round
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


def _solve(weight: Numbers) -> tuple[Numbers, Numbers, Ints]:
    """Return the dual variables and an assignment of maximum weight.

    Returns:
        (n,) u and (n,) v with u[i] + v[j] >= weight[i, j] everywhere, with equality where assigned, which proves that
        the weight is maximal; (n,) the column of each row.
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
