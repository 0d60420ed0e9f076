"""The coreference metrics: their names, the names of their counts, and their formulas.

Conventions: counts are named `METRIC/COUNT`.  Of most metrics they are `common`, `key` and `response`; where recall and
precision have different numerators, `found_of_key` and `found_of_response` replace `common`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from closeread.arrays import Floats, ratio
from closeread.counts.metrics import Columns, MeanOf, Metric, precision_recall_f1
from closeread.tasks.coref.metrics.entity import LINKS, Counting, blanc_scores, count_overlaps
from closeread.tasks.coref.metrics.matching import MatchedMentions
from closeread.tasks.coref.metrics.overlap import KEY, RESPONSE, compare_entities, find_duplicates

BLANC = {"reference": "blanc", "luo2014": "blanc_luo2014"}
"""The prefix of BLANC's counts for each `blanc_edge`, so that the rule is known when the sums become scores."""

BOTH_SIDES = ("common", "key", "response")
EACH_SIDE = ("found_of_key", "key", "found_of_response", "response")
"""The numerator and the denominator of recall, then those of precision."""

DESCRIPTIONS = {
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
TITLES = {**{name: DESCRIPTIONS[name][0] for name in OF_ENTITIES}, "conll": "CoNLL"}
"""The metrics that are computed by default: those of entities, and CoNLL F1, the mean of three of them."""

SELECTED = tuple(name for name in DESCRIPTIONS if name not in TITLES)
"""The metrics that are computed only if they are selected."""


@dataclass(frozen=True)
class FoundRatio:
    """Precision or recall: the part of a side that is found, over the whole side.

    Attributes:
        metric: its name.
        side: "key" for recall, "response" for precision.
        description: a sentence.
    """

    metric: str
    side: str
    description: str

    def __call__(self, counts: Columns) -> Floats:
        """Compute the ratio."""
        numerator = f"{self.metric}/found_of_{self.side}"
        if numerator not in counts:
            numerator = f"{self.metric}/common"
        return ratio(counts[numerator], counts[f"{self.metric}/{self.side}"])


@dataclass(frozen=True)
class BlancScore:
    """BLANC of summed links, by the rule for boundary cases that is in the names of the counts.

    Attributes:
        part: 0 for precision, 1 for recall, 2 for F1.
    """

    part: int

    def __call__(self, counts: Columns) -> Floats:
        """Compute the score."""
        edge = "luo2014" if f"{BLANC['luo2014']}/{LINKS[0]}" in counts else "reference"
        links = np.stack([counts[f"{BLANC[edge]}/{link}"] for link in LINKS], axis=-1)
        mentions = np.stack([counts[f"mentions/{side}"] for side in BOTH_SIDES], axis=-1)
        return blanc_scores(links, mentions, edge)[..., self.part]


def scores_of(name: str) -> tuple[Metric, ...]:
    """Return the scores of a metric, by its name: precision, recall and F1 of summed counts."""
    if name == "conll":
        mean = MeanOf(tuple(scores_of(part)[-1].formula for part in IN_CONLL))
        description = "Mean F1 of MUC, B³ and CEAFe."
        return (Metric("conll/f1", "CoNLL F1", description, mean, zero_division=0.0),)
    title, description = DESCRIPTIONS[name]
    precision = FoundRatio(name, "response", f"Precision: {description}.")
    recall = FoundRatio(name, "key", f"Recall: {description}.")
    scores = precision_recall_f1(name, title, precision, recall)
    if name == "blanc":
        return tuple(replace(score, formula=BlancScore(part)) for part, score in enumerate(scores))
    return scores


def compare_sides(matched: MatchedMentions, duplicates: str, matching: str) -> Counting:
    """Compare the entities of key and response by the rules of the scorers that some options follow."""
    sides = matched.sides
    n_documents = len(matched.key.names)
    is_special = matching == "minimum" or matched.aliases is not None
    if not is_special and not any(len(find_duplicates(side)) for side in sides):
        overlap = compare_entities(*sides, n_documents)
        return partial(count_overlaps, recall=overlap, precision=overlap)
    from closeread.tasks.coref.metrics.duplicates import RepeatedMentions

    if matching == "minimum":
        from closeread.tasks.coref.metrics.minimum_spans import order_entities

        key = order_entities(sides[KEY], matched.key.columns)
        response = order_entities(sides[RESPONSE], matched.response.columns)
        repeated = RepeatedMentions((key, response), n_documents)
        return repeated.count_by_minimum_spans
    if matched.aliases is not None:
        from closeread.tasks.coref.metrics.corefud import compare_by_aliases

        return compare_by_aliases(sides, matched.aliases, n_documents)
    repeated = RepeatedMentions(sides, n_documents)
    return repeated.count_by_last if duplicates == "last" else repeated.count_as_reference


def name_columns(metric: str, names: Collection[str], counts: Floats) -> dict[str, Floats]:
    """Return columns of counts by their names."""
    return {f"{metric}/{name}": column for name, column in zip(names, counts.T, strict=True)}
