"""Matching of the mentions of key and response: by the same tokens, by heads, by parts or by dependencies.

Sources: CorefUD's scorer (github.com/ufal/corefud-scorer, version 1.2), which finds the same pairs; the rules are those
of the CRAC shared tasks on multilingual coreference (2022: partial; 2023: head; since 2024: zeros by dependencies).
Baumgartner et al. (2019), CRAFT Shared Tasks 2019 Overview; Yu et al. (2023), The Universal Anaphora Scorer 2.0, whose
"partial-craft" matching is "craft" here.

Conventions: mentions are columns; `document`, `start`, `end` (the last token) and `head` have one value per mention.
`parts` maps the index of each discontinuous mention to the (start, end) of its parts; such a mention consists of the
tokens of its parts only.  `minimum` maps the index of each mention that has a minimum span to its tokens; it is None if
heads are the minimum spans.  Codes are integers, equal for mentions that count as the same.  A zero is a mention whose
head is an empty node; its dependencies are pairs of a parent and a relation, of which it may have several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask, expand_ranges, mark_run_starts
from closeread.tasks.coref.metrics.assignment import Pairs, Ranking, check_pairs, choose_best
from closeread.tasks.coref.metrics.overlap import Overlap, Side, match_rows, overlap


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
    k, r = _take_first(k, r, _rank_in_text(key))
    r, k = _take_first(r, k, _rank_in_text(response))
    return Pairs(k, r, np.ones(len(k)))


def _take_first(one: Ints, other: Ints, rank: Ints) -> tuple[Ints, Ints]:
    """Keep the pair with the lowest rank of the first mention for each second mention."""
    order = np.lexsort((rank[one], other))
    order = order[mark_run_starts(other[order])]
    return one[order], other[order]


def _rank_in_text(mentions: Spans) -> Ints:
    """Rank the mentions by document, start, end and number of tokens."""
    order = np.lexsort((count_tokens(mentions), mentions.end, mentions.start, mentions.document))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank


WEIGHT = 10
"""How much more dependencies count than parents alone."""


class Dependencies(NamedTuple):
    """The dependencies of the zeros of one side, one a row, all (n_dependencies,).

    Attributes:
        mention: the index of the zero, a mention.
        document, sentence: the document, and the number of the sentence there.
        parent: the token of the parent; -1 for the root.
        relation: the number of the relation, the same on both sides.
    """

    mention: Ints
    document: Ints
    sentence: Ints
    parent: Ints
    relation: Ints


def pair_zeros(key: Dependencies, response: Dependencies) -> Pairs:
    """Pair the zeros of a sentence that have a parent in common.

    Their similarity is 10 times the F1 of their dependencies plus the F1 of their parents.

    Raises:
        LimitError: too many zeros have a parent in common.
    """
    split = len(key.mention)
    places = [np.concatenate(columns) for columns in zip(key[1:4], response[1:4], strict=True)]
    parent = number_rows(places)
    dependency = number_rows([parent, np.concatenate([key.relation, response.relation])])
    n_response = int(response.mention.max(initial=-1)) + 1
    check_pairs(key.document, np.bincount(parent[split:], minlength=int(parent.max(initial=-1)) + 1)[parent[:split]])

    def score(code: Ints) -> tuple[Ints, Floats]:
        return _score_shared((key.mention, code[:split]), (response.mention, code[split:]), n_response)

    pairs, similarity = score(parent)
    exact, by_dependency = score(dependency)
    similarity[np.searchsorted(pairs, exact)] += WEIGHT * by_dependency
    return Pairs(*np.divmod(pairs, max(n_response, 1)), similarity)


def _score_shared(key: tuple[Ints, Ints], response: tuple[Ints, Ints], n_response: int) -> tuple[Ints, Floats]:
    """Compute the F1 of the sets of codes of two zeros, for all pairs of zeros that share a code.

    Args:
        key, response: zeros and their codes, (n_dependencies,) each; a code may be repeated.
        n_response: more than the highest index of a zero of the response.

    Returns:
        The pairs as `key * n_response + response`, sorted, and the F1 of each.
    """
    (k, of_key), (r, of_response) = (np.unique(np.column_stack(side), axis=0).T for side in (key, response))
    key_row, response_row = match_rows(of_key, of_response)
    pairs, shared = np.unique(k[key_row] * n_response + r[response_row], return_counts=True)
    one, other = np.divmod(pairs, max(n_response, 1))
    precision, recall = shared / np.bincount(k)[one], shared / np.bincount(r)[other]
    return pairs, 2 * precision * recall / (precision + recall)


class Places(NamedTuple):
    """The places of the mentions of key and response, and where the scorer looks for them on the other side.

    Attributes:
        key, response: (n_mentions,) the place of each mention.
        key_found, response_found: (n_mentions,) the place on the other side where the scorer looks for each mention.
        zero_found: (n_key_mentions,) the same, where its score of zeros looks.
    """

    key: Ints
    response: Ints
    key_found: Ints
    response_found: Ints
    zero_found: Ints


def look_up(key: Ints, response: Ints, key_row: Ints, response_row: Ints) -> Places:
    """Find where the scorer looks for mentions.

    Args:
        key, response: (n_mentions,) the place of each mention.
        key_row, response_row: (n_pairs,) the mentions that match.
    """
    one, other = key[key_row], response[response_row]
    one, other = one[one != other], other[one != other]
    found = np.arange(max(key.max(initial=-1), response.max(initial=-1)) + 1)
    found[one] = other
    found[other] = one
    return Places(key, response, found[key], found[response], np.where(np.isin(key, response), key, found[key]))


@dataclass(frozen=True, eq=False)
class DirectedOverlap(Overlap):
    """An overlap by the mentions that the scorer finds for those of the key; `mentions` counts those that match.

    Attributes:
        backward: the overlap by the mentions that it finds for those of the response.
    """

    is_directed = True
    backward: Overlap

    @property
    def for_precision(self) -> Overlap:
        """The table of precision: the overlap of the response's mentions, transposed."""
        return self.backward.transposed


def direct_sides(key: Side, response: Side, places: Places) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
    """Return both sides twice: with the codes that the scorer finds for the key's mentions, and the response's."""

    def recode(of_key: Ints, of_response: Ints) -> tuple[Side, Side]:
        return Side(key.document, of_key, key.entity), Side(response.document, of_response, response.entity)

    return recode(places.key_found, places.response), recode(places.key, places.response_found)


def directed_overlap(key: Side, response: Side, places: Places, n_documents: int) -> DirectedOverlap:
    """Build the tables of key and response.

    Args:
        key, response: the mentions, with equal codes for those that match.
        places: their places.
        n_documents: the number of documents.
    """

    forward, backward = (overlap(*sides, n_documents) for sides in direct_sides(key, response, places))
    mentions = overlap(key, response, n_documents).mentions
    return DirectedOverlap(**{**vars(forward), "mentions": mentions}, backward=backward)


def find_rows(wanted: Ints, codes: Ints) -> Ints:
    """Return the row of each wanted code, -1 if there is none; the last row if there are several."""
    row, place = match_rows(wanted, codes)
    found = np.full(len(wanted), -1)
    found[row] = place
    return found


CANDIDATES = {
    "head": _pair_by_head,
    "partial": _pair_by_containment,
    "minimum": _pair_by_containment,
    "craft": pair_by_first_part,
}
