"""Rank intervals, against enumeration of all swaps and a slow twin."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from twins import ranking as twin

from closeread.counts.metrics import F1, Metric, Ratio
from closeread.leaderboard.ranking import Standing, rank, reject

MEAN = Metric("mean", "Mean", "", Ratio("sum", "n"))
MICRO = Metric("f1", "F1", "", F1(Ratio("right", "system"), Ratio("right", "gold")), zero_division=0.0)
NAMES = {MEAN: ("n", "sum"), MICRO: ("gold", "system", "right")}


def mean(totals):
    n, total = totals
    return Fraction(total, n)


def micro_f1(totals):
    gold, system, right = totals
    return Fraction(2 * right, gold + system)


SLOW = {MEAN: mean, MICRO: micro_f1}


def standings(metric, systems, alpha=0.05):
    return rank(metric, NAMES[metric], np.array(systems, np.float64), alpha)


def as_tuples(found):
    return [(standing.low, standing.high, standing.best) for standing in found]


@st.composite
def boards(draw, min_blocks=1, max_blocks=8, max_systems=4):
    """A metric, and systems as lists of blocks; gold is the same for all."""
    metric = draw(st.sampled_from([MEAN, MICRO]))
    n_blocks = draw(st.integers(min_blocks, max_blocks))
    gold = draw(st.lists(st.integers(1, 5), min_size=n_blocks, max_size=n_blocks))
    system = st.tuples(*(draw_block(metric, n) for n in gold)).map(list)
    return metric, draw(st.lists(system, min_size=1, max_size=max_systems))


def draw_block(metric, gold):
    right = st.integers(0, gold)
    if metric is MEAN:
        return right.map(lambda n: (gold, n))
    return st.tuples(right, st.integers(0, 3)).map(lambda block: (gold, sum(block), block[0]))


def invent(metric, n_systems, n_blocks, seed, spread=0.3):
    """Systems of different quality, with binomial counts."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 8, n_blocks)
    quality = rng.uniform(0.5 - spread, 0.5 + spread, n_systems)
    right = rng.binomial(np.broadcast_to(gold, (n_systems, n_blocks)), quality[:, None])
    everyone = np.broadcast_to(gold, right.shape)
    if metric is MEAN:
        return np.stack([everyone, right], axis=2)
    return np.stack([everyone, right + rng.integers(0, 4, right.shape), right], axis=2)


# By hand


def test_two_systems_apart_in_six_blocks():
    # Better in every block: of 64 swaps, only none and all are as large, and 2/64 is below 0.05.
    good, bad = [(1, 1)] * 6, [(1, 0)] * 6
    assert standings(MEAN, [bad, good]) == [Standing(2, 2, False), Standing(1, 1, True)]


def test_five_blocks_are_not_enough():
    # 2/32 is above 0.05.
    assert standings(MEAN, [[(1, 0)] * 5, [(1, 1)] * 5]) == [Standing(1, 2, True)] * 2


def test_more_pairs_need_more_blocks():
    # Three pairs: the smallest p-value must be at most 0.05/3 = 1/60.  That is 2/128 of seven blocks, not 2/64 of six.
    def make_three(n_blocks):
        return [[(2, score)] * n_blocks for score in (0, 1, 2)]

    assert as_tuples(standings(MEAN, make_three(6))) == [(1, 3, True)] * 3
    assert as_tuples(standings(MEAN, make_three(7))) == [(3, 3, False), (2, 2, False), (1, 1, True)]


def test_intervals_overlap_where_neighbours_are_alike():
    # Of twelve blocks, a is better than b in two, and both are better than c in all ten others.
    a, b, c = [(1, 1)] * 12, [(1, 1)] * 10 + [(1, 0)] * 2, [(1, 0)] * 12
    assert as_tuples(standings(MEAN, [a, b, c])) == [(1, 2, True), (1, 2, True), (3, 3, False)]


def test_a_single_block_tells_nothing():
    assert as_tuples(standings(MEAN, [[(9, 0)], [(9, 9)]])) == [(1, 2, True), (1, 2, True)]


@pytest.mark.parametrize("n", [0, 1])
def test_boards_without_pairs(n):
    assert rank(MEAN, NAMES[MEAN], np.ones((n, 3, 2))) == [Standing(1, 1, True)] * n


def test_systems_without_a_score_have_no_rank():
    # 0/0 without a convention: the others are ranked as if it were not there.
    good, bad, none = [(1, 1)] * 6, [(1, 0)] * 6, [(0, 0)] * 6
    assert standings(MEAN, [none, bad, good]) == [None, Standing(2, 2, False), Standing(1, 1, True)]
    assert standings(MEAN, [none, none]) == [None, None]


def test_best_is_told_by_the_best_system_alone():
    # d is significantly worse than b, but not than a, which has the highest score: a varies too much.
    a = [(9, 9)] * 5 + [(9, 0)] * 3
    b = [(9, 5)] * 8
    d = [(9, 4)] * 8
    found = as_tuples(standings(MEAN, [a, b, d]))
    assert found == twin.rank(mean, [a, b, d], 0.05)
    assert found == [(1, 3, True), (1, 2, True), (2, 3, True)]


# Against the twin


@given(boards(), st.sampled_from([0.05, 0.2, 0.5]))
def test_all_swaps_of_few_blocks(board, alpha):
    metric, systems = board
    assert as_tuples(standings(metric, systems, alpha)) == twin.rank(SLOW[metric], systems, alpha)


@given(st.lists(st.integers(0, 40).map(lambda n: Fraction(n, 400)), max_size=12))
def test_step_down(p):
    expected = twin.reject(dict(enumerate(p)), 0.05)
    # One p-value may be exactly at its limit, where the float may lie on either side.
    limits = [Fraction(1, 20) / (len(p) - k) for k in range(len(p))]
    assume(not set(limits) & set(p))
    assert set(np.flatnonzero(reject(np.array(p, np.float64), 0.05)).tolist()) == expected


# Properties


MANY = pytest.mark.parametrize("n_blocks", [9, 12, 13, 40])
METRICS = pytest.mark.parametrize("metric", [MEAN, MICRO], ids=["mean", "f1"])


@METRICS
@MANY
@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_systems_does_not_matter(metric, n_blocks, seed):
    systems = invent(metric, 8, n_blocks, seed)
    order = np.random.default_rng(seed).permutation(8)
    found = standings(metric, systems)
    assert standings(metric, systems[order]) == [found[i] for i in order]
    assert len(set(found)) > 1 or n_blocks < 40


@METRICS
@MANY
def test_the_order_of_blocks_does_not_matter(metric, n_blocks):
    systems = invent(metric, 8, n_blocks, 1)
    assert standings(metric, systems) == standings(metric, systems[:, ::-1])


@METRICS
@MANY
@pytest.mark.parametrize("seed", range(5))
def test_intervals_contain_the_rank(metric, n_blocks, seed):
    systems = invent(metric, 12, n_blocks, seed)
    scores = [SLOW[metric](twin.add_up(blocks)) for blocks in systems.tolist()]
    for score, standing in zip(scores, standings(metric, systems), strict=True):
        assert 1 <= standing.low <= 1 + sum(other > score for other in scores)
        assert sum(other >= score for other in scores) <= standing.high <= 12
        assert standing.best or standing.low > 1


@METRICS
@MANY
def test_equal_systems_are_not_told_apart(metric, n_blocks):
    systems = invent(metric, 6, n_blocks, 2, spread=0.45)
    found = standings(metric, np.concatenate([systems, systems]))
    assert found[:6] == found[6:]
    assert standings(metric, np.repeat(systems[:1], 9, axis=0)) == [Standing(1, 9, True)] * 9


@METRICS
@MANY
def test_a_smaller_level_tells_fewer_apart(metric, n_blocks):
    systems = invent(metric, 10, n_blocks, 3)
    found = [as_tuples(standings(metric, systems, alpha)) for alpha in (0.5, 0.05, 0.005, 0.0005, 0)]
    for wide, narrow in zip(found[1:], found[:-1], strict=True):
        for (low, high, best), (narrow_low, narrow_high, narrow_best) in zip(wide, narrow, strict=True):
            assert low <= narrow_low
            assert narrow_high <= high
            assert best >= narrow_best
    assert found[0] != found[-1] == [(1, 10, True)] * 10


def test_a_thousand_systems_can_be_told_apart():
    # 499,500 pairs, of which none could be significant if no p-value were below 1/1001.
    found = standings(MEAN, invent(MEAN, 1000, 355, 4))
    widths = np.array([standing.high - standing.low for standing in found])
    assert 20 < np.median(widths) < 400
    assert 1 <= sum(standing.best for standing in found) < 300


def test_equally_good_systems_are_seldom_told_apart():
    # 300 boards of six systems of the same quality: Holm keeps the chance of any error at 5 % a board.
    boards_with_an_error = sum(
        any(standing != Standing(1, 6, True) for standing in standings(MICRO, invent(MICRO, 6, 30, seed, spread=0)))
        for seed in range(300)
    )
    assert boards_with_an_error <= 25  # expected: at most 15, standard deviation 3.8
