"""The best chains of a component: by branch and bound, or else by integer linear programming, HiGHS with SciPy.

In the program, every pair of nodes that may be together is a variable, 0 or 1.  That two links imply a third is
required for few triples of nodes at first, and for others when a solution breaks it.

HiGHS computes with floating-point numbers, so what makes a solution better is maximized step by step, each with what
came before held fast: the gain, the links, and then which pairs are together, from the first to the last.  In every
step the sums are whole numbers, which are told apart by far.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask
from closeread.tasks.annotation.branching import TooManyStepsError, find_by_branching
from closeread.tasks.annotation.components import (
    Component,
    join_greedily,
    number_chains,
    open_triangles,
)

PAIRS_PER_STEP = 15
"""How many pairs one step settles, as the bits of a number: a pair counts more than all after it."""

TIME_IS_OVER = 1
"""The state in which SciPy's `milp` returns if it has reached the limit of time."""

INFEASIBLE = 2
"""The state in which it returns if there is no solution."""


class Deadline:
    """The time when to stop: so many seconds from now, or never."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def options(self) -> dict[str, float]:
        """The options for `milp` that keep it to the time that is left; raises TimeoutError if none is."""
        if self._end is None:
            return {}
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return {"time_limit": seconds}


class Solution(NamedTuple):
    """The best solution that was found for a component.

    Attributes:
        chain: (n_nodes,) the number of each node's chain; None if there is no solution.
        is_proved: whether it is proved that none is better.
    """

    chain: Ints | None
    is_proved: bool


def solve(component: Component, deadline: Deadline) -> Solution:
    """Find the best solution of a component, or the best that can be found until the deadline."""
    node_of = component.find_twins()
    solution = _solve_merged(component.merge(node_of), deadline)
    if solution.chain is None:
        return solution
    return solution._replace(chain=solution.chain[node_of])


def _solve_merged(component: Component, deadline: Deadline) -> Solution:
    """Find the best solution of a component of few nodes."""
    one_chain = np.zeros(len(component), np.int64)
    if (component.gain >= 0).all() and component.accepts(one_chain):
        return Solution(one_chain, True)
    if not component.allowed.any():
        no_chain = np.arange(len(component))
        return Solution(None if component.needs_partner.any() else no_chain, True)
    with suppress(TooManyStepsError):
        return Solution(find_by_branching(component), True)
    search = _Search(component, deadline)
    try:
        search.settle_ties(search.find_best())
    except NoSolutionError:
        return Solution(None, True)
    except TimeoutError:
        candidates = (search.chain, join_greedily(component))
        solutions = [chain for chain in candidates if chain is not None]
        return Solution(max(solutions, key=component.evaluate, default=None), False)
    return Solution(search.chain, True)


class NoSolutionError(Exception):
    """Every solution leaves a node alone that needs a partner."""


class _Search:
    """A search for the best solution of a component; its steps raise TimeoutError if the time is over.

    Attributes:
        chain: the best solution so far, None if there is none.
    """

    def __init__(self, component: Component, deadline: Deadline) -> None:
        self.chain: Ints | None = None
        self._component = component
        self._deadline = deadline
        self._pairs = np.argwhere(np.triu(component.allowed))
        n_pairs = len(self._pairs)
        # The column of a pair of nodes in the program; -1 if they may not be together.
        self._column = np.full(component.allowed.shape, -1)
        self._column[tuple(self._pairs.T)] = np.arange(n_pairs)
        self._column = np.maximum(self._column, self._column.T)
        # At first, rules forbid only what is attractive by itself: two links with a gain whose ends have none.
        self._triples = open_triangles(component.allowed & (component.gain > 0))
        # Values of pairs, with the smallest sum that those together may have.
        self._sums: list[tuple[Floats, float]] = []
        for node in np.flatnonzero(component.needs_partner):
            self._require((self._pairs == node).any(axis=1).astype(np.float64), 1.0)
        self._lower = np.zeros(n_pairs)
        self._upper = np.ones(n_pairs)

    def find_best(self) -> Mask:
        """Find a solution of the greatest gain, and of the most links among these: (n_pairs,) which are together."""
        together = np.zeros(len(self._pairs), bool)
        for matrix in (self._component.gain, self._component.n_pairs):
            values = matrix[tuple(self._pairs.T)].astype(np.float64)
            together = self._maximize(values)
            # The sums are whole numbers, so half of one less excludes all that is worse, and is safe.
            self._require(values, values[together].sum() - 0.5)
        return together

    def settle_ties(self, best: Mask) -> None:
        """Find the solution that has the first pairs together, among those as good as one, the best so far."""
        differs = self._find_differences(best)
        self._fix(~differs, best)
        undecided = np.flatnonzero(differs)
        for start in range(0, len(undecided), PAIRS_PER_STEP):
            step = undecided[start : start + PAIRS_PER_STEP]
            values = np.zeros(len(self._pairs))
            values[step] = 2.0 ** np.arange(len(step))[::-1]
            self._fix(step, self._maximize(values))

    def _find_differences(self, best: Mask) -> Mask:
        """Return on which pairs solutions differ that are as good as the best one, (n_pairs,)."""
        differs = np.zeros(len(best), bool)
        while True:
            # Of the other solutions, one that differs most where none has differed yet.
            other = self._maximize(np.where(differs, 0.0, np.where(best, -1.0, 1.0)))
            is_new = (other != best) & ~differs
            if not is_new.any():
                return differs
            differs |= is_new

    def _require(self, values: Floats, minimum: float) -> None:
        """Exclude solutions whose pairs have a sum of values below a number."""
        self._sums.append((values, minimum))

    def _fix(self, pairs: Ints | Mask, together: Mask) -> None:
        """Exclude solutions that differ from another one on some pairs."""
        self._lower[pairs] = together[pairs]
        self._upper[pairs] = together[pairs]

    def _maximize(self, values: Floats) -> Mask:
        """Find the solution whose pairs have the greatest sum of values, and keep it as the best so far.

        Returns:
            (n_pairs,) which pairs are together; a NoSolutionError if no solution fulfils what is required.
        """
        from scipy.optimize import Bounds, milp

        while True:
            result = milp(
                -values,
                integrality=np.ones(len(values)),
                bounds=Bounds(self._lower, self._upper),
                constraints=self._list_constraints(),
                options={"mip_rel_gap": 0.0} | self._deadline.options,
            )
            if result.status == TIME_IS_OVER:
                raise TimeoutError
            if result.status == INFEASIBLE:
                raise NoSolutionError
            if result.x is None:
                raise RuntimeError(f"HiGHS failed: {result.message}")
            pairs: Mask = result.x > 0.5
            together = np.zeros(self._component.allowed.shape, bool)
            together[tuple(self._pairs.T)] = pairs
            together |= together.T
            broken = open_triangles(together)
            if not len(broken):
                self.chain = number_chains(together)
                return pairs
            self._triples = np.concatenate([self._triples, broken])

    def _list_constraints(self) -> list[object]:
        """Return the constraints: two links imply a third, and sums have their minima."""
        from scipy.optimize import LinearConstraint
        from scipy.sparse import csr_matrix

        constraints = []
        if len(self._triples):
            # A link from first to between, and one from there to last, imply a third, from first to last.
            first, between, last = self._triples.T
            third = self._column[first, last]
            # If the ends may not be together, one of the two links has to go.
            has_third = third >= 0
            columns = (self._column[first, between], self._column[between, last], third[has_third])
            rule = np.arange(len(third))
            rows = (rule, rule, rule[has_third])
            signs = np.repeat([1.0, 1.0, -1.0], list(map(len, rows)))
            places = (np.concatenate(rows), np.concatenate(columns))
            matrix = csr_matrix((signs, places), shape=(len(rule), len(self._pairs)))
            constraints.append(LinearConstraint(matrix, -np.inf, 1))
        for values, minimum in self._sums:
            constraints.append(LinearConstraint(csr_matrix(values), minimum, np.inf))
        return constraints
