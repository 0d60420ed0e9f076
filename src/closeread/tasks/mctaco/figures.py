"""The figure of McTaco: scores by the size of the training data (Zhou et al., 2019, Figure 3)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from closeread.corpus.figures import Drawing
from closeread.corpus.notices import warn
from closeread.drawing.charts import COLOURS, start_chart, style_axes
from closeread.drawing.pictures import own_settings
from closeread.exceptions import FormatError, Problem, pluralize
from closeread.neural.run_files import RUN
from closeread.tasks.mctaco.models import METRICS, MeanOfRuns, read_runs

_LEGEND_COLUMNS = 4


def draw_runs(folder: Path) -> Drawing:
    """Draw the scores of trained models by the size of their training data (Zhou et al., 2019, Figure 3).

    The lines have bars of one standard error.  Scores are those on test questions if all runs of the folder have them,
    else on those for validation.
    """
    results = read_runs(folder)
    if not results.runs:
        raise FormatError(folder / RUN, [Problem("has no complete run (expected one or more)")])
    data = "test" if all(run.test for run in results.runs) else "validation"
    if not results.is_complete:
        warn(f"{folder / RUN}: some runs are not complete.")
    questions = []
    for size in results.sizes:
        n_questions = [run.questions for run in results.runs if run.size == size]
        questions.append(float(np.mean(n_questions)))
    with own_settings():
        figure, (axes,) = start_chart(6.5, 4.2)
        for (metric, title), colour in zip(METRICS.items(), COLOURS, strict=False):
            means = []
            bars = []
            for size in results.sizes:
                point = results.estimate(size, data, metric) or MeanOfRuns(math.nan, None)
                means.append(100 * point.mean)
                bars.append(100 * (point.standard_error or 0))
            axes.errorbar(
                questions,
                means,
                yerr=bars,
                label=title,
                color=colour,
                marker="o",
                markersize=4,
                capsize=3,
            )
        axes.set(xlabel="training questions", ylabel=f"{data} score (%)")
        axes.set_xlim(left=0 if min(questions) else -0.02 * max(1.0, *questions))
        axes.set_ylim(bottom=0)
        style_axes(axes)
        figure.legend(loc="outside upper left", ncols=_LEGEND_COLUMNS, frameon=False)
    runs = pluralize(len(results.runs), "run")
    sizes = pluralize(len(results.sizes), "size")
    return Drawing(figure, f"{runs} with {sizes} of the training data")
