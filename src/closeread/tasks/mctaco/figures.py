"""Figures of McTaco: scores by category, of systems beside random labels; of labels; by the size of the training data.

Source: Zhou et al. (2019), Figure 2, which has one system, and Figure 3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from closeread.corpus.figures import Drawing
from closeread.corpus.notices import warn
from closeread.corpus.predictions import count_rows, name_systems, read_noted_gold, read_systems
from closeread.counts.annotators import Annotator
from closeread.counts.estimates import Resampling, Scores
from closeread.counts.estimates import score as estimate
from closeread.counts.procedure import GoldSpec
from closeread.drawing.charts import COLOURS, ScoreBar, draw_score_bars, start_chart, style_axes
from closeread.drawing.pictures import INK, own_settings
from closeread.exceptions import FormatError, Problem, pluralize, read_all
from closeread.neural.run_files import RUN
from closeread.tasks.mctaco.errors import FIELDS, LABEL_METRICS, count_fields
from closeread.tasks.mctaco.models import DATA, METRICS, Estimate, read_runs
from closeread.tasks.mctaco.procedure import (
    PROCEDURE,
    expect_random_match,
    score_table,
    slice_by_category,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RANDOM = "random"
_LEGEND_COLUMNS = 4


def draw_categories(
    random: Mapping[str, float], systems: Mapping[str, Mapping[str, float]]
) -> Figure:
    """Draw exact match by category, from 0 to 1, as groups of bars in percent: random labels, then systems."""
    series = [(RANDOM, random), *systems.items()]  # a system may have this name, too
    with own_settings():
        figure, (axes,) = start_chart(max(7.5, 0.5 * len(series) * len(random) + 1), 4.2)
        width = 0.84 / len(series)
        for number, (name, scores) in enumerate(series):
            percent = [100 * scores[category] for category in random]
            places = np.arange(len(random)) + (number - (len(series) - 1) / 2) * width
            colour = COLOURS[(number - 1) % len(COLOURS)] if number else "white"
            bars = axes.bar(
                places, percent, width, label=name, color=colour, edgecolor=None if number else INK
            )
            axes.bar_label(
                bars, [f"{value:.1f}" for value in percent], size=7, color=INK, padding=1
            )
        axes.set_xticks(range(len(random)), list(random))
        axes.tick_params(axis="x", length=0)
        axes.set(ylabel="exact match (%)")
        axes.margins(y=0.08)  # leaves room for the numbers
        style_axes(axes)
        figure.legend(loc="outside upper left", ncols=_LEGEND_COLUMNS, frameon=False)
    return figure


def draw_systems(place: GoldSpec, systems: Sequence[Annotator]) -> Drawing:
    """Draw exact match by category, of systems beside random labels (Zhou et al., 2019, Figure 2)."""
    gold = read_noted_gold(place)
    different = name_systems(systems)

    def score(one: Annotator) -> dict[str, float]:
        slices = slice_by_category(gold.records, read_systems(gold, one.source).rows)
        return {category: score_table(table)["exact_match"] for category, table in slices.items()}

    scores = dict(zip(different, read_all(different.values(), score), strict=True))
    of_gold = slice_by_category(gold.records, gold.records)
    random = {category: expect_random_match(table) for category, table in of_gold.items()}
    of = "1 category" if len(random) == 1 else f"{len(random)} categories"
    summary = f"{of} of questions, {pluralize(len(scores), 'system')} and random labels"
    return Drawing(draw_categories(random, scores), summary)


SCORES = {"accuracy": "accuracy of labels", "exact_match": "exact match", "f1": "F1"}
"""The scores of labels that can be drawn, and their titles."""


def draw_label_scores(
    place: GoldSpec, systems: Sequence[Annotator], *, by: str, score: str
) -> Drawing:
    """Draw a score of labels by a field, with 95% intervals."""
    gold = read_noted_gold(place)
    metric = next(one for one in (*PROCEDURE.metrics, *LABEL_METRICS) if one.name == score)
    different = name_systems(systems)

    def count(one: Annotator) -> dict[str, Scores]:
        rows = read_systems(gold, one.source).rows
        slices = count_fields(gold.records, rows, count_rows(gold, rows)).slices(by)
        return {
            part: estimate(slices[part], (metric,), Resampling())
            for part in FIELDS[by]
            if part in slices
        }

    found = dict(zip(different, read_all(different.values(), count), strict=True))
    unit = "candidates" if score == "accuracy" else "questions"
    groups = {part: scores.counts[unit] for part, scores in next(iter(found.values())).items()}
    bars = {
        name: [
            ScoreBar(one.value, one.low, one.high)
            for one in (of[part].scores[score] for part in groups)
        ]
        for name, of in found.items()
    }
    field = by.replace("_", " ")
    figure = draw_score_bars(
        groups, bars, score=f"{SCORES[score]} (%)", field=f"{field}, number of {unit}"
    )
    return Drawing(figure, f"{SCORES[score]} by {field}, {pluralize(len(found), 'system')}")


def draw_runs(folder: Path) -> Drawing:
    """Draw the scores of trained models by the size of their training data (Zhou et al., 2019, Figure 3).

    The lines have bars of one standard error.  Scores are those on test questions if all runs of the folder have them,
    else on held-out ones.
    """
    found = read_runs(folder)
    if not found.runs:
        raise FormatError(folder / RUN, [Problem("has no complete run (expected one or more)")])
    data = "test" if all(run.test for run in found.runs) else "held_out"
    questions = [
        float(np.mean([run.questions for run in found.runs if run.size == size]))
        for size in found.sizes
    ]
    if not found.is_complete:
        warn(f"{folder / RUN}: some runs are not complete.")
    with own_settings():
        figure, (axes,) = start_chart(6.5, 4.2)
        for (metric, title), colour in zip(METRICS.items(), COLOURS, strict=False):
            points = [
                found.estimate(size, data, metric) or Estimate(math.nan, None)
                for size in found.sizes
            ]
            means, bars = zip(
                *((100 * mean, 100 * (error or 0)) for mean, error in points), strict=True
            )
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
        axes.set(xlabel="training questions", ylabel=f"{DATA[data]} score (%)")
        axes.set_xlim(left=0 if min(questions) else -0.02 * max(1.0, *questions))
        axes.set_ylim(bottom=0)
        style_axes(axes)
        figure.legend(loc="outside upper left", ncols=_LEGEND_COLUMNS, frameon=False)
    runs, sizes = pluralize(len(found.runs), "run"), pluralize(len(found.sizes), "size")
    return Drawing(figure, f"{runs} with {sizes} of the training data")
