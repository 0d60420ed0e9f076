"""Plots of annotators' chains beside gold: how many annotators have each link, and their mistakes.

Source: Schüller et al. (2018), Figures 7 and 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Ints, LimitError, ratio
from closeread.counts.procedure import name_documents
from closeread.drawing.charts import COLOURS, start_chart, style_axes
from closeread.drawing.pictures import INK, own_settings
from closeread.tasks.coref.annotators import gather_annotations
from closeread.tasks.coref.documents import Documents
from closeread.tasks.coref.errors import ChainErrors, group_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BINS = 10  # of the percentage of annotators: (0, 10], (10, 20] and so on to (90, 100]
MAX_LINKS = 2_000_000  # the most links of a document, those of all annotators together


def count_support(gold: Documents, files: Sequence[Documents]) -> Ints:
    """Count the links of annotators by the percentage of their document's annotators who draw them, (2, `BINS`).

    Links whose mentions are in one gold chain are in the first row.  Gold has all documents.
    """
    bins: Counter[tuple[bool, int]] = Counter()
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
        bins.update(
            (link not in in_gold, -(-BINS * n // n_annotators) - 1) for link, n in support.items()
        )
    return np.array(
        [[bins[is_other, place] for place in range(BINS)] for is_other in (False, True)], np.int64
    )


def draw_link_support(counts: Ints) -> Figure:
    """Draw the number of links by the percentage of annotators who draw them, those in gold and others stacked."""
    with own_settings():
        figure, (axes,) = start_chart(7.5, 4.2)
        places = range(BINS)
        axes.bar(places, counts[0], 0.86, label="in one gold chain", color=COLOURS[0])
        axes.bar(
            places,
            counts[1],
            0.86,
            bottom=counts[0],
            label="not in one gold chain",
            color=COLOURS[1],
        )
        axes.set_xticks(
            [place - 0.5 for place in range(BINS + 1)],
            [f"{10 * tenth}" for tenth in range(BINS + 1)],
        )
        axes.set(xlabel="annotators who draw the link (% of those of the document)", ylabel="links")
        axes.set_ylim(top=1.05 * (counts.sum(axis=0).max() or 1))
        axes.yaxis.set_major_formatter("{x:,.0f}")
        style_axes(axes, legend=True)
    return figure


def draw_mistakes(errors: ChainErrors) -> Figure:
    """Draw the shares of the kinds of mistakes in chains, and of the numbers of missing and foreign mentions."""
    kinds = {kind: count for kind, count in errors.kinds.items() if kind != "exact"}
    with own_settings():
        figure, panels = start_chart(10.5, 3.8, 3)
        for axes, title, counts, colour in (
            (panels[0], "kind of mistaken chain", kinds, COLOURS[0]),
            (
                panels[1],
                "missing: mentions that it lacks",
                group_numbers(errors.missing),
                COLOURS[1],
            ),
            (
                panels[2],
                "mixed: mentions of other chains",
                group_numbers(errors.foreign),
                COLOURS[2],
            ),
        ):
            draw_shares(axes, counts, colour)
            axes.set_title(title, fontsize=10)
        panels[0].set(ylabel="share (%)")
    return figure


def draw_shares(axes: Axes, counts: Mapping[str, int], colour: str) -> None:
    """Draw counts as bars of their shares in percent, with the counts above them."""
    total = sum(counts.values())
    shares = [100 * float(ratio(count, total)) if total else 0.0 for count in counts.values()]
    bars = axes.bar(range(len(counts)), shares, 0.72, color=colour)
    labels = [
        f"{share:.1f} %\n{count:,}" for share, count in zip(shares, counts.values(), strict=True)
    ]
    axes.bar_label(bars, labels, size=7.5, color=INK, padding=2)
    axes.set_xticks(range(len(counts)), list(counts))
    axes.tick_params(axis="x", length=0)
    axes.set(ylim=(0, max(shares, default=0.0) * 1.2 or 1.0))
    style_axes(axes)
