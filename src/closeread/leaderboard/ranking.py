"""Rank intervals of the systems of a board, and the differences between all pairs of them.

A system's rank is known only as far as its differences from other systems are significant: at best, it follows the
systems that are significantly better; at worst, it precedes only those that are significantly worse.  The p-values are
those of `closeread.leaderboard.p_values`; Holm's (1979) correction over all pairs keeps the probability that any two
equally good systems are told apart at `alpha`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask, multiply
from closeread.counts.metrics import Metric
from closeread.counts.resampling import TIE, draw_swaps, draw_weights
from closeread.leaderboard.p_values import (
    CAUTION,
    CHUNK,
    DRAWN,
    DRAWN_BLOCKS,
    ENUMERATED,
    GAUSSIAN,
    Systems,
    approximate_all,
    draw_pairs,
    enumerate_swaps,
    prepare,
    refine,
)


@dataclass(frozen=True)
class Standing:
    """What is known of a system's rank among the systems that have a score."""

    low: int  # 1 + the number of systems that are significantly better
    high: int  # the number of systems, without those that are significantly worse
    best: bool  # whether no system with the highest score is significantly better


def rank(metric: Metric, names: Sequence[str], blocks: Floats, alpha: float = 0.05) -> list[Standing | None]:
    """Compute the rank intervals of systems.

    Args:
        metric: the score that they are ranked by, higher is better.
        names: (k,) what each count counts.
        blocks: (n, n_blocks, k) float64, the counts of every system in every block; the same blocks in the same order.
        alpha: the probability of telling any two equally good systems apart.

    Returns:
        (n,) in the order of the systems; None for a system whose score is undefined.
    """
    everyone = prepare(metric, names, blocks)
    defined = np.flatnonzero(~np.isnan(everyone.scores))
    systems = everyone.select(defined)
    n = len(defined)
    i, j = np.triu_indices(n, 1)
    apart = _find_significant(systems, i, j, alpha)
    better = np.where(systems.scores[i] > systems.scores[j], i, j)[apart]
    worse = (i + j)[apart] - better
    low = 1 + np.bincount(worse, minlength=n)
    high = n - np.bincount(better, minlength=n)
    leads = systems.scores >= systems.scores.max(initial=-np.inf) - TIE
    follows = np.bincount(worse, leads[better], minlength=n) > 0
    standings: list[Standing | None] = [None] * len(blocks)
    for place, system in enumerate(defined.tolist()):
        standings[system] = Standing(int(low[place]), int(high[place]), not follows[place])
    return standings


def _find_significant(systems: Systems, i: Ints, j: Ints, alpha: float) -> Mask:
    """Mark the pairs whose difference is significant after Holm's correction."""
    n_blocks = systems.blocks.shape[1]
    if n_blocks <= ENUMERATED:
        # With few blocks, p-values can't be small enough for many pairs.
        if 2 * 0.5**n_blocks > alpha / max(len(i), 1):
            return np.zeros(len(i), np.bool_)
        return reject(enumerate_swaps(systems, i, j), alpha)
    p = approximate_all(systems)
    if n_blocks <= DRAWN_BLOCKS:  # where precision and recall lie apart, no approximation is safe
        possible = np.flatnonzero(reject(p / CAUTION, alpha))
        one, two, found = i[possible], j[possible], np.ones(len(p))
        if len(p) <= alpha * (1 + DRAWN):
            found[possible] = draw_pairs(systems, one, two)
        else:  # of so many pairs, no drawn p-value could be small enough
            found[possible] = np.minimum(refine(systems, one, two, p[possible]) * CAUTION, 1)
        return reject(found, alpha)
    # Smaller p-values never make Holm's procedure reject less: pairs between these two limits are undecided.
    certain = reject(np.minimum(p * GAUSSIAN, 1), alpha)
    undecided = np.flatnonzero(reject(p / CAUTION, alpha) & ~certain)
    p[undecided] = refine(systems, i[undecided], j[undecided], p[undecided])
    return reject(p, alpha)


def reject(p: Floats, alpha: float) -> Mask:
    """Mark the null hypotheses that Holm's (1979) step-down procedure rejects, (n,).

    >>> reject(np.array([0.04, 0.01, 0.02]), 0.05).tolist()
    [True, True, True]
    >>> reject(np.array([0.04, 0.01, 0.03]), 0.05).tolist()
    [False, True, False]
    """
    in_order = np.sort(p)
    is_larger = in_order > alpha / np.arange(len(p), 0, -1)
    n_rejected = int(is_larger.argmax()) if is_larger.any() else len(p)
    return p <= in_order[n_rejected - 1] if n_rejected else np.zeros(len(p), np.bool_)


class Pairs(NamedTuple):
    """Differences between the scores of all pairs of systems i < j, in the order (0, 1), (0, 2), …, (1, 2), …

    Attributes:
        low, high: (n (n - 1) / 2,) the bootstrap percentile interval of the score of i minus the score of j.
        p: (n (n - 1) / 2,) the p-value of approximate randomization.

    NaN where undefined.
    """

    low: Floats
    high: Floats
    p: Floats


def pair_differences(
    metric: Metric, names: Sequence[str], blocks: Floats, *, n_resamples: int, confidence: float, seed: int
) -> Pairs:
    """Compare all pairs of systems as `closeread.counts.resampling.compare` does, with j first and i second.

    The resamples are drawn once, and are those that `compare` draws for each pair.

    Args:
        metric: the score.
        names: (k,) what each count counts.
        blocks: (n, n_blocks, k) float64, the counts of every system in every block; the same blocks in the same order.
        n_resamples, confidence, seed: parameters of the bootstrap and of approximate randomization, as of `compare`.
    """
    systems = prepare(metric, names, blocks)
    i, j = np.triu_indices(len(blocks), 1)
    low, high, p = (np.full(len(i), np.nan) for _ in range(3))
    n_blocks = blocks.shape[1]
    if not len(i) or n_blocks < 2:  # a single block can't be resampled
        return Pairs(low, high, p)
    rng = np.random.default_rng(seed)
    of_blocks = np.moveaxis(systems.blocks, 1, 0).reshape(n_blocks, -1)
    drawn, swapped = (
        multiply(draw(n_blocks, n_resamples, rng), of_blocks).reshape(n_resamples, len(blocks), -1).swapaxes(0, 1)
        for draw in (draw_weights, draw_swaps)
    )
    scores = systems.metric.score(drawn, systems.names)
    tail = (1 - confidence) / 2
    rows = max(1, CHUNK // n_resamples)
    for start in range(0, len(i), rows):
        chunk = slice(start, start + rows)
        one, two = i[chunk], j[chunk]
        low[chunk], high[chunk] = np.quantile(scores[one] - scores[two], [tail, 1 - tail], axis=1)
        p[chunk] = _randomize(systems, one, two, swapped)
    return Pairs(low, high, p)


def _randomize(systems: Systems, i: Ints, j: Ints, swapped: Floats) -> Floats:
    """Return the p-values of pairs, (p,), from the counts of the swapped blocks, (n, n_resamples, k)."""
    moved = swapped[i] - swapped[j]
    first, second = systems.totals[j, None] + moved, systems.totals[i, None] - moved
    null = systems.metric.score(second, systems.names) - systems.metric.score(first, systems.names)
    observed = np.abs(systems.scores[i] - systems.scores[j])
    as_large = np.count_nonzero(np.abs(null) >= observed[:, None] - TIE, axis=1)
    is_undefined = np.isnan(observed) | np.isnan(null).any(axis=1)
    return np.where(is_undefined, np.nan, (1 + as_large) / (1 + null.shape[1]))
