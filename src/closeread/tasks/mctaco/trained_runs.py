"""What came of training runs: scores of each, and their means with standard errors.

Conventions: scores are from 0 to 1, by the names of metrics; those on held-out questions are of the best epoch.  The
standard error of a mean is the standard deviation of the sample, divided by the root of its size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from closeread.counts.results import Result
from closeread.exceptions import FieldPath, FormatError, Problem, RequestError, pluralize, quote, quote_json
from closeread.files import is_empty_folder
from closeread.formats.json_lines import read_json
from closeread.neural.run_files import RUN, read_run
from closeread.records import check_format
from closeread.tables import NOTHING, Grid, Style, percent
from closeread.tasks.mctaco.procedure import PROCEDURE
from closeread.wording import name_option

TASK = "mctaco"
RUNS_FORMAT = 1
"""The number of this form of the description of several runs."""

DATA = {"held_out": "held-out", "test": "test"}
"""What scores are of, by its name here; and what it is called."""

METRICS = {metric.name: metric.title for metric in PROCEDURE.metrics}


@dataclass(frozen=True)
class TrainedRun:
    """What came of a run.

    Attributes:
        folder: its name inside the folder of all runs.
        size: how many of the questions it learnt from, in percent.
        seed: its seed.
        questions: how many questions it learnt from.
        epoch: the best, from 1; 0 for a model that is not trained.
        held_out: its scores on held-out questions.
        test: its scores on the test questions; none if it has no such scores.
        seconds: how long it was trained.
    """

    folder: str
    size: float
    seed: int
    questions: int
    epoch: int
    held_out: Mapping[str, float]
    test: Mapping[str, float]
    seconds: float


@dataclass(frozen=True)
class Estimate:
    """A mean over runs.

    Attributes:
        mean: the mean.
        standard_error: its standard error; None for a single run.
    """

    mean: float
    standard_error: float | None


@dataclass(frozen=True)
class TrainedRuns(Result):
    """What came of several runs.

    Attributes:
        runs: those that are complete.
        is_complete: whether none is missing.
    """

    runs: Sequence[TrainedRun]
    is_complete: bool = False

    @property
    def sizes(self) -> list[float]:
        """The sizes of the training data, in percent, from the smallest."""
        return sorted({run.size for run in self.runs})

    def estimate(self, size: float, data: str, metric: str) -> Estimate | None:
        """Return the mean of a score over the runs of a size; None if not all of them have it.

        Args:
            size: how many of the questions they learnt from, in percent.
            data: one of `DATA`.
            metric: the name of the metric.
        """
        values = [getattr(run, data).get(metric) for run in self.runs if run.size == size]
        if not values or None in values:
            return None
        error = float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else None
        return Estimate(float(np.mean(values)), error)

    def to_grids(self, style: Style = "table") -> Iterator[Grid]:
        """Yield the table of runs and, if there are several, that of means."""
        del style
        scores = [(data, metric) for data in DATA for metric in METRICS if any(getattr(run, data) for run in self.runs)]
        titles = [f"{METRICS[metric]} ({DATA[data]})" for data, metric in scores]
        rows = [
            [
                f"{run.size:g}",
                str(run.seed),
                f"{run.questions:,}",
                str(run.epoch),
                *(percent(getattr(run, data).get(metric)) for data, metric in scores),
            ]
            for run in self.runs
        ]
        yield Grid("", ["size (%)", "seed", "questions", "epoch", *titles], rows, labels=2)
        if len(self.runs) > 1:
            means = [
                [
                    f"{size:g}",
                    str(sum(run.size == size for run in self.runs)),
                    *(_format(self.estimate(size, data, metric)) for data, metric in scores),
                ]
                for size in self.sizes
            ]
            yield Grid("Mean and standard error", ["size (%)", "runs", *titles], means, labels=1)

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of the runs."""
        columns = [(data, metric) for data in DATA for metric in METRICS]
        header = ["size", "seed", "questions", "epoch", *(f"{data}/{metric}" for data, metric in columns)]
        return header, [
            [
                run.size,
                run.seed,
                run.questions,
                run.epoch,
                *(getattr(run, data).get(metric) for data, metric in columns),
            ]
            for run in self.runs
        ]

    def to_json(self) -> dict[str, Any]:
        """Return it as `run.json` holds it."""
        return {
            "format": RUNS_FORMAT,
            "task": TASK,
            "state": "complete" if self.is_complete else "training",
            "runs": [
                {
                    "folder": run.folder,
                    "size": run.size,
                    "seed": run.seed,
                    "questions": run.questions,
                    "epoch": run.epoch,
                    "held_out": dict(run.held_out),
                    "test": dict(run.test),
                    "seconds": run.seconds,
                }
                for run in self.runs
            ],
            "summary": [
                {
                    "size": size,
                    "runs": sum(run.size == size for run in self.runs),
                    **{data: self._summarize(size, data) for data in DATA},
                }
                for size in self.sizes
            ],
        }

    def _summarize(self, size: float, data: str) -> dict[str, Any]:
        found = {metric: self.estimate(size, data, metric) for metric in METRICS}
        return {
            metric: {"mean": one.mean, "standard_error": one.standard_error}
            for metric, one in found.items()
            if one is not None
        }


def _format(estimate: Estimate | None) -> str:
    if estimate is None:
        return NOTHING
    error = "" if estimate.standard_error is None else f" ± {percent(estimate.standard_error)}"
    return percent(estimate.mean) + error


def name_run(seed: int, size: float | None = None) -> str:
    """Return the folder of a run, inside that of several runs.

    >>> name_run(3), name_run(3, 12.5)
    ('seed-3', 'size-12.5/seed-3')
    """
    return f"seed-{seed}" if size is None else f"size-{size:g}/seed-{seed}"


def describe_run(run: Mapping[str, Any], folder: str) -> TrainedRun:
    """Return what came of a run that is complete.

    Args:
        run: what its `run.json` holds.
        folder: what to call its folder.
    """
    best, data, test = run["best"], run["data"], run.get("test", {})
    return TrainedRun(
        folder,
        data["size"],
        run["setting"]["seed"],
        data["questions"],
        best["epoch"],
        {name: best[name] for name in METRICS},
        {name: test[name] for name in METRICS if name in test},
        run["seconds"],
    )


def check_series(folder: Path, names: Iterable[str], *, resume: bool) -> None:
    """Check that several runs can be trained in a folder.

    Args:
        folder: of all runs.
        names: those of the runs, inside it.
        resume: whether some of them may be there.

    Raises:
        RequestError: something else is there.
    """
    if not folder.exists() or is_empty_folder(folder):
        return
    known = {*(name.partition("/")[0] for name in names)}
    is_known = folder.is_dir() and (is_series(folder) or {path.name for path in folder.iterdir()} <= known)
    if not (resume and is_known):
        raise RequestError(
            f"{folder}: is not an empty folder (expected a new folder, or several runs for {name_option('resume')})"
        )


def is_series(folder: Path) -> bool:
    """Return whether a folder holds several runs."""
    path = folder / RUN
    if not path.is_file():
        return False
    found = read_json(path)
    return isinstance(found, dict) and "runs" in found


def read_runs(folder: Path) -> TrainedRuns:
    """Read what came of the runs in a folder; of one run, if it holds only one.

    Raises:
        FormatError: it holds no complete run of this task, or the description is damaged; all problems at once.
    """
    path = folder / RUN
    if not path.exists():
        raise FormatError(path, [Problem("does not exist (expected the folder of training runs)")])
    found = read_json(path)
    if not isinstance(found, dict) or found.get("task") != TASK:
        raise FormatError(path, [Problem(f"does not describe training runs of {TASK}")])
    check_format(found, RUNS_FORMAT, path)
    try:
        is_one = "runs" not in found
        runs = [describe_run(read_run(folder), "")] if is_one else [TrainedRun(**run) for run in found["runs"]]
        is_complete = is_one or found["state"] == "complete"
    except (KeyError, TypeError) as error:
        raise FormatError(path, [Problem(f"does not describe complete runs: {error}")]) from None
    if problems := [
        problem for number, run in enumerate(runs) for problem in _find_problems(run, number, is_one=is_one)
    ]:
        raise FormatError(path, problems)
    return TrainedRuns(runs, is_complete)


def _find_problems(run: TrainedRun, number: int, *, is_one: bool) -> Iterator[Problem]:
    """Find what in the description of a run is not what `TrainedRun` says."""
    place: FieldPath = () if is_one else ("runs", number)
    for name, largest in _BOUNDS.items():
        value = getattr(run, name)
        if not _is_number(value, largest, is_whole=name not in ("size", "seconds")):
            expected = (
                f"expected {'a number' if name in ('size', 'seconds') else 'a whole number'} from 0 to {largest:,}"
            )
            yield Problem(f"is {quote_json(value)} ({expected})", path=(*place, name))
            return
    if not is_one and run.folder not in (name_run(run.seed), name_run(run.seed, run.size)):
        yield Problem(f"is {quote_json(run.folder)} (expected {quote(name_run(run.seed))})", path=(*place, "folder"))
    for data in DATA:
        scores = getattr(run, data)
        if not isinstance(scores, dict) or not all(_is_number(scores.get(metric, 0), 1) for metric in METRICS):
            expected = f"expected {' and '.join(METRICS)}, from 0 to 1"
            yield Problem(f"is {quote_json(scores)} ({expected})", path=(*place, data))


_BOUNDS = {"size": 100, "seed": 2**64 - 1, "questions": 2**53, "epoch": 2**53, "seconds": 2**53}


def _is_number(value: object, largest: float, *, is_whole: bool = False) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if is_whole else (int, float)):
        return False
    return 0 <= value <= largest


def find_run(folder: Path, seed: int | None = None) -> Path:
    """Return the folder of a run, which may be among several in a folder.

    Args:
        folder: of the run, or of several.
        seed: of the run; None if there is only one.

    Raises:
        RequestError: the folder holds no run with that seed, or several runs that fit.
    """
    if not is_series(folder):
        if seed is not None:
            raise RequestError(f"{folder}: is the folder of one run (expected one of several runs with --run-seed)")
        return folder
    runs = read_runs(folder).runs
    fitting = [run for run in runs if seed is None or run.seed == seed]
    if len(fitting) == 1:
        return folder / fitting[0].folder
    names = ", ".join(run.folder for run in fitting or runs)
    if not fitting:
        what = "no complete run" if not runs else f"no run with seed {seed}" if seed is not None else "no run"
        raise RequestError(f"{folder}: holds {what}" + (f" (expected one of {names})" if names else ""))
    how = "--run-seed, or " if seed is None and len({run.size for run in runs}) == 1 else ""
    found = f"{folder}: holds {pluralize(len(fitting), 'run')} that fit: {names}"
    raise RequestError(f"{found} (expected {how}the folder of one run)")
