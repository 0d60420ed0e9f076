"""Array types, and the few array operations that several kernels share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """Numerator / denominator, NaN where both are 0: the one division of scoring code."""
    top, bottom = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    with np.errstate(invalid="ignore"):
        quotient: Floats = np.divide(top, bottom)
    return quotient


def mark_run_starts(values: Ints) -> Mask:
    """Mark the first value of every run of equal values.

    >>> mark_run_starts(np.array([3, 3, 5, 3])).tolist()
    [True, False, True, True]
    """
    marks = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=marks[1:])
    return marks


def expand_ranges(begin: Ints, size: Ints) -> tuple[Ints, Ints]:
    """List the integers of several ranges, one range after the other.

    Args:
        begin: (n_ranges,) the first integer of each range.
        size: (n_ranges,) how many integers each range has, from 0.

    Returns:
        The range of every integer (its row in `begin`), and the integer itself, both (size.sum(),) int64.

    >>> which, integer = expand_ranges(np.array([5, 9, 2]), np.array([2, 0, 3]))
    >>> which.tolist(), integer.tolist()
    ([0, 0, 2, 2, 2], [5, 6, 2, 3, 4])
    """
    which = np.repeat(np.arange(len(begin)), size)
    # Counting on from the end of the range before, each range first jumps to where it begins.
    return which, np.arange(len(which)) + np.repeat(begin - np.cumsum(size) + size, size)
