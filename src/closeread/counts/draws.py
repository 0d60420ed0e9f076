"""Which blocks are drawn in each resample, and which are swapped: small whole numbers, in groups of resamples.

Conventions: the draws follow from a seed, the number of blocks and the number of resamples alone.  Each group of
resamples has a generator of its own, spawned from the seed's, so that groups may be drawn in any order, or at once.

How often n blocks are drawn in n draws with replacement is multinomial.  So are independent Poisson numbers with the
same mean, given their sum; and more draws may be added to them.  Each block therefore gets a Poisson number with a mean
a little below 1, which takes a random byte, and draws of single blocks make up the n.  The few resamples where the
Poisson numbers alone sum to more than n are drawn again, which leaves the distribution given any other sum as it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Whole

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
    for size, own in _group(n_blocks, n_resamples, rng):
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
    for size, own in _group(n_blocks, n_resamples, rng):
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


def _group(n_blocks: int, n_resamples: int, rng: np.random.Generator) -> Iterator[tuple[int, np.random.Generator]]:
    """Yield the number of resamples in each group, and its generator."""
    rows = max(ROWS, GROUP // max(n_blocks, 1))
    for start in range(0, n_resamples, rows):
        (seed,) = rng.bit_generator.seed_seq.spawn(1)  # type: ignore[attr-defined]
        yield min(rows, n_resamples - start), np.random.Generator(np.random.SFC64(seed))
