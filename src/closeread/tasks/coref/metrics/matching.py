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

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, LimitError
from closeread.tasks.coref.metrics.overlap import match_rows

MATCHINGS = ("exact", "head", "partial")
"""The rules by which matches are optimal; "craft" chooses them in the order of the text."""

WEIGHT = 10
"""How much more the dependencies of zeros count than parents alone."""

MAX_PAIRS = 1_000_000
"""The most pairs of mentions of a document that may match; a thousand mentions on both sides with one head have them.
"""

MAX_CELLS = 25_000_000
"""The largest matrix of mentions of key and response of a document that compete for matches."""

Runs = tuple[tuple[int, int], ...]
"""The first and last token of each run of adjacent tokens of a mention."""

Pairs = dict[tuple[int, int], float]
"""Mentions of key and response that may match, by their rows, and their similarity, which is above 0."""


class Spans(NamedTuple):
    """The mentions of one side."""

    document: Ints
    start: Ints
    end: Ints
    head: Ints | None = None
    parts: Mapping[int, Sequence[tuple[int, int]]] = {}
    minimum: Mapping[int, Sequence[int]] | None = None

    def list_runs(self) -> list[Runs]:
        """Return the runs of each mention."""
        runs: list[Runs] = [(span,) for span in zip(self.start.tolist(), self.end.tolist(), strict=True)]
        for row, parts in self.parts.items():
            runs[row] = tuple(merge_adjacent(parts))
        return runs


class Zero(NamedTuple):
    """A zero: the number of its sentence in the document, and its dependencies: a parent's token and a relation."""

    sentence: int
    dependencies: frozenset[tuple[int, str]]


class _Mention(NamedTuple):
    """A mention of a side; mentions are sorted by their places, and then by what else tells them apart."""

    place: tuple[int, int, int]
    runs: Runs
    head: int
    row: int
    document: int
    minimum: Sequence[int]

    @property
    def size(self) -> int:
        return self.place[2]


PairMentions = Callable[[Sequence[_Mention], Sequence[_Mention]], Iterable[tuple[_Mention, _Mention, float]]]
"""Yields mentions of a document that may match, with their similarity, given both sides in the order of the text."""


def merge_adjacent(parts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge parts that have no token between them."""
    runs: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if runs and start <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], max(end, runs[-1][1]))
        else:
            runs.append((start, end))
    return runs


def count_tokens(runs: Runs) -> int:
    """Count the tokens of a mention."""
    return sum(end - start + 1 for start, end in runs)


def count_shared_tokens(one: Runs, other: Runs) -> int:
    """Count the tokens in both mentions."""
    return sum(max(min(b, d) - max(a, c) + 1, 0) for a, b in one for c, d in other)


def match_mentions(
    key: Spans,
    response: Spans,
    matching: str = "exact",
    zeros: tuple[Mapping[int, Zero], Mapping[int, Zero]] | None = None,
) -> tuple[Ints, Ints]:
    """Assign a code to each mention of both sides; a key mention and a response mention share a code if they match.

    * `exact`: they have the same tokens.
    * `head`: mentions with the same tokens and the same head are matched first; the remaining mentions may match if
      they have the same head.
    * `partial`: mentions with the same tokens are matched first; a remaining response mention may match a key mention
      if its tokens are a subset of the key mention's tokens and include the key mention's head or minimum span.
    * `minimum`: as `partial`.
    * `craft`: mentions with the same tokens are matched first; a remaining response mention fits a key mention if one
      of its parts lies within the key mention's first part.  In the order of the text, each response mention takes the
      first key mention that it fits, unless an earlier one has taken it.

    Where several may match, pairs are chosen one to one so that the sum of their similarities is maximal; the
    similarity of a pair is the share of the key mention's tokens that both have.  Ties are broken by the positions of
    the mentions only.

    Args:
        key, response: the mentions of the same documents, with the same document numbers; for `head` with heads, for
            `partial` those of the key with heads or minimum spans, for `minimum` with minimum spans.
        matching: one of `MATCHINGS`, or "minimum" or "craft".
        zeros: the zeros of both sides by their rows, if these are to be matched before all others: the similarity of
            two zeros of a sentence is 10 times the F1 of their dependencies plus the F1 of their parents.
    """
    codes = identify(key, response, matching)
    if zeros is not None:
        own, other = (
            sorted((mention for mention in _list_first(spans, of) if mention.row in some), key=lambda one: one.place)
            for spans, of, some in zip((key, response), codes, zeros, strict=True)
        )
        codes = _join(codes, own, other, lambda ours, theirs: _pair_zeros(ours, zeros[0], theirs, zeros[1]))
    if matching != "exact":
        if key.head is None and (matching == "head" or (matching == "partial" and key.minimum is None)):
            raise ValueError("matching by heads needs the heads of the mentions")
        # Mentions that both sides have are already matched.
        known = [set(of.tolist()) for of in codes]
        own = sorted(one for one in _list_first(key, codes[0]) if int(codes[0][one.row]) not in known[1])
        other = sorted(one for one in _list_first(response, codes[1]) if int(codes[1][one.row]) not in known[0])
        rules = {"head": _pair_by_head, "craft": _pair_by_first_part}
        codes = _join(codes, own, other, rules.get(matching, _pair_by_containment))
    return codes


def identify(key: Spans, response: Spans, matching: str) -> tuple[Ints, Ints]:
    """Assign codes to mentions, equal for those with the same tokens and, if `matching` is head, the same head."""
    numbers: dict[tuple[int, Runs, int], int] = {}
    codes = []
    for spans in (key, response):
        heads = spans.head if matching == "head" else np.zeros(len(spans.start), np.int64)
        if heads is None:
            raise ValueError("matching by heads needs the heads of the mentions")
        rows = zip(spans.document.tolist(), spans.list_runs(), heads.tolist(), strict=True)
        codes.append(np.array([numbers.setdefault(row, len(numbers)) for row in rows], np.int64))
    return codes[0], codes[1]


def _list_first(spans: Spans, codes: Ints) -> Iterator[_Mention]:
    """List the first mention of each code."""
    runs, heads = spans.list_runs(), spans.start if spans.head is None else spans.head
    for row in np.sort(np.unique(codes, return_index=True)[1]).tolist():
        head = int(heads[row])
        minimum = (head,) if spans.minimum is None else spans.minimum.get(row, ())
        place = (runs[row][0][0], runs[row][-1][1], count_tokens(runs[row]))
        yield _Mention(place, runs[row], head, row, int(spans.document[row]), minimum)


def _join(
    codes: tuple[Ints, Ints], own: Iterable[_Mention], other: Iterable[_Mention], pair: PairMentions
) -> tuple[Ints, Ints]:
    """Match the best pairs of each document, where one mention represents all with its code: give them a new code."""
    ours, theirs = _group_by_document(own), _group_by_document(other)
    n_codes = int(max(of.max(initial=-1) for of in codes)) + 1
    renamed = np.arange(n_codes), np.arange(n_codes)
    for document in ours.keys() & theirs.keys():
        pairs: Pairs = {}
        for k, r, similarity in pair(ours[document], theirs[document]):
            pairs[k.row, r.row] = similarity
            if len(pairs) > MAX_PAIRS:
                raise LimitError(document, len(pairs), "pairs of mentions that may match", MAX_PAIRS)
        rows, columns = ([mention.row for mention in side] for side in (ours[document], theirs[document]))
        for k_row, r_row in choose_best(pairs, rows, columns, document):
            renamed[0][codes[0][k_row]] = renamed[1][codes[1][r_row]] = n_codes
            n_codes += 1
    return renamed[0][codes[0]], renamed[1][codes[1]]


def _group_by_document(mentions: Iterable[_Mention]) -> dict[int, list[_Mention]]:
    groups: defaultdict[int, list[_Mention]] = defaultdict(list)
    for mention in mentions:
        groups[mention.document].append(mention)
    return groups


def choose_best(pairs: Pairs, rows: Sequence[int], columns: Sequence[int], document: int) -> list[tuple[int, int]]:
    """Choose pairs of a document one to one, with the largest sum of their similarities.

    Of several best choices, it is that of SciPy's solver for all candidates in the order of the text, as in CorefUD's
    scorer.

    Args:
        pairs: the pairs.
        rows, columns: the candidates of key and response in the order of the text.
        document: the number of the document, for the error.
    """
    ours, theirs = ({pair[side] for pair in pairs} for side in (0, 1))
    if len(ours) == len(pairs) == len(theirs):
        return list(pairs)
    if len(rows) * len(columns) > MAX_CELLS:  # which best choice is made may then differ
        rows, columns = [row for row in rows if row in ours], [column for column in columns if column in theirs]
    if (n_cells := len(rows) * len(columns)) > MAX_CELLS:
        raise LimitError(document, n_cells, "pairs of mentions that compete for matches", MAX_CELLS)
    from scipy.optimize import linear_sum_assignment

    at_row, at_column = ({row: i for i, row in enumerate(side)} for side in (rows, columns))
    cost = np.zeros((len(rows), len(columns)))
    for (k, r), similarity in pairs.items():
        cost[at_row[k], at_column[r]] = -similarity
    # Where nothing better is left, the solver takes cells that are no pairs.
    return [(rows[i], columns[j]) for i, j in zip(*linear_sum_assignment(cost), strict=True) if cost[i, j] < 0]


def _pair_by_head(own: Sequence[_Mention], other: Sequence[_Mention]) -> Iterator[tuple[_Mention, _Mention, float]]:
    """Pair the mentions with the same head."""
    by_head: defaultdict[int, list[_Mention]] = defaultdict(list)
    for r in other:
        by_head[r.head].append(r)
    for k in own:
        for r in by_head.get(k.head, ()):
            yield k, r, count_shared_tokens(k.runs, r.runs) / k.size


def _pair_by_containment(
    own: Sequence[_Mention], other: Sequence[_Mention]
) -> Iterator[tuple[_Mention, _Mention, float]]:
    """Pair mentions where the response's contains the head or minimum span of the key's, and no token outside it."""
    starts = [r.place[0] for r in other]
    for k in own:
        if not k.minimum:
            continue
        low, high = bisect_left(starts, k.place[0]), bisect_right(starts, min(k.minimum))
        for r in other[low:high]:
            contains = all(any(start <= token <= end for start, end in r.runs) for token in k.minimum)
            if contains and count_shared_tokens(k.runs, r.runs) == r.size:
                yield k, r, r.size / k.size


def _pair_by_first_part(
    own: Sequence[_Mention], other: Sequence[_Mention]
) -> Iterator[tuple[_Mention, _Mention, float]]:
    """Pair each response mention with the first key mention that it fits, unless an earlier one has taken it."""
    parts = sorted((start, end, i) for i, r in enumerate(other) for start, end in r.runs)
    starts = [start for start, _, _ in parts]
    first: dict[int, _Mention] = {}
    for k in own:
        begin, last = k.runs[0]
        for _, end, i in parts[bisect_left(starts, begin) : bisect_right(starts, last)]:
            if end <= last:
                first.setdefault(i, k)
    taken: set[int] = set()
    for i, k in sorted(first.items()):
        if k.row not in taken:
            taken.add(k.row)
            yield k, other[i], 1.0


def _pair_zeros(
    own: Sequence[_Mention], of_key: Mapping[int, Zero], other: Sequence[_Mention], of_response: Mapping[int, Zero]
) -> Iterator[tuple[_Mention, _Mention, float]]:
    """Pair the zeros of a sentence that have a parent in common."""
    by_parent: defaultdict[tuple[int, int], dict[int, _Mention]] = defaultdict(dict)
    for r in other:
        for parent, _ in of_response[r.row].dependencies:
            by_parent[of_response[r.row].sentence, parent][r.row] = r
    for k in own:
        sentence, dependencies = of_key[k.row]
        parents = {parent for parent, _ in dependencies}
        candidates = {row: r for parent in parents for row, r in by_parent.get((sentence, parent), {}).items()}
        for row, r in candidates.items():
            its = of_response[row].dependencies
            yield k, r, _f1(parents, {parent for parent, _ in its}) + WEIGHT * _f1(dependencies, its)


def _f1(key: Collection[Hashable], response: Collection[Hashable]) -> float:
    shared = len(set(key) & set(response))
    precision, recall = shared / len(key), shared / len(response)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


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


def find_rows(wanted: Ints, codes: Ints) -> Ints:
    """Return the row of each wanted code, -1 if there is none; the last row if there are several."""
    row, place = match_rows(wanted, codes)
    found = np.full(len(wanted), -1)
    found[row] = place
    return found
