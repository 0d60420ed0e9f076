"""Bootstrap sums of many units, beside plain drawing and beside the matrix product alone.

    python benchmarks/resampling.py

Plain drawing draws block after block, counts how often each was drawn, and multiplies.  The limit is NumPy's product of
weights that are there already, as float64.  Seconds are those of the processor, of all threads.  Writes
`results/resampling.json`.
"""

import statistics
import time

import numpy as np
from measure import kept

from closeread.counts.resampling import sum_resamples

SIZES = {1000: 1000, 10_000: 1000, 100_000: 500, 1_000_000: 100}
"""Resamples by the number of blocks."""

OURS, PLAIN, PRODUCT = "closeread", "plain drawing", "matrix product alone"
RUNS = 3


def invent(n_blocks):
    """Whole counts and a fraction of every block, (n_blocks, 4)."""
    rng = np.random.default_rng(n_blocks)
    whole = rng.integers(0, 7, (n_blocks, 3)).astype(np.float64)
    return np.column_stack([whole, whole[:, 0] / (1 + whole[:, 1])])


def draw_plainly(blocks, n_resamples, rng):
    """Sums of resamples, by drawing the number of every block."""
    n = len(blocks)
    return np.array(
        [
            np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64) @ blocks
            for _ in range(n_resamples)
        ]
    )


def time_processor(functions):
    """Median seconds of the processor of every function by name, called in turns."""
    measured = {name: [] for name in functions}
    for _ in range(RUNS):
        for name, function in functions.items():
            start = time.process_time()
            function()
            measured[name].append(time.process_time() - start)
    return {name: {"seconds": statistics.median(found)} for name, found in measured.items()}


def measure(n_blocks, n_resamples):
    """Figures by what was measured."""
    blocks, rng = invent(n_blocks), np.random.default_rng(0)
    weights = rng.poisson(1, (n_resamples, n_blocks)).astype(np.float64)
    return time_processor(
        {
            PLAIN: lambda: draw_plainly(blocks, n_resamples, np.random.default_rng(0)),
            OURS: lambda: sum_resamples(blocks, n_resamples, np.random.default_rng(0)),
            PRODUCT: lambda: weights @ blocks,
        }
    )


def main():
    """Measure all sizes and keep the figures."""
    kept(
        "resampling", {str(n): (PLAIN, measure(n, n_resamples)) for n, n_resamples in SIZES.items()}
    )


if __name__ == "__main__":
    main()
