"""Integer linear programming: parts are solved by HiGHS, with SciPy.

Every pair of nodes that may be together is a variable, 0 or 1.  As in `closeread.tasks.coref.adjudication.asp`, that
two links imply a third is required for few triples of nodes at first, and for others when a solution breaks it.

HiGHS computes with floating-point numbers, so one number is maximized after the other, the gain, the links and the
number of differences: all are small whole numbers, which are told apart by far.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from closeread.arrays import Floats, Ints, Mask
from closeread.tasks.coref.adjudication.partition import (
    Deadline,
    Part,
    Session,
    Solution,
    number_chains,
    open_triangles,
)

TIME_IS_OVER, INFEASIBLE = 1, 2
"""The states in which SciPy's `milp` returns, beside success."""


class MilpSession(Session):
    """HiGHS at work on a part."""

    def __init__(self, part: Part, deadline: Deadline) -> None:
        super().__init__(part, deadline)
        self._column = np.full(part.allowed.shape, -1)
        self._column[tuple(self._pairs.T)] = np.arange(len(self._pairs))
        self._column = np.maximum(self._column, self._column.T)
        self._triples = open_triangles(part.allowed & (part.gain > 0))
        self._limits: list[tuple[Floats, float]] = [
            ((self._pairs == node).any(axis=1).astype(np.float64), 1.0)
            for node in np.flatnonzero(part.lone)
        ]
        self._best: Ints | None = None

    def find_best(self) -> Solution:
        """Find a solution of the greatest gain, and of the most links among these."""
        for weights in (self._part.gain, self._part.links):
            of_pairs = weights[tuple(self._pairs.T)]
            found = self._maximize(of_pairs.astype(np.float64))
            if found is None:
                return Solution(self._best, False)
            if not len(found):
                return Solution(None, True)
            together = self._spread(found)
            self._best = number_chains(together)
            # Whole numbers: half of one less is enough, and safe.
            self._limits.append((of_pairs.astype(np.float64), int(of_pairs[found].sum()) - 0.5))
        return Solution(self._best, True)

    def find_ties(self, chain: Ints) -> Mask | None:
        """Find the pairs of nodes on which equally good best solutions differ."""
        best = chain[self._pairs[:, 0]] == chain[self._pairs[:, 1]]
        differs = np.zeros(len(self._pairs), bool)
        while True:
            # Of the other solutions, one that differs most where none has differed yet.
            found = self._maximize(np.where(differs, 0.0, np.where(best, -1.0, 1.0)))
            if found is None:
                return None
            new = (found != best) & ~differs
            if not new.any():
                return self._spread(differs)
            differs |= found != best

    def _maximize(self, weights: Floats) -> Mask | None:
        """Find a solution that maximizes a sum of weights within the limits.

        Returns:
            (n_pairs,) which pairs it has together; empty if there is none, None if the time was not enough.
        """
        from scipy.optimize import Bounds, milp

        while True:
            left = self._deadline.left
            if not left:
                return None
            done = milp(
                -weights,
                integrality=np.ones(len(weights)),
                bounds=Bounds(0, 1),
                constraints=self._list_constraints(),
                options={"mip_rel_gap": 0.0}
                | ({"time_limit": left} if self._deadline.exists else {}),
            )
            if done.status == INFEASIBLE:
                return np.zeros(0, bool)
            if done.status == TIME_IS_OVER:
                return None
            if done.x is None:
                raise RuntimeError(f"HiGHS failed: {done.message}")
            found: Mask = done.x > 0.5
            broken = open_triangles(self._spread(found))
            if not len(broken):
                return found
            self._triples = np.concatenate([self._triples, broken])

    def _list_constraints(self) -> Sequence[object]:
        """Return the constraints: two links imply a third, and the sums of weights have their limits."""
        from scipy.optimize import LinearConstraint
        from scipy.sparse import csr_matrix

        first, between, last = self._triples.T
        row, third = np.arange(len(first)), self._column[first, last]
        has_third = third >= 0
        columns = [self._column[first, between], self._column[between, last], third[has_third]]
        values = np.repeat([1.0, 1.0, -1.0], [len(row), len(row), has_third.sum()])
        places = (np.concatenate([row, row, row[has_third]]), np.concatenate(columns))
        # Its indices have 32 bits, which older versions of SciPy need here; those of `csr_array` have 64.
        matrix = csr_matrix((values, places), shape=(len(row), len(self._pairs)))
        found: list[object] = [LinearConstraint(matrix, -np.inf, 1)] if len(row) else []
        if self._limits:
            rows, least = zip(*self._limits, strict=True)
            found.append(LinearConstraint(csr_matrix(np.array(rows)), np.array(least), np.inf))
        return found

    def _spread(self, pairs: Mask) -> Mask:
        """Return values of pairs as a symmetric matrix, (n_nodes, n_nodes)."""
        spread = np.zeros(self._part.allowed.shape, bool)
        spread[tuple(self._pairs.T)] = pairs
        return spread | spread.T
