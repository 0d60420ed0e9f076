"""Entities that overlap in long chains: cells of a mapping that need no search, though only one at a time.

A row or column with a single cell is a *leaf*.  If its cell weighs w, the best mapping weighs w more than the best
mapping of the other cells, where each other cell of the line that the leaf shares its cell with weighs w less: either
the line goes to the leaf, or another cell of it gains what it weighs more.  Cells that then weigh nothing are dropped.
So leaves can be taken off one after the other, and of trees of cells nothing is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask


class Peeled(NamedTuple):
    """The cells that are left without leaves, and the leaves.

    Attributes:
        left: (n_cells,) whether the cell is left.
        weight: (n_cells,) the weight that it has then.
        leaves: the cell of each leaf, and the line that it shares the cell with, in the order in which they were taken.
    """

    left: Mask
    weight: Floats
    leaves: list[tuple[int, int]]


def peel(row: Ints, column: Ints, weight: Floats) -> Peeled:
    """Take off the leaves of a table of cells, in time that is linear in the cells unless lines get leaves repeatedly.

    Args:
        row, column: (n_cells,) the row and the column of each cell; no cell occurs twice.
        weight: (n_cells,) its weight, above 0.
    """
    lines = [row.tolist(), (column + int(row.max()) + 1).tolist()]
    cells_of: list[list[int]] = [[] for _ in range(max(lines[1]) + 1)]
    for cell, ends in enumerate(zip(*lines, strict=True)):
        for line in ends:
            cells_of[line].append(cell)
    size = [len(cells) for cells in cells_of]
    left, weights, leaves = [True] * len(row), weight.tolist(), []

    def drop(cell: int) -> None:
        left[cell] = False
        for side in lines:
            size[side[cell]] -= 1
            if size[side[cell]] == 1:
                waiting.append(side[cell])

    waiting = [line for line, n in enumerate(size) if n == 1]
    for line in waiting:  # grows while it is iterated
        if size[line] != 1:
            continue
        cell = next(cell for cell in cells_of[line] if left[cell])
        other = lines[0][cell] + lines[1][cell] - line
        # Of all leaves of a line, the heaviest is taken first, which drops the others.
        around = [one for one in cells_of[other] if left[one]]
        far = (lines[0][one] + lines[1][one] - other for one in around)
        cell = max((one for one, end in zip(around, far, strict=True) if size[end] == 1), key=weights.__getitem__)
        leaves.append((cell, other))
        gain = weights[cell]
        cells_of[other] = around
        for one in around:
            weights[one] -= gain
            if weights[one] <= 0:
                drop(one)
    return Peeled(np.array(left, np.bool_), np.array(weights), leaves)


def add_leaves(row: Ints, column: Ints, chosen: Mask, leaves: list[tuple[int, int]]) -> Mask:
    """Return the cells of the best mapping, given those of the best mapping without leaves."""
    lines = [row, column + int(row.max()) + 1]
    taken = np.zeros(int(lines[1].max()) + 1, np.bool_)
    for line in lines:
        taken[line[chosen]] = True
    is_taken, ends, found = taken.tolist(), np.column_stack(lines).tolist(), chosen.copy()
    for cell, other in reversed(leaves):
        if not is_taken[other]:
            for line in ends[cell]:
                is_taken[line] = True
            found[cell] = True
    return found
