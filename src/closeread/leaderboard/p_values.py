"""p-values of all pairs of systems, small enough to be significant after correction for very many pairs.

The test is approximate randomization (Noreen, 1989, chapter 2), as `closeread compare` prints it: if two systems are
equally good, it makes no difference whose output is whose, so the outputs of each block may be swapped.  The p-value is
the proportion of all swaps whose difference is at least as large as the observed one.  `compare` draws some of them;
no p-value is below the inverse of their number then.  Here, the distribution of the difference over all swaps is
computed instead, or approximated where there are too many.

With up to `ENUMERATED` blocks, all swaps are enumerated.  With up to `DRAWN_BLOCKS`, `DRAWN` swaps are drawn for each
pair that may differ; if there are too many pairs for that (over 5,000 at a level of .05), the second approximation
below is used, times `CAUTION`.  With more blocks, the score is linearised.  If d(b) is the
difference between the counts of the two systems in block b, and g the gradient of the score at the mean of the two
systems' totals, a swap changes the difference between the scores to the sum of e(b) g·d(b), where e(b) is 1 or -1 with
equal probability.  Swapping is symmetric about that mean, so that even terms vanish: for scores that are linear in the
counts that vary, such as the mean over questions of McTaco, this is exact, and for F1 of summed counts the error is of
the third order.  The variance under the null hypothesis is the sum of the squares of g·d(b): the observed mean is not
subtracted.  Gradients at each system's own totals would subtract it (the contributions of a system sum to 0 there), and
give p-values that are far too small with few blocks; the mean of the two gradients is worse than the gradient at the
mean if precision and recall of the two are very different.

1.  The normal approximation p = 2 Φ(-z), with z = difference / standard deviation, needs only products of the counts of
    two systems: one matrix product for all pairs.
2.  The saddlepoint approximation (Lugannani and Rice, 1980; for randomization tests: Robinson, 1982), with a continuity
    correction (Daniels, 1987) where all differences are multiples of one number.  It is used for the pairs that the
    first does not decide.

How far the second is from all swaps, or from 400,000 drawn ones, for F1 of summed counts and p-values of .0001 to .1:
from 30 blocks on, .8 to 1.2 times as large if systems and blocks are alike.  It is too small if precision and recall
lie apart, one system being careful and the other generous: with 30 blocks .6 to 1 times the right one in nine of ten
pairs, and .3 at worst; with 60 blocks .9 to 1, and .8.  It is too large, up to 46 times, if a block or two hold most of
the gold.  With fewer blocks it may be five times too small, which is why it does not decide there.

The second is kept between a tenth of the first and `GAUSSIAN` times it.  No sum of independent signs with weights has a
larger tail than that (Bentkus and Dzindzalieta, 2015); the lower limit is cautious.  So a pair whose first p-value is
small enough or too large by these factors is decided without the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from closeread.arrays import Floats, Ints
from closeread.counts.metrics import Metric
from closeread.counts.resampling import TIE, draw_swaps

ENUMERATED = 16
"""The number of blocks up to which all swaps are enumerated."""

DRAWN_BLOCKS = 29
"""The number of blocks up to which swaps are drawn for undecided pairs."""

DRAWN = 100_000
"""The number of swaps that are drawn for a pair."""

GAUSSIAN = 1 / (4 * float(ndtr(-np.sqrt(2))))
"""How many times larger than that of a normal variable the tail of a sum of signs with weights can be: 3.18."""

CAUTION = 10.0
"""How many times smaller than its normal approximation a p-value may become."""

CHUNK = 2**16
"""The number of values in memory at once, for each count; it does not affect the result."""

ZERO = 1e-9
"""Differences that are smaller, relative to the standard deviation, are none."""

STEP = 1e-7
"""Relative step of numerical derivatives, which costs as much accuracy: what a p-value needs is far less."""


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
        return self._replace(blocks=self.blocks[rows], totals=self.totals[rows], scores=self.scores[rows])


class _Reads(dict[str, Any]):
    """Counts by name that remember which of them were read."""

    def __init__(self, counts: dict[str, Floats]) -> None:
        super().__init__(counts)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)


def prepare(metric: Metric, names: Sequence[str], blocks: Floats) -> Systems:
    """Select the counts that a metric reads, and compute the scores.

    Args:
        metric: the score.
        names: (k,) what each count counts.
        blocks: (n, n_blocks, k) the counts of every system in every block; the same blocks in the same order.
    """
    reads = _Reads({name: np.zeros(1) for name in names})
    metric.formula(reads)
    columns = [i for i, name in enumerate(names) if name in reads.names]
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
    as_large = _count_as_large(systems, i, j, swaps)
    return np.where(np.isnan(as_large), 1.0, as_large / len(swaps))


def draw_pairs(systems: Systems, i: Ints, j: Ints) -> Floats:
    """Return the p-values of pairs of systems, (p,), from `DRAWN` swaps, the same in every call; 1 if undefined."""
    swaps = np.concatenate(list(draw_swaps(systems.blocks.shape[1], DRAWN, np.random.default_rng(0)))).astype(
        np.float64
    )
    as_large = _count_as_large(systems, i, j, swaps)
    return np.where(np.isnan(as_large), 1.0, (1 + as_large) / (1 + DRAWN))


def _count_as_large(systems: Systems, i: Ints, j: Ints, swaps: Floats) -> Floats:
    """Count the swaps, (s, n_blocks) of 0 and 1, whose difference is at least the observed one; NaN if undefined."""
    found = np.full(len(i), np.nan)
    for pair, (one, two) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
        moved = swaps @ (systems.blocks[two] - systems.blocks[one])
        sides = systems.totals[one] + moved, systems.totals[two] - moved
        first, second = (systems.metric.score(side, systems.names) for side in sides)
        differences = np.abs(second - first)
        if not np.isnan(differences).any():
            found[pair] = np.count_nonzero(differences >= abs(systems.scores[two] - systems.scores[one]) - TIE)
    return found


def approximate_all(systems: Systems) -> Floats:
    """Return the normal approximation of the p-values of all pairs i < j.

    Returns:
        (n (n - 1) / 2,) in the order (0, 1), (0, 2), …, (1, 2), …
    """
    n = len(systems.scores)
    # Only differences count; without the mean of all systems, less is lost when products are subtracted.
    counts = [column - column.mean(axis=0) for column in np.moveaxis(systems.blocks[..., systems.varying], 2, 0)]
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
        p = _two_sided(systems.scores[None, j] - systems.scores[i, None], variances)
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


def _two_sided(differences: Floats, variances: Floats) -> Floats:
    """Return p-values by the normal distribution; 1 for no difference, and if it is undefined or has no variance."""
    can_differ = (np.abs(differences) > TIE) & (variances > 0)
    z = np.abs(differences) / np.sqrt(np.where(can_differ, variances, np.inf))
    return np.where(can_differ, 2 * ndtr(-z), 1.0)


def refine(systems: Systems, i: Ints, j: Ints, normal: Floats) -> Floats:
    """Return the saddlepoint approximation of the p-values of pairs of systems.

    Args:
        systems: the systems, all with a score.
        i, j: (p,) the systems of each pair.
        normal: (p,) the normal approximation.

    Returns:
        (p,) between `normal` / `CAUTION` and `normal` * `GAUSSIAN`.
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
    return np.clip(np.where(np.isnan(p), normal, p), normal / CAUTION, np.minimum(normal * GAUSSIAN, 1))


def _sum_of_signs(weights: Floats, observed: Floats) -> Floats:
    """Return how probable it is that weights with random signs add up to at least a number, or at most its negative.

    Args:
        weights: (p, n_blocks).
        observed: (p,) the number, positive.

    Returns:
        (p,) NaN where the approximation does not exist.
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
