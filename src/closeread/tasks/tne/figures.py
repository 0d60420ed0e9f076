"""Figures of TNE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from closeread.corpus.figures import Drawing
from closeread.corpus.gold import read_corpus_gold
from closeread.corpus.notices import warn_all
from closeread.corpus.predictions import count_rows, name_systems, read_systems
from closeread.counts.annotators import Annotator
from closeread.counts.estimates import Estimate, Resampling, Scores
from closeread.counts.estimates import score as estimate
from closeread.counts.procedure import GoldSpec
from closeread.drawing.charts import ScoreBar, draw_score_bars
from closeread.exceptions import pluralize, read_all
from closeread.tasks.tne import plots
from closeread.tasks.tne.columns import PREPOSITIONS, documents_of
from closeread.tasks.tne.link_breakdowns import PLACES
from closeread.tasks.tne.procedure import EXPRESSED, PROCEDURE

SCORES = {"precision": "precision", "recall": "recall", "f1": "F1"}
"""The scores of links that can be drawn, and what to call them."""


def draw_confusion(place: GoldSpec, system: Annotator, *, labels: int, unlinked: str) -> Drawing:
    """Draw a confusion matrix of prepositions (Elazar et al., 2021, Figure 5)."""
    gold = read_corpus_gold(place)
    warn_all(gold.notices)
    plots.check_links(gold)
    counts = plots.confusion_counts(gold.records, read_systems(gold, system.source).rows)
    shown = plots.commonest(counts, labels)
    figure = plots.draw_confusion(counts, [*shown, plots.NO_LINK] if unlinked == "shown" else shown)
    of_these, linked = int(counts[shown].sum()), int(counts[1:].sum())
    summary = f"{pluralize(len(shown), 'preposition')}, {of_these:,} of {linked:,} gold pairs"
    return Drawing(figure, summary)


def draw_prepositions(place: GoldSpec, *, splits: Sequence[str], other: float) -> Drawing:
    """Draw how frequent each preposition is among links (Elazar et al., 2021, Figure 4)."""
    counts = {}
    for split in dict.fromkeys(splits) or (place.split,):
        gold = read_corpus_gold(place._replace(split=split))
        plots.check_links(gold)
        warn_all(gold.notices)
        name = gold.split or ("gold" if isinstance(place.gold, Sequence) else str(place.gold))
        counts[name] = plots.preposition_counts(documents_of(gold.records))
    summary = ", ".join(f"{links.sum():,} links of {name}" for name, links in counts.items())
    return Drawing(plots.draw_prepositions(counts, other), summary)


def draw_link_scores(place: GoldSpec, systems: Sequence[Annotator], *, by: str, score: str) -> Drawing:
    """Draw a score of links by a field, with 95% intervals, before that of unlabelled links in a lighter colour."""
    gold = read_corpus_gold(place)
    warn_all(gold.notices)
    plots.check_links(gold)
    names = (f"links/{score}", f"unlabeled/{score}")
    metrics = tuple(metric for metric in PROCEDURE.metrics if metric.name in names)
    different = name_systems(systems)

    def count(one: Annotator) -> dict[str, Scores]:
        inside = (by,) if by in PROCEDURE.breakdowns else ()
        table = count_rows(gold, read_systems(gold, one.source).rows, inside)
        return {part: estimate(of, metrics, Resampling()) for part, of in table.slices(by).items()}

    found = dict(zip(different, read_all(different.values(), count), strict=True))
    bars = {
        name: {part: _make_bar(*(scores.scores[one] for one in names)) for part, scores in of_system.items()}
        for name, of_system in found.items()
    }
    every = (scores for of_system in reversed(found.values()) for scores in of_system.items())  # the first system's win
    numbers = {part: scores.counts["links/gold"] for part, scores in every}
    groups = {part: numbers[part] for part in _order_parts(by, numbers)}
    figure = draw_score_bars(
        groups,
        {name: [of_system.get(part, ScoreBar(None)) for part in groups] for name, of_system in bars.items()},
        score=f"{SCORES[score]} of links (%), light: unlabelled",
        field=f"{by}, number of gold links",
    )
    return Drawing(figure, f"{SCORES[score]} by {by}, {pluralize(len(found), 'system')}")


def _make_bar(labelled: Estimate, unlabelled: Estimate) -> ScoreBar:
    """Return the bar of a score; none if the score is 0/0."""
    if labelled.undefined:
        return ScoreBar(None)
    return ScoreBar(labelled.value, labelled.low, labelled.high, unlabelled.value)


def _order_parts(by: str, numbers: Mapping[str, float]) -> list[str]:
    """Return the values of a field that any system has links of, in the order of tables."""
    if by in PROCEDURE.fields:
        return list(numbers)
    known = {**{name: field.parts for name, field in PLACES.items()}, "expressed": EXPRESSED}
    return [part for part in known.get(by, PREPOSITIONS) if part in numbers]
