"""Differences of all pairs at once, against `compare`, pair by pair."""

import itertools
import math

import numpy as np
import pytest
from shared.coreference import KEY, RESPONSE

from closeread import arrays
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.metrics import Metric, Ratio
from closeread.counts.resampling import compare
from closeread.counts.table import CountTable
from closeread.leaderboard import ranking
from closeread.leaderboard.ranking import pair_differences
from closeread.tasks import load_procedure
from closeread.tasks.coref.baselines import BASELINES as COREF_BASELINES
from closeread.tasks.mctaco.baselines import BASELINES

MEAN = Metric("mean", "Mean", "", Ratio("sum", "n"))
SETTINGS = {"n_resamples": 300, "confidence": 0.9, "seed": 7}


def assert_as_compared(metric, tables):
    """Every pair has the interval and the p-value of `compare`, whose difference is second minus first."""
    blocks = np.array([table.block_totals()[table.order_blocks()] for table in tables])
    found = pair_differences(metric, tables[0].names, blocks, **SETTINGS)
    expected = [compare(b, a, [metric], **SETTINGS)[metric.name] for a, b in itertools.combinations(tables, 2)]
    np.testing.assert_allclose(found.low, [one.low for one in expected], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.high, [one.high for one in expected], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found.p, [one.p_randomization for one in expected])
    return found


def make_table(values, n=None):
    values = np.asarray(values, np.float64)
    counts = np.column_stack([values, np.ones(len(values)) if n is None else n])
    return CountTable([f"u{i}" for i in range(len(values))], np.arange(len(values)), ("sum", "n"), counts)


@pytest.mark.parametrize("metric", ["f1", "exact_match"])
def test_mctaco(metric):
    gold = read_gold(load_corpus("mctaco"), "sample").records
    procedure = load_procedure("mctaco")
    tables = [procedure.count(gold=gold, system=baseline.predict(gold)) for baseline in BASELINES]
    metrics = {one.name: one for one in procedure.metrics}
    found = assert_as_compared(metrics[metric], tables)
    assert np.all(found.low < found.high)


def test_coreference():
    procedure = load_procedure("coref")
    gold = [{"document": name, "clusters": clusters} for name, clusters in KEY.items()]
    systems = [
        *(baseline.make(gold) for baseline in COREF_BASELINES),
        [{"document": name, "clusters": clusters} for name, clusters in RESPONSE.items()],
    ]
    tables = [procedure.count(gold=gold, system=system) for system in systems]
    for metric in procedure.metrics:
        assert_as_compared(metric, tables)


def test_chunks_do_not_matter(monkeypatch):
    rng = np.random.default_rng(0)
    tables = [make_table(values) for values in rng.integers(0, 3, (7, 40))]
    monkeypatch.setattr(ranking, "CHUNK", 2 * SETTINGS["n_resamples"])
    monkeypatch.setattr(arrays, "TILE", 40 * 11)
    assert_as_compared(MEAN, tables)


def test_the_sign_is_that_of_the_first_minus_the_second():
    # The first is better by 1 in every block: so it is in every resample.
    tables = [make_table([1] * 8), make_table([0] * 8)]
    blocks = np.array([table.block_totals()[table.order_blocks()] for table in tables])
    found = pair_differences(MEAN, ("sum", "n"), blocks, **SETTINGS)
    assert (found.low.tolist(), found.high.tolist()) == ([1.0], [1.0])


def test_undefined_differences():
    # A score without a denominator in some resamples has no interval; neither has a single block.
    sometimes = make_table([1, 0, 0], [1, 0, 0])
    found = assert_as_compared(MEAN, [sometimes, sometimes, make_table([1, 0, 1])])
    assert np.isnan(found.low).tolist() == [True, True, True]
    (p,) = pair_differences(MEAN, ("sum", "n"), np.ones((2, 1, 2)), **SETTINGS).p
    assert math.isnan(p)


@pytest.mark.parametrize("n", [0, 1])
def test_no_pairs(n):
    found = pair_differences(MEAN, ("sum", "n"), np.ones((n, 5, 2)), **SETTINGS)
    assert [len(part) for part in found] == [0, 0, 0]


def test_released_baselines(corpora):
    gold = read_gold(load_corpus("mctaco")).records
    procedure = load_procedure("mctaco")
    positive, negative, coin = BASELINES
    systems = [positive.predict(gold), negative.predict(gold), *(coin.predict(gold, seed=seed) for seed in range(3))]
    tables = [procedure.count(gold=gold, system=system) for system in systems]
    for metric in procedure.metrics:
        assert_as_compared(metric, tables)
