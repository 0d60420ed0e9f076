"""The coreference metrics: one table that names each metric and the functions that count it.

Conventions: counts are named `METRIC/COUNT`.  Of most metrics they are `common`, `key` and `response`; where recall and
precision have different numerators, `found_of_key` and `found_of_response` replace `common`.  Those of MUC differ if
mentions are matched by minimum spans, and all do in parts of documents (`closeread.tasks.coref.metrics.slices`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from closeread.arrays import Floats, ratio
from closeread.counts.metrics import Columns, MeanOf, Metric, precision_recall_f1
from closeread.tasks.coref.metrics import entity, repeats
from closeread.tasks.coref.metrics.mentions import SELECTED
from closeread.tasks.coref.metrics.overlap import Overlap
from closeread.tasks.coref.metrics.repeats import MinimumOverlap, RepeatedOverlap

IN_CONLL = ("muc", "b3", "ceafe")
"""The metrics whose mean F1 is CoNLL F1."""

BLANC = {"reference": "blanc", "luo2014": "blanc_luo2014"}
"""The prefix of BLANC's counts for each `blanc_edge`, so that the rule is known when the sums become scores."""


@dataclass(frozen=True)
class FoundRatio:
    """Precision or recall: what is found of a side, over what the side has.

    Attributes:
        metric: the name of the metric.
        side: "key" for recall, "response" for precision.
        description: what the ratio measures, in a sentence.
    """

    metric: str
    side: str
    description: str

    def __call__(self, counts: Columns) -> Floats:
        """Compute the ratio."""
        own = f"{self.metric}/found_of_{self.side}"
        return ratio(counts[own if own in counts else f"{self.metric}/common"], counts[f"{self.metric}/{self.side}"])


@dataclass(frozen=True)
class CorefMetric(ABC):
    """A metric with counts of its own.

    Attributes:
        name: its name in scores and counts.
        title: its name in tables.
        share: its precision and recall, in words.
        usual: the kernel for sides without repeated mentions.
        repeated: the kernel for sides with repeated mentions.
        minimum: the kernel for mentions that are matched by minimum spans.
    """

    name: str
    title: str
    share: str
    usual: Callable[[Overlap], Floats]
    repeated: Callable[[RepeatedOverlap], Floats]
    minimum: Callable[[MinimumOverlap], Floats]

    def count(self, table: Overlap) -> Floats:
        """Count every document, (n_documents, k)."""
        if isinstance(table, MinimumOverlap):
            return self.minimum(table)
        return self.repeated(table) if isinstance(table, RepeatedOverlap) else self.usual(table)

    @abstractmethod
    def columns(self, table: Overlap, blanc_edge: str) -> dict[str, Floats]:
        """Count every document, by the names of the counts, (n_documents,) each."""

    def scores(self) -> tuple[Metric, Metric, Metric]:
        """Return precision, recall and F1 of summed counts."""
        precision = FoundRatio(self.name, "response", f"Precision: {self.share}.")
        recall = FoundRatio(self.name, "key", f"Recall: {self.share}.")
        return precision_recall_f1(self.name, self.title, precision, recall)


class SharedNumerator(CorefMetric):
    """A metric whose precision and recall have the same numerator."""

    def columns(self, table: Overlap, blanc_edge: str) -> dict[str, Floats]:
        """Count `common`, `key` and `response`."""
        names = (f"{self.name}/{side}" for side in entity.BOTH_SIDES)
        return dict(zip(names, self.count(table).T, strict=True))


class OwnNumerators(CorefMetric):
    """A metric whose precision is the recall of the transposed table."""

    def columns(self, table: Overlap, blanc_edge: str) -> dict[str, Floats]:
        """Count numerator and denominator of each side."""
        return _count_each_side(self, table)


class Muc(SharedNumerator):
    """MUC, whose precision and recall have numerators of their own if mentions are looked up in other ways.

    This is so if they are matched by minimum spans, or found as CorefUD's scorer finds them.
    """

    def columns(self, table: Overlap, blanc_edge: str) -> dict[str, Floats]:
        """Count `common`, `key` and `response`, or numerator and denominator of each side."""
        if isinstance(table, MinimumOverlap):
            return _count_each_side(self, table)
        found = super().columns(table, blanc_edge)
        if table.is_directed:
            found["muc/found_of_response"] = self.count(table.for_precision)[:, 0]
        return found


class Blanc(CorefMetric):
    """BLANC, which counts two kinds of links."""

    def columns(self, table: Overlap, blanc_edge: str) -> dict[str, Floats]:
        """Count the links, under names that depend on the rule for boundary cases."""
        names = (f"{BLANC[blanc_edge]}/{link}" for link in entity.LINKS)
        return dict(zip(names, self.count(table).T, strict=True))

    def scores(self) -> tuple[Metric, Metric, Metric]:
        """Return precision, recall and F1 of summed counts."""
        precision, recall, f1 = super().scores()
        return (
            replace(precision, formula=BlancScore(0)),
            replace(recall, formula=BlancScore(1)),
            replace(f1, formula=BlancScore(2)),
        )


@dataclass(frozen=True)
class BlancScore:
    """BLANC of summed links, by the rule for boundary cases that is in the names of the counts.

    Attributes:
        part: 0 for precision, 1 for recall, 2 for F1.
    """

    part: int

    def __call__(self, counts: Columns) -> Floats:
        """Compute the score."""
        edge = "luo2014" if f"{BLANC['luo2014']}/{entity.LINKS[0]}" in counts else "reference"
        links = np.stack([counts[f"{BLANC[edge]}/{link}"] for link in entity.LINKS], axis=-1)
        mentions = np.stack([counts[f"mentions/{side}"] for side in entity.BOTH_SIDES], axis=-1)
        return entity.blanc_scores(links, mentions, edge)[..., self.part]


def _count_each_side(metric: CorefMetric, table: Overlap) -> dict[str, Floats]:
    """Count numerator and denominator of each side."""
    recall, precision = metric.count(table).T, metric.count(table.for_precision).T
    names = ("found_of_key", "key", "found_of_response", "response")
    return dict(zip((f"{metric.name}/{name}" for name in names), (*recall, *precision), strict=True))


COUNTED: dict[str, CorefMetric] = {
    metric.name: metric
    for metric in (
        SharedNumerator("mentions", "Mentions", "mentions found", *[entity.mention_counts] * 3),
        Muc(
            "muc",
            "MUC",
            "links found, where a cluster of n mentions has n - 1",
            entity.muc_counts,
            repeats.muc_counts,
            repeats.minimum_muc_counts,
        ),
        OwnNumerators(
            "b3",
            "B³",
            "mean over mentions of the share of the mention's entity that is found",
            entity.b_cubed_counts,
            repeats.b_cubed_counts,
            repeats.minimum_b_cubed_counts,
        ),
        SharedNumerator(
            "ceafm",
            "CEAFm",
            "mentions shared under the best mapping of entities",
            entity.ceafm_counts,
            repeats.ceafm_counts,
            repeats.minimum_ceafm_counts,
        ),
        SharedNumerator(
            "ceafe",
            "CEAFe",
            "similarity of the entities under their best mapping",
            entity.ceafe_counts,
            repeats.ceafe_counts,
            repeats.minimum_ceafe_counts,
        ),
        Blanc(
            "blanc",
            "BLANC",
            "mean of coreference and non-coreference links found",
            entity.blanc_counts,
            repeats.blanc_counts,
            repeats.blanc_counts,
        ),
        OwnNumerators(
            "lea",
            "LEA",
            "mean over entities, weighted by size, of the links found",
            entity.lea_counts,
            repeats.lea_counts,
            repeats.lea_counts,
        ),
    )
}
TITLES = {**{name: metric.title for name, metric in COUNTED.items()}, "conll": "CoNLL"}
"""The metrics that are computed by default: those with counts of their own, and CoNLL F1, the mean of three of them."""
ALL_METRICS = (*TITLES, *SELECTED)
"""The names of all metrics; those of `mention_metrics` are computed only if they are selected."""


def scores_of(name: str) -> tuple[Metric, ...]:
    """Return the scores of a metric, by its name in `ALL_METRICS`."""
    if name == "conll":
        mean = MeanOf(tuple(COUNTED[part].scores()[-1].formula for part in IN_CONLL))
        return (Metric("conll/f1", "CoNLL F1", "Mean F1 of MUC, B³ and CEAFe.", mean, zero_division=0.0),)
    return (COUNTED | SELECTED)[name].scores()


def list_counted(names: Sequence[str]) -> list[CorefMetric]:
    """List the metrics to count for some metrics, in order: these, those that they are computed from, and mentions."""
    wanted = {"mentions", *names, *(IN_CONLL if "conll" in names else ())}
    return [metric for name, metric in COUNTED.items() if name in wanted]
