"""Bootstrap intervals and paired tests, computed from counts.

Conventions: blocks are resampled.  A resample draws as many blocks as there are, with replacement; the number of times
that each block is drawn is its weight in a matrix product with the counts of the blocks.  Intervals are percentile
intervals (Efron and Tibshirani, 1993, chapter 13).  p-values are two-sided and count the observed data as one of the
resamples, so that none is 0 (Davison and Hinkley, 1997, section 4.2.1).  NaN means undefined: with a single block, and
if a score is 0/0 in a resample and no convention gives it a value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Whole, multiply
from closeread.counts.metrics import Metric
from closeread.counts.table import CountTable, mark_tied
from closeread.exceptions import RequestError, pluralize

GROUP = 2**20
"""The number of weights in a group; the draws depend on it."""

ROWS = 16
"""The fewest resamples in a group, to read the counts less often than weights; the draws depend on it."""

SLICE = 2**18
"""The number of weights that are worked on together, which stay in the processor's cache; the draws depend on it."""

BELOW = 3.0
"""How many standard deviations the mean of the sum of Poisson numbers is below the number of blocks."""

LARGEST = 40
"""Poisson numbers with a mean below 1 are larger than this with a probability below 1e-49."""


def draw_weights(n_blocks: int, n_resamples: int, rng: np.random.Generator) -> Iterator[Whole]:
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


def draw_swaps(n_blocks: int, n_resamples: int, rng: np.random.Generator) -> Iterator[Whole]:
    """Yield whether the two outputs of each block are swapped, (group, n_blocks) uint8 of 0 and 1."""
    for size, own in _group_resamples(n_blocks, n_resamples, rng):
        n = size * n_blocks
        yield np.unpackbits(_draw_bytes(-(-n // 8), own), count=n).reshape(size, n_blocks)


class Poisson(NamedTuple):
    """How a byte becomes a Poisson number.

    Attributes:
        steps: the number is how many of these the byte reaches, if the byte is below `end`.
        end: bytes from here on stand for what the steps leave of the probabilities.
        rest: (LARGEST + 1,) of that, the cumulative probability of each number; the last is 1.
    """

    steps: tuple[int, ...]
    end: int
    rest: Floats


def spread_poisson(mean: float) -> Poisson:
    """Spread the Poisson distribution with a mean between 0 and 1 over 256 bytes.

    Every number has as many bytes as its probability has whole 256ths; what is left is as exact as float64.
    """
    numbers = range(LARGEST + 1)
    probability = np.array([math.exp(-mean) * mean**k / math.factorial(k) for k in numbers])
    n_bytes = np.floor(256 * probability)
    ends = np.cumsum(n_bytes).astype(np.int64)
    rest = np.cumsum(probability - n_bytes / 256)
    return Poisson(tuple(ends[: np.count_nonzero(n_bytes) - 1].tolist()), int(ends[-1]), rest / rest[-1])


def _draw_poisson(numbers: Whole, poisson: Poisson, rng: np.random.Generator) -> None:
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


def _draw_bytes(n: int, rng: np.random.Generator) -> Whole:
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


MAX_DRAWS = 20_000_000_000
"""The most blocks that are drawn in all resamples together, which takes some minutes."""

MAX_SUMS = 50_000_000
"""The most sums of counts in memory: counts times resamples times systems."""

MAX_TESTS = 500_000
"""The most paired tests that are done together: pairs of systems times scores."""

MAX_NULLS = 2_000_000_000
"""The most resamples of all these tests together, which take some minutes."""

BATCH = 2**19
"""How many of these sums of several systems are computed together; it does not affect the result."""

TIE = 1e-12
"""Differences closer than this count as equal: the same counts may be summed in another order."""


class Sums:
    """Sums of counts in several resamples, and their scores, which are kept unless there are many.

    Args:
        totals: (n_resamples, k) the sums.
        names: (k,) what each counts.
    """

    def __init__(self, totals: Floats, names: Sequence[str]) -> None:
        self._is_small = totals.size <= BATCH
        # Formulas take whole columns, which are faster if their values are side by side.
        columns = np.ascontiguousarray(totals.T) if self._is_small else totals.T
        self._columns = dict(zip(names, columns, strict=True))
        self._scores: dict[str, tuple[Metric, Floats]] = {}
        self.n_resamples = len(totals)

    def scores(self, metrics: Sequence[Metric]) -> Floats:
        """Return the scores of every resample, (n_metrics, n_resamples)."""
        scores = np.array([self._score(metric) for metric in metrics])
        return scores.reshape(len(metrics), self.n_resamples)

    def _score(self, metric: Metric) -> Floats:
        if not self._is_small:
            return metric.score_columns(self._columns)
        found = self._scores.get(metric.name)
        if found is None or found[0] is not metric:
            found = self._scores[metric.name] = metric, metric.score_columns(self._columns)
        return found[1]


def _group(metrics: Sequence[Metric], n_resamples: int) -> Iterator[Sequence[Metric]]:
    """Yield as many metrics at a time as their scores in all resamples take little memory."""
    n_together = max(1, BATCH // max(n_resamples, 1))
    return (metrics[start : start + n_together] for start in range(0, len(metrics), n_together))


def bootstrap_intervals(
    table: CountTable,
    metrics: Sequence[Metric],
    n_resamples: int,
    confidence: float,
    seed: int,
    known: Mapping[bytes, Sums] | None = None,
) -> dict[str, tuple[float, float]]:
    """Return the percentile interval of each score by the metric's name; NaN if it is 0/0 in a resample.

    Blocks are drawn by their place in the order of the digests of their gold.  Of blocks with the same gold, the order
    is that of the counts that a score is computed from: then neither the names of the units nor other scores matter.

    Args:
        table: the counts.
        metrics: the scores.
        n_resamples, confidence, seed: parameters of the bootstrap.
        known: sums of these resamples that are there already, by the order of the blocks, as bytes.
    """
    _check_resamples(n_resamples, table.n_blocks, len(table.names))
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
        drawn = (known or {}).get(own_order)
        if drawn is None:
            own_blocks = blocks[np.frombuffer(own_order, order.dtype)]
            drawn = Sums(sum_resamples(own_blocks, n_resamples, np.random.default_rng(seed)), table.names)
        for group in _group(those, n_resamples):
            intervals = percentile_intervals(drawn.scores(group), confidence).tolist()
            found |= {metric.name: (low, high) for metric, (low, high) in zip(group, intervals, strict=True)}
    return found


def _check_resamples(n_resamples: int, n_blocks: int, n_counts: int, n_systems: int = 1) -> None:
    """Check that there are not too many resamples for these blocks, counts and systems."""
    found = f"{n_resamples:,} resamples of {pluralize(n_blocks, 'block')}"
    of_systems = "" if n_systems == 1 else f" of {n_systems:,} systems"
    sizes = {
        f"{found} are {{:,}} draws": (n_resamples * n_blocks, MAX_DRAWS),
        f"{n_resamples:,} resamples of {pluralize(n_counts, 'count')}{of_systems} are {{:,}} sums": (
            n_resamples * n_counts * n_systems,
            MAX_SUMS,
        ),
    }
    for what, (size, limit) in sizes.items():
        if size > limit:
            raise RequestError(f"{what.format(size)} (expected at most {limit:,})")


def max_resamples(n_systems: int, n_scores: int, n_blocks: int, n_counts: int) -> int:
    """Return how many resamples the limits allow for paired tests of all pairs of systems."""
    n_tests = math.comb(n_systems, 2) * n_scores
    sizes = (MAX_DRAWS, n_blocks), (MAX_SUMS, n_counts * n_systems), (MAX_NULLS, n_tests)
    return min(limit // max(1, size) for limit, size in sizes)


def _check_tests(n_systems: int, n_scores: int, n_resamples: int) -> None:
    """Check that not too many pairs of systems are tested."""
    n_tests = math.comb(n_systems, 2) * n_scores
    found = f"{n_systems:,} systems have {pluralize(n_tests, 'paired test')} in {pluralize(n_scores, 'score')}"
    if n_tests > MAX_TESTS:
        raise RequestError(f"{found} (expected at most {MAX_TESTS:,})")
    if (n_nulls := n_tests * n_resamples) > MAX_NULLS:
        raise RequestError(f"{found}, and {n_nulls:,} resamples of these (expected at most {MAX_NULLS:,})")


def sum_resamples(blocks: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Sum the counts of resamples of blocks (n_blocks, k), drawn by their order; return (n_resamples, k) float64."""
    return multiply(draw_weights(len(blocks), n_resamples, rng), blocks)


def percentile_intervals(samples: Floats, confidence: float) -> Floats:
    """Return the quantiles of every row of samples (m, n) that leave (1 - confidence) / 2 on either side, (m, 2).

    They are NaN if a sample is NaN.
    """
    tail = (1 - confidence) / 2
    # As `np.quantile`, which imports masked arrays: a tenth of the time of NumPy's import.
    place = np.array([tail, 1 - tail]) * (samples.shape[1] - 1)
    below, above = np.floor(place).astype(np.int64), np.ceil(place).astype(np.int64)
    ordered = np.partition(samples, np.concatenate([below, above]), axis=1)  # NaN is last
    low, step, share = ordered[:, below], ordered[:, above] - ordered[:, below], place - below
    ends = np.where(share < 0.5, low + step * share, ordered[:, above] - step * (1 - share))
    return np.where(np.isnan(samples).any(axis=1, keepdims=True), math.nan, ends)


class Difference(NamedTuple):
    """The difference between the scores of two systems on the same units.

    Attributes:
        value: the score of the second minus the score of the first.
        low, high: the bootstrap percentile interval of the difference.
        p_bootstrap: p-value of the paired bootstrap, with the resampled differences shifted to mean 0 as null
            distribution; too small with few blocks (`benchmarks/coverage.py` measures by how much).
        p_randomization: p-value of approximate randomization, which swaps the outputs of the two systems by block.

    All but `value` are NaN if undefined.
    """

    value: float
    low: float
    high: float
    p_bootstrap: float
    p_randomization: float


def check_pair(first: CountTable, second: CountTable, n_scores: int, n_resamples: int) -> None:
    """Check that two systems can be compared by paired tests: that they have the same counts, units and blocks."""
    _check_tests(2, n_scores, n_resamples)
    _check_alike(first, second)
    _check_resamples(n_resamples, first.n_blocks, len(first.names), 2)


def compare_pairs(
    tables: Sequence[CountTable],
    metrics: Sequence[Metric],
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> dict[tuple[int, int], dict[str, Difference]]:
    """Compare every pair of systems by paired tests, for every metric by name.

    The same resamples are used for all systems (Koehn, 2004, section 4); the null distribution of the bootstrap is the
    shifted one (Efron and Tibshirani, 1993, chapter 16); approximate randomization follows Noreen (1989, chapter 2).

    Returns:
        The differences by the metric's name, for the numbers (i, j) of every pair of systems with i < j, j minus i.
    """
    _check_tests(len(tables), len(metrics), n_resamples)
    for other in tables[1:]:
        _check_alike(tables[0], other)
    if len(tables) < 2:
        return {}
    _check_resamples(n_resamples, tables[0].n_blocks, len(tables[0].names), len(tables))
    drawn = list(draw_systems(tables, n_resamples, seed))
    return {(i, j): drawn[i].compare(drawn[j], metrics, confidence) for i, j in combinations(range(len(tables)), 2)}


@dataclass(frozen=True)
class Drawn:
    """A system in all resamples, which are the same for all systems.

    Attributes:
        names: (k,) what is counted.
        totals: (k,) the sums of the counts of all blocks.
        observed: the same sums.
        n_blocks: the number of blocks.
        order: the order in which the blocks were drawn, as bytes.
        weighted: the sums of the drawn blocks.
        swapped: (n_resamples, k) the sums of the blocks whose outputs are swapped.
    """

    names: tuple[str, ...]
    totals: Floats
    observed: Sums
    n_blocks: int
    order: bytes
    weighted: Sums
    swapped: Floats

    def compare(self, other: Drawn, metrics: Sequence[Metric], confidence: float) -> dict[str, Difference]:
        """Compare another system with this one, for every metric by name."""
        one, two = (system.observed.scores(metrics)[:, 0] for system in (self, other))
        values = dict(zip((metric.name for metric in metrics), (two - one).tolist(), strict=True))
        if self.n_blocks < 2:  # a single block can't be resampled
            return {name: Difference(value, *[math.nan] * 4) for name, value in values.items()}
        moved = other.swapped - self.swapped
        first, second = Sums(self.totals + moved, self.names), Sums(other.totals - moved, self.names)
        rows: list[list[float]] = []
        for group in _group(metrics, len(moved)):
            bootstrap = other.weighted.scores(group) - self.weighted.scores(group)
            centred = bootstrap - bootstrap.mean(axis=1, keepdims=True)
            observed = np.array([values[metric.name] for metric in group])
            p_values = _p_values(centred, observed), _p_values(second.scores(group) - first.scores(group), observed)
            rows += np.column_stack([percentile_intervals(bootstrap, confidence), *p_values]).tolist()
        return {name: Difference(value, *row) for (name, value), row in zip(values.items(), rows, strict=True)}


def draw_systems(tables: Sequence[CountTable], n_resamples: int, seed: int) -> Iterator[Drawn]:
    """Draw resamples of systems with the same units and blocks, of as many systems at a time as memory is bounded to.

    Args:
        tables: their counts, in the same order; the digests of the first determine the order of the blocks.
        n_resamples: the number of resamples.
        seed: the random seed.
    """
    first = tables[0]
    order, n_blocks, names = first.order_blocks(), first.n_blocks, first.names
    n_together = max(2, BATCH // max(1, n_resamples * len(names)))
    for start in range(0, len(tables), n_together):
        together = tables[start : start + n_together]
        blocks = np.hstack([table.block_totals()[order] for table in together])
        rng = np.random.default_rng(seed)
        sums = [multiply(draw(n_blocks, n_resamples, rng), blocks) for draw in (draw_weights, draw_swaps)]
        weighted, swapped = (np.split(one, len(together), axis=1) for one in sums)
        for table, drawn, moved in zip(together, weighted, swapped, strict=True):
            totals = table.totals
            yield Drawn(names, totals, Sums(totals[None], names), n_blocks, order.tobytes(), Sums(drawn, names), moved)


def _check_alike(first: CountTable, second: CountTable) -> None:
    same_units = list(first.units) == list(second.units)
    alone = 0 if same_units else len(set(first.units) ^ set(second.units))
    if alone:
        raise RequestError(
            f"the two systems were not scored on the same units: {alone:,} were scored for only one of them"
        )
    if not same_units or not np.array_equal(first.blocks, second.blocks) or first.names != second.names:
        raise RequestError("the two results have different counts, or group the units into different blocks")


def _p_values(null: Floats, values: Floats) -> Floats:
    """Return the proportions of differences at least as large as the observed ones, each of which counts as one."""
    n_as_large = np.count_nonzero(np.abs(null) >= np.abs(values)[:, None] - TIE, axis=1)
    is_undefined = np.isnan(values) | np.isnan(null).any(axis=1)
    return np.where(is_undefined, math.nan, (1 + n_as_large) / (1 + null.shape[1]))
