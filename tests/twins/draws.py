"""The bootstrap as it is defined: as many blocks as there are, drawn one by one."""

import numpy as np


def draw_resample(n_blocks, rng):
    """Return how often each block is drawn."""
    weights = [0] * n_blocks
    for block in rng.integers(0, n_blocks, n_blocks).tolist():
        weights[block] += 1
    return weights


def sum_resamples(blocks, n_resamples, rng):
    """Return the sums of the counts of the drawn blocks."""
    return np.array(
        [np.array(draw_resample(len(blocks), rng)) @ blocks for _ in range(n_resamples)]
    )
