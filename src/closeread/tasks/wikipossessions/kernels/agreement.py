"""Agreement of two annotators beyond chance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa of two annotators' labels of the same items.

    Cohen (1960).  (observed - expected) / (1 - expected), where expected is the agreement of two annotators who draw
    their labels at random, each with the own frequencies.

    Args:
        first, second: (n_items,) the label that each gave each item; None is a label like any other.

    Returns:
        Between -1 and 1; NaN without items, and where both give one and the same label throughout.

    >>> cohen_kappa("aabb", "aabb"), cohen_kappa("aabb", "abab")
    (1.0, 0.0)
    """
    labels = {label: number for number, label in enumerate(dict.fromkeys([*first, *second]))}
    if not labels:
        return float("nan")
    one, two = (np.array([labels[label] for label in said], np.int64) for said in (first, second))
    observed = float((one == two).mean())
    shares = [np.bincount(said, minlength=len(labels)) / len(said) for said in (one, two)]
    expected = float(shares[0] @ shares[1])
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")
