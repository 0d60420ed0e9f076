"""Plots of annotators' chains beside gold: how many draw each link, and their mistakes.

Source: Schüller et al. (2018), Figures 7 and 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from closeread.arrays import Ints, LimitError, Mask, ratio
from closeread.counts.procedure import name_documents
from closeread.drawing.charts import COLOURS, start_chart, style_axes
from closeread.drawing.pictures import INK, own_settings
from closeread.tasks.coref.annotators import gather_annotations
from closeread.tasks.coref.chain_errors import ChainErrors
from closeread.tasks.coref.documents import MentionTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BINS = 10
"""The number of bins of the percentage of annotators: (0, 10], (10, 20] and so on to (90, 100]."""


MAX_LINKS = 2_000_000
"""The most links of a document, those of all annotators together."""


class LinkSupport(NamedTuple):
    """The links of several annotators.

    Attributes:
        support: (n_links,) how many annotators draw each link.
        annotators: (n_links,) how many annotated its document.
        in_gold: (n_links,) whether its mentions are in one chain of gold.
    """

    support: Ints
    annotators: Ints
    in_gold: Mask

    def count_bins(self) -> Ints:
        """Count links by percentage of annotators; (2, `BINS`), those in gold in the first row."""
        place = -(-BINS * self.support // self.annotators) - 1
        return np.stack([np.bincount(place[rows], minlength=BINS) for rows in (self.in_gold, ~self.in_gold)])


def measure_support(gold: MentionTable, files: Sequence[MentionTable]) -> LinkSupport:
    """Count the annotators of every link.

    Args:
        gold: the documents with their gold chains; no mention is in two chains.
        files: the documents of each annotator; gold has all of them.
    """
    rows: list[tuple[int, int, bool]] = []
    for number, document in enumerate(documents := gather_annotations([gold, *files])):
        drawn: Counter[bool] = Counter()  # links of gold, and of all annotators
        for annotator, chains in document.annotations:
            drawn[annotator > 0] += sum(comb(len(chain), 2) for chain in chains)
        if (n_links := max(drawn.values(), default=0)) > MAX_LINKS:
            with name_documents([one.name for one in documents]):
                raise LimitError(number, n_links, "links of all annotators", MAX_LINKS)
        in_gold: set[tuple[int, int]] = set()
        support: Counter[tuple[int, int]] = Counter()
        for annotator, chains in document.annotations:
            links = (link for chain in chains for link in combinations(sorted(chain), 2))
            (support if annotator else in_gold).update(links)
        n_annotators = sum(annotator > 0 for annotator, _ in document.annotations)
        rows += [(n, n_annotators, link in in_gold) for link, n in support.items()]
    times, annotators, is_gold = np.array(rows, np.int64).reshape(-1, 3).T
    return LinkSupport(times, annotators, is_gold.astype(np.bool_))


MORE = 4
"""The number of mentions from which on chains are drawn as one bar."""


def draw_link_support(support: LinkSupport) -> Figure:
    """Draw the number of links by the percentage of annotators who draw them, those in gold and others stacked."""
    counts = support.count_bins()
    with own_settings():
        figure, (axes,) = start_chart(7.5, 4.2)
        places = range(BINS)
        axes.bar(places, counts[0], 0.86, label="in one gold chain", color=COLOURS[0])
        axes.bar(places, counts[1], 0.86, bottom=counts[0], label="not in one gold chain", color=COLOURS[1])
        axes.set_xticks([place - 0.5 for place in range(BINS + 1)], [f"{10 * tenth}" for tenth in range(BINS + 1)])
        axes.set(xlabel="annotators who draw the link (% of those of the document)", ylabel="links")
        axes.set_ylim(top=1.05 * (counts.sum(axis=0).max() or 1))
        axes.yaxis.set_major_formatter("{x:,.0f}")
        style_axes(axes, legend=True)
    return figure


def draw_mistakes(errors: ChainErrors) -> Figure:
    """Draw the shares of the kinds of mistaken chains, and of the numbers of missing and foreign mentions."""
    kinds = {kind: count for kind, count in errors.count_kinds().items() if kind != "exact"}
    with own_settings():
        figure, panels = start_chart(10.5, 3.8, 3)
        draw_shares(panels[0], kinds, COLOURS[0])
        panels[0].set(title="kind of mistaken chain", ylabel="share (%)")
        for axes, title, counts, colour in (
            (panels[1], "missing: mentions that it lacks", errors.count_missing(), COLOURS[1]),
            (panels[2], "mixed: mentions of other chains", errors.count_foreign(), COLOURS[2]),
        ):
            draw_shares(axes, group_numbers(counts), colour)
            axes.set(title=title)
        for axes in panels:
            axes.title.set_fontsize(10)
    return figure


def group_numbers(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts of 1, 2, 3 and of more, from counts by number.

    >>> group_numbers({"1": 5, "3": 2, "4": 1, "12": 1})
    {'1': 5, '2': 0, '3': 2, 'more': 2}
    """
    few = {str(number): counts.get(str(number), 0) for number in range(1, MORE)}
    return {**few, "more": sum(count for number, count in counts.items() if int(number) >= MORE)}


def draw_shares(axes: Axes, counts: Mapping[str, int], colour: str) -> None:
    """Draw counts as bars of their shares in percent, with the counts above them."""
    total = sum(counts.values())
    shares = [100 * float(ratio(count, total)) if total else 0.0 for count in counts.values()]
    bars = axes.bar(range(len(counts)), shares, 0.72, color=colour)
    labels = [f"{share:.1f} %\n{count:,}" for share, count in zip(shares, counts.values(), strict=True)]
    axes.bar_label(bars, labels, size=7.5, color=INK, padding=2)
    axes.set_xticks(range(len(counts)), list(counts))
    axes.tick_params(axis="x", length=0)
    axes.set(ylim=(0, max(shares, default=0.0) * 1.2 or 1.0))
    style_axes(axes)
