"""The figure of TNE: the confusion matrix of prepositions.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8.2, Figure 5, coloured by base 2 logarithms.  The
counts in the cells and the row and column for unlinked pairs are additions.

Conventions: labels are numbered as in `closeread.tasks.tne.links.PREPOSITIONS`, 0 for no link.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Ints
from closeread.corpus.figures import Drawing
from closeread.corpus.gold import Gold, GoldSource, read_corpus_gold
from closeread.corpus.notices import warn_all
from closeread.corpus.predictions import read_systems
from closeread.counts.annotators import Annotator
from closeread.drawing.pictures import DPI, INK, figure_class, own_settings
from closeread.exceptions import RequestError, pluralize
from closeread.records import Record, column
from closeread.tasks.tne.links import (
    LABELS,
    N_LABELS,
    NO_LINK,
    PREPOSITIONS,
    align_labels,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CELL_WIDTH = 0.78
CELL_HEIGHT = 0.42
"""The size of a cell, in inches."""


def count_confusions(gold: Sequence[Record], system: Sequence[Record | None]) -> Ints:
    """Count all ordered pairs of noun phrases by gold label (row) and predicted label (column), (25, 25)."""
    counts = np.zeros((N_LABELS, N_LABELS), np.int64)
    for document, row in zip(gold, system, strict=True):
        aligned = align_labels(document["np_relations"], (row or {}).get("relations") or ())
        for _, label, predicted in aligned:
            gold_label = LABELS[label or PREPOSITIONS[NO_LINK]]
            counts[gold_label, LABELS[predicted or PREPOSITIONS[NO_LINK]]] += 1
        n_phrases = len(document["nps"])
        counts[NO_LINK, NO_LINK] += n_phrases * (n_phrases - 1) - len(aligned)
    return counts


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

        counts_drawn = counts[np.ix_(labels, labels)]
        logarithms = np.ma.log2(np.ma.masked_equal(counts_drawn, 0))
        # The label of the colour bar needs a minimum height.
        size = (len(labels) * CELL_WIDTH + 2.6, max(len(labels) * CELL_HEIGHT + 1.5, 3.6))
        figure = figure_class()(figsize=size, dpi=DPI, facecolor="white", layout="constrained")
        axes = figure.add_subplot()
        highest = max(1.0, float(np.log2(max(int(counts_drawn.max()), 1))))
        mesh = axes.pcolormesh(
            logarithms, cmap="Blues", vmin=0, vmax=highest, edgecolors="white", linewidth=1
        )
        for place, count in np.ndenumerate(counts_drawn):
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


def read_linked(place: GoldSource) -> Gold:
    """Read gold that has links to draw."""
    gold = read_corpus_gold(place)
    warn_all(gold.notices)
    links = column(gold.records, "np_relations")
    source = f"config {gold.config}" if gold.config is not None else "the gold file"
    if None in links:
        raise RequestError(
            f"{source} has documents without links (expected links for every document)"
        )
    if not any(links):
        raise RequestError(f"{source} has no links to draw")
    return gold


def draw_confusion(place: GoldSource, system: Annotator, *, labels: int, unlinked: str) -> Drawing:
    """Draw a confusion matrix of prepositions (Elazar et al., 2021, Figure 5)."""
    gold = read_linked(place)
    counts = count_confusions(gold.records, read_systems(gold, system.source).rows)
    labels_drawn = commonest(counts, labels)
    unlinked_label = [NO_LINK] if unlinked == "shown" else []
    figure = plot_confusion(counts, labels_drawn + unlinked_label)
    n_drawn = int(counts[labels_drawn].sum())
    n_linked = int(counts[1:].sum())
    prepositions = pluralize(len(labels_drawn), "preposition")
    return Drawing(figure, f"{prepositions}, {n_drawn:,} of {n_linked:,} gold pairs")
