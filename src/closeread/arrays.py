"""Array types, and the array operations that several kernels share."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]


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


PART_FACTORS = (2.0**20, 2.0**46, 2.0**72)
"""What values are multiplied by to split them into whole numbers, whose sums are exact."""

MAX_PRODUCTS = 2**18
"""The most multiplications that are done together: with more, OpenBLAS would start threads, which take more processor
time than they save here."""


def sum_rows(values: Floats) -> Floats:
    """Sum the rows of values (n, k), whatever their order, with the same result; return (k,).

    Sums of whole numbers are exact in float64.  Those of fractions, as in B³, are rounded differently in another order,
    on another machine or with other threads.  Here, a fraction is split into multiples of 2**-20, of 2**-46 and of
    2**-72; what remains is dropped.  Sums of each part are exact with fewer than 2**26 addends and sums below 2**33
    (beyond that, the last digits may depend on the order); the sums of the parts are added last.  So it is for
    `sum_groups` and `multiply`, too.
    """
    sums = [(columns, part.sum(axis=0)) for columns, part in _split(values)]
    return _add(sums, values.shape[1])


def sum_groups(groups: Ints, values: Floats, n_groups: int) -> Floats:
    """Sum the values (n,) of each group (n,), whatever their order, with the same result; return (n_groups,).

    >>> sum_groups(np.array([1, 0, 1]), np.array([0.5, 2, 1]), 3).tolist()
    [2.0, 1.5, 0.0]
    """
    sums = []
    for columns, part in _split(values[:, None]):
        sum_of_part = np.bincount(groups, part[:, 0], n_groups).astype(np.float64)
        sums.append((columns, sum_of_part[:, None]))
    return _add(sums, 1)[:, 0]


def multiply(weights: Iterable[Bytes], values: Floats) -> Floats:
    """Return the matrix product of weights (m, n), in blocks, and values (n, k), the same for any order of the n."""
    parts = _split(values)
    stacked = np.column_stack([part for _, part in parts])
    n_rows = max(1, MAX_PRODUCTS // max(1, stacked.size))
    products = []
    for block in weights:
        for first in range(0, len(block), n_rows):
            rows = block[first : first + n_rows].astype(np.float64)
            products.append(rows @ stacked)
    ends = np.cumsum([part.shape[1] for _, part in parts])[:-1]
    products_by_part = np.split(np.concatenate(products), ends, axis=1)
    sums = [
        (columns, product) for (columns, _), product in zip(parts, products_by_part, strict=True)
    ]
    return _add(sums, values.shape[1])


def _split(values: Floats) -> list[tuple[Ints, Floats]]:
    """Return the parts of values (n, k), the largest first, each with the columns where it is not 0 for all values.

    The first part has all columns.  Most counts are whole numbers, which have no other part.
    """
    parts = []
    remainder = values
    columns = np.arange(values.shape[1])
    for factor in PART_FACTORS:
        part = np.rint(remainder * factor) * (1 / factor)
        parts.append((columns, part))
        remainder = remainder - part
        is_unfinished = remainder.any(axis=0)
        if not is_unfinished.any():
            break
        remainder = remainder[:, is_unfinished]
        columns = columns[is_unfinished]
    return parts


def _add(parts: list[tuple[Ints, Floats]], k: int) -> Floats:
    """Add sums of parts, (..., k) but for columns that are 0, the smallest first."""
    total = np.zeros((*parts[0][1].shape[:-1], k))
    for columns, part in reversed(parts):
        total[..., columns] += part
    return total


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
