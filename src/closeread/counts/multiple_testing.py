"""Correction of p-values for several tests, so that the chance of any false discovery is that of a single test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

Correction = Literal["holm", "none"]
"""How p-values are corrected for several tests."""

SMALL = 0.05
"""The usual level of significance."""


def correct_by_holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's (1979) step-down procedure, whatever the dependence between the tests.

    A corrected p-value is the smallest level at which the procedure rejects the hypothesis: the smallest of m p-values
    times m, the next times m - 1, and so on, but at least the one before and at most 1.

    Args:
        p_values: the p-values of one family of tests; NaN stands for no test.

    Returns:
        The corrected p-values in the same order; NaN where there is no test.

    >>> [round(p, 3) for p in correct_by_holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, np.float64)
    tested = np.flatnonzero(~np.isnan(p))
    in_order = tested[np.argsort(p[tested], kind="stable")]
    corrected = p.copy()
    corrected[in_order] = np.minimum(np.maximum.accumulate(p[in_order] * np.arange(len(tested), 0, -1)), 1)
    return [float(value) for value in corrected]


def find_least(n_resamples: int, n_tests: int) -> float:
    """Return the smallest corrected p-value that these tests can have.

    >>> find_least(999, 20)
    0.02
    """
    return min(n_tests / (1 + n_resamples), 1.0)


def find_enough(n_tests: int, alpha: float) -> int:
    """Return the fewest resamples with which any of these tests can be significant after correction.

    >>> find_enough(66, 0.05)
    1319
    """
    return math.ceil(n_tests / alpha) - 1


def correct_decidable(p_values: Sequence[float], n_resamples: int, alpha: float) -> list[float]:
    """Return p-values corrected by Holm's procedure; all are NaN if the resamples are too few to decide anything."""
    n_tests = sum(not math.isnan(p) for p in p_values)
    return correct_by_holm(p_values) if find_least(n_resamples, n_tests) <= alpha else [math.nan] * len(p_values)
