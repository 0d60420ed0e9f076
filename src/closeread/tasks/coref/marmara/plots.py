"""Plots of the corpus: the types and lengths of mentions, and the lengths of chains.

Source: Schüller et al. (2018), Figures 4 to 6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from closeread.drawing.charts import COLOURS, start_chart, style_axes
from closeread.drawing.pictures import INK, own_settings
from closeread.exceptions import RequestError
from closeread.records import Record
from closeread.tasks.coref.marmara.records import count_mention_kinds, list_chains, list_mentions
from closeread.tasks.coref.plots import draw_shares

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def count_mention_lengths(records: Sequence[Record]) -> dict[int, int]:
    """Count the mentions of two or more tokens by their number of tokens, in ascending order."""
    lengths = Counter(end - start + 1 for record in records for start, end in list_mentions(record))
    return {length: lengths[length] for length in sorted(lengths) if length > 1}


def count_chain_lengths(records: Sequence[Record]) -> dict[int, int]:
    """Count the chains by their number of mentions, in ascending order."""
    lengths = Counter(len(cluster) for record in records for cluster in list_chains(record))
    return dict(sorted(lengths.items()))


def draw_mention_types(records: Sequence[Record]) -> Figure:
    """Draw the shares of pronouns, proper nouns, other single tokens and of mentions of several tokens."""
    kinds = count_mention_kinds(records)
    with own_settings():
        figure, (axes,) = start_chart(6, 4)
        draw_shares(axes, kinds, COLOURS[0])
        axes.set(ylabel="share of mentions (%)")
    return figure


def draw_mention_lengths(records: Sequence[Record]) -> Figure:
    """Draw the number of mentions of two or more tokens by length."""
    return _draw_counts(
        7.5, count_mention_lengths(records), xlabel="tokens of the mention", ylabel="mentions"
    )


def draw_chain_lengths(records: Sequence[Record]) -> Figure:
    """Draw the number of chains by length, on a logarithmic scale."""
    labels = {"xlabel": "mentions of the chain", "ylabel": "chains (logarithmic)"}
    return _draw_counts(9, count_chain_lengths(records), **labels, yscale="log", ylim=(0.5, None))


def _draw_counts(width: float, counts: dict[int, int], **settings: Any) -> Figure:
    with own_settings():
        from matplotlib.ticker import MaxNLocator

        figure, (axes,) = start_chart(width, 4)
        bars = axes.bar(list(counts), list(counts.values()), 0.8, color=COLOURS[0])
        if len(counts) <= 20:
            axes.bar_label(
                bars, [f"{count:,}" for count in counts.values()], size=7.5, color=INK, padding=2
            )
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        style_axes(axes)
        axes.set(**settings)
        if "yscale" in settings:
            axes.yaxis.set_major_formatter("{x:,.0f}")
    return figure


def check_mentions(records: Sequence[Record]) -> None:
    """Check that there are mentions to draw."""
    if not any(map(list_chains, records)):
        raise RequestError("the documents have no chains of two or more mentions to draw")
