"""Coreference metrics of mentions and anaphors, which are computed only if they are selected.

Conventions: as in `metrics`.  Each function returns counts of every document, which are summed over the corpus.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Floats
from closeread.counts.metrics import Metric, Ratio, precision_recall_f1
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.kernels.entity_metrics import BOTH_SIDES
from closeread.tasks.coref.matching import Matched, spans_of
from closeread.tasks.coref.relation_metrics import (
    count_bridging_anaphors,
    count_bridging_entities,
    count_bridging_mentions,
    count_non_referring,
)

if TYPE_CHECKING:
    from closeread.tasks.coref.kernels.anaphors import Anaphors


def count_mention_overlap(matched: Matched) -> Floats:
    """Count the tokens of mentions, (n_documents, 3)."""
    from closeread.tasks.coref.kernels.mention_overlap import overlap_counts

    return overlap_counts(spans_of(matched.key), spans_of(matched.response), len(matched.key.names))


def count_zero_anaphors(matched: Matched) -> Floats:
    """Count the zero anaphors, (n_documents, 3)."""
    from closeread.tasks.coref.kernels.anaphors import anaphor_counts

    own, other = (_list_anaphors(table) for table in (matched.key, matched.response))
    return anaphor_counts(own, other, matched.find_responses(), len(matched.key.names))


def _list_anaphors(table: MentionTable) -> Anaphors:
    from closeread.tasks.coref.empty_nodes import find_zeros
    from closeread.tasks.coref.kernels.anaphors import Anaphors
    from closeread.tasks.coref.kernels.spans import count_tokens

    order = np.lexsort((count_tokens(spans_of(table)), table.end, table.start))
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
