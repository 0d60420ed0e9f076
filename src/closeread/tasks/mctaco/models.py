"""Models of candidate answers: trained classifiers, one or a series.

Source: Zhou, Khashabi, Ning and Roth (2019), section 4: the sentence and the question are the first text of a pair, the
answer is the second.

Conventions: scores are from 0 to 1, by the names of metrics; those on validation questions are of the best epoch.  The
standard error of a mean is the standard deviation of the sample, divided by the root of its size.  Of a pair that is
too long for a model, the beginning of the sentence is left out, with a note.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from closeread.arrays import Floats
from closeread.corpus.gold import Gold
from closeread.corpus.notices import warn_all
from closeread.counts.results import Result
from closeread.exceptions import FormatError, Problem, RequestError, name_option, pluralize
from closeread.files import is_empty_folder
from closeread.formats.json_lines import read_json, write_json
from closeread.json_schema import check_json
from closeread.neural.run_files import RUN, read_run
from closeread.progress import prefixing_progress
from closeread.records import Record, check_format, column
from closeread.tables import NOTHING, Grid, Style, percent
from closeread.tasks.mctaco.perturbation.units import Rule, normalize_units
from closeread.tasks.mctaco.procedure import (
    NO,
    PROCEDURE,
    YES,
    encode_labels,
    make_rows,
    score_labels,
)

if TYPE_CHECKING:
    from closeread.neural.devices import Hardware
    from closeread.neural.pairs import TextPairs
    from closeread.tasks.mctaco.operations import ClassifierSettings

TASK = "mctaco"
RUNS_FORMAT = 1  # of the description of several runs
DATA = ("validation", "test")  # the data that are scored
METRICS = {metric.name: metric.title for metric in PROCEDURE.metrics}
SCORES = tuple(product(DATA, METRICS))
"""The scores of a run: data and metric of each."""


class Data(NamedTuple):
    """The data on which models are trained, selected and scored.

    Attributes:
        training: what a model learns from.
        validation: on which every epoch is scored; None to keep some of the training sentences for it.
        test: on which the trained model is scored, if it is.
    """

    training: Gold
    validation: Gold | None = None
    test: Gold | None = None


VALIDATION_SHARE = 0.1
"""The share of the training sentences that is kept for validation, if settings don't say it."""


def split_questions(
    records: Sequence[Record], share: float, seed: int
) -> tuple[list[Record], list[Record]]:
    """Split records at random into those to learn from, and those of a share of the sentences, for validation.

    No sentence is on both sides.  Both have one sentence at least, and keep the order of the records.
    """
    sentences = list(dict.fromkeys(column(records, "sentence_id")))
    if len(sentences) < 2:
        few = pluralize(len(sentences), "sentence")
        raise RequestError(f"{few} to learn from (expected 2 or more, since one is for validation)")
    n_validation = min(max(1, round(share * len(sentences))), len(sentences) - 1)
    chosen = _draw(sentences, n_validation, (seed, 0))
    training = [record for record in records if record["sentence_id"] not in chosen]
    return training, [record for record in records if record["sentence_id"] in chosen]


def keep_questions(records: Sequence[Record], percent: float, seed: int) -> list[Record]:
    """Keep some of the questions, drawn at random; those of a smaller percentage are among those of a larger one."""
    questions = list(dict.fromkeys(column(records, "question_id")))
    # Rounded up, so that few questions are not none.
    n_drawn = math.ceil(len(questions) * percent / 100)
    drawn = _draw(questions, n_drawn, (seed, 1))
    return [record for record in records if record["question_id"] in drawn]


def _draw(names: Sequence[str], n: int, seed: tuple[int, int]) -> set[str]:
    order = np.random.default_rng(seed).permutation(len(names))
    return {names[number] for number in order[:n].tolist()}


def make_context(record: Record) -> str:
    """Return what a model reads before an answer."""
    return f"{record['sentence']} {record['question']}"


def make_texts(records: Sequence[Record], unit_normalization: str = "off") -> TextPairs:
    """Return the pairs of texts that a model sees: sentence and question, answer."""
    from closeread.neural.pairs import TextPairs

    first = list(map(make_context, records))
    second = [str(record["answer"]) for record in records]
    if unit_normalization != "off":
        rule = cast(Rule, unit_normalization)
        normalized = {text: normalize_units(text, rule=rule) for text in set(second)}
        second = [normalized[text] for text in second]
    return TextPairs(first, second)


def decode(records: Sequence[Record], probabilities: Floats) -> list[Record]:
    """Return the more probable labels as the rows of a submission; "no" if both are equally probable."""
    return make_rows(records, probabilities[:, YES] > probabilities[:, NO])


def warn_of_truncation(n_truncated: int, longest: int) -> None:
    """Warn of the number of candidates that are too long for a model, if any are."""
    if n_truncated:
        have = "is" if n_truncated == 1 else "are"
        candidates = f"{pluralize(n_truncated, 'candidate')} {have}"
        excess = f"{candidates} longer than the {longest:,} tokens that the model takes"
        warn_all([f"{excess}: the beginning of the sentence is left out."])


@dataclass(frozen=True)
class TrainedRun:
    """The results of a run.

    Attributes:
        folder: its name inside the folder of all runs.
        size: the share of the training questions that it learnt from, in percent.
        seed: the seed of its random numbers.
        questions: the number of questions that it learnt from.
        epoch: the best, from 1; 0 for a model that is not trained.
        validation: its scores on validation questions.
        test: its scores on the test questions; empty if it has no such scores.
        seconds: how long it was trained.
    """

    folder: str
    size: float
    seed: int
    questions: int
    epoch: int
    validation: Mapping[str, float]
    test: Mapping[str, float]
    seconds: float

    def score(self, data: str, metric: str) -> float | None:
        """Return a score on one of `DATA`; None if the run has no such score."""
        scores = self.test if data == "test" else self.validation
        return scores.get(metric)


class MeanOfRuns(NamedTuple):
    """A mean over runs, and its standard error, which is None for a single run."""

    mean: float
    standard_error: float | None

    def show(self) -> str:
        """Return it as the cell of a table."""
        mean = percent(self.mean)
        if self.standard_error is None:
            return mean
        return f"{mean} ± {percent(self.standard_error)}"


def estimate_mean(values: Sequence[float]) -> MeanOfRuns:
    """Return the mean of one or more values, with its standard error."""
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else None
    return MeanOfRuns(float(np.mean(values)), error)


@dataclass(frozen=True)
class TrainedRuns(Result):
    """The results of several runs.

    Attributes:
        runs: those that are complete.
        is_complete: whether none is missing.
    """

    runs: Sequence[TrainedRun]
    is_complete: bool = False

    @property
    def sizes(self) -> dict[float, int]:
        """The sizes of the training data, in percent, from the smallest, and the number of runs of each."""
        return dict(sorted(Counter(run.size for run in self.runs).items()))

    def estimate(self, size: float, data: str, metric: str) -> MeanOfRuns | None:
        """Return the mean of a score, on one of `DATA`, over the runs of a size; None if not all of them have it."""
        scores = [run.score(data, metric) for run in self.runs if run.size == size]
        values = [score for score in scores if score is not None]
        return estimate_mean(values) if len(values) == len(scores) else None

    def _to_grids(self, style: Style = "table") -> Iterator[Grid]:
        """Yield the table of runs and, if there are several, that of means."""
        del style
        scored = {data for data in DATA if any(getattr(run, data) for run in self.runs)}
        scores = [(data, metric) for data, metric in SCORES if data in scored]
        titles = [f"{METRICS[metric]} ({data})" for data, metric in scores]
        rows = []
        for run in self.runs:
            cells = [f"{run.size:g}", str(run.seed), f"{run.questions:,}", str(run.epoch)]
            cells += [percent(run.score(data, metric)) for data, metric in scores]
            rows.append(cells)
        yield Grid("", ["size (%)", "seed", "questions", "epoch", *titles], rows, labels=2)
        if len(self.runs) < 2:
            return
        means = []
        for size, n_runs in self.sizes.items():
            cells = [f"{size:g}", str(n_runs)]
            for data, metric in scores:
                mean = self.estimate(size, data, metric)
                cells.append(NOTHING if mean is None else mean.show())
            means.append(cells)
        yield Grid("Mean and standard error", ["size (%)", "runs", *titles], means, labels=1)

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of the runs."""
        names = ["size", "seed", "questions", "epoch"]
        header = [*names, *(f"{data}/{metric}" for data, metric in SCORES)]
        rows = []
        for run in self.runs:
            cells = [getattr(run, name) for name in names]
            cells += [run.score(data, metric) for data, metric in SCORES]
            rows.append(cells)
        return header, rows

    def to_dict(self) -> dict[str, Any]:
        """Return it as `run.json` holds it."""
        summary = []
        for size, n_runs in self.sizes.items():
            means: dict[str, Any] = {"size": size, "runs": n_runs}
            means |= {data: {} for data in DATA}
            for data, metric in SCORES:
                mean = self.estimate(size, data, metric)
                if mean is not None:
                    means[data][metric] = mean._asdict()
            summary.append(means)
        return {
            "format": RUNS_FORMAT,
            "task": TASK,
            "state": "complete" if self.is_complete else "training",
            "runs": [asdict(run) for run in self.runs],
            "summary": summary,
        }


def train(
    data: Data,
    run: Path,
    settings: ClassifierSettings,
    *,
    size: float = 100.0,
    resume: bool,
    name: str = "",
) -> TrainedRun:
    """Train a classifier of candidate answers in a folder, which `predict` reads, and return its results.

    `size` is how many of the questions to learn from, in percent; 0 keeps the model untrained.  With `resume`, the run
    in the folder is continued, if there is one.  `name` is what to call the run inside the folder of all runs; empty
    for the name of its folder.
    """
    from closeread.neural.devices import choose_hardware
    from closeread.neural.pairs import PairChoice, train_pairs
    from closeread.neural.run_folders import RunFolder

    share = VALIDATION_SHARE
    if settings.validation_share is not None:
        share = settings.validation_share
    if data.validation is None:
        training, validation = split_questions(data.training.records, share, settings.seed)
    else:
        training = list(data.training.records)
        validation = list(data.validation.records)
    purposes = ((training, "to learn from"), (validation, "to choose the best epoch by"))
    for records, purpose in purposes:
        if not records:
            raise RequestError(f"0 questions {purpose} (expected 1 or more)")
    training = keep_questions(training, size, settings.seed)
    data_description = {
        "training": data.training.digest,
        "validation": share if data.validation is None else data.validation.digest,
        "size": size,
        "questions": len(set(column(training, "question_id"))),
    }
    train_pairs(
        RunFolder(run),
        PairChoice(settings.encoder, ["no", "yes"], settings.encoder_dropout),
        settings,
        make_texts(training, settings.unit_normalization),
        encode_labels(training).tolist(),
        make_texts(validation, settings.unit_normalization),
        score=lambda probabilities: score_labels(validation, decode(validation, probabilities)),
        criterion="f1",
        metadata={
            "task": TASK,
            "unit_normalization": settings.unit_normalization,
            "data": data_description,
        },
        resume=resume,
        warn_of_truncation=warn_of_truncation,
    )
    content = read_run(run)
    test = data.test
    if test is not None and content.get("test", {}).get("data") != test.digest:
        rows = predict(test.records, run, choose_hardware(settings.device, settings.precision))
        content["test"] = {"data": test.digest, **score_labels(test.records, rows)}
        write_json(run / RUN, content)
    return describe_run(content, name or run.name)


def describe_run(run: Mapping[str, Any], folder: str) -> TrainedRun:
    """Return the results of a complete run from the content of its `run.json`."""
    data = run["data"]
    best = run["best"]
    test = run.get("test", {})
    test_scores = {name: test[name] for name in METRICS if name in test}
    return TrainedRun(
        folder,
        data["size"],
        run["setting"]["seed"],
        data["questions"],
        best["epoch"],
        {name: best[name] for name in METRICS},
        test_scores,
        run["seconds"],
    )


def train_several(
    data: Data,
    run: Path,
    settings: ClassifierSettings,
    *,
    seeds: Sequence[int],
    sizes: Sequence[float] = (),
    resume: bool = False,
) -> TrainedRuns:
    """Train a classifier for each seed, and for each size of the training data if there are any, in one folder.

    With `resume`, the runs in the folder that are complete stay as they are.
    """
    plan = []
    for size in sizes or (100.0,):
        for seed in seeds:
            name = f"seed-{seed}"
            plan.append((f"size-{size:g}/{name}" if sizes else name, seed, size))
    if run.exists() and not is_empty_folder(run):
        folders = {name.partition("/")[0] for name, _, _ in plan}
        is_known = run.is_dir() and (
            is_series(run) or {path.name for path in run.iterdir()} <= folders
        )
        if not (resume and is_known):
            expected = f"expected a new folder, or several runs for {name_option('resume')}"
            raise RequestError(f"{run}: is not an empty folder ({expected})")
    results = TrainedRuns([])
    for name, seed, size in plan:
        of_seed = replace(settings, seed=seed)
        with prefixing_progress(name):
            result = train(data, run / name, of_seed, size=size, resume=resume, name=name)
        is_complete = len(results.runs) + 1 == len(plan)
        results = TrainedRuns([*results.runs, result], is_complete)
        write_json(run / RUN, results.to_dict())
    return results


def is_series(folder: Path) -> bool:
    """Return whether a folder holds several runs."""
    path = folder / RUN
    content = read_json(path) if path.is_file() else None
    return isinstance(content, dict) and "runs" in content


def read_runs(folder: Path) -> TrainedRuns:
    """Read the results of the runs in a folder, which may itself be the folder of one run."""
    path = folder / RUN
    if not path.exists():
        raise FormatError(path, [Problem("does not exist (expected the folder of training runs)")])
    content = read_json(path)
    if not isinstance(content, dict) or content.get("task") != TASK:
        raise FormatError(path, [Problem(f"does not describe training runs of {TASK}")])
    check_format(content, RUNS_FORMAT, path)
    if "runs" in content:
        check_json(content, "closeread.tasks.mctaco/runs.schema.json", path)
        runs = [TrainedRun(**run) for run in content["runs"]]
        return TrainedRuns(runs, content["state"] == "complete")
    try:
        return TrainedRuns([describe_run(read_run(folder), "")], is_complete=True)
    except KeyError as error:
        raise FormatError(path, [Problem(f"does not describe complete runs: {error}")]) from None


def predict(records: Sequence[Record], run: Path, hardware: Hardware) -> list[Record]:
    """Predict the labels of candidates with a trained model, and return the rows of a submission."""
    from closeread.neural.pairs import predict_pairs
    from closeread.neural.run_folders import RunFolder

    content = read_run(run, TASK)
    texts = make_texts(records, content.get("unit_normalization", "off"))
    probabilities = predict_pairs(RunFolder(run), texts, hardware, warn_of_truncation)
    return decode(records, probabilities)
