"""Which mentions may be in one chain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.tasks.coref.adjudication.annotators import Mention


def are_compatible(mentions: Sequence[Mention], first: Ints, second: Ints, incompatible: str) -> Mask:
    """Return whether pairs of different mentions may be in one chain.

    Args:
        mentions: all mentions.
        first, second: (n,) the pairs, by the place of their mentions.
        incompatible: which may not: those that share a token ("overlap"), or of which one has all tokens of the other
            ("containment").
    """
    start, end = (np.array([mention[i] for mention in mentions], np.int64) for i in (0, 1))
    has_gap = np.array([bool(mention.parts) for mention in mentions], bool)
    shares = (start[first] <= end[second]) & (start[second] <= end[first])
    if incompatible == "overlap":
        found = ~shares
    else:
        inside = (start[first] <= start[second]) & (end[second] <= end[first])
        found = ~(inside | ((start[second] <= start[first]) & (end[first] <= end[second])))
    for pair in np.flatnonzero(shares & (has_gap[first] | has_gap[second])).tolist():
        one, other = mentions[first[pair]].tokens, mentions[second[pair]].tokens
        found[pair] = not one & other if incompatible == "overlap" else not (one <= other or other <= one)
    return found
