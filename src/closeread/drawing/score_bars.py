"""Bars of scores with intervals, in groups, for several systems.

Conventions: scores are from 0 to 1, and drawn in percent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from closeread.drawing.charts import COLOURS, start_chart, style_axes
from closeread.drawing.pictures import INK, own_settings

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NUMBERED_BARS = 24
"""Numbers above more bars than this would overlap."""

_LEVEL_GROUPS = 12
"""The names of more groups than this are tilted."""

_WIDEST = 12.0
"""Names are tilted, too, if their groups would be wider than this, in inches."""

NOTHING = "–"
_LEGEND_COLUMNS = 4
_LIGHT = 0.35


class ScoreBar(NamedTuple):
    """A score.

    Attributes:
        value: the score; None if it is undefined, and there is no bar.
        low, high: its interval; None if there is none.
        behind: a score that is at least as high, drawn behind it in a lighter colour; None for none.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    behind: float | None = None


def draw_score_bars(
    groups: Mapping[str, float], systems: Mapping[str, Sequence[ScoreBar]], *, score: str, field: str
) -> Figure:
    """Draw scores as groups of bars, one for each system, with intervals as lines.

    Args:
        groups: the names of the groups, from left to right, with the number of what each has.
        systems: the scores of each system, one for each group.
        score, field: what the axes show.

    Returns:
        A figure whose only axes have one container of bars, in percent, for each system, and before it one of the bars
        behind, if it has any.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    # In inches, for names that are level: characters at 10 points are 0.09 wide.
    group = max(0.95, 0.09 * max(map(len, groups)) + 0.15)
    is_tilted = len(groups) > _LEVEL_GROUPS or group * len(groups) > _WIDEST
    wide = max(0.42 * len(systems) * len(groups) + 1.5, (0.45 if is_tilted else group) * len(groups) + 1)
    with own_settings():
        figure, (axes,) = start_chart(max(6.5, wide), 4.2)
        width = 0.84 / len(systems)
        drawn = []
        for number, bars in enumerate(systems.values()):
            places = np.arange(len(groups)) + (number - (len(systems) - 1) / 2) * width
            drawn.append(_draw_bars(axes, places.tolist(), bars, width, COLOURS[number % len(COLOURS)]))
            if len(systems) * len(groups) <= _NUMBERED_BARS:
                _write_numbers(axes, places.tolist(), bars)
        if is_tilted:
            names = [f"{name} ({n:,.0f})" for name, n in groups.items()]
            axes.set_xticks(range(len(groups)), names, rotation=45, ha="right", rotation_mode="anchor")
        else:
            axes.set_xticks(range(len(groups)), [f"{name}\n{n:,.0f}" for name, n in groups.items()])
        axes.tick_params(axis="x", length=0)
        axes.set(ylabel=score, xlabel=field, xlim=(-0.7, len(groups) - 0.3))
        axes.margins(y=0.08)  # leaves room for the numbers
        axes.set_ylim(bottom=0)
        style_axes(axes)
        figure.legend(drawn, list(systems), loc="outside upper left", ncols=_LEGEND_COLUMNS, frameon=False)
    return figure


def _draw_bars(axes: Axes, places: Sequence[float], bars: Sequence[ScoreBar], width: float, colour: str) -> Artist:
    """Draw the bars of a system, and those behind them if there are any; return the first of the former."""
    if any(bar.behind is not None for bar in bars):
        axes.bar(places, [100 * (bar.behind or 0) for bar in bars], width, color=colour, alpha=_LIGHT)
    drawn = axes.bar(places, [100 * (bar.value or 0) for bar in bars], width, color=colour)
    for place, bar in zip(places, bars, strict=True):
        if bar.low is not None and bar.high is not None:
            axes.plot([place, place], [100 * bar.low, 100 * bar.high], color=INK, linewidth=0.9)
    return drawn.patches[0]


def _write_numbers(axes: Axes, places: Sequence[float], bars: Sequence[ScoreBar]) -> None:
    """Write the scores above their bars and intervals; a dash where there is none."""
    for place, bar in zip(places, bars, strict=True):
        text = NOTHING if bar.value is None else f"{100 * bar.value:.1f}"
        top = 100 * max(bar.value or 0, bar.high or 0)
        axes.annotate(text, (place, top), (0, 1.5), textcoords="offset points", ha="center", size=7, color=INK)
