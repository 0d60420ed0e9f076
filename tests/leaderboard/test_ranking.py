"""Rank intervals, p-values and differences of all pairs, against enumeration, resampling, `compare` and a slow twin."""

import itertools
import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from twins import ranking as twin

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.metrics import F1, Metric, Ratio
from closeread.leaderboard import ranking
from closeread.leaderboard.ranking import (
    GAUSSIAN,
    Standing,
    approximate_all,
    draw_pairs,
    enumerate_swaps,
    prepare_systems,
    rank,
    refine_p_values,
    reject,
)
from closeread.tasks import load_procedure
from closeread.tasks.mctaco.baselines import BASELINES as MCTACO_BASELINES

MEAN = Metric("mean", "Mean", "", Ratio("sum", "n"))
MICRO = Metric(
    "f1", "F1", "", F1(Ratio("right", "system"), Ratio("right", "gold")), zero_division=0.0
)
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


def test_boards_without_pairs():
    for n in (0, 1):
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


@pytest.mark.parametrize("n_blocks", [9, 12, 13, 40])
@pytest.mark.parametrize("metric", [MEAN, MICRO], ids=["mean", "f1"])
def test_properties(metric, n_blocks):
    for seed in range(5):
        systems = invent(metric, 12, n_blocks, seed)
        found = standings(metric, systems)
        assert len(set(found)) > 1 or n_blocks < 40
        order = np.random.default_rng(seed).permutation(12)
        assert standings(metric, systems[order]) == [found[i] for i in order]
        assert standings(metric, systems[:, ::-1]) == found  # the order of blocks
        scores = [SLOW[metric](twin.add_up(blocks)) for blocks in systems.tolist()]
        for score, standing in zip(scores, found, strict=True):  # intervals contain the rank
            assert 1 <= standing.low <= 1 + sum(other > score for other in scores)
            assert sum(other >= score for other in scores) <= standing.high <= 12
            assert standing.best or standing.low > 1
    systems = invent(metric, 6, n_blocks, 2, spread=0.45)
    twice = standings(metric, np.concatenate([systems, systems]))
    assert twice[:6] == twice[6:]
    assert standings(metric, np.repeat(systems[:1], 9, axis=0)) == [Standing(1, 9, True)] * 9


@pytest.mark.parametrize("n_blocks", [9, 12, 13, 40])
@pytest.mark.parametrize("metric", [MEAN, MICRO], ids=["mean", "f1"])
def test_a_smaller_level_tells_fewer_apart(metric, n_blocks):
    systems = invent(metric, 10, n_blocks, 3)
    found = [
        as_tuples(standings(metric, systems, alpha)) for alpha in (0.5, 0.05, 0.005, 0.0005, 0)
    ]
    for wide, narrow in zip(found[1:], found[:-1], strict=True):
        for (low, high, best), (narrow_low, narrow_high, narrow_best) in zip(
            wide, narrow, strict=True
        ):
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
        any(
            standing != Standing(1, 6, True)
            for standing in standings(MICRO, invent(MICRO, 6, 30, seed, spread=0))
        )
        for seed in range(300)
    )
    assert boards_with_an_error <= 25  # expected: at most 15, standard deviation 3.8


# p-values


def list_pairs(n):
    return np.triu_indices(n, 1)


def find_p_values(systems):
    """The p-values of all pairs as they are used with many blocks, and their first approximation."""
    i, j = list_pairs(len(systems.scores))
    normal = approximate_all(systems)
    return refine_p_values(systems, i, j, normal), normal


def means(*differences):
    """Systems beside one that has 0 everywhere: their block totals are the differences."""
    values = np.array([[0] * len(differences[0]), *differences], np.float64)
    return prepare_systems(MEAN, ("sum", "n"), np.stack([values, np.ones_like(values)], axis=2))


def tail(weights, observed):
    """The proportion of all signs with which the weights add up to at least the observed number."""
    sums = np.zeros(1)
    for weight in weights:
        sums = np.concatenate([sums + weight, sums - weight])
    return np.mean(np.abs(sums) >= abs(observed) - 1e-9)


def draw_p_values(metric, names, blocks, n_resamples=200_000):
    """p-values of all pairs by resampling: the same swaps for every pair, one matrix product for all of them."""
    rng = np.random.default_rng(0)
    n, n_blocks, k = blocks.shape
    flat = blocks.transpose(1, 0, 2).reshape(n_blocks, n * k)
    swaps = (
        (rng.random((5000, n_blocks)) < 0.5).astype(np.float64) for _ in range(n_resamples // 5000)
    )
    swapped = np.concatenate([swap @ flat for swap in swaps]).reshape(n_resamples, n, k)
    totals = blocks.sum(axis=1)
    found = []
    for i, j in zip(*list_pairs(n), strict=True):
        moved = swapped[:, j] - swapped[:, i]
        null = metric.score(totals[j] - moved, names) - metric.score(totals[i] + moved, names)
        observed = metric.score(totals[j], names) - metric.score(totals[i], names)
        found.append(
            (1 + np.count_nonzero(np.abs(null) >= abs(observed) - 1e-12)) / (1 + n_resamples)
        )
    return np.array(found)


def assert_near(p, drawn, tolerance, n_resamples=200_000):
    """p-values are as drawn, but for four standard errors and an error relative to the p-value."""
    error = 4 * np.sqrt(drawn * (1 - drawn) / n_resamples) + tolerance * drawn
    close = np.abs(p - drawn) <= error
    assert close.all(), np.column_stack([p, drawn])[~close]


# The normal approximation


def test_the_variance_is_that_of_all_swaps():
    # Differences 3, -1 and 2 in three blocks: sums with random signs have variance 9 + 1 + 4; the observed sum is 4.
    (p,) = approximate_all(means([3, -1, 2]))
    assert p == pytest.approx(2 * NormalDist().cdf(-4 / 14**0.5))


def test_pairs_in_order():
    systems = means([1, 2, 3], [2, 0, 0], [5, 1, 1])
    expected = [[1, 2, 3], [2, 0, 0], [5, 1, 1], [1, -2, -3], [4, -1, -2], [3, 1, 1]]
    z = [abs(sum(d)) / sum(x * x for x in d) ** 0.5 for d in expected]
    assert approximate_all(systems) == pytest.approx([2 * NormalDist().cdf(-one) for one in z])


def test_chunks_do_not_matter(monkeypatch):
    rng = np.random.default_rng(0)
    systems = means(*rng.integers(-3, 4, (20, 30)))
    expected = find_p_values(systems)
    monkeypatch.setattr(ranking, "CHUNK", 70)
    np.testing.assert_allclose(find_p_values(systems), expected, rtol=1e-9)


def test_f1_varies_around_the_mean_of_both_totals():
    # One system is right with 5 of 50 links, the other with 30 of 2,000; gold has 100.  At the mean of their totals,
    # 17.5 of 1,025, F1 = 2R / (S + G) has the derivatives 2 / 1125 and -2 * 17.5 / 1125**2.
    one, two = np.array([[20.0, 10, 1]] * 5), np.array([[20.0, 400, 6]] * 5)
    systems = prepare_systems(MICRO, ("gold", "system", "right"), np.array([one, two]))
    change = 5 * 2 / 1125 - 390 * 35 / 1125**2
    difference = 60 / 2100 - 10 / 150
    (p,) = approximate_all(systems)
    assert p == pytest.approx(
        2 * NormalDist().cdf(-abs(difference) / (5**0.5 * abs(change))), rel=1e-6
    )


def test_counts_that_a_metric_does_not_read_do_not_matter():
    blocks = np.random.default_rng(1).integers(0, 9, (4, 20, 3)).astype(np.float64)
    alone = prepare_systems(MEAN, ("sum", "n"), blocks[..., 1:])
    both = prepare_systems(MEAN, ("other", "sum", "n"), blocks)
    assert both.names == ["sum", "n"]
    np.testing.assert_array_equal(approximate_all(both), approximate_all(alone))


def test_no_difference_is_no_evidence():
    # Equal systems; equal scores by different counts; and nothing right on either side, so that no derivative exists.
    blocks = [[1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1]]
    for p in find_p_values(means(*blocks)):
        assert p[3:].tolist() == [1, 1, 1]
    nothing = np.zeros((2, 20, 3))
    nothing[..., 0] = 1
    assert approximate_all(
        prepare_systems(MICRO, ("gold", "system", "right"), nothing)
    ).tolist() == [1]
    nothing[1, :, 1] = 1  # links, all of them wrong
    assert approximate_all(
        prepare_systems(MICRO, ("gold", "system", "right"), nothing)
    ).tolist() == [1]


# The saddlepoint approximation


def test_all_blocks_on_one_side():
    # Fourteen equal differences: only none and all of the swaps, 2 of 2**14.
    assert find_p_values(means([1] * 14))[0] == pytest.approx(2 / 2**14)


def test_many_blocks():
    # 1,060 of 2,000 blocks are better; 2**-2000 is 0 as a float.
    (p,), (normal,) = find_p_values(means([1] * 1060 + [-1] * 940))
    exact = Fraction(2 * sum(math.comb(2000, k) for k in range(1060, 2001)), 2**2000)
    assert p == pytest.approx(float(exact), rel=0.001)
    assert normal == pytest.approx(2 * NormalDist().cdf(-120 / 2000**0.5))


@given(st.lists(st.integers(-1, 1), min_size=13, max_size=40).filter(lambda d: abs(sum(d)) > 2))
def test_votes(differences):
    # Blocks that are better or worse by the same amount: the sign test.
    n, up = sum(map(abs, differences)), differences.count(1)
    exact = min(1, 2 * sum(math.comb(n, k) for k in range(max(up, n - up), n + 1)) / 2**n)
    (p,), (normal,) = find_p_values(means(differences))
    assert p == pytest.approx(exact, rel=0.05, abs=0.003) or p == pytest.approx(normal / 10)
    assert exact <= GAUSSIAN * normal


def invent_differences(kind, seed):
    """Differences in 13 to 16 blocks, from no tendency to nearly all on one side."""
    rng = np.random.default_rng(seed)
    n_blocks = int(rng.integers(13, 17))
    sizes = {
        "normal": lambda: np.abs(rng.normal(size=n_blocks)),
        "exponential": lambda: rng.exponential(size=n_blocks),
        "few": lambda: rng.integers(1, 6, n_blocks).astype(np.float64),
    }
    return sizes[kind]() * np.where(rng.random(n_blocks) < rng.uniform(0.5, 1), 1, -1)


@pytest.mark.parametrize("kind", ["normal", "exponential", "few"])
def test_weights_of_any_kind(kind):
    drawn = [invent_differences(kind, seed) for seed in range(200)]
    exact = np.array([tail(differences, differences.sum()) for differences in drawn])
    p, normal = np.array([find_p_values(means(differences)) for differences in drawn])[..., 0].T
    assert (exact <= GAUSSIAN * normal * (1 + 1e-9)).all()  # Bentkus and Dzindzalieta (2015)
    expected = np.maximum(exact, normal / 10)
    errors, normal_errors = (np.abs(approximate / expected - 1) for approximate in (p, normal))
    assert np.median(errors) < 0.02 < np.median(normal_errors)
    assert np.quantile(errors, 0.9) < 0.1 < np.quantile(normal_errors, 0.9)
    assert ((p < 2 * expected) & (p > expected / 2)).all()


@pytest.mark.parametrize("seed", range(6))
def test_f1_by_enumeration(seed):
    # All 4,096 swaps of twelve blocks, counted by the twin; the approximation, which is not used there, is near.
    rng = np.random.default_rng(seed)
    gold = rng.integers(5, 30, 12)
    right = rng.binomial(gold, np.array([[0.5], [0.35]]))
    blocks = np.stack(
        [np.broadcast_to(gold, right.shape), right + rng.integers(0, 12, right.shape), right],
        axis=2,
    )
    systems = prepare_systems(MICRO, ("gold", "system", "right"), blocks.astype(np.float64))
    slow = twin.p_value(lambda t: 2 * t[2] / (t[0] + t[1]), *blocks.tolist())
    (exact,) = enumerate_swaps(systems, *list_pairs(2))
    assert exact == pytest.approx(float(slow))
    assert find_p_values(systems)[0] == pytest.approx(exact, rel=0.15, abs=0.01)


def invent_pair(n_blocks, seed):
    """A careful and a generous system: precision and recall lie apart."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(5, 30, n_blocks)
    right = np.stack([rng.binomial(gold, 0.5), rng.binomial(gold, 0.85)])
    system = np.stack(
        [
            right[0] + rng.binomial(right[0], 0.1),
            right[1] + rng.poisson(gold * rng.uniform(0.8, 1.3)),
        ]
    )
    blocks = np.stack([np.broadcast_to(gold, right.shape), system, right], axis=2)
    return prepare_systems(MICRO, ("gold", "system", "right"), blocks.astype(np.float64))


def enumerate_all(systems):
    """The p-value of two systems by all swaps: F1 is 2 right / (gold + system)."""
    one, two = systems.blocks
    swaps = np.array(list(itertools.product((0, 1), repeat=len(one) - 1)))
    moved = swaps @ (two - one)[1:]
    first, second = (
        2 * t[:, 2] / (t[:, 0] + t[:, 1])
        for t in (one.sum(axis=0) + moved, two.sum(axis=0) - moved)
    )
    # the first swaps nothing
    return np.mean(np.abs(second - first) >= np.abs(second - first)[0] - 1e-12)


RIGHT_SYSTEM_GOLD = (
    "12/13/19 2/2/6 12/12/23 13/15/21 10/10/19 12/16/24 2/2/5 13/14/27 17/17/33 25/27/34 21/21/38 6/7/14 5/5/9",
    "16/35/19 6/15/6 19/42/23 14/30/21 17/39/19 21/45/24 2/10/5 18/41/27 30/72/33 30/64/34 30/66/38 12/23/14 8/21/9",
)


def test_a_careful_and_a_generous_system_in_thirteen_blocks():
    # The saddlepoint approximation has the smallest p-value that there is, 2 of 8,192; 10 swaps are as large.
    counts = [
        [[int(n) for n in block.split("/")] for block in one.split()] for one in RIGHT_SYSTEM_GOLD
    ]
    systems = prepare_systems(MICRO, ("right", "system", "gold"), np.array(counts, np.float64))
    slow = twin.p_value(lambda t: Fraction(2 * t[0], t[1] + t[2]), *counts)
    assert enumerate_swaps(systems, *list_pairs(2)) == pytest.approx([float(slow)])
    assert find_p_values(systems)[0] < 0.25 * float(slow)
    # Of 40 equal pairs, Holm's correction asks for less than .05 / 40 = .00125: the exact value is, barely, enough.
    assert slow == Fraction(10, 8192)


@pytest.mark.parametrize("n_blocks", [17, 18])
@pytest.mark.extended
def test_drawn_swaps_are_as_enumerated(n_blocks):
    pairs = [invent_pair(n_blocks, seed) for seed in range(20)]
    exact = np.array([enumerate_all(systems) for systems in pairs])
    drawn = np.concatenate([draw_pairs(systems, *list_pairs(2)) for systems in pairs])
    assert_near(drawn, exact, 0, n_resamples=100_000)
    refined = np.concatenate([find_p_values(systems)[0] for systems in pairs])
    assert (refined < 0.9 * exact).any()


@pytest.mark.parametrize("n_blocks", [13, 16, 20])
def test_few_blocks_are_not_approximated(n_blocks, monkeypatch):
    # Whatever the approximation says, it does not decide between undecided pairs.
    systems = invent_pair(n_blocks, 1)
    expected = rank(MICRO, systems.names, systems.blocks)
    monkeypatch.setattr(
        ranking,
        "refine_p_values",
        lambda systems, i, j, normal: np.full(len(i), 0.9 * ranking.DRAWN**-0.5),
    )
    assert rank(MICRO, systems.names, systems.blocks) == expected


@pytest.mark.parametrize("n_systems", [2, 5, 30])
@pytest.mark.parametrize("seed", range(4))
def test_undecided_pairs_alone_are_as_good_as_all(n_systems, seed):
    # Holm's procedure over the refined p-values of every pair gives the same ranks.
    rng = np.random.default_rng(seed)
    quality = rng.uniform(0.2, 0.8, (n_systems, 1))
    right = rng.binomial(3, np.broadcast_to(quality, (n_systems, 40)))
    blocks = np.stack([right, np.full_like(right, 3)], axis=2).astype(np.float64)
    systems = prepare_systems(MEAN, ("sum", "n"), blocks)
    p = dict(
        zip(
            itertools.combinations(range(n_systems), 2),
            find_p_values(systems)[0].tolist(),
            strict=True,
        )
    )
    tables = blocks.tolist()
    index = {id(system): i for i, system in enumerate(tables)}
    expected = twin.rank(
        lambda t: t[0] / t[1], tables, 0.05, lambda _, a, b: p[index[id(a)], index[id(b)]]
    )
    assert [(s.low, s.high, s.best) for s in rank(MEAN, ("sum", "n"), blocks)] == expected


# Released corpora, by 200,000 resamples


@pytest.mark.extended
def test_mctaco_by_resampling(corpora):
    gold, procedure = read_gold(load_corpus("mctaco")).records, load_procedure("mctaco")
    make = {baseline.name: baseline.predict for baseline in MCTACO_BASELINES}
    systems = [make["always-positive"](gold), make["always-negative"](gold)]
    systems += [make["random"](gold, seed=seed) for seed in range(5)]
    tables = [procedure.count(gold=gold, system=system, missing="empty") for system in systems]
    blocks = np.array([table.block_totals()[table.order_blocks()] for table in tables])
    for metric in procedure.metrics:
        p, normal = find_p_values(prepare_systems(metric, tables[0].names, blocks))
        drawn = draw_p_values(metric, tables[0].names, blocks)
        assert_near(p, drawn, 0.04)
        assert (drawn < 1e-5).sum() >= 5
        if metric.name == "f1":  # a mean of fractions: no ties, and many blocks
            assert_near(normal, drawn, 0.04)
