"""Figures of systems scored by any procedure; those of single tasks are in their packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from closeread import parameters as arg
from closeread.exceptions import pluralize
from closeread.parameters import Operations, Param, within

if TYPE_CHECKING:
    from closeread.corpus.figures import Drawing
else:
    Drawing = object  # operations are described without what draws


def plot_scores(
    corpus: arg.ScoredName,
    systems: Annotated[arg.Sources, Param(metavar="SYSTEMS...")],
    *,
    gold: arg.Gold = None,
    config: arg.Config = None,
    split: arg.Split = None,
    data_dir: arg.Folder = None,
    scores: Annotated[Sequence[str], Param(kind="names", metavar="SCORES")] = (),
    option: Annotated[Mapping[str, str] | None, Param(kind="choices", metavar="NAME=VALUE")] = None,
    alpha: Annotated[float, within(0, 1, above=True, below=True)] = 0.05,
    confidence: arg.Confidence = 0.95,
    seed: arg.Seed = 0,
) -> Drawing:
    """Draw the scores of systems, with intervals.

    Systems are files of predictions, or of counts. For each score, the best is on top. Filled dots do not differ
    significantly from the best, hollow ones do, by the tests of `closeread table`. Where CORPUS is coref or tlinks,
    the key comes before the systems.

    \b
    Examples:
      closeread plot scores mctaco mine.jsonl theirs.jsonl -o scores.png
      closeread plot scores coref key.conll mine.conll theirs.conll \\
        --scores conll/f1,lea/f1 -o scores.pdf

    Args:
        scores: Draw these scores, such as conll/f1.  [default: all but precision and recall]
        alpha: Significance level.
    """
    from closeread.corpus.figures import Drawing
    from closeread.counts.systems import make_names
    from closeread.drawing.charts import ForestRow, draw_forest
    from closeread.operations.compare import table
    from closeread.scoring import find_procedure

    systems = list(systems)
    if find_procedure(corpus)[1] is None and gold is None and systems:
        gold = systems.pop(0).source
    names = iter(make_names([one.source for one in systems if isinstance(one.source, Path)]))
    named: dict[str, Any] = {
        next(names) if isinstance(one.source, Path) else one.name: one.source for one in systems
    }
    where: dict[str, Any] = {
        "gold": gold,
        "config": config,
        "split": split,
        "data_dir": data_dir,
        **(option or {}),
    }
    found = table(
        corpus, named, scores=scores or None, alpha=alpha, confidence=confidence, seed=seed, **where
    )
    rows: dict[str, list[ForestRow]] = {}
    for score in found.scores:
        estimates = [report.scores[score] for report in found.reports]
        ranked = [
            ForestRow(name, one.value, one.low, one.high, standing != "worse")
            for name, one, standing in zip(
                found.names, estimates, found.standings[score], strict=True
            )
        ]
        ranked.sort(key=lambda row: -1.0 if row.value is None else row.value, reverse=True)
        rows[found.reports[0].name_score(score)] = ranked
    summary = f"{pluralize(len(rows), 'score')} of {pluralize(len(named), 'system')}"
    return Drawing(draw_forest(rows, confidence), summary)


OPERATIONS: Operations = {"plot": {"scores": plot_scores}}
