"""Array types, and the array operations that several kernels share."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class LimitError(ValueError):
    """A document, by its number from 0, asks for more work than a kernel does; raised before it starts."""

    def __init__(self, document: int, number: int, noun: str, limit: int) -> None:
        self.document = document
        self.excess = f"{number:,} {noun} (expected at most {limit:,})"
        super().__init__(f"document {document}: {self.excess}")


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """Numerator / denominator, NaN where both are 0: the one division of scoring code."""
    with np.errstate(invalid="ignore"):
        quotient: Floats = np.divide(
            np.asarray(numerator, np.float64),
            np.asarray(denominator, np.float64),
        )
    return quotient


def sum_rows(values: Floats) -> Floats:
    """Sum the rows of values (n, k), rounding each sum once, so that their order doesn't matter; return (k,)."""
    return np.array([math.fsum(column) for column in values.T.tolist()], np.float64)


def sum_groups(groups: Ints, values: Floats, n_groups: int) -> Floats:
    """Sum the values (n,) of each group (n,), whatever their order, with the same result; return (n_groups,).

    >>> sum_groups(np.array([1, 0, 1]), np.array([0.5, 2, 1]), 3).tolist()
    [2.0, 1.5, 0.0]
    """
    if not np.any(values % 1):
        # Sums of whole numbers are exact.
        return np.bincount(groups, values, n_groups).astype(np.float64)
    in_groups = values[np.argsort(groups, kind="stable")].tolist()
    ends = np.cumsum(np.bincount(groups, minlength=n_groups)).tolist()
    bounds = pairwise([0, *ends])
    return np.array([math.fsum(in_groups[start:end]) for start, end in bounds], np.float64)


def round_for_exact_sums(values: Floats, n_terms: int) -> Floats:
    """Round the values of each column of (n, k), so that sums of up to `n_terms` of them are exact in float64.

    Sums of fractions are rounded differently in another order, on another machine or with other threads.  Here, each
    value becomes a multiple of a power of two that is so large that all sums have at most 53 binary digits.  Whole
    numbers stay as they are if their sums stay below 2**53.
    """
    largest_sums = n_terms * np.abs(values).max(axis=0, initial=0)
    _, exponents = np.frexp(largest_sums)
    steps = np.ldexp(1.0, exponents - 53)
    rounded: Floats = np.rint(values / steps) * steps
    return rounded


def mark_run_starts(values: Ints) -> Mask:
    """Mark the first value of every run of equal values."""
    marks = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=marks[1:])
    return marks


def expand_ranges(begin: Ints, size: Ints) -> tuple[Ints, Ints]:
    """List the integers of ranges, of which begin and size are given: the range of each, and the integer itself.

    >>> range_number, integer = expand_ranges(np.array([5, 9, 2]), np.array([2, 0, 3]))
    >>> range_number.tolist(), integer.tolist()
    ([0, 0, 2, 2, 2], [5, 6, 2, 3, 4])
    """
    range_number = np.repeat(np.arange(len(begin)), size)
    # Counting on from the end of the range before, each range first jumps to where it begins.
    jump = begin - (np.cumsum(size) - size)
    return range_number, np.arange(len(range_number)) + np.repeat(jump, size)
