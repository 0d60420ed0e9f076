"""Bootstrap intervals and paired tests, computed from counts.

Conventions: blocks are resampled.  A resample draws as many blocks as there are, with replacement; the number of times
that each block is drawn is its weight in a matrix product with the counts of the blocks.  Intervals are percentile
intervals (Efron and Tibshirani, 1993, chapter 13) or BCa intervals (chapter 14).  p-values are two-sided and count the
observed data as one of the resamples, so that none is 0 (Davison and Hinkley, 1997, section 4.2.1).  NaN means
undefined: with a single block, and if a score is 0/0 in a resample and no convention gives it a value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from closeread.arrays import Bytes, Floats, multiply
from closeread.counts.metrics import Columns, Metric, by_name
from closeread.counts.table import CountTable, mark_tied
from closeread.exceptions import RequestError, pluralize
from closeread.records import IntervalKind

GROUP = 2**20  # the number of weights in a group; the draws depend on it
# the fewest resamples in a group, to read the counts less often than weights; the draws depend on
# it
ROWS = 16

SLICE = 2**18
"""The number of weights that are worked on together, which stay in the processor's cache; the draws depend on it."""

# how many standard deviations the mean of the sum of Poisson numbers is below the number of blocks
BELOW = 3.0
# poisson numbers with a mean below 1 are larger than this with a probability below 1e-49
LARGEST = 40


def draw_weights(n_blocks: int, n_resamples: int, rng: np.random.Generator) -> Iterator[Bytes]:
    """Yield how often each block is drawn in each resample, (group, n_blocks) uint8, in groups of bounded size."""
    n_poisson = n_blocks - BELOW * math.sqrt(n_blocks)
    poisson = spread_poisson(n_poisson / n_blocks) if n_poisson > 0 else None
    for size, own in _group_resamples(n_blocks, n_resamples, rng):
        weights = np.zeros((size, n_blocks), np.uint8)
        lacking = np.full(size, n_blocks)
        if poisson is not None:
            rows = np.arange(size)
            while len(rows):
                drawn = np.empty((len(rows), n_blocks), np.uint8)
                _draw_poisson(drawn.reshape(-1), poisson, own)
                weights[rows] = drawn
                lacking[rows] = n_blocks - drawn.sum(axis=1, dtype=np.int64)
                rows = rows[lacking[rows] < 0]
        places = own.integers(0, max(n_blocks, 1), size=lacking.sum())
        places += np.repeat(n_blocks * np.arange(size), lacking)
        np.add.at(weights.reshape(-1), places, np.uint8(1))
        yield weights


def draw_swaps(n_blocks: int, n_resamples: int, rng: np.random.Generator) -> Iterator[Bytes]:
    """Yield whether the two outputs of each block are swapped, (group, n_blocks) uint8 of 0 and 1."""
    for size, own in _group_resamples(n_blocks, n_resamples, rng):
        n = size * n_blocks
        yield np.unpackbits(_draw_bytes(-(-n // 8), own), count=n).reshape(size, n_blocks)


class Poisson(NamedTuple):
    """How a byte becomes a Poisson number."""

    # the number is how many of these the byte reaches, if the byte is below `end`
    steps: tuple[int, ...]
    end: int  # bytes from here on stand for the rest of the probabilities, which the steps leave
    # (LARGEST + 1,) the cumulative probabilities of the numbers in that rest; the last is 1
    rest: Floats


def spread_poisson(mean: float) -> Poisson:
    """Spread the Poisson distribution with a mean between 0 and 1 over 256 bytes.

    Every number has as many bytes as its probability has whole 256ths; the rest is as exact as float64.
    """
    numbers = range(LARGEST + 1)
    probability = np.array([math.exp(-mean) * mean**k / math.factorial(k) for k in numbers])
    n_bytes = np.floor(256 * probability)
    ends = np.cumsum(n_bytes).astype(np.int64)
    rest = np.cumsum(probability - n_bytes / 256)
    return Poisson(
        tuple(ends[: np.count_nonzero(n_bytes) - 1].tolist()), int(ends[-1]), rest / rest[-1]
    )


def _draw_poisson(numbers: Bytes, poisson: Poisson, rng: np.random.Generator) -> None:
    """Fill an array with Poisson numbers."""
    reached = np.empty(min(SLICE, len(numbers)), np.bool_)
    for start in range(0, len(numbers), SLICE):
        part = numbers[start : start + SLICE]
        drawn, mark = _draw_bytes(len(part), rng), reached[: len(part)]
        part[:] = 0
        for step in poisson.steps:
            np.greater_equal(drawn, step, out=mark)
            part += mark.view(np.uint8)
        beyond = np.flatnonzero(np.greater_equal(drawn, poisson.end, out=mark))
        part[beyond] = np.searchsorted(poisson.rest, rng.random(len(beyond)), side="right")


def _draw_bytes(n: int, rng: np.random.Generator) -> Bytes:
    """Draw bytes, (n,) uint8, the same on any machine."""
    raw = np.asarray(rng.bit_generator.random_raw(-(-n // 8)))
    return raw.astype("<u8", copy=False).view(np.uint8)[:n]


def _group_resamples(
    n_blocks: int, n_resamples: int, rng: np.random.Generator
) -> Iterator[tuple[int, np.random.Generator]]:
    """Yield the number of resamples in each group, and its generator."""
    rows = max(ROWS, GROUP // max(n_blocks, 1))
    for start in range(0, n_resamples, rows):
        (seed,) = rng.bit_generator.seed_seq.spawn(1)  # type: ignore[attr-defined]
        yield min(rows, n_resamples - start), np.random.Generator(np.random.SFC64(seed))


# the most blocks that are drawn in all resamples together, which takes some minutes
MAX_DRAWS = 20_000_000_000
MAX_SUMS = 50_000_000  # the most sums of counts in memory: counts times resamples times systems
MAX_TESTS = 500_000  # the most paired tests that are done together: pairs of systems times scores
MAX_NULLS = 2_000_000_000  # the most resamples of all these tests together, which take some minutes
POWER = 0.8  # the usual probability of finding a difference
# differences closer than this count as equal: the same counts may be summed in another order
TIE = 1e-12


def bootstrap_intervals(
    table: CountTable,
    metrics: Sequence[Metric],
    n_resamples: int,
    confidence: float,
    seed: int,
    interval: IntervalKind = "percentile",
) -> dict[str, tuple[float, float]]:
    """Return the interval of each score by the metric's name; NaN if it is 0/0 in a resample.

    Blocks are drawn by their place in the order of the digests of their gold.  Of blocks with the same gold, the order
    is that of the counts that a score is computed from: then neither the names of the units nor other scores matter.
    """
    _check_sizes(n_resamples, table.n_blocks, len(table.names))
    gold = table.number_golds()
    order = np.argsort(gold, kind="stable")
    is_tied, blocks = mark_tied(gold[order]), table.block_totals()
    alike: dict[bytes, list[Metric]] = {}
    for metric in metrics:
        own = order.copy()
        if is_tied.any():
            columns = [table.names.index(name) for name in metric.list_counts(table.names)]
            tied = order[is_tied]
            own[is_tied] = tied[np.lexsort((*blocks[tied][:, columns].T, gold[tied]))]
        alike.setdefault(own.tobytes(), []).append(metric)
    found: dict[str, tuple[float, float]] = {}
    for own_order, those in alike.items():
        own_blocks = blocks[np.frombuffer(own_order, order.dtype)]
        sums = _name_columns(
            sum_resamples(own_blocks, n_resamples, np.random.default_rng(seed)), table.names
        )
        for metric in those:
            samples = metric.score_columns(sums)
            if interval == "bca":
                value = metric.score(table.totals, table.names)
                left_out = metric.score(table.totals - own_blocks, table.names)
                low, high = bca_interval(samples, value, left_out, confidence).tolist()
            else:
                low, high = percentile_interval(samples, confidence).tolist()
            found[metric.name] = low, high
    return found


def _name_columns(sums: Floats, names: Sequence[str]) -> Columns:
    """Return sums of counts, (n_resamples, …, k), by name, (…, n_resamples) each, on which formulas are faster."""
    return dict(zip(names, np.ascontiguousarray(sums.T), strict=True))


def _check_sizes(
    n_resamples: int, n_blocks: int, n_counts: int, n_systems: int = 1, n_scores: int = 0
) -> None:
    """Check that the draws and tests are within the limits."""
    n_tests, n_draws = math.comb(n_systems, 2) * n_scores, n_resamples * n_blocks
    n_nulls, n_sums = n_tests * n_resamples, n_resamples * n_counts * n_systems
    of_systems = "" if n_systems == 1 else f" of {n_systems:,} systems"
    tested = f"{n_systems:,} systems have {pluralize(n_tests, 'paired test')} in {pluralize(n_scores, 'score')}"
    drawn, counts = f"{n_resamples:,} resamples of", pluralize(n_counts, "count")
    for found, size, limit in (
        (tested, n_tests, MAX_TESTS),
        (f"{tested}, and {n_nulls:,} resamples of these", n_nulls, MAX_NULLS),
        (f"{drawn} {pluralize(n_blocks, 'block')} are {n_draws:,} draws", n_draws, MAX_DRAWS),
        (f"{drawn} {counts}{of_systems} are {n_sums:,} sums", n_sums, MAX_SUMS),
    ):
        if size > limit:
            raise RequestError(f"{found} (expected at most {limit:,})")


def max_resamples(n_systems: int, n_scores: int, n_blocks: int, n_counts: int) -> int:
    """Return how many resamples the limits allow for paired tests of all pairs of systems."""
    n_tests = math.comb(n_systems, 2) * n_scores
    sizes = (MAX_DRAWS, n_blocks), (MAX_SUMS, n_counts * n_systems), (MAX_NULLS, n_tests)
    return min(limit // max(1, size) for limit, size in sizes)


def sum_resamples(blocks: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Sum the counts of resamples of blocks (n_blocks, k), drawn by their order; return (n_resamples, k) float64."""
    return multiply(draw_weights(len(blocks), n_resamples, rng), blocks)


def percentile_interval(samples: Floats, confidence: float) -> Floats:
    """Return the quantiles of samples, (…, n), that leave (1 - confidence) / 2 on either side, (…, 2).

    NaN if a sample is NaN.
    """
    tail = (1 - confidence) / 2
    return _take_quantiles(samples, np.array([tail, 1 - tail]))


def bca_interval(samples: Floats, value: Floats, left_out: Floats, confidence: float) -> Floats:
    """Return the bias-corrected and accelerated intervals of a score, (…), from its samples, (…, n), as (…, 2).

    The acceleration follows from the score without each of the blocks, (…, n_blocks), whose order must be that in
    which they are drawn: sums of these scores are rounded differently in another order.  NaN if a sample is NaN, or
    if all of them are on one side of the score.
    """
    from scipy.special import ndtr, ndtri  # not needed by default

    tail, value = (1 - confidence) / 2, np.asarray(value)[..., None]
    # Of resamples that give the same score, half count as below.
    below = np.mean(
        (samples < value - TIE) + 0.5 * (np.abs(samples - value) <= TIE), axis=-1, keepdims=True
    )
    influence = left_out.mean(axis=-1, keepdims=True) - left_out
    with np.errstate(invalid="ignore"):
        cubes, squares = ((influence**power).sum(axis=-1, keepdims=True) for power in (3, 2))
        acceleration = np.where(
            squares > TIE**2, cubes / (6 * np.maximum(squares, TIE**2) ** 1.5), 0 * squares
        )
        shifted = ndtri(below) + ndtri([tail, 1 - tail])
        levels = ndtr(ndtri(below) + shifted / (1 - acceleration * shifted))
    return _take_quantiles(samples, levels)


def _take_quantiles(samples: Floats, levels: Floats) -> Floats:
    """Return quantiles of samples, (…, n), at levels (k,) or (…, k); NaN if a sample or a level is NaN."""
    # As `np.quantile`, which imports masked arrays: a tenth of the time of NumPy's import.
    place = np.broadcast_to(levels, (*samples.shape[:-1], np.shape(levels)[-1])) * (
        samples.shape[-1] - 1
    )
    is_undefined = np.isnan(samples).any(axis=-1, keepdims=True) | np.isnan(place)
    place = np.where(is_undefined, 0, place)
    below, above = np.floor(place).astype(np.int64), np.ceil(place).astype(np.int64)
    ordered = np.partition(samples, np.union1d(below, above))  # NaN is last
    low, high = (np.take_along_axis(ordered, index, axis=-1) for index in (below, above))
    step, share = high - low, place - below
    ends = np.where(share < 0.5, low + step * share, high - step * (1 - share))
    return np.where(is_undefined, math.nan, ends)


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


def compare_pairs(
    tables: Sequence[CountTable],
    metrics: Sequence[Metric],
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
    interval: IntervalKind = "percentile",
    power: bool = False,
) -> dict[tuple[int, int], dict[str, Difference]]:
    """Compare every pair of systems by paired tests, for every metric by name.

    The same resamples are used for all systems (Koehn, 2004, section 4); the null distribution of the bootstrap is the
    shifted one (Efron and Tibshirani, 1993, chapter 16); approximate randomization follows Noreen (1989, chapter 2).

    Returns:
        The differences by the metric's name, for the numbers (i, j) of every pair of systems with i < j, j minus i.
    """
    if len(tables) < 2:
        return {}
    first = tables[0]
    _check_sizes(n_resamples, first.n_blocks, len(first.names), len(tables), len(metrics))
    for other in tables[1:]:
        _check_alike(first, other)
    n, order, rng = len(tables), first.order_blocks(), np.random.default_rng(seed)
    blocks = np.hstack([table.block_totals()[order] for table in tables])
    drawn, swapped = (
        _name_columns(
            multiply(draw(len(order), n_resamples, rng), blocks).reshape(-1, n, len(first.names)),
            first.names,
        )
        for draw in (draw_weights, draw_swaps)
    )
    totals = by_name(np.array([table.totals for table in tables]), first.names)
    observed, resampled = (
        [metric.score_columns(sums) for metric in metrics] for sums in (totals, drawn)
    )
    quantiles = NormalDist().inv_cdf(1 - (1 - confidence) / 2) + NormalDist().inv_cdf(POWER)
    left_out: list[Floats] = []  # the scores without each of the blocks, (n, n_blocks)
    if interval == "bca":
        rest = np.array([table.totals - table.block_totals()[order] for table in tables])
        left_out = [metric.score(rest, first.names) for metric in metrics]
    found: dict[tuple[int, int], dict[str, Difference]] = {
        pair: {} for pair in combinations(range(n), 2)
    }
    together = max(1, GROUP // max(1, n_resamples))
    for i, start in [(one, two) for one in range(n) for two in range(one + 1, n, together)]:
        others = slice(start, start + together)
        moved = {name: sums[others] - sums[i] for name, sums in swapped.items()}
        first_moved = {name: totals[name][i] + sums for name, sums in moved.items()}
        others_moved = {name: totals[name][others, None] - sums for name, sums in moved.items()}
        for number, (metric, value, bootstrap) in enumerate(
            zip(metrics, observed, resampled, strict=True)
        ):
            values, differences = value[others] - value[i], bootstrap[others] - bootstrap[i]
            if interval == "bca":
                without = left_out[number][others] - left_out[number][i]
                low, high = bca_interval(differences, values, without, confidence).T
            else:
                low, high = percentile_interval(differences, confidence).T
            p_bootstrap = _p_values(differences - differences.mean(axis=-1, keepdims=True), values)
            p_randomization = _p_values(
                metric.score_columns(others_moved) - metric.score_columns(first_moved), values
            )
            columns = np.array([values, low, high, p_bootstrap, p_randomization])
            if power:
                columns = np.vstack([columns, quantiles * differences.std(axis=-1)])
            if len(order) < 2:  # a single block can't be resampled
                columns[1:] = math.nan
            for j, numbers in enumerate(columns.T.tolist(), start):
                found[i, j][metric.name] = Difference(*numbers)
    return found


def _check_alike(first: CountTable, second: CountTable) -> None:
    same_units = list(first.units) == list(second.units)
    alone = 0 if same_units else len(set(first.units) ^ set(second.units))
    if alone:
        raise RequestError(
            f"the two systems were not scored on the same units: {alone:,} were scored for only one of them"
        )
    if (
        not same_units
        or not np.array_equal(first.blocks, second.blocks)
        or first.names != second.names
    ):
        raise RequestError(
            "the two results have different counts, or group the units into different blocks"
        )


def _p_values(null: Floats, values: Floats) -> Floats:
    """Return the proportions of differences, (n, n_resamples), at least as large as these, which count as observed."""
    as_large = np.count_nonzero(np.abs(null) >= np.abs(values)[:, None] - TIE, axis=-1)
    is_undefined = np.isnan(values) | np.isnan(null).any(axis=-1)
    return np.where(is_undefined, math.nan, (1 + as_large) / (1 + null.shape[-1]))
