"""Words as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from closeread.arrays import Ints


def code_points(words: Sequence[str]) -> Ints:
    """Return the code points of words, (n, longest), padded with 0."""
    longest = max(map(len, words), default=0)
    points = np.zeros((len(words), longest), np.int64)
    for row, word in zip(points, words, strict=True):
        row[: len(word)] = list(map(ord, word))
    return points
