"""Metrics of mentions, anaphors and relations, which are computed only if they are selected.

Mention overlap ratio (MOR): how many tokens of the mentions are found, whatever their entities.  Mentions are mapped
one to one so that the tokens in both mentions of a pair are as many as possible; how mentions match for other metrics
does not matter.  Anaphor-decomposable score of zeros: the share of zero anaphors that have a right antecedent.  The
first mention of an entity, in the order of the text, is no anaphor, and all others are.  An anaphor of the key is right
if its match is an anaphor, and if the entity of the match contains the match of an earlier mention of the same key
entity.

Source: Žabokrtský et al. (2022), Findings of the CRAC shared task on multilingual coreference resolution; the counts
are those of CorefUD's scorer (github.com/ufal/corefud-scorer, version 1.2).

Conventions: as in `scores`.  Each function returns counts of every document, which are summed over the corpus.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask, expand_ranges, mark_run_starts
from closeread.assignment import best_total
from closeread.counts.metrics import Metric, Ratio, precision_recall_f1
from closeread.tasks.coref.documents import MentionTable
from closeread.tasks.coref.matching import Matched, spans_of
from closeread.tasks.coref.metrics.entity import BOTH_SIDES
from closeread.tasks.coref.metrics.matching import Spans, count_shared_tokens, count_tokens
from closeread.tasks.coref.metrics.overlap import sum_by_index
from closeread.tasks.coref.metrics.relations import (
    count_bridging_anaphors,
    count_bridging_entities,
    count_bridging_mentions,
    count_non_referring,
)


def overlap_counts(key: Spans, response: Spans, n_documents: int) -> Floats:
    """Count the tokens of mentions in both sides under the best mapping, in the key, in the response.

    Returns:
        (n_documents, 3) float64, columns `entity_metrics.BOTH_SIDES`.
    """
    row, column = _pair_overlapping(key, response)
    own, other = key.list_runs(), response.list_runs()
    pairs = zip(row.tolist(), column.tolist(), strict=True)
    shared = np.array([count_shared_tokens(own[k], other[r]) for k, r in pairs], np.float64)
    overlaps = shared > 0
    row, column, shared = row[overlaps], column[overlaps], shared[overlaps]
    common = best_total(row, column, shared, key.document[row], n_documents)
    totals = [
        sum_by_index(side.document, np.array(list(map(count_tokens, runs)), np.int64), n_documents)
        for side, runs in ((key, own), (response, other))
    ]
    return np.column_stack([common, *totals])


def _pair_overlapping(key: Spans, response: Spans) -> tuple[Ints, Ints]:
    """List the pairs of mentions whose spans overlap."""
    width = int(max(key.end.max(initial=0), response.end.max(initial=0))) + 2
    # One of two overlapping mentions starts within the other; if they start together, the response's does.
    k, r = _list_starts(key, response, width, 0)
    r_first, k_within = _list_starts(response, key, width, 1)
    return np.concatenate([k, k_within]), np.concatenate([r, r_first])


def _list_starts(outer: Spans, inner: Spans, width: int, shift: int) -> tuple[Ints, Ints]:
    """List the pairs where the second mention starts within the first, at least `shift` tokens after its start."""
    starts = inner.document * width + inner.start
    order = np.argsort(starts, kind="stable")
    begin = outer.document * width + outer.start + shift
    low = np.searchsorted(starts[order], begin)
    high = np.searchsorted(starts[order], outer.document * width + outer.end, "right")
    which, place = expand_ranges(low, np.maximum(high - low, 0))
    return which, order[place]


class Anaphors(NamedTuple):
    """The mentions of one side, all (n_mentions,).

    Attributes:
        document: the document of each mention.
        entity: its entity, from 0 over all documents.
        rank: its rank in the text.
        is_counted: whether it is counted if it is an anaphor.
    """

    document: Ints
    entity: Ints
    rank: Ints
    is_counted: Mask


def anaphor_counts(key: Anaphors, response: Anaphors, match: Ints, n_documents: int) -> Floats:
    """Count the anaphors that are right, those of the key, and those of the response.

    Args:
        key, response: the mentions.
        match: (n_key_mentions,) the response mention that each key mention matches; -1 for none.
        n_documents: the number of documents.

    Returns:
        (n_documents, 3) float64, columns `entity_metrics.BOTH_SIDES`.  The response's are its own anaphors that match
        no anaphor of the key, and the anaphors that match one, even if these are not to be counted themselves.
    """
    of_key = key.is_counted & ~_mark_first(key.entity, key.rank)
    is_first = _mark_first(response.entity, response.rank)
    matched = np.flatnonzero(match >= 0)
    cell = key.entity[matched] * (int(response.entity.max(initial=-1)) + 1) + response.entity[match[matched]]
    has_antecedent = np.zeros(len(match), np.bool_)
    has_antecedent[matched] = ~_mark_first(cell, key.rank[matched])
    is_matched = np.zeros(len(match), np.bool_)
    is_matched[matched] = ~is_first[match[matched]]
    compared = of_key & is_matched
    spurious = response.is_counted & ~is_first
    spurious[match[of_key & (match >= 0)]] = False
    right, found, wanted = (
        sum_by_index(key.document, rows, n_documents) for rows in (compared & has_antecedent, compared, of_key)
    )
    return np.column_stack([right, wanted, found + sum_by_index(response.document, spurious, n_documents)])


def _mark_first(group: Ints, rank: Ints) -> Mask:
    """Mark the row of the lowest rank in each group."""
    order = np.lexsort((rank, group))
    first = np.zeros(len(group), np.bool_)
    first[order[mark_run_starts(group[order])]] = True
    return first


def count_mention_overlap(matched: Matched) -> Floats:
    """Count the tokens of mentions, (n_documents, 3)."""
    return overlap_counts(spans_of(matched.key), spans_of(matched.response), len(matched.key.names))


def count_zero_anaphors(matched: Matched) -> Floats:
    """Count the zero anaphors, (n_documents, 3)."""
    own, other = (_list_anaphors(table) for table in (matched.key, matched.response))
    return anaphor_counts(own, other, matched.find_responses(), len(matched.key.names))


def _list_anaphors(table: MentionTable) -> Anaphors:
    from closeread.tasks.coref.empty_nodes import find_zeros
    from closeread.tasks.coref.metrics.matching import count_tokens

    sizes = np.array(list(map(count_tokens, spans_of(table).list_runs())), np.int64)
    order = np.lexsort((sizes, table.end, table.start))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Anaphors(table.document, table.entity, rank, find_zeros(table))


@dataclass(frozen=True)
class SelectedMetric:
    """A metric that is counted only if it is selected by name.

    Attributes:
        name: its name in scores and counts.
        title: its name in tables.
        share: its precision and recall, in words.
        count: counts `common`, `key` and `response` of every document, (n_documents, 3).
    """

    name: str
    title: str
    share: str
    count: Callable[[Matched], Floats]

    def columns(self, matched: Matched) -> dict[str, Floats]:
        """Count every document, by the names of the counts, (n_documents,) each."""
        names = (f"{self.name}/{side}" for side in BOTH_SIDES)
        return dict(zip(names, self.count(matched).T, strict=True))

    def scores(self) -> tuple[Metric, Metric, Metric]:
        """Return precision, recall and F1 of summed counts."""
        precision = Ratio(f"{self.name}/common", f"{self.name}/response", f"Precision: {self.share}.")
        recall = Ratio(f"{self.name}/common", f"{self.name}/key", f"Recall: {self.share}.")
        return precision_recall_f1(self.name, self.title, precision, recall)


SELECTED = {
    metric.name: metric
    for metric in (
        SelectedMetric(
            "mor", "MOR", "tokens of mentions found, under the best mapping of mentions", count_mention_overlap
        ),
        SelectedMetric("zeros", "Zeros", "zero anaphors found with a right antecedent", count_zero_anaphors),
        SelectedMetric("non_referring", "Non-referring", "non-referring mentions found", count_non_referring),
        SelectedMetric("bridging_anaphors", "Bridging anaphors", "bridging anaphors found", count_bridging_anaphors),
        SelectedMetric(
            "bridging_mentions",
            "Bridging, mentions",
            "bridging anaphors found with the right mention as anchor",
            count_bridging_mentions,
        ),
        SelectedMetric(
            "bridging_entities",
            "Bridging, entities",
            "bridging anaphors found with a mention of the right entity as anchor",
            count_bridging_entities,
        ),
    )
}
