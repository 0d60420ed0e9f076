"""Charts with axes, in one style: no frame, thin grid lines behind the bars.

Conventions: functions are called inside `closeread.drawing.pictures.own_settings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from closeread.drawing.pictures import DPI

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#3b6ea5", "#e08a3c", "#5a9a57", "#a8559b", "#8a8a8a", "#c44e52")
"""The colours of groups of bars, in order."""


def start_chart(width: float, height: float, n_axes: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure of this size in inches, and its axes from left to right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white", layout="constrained")
    return figure, [figure.add_subplot(1, n_axes, number + 1) for number in range(n_axes)]


def style_axes(axes: Axes, *, legend: bool = False) -> None:
    """Draw grid lines behind the bars, leave out the frame, and show the legend if there is one."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.yaxis.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    if legend:
        axes.legend(frameon=True, framealpha=1, facecolor="white", edgecolor="none")  # hides the grid behind the text
