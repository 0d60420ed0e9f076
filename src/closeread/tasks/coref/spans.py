"""Spans of tokens: the first and the last token of a stretch of a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

Span = tuple[int, int]
"""A first and a last token."""


def merge_adjacent(spans: Iterable[Span]) -> list[Span]:
    """Return the runs of adjacent tokens that some spans cover."""
    runs: list[Span] = []
    for start, end in sorted(spans):
        if runs and start <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], max(end, runs[-1][1]))
        else:
            runs.append((start, end))
    return runs


def merge_runs(runs: Iterable[Span]) -> list[Span]:
    """Merge runs that touch; they are in ascending order."""
    merged: list[Span] = []
    for start, end in runs:
        if merged and merged[-1][1] + 1 == start:
            merged[-1] = merged[-1][0], end
        else:
            merged.append((start, end))
    return merged


def count_tokens(spans: Iterable[Span]) -> int:
    """Count the tokens of spans without common ones."""
    return sum(end - start + 1 for start, end in spans)


def count_common_tokens(spans: Iterable[Span], others: Sequence[Span]) -> int:
    """Count the tokens that spans and others have in common."""
    n_common = 0
    for start, end in spans:
        for other_start, other_end in others:
            n_common += max(min(end, other_end) - max(start, other_start) + 1, 0)
    return n_common


def contains(spans: Iterable[Span], token: int) -> bool:
    """Return whether a token is in any of some spans."""
    return any(start <= token <= end for start, end in spans)


def nth_token(spans: Sequence[Span], number: int) -> int:
    """Return a token of a mention by its number, from 1, which is not beyond the last."""
    token = spans[0][0] + number - 1
    for (_, end), (start, _) in pairwise(spans):
        if token > end:
            token += start - end - 1
    return token


def number_of_token(spans: Sequence[Span], token: int) -> int:
    """Return the number of a token among those of a mention, from 1."""
    tokens = [member for start, end in spans for member in range(start, end + 1)]
    return 1 + tokens.index(token)
