"""Curves of training runs: loss and scores by epoch.

Conventions: scores are from 0 to 1, and drawn in percent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from closeread.drawing.charts import COLOURS, start_chart, style_axes
from closeread.drawing.pictures import INK, own_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEGEND_COLUMNS = 3
_UNDEFINED = float("nan")


class Curve(NamedTuple):
    """A training run.

    Attributes:
        loss: (n_epochs,) the mean loss of each epoch.
        scores: by name, (n_epochs,) the scores on held-out data; None where one is undefined.
        best: the best epoch, from 1.
    """

    loss: Sequence[float]
    scores: Mapping[str, Sequence[float | None]]
    best: int


def draw_training_curves(runs: Mapping[str, Curve]) -> Figure:
    """Draw the loss and the scores of runs by epoch, with a dot at the best epoch.

    Args:
        runs: the runs by their names, at least one; all have the same scores.

    Returns:
        A figure with axes for the loss, then for each score.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    names = list(next(iter(runs.values())).scores)
    with own_settings():
        from matplotlib.ticker import MaxNLocator

        figure, all_axes = start_chart(3.4 * (1 + len(names)), 3.2, 1 + len(names))
        for number, (name, run) in enumerate(runs.items()):
            colour = COLOURS[number % len(COLOURS)]
            epochs = range(1, len(run.loss) + 1)
            percent = [[_UNDEFINED if s is None else 100 * s for s in scores] for scores in run.scores.values()]
            for axes, heights in zip(all_axes, (run.loss, *percent), strict=True):
                axes.plot(epochs, heights, color=colour, label=name, linewidth=1.4)
                axes.plot([run.best], [heights[run.best - 1]], "o", color=colour, markeredgecolor=INK, markersize=5)
        for axes, title in zip(all_axes, ("training loss", *names), strict=True):
            axes.set(xlabel="epoch", title=title)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            style_axes(axes)
        handles, labels = all_axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=_LEGEND_COLUMNS, frameon=False)
    return figure
