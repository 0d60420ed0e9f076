"""Words as arrays, and the edits between them.

Source: Levenshtein (1966).

Conventions: a word is a row of code points, padded with 0; an edit inserts, deletes or replaces a character.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from closeread.arrays import Floats, Ints

COUNTS = ("words", "correct", "edits", "characters")
"""The counts of a word: 1, 1 if it is correct, its edits, and the characters of the longer of both sides."""


def code_points(words: Sequence[str]) -> Ints:
    """Return the code points of words, (n, longest), padded with 0."""
    longest = max(map(len, words), default=0)
    points = np.zeros((len(words), longest), np.int64)
    for row, word in zip(points, words, strict=True):
        row[: len(word)] = list(map(ord, word))
    return points


def edit_counts(gold: Ints, system: Ints) -> Floats:
    """Count the edits that turn the words of a system into those of gold.

    Args:
        gold, system: (n, longest) code points.

    Returns:
        (n, len(COUNTS)) float64, columns in the order of `COUNTS`.
    """
    gold_length, system_length = (gold > 0).sum(axis=1), (system > 0).sum(axis=1)
    edits = edit_distances(gold, system)[gold_length, system_length, np.arange(len(gold))]
    columns = (np.ones(len(gold)), edits == 0, edits, np.maximum(gold_length, system_length))
    return np.column_stack(columns).astype(np.float64)


def edit_distances(gold: Ints, system: Ints) -> Ints:
    """The edits between the first i characters of one side and the first j of the other, (longest + 1, longest + 1, n).

    Takes time in proportion to the number of words and the product of the longest lengths.
    """
    distances = np.zeros((gold.shape[1] + 1, system.shape[1] + 1, len(gold)), np.int64)
    distances[:, 0] = np.arange(gold.shape[1] + 1)[:, None]
    distances[0] = np.arange(system.shape[1] + 1)[:, None]
    for i in range(gold.shape[1]):
        for j in range(system.shape[1]):
            replaced = distances[i, j] + (gold[:, i] != system[:, j])
            distances[i + 1, j + 1] = np.minimum(
                replaced, 1 + np.minimum(distances[i, j + 1], distances[i + 1, j])
            )
    return distances
