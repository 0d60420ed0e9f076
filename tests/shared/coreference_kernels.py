"""Counts and scores of the coreference kernels, and random documents for them.

A side is a list of documents, each a list of clusters, each a list of mentions, which are single characters.
"""

import numpy as np
from hypothesis import strategies as st

from closeread.arrays import ratio
from closeread.tasks.coref.metrics.duplicates import RepeatedMentions
from closeread.tasks.coref.metrics.entity import OF_BOTH, OF_SIDE, blanc_scores, count_overlaps
from closeread.tasks.coref.metrics.overlap import compare_entities

COUNTED = (*OF_BOTH, *OF_SIDE)
"""The metrics whose counts are numerator and denominator of recall and of precision."""


def compare_unique(key, response, n_documents):
    """Compare sides without repeated mentions; returns a function that counts a metric, given its name."""
    overlap = compare_entities(key, response, n_documents)
    return lambda metric: count_overlaps(metric, overlap, overlap)


def compare_as_reference(key, response, n_documents):
    """Compare sides with repeated mentions as the reference scorer does."""
    return RepeatedMentions((key, response), n_documents).count_as_reference


def count_sides(key, response, n_documents, compare=compare_unique):
    """Count every metric: (n_documents, 4), numerator and denominator of recall, then of precision; links of BLANC."""
    count = compare(key, response, n_documents)
    return {name: count(name) for name in (*COUNTED, "blanc")}


def score_sides(key, response, n_documents, blanc_edge="reference", compare=compare_unique):
    """Compute precision, recall and F1 of every metric, where 0/0 is 0."""
    sums = {
        name: found.sum(axis=0)
        for name, found in count_sides(key, response, n_documents, compare).items()
    }
    blanc = blanc_scores(sums.pop("blanc"), sums["mentions"][[0, 1, 3]], blanc_edge)
    made = {"blanc": np.nan_to_num(blanc)}
    for name, (found, of_key, right, of_response) in sums.items():
        recall, precision = np.nan_to_num([ratio(found, of_key), ratio(right, of_response)])
        f1 = np.nan_to_num(ratio(2 * precision * recall, precision + recall))
        made[name] = np.array([precision, recall, f1])
    return made


# A document has up to eight mentions, each in one of up to five clusters or in none.
MENTIONS = "abcdefgh"
CLUSTERED = st.lists(st.none() | st.integers(0, 4), min_size=8, max_size=8)
REPEATED = st.lists(st.tuples(st.sampled_from(MENTIONS), st.integers(0, 4)), max_size=6)


def clusters(numbers, more=()):
    """Return the clusters of a document, in order of their numbers, without empty ones."""
    placed = [(n, m) for m, n in zip(MENTIONS, numbers, strict=True) if n is not None] + [
        (n, m) for m, n in more
    ]
    return [[m for n, m in placed if n == number] for number in sorted({n for n, _ in placed})]


DOCUMENT = CLUSTERED.map(clusters)
PAIRS = st.lists(st.tuples(DOCUMENT, DOCUMENT), min_size=1, max_size=3)
REPEATING = st.builds(clusters, CLUSTERED, REPEATED)
REPEATING_PAIRS = st.lists(st.tuples(REPEATING, REPEATING), min_size=1, max_size=3)


def split_sides(pairs):
    """Turn pairs of documents into a key and a response."""
    return [list(documents) for documents in zip(*pairs, strict=True)]
