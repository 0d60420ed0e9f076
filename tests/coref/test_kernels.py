"""Coreference counts: hand cases, an exact twin, what must hold of any input, and the solver beside another."""

import importlib.util
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from closeread.arrays import ratio
from closeread.tasks.coref.kernels.blanc import EDGES, blanc_counts, blanc_scores
from closeread.tasks.coref.kernels.ceaf import ROWS_PER_CALL, best_total
from closeread.tasks.coref.kernels.entity_metrics import (
    b_cubed_counts,
    ceafe_counts,
    ceafm_counts,
    lea_counts,
    mention_counts,
    muc_counts,
)
from closeread.tasks.coref.kernels.overlap import overlap
from closeread.tasks.coref.kernels.sides import Side, mention_codes, reference_response, repeated_mentions

HERE = Path(__file__).parent
CASES = json.loads((HERE.parent / "cases" / "coref.json").read_text("utf-8"))


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


twin = loaded("twin")


def counts(key, response, n_documents):
    """What every metric counts: (n_documents, 4), recall's numerator and denominator, precision's; BLANC's links."""
    table = overlap(key, response, n_documents)
    both_sides = {
        "mentions": mention_counts(table),
        "muc": muc_counts(table),
        "ceafm": ceafm_counts(table),
        "ceafe": ceafe_counts(table),
    }
    one_side = {name: (f(table), f(table.transposed)) for name, f in (("b3", b_cubed_counts), ("lea", lea_counts))}
    return {
        **{name: found[:, [0, 1, 0, 2]] for name, found in both_sides.items()},
        **{name: np.hstack(found) for name, found in one_side.items()},
        "blanc": blanc_counts(table),
    }


def scores(key, response, n_documents, blanc_edge="reference"):
    """Precision, recall and F1 of every metric, 0/0 being 0."""
    sums = {name: found.sum(axis=0) for name, found in counts(key, response, n_documents).items()}
    blanc = blanc_scores(sums.pop("blanc"), sums["mentions"][[0, 1, 3]], blanc_edge)
    made = {"blanc": np.nan_to_num(blanc)}
    for name, (found, of_key, right, of_response) in sums.items():
        recall, precision = np.nan_to_num([ratio(found, of_key), ratio(right, of_response)])
        f1 = np.nan_to_num(ratio(2 * precision * recall, precision + recall))
        made[name] = np.array([precision, recall, f1])
    return made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_hand_cases(case):
    key, response = ([text.split() for text in case[side]] for side in ("gold", "system"))
    sides = [twin.side(documents) for documents in (key, response)]
    options = dict(case.get("options", {}))
    match options.pop("duplicates", None):
        case "reference":
            sides[1] = reference_response(*sides)
        case "first":
            sides = [
                side.select(~np.isin(np.arange(len(side.entity)), repeated_mentions(side)[:, 1])) for side in sides
            ]
    got = scores(*sides, len(key), **options)
    for name, expected in case["expected"].items():
        assert got[name] == pytest.approx([float(Fraction(score)) for score in expected], abs=1e-12), name


# Every document has up to eight mentions; a side says of each in which of up to five clusters it is, if in any.
MENTIONS = "abcdefgh"
CLUSTERED = st.lists(st.none() | st.integers(0, 4), min_size=8, max_size=8)
REPEATED = st.lists(st.tuples(st.sampled_from(MENTIONS), st.integers(0, 4)), max_size=6)


def clusters(numbers, more=()):
    """The clusters of a document, in order of their numbers; those without a mention are left out."""
    placed = [(n, m) for m, n in zip(MENTIONS, numbers, strict=True) if n is not None] + [(n, m) for m, n in more]
    return [[m for n, m in placed if n == number] for number in sorted({n for n, _ in placed})]


DOCUMENT = CLUSTERED.map(clusters)
PAIRS = st.lists(st.tuples(DOCUMENT, DOCUMENT), min_size=1, max_size=3)
REPEATING = st.builds(clusters, CLUSTERED, REPEATED)
REPEATING_PAIRS = st.lists(st.tuples(REPEATING, REPEATING), min_size=1, max_size=3)


def sides_of(pairs):
    return [list(documents) for documents in zip(*pairs, strict=True)]


def same_as_twin(key, response):
    got = counts(twin.side(key), twin.side(response), len(key))
    for name, metric in {**twin.METRICS, "blanc": twin.blanc}.items():
        expected = [float(value) for value in twin.summed(metric, key, response)]
        assert got[name].sum(axis=0) == pytest.approx(expected, abs=1e-12), name
        by_document = [[float(v) for v in metric(*pair)] for pair in zip(key, response, strict=True)]
        assert got[name] == pytest.approx(np.array(by_document), abs=1e-12), name


@given(PAIRS)
def test_fast_is_twin(pairs):
    same_as_twin(*sides_of(pairs))


@given(REPEATING_PAIRS)
def test_fast_is_twin_where_mentions_are_repeated(pairs):
    key, response = sides_of(pairs)
    kept = twin.as_reference(key, response)
    side = reference_response(twin.side(key), twin.side(response))
    assert side.mention.tolist() == twin.side(kept).mention.tolist()
    same_as_twin(key, kept)


@given(REPEATING_PAIRS)
def test_the_table_says_of_every_cell_what_its_clusters_share(pairs):
    key, response = sides_of(pairs)
    table = overlap(twin.side(key), twin.side(response), len(key))
    got = np.column_stack([table.shared, table.linked, table.key_held, table.response_held]).tolist()
    back = table.transposed.transposed
    assert np.column_stack([back.shared, back.linked, back.key_held, back.response_held]).tolist() == got
    assert table.repeats == any(twin.mentions(d, d)[0] < sum(map(len, d)) for d in key + response)
    expected, starts = [], np.cumsum([(0, 0)] + [(len(k), len(r)) for k, r in pairs], axis=0)
    for (k, r), (k0, r0) in zip(pairs, starts.tolist(), strict=False):
        in_key, in_response = twin.where(k), twin.where(r)
        for i, j in ((i, j) for i, one in enumerate(k) for j, other in enumerate(r) if set(one) & set(other)):
            both = set(k[i]) & set(r[j])
            linked = sum(in_key[m] == i and in_response[m] == j for m in both)
            key_held = sum(r[j].count(m) and in_response[m] == j for m in k[i])
            response_held = sum(k[i].count(m) and in_key[m] == i for m in r[j])
            expected.append([i + k0, j + r0, len(both), linked, key_held, response_held])
    cells = np.column_stack([table.cell_key, table.cell_response]).tolist()
    assert [cell + counted for cell, counted in zip(cells, got, strict=True)] == expected


@given(REPEATING_PAIRS)
def test_blanc_is_a_count_of_sets_whatever_is_repeated(pairs):
    key, response = sides_of(pairs)
    got = blanc_counts(overlap(twin.side(key), twin.side(response), len(key)))
    assert got.sum(axis=0).tolist() == twin.summed(twin.blanc, key, response)


@given(PAIRS, st.sampled_from(EDGES))
def test_blanc_scores_are_the_twins(pairs, edge):
    key, response = sides_of(pairs)
    table = overlap(twin.side(key), twin.side(response), len(key))
    links, mentions = blanc_counts(table).sum(axis=0), mention_counts(table).sum(axis=0)
    same = len(set(mentions.tolist())) == 1
    expected = twin.blanc_scores(twin.summed(twin.blanc, key, response), same, edge)
    got = blanc_scores(links, mentions, edge)
    assert got == pytest.approx([np.nan if x is None else float(x) for x in expected], abs=1e-12, nan_ok=True)


@given(st.lists(PAIRS, min_size=4, max_size=4), st.sampled_from(EDGES))
def test_blanc_scores_of_many_sums_at_once(several, edge):
    tables = [overlap(*map(twin.side, sides_of(pairs)), len(pairs)) for pairs in several]
    links = np.array([blanc_counts(table).sum(axis=0) for table in tables])
    mentions = np.array([mention_counts(table).sum(axis=0) for table in tables])
    at_once = blanc_scores(links.reshape(2, 2, 6), mentions.reshape(2, 2, 3), edge)
    one_by_one = [blanc_scores(*sums, edge) for sums in zip(links, mentions, strict=True)]
    assert np.array_equal(at_once.reshape(4, 3), one_by_one, equal_nan=True)


@given(st.lists(DOCUMENT, min_size=1, max_size=3), st.sampled_from(EDGES))
def test_perfect_is_one(documents, edge):
    side = twin.side(documents)
    got = scores(side, side, len(documents), edge)
    sizes = [len(cluster) for document in documents for cluster in document]
    links = twin.summed(twin.blanc, documents, documents)
    # Without a mention all is 0/0; without a cluster of two MUC is; without two mentions in a document BLANC is,
    # of which the paper says that it is 1 where the mentions are the same.
    whole = {name: bool(sizes) for name in got}
    whole["muc"] = max(sizes, default=0) > 1
    whole["blanc"] = any(links) or edge == "luo2014"
    for name, found in got.items():
        assert found == pytest.approx([float(whole[name])] * 3, abs=1e-12), name


@given(st.lists(DOCUMENT, min_size=1, max_size=3))
def test_an_empty_response_has_no_recall(documents):
    got = scores(twin.side(documents), twin.side([[] for _ in documents]), len(documents))
    for name, found in got.items():
        assert found.tolist() == [0, 0, 0], name


@given(PAIRS)
def test_swapping_the_sides_swaps_precision_and_recall(pairs):
    # BLANC by the reference scorer looks at the key alone to see whether a component stands: it is no exchange there.
    key, response = (twin.side(documents) for documents in sides_of(pairs))
    there, back = (scores(*sides, len(pairs), "luo2014") for sides in ((key, response), (response, key)))
    for name, found in there.items():
        assert found == pytest.approx(back[name][[1, 0, 2]], abs=1e-12), name


@given(PAIRS, st.sampled_from(EDGES))
def test_scores_lie_between_zero_and_one(pairs, edge):
    for name, found in scores(*map(twin.side, sides_of(pairs)), len(pairs), edge).items():
        assert ((found >= 0) & (found <= 1 + 1e-12)).all(), name


@given(PAIRS, st.integers(0, 2**32 - 1))
def test_order_and_numbers_do_not_matter(pairs, seed):
    rng = np.random.default_rng(seed)
    key, response = (twin.side(documents) for documents in sides_of(pairs))
    mention_number = rng.permutation(200) * 3 - 100

    def disguised(side):
        order = rng.permutation(len(side.mention))
        entity_number = rng.permutation(side.n_entities + 5)
        return Side(side.document[order], mention_number[side.mention[order]], entity_number[side.entity[order]])

    plain, other = (counts(*sides, len(pairs)) for sides in ((key, response), (disguised(key), disguised(response))))
    for name, found in plain.items():
        assert found == pytest.approx(other[name], abs=1e-12), name


@given(PAIRS, PAIRS)
def test_counts_of_a_union_are_those_of_its_parts(one, other):
    whole, *parts = (counts(*map(twin.side, sides_of(pairs)), len(pairs)) for pairs in (one + other, one, other))
    for name, found in whole.items():
        assert found == pytest.approx(np.concatenate([part[name] for part in parts]), abs=1e-12), name


def test_nothing_at_all():
    nothing = twin.side([])
    for name, found in counts(nothing, nothing, 2).items():
        assert found.shape == (2, 6 if name == "blanc" else 4)
        assert not found.any()


def test_blanc_says_where_nothing_decides():
    # The key has both kinds of links, the response none: precision has nothing to divide by, recall and F1 have.
    assert np.array_equal(
        blanc_scores(np.array([0, 1, 0, 0, 2, 0.0]), np.array([1, 3, 1.0]), "reference"), [np.nan, 0, 0], equal_nan=True
    )
    # Here coreference precision alone is 0/0: it counts as 0 in the mean.
    assert blanc_scores(np.array([0, 1, 0, 2, 2, 4.0]), np.array([3, 3, 3.0]), "reference")[0] == 0.25
    assert np.isnan(blanc_scores(np.zeros(6), np.zeros(3), "reference")).all()


# The solver.


def matchings(row, column, weight, document, n_documents):
    """The best total of every document, by a solver of dense matrices."""
    totals = []
    for number in range(n_documents):
        here = document == number
        matrix = np.zeros((row.max() + 1, column.max() + 1))
        matrix[row[here], column[here]] = weight[here]
        totals.append(matrix[linear_sum_assignment(matrix, maximize=True)].sum())
    return totals


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("n_documents", "size", "share"), [(40, ROWS_PER_CALL // 10, 0.1), (3, 60, 0.5), (1, 2 * ROWS_PER_CALL, 0.004)]
)
def test_best_total_is_another_solvers(n_documents, size, share, whole):
    rng = np.random.default_rng(size)
    document, row, column = np.nonzero(rng.random((n_documents, size, size)) < share)
    # Whole numbers are full of ties, fractions have none.
    weight = rng.integers(1, 5, len(row)).astype(float) if whole else rng.random(len(row)) + 0.01
    row, column = row + size * document, column + size * document
    order = rng.permutation(len(row))
    got = best_total(*(values[order] for values in (row, column, weight, document)), n_documents)
    assert got == pytest.approx(matchings(row, column, weight, document, n_documents), abs=1e-9)


def test_a_long_chain_goes_to_the_solver():
    # Cells (0, 0), (1, 0), (1, 1), (2, 1), … that weigh more and more: one is forced in every round.
    row, column = (np.arange(1, 601) + shift for shift in (0, 1))
    row, column, weight = row // 2, column // 2, np.arange(1.0, 601.0)
    zeros = np.zeros(600, np.int64)
    assert best_total(row, column, weight, zeros, 1) == pytest.approx(matchings(row, column, weight, zeros, 1))


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


# Repeated mentions.


def test_repeated_mentions_are_found_with_their_first_row():
    side = Side(np.array([0, 0, 0, 1, 0, 0]), np.array([7, 5, 7, 7, 5, 7]), np.array([1, 0, 0, 3, 2, 2]))
    assert sorted(map(tuple, repeated_mentions(side).tolist())) == [(1, 4), (2, 0), (2, 5)]


def test_the_reference_keeps_what_the_key_lacks():
    key, response = twin.side([["ab"]]), twin.side([["ax", "abx", "x"]])
    assert reference_response(key, response).mention.tolist() == [ord(m) for m in "axbxx"]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-(2**63), -1, 0, 5, 2**62, 2**63 - 1])), min_size=1))
def test_mentions_are_told_apart_whatever_their_codes(rows):
    document, mention = np.array(rows, dtype=np.int64).T
    half = len(rows) // 2
    sides = [Side(document[part], mention[part], mention[part]) for part in (slice(half), slice(half, None))]
    codes = np.concatenate(mention_codes(*sides))
    same = [[a == b for b in rows] for a in rows]
    assert (codes >= 0).all()
    assert (codes[:, None] == codes).tolist() == same
