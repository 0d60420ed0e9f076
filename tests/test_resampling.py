"""Intervals and paired tests, against exact enumeration, slow twins and a known truth."""

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import coverage

from closeread.counts.estimates import Resampling, score
from closeread.counts.metrics import Metric, Ratio
from closeread.counts.resampling import (
    bca_interval,
    compare_pairs,
    draw_weights,
    percentile_interval,
    sum_weighted,
)
from closeread.counts.table import CountTable
from closeread.exceptions import RequestError
from closeread.tasks.mctaco.procedure import PROCEDURE

MEAN = Metric("mean", "Mean", "", Ratio("sum", "n"))


def table(values, blocks=None):
    """A table whose one score is the mean of the values."""
    values = np.asarray(values, np.float64)
    blocks = np.arange(len(values)) if blocks is None else np.asarray(blocks)
    counts = np.column_stack([values, np.ones(len(values))])
    return CountTable([f"u{i}" for i in range(len(values))], blocks, ("sum", "n"), counts)


def test_a_resample_is_a_draw_of_whole_blocks():
    # Three blocks of different sizes: every resample holds three blocks, so its total is one of 27 sums.
    t = table([1, 2, 4, 8, 16], blocks=[0, 0, 1, 2, 2])
    totals = sum_weighted(draw_weights(3, 2000, np.random.default_rng(0)), t.block_totals())
    blocks = [(3, 2), (4, 1), (24, 2)]
    possible = {
        tuple(map(sum, zip(*draw, strict=True))) for draw in itertools.product(blocks, repeat=3)
    }
    assert {tuple(row) for row in totals} == possible


def test_resamples_have_the_moments_of_the_bootstrap():
    # The bootstrap variance of a sum over n blocks is n times the (population) variance of the block totals.
    values = np.random.default_rng(1).random(50)
    weights = draw_weights(50, 40_000, np.random.default_rng(2))
    totals = sum_weighted(weights, table(values).block_totals())[:, 0]
    assert totals.mean() == pytest.approx(values.sum(), rel=0.005)
    assert totals.var() == pytest.approx(50 * values.var(), rel=0.03)


def test_percentile_interval_by_hand():
    # Of 0, 1, …, 100 the 2.5 % and 97.5 % quantiles are 2.5 and 97.5.
    assert percentile_interval(np.arange(101.0), 0.95) == pytest.approx([2.5, 97.5])


samples = st.lists(st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0]), min_size=1, max_size=40)


@given(samples, st.floats(0.5, 0.999))
def test_percentile_interval_is_that_of_numpy(values, confidence):
    tail = (1 - confidence) / 2
    expected = np.quantile(values, [tail, 1 - tail]).tolist()
    assert percentile_interval(np.array(values), confidence) == pytest.approx(
        expected, rel=1e-12, abs=1e-9
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6))
def test_randomization_by_enumeration(pairs):
    # All 2**n swaps, each as likely as the other; 4,000 random ones come near.
    first, second = (table(side) for side in zip(*pairs, strict=True))
    observed = abs(sum(b - a for a, b in pairs))
    signs = itertools.product((-1, 1), repeat=len(pairs))
    as_large = [
        abs(sum(sign * (b - a) for sign, (a, b) in zip(row, pairs, strict=True))) >= observed
        for row in signs
    ]
    exact = sum(as_large) / len(as_large)
    got = compare_pairs([first, second], [MEAN], n_resamples=4000, confidence=0.95, seed=0)[0, 1][
        "mean"
    ]
    assert got.p_randomization == pytest.approx(exact, abs=5 * math.sqrt(0.25 / 4000))


@pytest.mark.extended
def test_paired_tests_keep_their_level():
    # Under the null hypothesis a p-value is at most 0.05 in some 5 % of the cases: 400 pairs of equal systems.
    rng = np.random.default_rng(6)
    p = []
    for seed in range(400):
        values = rng.integers(0, 2, size=(2, 80))
        got = compare_pairs(
            list(map(table, values)), [MEAN], n_resamples=200, confidence=0.95, seed=seed
        )[0, 1]
        p.append((got["mean"].p_randomization, got["mean"].p_bootstrap))
    rejected = (np.array(p) <= 0.05).mean(axis=0)
    assert ((rejected > 0.02) & (rejected < 0.085)).all()


def test_one_block_tells_nothing_of_chance():
    one, two = table([1, 0, 1], blocks=[0, 0, 0]), table([1, 1, 1], blocks=[0, 0, 0])
    got = compare_pairs([one, two], [MEAN], n_resamples=100, confidence=0.95, seed=0)[0, 1]["mean"]
    assert got.value == pytest.approx(1 / 3)
    assert all(math.isnan(value) for value in got[1:5])
    report = score(one, (MEAN,), Resampling(100))
    assert (report.scores["mean"].low, report.scores["mean"].high) == (None, None)


def sometimes_undefined(values, defined):
    """A table whose score has a denominator in some of its blocks only."""
    counts = np.column_stack([values, defined]).astype(np.float64)
    return CountTable(
        [str(i) for i in range(len(values))], np.arange(len(values)), ("sum", "n"), counts
    )


def test_a_score_that_some_resamples_lack_has_no_interval():
    # With a denominator in one block of three, (2/3)**3 of the resamples are 0/0.
    t = sometimes_undefined([1, 0, 0], [1, 0, 0])
    estimate = score(t, (MEAN,), Resampling(200)).scores["mean"]
    assert (estimate.value, estimate.low, estimate.high, estimate.undefined) == (
        1,
        None,
        None,
        False,
    )
    got = compare_pairs([t, t], [MEAN], n_resamples=200, confidence=0.95, seed=0)[0, 1]["mean"]
    assert got.value == 0
    assert all(math.isnan(value) for value in (got.low, got.high, got.p_bootstrap))
    by_convention = replace(MEAN, zero_division=0.0)
    estimate = score(t, (by_convention,), Resampling(200)).scores["mean"]
    assert (estimate.low, estimate.high) == (0, 1)


def test_what_is_undefined_without_a_convention_is_nothing():
    t = sometimes_undefined([0, 0], [0, 0])
    estimate = score(t, (MEAN,), Resampling(50)).scores["mean"]
    assert (estimate.value, estimate.undefined) == (None, False)
    estimate = score(t, (replace(MEAN, zero_division=1.0),), Resampling(50)).scores["mean"]
    assert (estimate.value, estimate.undefined) == (1, True)


def test_systems_of_other_units_or_blocks_are_not_compared():
    one = table([1, 0, 1])
    for other, message in (
        (table([1, 0]), "not scored on the same units: 1 were scored for only one of them"),
        (table([1, 0, 1], blocks=[0, 0, 1]), "group the units into different blocks"),
    ):
        with pytest.raises(RequestError, match=message):
            compare_pairs([one, other], [MEAN], n_resamples=10, confidence=0.95, seed=0)


# Coverage, on a simulated population whose scores are known exactly (shared/coverage.py).


def test_the_population_has_the_scores_that_are_claimed():
    drawn = coverage.simulated(100_000, np.random.default_rng(7))[0]
    totals = drawn.values.sum(axis=0)
    for name, known in coverage.truth().items():
        metric = next(m for m in PROCEDURE.metrics if m.name == name)
        assert float(metric.score(totals, drawn.names)) == pytest.approx(known, abs=0.003)


def test_the_population_of_uneven_documents_has_the_score_that_is_claimed():
    corpus = coverage.simulated_documents(200_000, np.random.default_rng(7))
    score = coverage.POOLED_F1.score(corpus.totals, corpus.names)
    assert float(score) == pytest.approx(coverage.truth_of_documents()["f1"], abs=0.003)
    sizes = corpus.values[:, corpus.names.index("gold")]
    # The median of lognormal(2, 1) is e**2, and its mean is e**2.5.
    assert np.median(sizes) == pytest.approx(math.exp(2), abs=0.6)
    assert sizes.mean() == pytest.approx(math.exp(2.5), rel=0.02)


@pytest.mark.extended
def test_intervals_of_200_blocks_cover_the_truth():
    got = coverage.coverage(n_blocks=200, n_corpora=500, seed=8)
    assert all(0.93 <= share <= 0.97 for of_kind in got.values() for share in of_kind.values()), got


@pytest.mark.extended
def test_a_detectable_difference_is_found_in_80_percent_of_test_sets():
    got = coverage.power(n_blocks=100, n_pairs=500, seed=3)
    assert got["p_randomization"] == pytest.approx(0.8, abs=0.06), got  # 3 standard errors


def test_a_detectable_difference_by_hand():
    # Of 100 units, the second system is right where the first is wrong in 20, and the other way round in 10.  The
    # differences have a standard deviation of sqrt(.3 - .1**2); quantiles of the normal distribution are 1.96 and .84.
    first, second = table([0] * 20 + [1] * 10 + [1] * 70), table([1] * 20 + [0] * 10 + [1] * 70)
    for confidence, quantile in ((0.95, 1.959964), (0.9, 1.644854)):
        how = {"n_resamples": 4000, "confidence": confidence, "seed": 0, "power": True}
        (pair,) = compare_pairs([first, second], [MEAN], **how).values()
        expected = (quantile + 0.841621) * math.sqrt((0.3 - 0.1**2) / 100)
        assert pair["mean"].detectable == pytest.approx(expected, rel=0.04)
    alone = compare_pairs(
        [table([0]), table([1])], [MEAN], n_resamples=10, confidence=0.95, seed=0, power=True
    )
    assert math.isnan(alone[0, 1]["mean"].detectable)


def test_bca_intervals_are_those_of_scipy():
    from scipy.stats import bootstrap

    values = np.random.default_rng(5).exponential(size=(3, 12))
    drawn = np.random.default_rng(6).integers(0, 12, (400, 12))
    samples, left_out = values[:, drawn].mean(-1), (values.sum(-1, keepdims=True) - values) / 11
    found = bca_interval(samples, values.mean(-1), left_out, 0.9)
    for row, (low, high) in zip(values, found, strict=True):
        same = SimpleNamespace(bootstrap_distribution=row[drawn].mean(-1))
        expected = bootstrap(
            (row,),
            np.mean,
            n_resamples=0,
            bootstrap_result=same,
            method="BCa",
            confidence_level=0.9,
        ).confidence_interval
        assert (low, high) == pytest.approx(tuple(expected), rel=1e-9)


def test_bca_intervals_where_nothing_can_be_corrected():
    same = np.full(50, 0.25)
    assert bca_interval(same, np.array(0.25), np.full(4, 0.25), 0.95).tolist() == [0.25, 0.25]
    # all are below the score
    assert np.isnan(bca_interval(same, np.array(0.5), np.arange(4.0), 0.95)).all()
    assert np.isnan(
        bca_interval(np.append(same, np.nan), np.array(0.25), np.arange(4.0), 0.95)
    ).all()


def test_bca_intervals_of_scores_and_of_differences_from_nothing_are_the_same():
    values = np.random.default_rng(4).exponential(size=12)
    how = {"n_resamples": 20_000, "confidence": 0.95, "seed": 0}
    ends = {}
    for kind in ("percentile", "bca"):
        one = score(table(values), (MEAN,), Resampling(**how, interval=kind)).scores["mean"]
        pair = compare_pairs([table(values * 0), table(values)], [MEAN], **how, interval=kind)[
            0, 1
        ]["mean"]
        assert (pair.low, pair.high) == pytest.approx((one.low, one.high), rel=0.03)
        ends[kind] = one
    # The distribution has its long tail above.
    assert ends["bca"].low > 1.05 * ends["percentile"].low
    assert ends["bca"].high > 1.05 * ends["percentile"].high
