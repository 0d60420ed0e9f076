"""Answer Set Programming: parts are solved by clingo, in this process.

Source: Schüller (2018), section 4.  Every pair of nodes that may be together is an atom; costs are minimized with
unsatisfiable cores (`--opt-strategy=usc`), which is faster by orders of magnitude than branch and bound here.

That two links imply a third is not grounded in full, which takes a rule for every triple of nodes.  At first, rules
forbid only what is attractive by itself: two links with a gain whose ends have none, or may not be together.  Rules
that the solution breaks are added until it breaks none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.errors import MissingExtraError
from closeread.tasks.coref.adjudication.partition import Part, number_chains, open_triangles
from closeread.tasks.coref.adjudication.solving import Deadline, Found, OpenSession

if TYPE_CHECKING:
    import clingo

AT_FIRST, AT_ONCE = 30, 3
"""How many rules about two nodes are added at first, and at once later on."""

GAIN, LINKS = 2, 1
"""The priorities of the two things to be maximized."""

POLL = 0.2
"""After how many seconds a keyboard interrupt is noticed at the latest."""


def load_clingo() -> OpenSession:
    """Import clingo and return the solver.

    Raises:
        MissingExtraError: clingo is not installed.
    """
    try:
        import clingo
    except ImportError as error:
        raise MissingExtraError("--solver clingo (--solver milp works without an extra)", "clingo") from error
    return lambda part, deadline: AspSession(part, deadline, clingo.Control(["--opt-strategy=usc", "--warn=none"]))


class AspSession:
    """clingo at work on a part.

    Args:
        part: the part.
        deadline: when to stop.
        control: clingo.
    """

    def __init__(self, part: Part, deadline: Deadline, control: clingo.Control) -> None:
        self._part, self._deadline, self._control = part, deadline, control
        self._pairs = np.argwhere(np.triu(part.allowed))
        self._atom = np.zeros(part.allowed.shape, np.int64)
        self._best: Ints | None = None
        with control.backend() as backend:
            for first, second in self._pairs.tolist():
                atom = backend.add_atom()
                self._atom[first, second] = self._atom[second, first] = atom
                backend.add_rule([atom], [], choice=True)
            pairs = [(self._atom[i, j].item(), part.gain[i, j].item(), part.links[i, j].item()) for i, j in self._pairs]
            backend.add_minimize(GAIN, [(-atom if gain > 0 else atom, abs(gain)) for atom, gain, _ in pairs if gain])
            backend.add_minimize(LINKS, [(-atom, links) for atom, _, links in pairs])
            for node in np.flatnonzero(part.lone).tolist():
                backend.add_rule([], [-atom for atom in self._atom[node][part.allowed[node]].tolist()])
        self._add_rules(self._break_rules(part.allowed & (part.gain > 0), AT_FIRST))

    def find_best(self) -> Found:
        """Find a solution of the greatest gain, and of the most links among these.

        Raises:
            RuntimeError: clingo's costs are not those of its solution.
        """
        while True:
            together = cost = None
            for model in self._run():
                if model is None:
                    return Found(self._best, False)
                together, cost = self._read(model), model.cost
                broken = self._break_rules(together, AT_ONCE)
                if not broken:
                    self._best = number_chains(together)
            if together is None or cost is None:
                return Found(None, True)
            if not broken:
                return Found(self._check(number_chains(together), cost), True)
            self._add_rules(broken)

    def find_ties(self, chain: Ints) -> Mask | None:
        """Find the pairs of nodes on which solutions differ that are as good as the best one found.

        Args:
            chain: the best one.

        Returns:
            (n_nodes, n_nodes) symmetric; None if the time was not enough.
        """
        best = chain[:, None] == chain
        ties = np.zeros(best.shape, bool)
        self._control.configuration.solve.opt_mode = "optN"  # type: ignore[union-attr]
        self._control.configuration.solve.models = 0  # type: ignore[union-attr]
        for model in self._run():
            if model is None:
                return None
            if not model.optimality_proven:
                continue
            together = self._read(model)
            broken = self._break_rules(together, AT_ONCE)
            if broken:
                for rule in broken:
                    model.context.add_clause([-literal for literal in rule])
                continue
            ties |= self._part.allowed & (together != best)
            left = self._pairs[~ties[self._pairs[:, 0], self._pairs[:, 1]]]
            # The next one must differ somewhere else.
            model.context.add_clause([-a if best[i, j] else a for (i, j), a in self._list_atoms(left)])
        return ties

    def _list_atoms(self, pairs: Ints) -> Iterator[tuple[tuple[int, int], int]]:
        """Yield pairs with their atoms."""
        for first, second in pairs.tolist():
            yield (first, second), int(self._atom[first, second])

    def _run(self) -> Iterator[clingo.Model | None]:
        """Yield the models that clingo finds, each better than the last; None at last if the time is over."""
        with self._control.solve(yield_=True, async_=True) as handle:
            while True:
                handle.resume()
                while not handle.wait(min(POLL, self._deadline.left)):
                    if not self._deadline.left:
                        handle.cancel()
                        yield None
                        return
                model = handle.model()
                if model is None:
                    return
                yield model

    def _read(self, model: clingo.Model) -> Mask:
        """Return which nodes are together in a model, (n_nodes, n_nodes)."""
        first, second = self._pairs.T
        together = np.zeros_like(self._part.allowed)
        together[first, second] = [model.is_true(atom) for _, atom in self._list_atoms(self._pairs)]
        return together | together.T

    def _break_rules(self, together: Mask, limit: int) -> list[tuple[int, ...]]:
        """Return rules that a relation breaks, as the literals that may not all hold."""
        triples = open_triangles(together, limit)
        first, between, last = triples.T
        sides = (self._atom[first, between], self._atom[between, last], self._atom[first, last])
        return [(i, j, -k) if k else (i, j) for i, j, k in np.column_stack(sides).tolist()]

    def _add_rules(self, rules: Sequence[tuple[int, ...]]) -> None:
        with self._control.backend() as backend:
            for rule in rules:
                backend.add_rule([], rule)

    def _check(self, chain: Ints, cost: Sequence[int]) -> Ints:
        """Return the best solution if clingo's costs are ours.

        Raises:
            RuntimeError: they are not, or nodes are together that may not be.
        """
        gain, links = self._part.evaluate(chain)
        pairs = tuple(self._pairs.T)
        expected = [int(self._part.gain[pairs].clip(min=0).sum()) - gain, int(self._part.links[pairs].sum()) - links]
        if list(cost) != expected or not self._part.accepts(chain):
            raise RuntimeError(f"clingo found costs of {list(cost)} (expected {expected})")
        return chain
