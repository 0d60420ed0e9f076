"""Figures of TNE: the confusion matrix of prepositions, their frequencies, and scores of links.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8.2, Figure 5 for the matrix, coloured by base 2
logarithms, and section 6, Figure 4 for the shares, where rare prepositions are united.  The counts in the cells, the
row and column for unlinked pairs, and grouped bars for several splits are additions.

Conventions: labels are numbered as in `closeread.tasks.tne.columns.PREPOSITIONS`, 0 for no link.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Ints
from closeread.corpus.figures import Drawing
from closeread.corpus.gold import Gold, read_corpus_gold
from closeread.corpus.notices import warn_all
from closeread.corpus.predictions import count_rows, name_systems, read_systems
from closeread.counts.annotators import Annotator
from closeread.counts.estimates import Resampling, Scores
from closeread.counts.estimates import score as estimate
from closeread.counts.procedure import GoldSpec
from closeread.drawing.charts import ScoreBar, draw_score_bars
from closeread.drawing.pictures import DPI, INK, figure_class, own_settings
from closeread.exceptions import RequestError, pluralize, read_all
from closeread.records import Record
from closeread.tasks.tne.columns import (
    NONE,
    PREPOSITIONS,
    confusion,
    documents_of,
    rows_of,
)
from closeread.tasks.tne.procedure import BREAKDOWNS, PROCEDURE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


NO_LINK = PREPOSITIONS.index(NONE)
_CELL_WIDTH, _CELL_HEIGHT = 0.78, 0.42
_BARS = 10.5  # width of the bar chart, in inches


def confusion_counts(gold: Sequence[Record], system: Sequence[Record | None]) -> Ints:
    """Count pairs by gold label (row) and predicted label (column) (`closeread.tasks.tne.columns.confusion`)."""
    documents = documents_of(gold)
    return confusion(rows_of(system).links.labeled, documents.links.labeled, documents.n_pairs)


def commonest(counts: Ints, n: int) -> list[int]:
    """Return the n most frequent gold labels; "no link" is not one of them."""
    in_gold = counts.sum(axis=1)
    in_gold[NO_LINK] = 0
    ranked = np.argsort(-in_gold, kind="stable")
    return [label for label in ranked.tolist() if in_gold[label]][:n]


def plot_confusion(counts: Ints, labels: Sequence[int]) -> Figure:
    """Draw the confusion matrix, gold labels from top to bottom, with counts; colours are logarithms."""
    with own_settings():
        from matplotlib.ticker import MaxNLocator

        shown = counts[np.ix_(labels, labels)]
        logarithms = np.ma.log2(np.ma.masked_equal(shown, 0))
        # The label of the colour bar needs a minimum height.
        size = (len(labels) * _CELL_WIDTH + 2.6, max(len(labels) * _CELL_HEIGHT + 1.5, 3.6))
        figure = figure_class()(figsize=size, dpi=DPI, facecolor="white", layout="constrained")
        axes = figure.add_subplot()
        highest = max(1.0, float(np.log2(max(int(shown.max()), 1))))
        mesh = axes.pcolormesh(
            logarithms, cmap="Blues", vmin=0, vmax=highest, edgecolors="white", linewidth=1
        )
        for place, count in np.ndenumerate(shown):
            dark = count > 0 and np.log2(count) > 0.55 * highest
            where = (place[1] + 0.5, place[0] + 0.5)
            axes.text(
                *where,
                f"{count:,}",
                ha="center",
                va="center",
                size=7.5,
                color="white" if dark else INK,
            )
        names = ["no link" if label == NO_LINK else PREPOSITIONS[label] for label in labels]
        ticks = np.arange(len(labels)) + 0.5
        axes.set_xticks(ticks, names, rotation=45, ha="left", rotation_mode="anchor")
        axes.set_yticks(ticks, names)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.tick_params(length=0)
        axes.set(xlabel="predicted", ylabel="gold", ylim=(len(labels), 0))
        axes.spines[:].set_visible(False)
        axes.set_facecolor("#f2f2f2")  # cells without pairs are grey, cells with few are white
        steps = MaxNLocator(integer=True)
        bar = figure.colorbar(
            mesh, ax=axes, label="log₂ of the number of pairs", pad=0.02, ticks=steps
        )
        bar.outline.set_visible(False)
    return figure


def read_linked(place: GoldSpec) -> Gold:
    """Read gold that has links to draw."""
    gold = read_corpus_gold(place)
    warn_all(gold.notices)
    links = documents_of(gold.records).column("np_relations")
    source = f"config {gold.config}" if gold.config is not None else "the gold file"
    if None in links:
        raise RequestError(
            f"{source} has documents without links (expected links for every document)"
        )
    if not any(links):
        raise RequestError(f"{source} has no links to draw")
    return gold


def draw_confusion(place: GoldSpec, system: Annotator, *, labels: int, unlinked: str) -> Drawing:
    """Draw a confusion matrix of prepositions (Elazar et al., 2021, Figure 5)."""
    gold = read_linked(place)
    counts = confusion_counts(gold.records, read_systems(gold, system.source).rows)
    labels_drawn = commonest(counts, labels)
    unlinked_label = [NO_LINK] if unlinked == "shown" else []
    figure = plot_confusion(counts, labels_drawn + unlinked_label)
    n_drawn = int(counts[labels_drawn].sum())
    n_linked = int(counts[1:].sum())
    prepositions = pluralize(len(labels_drawn), "preposition")
    return Drawing(figure, f"{prepositions}, {n_drawn:,} of {n_linked:,} gold pairs")


def draw_link_scores(
    place: GoldSpec, systems: Sequence[Annotator], *, by: str, score: str
) -> Drawing:
    """Draw a score of links by a field, with 95% intervals, before that of unlabelled links in a lighter colour."""
    gold = read_linked(place)
    names = (f"links/{score}", f"unlabeled/{score}")
    title = score.replace("f1", "F1")
    metrics = tuple(metric for metric in PROCEDURE.metrics if metric.name in names)
    different = name_systems(systems)

    def count(one: Annotator) -> dict[str, Scores]:
        inside = (by,) if by in PROCEDURE.breakdowns else ()
        table = count_rows(gold, read_systems(gold, one.source).rows, inside)
        return {part: estimate(of, metrics, Resampling()) for part, of in table.slices(by).items()}

    def make_bar(scores: Scores | None) -> ScoreBar:
        labeled, unlabeled = (
            (scores.scores[name] for name in names) if scores is not None else (None, None)
        )
        if labeled is None or unlabeled is None or labeled.undefined:
            return ScoreBar(None)
        return ScoreBar(labeled.value, labeled.low, labeled.high, unlabeled.value)

    found = dict(zip(different, read_all(different.values(), count), strict=True))
    # the first system's win
    every = (scores for of_system in reversed(found.values()) for scores in of_system.items())
    numbers = {part: scores.counts["links/gold"] for part, scores in every}
    # The values that any system has links of, in the order of tables.
    parts = BREAKDOWNS[by].parts if by in BREAKDOWNS else list(numbers)
    groups = {part: numbers[part] for part in parts if part in numbers}
    bars = {
        name: [make_bar(of_system.get(part)) for part in groups]
        for name, of_system in found.items()
    }
    score_title = f"{title} of links (%), light: unlabelled"
    figure = draw_score_bars(groups, bars, score=score_title, field=f"{by}, number of gold links")
    return Drawing(figure, f"{title} by {by}, {pluralize(len(found), 'system')}")
