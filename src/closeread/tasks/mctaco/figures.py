"""Figures of McTaco."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from closeread.corpus.figures import Drawing
from closeread.corpus.gold import read_corpus_gold
from closeread.corpus.notices import warn_all
from closeread.corpus.predictions import count_rows, name_systems, read_systems
from closeread.counts.annotators import Annotator
from closeread.counts.estimates import Resampling, Scores
from closeread.counts.estimates import score as estimate
from closeread.counts.procedure import GoldSpec
from closeread.drawing.charts import ScoreBar, draw_score_bars
from closeread.exceptions import FormatError, Problem, pluralize, read_all
from closeread.neural.run_files import RUN
from closeread.tasks.mctaco.categories import expect_coin_by_category, score_by_category
from closeread.tasks.mctaco.label_errors import FIELDS, LABEL_METRICS, LabelAnalysis
from closeread.tasks.mctaco.plots import draw_categories, draw_learning_curve
from closeread.tasks.mctaco.procedure import PROCEDURE
from closeread.tasks.mctaco.trained_runs import DATA, METRICS, read_runs


def draw_systems(place: GoldSpec, systems: Sequence[Annotator]) -> Drawing:
    """Draw exact match by category, of systems beside a coin (Zhou et al., 2019, Figure 2)."""
    gold = read_corpus_gold(place)
    warn_all(gold.notices)
    different = name_systems(systems)

    def score(one: Annotator) -> dict[str, dict[str, float]]:
        return score_by_category(gold.records, read_systems(gold, one.source).rows)

    read = read_all(different.values(), score)
    scores = {
        name: {category: values["exact_match"] for category, values in of_system.items()}
        for name, of_system in zip(different, read, strict=True)
    }
    coin = {name: of["exact_match"].mean for name, of in expect_coin_by_category(gold.records).items()}
    of = "1 category" if len(coin) == 1 else f"{len(coin)} categories"
    summary = f"{of} of questions, {pluralize(len(scores), 'system')} and a coin"
    return Drawing(draw_categories(coin, scores), summary)


SCORES = {"accuracy": "accuracy of labels", "exact_match": "exact match", "f1": "F1"}
"""The scores of labels that can be drawn, and what to call them."""


def draw_label_scores(place: GoldSpec, systems: Sequence[Annotator], *, by: str, score: str) -> Drawing:
    """Draw a score of labels by a field, with 95% intervals."""
    gold = read_corpus_gold(place)
    warn_all(gold.notices)
    metric = next(one for one in (*PROCEDURE.metrics, *LABEL_METRICS) if one.name == score)
    different = name_systems(systems)

    def count(one: Annotator) -> dict[str, Scores]:
        rows = read_systems(gold, one.source).rows
        analysis = LabelAnalysis(gold.records, rows, count_rows(gold, rows))
        slices = analysis.table.slices(by)
        return {part: estimate(slices[part], (metric,), Resampling()) for part in FIELDS[by] if part in slices}

    found = dict(zip(different, read_all(different.values(), count), strict=True))
    unit = "candidates" if score == "accuracy" else "questions"
    first = next(iter(found.values()))
    groups = {part: scores.counts[unit] for part, scores in first.items()}
    bars = {
        name: [ScoreBar(one.value, one.low, one.high) for one in (of[part].scores[score] for part in first)]
        for name, of in found.items()
    }
    field = f"{by.replace('_', ' ')}, number of {unit}"
    figure = draw_score_bars(groups, bars, score=f"{SCORES[score]} (%)", field=field)
    summary = f"{SCORES[score]} by {by.replace('_', ' ')}, {pluralize(len(found), 'system')}"
    return Drawing(figure, summary)


def draw_runs(folder: Path) -> Drawing:
    """Draw the scores of trained models by the size of their training data (Zhou et al., 2019, Figure 3).

    Scores are those on test questions if all runs of the folder have them, else on held-out ones.
    """
    found = read_runs(folder)
    if not found.runs:
        raise FormatError(folder / RUN, [Problem("has no complete run (expected one or more)")])
    data = "test" if all(run.test for run in found.runs) else "held_out"
    sizes = found.sizes
    questions = [float(np.mean([run.questions for run in found.runs if run.size == size])) for size in sizes]
    scores = {
        title: [
            (one.mean, one.standard_error) if (one := found.estimate(size, data, metric)) else (math.nan, None)
            for size in sizes
        ]
        for metric, title in METRICS.items()
    }
    if not found.is_complete:
        warn_all([f"{folder / RUN}: some runs are not complete."])
    summary = f"{pluralize(len(found.runs), 'run')} with {pluralize(len(sizes), 'size')} of the training data"
    return Drawing(draw_learning_curve(questions, scores, DATA[data]), summary)
