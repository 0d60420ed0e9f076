"""The best chains of a part, by any solver.

Conventions: solutions, and which of them is the best, are defined in `closeread.tasks.coref.adjudication.partition`.
What is left to the solver is the greatest gain, the most links, and where solutions that are equal in both differ;
differences are then settled pair by pair, on the few nodes that are left when all that is certain is joined.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, Protocol, Self

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.tasks.coref.adjudication.partition import Part, split


class Deadline:
    """The time when to stop.

    Args:
        seconds: how long from now; None for no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def exists(self) -> bool:
        """Whether there is a limit."""
        return self._end is not None

    @property
    def left(self) -> float:
        """The seconds that are left, at least 0; infinite if there is no limit."""
        return float("inf") if self._end is None else max(0.0, self._end - time.monotonic())


class Found(NamedTuple):
    """What was found for a part.

    Attributes:
        chain: (n_nodes,) a solution; None if none was found.
        is_proved: whether there is none that is better, or none at all.
    """

    chain: Ints | None
    is_proved: bool


class Session(Protocol):
    """A solver at work on a part, which ends with the context."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def find_best(self) -> Found:
        """Find a solution of the greatest gain, and of the most links among these."""
        ...

    def find_ties(self, chain: Ints) -> Mask | None:
        """Find the pairs of nodes on which solutions differ that are as good as the best one found.

        Args:
            chain: the best one.

        Returns:
            (n_nodes, n_nodes) symmetric; None if the time was not enough.
        """
        ...


OpenSession = Callable[[Part, Deadline], Session]
"""Hands a part to a solver."""


def solve(part: Part, open_session: OpenSession, deadline: Deadline) -> Found:
    """Find the best solution of a part, or the best that can be found until the deadline.

    Args:
        part: the part, of several nodes.
        open_session: the solver.
        deadline: when to stop.
    """
    everything = np.zeros(len(part), np.int64)
    if (part.gain >= 0).all() and part.accepts(everything):
        return Found(everything, True)
    if not part.allowed.any():
        return Found(None if part.lone.any() else np.arange(len(part)), True)
    if not deadline.left:
        return Found(join_greedily(part), False)
    with open_session(part, deadline) as session:
        best = session.find_best()
        if not best.is_proved:
            candidates = [chain for chain in (best.chain, join_greedily(part)) if chain is not None]
            return Found(max(candidates, key=part.evaluate, default=None), False)
        if best.chain is None:
            return best
        ties = session.find_ties(best.chain)
    if ties is None:
        return Found(best.chain, False)
    return _settle_ties(part, best.chain, ties, open_session, deadline) if ties.any() else best


def _settle_ties(part: Part, chain: Ints, ties: Mask, open_session: OpenSession, deadline: Deadline) -> Found:
    """Find the best of the solutions that are equal in gain and links.

    Args:
        part: the part.
        chain: one of them.
        ties: (n_nodes, n_nodes) the pairs on which they differ.
        open_session: the solver.
        deadline: when to stop.
    """
    certain = (chain[:, None] == chain) & ~ties
    rest, node = part.merge(np.argmax(certain, axis=1))  # the first of the nodes that are together in all of them
    found = np.empty(len(rest), np.int64)
    found[node] = chain
    may_differ = np.zeros((len(rest), len(rest)), bool)
    may_differ[node[:, None], node] = ties
    rest = rest.forbid(~may_differ)
    final, is_proved = np.arange(len(rest)), True
    for nodes in split(rest.allowed):
        settled = _settle_pairs(rest.select(nodes), found[nodes], open_session, deadline)
        final[nodes] = nodes[np.argmax(settled[0][:, None] == settled[0], axis=1)]
        is_proved &= settled[1]
    return Found(final[node], is_proved)


def _settle_pairs(part: Part, chain: Ints, open_session: OpenSession, deadline: Deadline) -> tuple[Ints, bool]:
    """Find the best of the solutions that are equal in gain and links, by deciding pair by pair.

    Returns:
        The solution, and whether there was time to decide on all pairs.
    """
    value, rest, joined = part.evaluate(chain), part, np.arange(len(part))
    for first, second in np.argwhere(np.triu(part.allowed)).tolist():
        attempt = np.where(joined == joined[second], joined[first], joined)
        if chain[first] == chain[second]:
            joined = attempt
            continue
        smaller, node = rest.merge(attempt)
        best = _find_best(smaller, open_session, deadline)
        if not best.is_proved:
            return chain, False
        if best.chain is not None and rest.accepts(best.chain[node]) and part.evaluate(best.chain[node]) == value:
            chain, joined = best.chain[node], attempt
        else:
            pair = np.zeros_like(part.allowed)
            pair[[first, second], [second, first]] = True
            rest = rest.forbid(pair)
    return chain, True


def _find_best(part: Part, open_session: OpenSession, deadline: Deadline) -> Found:
    """Find a solution that is the best in gain and links."""
    if not part.allowed.any():
        return Found(None if part.lone.any() else np.arange(len(part)), True)
    with open_session(part, deadline) as session:
        return session.find_best()


def join_greedily(part: Part) -> Ints | None:
    """Find a good solution fast: add every node to the chain that gains most by it.

    Returns:
        (n_nodes,) the solution; None if a node that may not be alone is.
    """
    chain = np.arange(len(part))
    for node in range(1, len(part)):
        member = chain[:node, None] == np.arange(node)
        gain = part.gain[node, :node] @ member
        is_open = member.any(axis=0) & ~(~part.allowed[node, :node] @ member)
        gain = np.where(is_open, gain, -1)
        if gain.max() >= 0:
            chain[node] = int(gain.argmax())
    for node in np.flatnonzero(part.lone).tolist():
        if (chain == chain[node]).sum() == 1:
            free = np.flatnonzero(part.allowed[node] & [(~part.allowed[node] & (chain == c)).sum() == 0 for c in chain])
            if len(free):
                chain[node] = chain[free[part.gain[node, free].argmax()]]
    return chain if part.accepts(chain) else None
