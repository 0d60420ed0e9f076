"""Counts and scores of the coreference kernels, and random documents for them.

A side is a list of documents, each a list of clusters, each a list of mentions, which are single characters.
"""

import numpy as np
from hypothesis import strategies as st

from closeread.arrays import ratio
from closeread.tasks.coref.metrics.entity import blanc_scores
from closeread.tasks.coref.metrics.overlap import overlap
from closeread.tasks.coref.metrics.scores import OF_BOTH, OF_SIDE, count_each_side, count_metric

COUNTED = (*OF_BOTH, *OF_SIDE)
"""The metrics whose counts are numerator and denominator of recall and of precision."""


def count_sides(key, response, n_documents, build=overlap):
    """Count every metric: (n_documents, 4), numerator and denominator of recall, then of precision; links of BLANC."""
    table = build(key, response, n_documents)
    return {
        **{name: count_each_side(name, table, table) for name in COUNTED},
        "blanc": count_links(table),
    }


def count_links(table):
    """Count the links of BLANC: (n_documents, 6)."""
    return np.column_stack(list(count_metric("blanc", table, table, (), "reference").values()))


def score_sides(key, response, n_documents, blanc_edge="reference", build=overlap):
    """Compute precision, recall and F1 of every metric, where 0/0 is 0."""
    sums = {
        name: found.sum(axis=0)
        for name, found in count_sides(key, response, n_documents, build).items()
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
