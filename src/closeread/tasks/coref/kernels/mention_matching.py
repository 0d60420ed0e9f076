"""Matching of the mentions of key and response, by one of three rules.

Source: CorefUD's scorer (github.com/ufal/corefud-scorer, version 1), which finds the same pairs; the rules are those
of the CRAC shared tasks on multilingual coreference (2022: partial; 2023: head).

Conventions: mentions are columns; `document`, `start`, `end` (the last token) and `head` have one value per mention.
`parts` maps the index of each discontinuous mention to the (start, end) of its parts; such a mention consists of the
tokens of its parts only.  Codes are integers, equal for mentions that count as the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

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
    """Mentions of key and response that may match, and the share of the key mention's tokens that both have."""

    key: Ints
    response: Ints
    similarity: Floats


def match_mentions(
    key: Spans, response: Spans, matching: str = "exact", zeros: Pairs | None = None
) -> tuple[Ints, Ints]:
    """Assign a code to each mention of both sides; a key mention and a response mention share a code if they match.

    * `exact`: they have the same tokens.
    * `head`: mentions with the same tokens and the same head are matched first; the remaining mentions may match if
      they have the same head.
    * `partial`: mentions with the same tokens are matched first; a remaining response mention may match a key mention
      if its tokens are a subset of the key mention's tokens and include the key mention's head.

    Where several may match, pairs are chosen one to one so that the sum of their similarities is maximal; the
    similarity of a pair is the share of the key mention's tokens that both have.  Ties are broken by the positions of
    the mentions only.

    Args:
        key, response: the mentions of the same documents, with the same document numbers; with heads unless `matching`
            is exact.
        matching: one of `MATCHINGS`.
        zeros: pairs of zeros that may match, with similarities of their own; these are matched before all others.
    """
    ours, theirs = identify(key, response, matching)
    if zeros is not None:
        is_first = np.isin(zeros.key, _find_first(ours)) & np.isin(zeros.response, _find_first(theirs))
        pairs = Pairs(*(column[is_first] for column in zeros))
        ours, theirs = _join(ours, theirs, pairs, key, response)
    if matching != "exact":
        # Mentions that both sides have are already matched.
        first_key, first_response = _find_unmatched(ours, theirs), _find_unmatched(theirs, ours)
        candidates = _pair_by_head if matching == "head" else _pair_by_containment
        pairs = candidates(key, first_key, response, first_response)
        ours, theirs = _join(ours, theirs, pairs, key, response)
    return ours, theirs


def identify(key: Spans, response: Spans, matching: str) -> tuple[Ints, Ints]:
    """Assign codes to mentions, equal for those with the same tokens and, if `matching` is head, the same head."""
    columns = [_concatenate(key.document, response.document), _concatenate(key.start, response.start)]
    columns += [_concatenate(key.end, response.end), _number_gaps(key, response)]
    if matching == "head":
        columns.append(_concatenate(_get_heads(key), _get_heads(response)))
    codes = number_rows(columns)
    return codes[: len(key.start)], codes[len(key.start) :]


def _join(ours: Ints, theirs: Ints, pairs: Pairs, key: Spans, response: Spans) -> tuple[Ints, Ints]:
    """Match the best of some pairs, where one mention represents all with its code: give each pair a new code."""
    best = choose_best(pairs, _rank(key, np.unique(pairs.key)), _rank(response, np.unique(pairs.response)))
    n_codes = int(max(ours.max(initial=-1), theirs.max(initial=-1))) + 1
    new_code = n_codes + np.arange(len(best))
    joined = []
    for codes, mention in ((ours, pairs.key[best]), (theirs, pairs.response[best])):
        code_of = np.arange(n_codes)
        code_of[codes[mention]] = new_code
        joined.append(code_of[codes])
    return joined[0], joined[1]


def _concatenate(ours: Ints, theirs: Ints) -> Ints:
    return np.concatenate([ours, theirs])


def _get_heads(mentions: Spans) -> Ints:
    if mentions.head is None:
        raise ValueError("matching by heads needs the heads of the mentions")
    return mentions.head


def _number_gaps(key: Spans, response: Spans) -> Ints:
    """Number the patterns of tokens that mentions leave out between their first and last; 0 where there are none."""
    runs = {i: tuple(_merge_adjacent(parts)) for i, parts in key.parts.items()}
    runs |= {len(key.start) + i: tuple(_merge_adjacent(parts)) for i, parts in response.parts.items()}
    numbers = {shape: number for number, shape in enumerate(sorted(set(runs.values())), start=1)}
    shapes = np.zeros(len(key.start) + len(response.start), np.int64)
    for i, shape in runs.items():
        if len(shape) > 1:
            shapes[i] = numbers[shape]
    return shapes


def _merge_adjacent(parts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge parts that have no token between them."""
    runs: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if runs and start <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], max(end, runs[-1][1]))
        else:
            runs.append((start, end))
    return runs


def number_rows(columns: Sequence[Ints]) -> Ints:
    """Number the distinct rows from 0."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, numbers = np.unique(column, return_inverse=True)
        codes = np.unique(codes * len(values) + numbers, return_inverse=True)[1]
    return codes


def _find_first(codes: Ints) -> Ints:
    """Find the first mention of each code."""
    return np.unique(codes, return_index=True)[1]


def _find_unmatched(codes: Ints, others: Ints) -> Ints:
    """Find the first mention of each code that the other side lacks."""
    values, first = np.unique(codes, return_index=True)
    return first[~np.isin(values, others)]


def _rank(mentions: Spans, some: Ints) -> dict[int, int]:
    """Rank some mentions by document, start, end and number of tokens."""
    order = np.lexsort(
        (count_tokens(mentions)[some], mentions.end[some], mentions.start[some], mentions.document[some])
    )
    return {mention: rank for rank, mention in enumerate(some[order].tolist())}


def count_tokens(mentions: Spans) -> Ints:
    """Count the tokens of each mention, (n_mentions,)."""
    sizes = mentions.end - mentions.start + 1
    for i, parts in mentions.parts.items():
        sizes[i] = sum(end - start + 1 for start, end in _merge_adjacent(parts))
    return sizes


def count_shared_tokens(key: Spans, k: Ints, response: Spans, r: Ints) -> Ints:
    """Count the tokens in both mentions of each pair, (n_pairs,); their spans must overlap."""
    shared = np.minimum(key.end[k], response.end[r]) - np.maximum(key.start[k], response.start[r]) + 1
    for i in _find_discontinuous(key, k, response, r):
        shared[i] = len(_list_tokens(key, k[i]) & _list_tokens(response, r[i]))
    return shared


def _pair_by_head(key: Spans, ours: Ints, response: Spans, theirs: Ints) -> Pairs:
    """Pair the mentions with the same head."""
    heads = number_rows(
        [
            _concatenate(key.document[ours], response.document[theirs]),
            _concatenate(_get_heads(key)[ours], _get_heads(response)[theirs]),
        ]
    )
    wanted, found = heads[: len(ours)], heads[len(ours) :]
    order = np.argsort(found, kind="stable")
    low, high = (np.searchsorted(found[order], wanted, side) for side in ("left", "right"))
    which, place = expand_ranges(low, high - low)
    k, r = ours[which], theirs[order[place]]
    return Pairs(k, r, count_shared_tokens(key, k, response, r) / count_tokens(key)[k])


def _pair_by_containment(key: Spans, ours: Ints, response: Spans, theirs: Ints) -> Pairs:
    """Pair mentions where the response's contains the head of the key's, and no token outside it."""
    head = _get_heads(key)[ours]
    beyond = int(_concatenate(key.end, response.end).max(initial=0)) + 1
    places = response.document[theirs] * beyond + response.start[theirs]
    order = np.argsort(places, kind="stable")
    low = np.searchsorted(places[order], key.document[ours] * beyond + key.start[ours], "left")
    high = np.searchsorted(places[order], key.document[ours] * beyond + head, "right")
    which, place = expand_ranges(low, high - low)
    k, r = ours[which], theirs[order[place]]
    fits = (head[which] <= response.end[r]) & (response.end[r] <= key.end[k])
    k, r, head = k[fits], r[fits], head[which][fits]
    fits = np.ones(len(k), np.bool_)
    for i in _find_discontinuous(key, k, response, r):
        tokens = _list_tokens(response, r[i])
        fits[i] = head[i] in tokens and tokens <= _list_tokens(key, k[i])
    k, r = k[fits], r[fits]
    return Pairs(k, r, count_tokens(response)[r] / count_tokens(key)[k])


def _find_discontinuous(key: Spans, k: Ints, response: Spans, r: Ints) -> Iterator[int]:
    """Find the pairs with a discontinuous mention."""
    has_gap = np.isin(k, list(key.parts)) | np.isin(r, list(response.parts))
    return iter(np.flatnonzero(has_gap).tolist())


def _list_tokens(mentions: Spans, i: int) -> set[int]:
    parts = mentions.parts.get(int(i), ((int(mentions.start[i]), int(mentions.end[i])),))
    return {token for start, end in parts for token in range(start, end + 1)}


def choose_best(pairs: Pairs, key_rank: Mapping[int, int], response_rank: Mapping[int, int]) -> Ints:
    """Choose pairs one to one, with the largest sum of similarities."""
    if not len(pairs.key):
        return np.zeros(0, np.int64)
    rows = np.array([key_rank[k] for k in pairs.key.tolist()])
    columns = np.array([response_rank[r] for r in pairs.response.tolist()])
    groups = _find_components(rows, columns)
    order = np.argsort(groups, kind="stable")
    borders = np.flatnonzero(np.diff(groups[order], prepend=-1, append=-1))
    best = [_assign(group, rows, columns, pairs.similarity) for group in np.split(order, borders[1:-1])]
    return np.concatenate(best)


def _find_components(rows: Ints, columns: Ints) -> Ints:
    """Number the connected components of the pairs, where pairs that share a mention are connected."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_rows = int(rows.max()) + 1
    size = n_rows + int(columns.max()) + 1
    graph = coo_array((np.ones(len(rows)), (rows, columns + n_rows)), shape=(size, size))
    groups: Ints = connected_components(graph, directed=False)[1][rows].astype(np.int64)
    return groups


def _assign(group: Ints, rows: Ints, columns: Ints, similarity: Floats) -> Ints:
    """Choose pairs from one connected component."""
    if len(group) == 1:
        return group
    from scipy.optimize import linear_sum_assignment

    _, row = np.unique(rows[group], return_inverse=True)
    _, column = np.unique(columns[group], return_inverse=True)
    scores = np.zeros((row.max() + 1, column.max() + 1))
    scores[row, column] = similarity[group]
    which = np.full(scores.shape, -1)
    which[row, column] = group
    solution = which[linear_sum_assignment(scores, maximize=True)]
    # If nothing better is left, the solver also pairs mentions that may not match.
    assigned: Ints = solution[solution >= 0]
    return assigned
