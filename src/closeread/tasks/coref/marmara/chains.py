"""Chains from scored pairs of mentions: all links of the classifier, or the best link of the regression.

Conventions: mentions are those of one document, in document order, and count from 0.  Two mentions that share a token
are never in one chain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from closeread.arrays import Floats, Ints, Mask
from closeread.tasks.coref.marmara.spans import Span

THRESHOLDS = {"svc": 0.0, "svr": 0.1}
"""The scores above which a pair is linked."""


class Chains:
    """The chains of a document, at first one a mention.

    Args:
        spans: the mentions.
    """

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
    """Link a mention with all earlier ones whose score is positive, from the nearest back.

    Args:
        chains: the chains, which are changed.
        second: the mention.
        scores: the scores with each earlier mention, (second,).
        is_candidate: whether it may be linked with each, (second,).
    """
    linked = np.flatnonzero(is_candidate & (scores > THRESHOLDS["svc"]))[::-1]
    # One mention of a chain stands for all: what overlapped still overlaps when the chains have grown.
    _, nearest = np.unique(chains.chain[linked], return_index=True)
    for first in linked[np.sort(nearest)].tolist():
        chains.link(first, second)


def link_best(chains: Chains, second: int, scores: Floats, is_candidate: Mask) -> None:
    """Link a mention with the earlier one of the best score, the nearest of equals, if that is above the threshold.

    Arguments as those of `link_all`.
    """
    allowed = np.where(is_candidate, scores, -np.inf)[::-1]
    if len(allowed) and allowed[best := int(np.argmax(allowed))] > THRESHOLDS["svr"]:
        chains.link(second - 1 - best, second)
