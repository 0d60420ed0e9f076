"""The best mappings of clusters and of mentions, next to other solvers and to trying every choice."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins.zeros import best_sum

from closeread import assignment
from closeread.assignment import MAX_CELLS_SEARCHED, best_total
from closeread.tasks.coref.metrics import inexact_matching
from closeread.tasks.coref.metrics.inexact_matching import NO_ZERO, Candidate, choose_best

CELLS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 9)), min_size=1, max_size=30
)
"""Cells of a table: row, column and weight."""


def solve_dense(row, column, weight, document, n_documents):
    """Compute the best total of every document with a solver for dense matrices."""

    from scipy.optimize import linear_sum_assignment

    totals = []
    for number in range(n_documents):
        here = document == number
        matrix = np.zeros((row.max() + 1, column.max() + 1))
        matrix[row[here], column[here]] = weight[here]
        totals.append(matrix[linear_sum_assignment(matrix, maximize=True)].sum())
    return totals


@pytest.mark.extended
@pytest.mark.parametrize("max_cells", [MAX_CELLS_SEARCHED, 0])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("n_documents", "size", "share"), [(40, 50, 0.1), (3, 60, 0.5), (1, 1000, 0.004)]
)
def test_best_total_is_another_solvers(n_documents, size, share, whole, max_cells, monkeypatch):
    monkeypatch.setattr(assignment, "MAX_CELLS_SEARCHED", max_cells)
    rng = np.random.default_rng(size)
    document, row, column = np.nonzero(rng.random((n_documents, size, size)) < share)
    # Whole numbers have many ties, fractions have none.
    weight = rng.integers(1, 5, len(row)).astype(float) if whole else rng.random(len(row)) + 0.01
    row, column = row + size * document, column + size * document
    order = rng.permutation(len(row))
    got = best_total(*(values[order] for values in (row, column, weight, document)), n_documents)
    assert got == pytest.approx(solve_dense(row, column, weight, document, n_documents), abs=1e-9)


def test_a_long_chain():
    # Cells (0, 0), (1, 0), (1, 1), (2, 1), … with increasing weights.
    row, column = (np.arange(1, 601) + shift for shift in (0, 1))
    row, column, weight = row // 2, column // 2, np.arange(1.0, 601.0)
    zeros = np.zeros(600, np.int64)
    assert best_total(row, column, weight, zeros, 1) == pytest.approx(
        solve_dense(row, column, weight, zeros, 1)
    )


def test_small_documents_need_no_scipy():
    script = (
        "import sys, numpy as np\n"
        "from closeread.tasks.coref.metrics.entity import count_ceafe\n"
        "from closeread.tasks.coref.metrics.overlap import compare_entities\n"
        "from closeread.tasks.coref.metrics.overlap import Side\n"
        "document = np.repeat([0, 1], 4)\n"
        "split, joined = np.array([0, 1, 1, 2, 3, 3, 4, 4]), document\n"
        "split, joined = (Side(document, np.arange(8), entity) for entity in (split, joined))\n"
        "assert count_ceafe(compare_entities(split, joined, 2))[0].tolist() == [4 / 6, 4 / 6]\n"
        "assert 'scipy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@given(CELLS, st.sampled_from([1, 3, 7]))
def test_small_tables_have_the_total_of_another_solver(cells, divisor):
    weight_of = {(row, column): weight / divisor for row, column, weight in cells}
    row, column = (np.unique(line, return_inverse=True)[1] for line in np.array(list(weight_of)).T)
    weight, zeros = np.array(list(weight_of.values())), np.zeros(len(weight_of), np.int64)
    best = solve_dense(row, column, weight, zeros, 1)
    assert best_total(row, column, weight, zeros, 1) == pytest.approx(best, abs=1e-9)


TABLES = st.integers(1, 6).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from((0, 0, 0.25, 0.5, 1)), min_size=n, max_size=n),
        min_size=1,
        max_size=6,
    )
)
"""The similarities of the candidates of a document; 0 for those that can't match."""


def choose(documents):
    """Choose from the matrices of several documents; return the chosen cells as (document, row, column)."""
    chosen = []
    for d, table in enumerate(documents):
        pairs = {(i, j): table[i, j] for i, j in np.argwhere(table).tolist()}
        sides = map(list_candidates, table.shape)
        chosen += [(d, *pair) for pair in choose_best(pairs, *sides)]
    return chosen


def list_candidates(number):
    """List mentions in the order of the text, whose codes are 0, 1, …"""
    return [Candidate((i, i, 1), (), i, i, (), NO_ZERO) for i in range(number)]


def solve(documents):
    """The same by the solver alone."""

    from scipy.optimize import linear_sum_assignment

    found = []
    for d, table in enumerate(documents):
        for i, j in zip(*linear_sum_assignment(-table), strict=True):
            found += [(d, int(i), int(j))] if table[i, j] else []
    return found


@given(tables=st.lists(TABLES.map(np.array), min_size=1, max_size=3))
def test_choices_are_those_of_the_solver(tables):
    assert sorted(choose(tables)) == sorted(solve(tables))


@given(tables=st.lists(TABLES.map(np.array), min_size=1, max_size=2))
def test_documents_too_large_for_the_solver_have_the_same_sum(tables):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inexact_matching, "MAX_CELLS", 36)
        # with candidates that have no pair
        chosen = choose([np.pad(table, (0, 7)) for table in tables])
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
