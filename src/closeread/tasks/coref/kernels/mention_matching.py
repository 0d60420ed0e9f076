"""Matching of the mentions of key and response, by one of three rules.

Source: CorefUD's scorer (github.com/ufal/corefud-scorer, version 1), which finds the same pairs; the rules are those
of the CRAC shared tasks on multilingual coreference (2022: partial; 2023: head).

Conventions: mentions are columns, as in `spans`.  Codes are integers, equal for mentions that count as the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, expand_ranges
from closeread.tasks.coref.kernels.assignment import Pairs, Ranking, check_pairs, choose_best
from closeread.tasks.coref.kernels.craft_matching import pair_by_first_part
from closeread.tasks.coref.kernels.spans import (
    Spans,
    contain_minima,
    count_shared_tokens,
    count_tokens,
    find_minima,
    get_heads,
    has_gap,
    merge_adjacent,
)

MATCHINGS = ("exact", "head", "partial")
"""The rules by which matches are optimal; "craft" chooses them in the order of the text."""


class Zeros(NamedTuple):
    """The zeros of both sides, and those that may match.

    Attributes:
        key, response: the zeros of each side, by the index of the mention.
        pairs: the pairs of zeros that may match, with similarities of their own.
    """

    key: Ints
    response: Ints
    pairs: Pairs


def match_mentions(
    key: Spans, response: Spans, matching: str = "exact", zeros: Zeros | None = None
) -> tuple[Ints, Ints]:
    """Assign a code to each mention of both sides; a key mention and a response mention share a code if they match.

    * `exact`: they have the same tokens.
    * `head`: mentions with the same tokens and the same head are matched first; the remaining mentions may match if
      they have the same head.
    * `partial`: mentions with the same tokens are matched first; a remaining response mention may match a key mention
      if its tokens are a subset of the key mention's tokens and include the key mention's head or minimum span.
    * `minimum`: as `partial`.
    * `craft`: mentions with the same tokens are matched first; of the rest, a response mention matches a key mention as
      described in `craft_matching`.

    Where several may match, pairs are chosen one to one so that the sum of their similarities is maximal; the
    similarity of a pair is the share of the key mention's tokens that both have.  Ties are broken by the positions of
    the mentions only.

    Args:
        key, response: the mentions of the same documents, with the same document numbers; for `head` with heads, for
            `partial` those of the key with heads or minimum spans, for `minimum` with minimum spans.
        matching: one of `MATCHINGS`, or "minimum" or "craft".
        zeros: the zeros, if these are to be matched before all others, by similarities of their own.

    Raises:
        LimitError: too many pairs of mentions of a document may match.
    """
    ours, theirs = identify(key, response, matching)
    if zeros is not None:
        own, other = np.intersect1d(zeros.key, _find_first(ours)), np.intersect1d(zeros.response, _find_first(theirs))
        pairs = zeros.pairs.select(np.isin(zeros.pairs.key, own) & np.isin(zeros.pairs.response, other))
        ours, theirs = _join(ours, theirs, pairs, _rank(key, own), _rank(response, other))
    if matching != "exact":
        # Mentions that both sides have are already matched.
        own, other = _find_unmatched(ours, theirs), _find_unmatched(theirs, ours)
        pairs = CANDIDATES[matching](key, own, response, other)
        ours, theirs = _join(ours, theirs, pairs, _rank(key, own), _rank(response, other))
    return ours, theirs


def identify(key: Spans, response: Spans, matching: str) -> tuple[Ints, Ints]:
    """Assign codes to mentions, equal for those with the same tokens and, if `matching` is head, the same head."""
    columns = [_concatenate(key.document, response.document), _concatenate(key.start, response.start)]
    columns += [_concatenate(key.end, response.end), _number_gaps(key, response)]
    if matching == "head":
        columns.append(_concatenate(get_heads(key), get_heads(response)))
    codes = number_rows(columns)
    return codes[: len(key.start)], codes[len(key.start) :]


def _join(ours: Ints, theirs: Ints, pairs: Pairs, key: Ranking, response: Ranking) -> tuple[Ints, Ints]:
    """Match the best of some pairs, where one mention represents all with its code: give each pair a new code."""
    best = choose_best(pairs, key, response)
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


def _number_gaps(key: Spans, response: Spans) -> Ints:
    """Number the patterns of tokens that mentions leave out between their first and last; 0 where there are none."""
    runs = {i: tuple(merge_adjacent(parts)) for i, parts in key.parts.items()}
    runs |= {len(key.start) + i: tuple(merge_adjacent(parts)) for i, parts in response.parts.items()}
    numbers = {shape: number for number, shape in enumerate(sorted(set(runs.values())), start=1)}
    shapes = np.zeros(len(key.start) + len(response.start), np.int64)
    for i, shape in runs.items():
        if len(shape) > 1:
            shapes[i] = numbers[shape]
    return shapes


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


def _rank(mentions: Spans, some: Ints) -> Ranking:
    """Rank some mentions in their documents by start, end and number of tokens."""
    order = some[np.lexsort((count_tokens(mentions)[some], mentions.end[some], mentions.start[some]))]
    order = order[np.argsort(mentions.document[order], kind="stable")]
    document = mentions.document[order]
    rank = np.zeros(len(mentions.start), np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(document, document)
    n_documents = int(mentions.document.max(initial=-1)) + 1
    return Ranking(mentions.document, rank, np.bincount(document, minlength=n_documents))


def _pair_by_head(key: Spans, ours: Ints, response: Spans, theirs: Ints) -> Pairs:
    """Pair the mentions with the same head."""
    heads = number_rows(
        [
            _concatenate(key.document[ours], response.document[theirs]),
            _concatenate(get_heads(key)[ours], get_heads(response)[theirs]),
        ]
    )
    wanted, found = heads[: len(ours)], heads[len(ours) :]
    order = np.argsort(found, kind="stable")
    low, high = (np.searchsorted(found[order], wanted, side) for side in ("left", "right"))
    check_pairs(key.document[ours], high - low)
    which, place = expand_ranges(low, high - low)
    k, r = ours[which], theirs[order[place]]
    return Pairs(k, r, count_shared_tokens(key, k, response, r) / count_tokens(key)[k])


def _pair_by_containment(key: Spans, ours: Ints, response: Spans, theirs: Ints) -> Pairs:
    """Pair mentions where the response's contains the head or minimum span of the key's, and no token outside it."""
    ours, first, last = find_minima(key, ours)
    beyond = int(_concatenate(key.end, response.end).max(initial=0)) + 1
    places = response.document[theirs] * beyond + response.start[theirs]
    order = np.argsort(places, kind="stable")
    low = np.searchsorted(places[order], key.document[ours] * beyond + key.start[ours], "left")
    high = np.searchsorted(places[order], key.document[ours] * beyond + first, "right")
    counts = np.maximum(high - low, 0)  # a minimum span can be outside its mention
    check_pairs(key.document[ours], counts)
    which, place = expand_ranges(low, counts)
    k, r = ours[which], theirs[order[place]]
    fits = (last[which] <= response.end[r]) & (response.end[r] <= key.end[k])
    k, r = k[fits], r[fits]
    size = count_tokens(response)[r]
    rows = np.flatnonzero(has_gap(key, k) | has_gap(response, r))
    inside = count_shared_tokens(key, k[rows], response, r[rows]) == size[rows]
    fits = np.ones(len(k), np.bool_)
    fits[rows] = inside & contain_minima(response, r[rows], key, k[rows])
    k, r = k[fits], r[fits]
    return Pairs(k, r, size[fits] / count_tokens(key)[k])


CANDIDATES = {
    "head": _pair_by_head,
    "partial": _pair_by_containment,
    "minimum": _pair_by_containment,
    "craft": pair_by_first_part,
}
