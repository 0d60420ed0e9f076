"""The draws of the bootstrap and of approximate randomization, against the multinomial and a slow twin."""

import itertools
import math
import operator
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import twins.draws
from hypothesis import given
from hypothesis import strategies as st
from shared.late import stats

from closeread.arrays import sum_rows
from closeread.counts import resampling as draws
from closeread.counts.resampling import (
    draw_swaps,
    draw_weights,
    percentile_interval,
    sum_weighted,
)

UNLIKELY = 1e-4  # of a test with a fixed seed; a wrong distribution is far beyond it


def draw_all(draw, n_blocks, n_resamples, seed=0):
    return np.concatenate(list(draw(n_blocks, n_resamples, np.random.default_rng(seed))))


def multinomial(weights):
    """The probability of drawing the blocks as often as this."""
    n = sum(weights)
    return math.factorial(n) / math.prod(map(math.factorial, weights)) / n**n


@pytest.mark.parametrize("n_blocks", [1, 2, 3, 4])
def test_every_resample_is_as_likely_as_it_should_be(n_blocks):
    found = Counter(map(tuple, draw_all(draw_weights, n_blocks, 40_000).tolist()))
    possible = [
        row
        for row in itertools.product(range(n_blocks + 1), repeat=n_blocks)
        if sum(row) == n_blocks
    ]
    assert not set(found) - set(possible)
    if n_blocks > 1:
        expected = [40_000 * multinomial(row) for row in possible]
        assert stats.chisquare([found[row] for row in possible], expected).pvalue > UNLIKELY


@pytest.mark.parametrize(
    ("n_blocks", "n_resamples"), [(5, 30_000), (40, 10_000), (1000, 2000), (300_000, 20)]
)
def test_weights_are_those_of_a_multinomial(n_blocks, n_resamples):
    weights = draw_all(draw_weights, n_blocks, n_resamples)
    assert weights.shape == (n_resamples, n_blocks)
    assert (weights.sum(axis=1, dtype=np.int64) == n_blocks).all()
    # A block is drawn as often as a binomial says.
    found = np.bincount(weights.ravel(), minlength=7)
    expected = stats.binom(n_blocks, 1 / n_blocks).pmf(np.arange(7)) * weights.size
    often = np.append(expected[:6], weights.size - expected[:6].sum())
    counted = np.append(found[:6], found[6:].sum())
    kept = often > 5
    assert (np.abs(counted - often)[kept] < 5 * np.sqrt(often[kept])).all()


def test_means_variances_and_covariances_are_those_of_a_multinomial():
    n, m = 30, 60_000
    weights = draw_all(draw_weights, n, m).astype(np.float64)
    assert np.abs(weights.mean(axis=0) - 1).max() < 5 * math.sqrt((1 - 1 / n) / m)
    # The covariance is -1/n, and the variance 1 - 1/n; the error of either is at most about 2 / sqrt(m).
    found = np.cov(weights.T)
    assert np.abs(found - (np.eye(n) - 1 / n)).max() < 5 * 2 / math.sqrt(m)
    # So is the sum of any half of the blocks, with less chance: n/4, whichever they are.
    for half in (np.arange(n) < n // 2, np.arange(n) % 2 == 0):
        assert weights[:, half].sum(axis=1).var() == pytest.approx(n / 4, rel=5 * math.sqrt(2 / m))


@pytest.mark.parametrize("draw", [draw_weights, draw_swaps])
def test_draws_do_not_depend_on_the_size_of_chunks(monkeypatch, draw):
    at_once = draw_all(draw, 50, 61, seed=3)
    monkeypatch.setattr(draws, "WEIGHTS_PER_CHUNK", 20 * 50)
    chunks = list(draw(50, 61, np.random.default_rng(3)))
    assert [len(chunk) for chunk in chunks] == [20, 20, 20, 1]
    assert np.array_equal(np.concatenate(chunks), at_once)


def test_every_swap_is_as_likely_as_the_others():
    found = Counter(map(tuple, draw_all(draw_swaps, 3, 40_000).tolist()))
    assert set(found) == set(itertools.product((0, 1), repeat=3))
    assert stats.chisquare(list(found.values())).pvalue > UNLIKELY
    whole = draw_all(draw_swaps, 1001, 300)
    assert np.abs(whole.mean(axis=0) - 0.5).max() < 5 * 0.5 / math.sqrt(300)
    assert whole.mean() == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(whole.size))


@pytest.mark.parametrize("n_blocks", [3, 60, 700])
def test_intervals_are_those_of_plain_drawing(n_blocks):
    n = 3000
    rng = np.random.default_rng(n_blocks)
    blocks = np.column_stack([rng.gamma(0.5, size=n_blocks), rng.integers(1, 5, n_blocks)])
    # Without the last digits, which are other ones for sums that are not rounded before.
    ours, plain = (
        np.round(sums[:, 0] / sums[:, 1], 12)
        for sums in (
            sum_weighted(draw_weights(n_blocks, n, rng), blocks),
            twins.draws.sum_resamples(blocks, n, rng),
        )
    )
    assert stats.ks_2samp(ours, plain).pvalue > UNLIKELY
    # The standard error of a quantile of a normal sample is sqrt(q (1 - q) / n) / density.
    error = math.sqrt(2 * 0.025 * 0.975 / n) / stats.norm.pdf(stats.norm.ppf(0.025)) * plain.std()
    if n_blocks > 3:
        assert percentile_interval(ours, 0.95) == pytest.approx(
            percentile_interval(plain, 0.95), abs=5 * error
        )


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), min_size=1, max_size=12),
    st.integers(0, 2**32 - 1),
)
def test_weighted_sums_are_those_of_fractions_in_chunks_of_any_size(rows, seed):
    counts = np.array([[value / 7, whole] for value, whole in rows])
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(len(rows), [1 / len(rows)] * len(rows), 7)
    fractions = [[Fraction(value) for value in column] for column in counts.T.tolist()]
    exact = [
        [float(sum(map(operator.mul, column, row))) for column in fractions]
        for row in weights.tolist()
    ]
    sums = sum_weighted([weights], counts)
    np.testing.assert_allclose(sums, exact, rtol=1e-13)
    assert np.array_equal(sum_weighted([weights[:3], weights[3:]], counts), sums)
    assert np.array_equal(sum_weighted([weights], counts[:, :1]), sums[:, :1])


def test_sums_of_many_fractions_are_the_same_in_any_order():
    rng = np.random.default_rng(0)
    for some in (rng.random(50_000) / 3, rng.random(5_000) * 2**-21, rng.random(5_000) * 1e-9):
        (total,) = sum_rows(some[:, None])
        assert total == math.fsum(some)
        assert {sum_rows(rng.permutation(some)[:, None])[0] for _ in range(30)} == {total}
