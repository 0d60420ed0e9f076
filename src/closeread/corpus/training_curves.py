"""The curves of training runs, of any task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from closeread.corpus.figures import Drawing
from closeread.drawing.charts import Curve, draw_training_curves
from closeread.drawing.pictures import write_picture
from closeread.exceptions import FormatError, MissingExtraError, Problem, pluralize, read_all
from closeread.neural.run_files import RUN, list_scores, read_run

CURVES = "curves.svg"
"""The picture in the folder of a run."""

SHOWN = ("links/f1", "unlabeled/f1", "f1", "exact_match")
"""The scores of runs that are printed and drawn."""


def draw_training(runs: Sequence[Path]) -> Drawing:
    """Draw the loss and the scores of runs by epoch.

    Raises:
        FormatError: a folder is no run, or has no epochs.
    """
    return Drawing(draw_training_curves(read_curves(runs)), pluralize(len(runs), "run"))


def read_curves(runs: Sequence[Path]) -> dict[str, Curve]:
    """Return the curves of runs by the names of their folders, with the scores that all have.

    Raises:
        FormatError: a folder is no run, or has no epochs.
    """
    described = read_all(runs, read_run)
    for path, run in zip(runs, described, strict=True):
        if not run["epochs"]:
            raise FormatError(path / RUN, [Problem("has no epochs yet")])
    shown = [name for name in described[0]["best"] if name in SHOWN and all(name in run["best"] for run in described)]
    return {
        str(path): Curve(
            [epoch["loss"] for epoch in run["epochs"]],
            {name: list_scores(run, name) for name in shown},
            run["best"]["epoch"],
        )
        for path, run in zip(runs, described, strict=True)
    }


def write_curves(run: Path) -> None:
    """Draw the curves of a run into its folder, if matplotlib is installed."""
    try:
        figure = draw_training([run]).figure
    except MissingExtraError:
        return
    write_picture(figure, run / CURVES)
