"""The chains of a document by a trained model, and the candidate links that these are made from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask
from closeread.records import Record
from closeread.tasks.coref.marmara.chains import Chains, link_all, link_best
from closeread.tasks.coref.marmara.features import Codes, Mentions, encode_pairs, mark_candidates, name_features
from closeread.tasks.coref.marmara.pair_learning import PairWeights
from closeread.tasks.coref.marmara.vectors import MentionVectors

_CELLS = 2**18
"""How many pairs are scored at a time."""


class Model(NamedTuple):
    """A trained model: the score of each code, and the weights of vectors if it was trained with any."""

    codes: Floats
    weights: PairWeights | None


class Scores(NamedTuple):
    """The pairs of some mentions with all that precede the last of these.

    Attributes:
        second: the mentions, (n,).
        codes, values: the codes and the scores of pairs, (n, second[-1]).
        is_candidate: whether a pair may be linked, (n, second[-1]).
    """

    second: Ints
    codes: Codes
    values: Floats
    is_candidate: Mask


def iterate_scores(model: Model, mentions: Mentions, vectors: MentionVectors | None) -> Iterator[Scores]:
    """Score all pairs of a document, in order of their second mentions."""
    start, n = 0, len(mentions)
    while start < n:
        stop = min(n, start + max(1, _CELLS // n))
        second, first = np.arange(start, stop)[:, None], np.arange(stop - 1)[None, :]
        codes = encode_pairs(mentions, first, second)
        values = model.codes[codes]
        if model.weights is not None and vectors is not None:
            values += _score_vectors(model.weights, vectors, slice(stop - 1), slice(start, stop))
        yield Scores(second.ravel(), codes, values, (first < second) & mark_candidates(mentions, first, second))
        start = stop


def _score_vectors(weights: PairWeights, vectors: MentionVectors, first: slice, second: slice) -> Floats:
    """Return what vectors add to the scores of pairs, (n_second, n_first)."""
    head, mean = weights.cosines
    found: Floats = head * (vectors.head[second] @ vectors.head[first].T)
    found += mean * (vectors.mean[second] @ vectors.mean[first].T)
    found += vectors.values[first] @ weights.first
    found += (vectors.values[second] @ weights.second)[:, None]
    return found


def build_chains(
    learner: str, model: Model, mentions: Mentions, vectors: MentionVectors | None
) -> list[list[list[int]]]:
    """Link the mentions of a document: with all that the classifier says, or with the best one of the regression.

    Returns:
        The spans of each chain of two or more mentions.
    """
    link = link_all if learner == "svc" else link_best
    chains = Chains(mentions.spans)
    for scores in iterate_scores(model, mentions, vectors):
        for row, second in enumerate(scores.second.tolist()):
            link(chains, second, scores.values[row, :second], scores.is_candidate[row, :second])
    return chains.list_chains()


def iterate_links(document: str, model: Model, mentions: Mentions, vectors: MentionVectors | None) -> Iterator[Record]:
    """Yield the candidate links of a document, in order of their second mentions, then of the first.

    A link has the spans of both mentions, the names of the features of A and B that are 1, and its score.
    """
    names: dict[int, list[str]] = {}
    spans = [list(span) for span in mentions.spans]
    for scores in iterate_scores(model, mentions, vectors):
        rows, first = np.nonzero(scores.is_candidate)
        columns = (scores.second[rows], first, scores.codes[rows, first], scores.values[rows, first])
        for second, one, code, score in zip(*(column.tolist() for column in columns), strict=True):
            if code not in names:
                names[code] = name_features(code)
            yield {
                "document": document,
                "first": spans[one],
                "second": spans[second],
                "features": names[code],
                "score": score,
            }
