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
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from closeread.arrays import LimitError
from closeread.counts.procedure import name_documents
from closeread.tasks.coref.documents import Document, Documents, EmptyNode
from closeread.tasks.coref.metrics.overlap import Pair
from closeread.tasks.coref.spans import Span, contains, count_common_tokens, count_tokens

DEPENDENCY_WEIGHT = 10
"""How much more the dependencies of zeros count than their parents alone."""

MAX_PAIRS = 1_000_000
"""The most pairs of mentions of a document that may match; a thousand mentions on both sides with one head have them.
"""

MAX_CELLS = 25_000_000
"""The largest matrix of mentions of key and response of a document that compete for matches."""

DocumentCodes = tuple[list[int], list[int]]
"""The codes of the mentions of a document, in the key and in the response."""

NO_ZERO = EmptyNode(-1, -1, ())
"""What a mention has that is not matched as a zero."""


class Candidate(NamedTuple):
    """A mention that may match others, in the order of the text; it stands for all mentions with its code.

    Attributes:
        position: its first token, last token and size.
        runs: its tokens.
        head: its head; its first token where heads are unknown.
        code: its code.
        minimum: the tokens that a partial match has to contain: the head, or a minimum span; empty if neither is known.
        zero: the empty node that is its head.
    """

    position: tuple[int, int, int]
    runs: tuple[Span, ...]
    head: int
    code: int
    minimum: Sequence[int]
    zero: EmptyNode


Candidates = Sequence[Candidate]
Pairs = Iterator[tuple[Candidate, Candidate, float]]
"""Candidates of a document that may match, with their similarity above 0."""


def match_mentions(
    key: Documents,
    response: Documents,
    matching: str = "exact",
    *,
    by_dependency: bool = False,
) -> Pair:
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
        key, response: the same documents, which have what the matching needs (`require_heads`).
        matching: "exact", "head", "partial" or "minimum".
        by_dependency: whether zeros are matched before all others: the similarity of two zeros of a sentence is 10
            times the F1 of their dependencies plus the F1 of their parents.
    """
    needs_heads = matching == "head"
    pair = pair_by_head if needs_heads else pair_by_containment

    def match_documents(key_document: Document, response_document: Document) -> DocumentCodes:
        codes = number_mentions(key_document, response_document, with_heads=needs_heads)
        if by_dependency:
            key_zeros = list_zeros(key_document, codes[0])
            response_zeros = list_zeros(response_document, codes[1])
            codes = match_candidates(codes, key_zeros, response_zeros, pair_zeros)
        if matching != "exact":
            # Mentions that both sides have are already matched.
            matched = set(codes[0]).intersection(codes[1])
            key_candidates = sorted(list_candidates(key_document, codes[0], matched))
            response_candidates = sorted(list_candidates(response_document, codes[1], matched))
            codes = match_candidates(codes, key_candidates, response_candidates, pair)
        return codes

    return join_codes(key, response, match_documents)


def number_spans(key: Documents, response: Documents, matching: str) -> Pair:
    """Assign codes to mentions, equal for those with the same tokens and, if `matching` is head, the same head."""
    return join_codes(key, response, partial(number_mentions, with_heads=matching == "head"))


def join_codes(
    key: Documents, response: Documents, match: Callable[[Document, Document], DocumentCodes]
) -> Pair:
    """Match the mentions of each document; those of different documents get different codes."""
    key_codes: list[int] = []
    response_codes: list[int] = []
    n_codes = 0
    for key_document, response_document in zip(key.documents, response.documents, strict=True):
        with name_documents([key_document.name]):
            codes = match(key_document, response_document)
        key_codes += [n_codes + code for code in codes[0]]
        response_codes += [n_codes + code for code in codes[1]]
        n_codes += 1 + max(chain(*codes), default=-1)
    return np.array(key_codes, np.int64), np.array(response_codes, np.int64)


def number_mentions(key: Document, response: Document, *, with_heads: bool) -> DocumentCodes:
    """Number the mentions of a document, equally if they have the same tokens, and the same head if asked for."""
    numbers: dict[object, int] = {}
    codes: list[list[int]] = []
    for document in (key, response):
        mentions = document.mentions
        keys: Iterable[object] = [mention.runs for mention in mentions]
        if with_heads:
            keys = [(mention.runs, mention.head) for mention in mentions]
        codes.append([numbers.setdefault(mention, len(numbers)) for mention in keys])
    return codes[0], codes[1]


def list_zeros(document: Document, codes: Sequence[int]) -> Candidates:
    """List the first zero of each code, in the order of the text."""
    candidates = list_candidates(document, codes)
    zeros = [candidate for candidate in candidates if candidate.zero is not NO_ZERO]
    return sorted(zeros, key=lambda zero: zero.position)


def list_candidates(
    document: Document, codes: Sequence[int], matched: Iterable[int] = ()
) -> Iterator[Candidate]:
    """List the first mention of each code that is not yet matched."""
    nodes = document.map_nodes()
    seen = set(matched)
    for code, mention in zip(codes, document.mentions, strict=True):
        if code in seen:
            continue
        seen.add(code)
        runs = mention.runs
        position = (runs[0][0], runs[-1][1], count_tokens(runs))
        head = mention.head_or_start
        minimum = mention.minimum if mention.head is None else (head,)
        yield Candidate(position, runs, head, code, minimum, nodes.get(head, NO_ZERO))


def match_candidates(
    codes: DocumentCodes,
    key: Candidates,
    response: Candidates,
    pair: Callable[[Candidates, Candidates], Pairs],
) -> DocumentCodes:
    """Match the best pairs of candidates: all mentions with the codes of a pair get a new code in common."""
    similarities: dict[tuple[int, int], float] = {}
    for k, r, similarity in pair(key, response):
        similarities[k.code, r.code] = similarity
        if len(similarities) > MAX_PAIRS:
            noun = "pairs of mentions that may match"
            raise LimitError(0, len(similarities), noun, MAX_PAIRS)
    key_codes, response_codes = codes
    n_codes = 1 + max(chain(*codes), default=-1)
    new_key_codes: dict[int, int] = {}
    new_response_codes: dict[int, int] = {}
    for k_code, r_code in choose_best(similarities, key, response):
        new_key_codes[k_code] = n_codes
        new_response_codes[r_code] = n_codes
        n_codes += 1
    return (
        [new_key_codes.get(code, code) for code in key_codes],
        [new_response_codes.get(code, code) for code in response_codes],
    )


def choose_best(
    similarities: Mapping[tuple[int, int], float], key: Candidates, response: Candidates
) -> list[tuple[int, int]]:
    """Choose pairs of a document one to one, with the largest sum of their similarities.

    Of several best choices, it is that of SciPy's solver for all candidates in the order of the text, as in CorefUD's
    scorer.

    Args:
        similarities: those of the candidates that may match, by their codes.
        key, response: all candidates.
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
        raise LimitError(0, n_cells, "pairs of mentions that compete for matches", MAX_CELLS)
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
            yield k, r, count_common_tokens(k.runs, r.runs) / count_tokens(k.runs)


def pair_by_containment(key: Candidates, response: Candidates) -> Pairs:
    """Pair mentions where the response's contains the head or minimum span of the key's, and no token outside it."""
    starts = [r.position[0] for r in response]
    for k in key:
        if not k.minimum:
            continue
        first = bisect_left(starts, k.position[0])
        last = bisect_right(starts, min(k.minimum))
        for r in response[first:last]:
            n_tokens = count_tokens(r.runs)
            is_inside = count_common_tokens(k.runs, r.runs) == n_tokens
            if is_inside and all(contains(r.runs, token) for token in k.minimum):
                yield k, r, n_tokens / count_tokens(k.runs)


def pair_zeros(key: Candidates, response: Candidates) -> Pairs:
    """Pair the zeros of a sentence that have a parent in common."""
    by_sentence: defaultdict[int, list[Candidate]] = defaultdict(list)
    for r in response:
        by_sentence[r.zero.sentence].append(r)
    for k in key:
        for r in by_sentence.get(k.zero.sentence, ()):
            f1_of_parents = count_f1(list_parents(k.zero), list_parents(r.zero))
            if f1_of_parents:
                f1 = count_f1(set(k.zero.dependencies), set(r.zero.dependencies))
                yield k, r, f1_of_parents + DEPENDENCY_WEIGHT * f1


def list_parents(zero: EmptyNode) -> Set[int]:
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
