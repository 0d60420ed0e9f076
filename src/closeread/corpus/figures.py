"""Figures that operations draw, and the curves of training runs of any task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from closeread.drawing.charts import Curve, draw_training_curves
from closeread.drawing.pictures import write_picture
from closeread.exceptions import FormatError, MissingExtraError, Problem, pluralize, read_all
from closeread.neural.run_files import RUN, read_run

if TYPE_CHECKING:
    from closeread.drawing.pictures import Figure

SHOWN = ("links/f1", "unlabeled/f1", "f1", "exact_match")  # the scores of runs that are printed and drawn


class Drawing(NamedTuple):
    """A figure that is drawn, and what is drawn, in a few words with numbers."""

    figure: Figure
    summary: str


def draw_training(runs: Sequence[Path]) -> Drawing:
    """Draw the loss and the scores that all runs have by epoch."""
    described = read_all(runs, read_run)
    for path, run in zip(runs, described, strict=True):
        if not run["epochs"]:
            raise FormatError(path / RUN, [Problem("has no epochs yet")])
    shown = [name for name in described[0]["best"] if name in SHOWN and all(name in run["best"] for run in described)]
    curves = {
        str(path): Curve(
            [epoch["loss"] for epoch in run["epochs"]],
            {name: [epoch["scores"].get(name) for epoch in run["epochs"]] for name in shown},
            run["best"]["epoch"],
        )
        for path, run in zip(runs, described, strict=True)
    }
    return Drawing(draw_training_curves(curves), pluralize(len(runs), "run"))


def write_curves(run: Path) -> None:
    """Draw the curves of a run into its folder, if matplotlib is installed."""
    try:
        figure = draw_training([run]).figure
    except MissingExtraError:
        return
    write_picture(figure, run / "curves.svg")
