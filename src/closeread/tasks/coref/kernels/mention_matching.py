"""Which mentions of a response are those of the key, by one of three rules.

Source: CorefUD's scorer (github.com/ufal/corefud-scorer, version 1), whose pairs these are; the rules are those of
the CRAC shared tasks on multilingual coreference (2022: partial; 2023: head).

Conventions: mentions are columns; `document`, `start`, `end` (the last token) and `head` hold a number for each.
`parts` gives the (start, end) of every part of the mentions that are discontinuous, by the mention's index; such a
mention has the tokens of its parts only.  Codes are integers, the same for mentions that count as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from closeread.arrays import Floats, Ints, expand_ranges

MATCHINGS = ("exact", "head", "partial")


class Spans(NamedTuple):
    """The mentions of one side."""

    document: Ints
    start: Ints
    end: Ints
    head: Ints | None = None
    parts: Mapping[int, Sequence[tuple[int, int]]] = {}


class Pairs(NamedTuple):
    """Mentions of key and response that may count as one, and how much of the key's mention both share."""

    key: Ints
    response: Ints
    similarity: Floats


def mention_codes(key: Spans, response: Spans, matching: str = "exact") -> tuple[Ints, Ints]:
    """A code for every mention of both sides; a mention of the key and one of the response share it if they match.

    * `exact`: they have the same tokens.
    * `head`: mentions with the same tokens and the same head are matched first; of the others, mentions with the same
      head may match.
    * `partial`: mentions with the same tokens are matched first; of the others, a mention of the response may match
      one of the key if its tokens are some of that one's, the key's head among them.

    Where several may match, pairs are chosen one to one so that the sum of their similarities is the largest; a pair's
    similarity is the share of the key's tokens that both have.  Of choices that are as good, one is taken that depends
    on nothing but the mentions' places.

    Args:
        key, response: the mentions of the same documents, numbered alike; with heads unless `matching` is exact.
        matching: one of `MATCHINGS`.
    """
    columns = [_joined(key.document, response.document), _joined(key.start, response.start)]
    columns += [_joined(key.end, response.end), _shapes(key, response)]
    if matching == "head":
        columns.append(_joined(_heads(key), _heads(response)))
    codes = _dense(columns)
    split = len(key.start)
    ours, theirs = codes[:split], codes[split:]
    if matching != "exact":
        # One mention stands for all that have its code; what both sides have is settled.
        first_key, first_response = _first_of(ours, theirs), _first_of(theirs, ours)
        candidates = _same_head if matching == "head" else _within
        pairs = candidates(key, first_key, response, first_response)
        chosen = _best(pairs, _order(key, first_key), _order(response, first_response))
        renamed = np.arange(len(codes))
        renamed[theirs[pairs.response[chosen]]] = ours[pairs.key[chosen]]
        theirs = renamed[theirs]
    return ours, theirs


def _joined(ours: Ints, theirs: Ints) -> Ints:
    return np.concatenate([ours, theirs])


def _heads(mentions: Spans) -> Ints:
    if mentions.head is None:
        raise ValueError("matching by heads needs the heads of the mentions")
    return mentions.head


def _shapes(key: Spans, response: Spans) -> Ints:
    """A number for the tokens that a mention leaves out between its first and last: 0 where there are none."""
    runs = {i: tuple(_runs(parts)) for i, parts in key.parts.items()}
    runs |= {len(key.start) + i: tuple(_runs(parts)) for i, parts in response.parts.items()}
    numbers = {shape: number for number, shape in enumerate(sorted(set(runs.values())), start=1)}
    shapes = np.zeros(len(key.start) + len(response.start), np.int64)
    for i, shape in runs.items():
        if len(shape) > 1:
            shapes[i] = numbers[shape]
    return shapes


def _runs(parts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts with those joined that have no token between them."""
    runs: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if runs and start <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], max(end, runs[-1][1]))
        else:
            runs.append((start, end))
    return runs


def _dense(columns: Sequence[Ints]) -> Ints:
    """A number from 0 for every distinct row."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, numbers = np.unique(column, return_inverse=True)
        codes = np.unique(codes * len(values) + numbers, return_inverse=True)[1]
    return codes


def _first_of(codes: Ints, others: Ints) -> Ints:
    """The first mention of every code that the other side lacks."""
    values, first = np.unique(codes, return_index=True)
    return first[~np.isin(values, others)]


def _order(mentions: Spans, chosen: Ints) -> dict[int, int]:
    """The rank of the chosen mentions by start, end and number of tokens."""
    order = np.lexsort(
        (_sizes(mentions)[chosen], mentions.end[chosen], mentions.start[chosen], mentions.document[chosen])
    )
    return {mention: rank for rank, mention in enumerate(chosen[order].tolist())}


def _sizes(mentions: Spans) -> Ints:
    sizes = mentions.end - mentions.start + 1
    for i, parts in mentions.parts.items():
        sizes[i] = sum(end - start + 1 for start, end in _runs(parts))
    return sizes


def _same_head(key: Spans, ours: Ints, response: Spans, theirs: Ints) -> Pairs:
    """The pairs with one head."""
    heads = _dense(
        [
            _joined(key.document[ours], response.document[theirs]),
            _joined(_heads(key)[ours], _heads(response)[theirs]),
        ]
    )
    wanted, found = heads[: len(ours)], heads[len(ours) :]
    order = np.argsort(found, kind="stable")
    low, high = (np.searchsorted(found[order], wanted, side) for side in ("left", "right"))
    which, place = expand_ranges(low, high - low)
    k, r = ours[which], theirs[order[place]]
    shared = np.minimum(key.end[k], response.end[r]) - np.maximum(key.start[k], response.start[r]) + 1
    for i in _with_gaps(key, k, response, r):
        shared[i] = len(_tokens(key, k[i]) & _tokens(response, r[i]))
    return Pairs(k, r, shared / _sizes(key)[k])


def _within(key: Spans, ours: Ints, response: Spans, theirs: Ints) -> Pairs:
    """The pairs of which the response's mention holds the key's head, and nothing that the key's does not hold."""
    head = _heads(key)[ours]
    beyond = int(_joined(key.end, response.end).max(initial=0)) + 1
    places = response.document[theirs] * beyond + response.start[theirs]
    order = np.argsort(places, kind="stable")
    low = np.searchsorted(places[order], key.document[ours] * beyond + key.start[ours], "left")
    high = np.searchsorted(places[order], key.document[ours] * beyond + head, "right")
    which, place = expand_ranges(low, high - low)
    k, r = ours[which], theirs[order[place]]
    fits = (head[which] <= response.end[r]) & (response.end[r] <= key.end[k])
    k, r, head = k[fits], r[fits], head[which][fits]
    fits = np.ones(len(k), np.bool_)
    for i in _with_gaps(key, k, response, r):
        tokens = _tokens(response, r[i])
        fits[i] = head[i] in tokens and tokens <= _tokens(key, k[i])
    k, r = k[fits], r[fits]
    return Pairs(k, r, _sizes(response)[r] / _sizes(key)[k])


def _with_gaps(key: Spans, k: Ints, response: Spans, r: Ints) -> Iterator[int]:
    """The pairs of which a mention is discontinuous."""
    has_gap = np.isin(k, list(key.parts)) | np.isin(r, list(response.parts))
    return iter(np.flatnonzero(has_gap).tolist())


def _tokens(mentions: Spans, i: int) -> set[int]:
    parts = mentions.parts.get(int(i), ((int(mentions.start[i]), int(mentions.end[i])),))
    return {token for start, end in parts for token in range(start, end + 1)}


def _best(pairs: Pairs, key_rank: Mapping[int, int], response_rank: Mapping[int, int]) -> Ints:
    """The pairs that are chosen: one to one, with the largest sum of similarities."""
    if not len(pairs.key):
        return np.zeros(0, np.int64)
    rows = np.array([key_rank[k] for k in pairs.key.tolist()])
    columns = np.array([response_rank[r] for r in pairs.response.tolist()])
    groups = _components(rows, columns)
    order = np.argsort(groups, kind="stable")
    borders = np.flatnonzero(np.diff(groups[order], prepend=-1, append=-1))
    chosen = [_assigned(group, rows, columns, pairs.similarity) for group in np.split(order, borders[1:-1])]
    return np.concatenate(chosen)


def _components(rows: Ints, columns: Ints) -> Ints:
    """A number for every pair, the same for pairs that have a mention in common, directly or by way of others."""
    n_rows = int(rows.max()) + 1
    size = n_rows + int(columns.max()) + 1
    graph = coo_array((np.ones(len(rows)), (rows, columns + n_rows)), shape=(size, size))
    groups: Ints = connected_components(graph, directed=False)[1][rows].astype(np.int64)
    return groups


def _assigned(group: Ints, rows: Ints, columns: Ints, similarity: Floats) -> Ints:
    """The pairs that are chosen of a group of pairs."""
    if len(group) == 1:
        return group
    _, row = np.unique(rows[group], return_inverse=True)
    _, column = np.unique(columns[group], return_inverse=True)
    scores = np.zeros((row.max() + 1, column.max() + 1))
    scores[row, column] = similarity[group]
    which = np.full(scores.shape, -1)
    which[row, column] = group
    chosen = which[linear_sum_assignment(scores, maximize=True)]
    # Where nothing better is left, the solver pairs mentions that may not match.
    assigned: Ints = chosen[chosen >= 0]
    return assigned
