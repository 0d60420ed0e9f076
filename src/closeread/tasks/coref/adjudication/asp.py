"""Answer Set Programming: parts are solved by clingo, in this process.

Source: Schüller (2018), section 4.  Every pair of nodes that may be together is an atom; costs are minimized with
unsatisfiable cores (`--opt-strategy=usc`), which is faster by orders of magnitude than branch and bound here.

That two links imply a third is not grounded in full, which takes a rule for every triple of nodes.  At first, rules
forbid only what is attractive by itself: two links with a gain whose ends have none, or may not be together.  Rules
that the solution breaks are added until it breaks none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.exceptions import MissingExtraError, name_option
from closeread.tasks.coref.adjudication.partition import (
    Deadline,
    OpenSession,
    Part,
    Session,
    Solution,
    number_chains,
    open_triangles,
)

if TYPE_CHECKING:
    import clingo

GAIN, LINKS = 2, 1
"""The priorities of the two things to be maximized."""

POLL = 0.2
"""After how many seconds a keyboard interrupt is noticed at the latest."""


def load_clingo() -> OpenSession:
    """Import clingo and return the solver."""
    try:
        import clingo
    except ImportError as error:
        purpose = f"{name_option('solver', 'clingo')} (unlike {name_option('solver', 'milp')})"
        raise MissingExtraError(purpose, "clingo", extra="adjudication") from error
    options = ["--opt-strategy=usc", "--opt-mode=optN", "--models=0", "--warn=none"]
    return lambda part, deadline: AspSession(part, deadline, lambda: clingo.Control(options))


class AspSession(Session):
    """clingo at work on a part.

    Every time that rules are added, clingo begins anew: after a second call with further rules, its search with
    unsatisfiable cores does not always end (5.8.3).
    """

    def __init__(
        self, part: Part, deadline: Deadline, make_control: Callable[[], clingo.Control]
    ) -> None:
        super().__init__(part, deadline)
        self._make_control = make_control
        self._atom = np.zeros(part.allowed.shape, np.int64)
        self._atom[tuple(self._pairs.T)] = np.arange(1, len(self._pairs) + 1)
        self._atom += self._atom.T
        self._rules = self._break_rules(part.allowed & (part.gain > 0))
        for node in np.flatnonzero(part.lone).tolist():
            self._rules.append(
                tuple(-atom for atom in self._atom[node][part.allowed[node]].tolist())
            )
        self._models: Iterator[clingo.Model | None] = iter(())
        self._model: clingo.Model | None = None  # the one that is known to be the best
        self._handles = ExitStack()

    def __exit__(self, *error: object) -> None:
        self._handles.close()

    def find_best(self) -> Solution:
        """Find a solution of the greatest gain, and of the most links among these."""
        best = None
        while True:
            self._handles.close()  # of the call before
            self._models, self._model = self._run(self._open()), None
            broken: list[tuple[int, ...]] = []
            for model in self._models:
                if model is None:
                    return Solution(best, False)
                together = self._read(model)
                broken = self._break_rules(together)
                if not broken:
                    best = number_chains(together)
                if model.optimality_proven:
                    self._model = model
                    break
            if self._model is None:
                return Solution(None, True)
            if best is not None and not broken:
                self._check(best, self._model.cost)
                return Solution(best, True)
            self._rules += broken

    def find_ties(self, chain: Ints) -> Mask | None:
        """Find the pairs of nodes on which equally good best solutions differ."""
        best = chain[:, None] == chain
        ties = np.zeros(best.shape, bool)
        model = self._model
        while model is not None:
            together = self._read(model)
            broken = self._break_rules(together)
            if not broken:
                ties |= self._part.allowed & (together != best)
                left = self._pairs[~ties[tuple(self._pairs.T)]]
                # The next one must differ somewhere else.
                model.context.add_clause(
                    [-a if best[i, j] else a for (i, j), a in self._list_atoms(left)]
                )
            for rule in broken:
                model.context.add_clause([-literal for literal in rule])
            try:
                model = next(self._models)
            except StopIteration:
                return ties
        return None

    def _open(self) -> clingo.Control:
        """Hand all rules and costs to clingo."""
        control = self._make_control()
        part, pairs = self._part, list(self._list_atoms(self._pairs))
        with control.backend() as backend:
            for _ in pairs:
                backend.add_rule([backend.add_atom()], [], choice=True)
            gains = [(atom, part.gain[pair].item()) for pair, atom in pairs]
            backend.add_minimize(
                GAIN, [(-atom if gain > 0 else atom, abs(gain)) for atom, gain in gains if gain]
            )
            backend.add_minimize(LINKS, [(-atom, part.links[pair].item()) for pair, atom in pairs])
            for rule in self._rules:
                backend.add_rule([], rule)
        return control

    def _list_atoms(self, pairs: Ints) -> Iterator[tuple[tuple[int, int], int]]:
        """Yield pairs with their atoms."""
        for first, second in pairs.tolist():
            yield (first, second), int(self._atom[first, second])

    def _run(self, control: clingo.Control) -> Iterator[clingo.Model | None]:
        """Yield clingo's models: better and better ones, then all of the best; None if the time is over."""
        handle = self._handles.enter_context(control.solve(yield_=True, async_=True))
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

    def _break_rules(self, together: Mask) -> list[tuple[int, ...]]:
        """Return rules that a relation breaks, as the literals that may not all hold."""
        triples = open_triangles(together)
        first, between, last = triples.T
        sides = (self._atom[first, between], self._atom[between, last], self._atom[first, last])
        return [(i, j, -k) if k else (i, j) for i, j, k in np.column_stack(sides).tolist()]

    def _check(self, chain: Ints, cost: Sequence[int]) -> None:
        """Check that clingo's costs of the best solution are those computed here."""
        gain, links = self._part.evaluate(chain)
        pairs = tuple(self._pairs.T)
        expected = [
            int(self._part.gain[pairs].clip(min=0).sum()) - gain,
            int(self._part.links[pairs].sum()) - links,
        ]
        if list(cost) != expected or not self._part.accepts(chain):
            raise RuntimeError(f"clingo found costs of {list(cost)} (expected {expected})")
