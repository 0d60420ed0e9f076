"""Matching of discontinuous mentions by the first part of the key's, as in the CRAFT shared task.

Sources: Baumgartner et al. (2019), CRAFT Shared Tasks 2019 Overview; Yu et al. (2023), The Universal Anaphora Scorer
2.0, whose "partial-craft" matching this is.

A response mention fits a key mention if one of its parts lies within the key mention's first part.  In the order of the
text, each response mention takes the first key mention that it fits, unless an earlier one has taken it.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Ints, expand_ranges, mark_run_starts
from closeread.tasks.coref.kernels.assignment import Pairs, check_pairs
from closeread.tasks.coref.kernels.spans import Runs, Spans, count_tokens


def pair_by_first_part(key: Spans, ours: Ints, response: Spans, theirs: Ints) -> Pairs:
    """Pair some mentions of key and response one to one; all have the same similarity.

    Raises:
        LimitError: too many pairs of mentions of a document may match.
    """
    own, other = Runs(key), Runs(response)
    first_end = own.end[own.first[ours]]
    row, run = expand_ranges(other.first[theirs], other.size[theirs])
    beyond = int(max(key.end.max(initial=0), response.end.max(initial=0))) + 1
    places = response.document[theirs][row] * beyond + other.start[run]
    order = np.argsort(places, kind="stable")
    begin = key.document[ours] * beyond
    low = np.searchsorted(places[order], begin + key.start[ours], "left")
    high = np.searchsorted(places[order], begin + first_end, "right")
    check_pairs(key.document[ours], high - low)
    which, place = expand_ranges(low, high - low)
    fits = other.end[run[order[place]]] <= first_end[which]
    k, r = ours[which[fits]], theirs[row[order[place[fits]]]]
    k, r = _take_first(k, r, _rank(key))
    r, k = _take_first(r, k, _rank(response))
    return Pairs(k, r, np.ones(len(k)))


def _take_first(one: Ints, other: Ints, rank: Ints) -> tuple[Ints, Ints]:
    """Keep the pair with the lowest rank of the first mention for each second mention."""
    order = np.lexsort((rank[one], other))
    order = order[mark_run_starts(other[order])]
    return one[order], other[order]


def _rank(mentions: Spans) -> Ints:
    """Rank the mentions by document, start, end and number of tokens."""
    order = np.lexsort((count_tokens(mentions), mentions.end, mentions.start, mentions.document))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank
