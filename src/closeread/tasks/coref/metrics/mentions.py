"""Metrics of mentions, anaphors and relations, which are computed only if they are selected.

Mention overlap ratio (MOR): how many tokens of the mentions are found, whatever their entities.  Mentions are mapped
one to one so that the tokens in both mentions of a pair are as many as possible; how mentions match for other metrics
does not matter.  Anaphor-decomposable score of zeros: the share of zero anaphors that have a right antecedent.  The
first mention of an entity, in the order of the text, is no anaphor, and all others are.  An anaphor of the key is right
if its match is an anaphor, and if the entity of the match contains the match of an earlier mention of the same key
entity.

Source: Žabokrtský et al. (2022), Findings of the CRAC shared task on multilingual coreference resolution; the counts
are those of CorefUD's scorer (github.com/ufal/corefud-scorer, version 1.2).

Conventions: each function returns counts of every document, (n_documents, 3): in both sides, in the key, in the
response.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask, expand_ranges, sum_groups
from closeread.assignment import best_total
from closeread.tasks.coref.columns import Columns
from closeread.tasks.coref.documents import Documents
from closeread.tasks.coref.empty_nodes import find_zeros
from closeread.tasks.coref.metrics.matching import MatchedMentions
from closeread.tasks.coref.metrics.overlap import Pair
from closeread.tasks.coref.spans import Span, count_common_tokens, count_tokens
from closeread.tasks.coref.universal_anaphora.relation_counts import (
    count_bridging,
    count_non_referring,
)


def count_overlaps(key: Documents, response: Documents) -> Floats:
    """Count the tokens of mentions in both sides under the best mapping, in the key, in the response."""
    rows, columns = list_overlapping(key.columns, response.columns)
    first = np.maximum(key.columns.start[rows], response.columns.start[columns])
    weights = 1 + np.minimum(key.columns.end[rows], response.columns.end[columns]) - first
    if key.has_parts or response.has_parts:
        key_runs = list_runs(key)
        response_runs = list_runs(response)
        pairs = zip(rows.tolist(), columns.tolist(), strict=True)
        common = [
            count_common_tokens(key_runs[row], response_runs[column]) for row, column in pairs
        ]
        weights = np.array(common, np.int64)
        is_common = weights > 0
        rows = rows[is_common]
        columns = columns[is_common]
        weights = weights[is_common]
    documents = key.columns.document[rows]
    n_documents = len(key)
    counts = [best_total(rows, columns, weights.astype(float), documents, n_documents)]
    for side in (key, response):
        sizes = count_mention_tokens(side).astype(float)
        counts.append(sum_groups(side.columns.document, sizes, n_documents))
    return np.column_stack(counts)


def list_runs(documents: Documents) -> list[tuple[Span, ...]]:
    """List the runs of adjacent tokens of each mention."""
    return [mention.runs for mention in documents.list_mentions()]


def count_mention_tokens(documents: Documents) -> Ints:
    """Count the tokens of each mention."""
    if documents.has_parts:
        return np.array([count_tokens(runs) for runs in list_runs(documents)], np.int64)
    return documents.columns.end - documents.columns.start + 1


def list_overlapping(key: Columns, response: Columns) -> Pair:
    """List the mentions of key and response of which one starts within the other, or with it."""
    key_rows, response_rows = find_starting_within(key, response, "left")
    # Those that start together have been found.
    other_response_rows, other_key_rows = find_starting_within(response, key, "right")
    return (
        np.concatenate([key_rows, other_key_rows]),
        np.concatenate([response_rows, other_response_rows]),
    )


def find_starting_within(outer: Columns, inner: Columns, side: Literal["left", "right"]) -> Pair:
    """Find the inner mentions that start within each outer one, those that start with it only from the left side.

    Returns the rows of both, (n_pairs,).
    """
    width = 1 + int(np.concatenate([outer.end, inner.end]).max(initial=0))
    start = inner.document * width + inner.start
    order = np.argsort(start)
    in_order = start[order]
    begin = np.searchsorted(in_order, outer.document * width + outer.start, side)
    end = np.searchsorted(in_order, outer.document * width + outer.end, "right")
    outer_row, place = expand_ranges(begin, end - begin)
    return outer_row, order[place]


class Anaphors(NamedTuple):
    """The mentions of one side, all (n_mentions,).

    Attributes:
        document: the document of each.
        entity: from 0 over all documents.
        rank: in the text.
        is_counted: whether the mention is an anaphor that counts if it is not the first of its entity.
    """

    document: Ints
    entity: Ints
    rank: Ints
    is_counted: Mask

    def find_first(self) -> set[int]:
        """Find the first mention of every entity."""
        order = np.argsort(self.rank)
        _, first = np.unique(self.entity[order], return_index=True)
        return set(order[first].tolist())


def count_anaphors(
    key: Anaphors, response: Anaphors, match: Sequence[int], n_documents: int
) -> Floats:
    """Count the anaphors that are right, those of the key, and those of the response.

    The response's are its own anaphors that match no anaphor of the key, and the anaphors that match one, even if these
    are not to be counted themselves.  `match` is the response mention of each key mention; -1 for none.
    """
    counts = np.zeros((n_documents, 3))
    first_of_key = key.find_first()
    first_of_response = response.find_first()
    linked: set[tuple[int, int]] = set()
    compared: set[int] = set()
    for row in np.argsort(key.rank).tolist():
        matched = match[row]
        is_right = False
        if matched >= 0:
            pair = (int(key.entity[row]), int(response.entity[matched]))
            is_right = pair in linked
            linked.add(pair)
        if key.is_counted[row] and row not in first_of_key:
            is_found = matched >= 0 and matched not in first_of_response
            counts[key.document[row]] += (is_found and is_right, 1, is_found)
            compared.add(matched)
    for row in np.flatnonzero(response.is_counted).tolist():
        if row not in first_of_response and row not in compared:
            counts[response.document[row], 2] += 1
    return counts


def list_zero_anaphors(documents: Documents) -> Anaphors:
    """List the mentions of a side, of which zeros count."""
    columns = documents.columns
    sizes = count_mention_tokens(documents)
    rank = np.argsort(np.lexsort((sizes, columns.end, columns.start)))
    return Anaphors(columns.document, columns.entity, rank, find_zeros(documents))


def count_selected(metric: str, matched: MatchedMentions) -> Floats:
    """Count one of the metrics that are computed only if they are selected, by its name."""
    if metric == "mor":
        return count_overlaps(matched.key, matched.response)
    if metric == "zeros":
        key = list_zero_anaphors(matched.key)
        response = list_zero_anaphors(matched.response)
        return count_anaphors(key, response, matched.find_responses(), len(matched.key))
    if metric == "non_referring":
        return count_non_referring(matched)
    return count_bridging(matched, metric)
