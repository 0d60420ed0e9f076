"""Plots of McTaco: exact match by category, of systems beside a coin; scores by the size of the training data.

Source: Zhou et al. (2019), Figure 2, which has one system, and Figure 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from closeread.drawing.charts import COLOURS, start_chart, style_axes
from closeread.drawing.pictures import INK, own_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COIN = "coin"
_LEGEND_COLUMNS = 4


def draw_categories(coin: Mapping[str, float], systems: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw exact match by category as groups of bars: the coin first, then the systems.

    Args:
        coin: the expected exact match of a coin by category, from 0 to 1; the groups, in this order.
        systems: the exact match of each system in the same categories.

    Returns:
        A figure whose only axes have one container of bars, in percent, for the coin and each system.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    series = [(COIN, coin), *systems.items()]  # a system may be called like the coin
    with own_settings():
        figure, (axes,) = start_chart(max(7.5, 0.5 * len(series) * len(coin) + 1), 4.2)
        width = 0.84 / len(series)
        for number, (name, scores) in enumerate(series):
            percent = [100 * scores[category] for category in coin]
            places = np.arange(len(coin)) + (number - (len(series) - 1) / 2) * width
            colour = COLOURS[(number - 1) % len(COLOURS)] if number else "white"
            bars = axes.bar(places, percent, width, label=name, color=colour, edgecolor=None if number else INK)
            axes.bar_label(bars, [f"{value:.1f}" for value in percent], size=7, color=INK, padding=1)
        axes.set_xticks(range(len(coin)), list(coin))
        axes.tick_params(axis="x", length=0)
        axes.set(ylabel="exact match (%)")
        axes.margins(y=0.08)  # leaves room for the numbers
        style_axes(axes)
        figure.legend(loc="outside upper left", ncols=_LEGEND_COLUMNS, frameon=False)
    return figure


def draw_learning_curve(
    questions: Sequence[float], scores: Mapping[str, Sequence[tuple[float, float | None]]], data: str
) -> Figure:
    """Draw scores by the size of the training data, as lines with bars of one standard error.

    Args:
        questions: the numbers of training questions, ascending.
        scores: for each of them, mean (NaN for a gap) and standard error from 0 to 1, by what a score is called.
        data: what is scored, such as "test".

    Returns:
        A figure whose only axes have one container of error bars, in percent, for each score.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    with own_settings():
        figure, (axes,) = start_chart(6.5, 4.2)
        for (name, points), colour in zip(scores.items(), COLOURS, strict=False):
            means = [100 * mean for mean, _ in points]
            errors = [100 * (error or 0) for _, error in points]
            axes.errorbar(questions, means, yerr=errors, label=name, color=colour, marker="o", markersize=4, capsize=3)
        axes.set(xlabel="training questions", ylabel=f"{data} score (%)")
        axes.set_xlim(left=0 if min(questions) else -0.02 * max(1.0, *questions))
        axes.set_ylim(bottom=0)
        style_axes(axes)
        figure.legend(loc="outside upper left", ncols=_LEGEND_COLUMNS, frameon=False)
    return figure
