"""The best choice of pairs, next to SciPy's solver on whole documents and to trying every choice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins.zeros import best_sum

from closeread.tasks.coref.kernels import best_pairs
from closeread.tasks.coref.kernels.best_pairs import Pairs, Ranking, choose_best

CELLS = st.integers(1, 6).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from((0, 0, 0.25, 0.5, 1)), min_size=n, max_size=n), min_size=1, max_size=6)
)
"""The similarities of the candidates of a document; 0 for those that can't match."""


def choose(documents):
    """Choose from the matrices of several documents; return the chosen cells as (document, row, column)."""
    cells = [(d, *cell) for d, table in enumerate(documents) for cell in np.argwhere(table).tolist()]
    sizes = np.array([table.shape for table in documents])
    starts = np.cumsum(sizes, axis=0) - sizes
    document, row, column = np.array(cells, np.int64).reshape(-1, 3).T
    similarity = np.array([documents[d][i, j] for d, i, j in cells])
    sides = [
        Ranking(
            np.repeat(np.arange(len(documents)), sizes[:, side]),
            np.concatenate([np.arange(size) for size in sizes[:, side]]),
            sizes[:, side],
        )
        for side in (0, 1)
    ]
    pairs = Pairs(starts[document, 0] + row, starts[document, 1] + column, similarity)
    return [cells[i] for i in choose_best(pairs, *sides).tolist()]


def solve(documents):
    """The same by the solver alone."""

    from scipy.optimize import linear_sum_assignment

    found = []
    for d, table in enumerate(documents):
        for i, j in zip(*linear_sum_assignment(-table), strict=True):
            found += [(d, int(i), int(j))] if table[i, j] else []
    return found


@given(tables=st.lists(CELLS.map(np.array), min_size=1, max_size=3))
def test_choices_are_those_of_the_solver(tables):
    assert sorted(choose(tables)) == sorted(solve(tables))


@given(tables=st.lists(CELLS.map(np.array), min_size=1, max_size=2))
def test_documents_too_large_for_the_solver_have_the_same_sum(tables):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(best_pairs, "LARGEST", 0)
        chosen = choose(tables)
    for d, table in enumerate(tables):
        found = [(i, j) for document, i, j in chosen if document == d]
        assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found)
        assert sum(table[i, j] for i, j in found) == best_sum(table.tolist())


def test_ties_are_those_of_the_solver_for_the_whole_document():
    # Two rows compete for the last column, with the same similarity; which of them gets it depends on the other
    # candidates, since the solver turns a matrix with more rows than columns.
    tall = np.array([[0, 0, 0.5], [0, 0, 0.5], [0, 0, 0], [0.5, 0, 0]])
    for table in (tall, tall.T, tall[:3], tall[:2]):
        assert choose([table]) == solve([table])
    many = np.full((40, 40), 0.5)
    assert choose([many]) == solve([many]) == [(0, i, i) for i in range(40)]


def test_nothing_to_choose():
    assert choose([np.zeros((2, 3))]) == []
