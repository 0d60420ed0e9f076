"""Matching of mentions by heads, by parts, by minimum spans of the key, and of zeros by their dependencies.

Sources: CorefUD's scorer (github.com/ufal/corefud-scorer, version 1.2), which finds the same pairs; the rules are those
of the CRAC shared tasks on multilingual coreference (2022: partial; 2023: head; since 2024: zeros by dependencies).
Yu et al. (2023), The Universal Anaphora Scorer 2.0.

Conventions: codes are integers, (n_mentions,), equal for mentions that count as the same.  A zero is a mention whose
head is an empty node; its dependencies are pairs of a parent and a relation, of which it may have several.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, LimitError
from closeread.tasks.coref.empty_nodes import Zero, map_zeros
from closeread.tasks.coref.mention_table import MentionTable
from closeread.tasks.coref.spans import merge_adjacent

Spans = tuple[tuple[int, int], ...]
"""The first and last token of each run of adjacent tokens of a mention, in ascending order."""

DEPENDENCY_WEIGHT = 10
"""How much more the dependencies of zeros count than their parents alone."""

MAX_PAIRS = 1_000_000
"""The most pairs of mentions of a document that may match; a thousand mentions on both sides with one head have them.
"""

MAX_CELLS = 25_000_000
"""The largest matrix of mentions of key and response of a document that compete for matches."""

Codes = tuple[Ints, Ints]
"""Those of the mentions of key and response."""

NO_ZERO = Zero(-1, frozenset())
"""What a mention has that is not matched as a zero."""


class Candidate(NamedTuple):
    """A mention that may match others, in the order of the text; it stands for all mentions with its code.

    Attributes:
        position: its first token, last token and size.
        spans: its tokens.
        head: its head; its first token where heads are unknown.
        code: its code.
        document: its document.
        minimum: the tokens that a partial match has to contain: the head, or a minimum span; empty if neither is known.
        zero: its sentence and dependencies, if it is matched by these.
    """

    position: tuple[int, int, int]
    spans: Spans
    head: int
    code: int
    document: int
    minimum: Sequence[int]
    zero: Zero


Candidates = Sequence[Candidate]
Pairs = Iterator[tuple[Candidate, Candidate, float]]
"""Candidates of a document that may match, with their similarity above 0."""


def list_spans(table: MentionTable) -> list[Spans]:
    """Return the spans of each mention."""
    bounds = np.column_stack([table.start, table.end]).tolist()
    spans: list[Spans] = [((start, end),) for start, end in bounds]
    for row, parts in table.parts.items():
        spans[row] = tuple(merge_adjacent(parts))
    return spans


def count_tokens(spans: Spans) -> int:
    """Count the tokens of a mention."""
    return sum(end - start + 1 for start, end in spans)


def count_common_tokens(key: Spans, response: Spans) -> int:
    """Count the tokens in both mentions."""
    n_common = 0
    for key_start, key_end in key:
        for start, end in response:
            n_common += max(min(key_end, end) - max(key_start, start) + 1, 0)
    return n_common


def contains(spans: Spans, token: int) -> bool:
    """Return whether a mention has a token."""
    return any(start <= token <= end for start, end in spans)


def match_mentions(
    key: MentionTable,
    response: MentionTable,
    matching: str = "exact",
    *,
    by_dependency: bool = False,
) -> Codes:
    """Assign a code to each mention of both sides; a key mention and a response mention share a code if they match.

    * `exact`: they have the same tokens.
    * `head`: mentions with the same tokens and the same head are matched first; the remaining mentions may match if
      they have the same head.
    * `partial`: mentions with the same tokens are matched first; a remaining response mention may match a key mention
      if its tokens are a subset of the key mention's tokens and include the key mention's head, or its minimum span
      where the key has no heads.
    * `minimum`: as `partial`.

    Where several may match, pairs are chosen one to one so that the sum of their similarities is maximal; the
    similarity of a pair is the share of the key mention's tokens that both have.  Ties are broken by the positions of
    the mentions only.

    Args:
        key, response: the mentions of the same documents, which have what the matching needs (`require_heads`).
        matching: "exact", "head", "partial" or "minimum".
        by_dependency: whether zeros are matched before all others: the similarity of two zeros of a sentence is 10
            times the F1 of their dependencies plus the F1 of their parents.
    """
    codes = number_spans(key, response, matching)
    if by_dependency:
        zeros = map(list_zeros, (key, response), codes)
        codes = match_candidates(codes, zeros, pair_zeros)
    if matching != "exact":
        # Mentions that both sides have are already matched.
        matched = set(np.intersect1d(*codes).tolist())
        sides = []
        for table, codes_of_side in zip((key, response), codes, strict=True):
            candidates = list_candidates(table, codes_of_side, {})
            sides.append(sorted(mention for mention in candidates if mention.code not in matched))
        pair = pair_by_head if matching == "head" else pair_by_containment
        codes = match_candidates(codes, sides, pair)
    return codes


def number_spans(key: MentionTable, response: MentionTable, matching: str) -> Codes:
    """Assign codes to mentions, equal for those with the same tokens and, if `matching` is head, the same head."""
    numbers: dict[tuple[object, ...], int] = {}
    codes = []
    for table in (key, response):
        columns = [table.document.tolist(), list_spans(table)]
        if matching == "head" and table.head is not None:
            columns.append(table.head.tolist())
        codes_of_side = [
            numbers.setdefault(mention, len(numbers)) for mention in zip(*columns, strict=True)
        ]
        codes.append(np.array(codes_of_side, np.int64))
    return codes[0], codes[1]


def list_zeros(table: MentionTable, codes: Ints) -> Candidates:
    """List the first zero of each code, in the order of the text."""
    candidates = list_candidates(table, codes, map_zeros(table))
    zeros = [candidate for candidate in candidates if candidate.zero is not NO_ZERO]
    return sorted(zeros, key=lambda zero: zero.position)


def list_candidates(
    table: MentionTable, codes: Ints, zeros: Mapping[int, Zero]
) -> Iterator[Candidate]:
    """List the first mention of each code."""
    spans_by_row = list_spans(table)
    heads = table.start if table.head is None else table.head
    first_rows = np.unique(codes, return_index=True)[1]
    for row in np.sort(first_rows).tolist():
        spans = spans_by_row[row]
        head = int(heads[row])
        minimum = table.minimum.get(row, ()) if table.head is None else (head,)
        position = (spans[0][0], spans[-1][1], count_tokens(spans))
        code = int(codes[row])
        document = int(table.document[row])
        yield Candidate(position, spans, head, code, document, minimum, zeros.get(row, NO_ZERO))


def match_candidates(
    codes: Codes,
    sides: Iterable[Candidates],
    pair: Callable[[Candidates, Candidates], Pairs],
) -> Codes:
    """Match the best pairs of each document: all mentions with the codes of a pair get a new code in common."""
    by_document: dict[int, tuple[list[Candidate], list[Candidate]]] = {}
    for side, candidates in enumerate(sides):
        for candidate in candidates:
            by_document.setdefault(candidate.document, ([], []))[side].append(candidate)
    key_codes, response_codes = codes
    n_codes = 1 + int(np.concatenate(codes).max(initial=-1))
    new_key_codes = np.arange(n_codes)
    new_response_codes = np.arange(n_codes)
    for document, candidates_of_sides in by_document.items():
        similarities: dict[tuple[int, int], float] = {}
        for k, r, similarity in pair(*candidates_of_sides):
            similarities[k.code, r.code] = similarity
            if len(similarities) > MAX_PAIRS:
                noun = "pairs of mentions that may match"
                raise LimitError(document, len(similarities), noun, MAX_PAIRS)
        for k_code, r_code in choose_best(similarities, *candidates_of_sides, document):
            new_key_codes[k_code] = n_codes
            new_response_codes[r_code] = n_codes
            n_codes += 1
    return new_key_codes[key_codes], new_response_codes[response_codes]


def choose_best(
    similarities: Mapping[tuple[int, int], float],
    key: Candidates,
    response: Candidates,
    document: int,
) -> list[tuple[int, int]]:
    """Choose pairs of a document one to one, with the largest sum of their similarities.

    Of several best choices, it is that of SciPy's solver for all candidates in the order of the text, as in CorefUD's
    scorer.

    Args:
        similarities: those of the candidates that may match, by their codes.
        key, response: all candidates.
        document: the number of the document.
    """
    paired_key = {code for code, _ in similarities}
    paired_response = {code for _, code in similarities}
    if len(paired_key) == len(similarities) == len(paired_response):
        return list(similarities)
    if len(key) * len(response) > MAX_CELLS:
        # Without the others, the solver may make another best choice.
        key = [candidate for candidate in key if candidate.code in paired_key]
        response = [candidate for candidate in response if candidate.code in paired_response]
    n_cells = len(key) * len(response)
    if n_cells > MAX_CELLS:
        raise LimitError(document, n_cells, "pairs of mentions that compete for matches", MAX_CELLS)
    from scipy.optimize import linear_sum_assignment

    key_place = {candidate.code: place for place, candidate in enumerate(key)}
    response_place = {candidate.code: place for place, candidate in enumerate(response)}
    cost = np.zeros((len(key), len(response)))
    for (key_code, response_code), similarity in similarities.items():
        cost[key_place[key_code], response_place[response_code]] = -similarity
    places = zip(*linear_sum_assignment(cost), strict=True)
    # Where nothing better is left, the solver takes cells that are no pairs.
    return [(key[i].code, response[j].code) for i, j in places if cost[i, j] < 0]


def pair_by_head(key: Candidates, response: Candidates) -> Pairs:
    """Pair the mentions with the same head."""
    by_head: defaultdict[int, list[Candidate]] = defaultdict(list)
    for r in response:
        by_head[r.head].append(r)
    for k in key:
        for r in by_head.get(k.head, ()):
            yield k, r, count_common_tokens(k.spans, r.spans) / count_tokens(k.spans)


def pair_by_containment(key: Candidates, response: Candidates) -> Pairs:
    """Pair mentions where the response's contains the head or minimum span of the key's, and no token outside it."""
    starts = [r.position[0] for r in response]
    for k in key:
        if not k.minimum:
            continue
        first = bisect_left(starts, k.position[0])
        last = bisect_right(starts, min(k.minimum))
        for r in response[first:last]:
            n_tokens = count_tokens(r.spans)
            is_inside = count_common_tokens(k.spans, r.spans) == n_tokens
            if is_inside and all(contains(r.spans, token) for token in k.minimum):
                yield k, r, n_tokens / count_tokens(k.spans)


def pair_zeros(key: Candidates, response: Candidates) -> Pairs:
    """Pair the zeros of a sentence that have a parent in common."""
    by_sentence: defaultdict[int, list[Candidate]] = defaultdict(list)
    for r in response:
        by_sentence[r.zero.sentence].append(r)
    for k in key:
        for r in by_sentence.get(k.zero.sentence, ()):
            f1_of_parents = count_f1(list_parents(k.zero), list_parents(r.zero))
            if f1_of_parents:
                f1 = count_f1(k.zero.dependencies, r.zero.dependencies)
                yield k, r, f1_of_parents + DEPENDENCY_WEIGHT * f1


def list_parents(zero: Zero) -> Set[int]:
    """Return the parents of a zero."""
    return {parent for parent, _ in zero.dependencies}


def count_f1(key: Set[Hashable], response: Set[Hashable]) -> float:
    """Return the F1 of two sets."""
    n_common = len(key & response)
    if not n_common:
        return 0.0
    precision = n_common / len(key)
    recall = n_common / len(response)
    return 2 * precision * recall / (precision + recall)
