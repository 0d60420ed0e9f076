"""Rank intervals of the systems of a board, from simultaneous confidence intervals of all differences.

A system's rank is known only as far as its differences from other systems are: at best, it follows the systems that are
better for certain; at worst, it precedes only those that are worse for certain (Mogstad, Romano, Shaikh and Wilhelm,
2024, "Inference for ranks with applications to mobility across neighbourhoods and academic achievement across
countries", Review of Economic Studies 91).  With i and j for systems and r for resamples of the blocks,

    a system i is better than j for certain, if  s(i) - s(j) > c · e(i, j),

where s is the score, e(i, j) the standard deviation of s(i) - s(j) over resamples, and c the quantile at 1 - alpha of

    max over i, j of  |s_r(i) - s_r(j) - (s(i) - s(j))| / e(i, j).

So all rank intervals of a board hold together with probability 1 - alpha.  With few blocks, the bootstrap's standard
deviation is too small and itself uncertain: c is taken over from the normal distribution to Student's t, and e
multiplied by sqrt(n / (n - 1)) for n blocks.

Means over groups are resampled inside each group; groups of one block don't vary and don't count.  The variance of the
mean is then the sum of terms s_g² / n_g, whose estimates are too small by (n_g - 1) / n_g each, and whose degrees of
freedom are those of Satterthwaite (1946, "An approximate distribution of estimates of variance components", Biometrics
Bulletin 2).  Both corrections assume that blocks vary as much in every group; with one group they are the ones above.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm, t

from closeread.arrays import Floats
from closeread.counts.metrics import Metric
from closeread.counts.resampling import (
    TIE,
    draw_weights,
    make_strata,
    split_columns,
    sum_strata,
)
from closeread.counts.table import CountTable
from closeread.leaderboard.index_file import Standing

N_RESAMPLES = 1000


def rank(
    metric: Metric, tables: Sequence[CountTable], alpha: float = 0.05
) -> list[Standing | None]:
    """Compute the rank intervals of systems by a score, at a level of `alpha`; None where the score is undefined.

    The tables have the counts of the same blocks and groups in the same order.
    """
    scores = np.array([float(metric.score_columns(table.sums())) for table in tables])
    defined = np.flatnonzero(~np.isnan(scores))
    n_systems = len(defined)
    standings: list[Standing | None] = [None] * len(tables)
    if n_systems == 0:
        return standings
    scores = scores[defined]
    margins = find_margins(metric, [tables[system] for system in defined.tolist()], alpha)
    is_better = scores[:, None] - scores[None, :] > margins + TIE
    lowest = 1 + is_better.sum(axis=0)
    highest = n_systems - is_better.sum(axis=1)
    leads = scores >= scores.max() - TIE
    follows = is_better[leads].any(axis=0)
    for place, system in enumerate(defined.tolist()):
        low = int(lowest[place])
        high = int(highest[place])
        standings[system] = Standing(low, high, best=not follows[place])
    return standings


def find_margins(metric: Metric, tables: Sequence[CountTable], alpha: float) -> Floats:
    """Return how large the difference of each two systems must be, (n, n); infinite if none is large enough."""
    n_systems = len(tables)
    first = tables[0]
    strata = make_strata(first, first.order_blocks(), seed=0)
    sizes = np.array([len(stratum.blocks) for stratum in strata if len(stratum.blocks) > 1])
    n_blocks = sizes.sum()
    n_pairs = n_systems * (n_systems - 1) // 2
    # No test of the signs of blocks could tell as many pairs apart.
    if 2 * 0.5**n_blocks > alpha / max(n_pairs, 1):
        return np.full((n_systems, n_systems), np.inf)
    # The axes are blocks, systems, groups and counts; of the samples, resamples and systems.
    blocks = np.stack([table.split_blocks() for table in tables], axis=1)
    sums = sum_strata(strata, blocks, draw_weights, N_RESAMPLES)
    observed = metric.score_columns(split_columns(blocks.sum(axis=0), first))
    resampled = metric.score_columns(split_columns(sums, first)).T
    largest = np.zeros(N_RESAMPLES)
    errors = np.zeros((n_systems, n_systems))
    for system in range(n_systems):
        differences = resampled - resampled[:, [system]]
        error = differences.std(axis=0)
        errors[system] = np.where(error > TIE, error, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviations = np.abs(differences - (observed - observed[system])) / errors[system]
        deviations[:, ~(errors[system] > 0)] = 0
        largest = np.maximum(largest, deviations.max(axis=1))
    variances = 1 / sizes
    n_free = variances.sum() ** 2 / (variances**2 / (sizes - 1)).sum()
    quantile = t.isf(norm.sf(np.quantile(largest, 1 - alpha)), n_free)
    correction = np.sqrt((1 / (sizes - 1)).sum() / variances.sum())
    margins: Floats = quantile * correction * errors
    # Where a score is undefined in a resample, nothing is certain.
    is_unsure = np.isnan(resampled).any(axis=0)
    margins[is_unsure] = np.inf
    margins[:, is_unsure] = np.inf
    return margins
