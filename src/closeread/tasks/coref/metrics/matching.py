"""Matching of the mentions of key and response: by the same tokens, by heads, by parts or by dependencies.

Sources: CorefUD's scorer (github.com/ufal/corefud-scorer, version 1.2), which finds the same pairs; the rules are those
of the CRAC shared tasks on multilingual coreference (2022: partial; 2023: head; since 2024: zeros by dependencies).
Yu et al. (2023), The Universal Anaphora Scorer 2.0.

Conventions: codes are integers, (n_mentions,), equal for mentions that count as the same.  A discontinuous mention
consists of the tokens of its parts only.  A zero is a mention whose head is an empty node; its dependencies are pairs
of a parent and a relation, of which it may have several.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, LimitError
from closeread.counts.procedure import name_documents
from closeread.exceptions import RequestError
from closeread.tasks.coref.documents import merge_adjacent
from closeread.tasks.coref.empty_nodes import Zero, find_zeros, map_zeros, share_numbering
from closeread.tasks.coref.mention_table import MentionTable
from closeread.tasks.coref.metrics.minimum_spans import NEEDED, minimum_codes
from closeread.tasks.coref.metrics.overlap import Overlap, Side, match_rows, mention_codes, overlap
from closeread.tasks.coref.metrics.repeats import (
    find_repeats,
    has_repeats,
    keep_as_reference,
    repeated_overlap,
)

MATCHINGS = ("exact", "head", "partial")

ZEROS = ("linear", "dependent", "corefud", "exclude")
BY_DEPENDENCY = ("dependent", "corefud")

WEIGHT = 10  # how much more the dependencies of zeros count than parents alone

MAX_PAIRS = 1_000_000
"""The most pairs of mentions of a document that may match; a thousand mentions on both sides with one head have them.
"""

# the largest matrix of mentions of key and response of a document that compete for matches
MAX_CELLS = 25_000_000

Runs = tuple[tuple[int, int], ...]
"""The first and last token of each run of adjacent tokens of a mention."""

Codes = tuple[Ints, Ints]  # of the mentions of key and response
# of mentions that may match, by their rows, with their similarity above 0
Pairs = dict[tuple[int, int], float]


class Mention(NamedTuple):
    """A mention of a side; mentions are sorted by first token, last token, size, and their other fields."""

    place: tuple[int, int, int]
    runs: Runs
    head: int
    row: int
    document: int
    minimum: Sequence[int]  # the tokens of its minimum span, or its head


PairMentions = Callable[
    [Sequence[Mention], Sequence[Mention]], Iterable[tuple[Mention, Mention, float]]
]
"""Yields mentions of a document that may match, with their similarity, given both sides in the order of the text."""


def list_runs(table: MentionTable) -> list[Runs]:
    """Return the runs of each mention."""
    runs: list[Runs] = [
        (span,) for span in zip(table.start.tolist(), table.end.tolist(), strict=True)
    ]
    for row, parts in table.parts.items():
        runs[row] = tuple(merge_adjacent(parts))
    return runs


def count_tokens(runs: Runs) -> int:
    """Count the tokens of a mention."""
    return sum(end - start + 1 for start, end in runs)


def count_shared_tokens(one: Runs, other: Runs) -> int:
    """Count the tokens in both mentions."""
    return sum(max(min(b, d) - max(a, c) + 1, 0) for a, b in one for c, d in other)


def match_mentions(
    key: MentionTable,
    response: MentionTable,
    matching: str = "exact",
    zeros: tuple[Mapping[int, Zero], Mapping[int, Zero]] | None = None,
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
        matching: one of `MATCHINGS`, or "minimum".
        zeros: the zeros of both sides by their rows, if these are to be matched before all others: the similarity of
            two zeros of a sentence is 10 times the F1 of their dependencies plus the F1 of their parents.
    """
    codes = identify(key, response, matching)
    if zeros is not None:
        zeros_of_key, zeros_of_response = zeros
        codes = _join(
            codes,
            sorted(
                (one for one in _list_first(key, codes[0]) if one.row in zeros_of_key),
                key=itemgetter(0),
            ),
            sorted(
                (one for one in _list_first(response, codes[1]) if one.row in zeros_of_response),
                key=itemgetter(0),
            ),
            lambda of_key, of_response: _pair_zeros(
                of_key, zeros_of_key, of_response, zeros_of_response
            ),
        )
    if matching != "exact":
        # Mentions that both sides have are already matched.
        known = set(codes[0].tolist()) & set(codes[1].tolist())
        of_key, of_response = (
            sorted(
                mention
                for mention in _list_first(table, of_side)
                if int(of_side[mention.row]) not in known
            )
            for table, of_side in zip((key, response), codes, strict=True)
        )
        pair = _pair_by_containment
        if matching == "head":
            pair = _pair_by_head
        codes = _join(codes, of_key, of_response, pair)
    return codes


def identify(key: MentionTable, response: MentionTable, matching: str) -> Codes:
    """Assign codes to mentions, equal for those with the same tokens and, if `matching` is head, the same head."""
    numbers: dict[tuple[int, Runs, int], int] = {}

    def number(table: MentionTable) -> Ints:
        heads = (
            table.head
            if matching == "head" and table.head is not None
            else np.zeros(len(table.start), np.int64)
        )
        rows = zip(table.document.tolist(), list_runs(table), heads.tolist(), strict=True)
        return np.array([numbers.setdefault(row, len(numbers)) for row in rows], np.int64)

    return number(key), number(response)


def _list_first(table: MentionTable, codes: Ints) -> Iterator[Mention]:
    """List the first mention of each code."""
    runs, heads = list_runs(table), table.start if table.head is None else table.head
    for row in np.sort(np.unique(codes, return_index=True)[1]).tolist():
        head = int(heads[row])
        minimum = (head,) if table.head is not None else table.minimum.get(row, ())
        place = (runs[row][0][0], runs[row][-1][1], count_tokens(runs[row]))
        yield Mention(place, runs[row], head, row, int(table.document[row]), minimum)


def _join(
    codes: Codes, key: Iterable[Mention], response: Iterable[Mention], pair: PairMentions
) -> Codes:
    """Match the best pairs of each document, where one mention represents all with its code: give them a new code."""
    by_document: defaultdict[int, tuple[list[Mention], list[Mention]]] = defaultdict(
        lambda: ([], [])
    )
    for side, mentions in enumerate((key, response)):
        for mention in mentions:
            by_document[mention.document][side].append(mention)
    n_codes = int(max(of.max(initial=-1) for of in codes)) + 1
    renamed = np.arange(n_codes), np.arange(n_codes)
    for document, sides in by_document.items():
        pairs: Pairs = {}
        for k, r, similarity in pair(*sides):
            pairs[k.row, r.row] = similarity
            if len(pairs) > MAX_PAIRS:
                raise LimitError(
                    document, len(pairs), "pairs of mentions that may match", MAX_PAIRS
                )
        rows, columns = ([mention.row for mention in side] for side in sides)
        for k_row, r_row in choose_best(pairs, rows, columns, document):
            renamed[0][codes[0][k_row]] = renamed[1][codes[1][r_row]] = n_codes
            n_codes += 1
    return renamed[0][codes[0]], renamed[1][codes[1]]


def choose_best(
    pairs: Pairs, rows: Sequence[int], columns: Sequence[int], document: int
) -> list[tuple[int, int]]:
    """Choose pairs of a document one to one, with the largest sum of their similarities.

    Of several best choices, it is that of SciPy's solver for all candidates in the order of the text, `rows` of the key
    and `columns` of the response, as in CorefUD's scorer.
    """
    paired = [{pair[side] for pair in pairs} for side in (0, 1)]
    if len(paired[0]) == len(pairs) == len(paired[1]):
        return list(pairs)
    if len(rows) * len(columns) > MAX_CELLS:  # which best choice is made may then differ
        rows, columns = (
            [row for row in side if row in of]
            for side, of in zip((rows, columns), paired, strict=True)
        )
    if (n_cells := len(rows) * len(columns)) > MAX_CELLS:
        raise LimitError(document, n_cells, "pairs of mentions that compete for matches", MAX_CELLS)
    from scipy.optimize import linear_sum_assignment

    at_row, at_column = ({row: i for i, row in enumerate(side)} for side in (rows, columns))
    cost = np.zeros((len(rows), len(columns)))
    for (k, r), similarity in pairs.items():
        cost[at_row[k], at_column[r]] = -similarity
    # Where nothing better is left, the solver takes cells that are no pairs.
    return [
        (rows[i], columns[j])
        for i, j in zip(*linear_sum_assignment(cost), strict=True)
        if cost[i, j] < 0
    ]


def _pair_by_head(
    key: Sequence[Mention], response: Sequence[Mention]
) -> Iterator[tuple[Mention, Mention, float]]:
    """Pair the mentions with the same head."""
    by_head: defaultdict[int, list[Mention]] = defaultdict(list)
    for r in response:
        by_head[r.head].append(r)
    for k in key:
        for r in by_head.get(k.head, ()):
            yield k, r, count_shared_tokens(k.runs, r.runs) / count_tokens(k.runs)


def _pair_by_containment(
    key: Sequence[Mention], response: Sequence[Mention]
) -> Iterator[tuple[Mention, Mention, float]]:
    """Pair mentions where the response's contains the head or minimum span of the key's, and no token outside it."""
    starts = [r.place[0] for r in response]
    for k in key:
        if not k.minimum:
            continue
        for r in response[bisect_left(starts, k.place[0]) : bisect_right(starts, min(k.minimum))]:
            contains = all(
                any(start <= token <= end for start, end in r.runs) for token in k.minimum
            )
            if contains and count_shared_tokens(k.runs, r.runs) == count_tokens(r.runs):
                yield k, r, count_tokens(r.runs) / count_tokens(k.runs)


def _pair_zeros(
    key: Sequence[Mention],
    of_key: Mapping[int, Zero],
    response: Sequence[Mention],
    of_response: Mapping[int, Zero],
) -> Iterator[tuple[Mention, Mention, float]]:
    """Pair the zeros of a sentence that have a parent in common."""
    by_parent: defaultdict[tuple[int, int], dict[int, Mention]] = defaultdict(dict)
    for r in response:
        for parent, _ in of_response[r.row].dependencies:
            by_parent[of_response[r.row].sentence, parent][r.row] = r
    for k in key:
        sentence, dependencies = of_key[k.row]
        parents = {parent for parent, _ in dependencies}
        candidates = {
            row: r for parent in parents for row, r in by_parent.get((sentence, parent), {}).items()
        }
        for row, r in candidates.items():
            its = of_response[row].dependencies
            yield (
                k,
                r,
                _f1(parents, {parent for parent, _ in its}) + WEIGHT * _f1(dependencies, its),
            )


def _f1(key: Collection[Hashable], response: Collection[Hashable]) -> float:
    shared = len(set(key) & set(response))
    precision, recall = shared / len(key), shared / len(response)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


class Places(NamedTuple):
    """The place of each mention, and the place on the other side where CorefUD's scorer looks for it."""

    key: Ints
    response: Ints
    key_found: Ints
    response_found: Ints
    zero_found: Ints  # where its score of zeros looks for the mentions of the key


def look_up(key: Ints, response: Ints, key_row: Ints, response_row: Ints) -> Places:
    """Find the places where the scorer looks for mentions, given their places and the rows of those that match."""
    one, other = key[key_row], response[response_row]
    one, other = one[one != other], other[one != other]
    found = np.arange(max(key.max(initial=-1), response.max(initial=-1)) + 1)
    found[one] = other
    found[other] = one
    return Places(
        key,
        response,
        found[key],
        found[response],
        np.where(np.isin(key, response), key, found[key]),
    )


def repeats(table: MentionTable) -> Ints:
    """Find the mentions of the same tokens, (n, 2): the first row of each, and a row that repeats it."""
    return find_repeats(
        Side(table.document, _code_mentions(table, table, "exact", "linear")[0], table.entity)
    )


def without_repeats(table: MentionTable) -> MentionTable:
    """Return the table with every mention in its first entity only (see `order_by_text`)."""
    table = order_by_text(table)
    again = repeats(table)[:, 1]
    return table.select(~np.isin(np.arange(len(table.entity)), again)) if len(again) else table


def order_by_text(table: MentionTable) -> MentionTable:
    """Number the entities in the order of their mentions in the text, and drop mentions that an entity repeats.

    The first mentions of two entities decide which of them comes first; if these are the same, the next ones do.  Of
    mentions with the same start, longer ones come first.  So the order does not depend on that of the file.  Tables
    without repeated mentions stay as they are.
    """
    if not len(repeats(table)):
        return table
    rows_by_entity: defaultdict[int, dict[tuple[int, int, Runs], int]] = defaultdict(dict)
    for row, runs in enumerate(list_runs(table)):
        place = runs[0][0], -count_tokens(runs), runs
        rows_by_entity[int(table.entity[row])].setdefault(place, row)

    def place_entity(entity: int) -> tuple[int, list[tuple[int, int, Runs]]]:
        rows = rows_by_entity[entity]
        return int(table.document[next(iter(rows.values()))]), sorted(rows)

    order = sorted(rows_by_entity, key=place_entity)
    rows = [row for entity in order for row in rows_by_entity[entity].values()]
    sizes = [len(rows_by_entity[entity]) for entity in order]
    return replace(
        table.take(np.array(rows, np.int64)),
        entity=np.repeat(np.arange(len(order)), sizes),
        n_entities=len(order),
        labels=table.labels and [table.labels[entity] for entity in order],
        rank=None,
    )


def count_dropped(key: MentionTable, response: MentionTable) -> int:
    """Count the repeated mentions that the reference scorer drops from a response."""
    tables = key, response
    columns = zip(tables, _code_mentions(key, response, "exact", "linear"), strict=True)
    sides = [Side(table.document, codes, table.entity) for table, codes in columns]
    return int((~keep_as_reference(*sides)).sum())


def have_common_mentions(
    key: MentionTable, response: MentionTable, matching: str, zeros: str
) -> bool:
    """Return whether any mention of the key matches one of the response."""
    if key.empty is not None or response.empty is not None:
        key, response = share_numbering(key, response)
    for rule in dict.fromkeys(("exact", matching)):
        columns = zip((key, response), _code_mentions(key, response, rule, zeros), strict=True)
        sides = [Side(table.document, codes, table.entity) for table, codes in columns]
        key_codes, response_codes = mention_codes(*sides)
        if np.isin(key_codes, response_codes).any():
            return True
    return False


def without_singletons(table: MentionTable) -> MentionTable:
    """Return the table without the entities of one mention."""
    return table.select(np.bincount(table.entity)[table.entity] > 1)


@dataclass(frozen=True, eq=False)
class MentionMatching:
    """The mentions that are scored, matched, with the same numbers for the same tokens on both sides."""

    key: MentionTable
    response: MentionTable
    sides: tuple[Side, Side]  # as the metrics take them, with a row for each of these mentions
    places: Places | None = None  # where CorefUD's scorer looks for them, if that is to be used

    def find_responses(self) -> Ints:
        """Return the response mention that each key mention matches, (n_key_mentions,); -1 for none."""
        if self.places is None:
            wanted, codes = mention_codes(*self.sides)
        else:
            wanted, codes = self.places.zero_found, self.places.response
        row_of = {code: row for row, code in enumerate(codes.tolist())}
        return np.array([row_of.get(code, -1) for code in wanted.tolist()], np.int64)

    @cached_property
    def has_repeats(self) -> bool:
        """Whether a mention of a side occurs more than once."""
        return any(map(has_repeats, self.sides))

    @property
    def lookups(self) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
        """Both sides twice: as the mentions of the key are found, and as those of the response are."""
        if self.places is None:
            return self.sides, self.sides
        (key, response), places = self.sides, self.places
        return (
            (key._replace(mention=places.key_found), response._replace(mention=places.response)),
            (key._replace(mention=places.key), response._replace(mention=places.response_found)),
        )

    def build_overlaps(self) -> tuple[Overlap, Overlap]:
        """Build the table of key and response for recall, and that for precision, which usually is the same."""
        n_documents = len(self.key.names)
        build = partial(repeated_overlap, rule="last") if self.has_repeats else overlap
        table = build(*self.sides, n_documents)
        if self.places is None:
            return table, table
        recall, precision = (build(*sides, n_documents) for sides in self.lookups)
        return replace(recall, mentions=table.mentions), precision


def match_sides(
    key: MentionTable,
    response: MentionTable,
    duplicates: str = "error",
    keep_singletons: str = "true",
    matching: str = "exact",
    zeros: str = "linear",
) -> MentionMatching:
    """Prepare key and response for the metrics: drop repeats, then singletons, then zeros, then match mentions.

    Options and exceptions are those of `count`.  With `duplicates="last"`, entities are in the order of the text (see
    `order_by_text`).  With `duplicates="reference"` a singleton is an entity that has one
    mention in the file.
    """
    require_heads(key, response, matching)
    if duplicates == "error":
        if len(repeats(response)):
            raise ValueError("the response has mentions that occur more than once")
        if len(repeats(key)):
            duplicates = "reference"
    elif duplicates == "first":
        key, response = without_repeats(key), without_repeats(response)
    if duplicates == "reference" and zeros == "corefud":
        raise RequestError(
            "zeros 'corefud' and duplicates 'reference' follow two different scorers; "
            "use duplicates 'last'"
        )
    if keep_singletons == "false":
        key, response = without_singletons(key), without_singletons(response)
    has_nodes = key.empty is not None or response.empty is not None
    if has_nodes:
        if matching == "minimum" and key.trees is not None:
            raise RequestError(
                "matching 'minimum' needs files without empty nodes, which constituents don't contain"
            )
        key, response = share_numbering(key, response)
        if zeros == "exclude":
            key, response = (table.select(~find_zeros(table)) for table in (key, response))
    with name_documents(key.names):
        codes = _code_mentions(key, response, matching, zeros)
    # Minimum spans follow coval, which keeps all repeats.
    is_reference = duplicates == "reference" and matching != "minimum"
    of_key, of_response = (
        Side(
            table.document,
            of_side,
            table.entity if table.rank is None or not is_reference else table.rank[table.entity],
        )
        for table, of_side in zip((key, response), codes, strict=True)
    )
    if is_reference:
        is_counted = keep_as_reference(of_key, of_response)
        response = response.select(is_counted)
        of_response = of_response.select(is_counted)
    places = None
    if has_nodes and zeros == "corefud":
        rows = match_rows(*mention_codes(of_key, of_response))
        places = look_up(*identify(key, response, matching), *rows)
    return MentionMatching(key, response, (of_key, of_response), places)


def require_heads(key: MentionTable, response: MentionTable, matching: str) -> None:
    """Check that mentions can be matched: by heads of both sides, or by heads or minimum spans of the key."""
    if matching == "minimum":
        if key.trees is None and not key.minimum and len(key.start):
            raise RequestError(f"matching 'minimum' needs {NEEDED}")
    elif matching != "exact" and (key.head is None or response.head is None):
        if matching == "partial" and key.head is None and key.minimum:
            return
        lacking = "key" if key.head is None else "response"
        having = "CorefUD has them, and JSON Lines with mentions [start, end, head]"
        having += "; minimum spans of the key do as well" if matching == "partial" else ""
        raise RequestError(
            f"matching '{matching}' needs heads on both sides, but the {lacking} has none ({having})"
        )


def _code_mentions(key: MentionTable, response: MentionTable, matching: str, zeros: str) -> Codes:
    """Assign codes to mentions, equal for mentions of a document that match."""
    by_dependency = zeros in BY_DEPENDENCY and key.empty is not None and response.empty is not None
    if matching == "exact" and not key.parts and not response.parts and not by_dependency:
        width = max(int(key.end.max(initial=0)), int(response.end.max(initial=0))) + 1
        return key.start * width + key.end, response.start * width + response.end
    if matching == "minimum" and key.trees is not None:
        return minimum_codes(key, response)
    of_zeros = (map_zeros(key), map_zeros(response)) if by_dependency else None
    return match_mentions(key, response, matching, of_zeros)
