"""Charts with axes, in one style: no frame, thin grid lines behind the bars.

Conventions: scores are from 0 to 1, and drawn in percent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from closeread.drawing.pictures import DPI, INK, figure_class, own_settings

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#3b6ea5", "#e08a3c", "#5a9a57", "#a8559b", "#8a8a8a", "#c44e52")
"""The colours of groups of bars, in order."""

_NUMBERED_BARS = 24
"""Numbers above more bars than this would overlap."""

_NUMBERED_COUNTS = 10
"""Counts, which may have many digits, above more bars than this would overlap."""

_LONG_NAME = 24
"""With names of more characters, charts are two in a row."""

_MAX_LEVEL_NAMES = 12
"""The names of more groups than this are tilted."""

_MAX_WIDTH_OF_LEVEL_NAMES = 12.0
"""Names that would be wider than this together, in inches, are tilted."""


def start_chart(
    width: float, height: float, n_axes: int = 1, n_columns: int = 0
) -> tuple[Figure, list[Axes]]:
    """Return a figure of this size in inches, and its axes row by row; call it inside `own_settings`."""
    size = (width, height)
    figure = figure_class()(figsize=size, dpi=DPI, facecolor="white", layout="constrained")
    n_columns = n_columns or n_axes
    n_rows = math.ceil(n_axes / n_columns)
    return figure, [figure.add_subplot(n_rows, n_columns, number + 1) for number in range(n_axes)]


def style_axes(axes: Axes, *, legend: bool = False, scale: Literal["x", "y"] = "y") -> None:
    """Draw grid lines of a scale behind the bars, leave out the frame, and show the legend if there is one."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, axis=scale, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    if legend:
        # hides the grid behind the text
        axes.legend(frameon=True, framealpha=1, facecolor="white", edgecolor="none")


class ScoreBar(NamedTuple):
    """A score.

    Attributes:
        value: the score; None if it is undefined, and there is no bar.
        low, high: its interval; None if there is none.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


def draw_score_bars(
    groups: Mapping[str, float],
    systems: Mapping[str, Sequence[ScoreBar]],
    *,
    score: str,
    field: str,
) -> Figure:
    """Draw scores as groups of bars, one for each system, with intervals as lines.

    Args:
        groups: the names of the groups, from left to right, with the number of what each has.
        systems: the scores of each system, one for each group.
        score, field: what the axes show.

    Returns:
        A figure whose only axes have one container of bars, in percent, for each system.
    """
    n_groups = len(groups)
    n_bars = len(systems) * n_groups
    # In inches, for names that are level: characters at 10 points are 0.09 wide.
    name_width = max(0.95, 0.09 * max(map(len, groups)) + 0.15)
    is_tilted = n_groups > _MAX_LEVEL_NAMES or name_width * n_groups > _MAX_WIDTH_OF_LEVEL_NAMES
    if is_tilted:
        name_width = 0.45
    with own_settings():
        figure, (axes,) = start_chart(max(6.5, 0.42 * n_bars + 1.5, name_width * n_groups + 1), 4.2)
        bar_width = 0.84 / len(systems)
        first_bars = []
        for number, bars in enumerate(systems.values()):
            offset = (number - (len(systems) - 1) / 2) * bar_width
            places = [group + offset for group in range(n_groups)]
            colour = COLOURS[number % len(COLOURS)]
            first_bars.append(_draw_bars(axes, places, bars, bar_width, colour))
            if n_bars <= _NUMBERED_BARS:
                _write_numbers(axes, places, bars)
        tilt: dict[str, Any] = {}
        if is_tilted:
            names = [f"{name} ({n:,.0f})" for name, n in groups.items()]
            tilt = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        else:
            names = [f"{name}\n{n:,.0f}" for name, n in groups.items()]
        axes.set_xticks(range(n_groups), names, **tilt)
        axes.tick_params(axis="x", length=0)
        axes.set(ylabel=score, xlabel=field, xlim=(-0.7, n_groups - 0.3))
        axes.margins(y=0.08)  # leaves room for the numbers
        axes.set_ylim(bottom=0)
        style_axes(axes)
        figure.legend(first_bars, list(systems), loc="outside upper left", ncols=4, frameon=False)
    return figure


def _draw_bars(
    axes: Axes, places: Sequence[float], bars: Sequence[ScoreBar], width: float, colour: str
) -> Artist:
    """Draw the bars of a system; return the first of them."""
    rectangles = axes.bar(places, [100 * (bar.value or 0) for bar in bars], width, color=colour)
    for place, bar in zip(places, bars, strict=True):
        if bar.low is not None and bar.high is not None:
            axes.plot([place, place], [100 * bar.low, 100 * bar.high], color=INK, linewidth=0.9)
    return rectangles.patches[0]


def _write_numbers(axes: Axes, places: Sequence[float], bars: Sequence[ScoreBar]) -> None:
    """Write the scores above their bars and intervals; a dash where there is none."""
    for place, bar in zip(places, bars, strict=True):
        text = "–" if bar.value is None else f"{100 * bar.value:.1f}"
        top = 100 * max(bar.value or 0, bar.high or 0)
        axes.annotate(
            text, (place, top), (0, 1.5), textcoords="offset points", ha="center", size=7, color=INK
        )


def draw_distributions(distributions: Mapping[str, Mapping[Any, int]]) -> Figure:
    """Draw counts as bars: axes for each title, with a bar for each name, or at each number."""
    widths = [0.4 * len(counts) for counts in distributions.values() if str in map(type, counts)]
    width = max(4.5, *widths)
    with own_settings():
        from matplotlib.ticker import MaxNLocator

        n_axes = len(distributions)
        figure, all_axes = start_chart(max(6.5, width * n_axes), 4.2, n_axes)
        for axes, (title, counts) in zip(all_axes, distributions.items(), strict=True):
            heights = list(counts.values())
            numbers_or_names: list[Any] = list(counts)
            if str in map(type, counts):
                places = range(len(counts))
                bars = axes.bar(places, heights, 0.8, color=COLOURS[0])
                axes.set_xticks(places, numbers_or_names, rotation=45, ha="right")
                axes.tick_params(axis="x", length=0)
            else:
                bars = axes.bar(numbers_or_names, heights, 0.8, color=COLOURS[0])
                axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            if len(counts) <= _NUMBERED_COUNTS:
                numbers = [f"{count:,}" for count in heights]
                axes.bar_label(bars, numbers, size=7, color=INK, padding=1)
            axes.set_title(title, fontsize=10)
            axes.yaxis.set_major_formatter("{x:,.0f}")
            style_axes(axes)
    return figure


class ForestRow(NamedTuple):
    """A system in a forest plot: its score and its interval, None if there is none, and whether it may be best."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    is_close: bool


def draw_forest(scores: Mapping[str, Sequence[ForestRow]], confidence: float) -> Figure:
    """Draw the scores of systems below each other, with a band for the interval of the best system of each score.

    Returns:
        A figure with axes for each score, from left to right; systems are from top to bottom.
    """
    n_rows = max(map(len, scores.values()))
    rows_of_all_scores = list(chain.from_iterable(scores.values()))
    longest = max(len(row.name) for row in rows_of_all_scores)
    with own_settings():
        n_columns = min(len(scores), 3 if longest <= _LONG_NAME else 2)
        width = (2.8 + 0.09 * longest) * n_columns
        height = (0.9 + 0.32 * n_rows) * math.ceil(len(scores) / n_columns)
        figure, all_axes = start_chart(max(width, 5.5), height + 0.4, len(scores), n_columns)
        for axes, (title, rows) in zip(all_axes, scores.items(), strict=True):
            axes.set(title=title)
            _draw_forest_rows(axes, rows)
        if all(row.low is None for row in rows_of_all_scores):
            legend = "Nothing can be resampled: there are no intervals, and no tests."
        else:
            legend = f"Lines and bands: {100 * confidence:g}% intervals. Filled: not significantly different from the best."
        figure.supxlabel(legend, size=9, color=INK)
    return figure


def _draw_forest_rows(axes: Axes, rows: Sequence[ForestRow]) -> None:
    """Draw the systems, of which the first is best, from top to bottom."""
    best = rows[0]
    if best.low is not None and best.high is not None:
        axes.axvspan(100 * best.low, 100 * best.high, color=COLOURS[0], alpha=0.12, linewidth=0)
    names = []
    for place, row in enumerate(rows):
        if row.value is None:
            names.append(row.name)
            middle = (0.5, place)
            axes.annotate(
                "undefined", middle, xycoords=("axes fraction", "data"), ha="center", size=8
            )
            continue
        names.append(f"{row.name}  {100 * row.value:.2f}")
        if row.low is not None and row.high is not None:
            axes.plot([100 * row.low, 100 * row.high], [place, place], color=INK, linewidth=1.1)
        _draw_dot(axes, 100 * row.value, place, COLOURS[0] if row.is_close else "white", 6)
    axes.set_yticks(range(len(rows)), names)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    style_axes(axes, scale="x")


def _draw_dot(axes: Axes, x: float, y: float, fill: str, size: float) -> None:
    axes.plot([x], [y], "o", color=fill, markeredgecolor=INK, markersize=size)


def draw_training_curves(runs: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> Figure:
    """Draw the loss and some scores of runs by epoch, with a dot at the best epoch.

    Args:
        runs: what the `run.json` of each says, by the names of the runs, at least one.
        names: the scores; a gap is drawn where one is undefined.

    Returns:
        A figure with axes for the loss, then for each score.
    """
    with own_settings():
        from matplotlib.ticker import MaxNLocator

        figure, all_axes = start_chart(3.4 * (1 + len(names)), 3.2, 1 + len(names))
        for number, (name, run) in enumerate(runs.items()):
            colour = COLOURS[number % len(COLOURS)]
            epochs = run["epochs"]
            curves = [[epoch["loss"] for epoch in epochs]]
            curves.extend(_list_scores(epochs, score) for score in names)
            best = run["best"]["epoch"]
            for axes, heights in zip(all_axes, curves, strict=True):
                numbers = range(1, len(epochs) + 1)
                axes.plot(numbers, heights, color=colour, label=name, linewidth=1.4)
                _draw_dot(axes, best, heights[best - 1], colour, 5)
        for axes, title in zip(all_axes, ("training loss", *names), strict=True):
            axes.set(xlabel="epoch", title=title)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            style_axes(axes)
        handles, labels = all_axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=3, frameon=False)
    return figure


def _list_scores(epochs: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    """A score of each epoch in percent; not a number, which is not drawn, where it is undefined."""
    scores = []
    for epoch in epochs:
        score = epoch["scores"].get(name)
        scores.append(math.nan if score is None else 100 * score)
    return scores
