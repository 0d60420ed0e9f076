"""Krippendorff's alpha with sets of mentions as values, for all documents at once.

Sources: Krippendorff (1980), Content Analysis; for the distances Passonneau (2004), Computing reliability for
coreference annotation, and Passonneau, Habash and Rambow (2006), Inter-annotator agreement on a multilingual semantic
annotation task.

Conventions: alpha is 1 - observed / expected.  Sets without a common mention have distance 1 in every measure, so that
only pairs of sets that share a mention need to be looked at: a mention is in few different sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, expand_ranges, mark_run_starts
from closeread.tasks.coref.kernels.chain_values import Values

MEASURES = ("nominal", "iaa1", "iaa2")
"""The distances: 0 or 1, that of Passonneau (2004), and one that also takes the sizes of the sets into account."""

EQUAL, INSIDE, CROSSING = 1, 2 / 3, 1 / 3
"""Scores of two sets: if they are equal, if one is inside the other, and if they have enough mentions in common."""

IAA2: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "masi": lambda jaccard, score: 1 - jaccard * score,
    "distance_product": lambda jaccard, score: (1 - jaccard) * (1 - score),
}
"""Distances made of the Jaccard coefficient and the score of two sets, by name."""


class Disagreement(NamedTuple):
    """What alpha is made of, by document.

    Attributes:
        observed: (n_documents, n_measures) the sum of the distances between the values of each mention, over pairs of
            annotators and divided by the number of its values - 1.
        expected: (n_documents, n_measures) the sum of the distances between all values of the document, over pairs and
            divided by their number - 1.
        n_values: (n_documents,) the number of values.
    """

    observed: Floats
    expected: Floats
    n_values: Ints


def measure_distances(shared: Ints, one: Ints, other: Ints, *, enough: int, iaa2: str) -> Floats:
    """Measure the distances between different sets that share mentions.

    Args:
        shared: (n_pairs,) the number of common mentions, at least 1.
        one, other: (n_pairs,) the sizes of both sets.
        enough: how many common mentions give two sets that cross a score, from 1.
        iaa2: one of `IAA2`.

    Returns:
        (n_pairs, n_measures) float64, 0 for equal sets, at most 1; columns as in `MEASURES`.
    """
    score = np.where(shared >= enough, CROSSING, 0.0)
    score[shared == np.minimum(one, other)] = INSIDE
    equal = (shared == one) & (shared == other)
    score[equal] = EQUAL
    jaccard = shared / (one + other - shared)
    return np.column_stack([np.where(equal, 0.0, 1.0), 1 - score, IAA2[iaa2](jaccard, score)])


def count_disagreement(values: Values, document: Ints, n_documents: int, *, enough: int, iaa2: str) -> Disagreement:
    """Sum the distances between values, observed and expected.  Mentions with fewer than two values are left out.

    Args:
        values: the values of mentions.
        document: (n_mentions,) the document of each mention, from 0.
        n_documents: the number of documents.
        enough, iaa2: as for `measure_distances`.
    """
    rows = np.flatnonzero(mark_run_starts(values.mention) | mark_run_starts(values.value))
    mention, value = values.mention[rows], values.value[rows]
    times = np.diff(np.append(rows, len(values.mention)))
    size = np.bincount(value)
    per_mention = np.bincount(values.mention, minlength=len(document))
    first, second = _pair_rows(mention)
    place = document[mention]
    # Sets of a pair are numbered upwards, since the rows of a mention are sorted by value.
    pairs, at, shared = np.unique(value[first] * len(size) + value[second], return_inverse=True, return_counts=True)
    one, other = np.divmod(pairs, max(len(size), 1))
    distance = measure_distances(shared, size[one], size[other], enough=enough, iaa2=iaa2)

    kept = per_mention[mention] > 1
    total = np.bincount(place[kept], times[kept], n_documents)
    weight = np.zeros(len(rows))
    np.divide(times, per_mention[mention] - 1, out=weight, where=kept)
    observed = _sum_rows(place[first], (weight[first] * times[second])[:, None] * distance[at], n_documents)

    often = np.bincount(value[kept], times[kept], len(size))
    of_value = np.zeros(len(size), np.int64)
    of_value[value] = place
    # Every pair of values at distance 1, and then less for the sets that share mentions.
    apart = (total**2 - np.bincount(of_value, often**2, n_documents)) / 2
    nearer = (often[one] * often[other])[:, None] * (1 - distance)
    between = apart[:, None] - _sum_rows(of_value[one], nearer, n_documents)
    expected = np.zeros_like(between)
    np.divide(between, (total - 1)[:, None], out=expected, where=(apart > 0)[:, None])
    return Disagreement(observed, expected, total.astype(np.int64))


def _pair_rows(key: Ints) -> tuple[Ints, Ints]:
    """List all pairs of different rows with the same key, which is in ascending order; the first row comes first."""
    rows = np.arange(len(key))
    return expand_ranges(rows + 1, np.searchsorted(key, key, "right") - rows - 1)


def _sum_rows(index: Ints, values: Floats, n: int) -> Floats:
    """Sum rows of a matrix by index, (n, n_columns)."""
    return np.column_stack([np.bincount(index, column, n) for column in values.T])
