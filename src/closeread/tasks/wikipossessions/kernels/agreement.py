"""Chance-corrected agreement of two annotators."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa of two annotators' labels of the same items.

    Cohen (1960): (observed - expected) / (1 - expected), where expected is the agreement of two annotators who label at
    random, each with their own label frequencies.

    Args:
        first, second: (n_items,) the labels of each annotator; None is a label like any other.

    Returns:
        Between -1 and 1; NaN if there are no items, or if both annotators use one and the same label throughout.

    >>> cohen_kappa("aabb", "aabb"), cohen_kappa("aabb", "abab")
    (1.0, 0.0)
    """
    labels = {label: number for number, label in enumerate(dict.fromkeys([*first, *second]))}
    if not labels:
        return float("nan")
    one, two = (np.array([labels[label] for label in side], np.int64) for side in (first, second))
    observed = float((one == two).mean())
    frequencies = [np.bincount(side, minlength=len(labels)) / len(side) for side in (one, two)]
    expected = float(frequencies[0] @ frequencies[1])
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")
