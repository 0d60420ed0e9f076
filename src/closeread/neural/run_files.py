"""`run.json`, which describes a training run, and pictures of it; without torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from closeread.corpus.figures import Drawing
from closeread.drawing.charts import draw_training_curves
from closeread.drawing.pictures import write_picture
from closeread.exceptions import (
    FormatError,
    MissingExtraError,
    Problem,
    pluralize,
    read_all,
)
from closeread.formats.json_lines import read_json
from closeread.json_schema import check_json
from closeread.records import check_format

RUN = "run.json"
COMPLETE = "complete"
FORMAT = 1  # of `run.json`
# the scores of runs that are printed and drawn
SHOWN = ("links/f1", "unlabeled/f1", "f1", "exact_match")


def read_run(folder: Path, task: str = "") -> dict[str, Any]:
    """Return the content of a folder's `run.json`; a run of another task is refused."""
    path = folder / RUN
    expected = "expected the folder of a training run"
    if not path.exists():
        raise FormatError(path, [Problem(f"does not exist ({expected})")])
    run: Any = read_json(path)
    if isinstance(run, dict) and "runs" in run:
        names = sorted(str(inner.parent) for inner in folder.glob(f"*/**/{RUN}"))
        choices = ", ".join(names) or "none"
        raise FormatError(path, [Problem(f"describes several runs ({expected}: {choices})")])
    check_format(run, FORMAT, path)
    check_json(run, "closeread.neural/run.schema.json", path)
    if task and run["task"] != task:
        raise FormatError(path, [Problem(f"is a run of {run['task']} (expected {task})")])
    return run  # type: ignore[no-any-return] # as the schema says


def draw_training(runs: Sequence[Path]) -> Drawing:
    """Draw the loss and the scores that all runs have by epoch."""
    scores = set(SHOWN)
    run_by_name = {}
    for path, run in zip(runs, read_all(runs, read_run), strict=True):
        if not run["epochs"]:
            raise FormatError(path / RUN, [Problem("has no epochs yet")])
        scores &= run["best"].keys()
        run_by_name[str(path)] = run
    first, *_ = run_by_name.values()
    in_order = [name for name in first["best"] if name in scores]
    figure = draw_training_curves(run_by_name, in_order)
    return Drawing(figure, pluralize(len(runs), "run"))


def write_curves(run: Path) -> None:
    """Draw the curves of a run into its folder, if matplotlib is installed."""
    try:
        figure = draw_training([run]).figure
    except MissingExtraError:
        return
    write_picture(figure, run / "curves.svg")
