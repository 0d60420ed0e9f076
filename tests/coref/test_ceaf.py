"""The best mapping of clusters, next to another solver, and where no solver is needed."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each

from closeread.arrays import LimitError
from closeread.tasks.coref.kernels import ceaf, phases
from closeread.tasks.coref.kernels.ceaf import ROWS_PER_CALL, best_total
from closeread.tasks.coref.kernels.phases import match_in_phases
from closeread.tasks.coref.kernels.tangles import add_leaves, peel


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
@for_each("whole", [True, False])
@for_each(
    ("n_documents", "size", "share"), [(40, ROWS_PER_CALL // 10, 0.1), (3, 60, 0.5), (1, 2 * ROWS_PER_CALL, 0.004)]
)
def test_best_total_is_another_solvers(n_documents, size, share, whole):
    rng = np.random.default_rng(size)
    document, row, column = np.nonzero(rng.random((n_documents, size, size)) < share)
    # Whole numbers have many ties, fractions have none.
    weight = rng.integers(1, 5, len(row)).astype(float) if whole else rng.random(len(row)) + 0.01
    row, column = row + size * document, column + size * document
    order = rng.permutation(len(row))
    got = best_total(*(values[order] for values in (row, column, weight, document)), n_documents)
    assert got == pytest.approx(solve_dense(row, column, weight, document, n_documents), abs=1e-9)


def test_a_long_chain_goes_to_the_solver():
    # Cells (0, 0), (1, 0), (1, 1), (2, 1), … with increasing weights: only one is forced in each round.
    row, column = (np.arange(1, 601) + shift for shift in (0, 1))
    row, column, weight = row // 2, column // 2, np.arange(1.0, 601.0)
    zeros = np.zeros(600, np.int64)
    assert best_total(row, column, weight, zeros, 1) == pytest.approx(solve_dense(row, column, weight, zeros, 1))


def test_clusters_that_need_no_search_need_no_solver():
    script = (
        "import sys, numpy as np\n"
        "from closeread.tasks.coref.kernels.entity_metrics import ceafe_counts\n"
        "from closeread.tasks.coref.kernels.overlap import overlap\n"
        "from closeread.tasks.coref.kernels.sides import Side\n"
        "document = np.repeat([0, 1], 4)\n"
        "split, joined = np.array([0, 1, 1, 2, 3, 3, 4, 4]), document\n"
        "split, joined = (Side(document, np.arange(8), entity) for entity in (split, joined))\n"
        "assert ceafe_counts(overlap(split, joined, 2))[:, 0].tolist() == [4 / 6, 4 / 6]\n"
        "assert 'scipy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 9)), min_size=1, max_size=14))
def test_leaves_are_taken_off_without_loss(cells):
    from scipy.optimize import linear_sum_assignment

    weight_of = {(row, column): float(weight) for row, column, weight in cells}
    row, column = (np.unique(line, return_inverse=True)[1] for line in np.array(list(weight_of)).T)
    weight = np.array(list(weight_of.values()))
    peeled = peel(row, column, weight)
    left = np.flatnonzero(peeled.left)
    assert not (np.bincount(row[left])[row[left]] == 1).any()
    matrix = np.zeros((7, 7))
    matrix[row[left], column[left]] = peeled.weight[left]
    rows, columns = linear_sum_assignment(matrix, maximize=True)
    partner = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    chosen = peeled.left & (np.array([partner[r] for r in row.tolist()]) == column)
    found = add_leaves(row, column, chosen, peeled.leaves)
    for line in (row, column):
        assert np.bincount(line[found]).max(initial=0) <= 1
    assert [weight[found].sum()] == solve_dense(row, column, weight, np.zeros(len(row), np.int64), 1)


def check_proof(row, column, weight, found):
    """Check that the duals prove that no other matching weighs more."""
    for line in (row, column):
        assert np.bincount(line[found.chosen]).max(initial=0) <= 1
    of_rows, of_columns = found.of_rows, found.of_columns
    assert min(of_rows.min(), of_columns.min()) >= -1e-9
    assert (of_rows[row] + of_columns[column] >= weight - 1e-9).all()
    assert weight[found.chosen].sum() == pytest.approx(of_rows.sum() + of_columns.sum(), abs=1e-9)


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 9)), min_size=1, max_size=30),
    st.sampled_from([1, 3, 7]),
)
def test_phases_find_what_another_solver_finds(cells, divisor):
    weight_of = {(row, column): weight / divisor for row, column, weight in cells}
    row, column = (np.unique(line, return_inverse=True)[1] for line in np.array(list(weight_of)).T)
    weight = np.array(list(weight_of.values()))
    found = match_in_phases(row, column, weight)
    check_proof(row, column, weight, found)
    best = solve_dense(row, column, weight, np.zeros(len(row), np.int64), 1)
    assert [weight[found.chosen].sum()] == pytest.approx(best, abs=1e-9)


def entangled(n_mentions, n_entities):
    """The cells of mentions in random entities of both sides, and their similarity in CEAF-e."""
    key, response = np.random.default_rng(0).integers(0, n_entities, (2, n_mentions))
    codes, shared = np.unique(key * n_entities + response, return_counts=True)
    row, column = codes // n_entities, codes % n_entities
    return row, column, 2 * shared / (np.bincount(key)[row] + np.bincount(response)[column])


@for_each("kind", ["entangled", "block", "chain"])
def test_phases_prove_what_they_find(kind):
    if kind == "entangled":
        row, column, weight = entangled(15_000, 4_000)
        row, column = (np.unique(line, return_inverse=True)[1] for line in (row, column))
    elif kind == "block":  # all cells weigh the same
        row, column = np.divmod(np.arange(200 * 150), 150)
        weight = np.ones(len(row))
    else:
        row, column = np.arange(1, 3001) // 2, np.arange(2, 3002) // 2 - 1
        weight = np.ones(len(row))
    check_proof(row, column, weight, match_in_phases(row, column, weight))


@pytest.mark.extended
def test_huge_tables_are_mapped_in_phases_to_the_same_total(monkeypatch):
    row, column, weight = entangled(15_000, 4_000)
    zeros = np.zeros(len(row), np.int64)
    expected = best_total(row, column, weight, zeros, 1)
    monkeypatch.setattr(ceaf, "MAX_ROWS", 2)
    monkeypatch.setattr(ceaf, "_solve", None)  # would fail if it was called
    assert best_total(row, column, weight, zeros, 1) == pytest.approx(expected, rel=1e-12)
    monkeypatch.setattr(phases, "MAX_PHASES", 2)
    with pytest.raises(LimitError, match="at most 2"):
        best_total(row, column, weight, zeros, 1)
    monkeypatch.undo()
    monkeypatch.setattr(ceaf, "MAX_ROWS", 2)
    monkeypatch.setattr(ceaf, "MAX_ROWS_IN_PHASES", 3)
    with pytest.raises(LimitError, match="at most 3"):
        best_total(row, column, weight, zeros, 1)
