"""Plots of annotators' chains: their agreement; how many annotators have each link, and their mistakes, beside gold.

Source of the last two: Schüller et al. (2018), Figures 7 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Ints, ratio
from closeread.counts.report import drop_part
from closeread.drawing.charts import COLOURS, start_chart, style_axes
from closeread.drawing.pictures import INK, own_settings
from closeread.tasks.annotation.agreement import Agreement, rank_documents
from closeread.tasks.annotation.annotators import check_size, find_links, gather_documents
from closeread.tasks.annotation.chain_errors import ChainErrors, group_numbers
from closeread.tasks.coref.documents import Documents

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BINS = 10
"""Of the percentage of annotators: (0, 10], (10, 20] and so on to (90, 100]."""

GOLD = 0
"""The number of gold among the files; those of annotators follow."""

MEASURE_TITLES = {"nominal": "nominal", "iaa1": "IAA1", "iaa2": "IAA2", "f1": "F1 of mentions"}
"""What agreement is drawn of documents and of pairs of annotators."""

MAX_NAMED_DOCUMENTS = 40
"""The names of more documents would overlap."""

MAX_LINKS = 2_000_000
"""The most links of a document, those of all annotators together."""


def count_support(gold: Documents, files: Sequence[Documents]) -> Ints:
    """Count the links of annotators by the percentage of their document's annotators who draw them, (2, `BINS`).

    Links whose mentions are in one gold chain are in the first row.  Gold has all documents.
    """
    counts = np.zeros((2, BINS), np.int64)
    for document in gather_documents([gold, *files]):
        n_links = document.count_links()
        n_in_gold = n_links.pop(GOLD)
        n_most = max(n_in_gold, sum(n_links.values()))
        check_size(document, n_most, "links of all annotators", MAX_LINKS)
        n_annotators = len(document.chains) - 1
        for annotators in find_links(document).values():
            is_in_gold = GOLD in annotators
            n_drawing = len(annotators) - is_in_gold
            if n_drawing:
                # Rounded up, since the upper border belongs to the bin.
                bin_number = (BINS * n_drawing + n_annotators - 1) // n_annotators
                counts[0 if is_in_gold else 1, bin_number - 1] += 1
    return counts


def draw_link_support(counts: Ints) -> Figure:
    """Draw the number of links by the percentage of annotators who draw them, those in gold and others stacked."""
    with own_settings():
        figure, (axes,) = start_chart(7.5, 4.2)
        bins = range(BINS)
        in_gold, not_in_gold = counts
        axes.bar(bins, in_gold, 0.86, label="in one gold chain", color=COLOURS[0])
        axes.bar(
            bins,
            not_in_gold,
            0.86,
            bottom=in_gold,
            label="not in one gold chain",
            color=COLOURS[1],
        )
        borders = np.arange(BINS + 1)
        axes.set_xticks(borders - 0.5, [f"{100 // BINS * border}" for border in borders])
        axes.set(xlabel="annotators who draw the link (% of those of the document)", ylabel="links")
        axes.set_ylim(top=1.05 * (counts.sum(axis=0).max() or 1))
        axes.yaxis.set_major_formatter("{x:,.0f}")
        style_axes(axes, legend=True)
    return figure


def draw_mistakes(errors: ChainErrors) -> Figure:
    """Draw the shares of the kinds of mistakes in chains, and of the numbers of missing and foreign mentions."""
    kinds = {kind: n for kind, n in errors.kinds.items() if kind != "exact"}
    counts_by_title = {
        "kind of mistaken chain": kinds,
        "missing: mentions that it lacks": group_numbers(errors.missing),
        "mixed: mentions of other chains": group_numbers(errors.foreign),
    }
    with own_settings():
        figure, panels = start_chart(10.5, 3.8, len(counts_by_title))
        for number, (title, counts) in enumerate(counts_by_title.items()):
            draw_shares(panels[number], counts, COLOURS[number])
            panels[number].set_title(title, fontsize=10)
        panels[0].set(ylabel="share (%)")
    return figure


def draw_alpha(agreement: Agreement) -> Figure:
    """Draw alpha of documents with its average and interval, and the agreement of every two annotators."""
    documents = rank_documents(agreement.documents)
    has_names = len(documents) <= MAX_NAMED_DOCUMENTS
    n_rows = max(min(len(documents), MAX_NAMED_DOCUMENTS), len(agreement.pairs))
    with own_settings():
        figure, (document_axes, pair_axes) = start_chart(10.5, 1.8 + 0.24 * n_rows, 2)
        _draw_values(document_axes, [document.alpha for document in documents])
        for number, (measure, average) in enumerate(agreement.alpha.items()):
            if average is not None:
                document_axes.axvline(100 * average, color=COLOURS[number], linewidth=1)
            if measure in agreement.intervals:
                low, high = agreement.intervals[measure]
                document_axes.axvspan(
                    100 * low, 100 * high, color=COLOURS[number], alpha=0.15, linewidth=0
                )
        names = drop_part([document.document for document in documents]) if has_names else []
        document_axes.set_yticks(range(len(names)), names)
        average_name = f"{agreement.options['average']} average"
        if agreement.intervals:
            average_name += " and 95 % interval"
        document_axes.set(xlabel="alpha (times 100)", title=f"documents; {average_name}")
        if not has_names:
            document_axes.set_ylabel(f"{len(documents):,} documents")
        _draw_values(pair_axes, [division.scores for division in agreement.pairs.values()])
        pairs = []
        for first, second in agreement.pairs:
            pairs.append(f"{agreement.annotators[first]}, {agreement.annotators[second]}")
        pair_axes.set_yticks(range(len(pairs)), pairs)
        pair_axes.set(xlabel="alpha and F1 (times 100)", title="pairs of annotators")
        handles, labels = pair_axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _draw_values(axes: Axes, rows: Sequence[Mapping[str, float | None]]) -> None:
    """Draw a dot for each measure of each row, from top to bottom; none where it is undefined."""
    for number, (measure, title) in enumerate(MEASURE_TITLES.items()):
        values = [row.get(measure) for row in rows]
        percentages = [np.nan if value is None else 100 * value for value in values]
        axes.plot(
            percentages, range(len(rows)), "o", color=COLOURS[number], markersize=5, label=title
        )
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    style_axes(axes, scale="x")


def draw_shares(axes: Axes, counts: Mapping[str, int], colour: str) -> None:
    """Draw counts as bars of their shares in percent, with the counts above them."""
    total = sum(counts.values())
    shares = []
    labels = []
    for count in counts.values():
        share = 100 * float(ratio(count, total)) if total else 0.0
        shares.append(share)
        labels.append(f"{share:.1f} %\n{count:,}")
    bars = axes.bar(range(len(counts)), shares, 0.72, color=colour)
    axes.bar_label(bars, labels, size=7.5, color=INK, padding=2)
    axes.set_xticks(range(len(counts)), list(counts))
    axes.tick_params(axis="x", length=0)
    axes.set(ylim=(0, max(shares, default=0.0) * 1.2 or 1.0))
    style_axes(axes)
