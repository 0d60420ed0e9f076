"""The best chains of a small component, by branch and bound.

Nodes are put into chains one after the other, each into the chain that gains most first.  What is still to be gained is
at most what every node that is left gains in its best chain, and all gains between nodes that are left; where even
this makes no solution as good as the best so far, the search goes back.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from closeread.arrays import Ints
from closeread.tasks.annotation.components import Component

MAX_NODES = 50
"""The most nodes of a component that is searched so."""

MAX_STEPS = 1_500
"""After so many steps, which take hundredths of a second, integer programming is the better way."""


class TooManyStepsError(Exception):
    """A component is too large, or annotators disagree too much about it."""


def find_by_branching(component: Component) -> Ints | None:
    """Find the best solution of a component, (n_nodes,); None if there is none.

    Raises:
        TooManyStepsError: it can't be found so.
    """
    if len(component) > MAX_NODES:
        raise TooManyStepsError
    search = _Search(component)
    # There is always a chain without nodes, into which the next one may come.
    search.place([], 0, np.zeros((len(component), len(component) + 1), np.int64))
    return search.chain


class _Search:
    """A search for the best solution.

    Attributes:
        chain: (n_nodes,) the best so far; None if there is none.
    """

    def __init__(self, component: Component) -> None:
        self.chain: Ints | None = None
        self._rank = (0, b"")
        self._component = component
        self._n_steps = 0
        values = component.list_values()
        gains = np.maximum(values, 0)
        # Nodes that gain most decide most, and come first.
        self._order = np.argsort(-gains.sum(axis=1), kind="stable")
        in_order = np.ix_(self._order, self._order)
        self._values = values[in_order]
        # By number of nodes that have a chain, all that the others may gain with each other.
        gains_after = np.triu(gains[in_order]).sum(axis=1)
        self._gains_between = [*np.cumsum(gains_after[::-1])[::-1].tolist(), 0]

    def place(self, chains: Sequence[int], value: int, sums: Ints) -> None:
        """Put the next node into each chain, and all other nodes after it.

        Args:
            chains: the number of the chain of each node that has one.
            value: what these have gained.
            sums: (n_nodes, n_nodes + 1) what each node gains in each chain.
        """
        self._n_steps += 1
        if self._n_steps > MAX_STEPS:
            raise TooManyStepsError
        node = len(chains)
        if node == len(self._values):
            self._compare(chains, value)
            return
        new_chain = max(chains, default=-1) + 1
        gains = sums[node, : new_chain + 1]
        for chain in np.argsort(-gains, kind="stable").tolist():
            new_value = value + int(gains[chain])
            new_sums = sums.copy()
            new_sums[:, chain] += self._values[node]
            bound = int(new_sums[node + 1 :].max(axis=1).sum()) + self._gains_between[node + 1]
            if self.chain is None or new_value + bound >= self._rank[0]:
                self.place([*chains, chain], new_value, new_sums)

    def _compare(self, chains: Sequence[int], value: int) -> None:
        """Keep a solution if it is the best so far."""
        chain = np.empty(len(chains), np.int64)
        chain[self._order] = chains
        if not self._component.accepts(chain):
            return
        together = chain[:, None] == chain
        # Of equal solutions, that with the first pair together: as bytes, true is greater than false.
        rank = (value, together.tobytes())
        if self.chain is None or rank > self._rank:
            self.chain = chain
            self._rank = rank
