"""Figures of TNE: the confusion matrix of prepositions, their frequencies, and scores of links.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8.2, Figure 5 for the matrix, coloured by base 2
logarithms, and section 6, Figure 4 for the shares, where rare prepositions are united.  The counts in the cells, the
row and column for unlinked pairs, and grouped bars for several splits are additions.

Conventions: labels are numbered as in `closeread.tasks.tne.columns.PREPOSITIONS`, 0 for no link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Floats, Ints, ratio
from closeread.corpus.figures import Drawing
from closeread.corpus.gold import Gold, read_corpus_gold
from closeread.corpus.notices import warn_all
from closeread.corpus.predictions import read_systems
from closeread.counts.annotators import Annotator
from closeread.counts.procedure import GoldSpec
from closeread.drawing.charts import COLOURS, start_chart, style_axes
from closeread.drawing.pictures import DPI, INK, figure_class, own_settings
from closeread.exceptions import RequestError, pluralize
from closeread.records import Record
from closeread.tasks.tne.columns import (
    N_LABELS,
    NONE,
    PREPOSITIONS,
    Documents,
    confusion,
    documents_of,
    rows_of,
)
from closeread.tasks.tne.records import OTHER, SMALLEST

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


def preposition_counts(documents: Documents) -> Ints:
    """Count the links with each label, duplicates included; (25,)."""
    return np.bincount(documents.links.label, minlength=N_LABELS)


def plot_prepositions(counts: Mapping[str, Ints], smallest: float = SMALLEST) -> Figure:
    """Draw the share of links of each preposition as bars, in descending order of the first file."""
    with own_settings():
        names, shares = _unite_small(counts, smallest)
        figure, (axes,) = start_chart(_BARS, 4.2)
        width = 0.84 / len(counts)
        for number, (name, of_file) in enumerate(zip(counts, shares, strict=True)):
            places = np.arange(len(names)) + (number - (len(counts) - 1) / 2) * width
            bars = axes.bar(
                places, of_file, width, label=name, color=COLOURS[number % len(COLOURS)]
            )
            if len(counts) == 1:
                axes.bar_label(
                    bars, [f"{share:.1f}" for share in of_file], size=7, color=INK, padding=1
                )
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
        axes.tick_params(axis="x", length=0)
        axes.set(ylabel="share of links (%)", xlim=(-0.7, len(names) - 0.3))
        style_axes(axes, legend=len(counts) > 1)
    return figure


def _unite_small(counts: Mapping[str, Ints], smallest: float) -> tuple[list[str], Floats]:
    """Return the names of the bars of `plot_prepositions`, and (n_files, n_bars) their heights in percent."""
    shares = np.stack([100 * ratio(of_file, of_file.sum()) for of_file in counts.values()])
    labels = np.argsort(-shares[0, 1:], kind="stable") + 1
    is_small = (shares[:, labels] < smallest).all(axis=0)
    names = [PREPOSITIONS[label] for label in labels[~is_small]]
    if not is_small.any():
        return names, shares[:, labels]
    other = shares[:, labels[is_small]].sum(axis=1, keepdims=True)
    return [*names, OTHER], np.hstack([shares[:, labels[~is_small]], other])


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
    shown = commonest(counts, labels)
    figure = plot_confusion(counts, [*shown, NO_LINK] if unlinked == "shown" else shown)
    of_these, linked = int(counts[shown].sum()), int(counts[1:].sum())
    return Drawing(
        figure, f"{pluralize(len(shown), 'preposition')}, {of_these:,} of {linked:,} gold pairs"
    )


def draw_prepositions(place: GoldSpec, *, splits: Sequence[str], other: float) -> Drawing:
    """Draw the frequency of each preposition among links (Elazar et al., 2021, Figure 4)."""
    counts = {}
    for split in dict.fromkeys(splits) or (place.split,):
        gold = read_linked(place._replace(split=split))
        name = gold.split or ("gold" if isinstance(place.gold, Sequence) else str(place.gold))
        counts[name] = preposition_counts(documents_of(gold.records))
    summary = ", ".join(f"{links.sum():,} links of {name}" for name, links in counts.items())
    return Drawing(plot_prepositions(counts, other), summary)
