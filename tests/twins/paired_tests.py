"""Paired tests the slow way: every pair draws for itself, and every score is computed alone, one after the other."""

import math

import numpy as np

from closeread.counts.resampling import TIE, draw_swaps, draw_weights, sum_weighted


def p_value(null, value):
    """Return the proportion of differences at least as large as the observed one, which counts as one of them."""
    if math.isnan(value) or any(map(math.isnan, null)):
        return math.nan
    return (1 + sum(abs(one) >= abs(value) - TIE for one in null)) / (1 + len(null))


def interval(samples, confidence):
    """Return the quantiles that leave (1 - confidence) / 2 on either side; NaN if a sample is NaN."""
    if any(map(math.isnan, samples)):
        return math.nan, math.nan
    tail = (1 - confidence) / 2
    return tuple(float(np.quantile(samples, quantile)) for quantile in (tail, 1 - tail))


def compare(first, second, metric, *, n_resamples, confidence, seed):
    """Return the value of the difference, its interval, and its two p-values."""
    tables, names, order = (first, second), first.names, first.order_blocks()
    blocks = [table.block_totals()[order] for table in tables]
    rng = np.random.default_rng(seed)
    drawn, swapped = (
        [sum_weighted(iter(chunks), side) for side in blocks]
        for chunks in (
            list(draw(len(order), n_resamples, rng)) for draw in (draw_weights, draw_swaps)
        )
    )
    one, two = (float(metric.score(table.totals, names)) for table in tables)
    if len(order) < 2:
        return two - one, math.nan, math.nan, math.nan, math.nan
    bootstrap = metric.score(drawn[1], names) - metric.score(drawn[0], names)
    moved = swapped[1] - swapped[0]
    sides = first.totals + moved, second.totals - moved
    randomized = metric.score(sides[1], names) - metric.score(sides[0], names)
    low, high = interval(bootstrap, confidence)
    return (
        two - one,
        low,
        high,
        p_value(bootstrap - bootstrap.mean(), two - one),
        p_value(randomized, two - one),
    )
