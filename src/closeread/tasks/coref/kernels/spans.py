"""The tokens of mentions, continuous or not.

Conventions: mentions are columns; `document`, `start`, `end` (the last token) and `head` have one value per mention.
`parts` maps the index of each discontinuous mention to the (start, end) of its parts; such a mention consists of the
tokens of its parts only.  `minimum` maps the index of each mention that has a minimum span to its tokens; it is None if
heads are the minimum spans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask, expand_ranges


class Spans(NamedTuple):
    """The mentions of one side."""

    document: Ints
    start: Ints
    end: Ints
    head: Ints | None = None
    parts: Mapping[int, Sequence[tuple[int, int]]] = {}
    minimum: Mapping[int, Sequence[int]] | None = None


def get_heads(mentions: Spans) -> Ints:
    """Return the heads, (n_mentions,).

    Raises:
        ValueError: they are unknown.
    """
    if mentions.head is None:
        raise ValueError("matching by heads needs the heads of the mentions")
    return mentions.head


def find_minima(mentions: Spans, some: Ints) -> tuple[Ints, Ints, Ints]:
    """Return those of some mentions that have a minimum span, and its first and last token."""
    if mentions.minimum is None:
        head = get_heads(mentions)[some]
        return some, head, head
    some = some[np.isin(some, list(mentions.minimum))]
    tokens = [mentions.minimum[i] for i in some.tolist()]
    return some, np.array([min(span) for span in tokens], np.int64), np.array([max(span) for span in tokens], np.int64)


def contain_minima(mentions: Spans, rows: Ints, others: Spans, its: Ints) -> Mask:
    """Return whether each of some mentions contains the minimum span of another one."""
    if others.minimum is None:
        return contain(mentions, rows, get_heads(others)[its])
    tokens = [others.minimum[i] for i in its.tolist()]
    which = np.repeat(np.arange(len(rows)), [len(span) for span in tokens])
    is_outside = ~contain(mentions, rows[which], np.fromiter(chain.from_iterable(tokens), np.int64, len(which)))
    contained: Mask = np.bincount(which, is_outside, len(rows)) == 0
    return contained


def count_tokens(mentions: Spans) -> Ints:
    """Count the tokens of each mention, (n_mentions,)."""
    sizes = mentions.end - mentions.start + 1
    for i, parts in mentions.parts.items():
        sizes[i] = sum(end - start + 1 for start, end in merge_adjacent(parts))
    return sizes


def count_shared_tokens(key: Spans, k: Ints, response: Spans, r: Ints) -> Ints:
    """Count the tokens in both mentions of each pair, (n_pairs,); their spans must overlap."""
    shared = np.minimum(key.end[k], response.end[r]) - np.maximum(key.start[k], response.start[r]) + 1
    rows = np.flatnonzero(has_gap(key, k) | has_gap(response, r))
    if len(rows):
        own, other = Runs(key), Runs(response)
        n_own, n_other = own.size[k[rows]], other.size[r[rows]]
        pair, number = expand_ranges(np.zeros(len(rows), np.int64), n_own * n_other)
        one = own.first[k[rows]][pair] + number // n_other[pair]
        two = other.first[r[rows]][pair] + number % n_other[pair]
        common = np.minimum(own.end[one], other.end[two]) - np.maximum(own.start[one], other.start[two]) + 1
        shared[rows] = np.bincount(pair, np.maximum(common, 0), len(rows))
    return shared


def contain(mentions: Spans, rows: Ints, token: Ints) -> Mask:
    """Return whether each of some mentions contains a token of its own."""
    runs = Runs(mentions)
    row, run = expand_ranges(runs.first[rows], runs.size[rows])
    inside = (runs.start[run] <= token[row]) & (token[row] <= runs.end[run])
    return np.bincount(row, inside, len(rows)) > 0


def has_gap(mentions: Spans, rows: Ints) -> Mask:
    """Return whether some mentions are discontinuous."""
    gaps = np.zeros(len(mentions.start), np.bool_)
    gaps[list(mentions.parts)] = True
    return gaps[rows]


class Runs:
    """The runs of adjacent tokens of mentions, one mention after the other.

    Args:
        mentions: the mentions.

    Attributes:
        first, size: (n_mentions,) the first run of each mention, and the number of its runs.
        start, end: (n_runs,) first and last token of each run.
    """

    def __init__(self, mentions: Spans) -> None:
        runs = {i: merge_adjacent(parts) for i, parts in mentions.parts.items()}
        self.size = np.ones(len(mentions.start), np.int64)
        self.size[list(runs)] = [len(found) for found in runs.values()]
        self.first = np.cumsum(self.size) - self.size
        self.start, self.end = (np.repeat(column, self.size) for column in (mentions.start, mentions.end))
        for i, found in runs.items():
            place = slice(self.first[i], self.first[i] + self.size[i])
            self.start[place], self.end[place] = np.array(found, np.int64).T


def merge_adjacent(parts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge parts that have no token between them."""
    runs: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if runs and start <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], max(end, runs[-1][1]))
        else:
            runs.append((start, end))
    return runs
