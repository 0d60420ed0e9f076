"""The best chains of a small component, by branch and bound.

Nodes are put into chains one after the other, each into the chain that gains most first.  What is still to be gained is
at most what every node that is left gains in its best chain, and all gains between nodes that are left; where even
this makes no solution as good as the best so far, the search goes back.  Annotators agree on most links, so that few
steps prove the best solution, for which integer programming needs a thousand times as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from closeread.arrays import Ints
from closeread.tasks.annotation.components import Component, number_chains

MAX_NODES = 100
"""The most nodes of a component that is searched so; each is a level of recursion."""

MAX_STEPS = 3_000
"""After so many steps, which take tenths of a second, integer programming is the better way."""

FORBIDDEN = -(10**18)
"""What nodes gain together that may not be: less than all others can make good."""


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
    search.place([], 0, [[] for _ in range(len(component))])
    return search.chain


class _Search:
    """A search for the best solution.

    Attributes:
        chain: (n_nodes,) the best so far; None if there is none.
    """

    def __init__(self, component: Component) -> None:
        self.chain: Ints | None = None
        self._value = 0
        self._component = component
        self._n_steps = 0
        # Gain and number of pairs in one integer: no sum of pairs reaches the weight of a gain.
        weight_of_gain = int(component.n_pairs.sum()) + 1
        values = component.gain * weight_of_gain + component.n_pairs
        values = np.where(component.allowed, values, FORBIDDEN)
        np.fill_diagonal(values, 0)
        self._order = _order_nodes(np.maximum(values, 0))
        values = values[np.ix_(self._order, self._order)]
        self._values: list[list[int]] = values.tolist()
        # By number of nodes that have a chain, all that the others may gain with each other.
        gains_after = np.triu(np.maximum(values, 0)).sum(axis=1)
        self._gains_between = [*np.cumsum(gains_after[::-1])[::-1].tolist(), 0]

    def place(self, chains: list[int], value: int, sums: Sequence[Sequence[int]]) -> None:
        """Put the next node into each chain, and all other nodes after it.

        Args:
            chains: the number of the chain of each node that has one.
            value: what these have gained.
            sums: what each other node gains in each chain.
        """
        self._n_steps += 1
        if self._n_steps > MAX_STEPS:
            raise TooManyStepsError
        if not sums:
            self._compare(chains, value)
            return
        sums_of_node, *sums_of_others = sums
        new_chain = len(sums_of_node)
        gains = self._values[len(chains)][len(chains) + 1 :]
        for gain, chain in sorted(
            zip([*sums_of_node, 0], range(new_chain + 1), strict=True), reverse=True
        ):
            if gain <= FORBIDDEN // 2:
                break
            new_sums = list(_add_gains(sums_of_others, gains, chain))
            bound = value + gain + self._gains_between[len(chains) + 1]
            bound += sum(max(0, *sums_of_other) for sums_of_other in new_sums)
            if self.chain is None or bound >= self._value:
                self.place([*chains, chain], value + gain, new_sums)

    def _compare(self, chains: Sequence[int], value: int) -> None:
        """Keep a solution if it is the best so far."""
        chain = np.empty(len(chains), np.int64)
        chain[self._order] = chains
        if not self._component.accepts(chain):
            return
        if self.chain is not None:
            # Of equal solutions, that with the first pair together.
            is_later = _list_pairs(chain) <= _list_pairs(self.chain)
            if value < self._value or (value == self._value and is_later):
                return
        self.chain = number_chains(chain[:, None] == chain)
        self._value = value


def _order_nodes(gains: Ints) -> list[int]:
    """Return the order in which nodes are placed: that next which gains most with those before."""
    order = [int(gains.sum(axis=1).argmax())]
    while len(order) < len(gains):
        gain = gains[order].sum(axis=0)
        gain[order] = -1
        order.append(int(gain.argmax()))
    return order


def _add_gains(
    sums: Sequence[Sequence[int]], gains: Sequence[int], chain: int
) -> Iterator[Sequence[int]]:
    """Yield what each node gains in each chain after a node has come into one of them, perhaps a new one."""
    for sums_of_node, gain in zip(sums, gains, strict=True):
        new_sums = [*sums_of_node]
        if chain == len(new_sums):
            new_sums.append(0)
        new_sums[chain] += gain
        yield new_sums


def _list_pairs(chain: Ints) -> list[bool]:
    """Return whether the nodes of each pair are together, in the order of pairs."""
    together = chain[:, None] == chain
    pairs: list[bool] = together[np.triu_indices(len(chain), 1)].tolist()
    return pairs
