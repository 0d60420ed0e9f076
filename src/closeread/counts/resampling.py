"""Bootstrap intervals and paired tests, computed from counts.

Conventions: blocks are resampled.  A resample draws as many blocks as there are, with replacement; the number of times
that each block is drawn is its weight in a matrix product with the counts of the blocks.  Intervals are percentile
intervals (Efron and Tibshirani, 1993, chapter 13) or BCa intervals (chapter 14).  p-values are two-sided and count the
observed data as one of the resamples, so that none is 0 (Davison and Hinkley, 1997, section 4.2.1).  NaN means
undefined: if a score is 0/0 in a resample and no convention gives it a value, and in paired tests of a single block,
all of whose resamples are alike.  (`closeread.counts.estimates` asks for no interval of a single block.)

A mean over groups is a score of these groups: their blocks are resampled inside each group, as many as it has, by a
generator of its own, so that adding a group changes no other's draws.

Which blocks a draw means depends on their order, which must depend neither on the order of units in files nor on
shards.  It is that of the digests of their gold; blocks with the same gold are ordered

* in the interval of a score by the counts that it is computed from, so that it is the same beside other scores, and if
  units are renamed (`_order_blocks`);
* in paired tests by name (`CountTable.order_blocks`): a draw must mean the same units for all systems, whose counts
  differ, and for all metrics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import combinations
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, round_for_exact_sums
from closeread.counts.metrics import Columns, Metric
from closeread.counts.table import CountTable, mark_tied
from closeread.exceptions import RequestError, pluralize
from closeread.records import IntervalKind

WEIGHTS_PER_CHUNK = 2**17
"""The number of weights that are worked on together, which stay in the processor's cache."""

MIN_RESAMPLES_PER_CHUNK = 4
"""OpenBLAS multiplies single rows with many threads, which take ten times the processor time."""

MAX_PRODUCTS = 2**18
"""The most multiplications that are done together: with more, OpenBLAS starts threads, which take more processor time
than they save here, and many times as much on a busy machine."""

MAX_DRAWS = 20_000_000_000
"""The most blocks that are drawn in all resamples together, which takes some minutes."""

MAX_SUMS = 50_000_000
"""The most sums of counts in memory: counts times resamples times systems."""

MAX_TESTS = 500_000
"""The most paired tests that are done together: pairs of systems times scores."""

MAX_NULLS = 2_000_000_000
"""The most resamples of all these tests together, which take some minutes."""

SAMPLES_PER_CHUNK = 2**20
"""The number of resampled differences of pairs of systems that are worked on together."""

POWER = 0.8
"""The usual probability of finding a difference."""

TIE = 1e-12
"""Differences closer than this count as equal: the same counts may be summed in another order."""


def draw_weights(n_blocks: int, n_resamples: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Yield how often each block is drawn in each resample, in chunks (n, n_blocks)."""
    for n_rows in _split_resamples(n_blocks, n_resamples):
        drawn = rng.integers(max(n_blocks, 1), size=(n_rows, n_blocks))
        # The blocks of all resamples are counted at once, so those of each get numbers of their own.
        drawn += n_blocks * np.arange(n_rows)[:, None]
        counted = np.bincount(drawn.ravel(), minlength=n_rows * n_blocks)
        yield counted.reshape(n_rows, n_blocks)


def draw_swaps(n_blocks: int, n_resamples: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Yield whether the two outputs of each block are swapped, in chunks (n, n_blocks) of 0 and 1."""
    for n_rows in _split_resamples(n_blocks, n_resamples):
        yield rng.integers(2, size=(n_rows, n_blocks))


def _split_resamples(n_blocks: int, n_resamples: int) -> Iterator[int]:
    """Yield the number of resamples in each chunk."""
    most = max(MIN_RESAMPLES_PER_CHUNK, WEIGHTS_PER_CHUNK // max(n_blocks, 1))
    for start in range(0, n_resamples, most):
        yield min(most, n_resamples - start)


class Stratum(NamedTuple):
    """Blocks that are resampled among themselves: those of a group, or all.

    Attributes:
        blocks: their numbers, in the order in which they are drawn.
        groups: the numbers of their groups.
        rng: the generator of their draws.
    """

    blocks: Ints
    groups: slice
    rng: np.random.Generator


def make_strata(table: CountTable, order: Ints, seed: int) -> list[Stratum]:
    """Return the strata of a table, whose blocks are in an order, (n_blocks,)."""
    strata = []
    for number, (name, blocks) in enumerate(table.list_strata()):
        in_order = order[np.isin(order, blocks)]
        groups = slice(None)
        rng = np.random.default_rng(seed)
        if name:
            groups = slice(number, number + 1)
            key = int.from_bytes(sha256(name.encode()).digest()[:8], "big")
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(key,)))
        strata.append(Stratum(in_order, groups, rng))
    return strata


def sum_strata(
    strata: Sequence[Stratum],
    blocks: Floats,
    draw: Callable[[int, int, np.random.Generator], Iterator[Ints]],
    n_resamples: int,
) -> Floats:
    """Sum the counts of blocks, (n_blocks, …, n_groups, k), with the weights that are drawn in each stratum.

    Returns:
        The sums, (n_resamples, …, n_groups, k).
    """
    sums = []
    for stratum in strata:
        own_blocks = blocks[stratum.blocks][..., stratum.groups, :]
        weights = draw(len(own_blocks), n_resamples, stratum.rng)
        flat_sums = sum_weighted(weights, own_blocks.reshape(len(own_blocks), -1))
        sums.append(flat_sums.reshape(n_resamples, *own_blocks.shape[1:]))
    return np.concatenate(sums, axis=-2)


def sum_weighted(chunks: Iterable[Ints], blocks: Floats) -> Floats:
    """Sum the counts of blocks (n_blocks, k) with weights in chunks (n, n_blocks); return (n_resamples, k).

    The weights of a resample sum to at most the number of blocks.
    """
    # Sums are exact, so that their last digits don't depend on the library of linear algebra (BLAS), on threads, or on
    # the other columns.
    exact_blocks = round_for_exact_sums(blocks, len(blocks))
    return np.concatenate([_multiply(chunk.astype(np.float64), exact_blocks) for chunk in chunks])


def _multiply(weights: Floats, blocks: Floats) -> Floats:
    """Return the matrix product of weights (n, n_blocks) and blocks (n_blocks, k), in parts that one core computes."""
    products_per_block = max(1, len(weights) * blocks.shape[1])
    n_together = max(1, MAX_PRODUCTS // products_per_block)
    sums = np.zeros((len(weights), blocks.shape[1]))
    for start in range(0, len(blocks), n_together):
        together = slice(start, start + n_together)
        sums += weights[:, together] @ blocks[together]
    return sums


def bootstrap_intervals(
    table: CountTable,
    metrics: Sequence[Metric],
    n_resamples: int,
    confidence: float,
    seed: int,
    interval: IntervalKind = "percentile",
) -> dict[str, tuple[float, float]]:
    """Return the interval of each score by the metric's name; NaN if it is 0/0 in a resample.

    A metric with other counts may have another order of blocks with the same gold.
    """
    blocks = table.block_totals()
    blocks_by_group = table.split_blocks()
    _check_sizes(n_resamples, table.n_blocks, blocks_by_group[0].size)
    # Metrics with the same order share one draw and its sums, which take most of the time.
    metrics_by_order: dict[bytes, list[Metric]] = {}
    for metric, order in zip(metrics, _order_blocks(table, blocks, metrics), strict=True):
        metrics_by_order.setdefault(order.tobytes(), []).append(metric)
    intervals: dict[str, tuple[float, float]] = {}
    for order_bytes, metrics_in_order in metrics_by_order.items():
        strata = make_strata(table, np.frombuffer(order_bytes, np.int64), seed)
        sums = split_columns(sum_strata(strata, blocks_by_group, draw_weights, n_resamples), table)
        for metric in metrics_in_order:
            samples = metric.score_columns(sums)
            if interval == "bca":
                score = metric.score_columns(table.sums())
                drawn_blocks = np.concatenate([stratum.blocks for stratum in strata])
                totals_without = table.group_totals() - blocks_by_group[drawn_blocks]
                without = split_columns(totals_without, table)
                scores_without = metric.score_columns(without)
                ends = bca_interval(samples, score, scores_without, confidence)
            else:
                ends = percentile_interval(samples, confidence)
            low, high = ends.tolist()
            intervals[metric.name] = (low, high)
    return intervals


def _order_blocks(table: CountTable, blocks: Floats, metrics: Sequence[Metric]) -> Iterator[Ints]:
    """Yield the order for each metric in which its blocks (n_blocks, k) are drawn, (n_blocks,) int64."""
    gold = table.number_golds()
    order = np.argsort(gold, kind="stable").astype(np.int64)
    is_tied = mark_tied(gold[order])
    tied = order[is_tied]
    for metric in metrics:
        columns = [table.names.index(name) for name in metric.list_counts(table.names)]
        # The last key of lexsort is the primary one: gold first, then the counts.
        order[is_tied] = tied[np.lexsort((*blocks[tied][:, columns].T, gold[tied]))]
        yield order.copy()


def split_columns(sums: Floats, table: CountTable) -> Columns:
    """Return sums of counts, (n_resamples, …, n_groups, k), by name, (n_groups, …, n_resamples) each.

    Without groups, they are (…, n_resamples).  As `by_name`, but with resamples as the last axis, beside each other in
    memory, on which formulas are faster.
    """
    columns = np.ascontiguousarray(sums.T)
    if not table.groups:
        columns = columns[:, 0]
    return dict(zip(table.names, columns, strict=True))


def _check_sizes(
    n_resamples: int,
    n_blocks: int,
    n_counts: int,
    n_systems: int = 1,
    n_pairs: int = 0,
    n_scores: int = 0,
) -> None:
    """Check that the draws and tests are within the limits."""
    n_tests = n_pairs * n_scores
    n_nulls = n_tests * n_resamples
    n_draws = n_resamples * n_blocks
    n_sums = n_resamples * n_counts * n_systems
    tests = f"{pluralize(n_tests, 'paired test')} in {pluralize(n_scores, 'score')}"
    tested = f"{n_systems:,} systems have {tests}"
    resamples = f"{n_resamples:,} resamples of"
    summed = f"{resamples} {pluralize(n_counts, 'count')}"
    if n_systems > 1:
        summed += f" of {n_systems:,} systems"
    drawn = f"{resamples} {pluralize(n_blocks, 'block')}"
    sizes = (
        (tested, n_tests, MAX_TESTS),
        (f"{tested}, and {n_nulls:,} resamples of these", n_nulls, MAX_NULLS),
        (f"{drawn} are {n_draws:,} draws", n_draws, MAX_DRAWS),
        (f"{summed} are {n_sums:,} sums", n_sums, MAX_SUMS),
    )
    for description, size, limit in sizes:
        if size > limit:
            raise RequestError(f"{description} (expected at most {limit:,})")


def max_resamples(n_systems: int, n_scores: int, n_blocks: int, n_counts: int) -> int:
    """Return how many resamples the limits allow for paired tests of all pairs of systems."""
    n_tests = math.comb(n_systems, 2) * n_scores
    return min(
        MAX_DRAWS // max(1, n_blocks),
        MAX_SUMS // max(1, n_counts * n_systems),
        MAX_NULLS // max(1, n_tests),
    )


def percentile_interval(samples: Floats, confidence: float) -> Floats:
    """Return the quantiles of samples, (…, n), that leave (1 - confidence) / 2 on either side, (…, 2).

    NaN if a sample is NaN.
    """
    tail = (1 - confidence) / 2
    return _take_quantiles(samples, np.array([tail, 1 - tail]))


def bca_interval(
    samples: Floats, score: Floats, scores_without: Floats, confidence: float
) -> Floats:
    """Return the bias-corrected and accelerated intervals of a score, (…), from its samples, (…, n), as (…, 2).

    The acceleration follows from the score without each of the blocks, (…, n_blocks), whose order must be that in
    which they are drawn: sums of these scores are rounded differently in another order.  NaN if a sample is NaN, or
    if all of them are on one side of the score.
    """
    from scipy.special import ndtr, ndtri  # not needed by default

    tail = (1 - confidence) / 2
    score = np.asarray(score)[..., None]
    is_below = samples < score - TIE
    # Of resamples that give the same score, half count as below.
    is_equal = np.abs(samples - score) <= TIE
    share_below = np.mean(is_below + 0.5 * is_equal, axis=-1, keepdims=True)
    influence = scores_without.mean(axis=-1, keepdims=True) - scores_without
    with np.errstate(invalid="ignore"):
        cubes = (influence**3).sum(axis=-1, keepdims=True)
        squares = (influence**2).sum(axis=-1, keepdims=True)
        skewness = cubes / (6 * np.maximum(squares, TIE**2) ** 1.5)
        # 0 without any influence, but NaN stays NaN
        acceleration = np.where(squares > TIE**2, skewness, 0 * squares)
        bias = ndtri(share_below)
        shifted = bias + ndtri([tail, 1 - tail])
        levels = ndtr(bias + shifted / (1 - acceleration * shifted))
    return _take_quantiles(samples, levels)


def _take_quantiles(samples: Floats, levels: Floats) -> Floats:
    """Return quantiles of samples, (…, n), at levels (k,) or (…, k); NaN if a sample or a level is NaN."""
    # As `np.quantile`, but without its import of masked arrays, which takes a tenth of the time of NumPy's own.
    shape = (*samples.shape[:-1], levels.shape[-1])
    position = np.broadcast_to(levels * (samples.shape[-1] - 1), shape)
    is_undefined = np.isnan(samples).any(axis=-1, keepdims=True) | np.isnan(position)
    position = np.where(is_undefined, 0, position)
    index_below = np.floor(position).astype(np.int64)
    index_above = np.ceil(position).astype(np.int64)
    # NaN is last.
    partly_ordered = np.partition(samples, np.concatenate([index_below, index_above], axis=None))
    below = np.take_along_axis(partly_ordered, index_below, axis=-1)
    above = np.take_along_axis(partly_ordered, index_above, axis=-1)
    share = position - index_below
    # From the nearer end, so that the result never leaves the two samples.
    quantiles = np.where(
        share < 0.5,
        below + (above - below) * share,
        above - (above - below) * (1 - share),
    )
    return np.where(is_undefined, math.nan, quantiles)


class Difference(NamedTuple):
    """The difference between the scores of two systems on the same units.

    Attributes:
        value: the score of the second minus the score of the first.
        low, high: the bootstrap interval of the difference.
        p_bootstrap: p-value of the paired bootstrap, with the resampled differences shifted to mean 0 as null
            distribution; too small with few blocks (`tests/shared/coverage.py` measures by how much).
        p_randomization: p-value of approximate randomization, which swaps the outputs of the two systems by block.
        detectable: the true difference that `POWER` of such test sets would show to be significant, for a test at a
            level of 1 - confidence: its standard error in the bootstrap, times the two normal quantiles; None if that
            was not asked for.

    All but `value` are NaN if undefined.
    """

    value: float
    low: float
    high: float
    p_bootstrap: float
    p_randomization: float
    detectable: float | None = None

    def __float__(self) -> float:
        return self.value

    def to_dict(self) -> dict[str, float]:
        """Return the numbers that there are by name."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class _PairedSums(NamedTuple):
    """The sums of the counts of several systems by name, from which all differences of pairs follow.

    Those of groups have them as a further axis, before the others.

    Attributes:
        observed: of all blocks, (n_systems,) each.
        resampled: of resamples, (n_systems, n_resamples) each.
        unswapped: of all blocks, rounded as those that are swapped, (n_systems,) each.
        swapped: of blocks that are swapped, (n_systems, n_resamples) each.
        without: of all blocks but one, (n_systems, n_blocks) each; None if no interval needs them.
    """

    observed: Columns
    resampled: Columns
    unswapped: Columns
    swapped: Columns
    without: Columns | None


def compare_pairs(
    tables: Sequence[CountTable],
    metrics: Sequence[Metric],
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
    interval: IntervalKind = "percentile",
    only_first: bool = False,
    power: bool = False,
) -> dict[tuple[int, int], dict[str, Difference]]:
    """Compare every pair of systems, or only those with the first, by paired tests, for every metric by name.

    The same resamples are used for all systems (Koehn, 2004, section 4); the null distribution of the bootstrap is the
    shifted one (Efron and Tibshirani, 1993, chapter 16); approximate randomization follows Noreen (1989, chapter 2).

    Returns:
        The differences by the metric's name, for the numbers (i, j) of every pair with i < j, j minus i.
    """
    n_systems = len(tables)
    if n_systems < 2:
        return {}
    first_table = tables[0]
    n_blocks = first_table.n_blocks
    firsts = range(1 if only_first else n_systems)
    pairs = [pair for pair in combinations(range(n_systems), 2) if pair[0] in firsts]
    n_counts = first_table.group_totals().size
    _check_sizes(n_resamples, n_blocks, n_counts, n_systems, len(pairs), len(metrics))
    for table in tables[1:]:
        _check_alike(first_table, table)
    sums = _sum_pairs(tables, n_resamples, seed, interval)
    differences: dict[tuple[int, int], dict[str, Difference]] = {pair: {} for pair in pairs}
    can_vary = first_table.can_vary
    pairs_per_chunk = max(1, SAMPLES_PER_CHUNK // max(1, n_resamples))
    for metric in metrics:
        scores = metric.score_columns(sums.observed)
        resampled = metric.score_columns(sums.resampled)
        without = None if sums.without is None else metric.score_columns(sums.without)
        for first in firsts:
            for start in range(first + 1, n_systems, pairs_per_chunk):
                others = slice(start, start + pairs_per_chunk)
                values = scores[others] - scores[first]
                samples = resampled[others] - resampled[first]
                if without is None:
                    ends = percentile_interval(samples, confidence)
                else:
                    values_without = without[others] - without[first]
                    ends = bca_interval(samples, values, values_without, confidence)
                shifted = samples - samples.mean(axis=-1, keepdims=True)
                swapped = _swap_systems(metric, sums, first, others)
                low, high = ends.T
                values_by_field = {
                    "low": low,
                    "high": high,
                    "p_bootstrap": _p_values(shifted, values),
                    "p_randomization": _p_values(swapped, values),
                }
                if power:
                    values_by_field["detectable"] = _detectable(samples, confidence)
                # A single block can't be resampled, but single blocks of several groups can be swapped.
                undefined = np.full(len(values), math.nan)
                if not can_vary:
                    swap_test = values_by_field["p_randomization"]
                    values_by_field = dict.fromkeys(values_by_field, undefined)
                    values_by_field["p_randomization"] = swap_test
                if n_blocks < 2:
                    values_by_field["p_randomization"] = undefined
                values_by_field["value"] = values
                rows = np.column_stack([*values_by_field.values()]).tolist()
                for second, row in enumerate(rows, start):
                    estimates = dict(zip(values_by_field, row, strict=True))
                    differences[first, second][metric.name] = Difference(**estimates)
    return differences


def _sum_pairs(
    tables: Sequence[CountTable],
    n_resamples: int,
    seed: int,
    interval: IntervalKind,
) -> _PairedSums:
    """Sum the counts of systems for both experiments.

    The bootstrap asks how much scores vary between test sets; the randomization test, what they would be if the two
    systems were interchangeable.  Both sum the same counts of blocks, with other weights.
    """
    first = tables[0]
    order = first.order_blocks()
    strata = make_strata(first, order, seed)
    # The axes are blocks, systems, groups and counts; those of totals, without the blocks.
    blocks = np.stack([table.split_blocks() for table in tables], axis=1)
    totals = np.array([table.group_totals() for table in tables])
    # What a system gains by swaps is a difference of two sums.  It is exact, so that no rest of rounding stands for 0.
    in_columns = round_for_exact_sums(blocks.reshape(-1, len(first.names)), 2 * len(order))
    exact_blocks = in_columns.reshape(blocks.shape)
    resampled = sum_strata(strata, exact_blocks, draw_weights, n_resamples)
    swapped = sum_strata(strata, exact_blocks, draw_swaps, n_resamples)
    without = None
    if interval == "bca":
        drawn_blocks = np.concatenate([stratum.blocks for stratum in strata])
        without = split_columns(totals - blocks[drawn_blocks], first)
    return _PairedSums(
        split_columns(totals, first),
        split_columns(resampled, first),
        split_columns(exact_blocks.sum(axis=0), first),
        split_columns(swapped, first),
        without,
    )


def _swap_systems(metric: Metric, sums: _PairedSums, first: int, others: slice) -> Floats:
    """Return the differences from the first system where blocks are swapped with it, (n_others, n_resamples)."""
    first_sums = {}
    other_sums = {}
    for name, swapped in sums.swapped.items():
        # What the first system gains by the swap is what the other loses.
        gain = swapped[..., others, :] - swapped[..., [first], :]
        unswapped = sums.unswapped[name][..., None]
        first_sums[name] = unswapped[..., [first], :] + gain
        other_sums[name] = unswapped[..., others, :] - gain
    return metric.score_columns(other_sums) - metric.score_columns(first_sums)


def _detectable(samples: Floats, confidence: float) -> Floats:
    """Return the true differences that are significant with the probability `POWER`, from samples (n, n_resamples)."""
    from statistics import NormalDist  # not needed by default

    normal = NormalDist()
    n_errors = normal.inv_cdf(1 - (1 - confidence) / 2) + normal.inv_cdf(POWER)
    errors: Floats = samples.std(axis=-1)
    return n_errors * errors


def _check_alike(first: CountTable, second: CountTable) -> None:
    """Check that two systems were scored on the same units, with the same counts and blocks."""
    same_units = list(first.units) == list(second.units)
    if not same_units:
        n_different = len(set(first.units) ^ set(second.units))
        if n_different:
            raise RequestError(
                "the two systems were not scored on the same units: "
                f"{n_different:,} were scored for only one of them"
            )
    same_blocks = np.array_equal(first.blocks, second.blocks)
    if not (same_units and same_blocks and first.names == second.names):
        raise RequestError(
            "the two results have different counts, or group the units into different blocks"
        )


def _p_values(null: Floats, values: Floats) -> Floats:
    """Return (1 + number of null differences at least as large) / (1 + n_resamples) for each observed difference.

    Args:
        null: (n, n_resamples) differences if there were none but by chance.
        values: (n,) observed differences, each of which counts as one more of its null differences.
    """
    n_as_large = np.count_nonzero(np.abs(null) >= np.abs(values)[:, None] - TIE, axis=-1)
    is_undefined = np.isnan(values) | np.isnan(null).any(axis=-1)
    return np.where(is_undefined, math.nan, (1 + n_as_large) / (1 + null.shape[-1]))
