"""The coreference metrics: their names, the names of their counts, and their formulas.

Conventions: counts are named `METRIC/COUNT`.  Of most metrics they are `common`, `key` and `response`; where recall and
precision have different numerators, `found_of_key` and `found_of_response` replace `common`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closeread.arrays import Floats, ratio
from closeread.counts.metrics import Columns, MeanOf, Metric, precision_recall_f1
from closeread.tasks.coref.metrics import entity
from closeread.tasks.coref.metrics.overlap import KEY, RESPONSE, Overlap
from closeread.tasks.coref.metrics.repeats import count_blanc_of_repeats

BLANC = {"reference": "blanc", "luo2014": "blanc_luo2014"}
"""The prefix of BLANC's counts for each `blanc_edge`, so that the rule is known when the sums become scores."""

BOTH_SIDES = ("common", "key", "response")
EACH_SIDE = ("found_of_key", "key", "found_of_response", "response")
"""The numerator and the denominator of recall, then those of precision."""

OF_SIDE = {"muc": entity.count_muc, "b3": entity.count_b_cubed, "lea": entity.count_lea}
OF_BOTH: Mapping[str, Callable[[Overlap], Any]] = {
    "ceafm": entity.count_ceafm,
    "ceafe": entity.count_ceafe,
    "mentions": lambda table: table.mentions.T,
}
"""The functions that count a metric: numerator and denominator of a side, or `BOTH_SIDES`."""

SHARES = {
    "mentions": ("Mentions", "mentions found"),
    "muc": ("MUC", "links found, where a cluster of n mentions has n - 1"),
    "b3": ("B³", "mean over mentions of the share of the mention's entity that is found"),
    "ceafm": ("CEAFm", "mentions shared under the best mapping of entities"),
    "ceafe": ("CEAFe", "similarity of the entities under their best mapping"),
    "blanc": ("BLANC", "mean of coreference and non-coreference links found"),
    "lea": ("LEA", "mean over entities, weighted by size, of the links found"),
    "mor": ("MOR", "tokens of mentions found, under the best mapping of mentions"),
    "zeros": ("Zeros", "zero anaphors found with a right antecedent"),
    "non_referring": ("Non-referring", "non-referring mentions found"),
    "bridging_anaphors": ("Bridging anaphors", "bridging anaphors found"),
    "bridging_mentions": (
        "Bridging, mentions",
        "bridging anaphors found with the right mention as anchor",
    ),
    "bridging_entities": (
        "Bridging, entities",
        "bridging anaphors found with a mention of the right entity as anchor",
    ),
}
"""The title of every metric that has counts, and its precision and recall in words."""

IN_CONLL = ("muc", "b3", "ceafe")
"""The metrics whose mean F1 is CoNLL F1."""

OF_ENTITIES = ("mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea")
TITLES = {**{name: SHARES[name][0] for name in OF_ENTITIES}, "conll": "CoNLL"}
"""The metrics that are computed by default: those of entities, and CoNLL F1, the mean of three of them."""

SELECTED = tuple(name for name in SHARES if name not in TITLES)
"""The metrics that are computed only if they are selected."""


@dataclass(frozen=True)
class FoundRatio:
    """Precision or recall: the part of a side that is found, over the whole side."""

    metric: str
    side: str  # "key" for recall, "response" for precision
    description: str  # in a sentence

    def __call__(self, counts: Columns) -> Floats:
        """Compute the ratio."""
        own = f"{self.metric}/found_of_{self.side}"
        return ratio(
            counts[own if own in counts else f"{self.metric}/common"],
            counts[f"{self.metric}/{self.side}"],
        )


@dataclass(frozen=True)
class BlancScore:
    """BLANC of summed links, by the rule for boundary cases that is in the names of the counts."""

    part: int  # 0 for precision, 1 for recall, 2 for F1

    def __call__(self, counts: Columns) -> Floats:
        """Compute the score."""
        edge = "luo2014" if f"{BLANC['luo2014']}/{entity.LINKS[0]}" in counts else "reference"
        links = np.stack([counts[f"{BLANC[edge]}/{link}"] for link in entity.LINKS], axis=-1)
        mentions = np.stack([counts[f"mentions/{side}"] for side in BOTH_SIDES], axis=-1)
        return entity.blanc_scores(links, mentions, edge)[..., self.part]


def scores_of(name: str) -> tuple[Metric, ...]:
    """Return the scores of a metric, by its name: precision, recall and F1 of summed counts."""
    if name == "conll":
        mean = MeanOf(tuple(scores_of(part)[-1].formula for part in IN_CONLL))
        return (
            Metric(
                "conll/f1", "CoNLL F1", "Mean F1 of MUC, B³ and CEAFe.", mean, zero_division=0.0
            ),
        )
    title, share = SHARES[name]
    precision = FoundRatio(name, "response", f"Precision: {share}.")
    scores = precision_recall_f1(
        name, title, precision, FoundRatio(name, "key", f"Recall: {share}.")
    )
    if name == "blanc":
        return tuple(replace(score, formula=BlancScore(part)) for part, score in enumerate(scores))
    return scores


def count_each_side(metric: str, recall: Overlap, precision: Overlap) -> Floats:
    """Count a metric of entities other than BLANC in every document, (n_documents, 4), columns `EACH_SIDE`.

    `recall` and `precision` are the same table of key and response, or two if mentions of the response are looked up in
    another way than those of the key.
    """
    if metric in OF_BOTH:
        return np.column_stack(OF_BOTH[metric](recall)).astype(np.float64)[:, [0, 1, 0, 2]]
    return np.column_stack([*OF_SIDE[metric](recall, KEY), *OF_SIDE[metric](precision, RESPONSE)])


def count_metric(
    metric: str, recall: Overlap, precision: Overlap, each_side: Collection[str], blanc_edge: str
) -> dict[str, Floats]:
    """Count a metric of entities in every document, by the names of the counts.

    Those `each_side` have numerators of their own for recall and precision.
    """
    if metric == "blanc":
        repeated = recall.places is not None
        links = count_blanc_of_repeats(recall.places) if repeated else entity.count_blanc(recall)
        return name_columns(BLANC[blanc_edge], entity.LINKS, links)
    counts = count_each_side(metric, recall, precision)
    if metric in each_side:
        return name_columns(metric, EACH_SIDE, counts)
    found = name_columns(metric, BOTH_SIDES, counts[:, [0, 1, 3]])
    if metric == "muc" and precision is not recall:
        found["muc/found_of_response"] = counts[:, 2]
    return found


def name_columns(metric: str, names: Collection[str], counts: Floats) -> dict[str, Floats]:
    """Return columns of counts by their names."""
    return {f"{metric}/{name}": column for name, column in zip(names, counts.T, strict=True)}
