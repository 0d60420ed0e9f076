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

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask, expand_ranges
from closeread.assignment import best_total
from closeread.tasks.coref.empty_nodes import find_zeros
from closeread.tasks.coref.mention_table import MentionTable
from closeread.tasks.coref.metrics.matching import (
    MentionMatching,
    count_shared_tokens,
    count_tokens,
    list_runs,
)
from closeread.tasks.coref.metrics.overlap import sum_by_index
from closeread.tasks.coref.metrics.relations import count_bridging, count_non_referring


def overlap_counts(key: MentionTable, response: MentionTable, n_documents: int) -> Floats:
    """Count the tokens of mentions in both sides under the best mapping, in the key, in the response."""
    # One of two overlapping mentions starts within the other; if they start together, the response's does.
    k, r_within = _list_starts(key, response, 0)
    r, k_within = _list_starts(response, key, 1)
    row, column = np.concatenate([k, k_within]), np.concatenate([r_within, r])
    key_runs, response_runs = list_runs(key), list_runs(response)
    pairs = zip(row.tolist(), column.tolist(), strict=True)
    shared = np.array(
        [count_shared_tokens(key_runs[k], response_runs[r]) for k, r in pairs], np.float64
    )
    overlaps = shared > 0
    row, column, shared = row[overlaps], column[overlaps], shared[overlaps]
    totals = [
        sum_by_index(side.document, np.array(list(map(count_tokens, runs)), np.int64), n_documents)
        for side, runs in ((key, key_runs), (response, response_runs))
    ]
    return np.column_stack(
        [best_total(row, column, shared, key.document[row], n_documents), *totals]
    )


def _list_starts(outer: MentionTable, inner: MentionTable, shift: int) -> tuple[Ints, Ints]:
    """List the pairs where the second mention starts within the first, at least `shift` tokens after its start."""
    width = int(max(outer.end.max(initial=0), inner.end.max(initial=0))) + 2
    starts = inner.document * width + inner.start
    order = np.argsort(starts, kind="stable")
    low = np.searchsorted(starts[order], outer.document * width + outer.start + shift)
    high = np.searchsorted(starts[order], outer.document * width + outer.end, "right")
    which, place = expand_ranges(low, np.maximum(high - low, 0))
    return which, order[place]


class Anaphors(NamedTuple):
    """The mentions of one side, all (n_mentions,)."""

    document: Ints
    entity: Ints  # from 0 over all documents
    rank: Ints  # in the text
    is_counted: Mask  # if the mention is an anaphor

    def list_first(self) -> set[int]:
        """List the first mention of every entity."""
        order = np.argsort(self.rank)
        return set(order[np.unique(self.entity[order], return_index=True)[1]].tolist())


def anaphor_counts(key: Anaphors, response: Anaphors, match: Ints, n_documents: int) -> Floats:
    """Count the anaphors that are right, those of the key, and those of the response.

    The response's are its own anaphors that match no anaphor of the key, and the anaphors that match one, even if these
    are not to be counted themselves.  `match` is the response mention of each key mention; -1 for none.
    """
    counts = np.zeros((n_documents, 3))
    first_of_key, first_of_response = key.list_first(), response.list_first()
    seen: set[tuple[int, int]] = set()
    compared: set[int] = set()
    for row in np.argsort(key.rank).tolist():
        matched, is_right = int(match[row]), False
        if matched >= 0:
            cell = int(key.entity[row]), int(response.entity[matched])
            is_right = cell in seen
            seen.add(cell)
        if key.is_counted[row] and row not in first_of_key:
            is_found = matched >= 0 and matched not in first_of_response
            counts[key.document[row]] += (is_found and is_right, 1, is_found)
            compared.add(matched)
    for row in np.flatnonzero(response.is_counted).tolist():
        counts[response.document[row], 2] += row not in first_of_response and row not in compared
    return counts


def count_zero_anaphors(matched: MentionMatching) -> Floats:
    """Count the zero anaphors."""

    def list_anaphors(table: MentionTable) -> Anaphors:
        sizes = np.array(list(map(count_tokens, list_runs(table))), np.int64)
        rank = np.argsort(np.lexsort((sizes, table.end, table.start)))
        return Anaphors(table.document, table.entity, rank, find_zeros(table))

    key, response = list_anaphors(matched.key), list_anaphors(matched.response)
    return anaphor_counts(key, response, matched.find_responses(), len(matched.key.names))


COUNT_SELECTED: Mapping[str, Callable[[MentionMatching], Floats]] = {
    "mor": lambda matched: overlap_counts(matched.key, matched.response, len(matched.key.names)),
    "zeros": count_zero_anaphors,
    "non_referring": count_non_referring,
    "bridging_anaphors": lambda matched: count_bridging(
        matched, lambda key, response, entity_of: True
    ),
    "bridging_mentions": lambda matched: count_bridging(
        matched, lambda key, response, entity_of: key == response
    ),
    "bridging_entities": lambda matched: count_bridging(
        matched,
        lambda key, response, entity_of: (
            key == response or (key in entity_of and entity_of[key] == entity_of.get(response))
        ),
    ),
}
"""The functions that count these metrics."""
