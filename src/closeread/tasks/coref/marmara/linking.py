"""The chains of a document by a trained model, and the candidate links that these are made from.

Conventions: mentions are those of one document, in document order, and count from 0.  Two mentions that share a token
are never in one chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask
from closeread.records import Record
from closeread.tasks.coref.marmara.documents import Span
from closeread.tasks.coref.marmara.learning import PairWeights
from closeread.tasks.coref.marmara.pairs import Codes, Mentions, encode_pairs, mark_candidates, name_features

THRESHOLDS = {"svc": 0.0, "svr": 0.1}
"""The scores above which a pair is linked."""


class Chains:
    """The chains of a document, at first one a mention."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.chain: Ints = np.arange(len(spans))
        """The chain of each mention, (n_mentions,)."""
        self._spans = spans
        self._members = [[place] for place in range(len(spans))]
        # The tokens of a chain as bits of one number, so that two chains overlap if they have a bit in common.
        self._tokens = [(1 << end + 1) - (1 << start) for start, end in spans]

    def link(self, first: int, second: int) -> None:
        """Join the chains of two mentions, unless mentions of theirs overlap."""
        kept, joined = sorted((int(self.chain[first]), int(self.chain[second])))
        if kept == joined or self._tokens[kept] & self._tokens[joined]:
            return
        self.chain[self._members[joined]] = kept
        self._members[kept] += self._members[joined]
        self._tokens[kept] |= self._tokens[joined]
        self._members[joined] = []

    def list_chains(self) -> list[list[list[int]]]:
        """List the spans of chains of two or more mentions, as records of coreference have them."""
        return [
            [list(self._spans[place]) for place in sorted(members)] for members in self._members if len(members) > 1
        ]


def link_all(chains: Chains, second: int, scores: Floats, is_candidate: Mask) -> None:
    """Link a mention with all earlier ones whose score, (second,), is positive and that it may be linked with."""
    linked = np.flatnonzero(is_candidate & (scores > THRESHOLDS["svc"]))[::-1]
    # One mention of a chain stands for all: what overlapped still overlaps when the chains have grown.
    _, nearest = np.unique(chains.chain[linked], return_index=True)
    for first in linked[np.sort(nearest)].tolist():
        chains.link(first, second)


def link_best(chains: Chains, second: int, scores: Floats, is_candidate: Mask) -> None:
    """Link a mention with the earlier one of the best score, the nearest of equals, if that is above the threshold."""
    allowed = np.where(is_candidate, scores, -np.inf)[::-1]
    if len(allowed) and allowed[best := int(np.argmax(allowed))] > THRESHOLDS["svr"]:
        chains.link(second - 1 - best, second)


_CELLS = 2**18
"""How many pairs are scored at a time."""


class Model(NamedTuple):
    """A trained model: the score of each code, and the weights of vectors if it was trained with any."""

    codes: Floats
    weights: PairWeights | None


def iterate_scores(model: Model, mentions: Mentions) -> Iterator[tuple[Codes, Floats, Mask]]:
    """Yield the codes and scores of each mention's pairs with all earlier ones, and which may be linked."""
    start, n = 0, len(mentions)
    while start < n:
        stop = min(n, start + max(1, _CELLS // n))
        second, first = np.arange(start, stop)[:, None], np.arange(stop - 1)[None, :]
        codes = encode_pairs(mentions, first, second)
        values = model.codes[codes]
        vectors = mentions.vectors
        if model.weights is not None and vectors is not None:
            head, mean = model.weights.cosines
            firsts, seconds = slice(stop - 1), slice(start, stop)
            values += head * (vectors.head[seconds] @ vectors.head[firsts].T)
            values += mean * (vectors.mean[seconds] @ vectors.mean[firsts].T)
            values += vectors.values[firsts] @ model.weights.first
            values += (vectors.values[seconds] @ model.weights.second)[:, None]
        allowed = mark_candidates(mentions, first, second)
        for row, n_earlier in enumerate(range(start, stop)):
            yield codes[row, :n_earlier], values[row, :n_earlier], allowed[row, :n_earlier]
        start = stop


def build_chains(learner: str, model: Model, mentions: Mentions) -> list[list[list[int]]]:
    """Return the chains of two or more mentions: of all links of the classifier, or the best of the regression."""
    link = link_all if learner == "svc" else link_best
    chains = Chains(mentions.spans)
    for second, (_, scores, is_candidate) in enumerate(iterate_scores(model, mentions)):
        link(chains, second, scores, is_candidate)
    return chains.list_chains()


def iterate_links(document: str, model: Model, mentions: Mentions) -> Iterator[Record]:
    """Yield the candidate links of a document, in order of their second mentions, then of the first.

    A link has the spans of both mentions, the names of the features of A and B that are 1, and its score.
    """
    named = cache(name_features)
    spans = [list(span) for span in mentions.spans]
    for second, (codes, scores, allowed) in enumerate(iterate_scores(model, mentions)):
        columns = (np.flatnonzero(allowed), codes[allowed], scores[allowed])
        for first, code, score in zip(*(column.tolist() for column in columns), strict=True):
            pair = {"document": document, "first": spans[first], "second": spans[second]}
            yield {**pair, "features": named(code), "score": score}
