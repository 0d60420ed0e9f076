"""Rank intervals of the systems of a board.

A system's rank is known only as far as its differences from other systems are significant: at best, it follows the
systems that are significantly better; at worst, it precedes only those that are significantly worse.  Holm's (1979)
correction over all pairs keeps the probability that any two equally good systems are told apart at `alpha`.

The test is approximate randomization (Noreen, 1989, chapter 2): the p-value is the proportion of all swaps of the two
systems' outputs, block by block, whose difference is at least as large as the observed one.  Up to `ENUMERATED` blocks,
all swaps are enumerated.  Up to `DRAWN_BLOCKS`, `DRAWN` swaps are drawn for each pair that may differ; if there are too
many pairs for that (over 5,000 at a level of .05), the second approximation below is used, times `CAUTION`.

With more blocks, the score is linearised.  If d(b) is the difference between the counts of the two systems in block b,
and g the gradient of the score at the mean of their totals, a swap changes the difference between the scores to the sum
of e(b) g·d(b), where e(b) is 1 or -1 with equal probability.  Swapping is symmetric about that mean, so that even terms
vanish: for scores that are linear in the counts that vary, this is exact; for F1 of summed counts the error is of the
third order.  The variance under the null hypothesis is the sum of the squares of g·d(b), without the observed mean.

1.  The normal approximation p = 2 Φ(-z), with z = difference / standard deviation, is one matrix product for all pairs.
2.  The saddlepoint approximation (Lugannani and Rice, 1980; for randomization tests: Robinson, 1982), with a continuity
    correction (Daniels, 1987) where all differences are multiples of one number, is for pairs that the first leaves
    undecided.  It is kept between a tenth of the first (which is cautious) and `GAUSSIAN` times it, the most that the
    tail of a sum of independent signs with weights can be (Bentkus and Dzindzalieta, 2015).

Compared with all swaps, or 400,000 drawn ones, for F1 of summed counts and p-values of .0001 to .1, the second is .8 to
1.2 times as large from 30 blocks on, if systems and blocks are alike.  Where one system is careful and the other
generous, it is too small: with 30 blocks .6 to 1 times the right one in nine of ten pairs, and .3 at worst; with 60
blocks .9 to 1, and .8.  It is up to 46 times too large if a block or two hold most of the gold.  With fewer blocks it
may be five times too small, so it does not decide there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from closeread.arrays import Floats, Ints, Mask
from closeread.counts.metrics import Metric
from closeread.counts.resampling import TIE, draw_swaps

ENUMERATED = 16  # the number of blocks up to which all swaps are enumerated
DRAWN_BLOCKS = 29  # the number of blocks up to which swaps are drawn for undecided pairs
DRAWN = 100_000  # the number of swaps that are drawn for a pair

GAUSSIAN = 1 / (4 * float(ndtr(-np.sqrt(2))))  # 3.18
CAUTION = 10.0  # how many times smaller than its normal approximation a p-value may become
# the number of values in memory at once, for each count; it does not affect the result
CHUNK = 2**16
ZERO = 1e-9  # differences that are smaller, relative to the standard deviation, are none
# relative step of numerical derivatives, which costs as much accuracy: what a p-value needs is far
# less
STEP = 1e-7


@dataclass(frozen=True)
class Standing:
    """The interval of a system's rank among the systems that have a score."""

    low: int  # 1 + the number of systems that are significantly better
    high: int  # the number of systems, without those that are significantly worse
    best: bool  # whether no system with the highest score is significantly better


def rank(
    metric: Metric, names: Sequence[str], blocks: Floats, alpha: float = 0.05
) -> list[Standing | None]:
    """Compute the rank intervals of systems by a score, at a level of `alpha`; None where the score is undefined.

    The counts with these names (k,) are blocks (n, n_blocks, k): the same blocks in the same order for every system.
    """
    everyone = prepare_systems(metric, names, blocks)
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
            found[possible] = np.minimum(
                refine_p_values(systems, one, two, p[possible]) * CAUTION, 1
            )
        return reject(found, alpha)
    # Smaller p-values never make Holm's procedure reject less: pairs between these two limits are undecided.
    certain = reject(np.minimum(p * GAUSSIAN, 1), alpha)
    undecided = np.flatnonzero(reject(p / CAUTION, alpha) & ~certain)
    p[undecided] = refine_p_values(systems, i[undecided], j[undecided], p[undecided])
    return reject(p, alpha)


def reject(p: Floats, alpha: float) -> Mask:
    """Mark the null hypotheses that Holm's (1979) step-down procedure rejects, (n,)."""
    in_order = np.sort(p)
    is_larger = in_order > alpha / np.arange(len(p), 0, -1)
    n_rejected = int(is_larger.argmax()) if is_larger.any() else len(p)
    return p <= in_order[n_rejected - 1] if n_rejected else np.zeros(len(p), np.bool_)


class Systems(NamedTuple):
    """The systems of a board, as far as one metric needs their counts."""

    metric: Metric  # the score
    names: Sequence[str]  # (k,) the counts that it reads
    blocks: Floats  # (n, n_blocks, k) the counts of every system in every block
    totals: Floats  # (n, k) their sums
    scores: Floats  # (n,) the scores; NaN if undefined
    varying: Ints  # the counts that are not the same for all systems, as indices into `names`

    def select(self, rows: Ints) -> Systems:
        """Return some of the systems."""
        return self._replace(
            blocks=self.blocks[rows], totals=self.totals[rows], scores=self.scores[rows]
        )


def prepare_systems(metric: Metric, names: Sequence[str], blocks: Floats) -> Systems:
    """Select the counts, (n, n_blocks, k), that a metric reads, and compute the scores."""
    needed = metric.list_counts(names)
    columns = [i for i, name in enumerate(names) if name in needed]
    of_metric, read = np.ascontiguousarray(blocks[..., columns]), [names[i] for i in columns]
    totals = of_metric.sum(axis=1)
    varying = np.flatnonzero((of_metric != of_metric[:1]).any(axis=(0, 1)))
    return Systems(metric, read, of_metric, totals, metric.score(totals, read), varying)


def enumerate_swaps(systems: Systems, i: Ints, j: Ints) -> Floats:
    """Return the p-values of pairs of systems, (p,), from all swaps of up to `ENUMERATED` blocks; 1 if undefined."""
    n_blocks = systems.blocks.shape[1]
    # A swap of all blocks but these changes only the sign of the difference: half of the swaps are enough.
    numbers = np.arange(2 ** max(n_blocks - 1, 0))
    swaps = (numbers[:, None] >> np.arange(n_blocks) & 1).astype(np.float64)
    return np.nan_to_num(_count_as_large(systems, i, j, swaps) / len(swaps), nan=1.0)


def draw_pairs(systems: Systems, i: Ints, j: Ints) -> Floats:
    """Return the p-values of pairs of systems, (p,), from `DRAWN` swaps, the same in every call; 1 if undefined."""
    swaps = np.concatenate(
        list(draw_swaps(systems.blocks.shape[1], DRAWN, np.random.default_rng(0)))
    )
    as_large = _count_as_large(systems, i, j, swaps.astype(np.float64))
    return np.nan_to_num((1 + as_large) / (1 + DRAWN), nan=1.0)


def _count_as_large(systems: Systems, i: Ints, j: Ints, swaps: Floats) -> Floats:
    """Count the swaps, (s, n_blocks) of 0 and 1, whose difference is at least the observed one; NaN if undefined."""
    found = np.full(len(i), np.nan)
    for pair, (one, two) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
        moved = swaps @ (systems.blocks[two] - systems.blocks[one])
        sides = systems.totals[one] + moved, systems.totals[two] - moved
        first, second = (systems.metric.score(side, systems.names) for side in sides)
        differences = np.abs(second - first)
        if not np.isnan(differences).any():
            found[pair] = np.count_nonzero(
                differences >= abs(systems.scores[two] - systems.scores[one]) - TIE
            )
    return found


def approximate_all(systems: Systems) -> Floats:
    """Return the normal approximation of the p-values of all pairs i < j, in the order (0, 1), (0, 2), …, (1, 2), …"""
    n = len(systems.scores)
    # Only differences count; without the mean of all systems, less is lost when products are subtracted.
    counts = [
        column - column.mean(axis=0)
        for column in np.moveaxis(systems.blocks[..., systems.varying], 2, 0)
    ]
    own = [[np.einsum("nb,nb->n", a, b) for b in counts] for a in counts]
    found = [np.zeros(0)]
    rows = max(1, CHUNK // max(n, 1))
    for start in range(0, n, rows):
        i, j = slice(start, start + rows), slice(start, n)
        gradients = _differentiate(systems, (systems.totals[i, None] + systems.totals[None, j]) / 2)
        variances = np.zeros((len(systems.scores[i]), n - start))
        for a, first in enumerate(counts):
            for b, second in enumerate(counts[: a + 1]):
                there = first[i] @ second[j].T
                back = there if a == b else second[i] @ first[j].T
                products = own[a][b][i, None] + own[a][b][None, j] - there - back
                variances += (1 if a == b else 2) * gradients[a] * gradients[b] * products
        differences = np.abs(systems.scores[None, j] - systems.scores[i, None])
        can_differ = (differences > TIE) & (variances > 0)
        z = differences / np.sqrt(np.where(can_differ, variances, np.inf))
        p = np.where(can_differ, 2 * ndtr(-z), 1.0)
        found += [row[k + 1 :] for k, row in enumerate(p)]
    return np.concatenate(found)


def _differentiate(systems: Systems, totals: Floats) -> list[Floats]:
    """Return the derivatives of the score with respect to each varying count, at totals (..., k).

    A count that is 0 is 0 for both systems: its derivative, which may not exist, is not needed, and 0.
    """
    scores, gradients = systems.metric.score(totals, systems.names), []
    for column in systems.varying.tolist():
        count = totals[..., column].copy()
        step = STEP * np.maximum(count, 1)
        totals[..., column] += step
        gradient = (systems.metric.score(totals, systems.names) - scores) / step
        totals[..., column] = count
        gradients.append(np.where((count == 0) | np.isnan(gradient), 0.0, gradient))
    return gradients


def refine_p_values(systems: Systems, i: Ints, j: Ints, normal: Floats) -> Floats:
    """Return the saddlepoint approximation of the p-values of pairs of systems that have a score, all (p,).

    It is kept between `normal` / `CAUTION` and `normal` * `GAUSSIAN`; `normal` is the normal approximation.
    """
    found = [np.zeros(0)]
    rows = max(1, CHUNK // max(systems.blocks.shape[1], 1))
    for start in range(0, len(i), rows):
        one, two = i[start : start + rows], j[start : start + rows]
        moved = (systems.blocks[two] - systems.blocks[one])[..., systems.varying]
        gradients = _differentiate(systems, (systems.totals[one] + systems.totals[two]) / 2)
        weights = np.einsum("pbm,mp->pb", moved, np.array(gradients).reshape(-1, len(one)))
        found.append(_sum_of_signs(weights, np.abs(systems.scores[two] - systems.scores[one])))
    p = np.concatenate(found)
    return np.clip(
        np.where(np.isnan(p), normal, p), normal / CAUTION, np.minimum(normal * GAUSSIAN, 1)
    )


def _sum_of_signs(weights: Floats, observed: Floats) -> Floats:
    """Return how probable it is that weights, (p, n_blocks), with random signs add up to at least `observed` > 0, (p,).

    Or at most to its negative.  NaN where the approximation does not exist.
    """
    scale = np.sqrt(np.einsum("pb,pb->p", weights, weights))
    with np.errstate(all="ignore"):
        c, s = np.abs(weights) / scale[:, None], observed / scale
        tail = _approximate_tail(c, s)
    # One choice of signs gives the largest sum.  To stay above s, it can lose any of these weights, but no other.
    can_lose = (c > ZERO) & (c <= (c.sum(axis=1) - s)[:, None] / 2 + 1e-6)
    n, lost = np.count_nonzero(c > ZERO, axis=1), np.count_nonzero(can_lose, axis=1)
    least, most = (1 + lost) * np.exp2(-n), np.exp2(lost - n)
    p: Floats = 2 * np.where(lost == 0, least, np.clip(tail, least, most))
    return p


def _approximate_tail(c: Floats, s: Floats) -> Floats:
    """Return the probability that c, (p, n_blocks), from 0, with random signs, add up to at least s, (p,).

    The squares of a row of c add up to 1.  Warnings about NaN are up to the caller.
    """
    smallest = np.where(c > ZERO, c, np.inf).min(axis=1, initial=np.inf)
    multiples = c / smallest[:, None]
    # Sums of odd and even multiples of one number are twice that number apart.
    is_lattice = (np.abs(multiples - np.rint(multiples)) < 1e-6).all(axis=1)
    half = np.where(is_lattice, smallest, 0.0)
    s = s - half
    t = _solve(c, s)
    a = t[:, None] * c
    exponent = (a + np.log1p(np.exp(-2 * a)) - np.log(2)).sum(axis=1)
    spread = np.sqrt((c**2 / np.cosh(a) ** 2).sum(axis=1))
    w = np.sqrt(2 * (t * s - exponent))
    u = np.where(is_lattice, np.sinh(half * t) / np.where(is_lattice, half, 1), t) * spread
    tail = ndtr(-w) + np.exp(-w * w / 2) / np.sqrt(2 * np.pi) * (1 / u - 1 / w)
    # Next to the middle of the distribution, the two inverses nearly cancel.
    return np.where(s <= ZERO, 0.5, np.where(w > 0.01, tail, np.nan))


def _solve(c: Floats, s: Floats) -> Floats:
    """Solve sum(c tanh(t c)) = s for t, row by row, by Newton's method.

    The left side is concave and at most t, so that starting at t = s no step goes too far.
    """
    t = s.copy()
    for _ in range(50):
        tanh = np.tanh(t[:, None] * c)
        step = (s - (c * tanh).sum(axis=1)) / (c * c * (1 - tanh * tanh)).sum(axis=1)
        t = t + step
        if not (np.abs(step) > 1e-7 * np.abs(t)).any():
            break
    return t
