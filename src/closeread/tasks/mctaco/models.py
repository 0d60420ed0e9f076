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
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from closeread.arrays import Floats
from closeread.corpus.gold import Gold
from closeread.corpus.notices import warn
from closeread.counts.results import Result
from closeread.exceptions import FormatError, Problem, RequestError, name_option, pluralize
from closeread.files import is_empty_folder
from closeread.formats.json_lines import read_json, write_json
from closeread.json_schema import check_json
from closeread.neural.run_files import RUN, read_run, write_curves
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
Golds = Mapping[str, Gold]
"""What models learn from ("training"), by what the best epoch is chosen, instead of some of the training sentences
("validation"), and on what the trained model is scored ("test"); of the last two, those that are given."""

DATA = ("validation", "test")  # the data that are scored
METRICS = {metric.name: metric.title for metric in PROCEDURE.metrics}
SCORES = tuple(product(DATA, METRICS))
"""The scores of a run: data and metric of each."""


VALIDATION_SHARE = 0.1
"""The share of the training sentences that is kept for validation, if settings don't say it."""


def split_questions(
    records: Sequence[Record], share: float, seed: int
) -> tuple[list[Record], list[Record]]:
    """Split records at random into those to learn from, and those of a share of the sentences, for validation.

    No sentence is on both sides.  Both have one sentence at least, and keep the order of the records.
    """
    sentences = list(dict.fromkeys(column(records, "sentence_id")))
    n_sentences = len(sentences)
    if n_sentences < 2:
        few = pluralize(n_sentences, "sentence")
        raise RequestError(f"{few} to learn from (expected 2 or more, since one is for validation)")
    n_validation = max(1, round(share * n_sentences))
    n_validation = min(n_validation, n_sentences - 1)
    chosen = _draw(sentences, n_validation, (seed, 0))
    training = [record for record in records if record["sentence_id"] not in chosen]
    validation = [record for record in records if record["sentence_id"] in chosen]
    return training, validation


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
        warn(f"{excess}: the beginning of the sentence is left out.")


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
        if len(values) < len(scores):
            return None
        error = None
        if len(values) > 1:
            error = float(np.std(values, ddof=1)) / len(values) ** 0.5
        return MeanOfRuns(float(np.mean(values)), error)

    def _to_grids(self, style: Style = "table") -> Iterator[Grid]:
        """Yield the table of runs and, if there are several, that of means."""
        del style
        scored = [data for data in DATA if any(map(attrgetter(data), self.runs))]
        scores = list(product(scored, METRICS))
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
        state = "complete" if self.is_complete else "training"
        runs = list(map(asdict, self.runs))
        content = {"format": RUNS_FORMAT, "task": TASK, "state": state}
        return {**content, "runs": runs, "summary": summary}


def train(
    golds: Golds,
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

    source: float | str
    training = list(golds["training"].records)
    if "validation" in golds:
        source = golds["validation"].digest
        validation = list(golds["validation"].records)
    else:
        source = settings.validation_share or VALIDATION_SHARE
        training, validation = split_questions(training, source, settings.seed)
    purposes = ((training, "to learn from"), (validation, "to choose the best epoch by"))
    for records, purpose in purposes:
        if not records:
            raise RequestError(f"0 questions {purpose} (expected 1 or more)")
    training = keep_questions(training, size, settings.seed)
    normalization = settings.unit_normalization
    description = {
        "training": golds["training"].digest,
        "validation": source,
        "size": size,
        "questions": len(set(column(training, "question_id"))),
    }

    def score(probabilities: Floats) -> dict[str, float | None]:
        return score_labels(validation, decode(validation, probabilities))

    choice = PairChoice(settings.encoder, ["no", "yes"], settings.encoder_dropout)
    metadata = {"task": TASK, "unit_normalization": normalization, "data": description}
    train_pairs(
        RunFolder(run),
        choice,
        settings,
        make_texts(training, normalization),
        encode_labels(training).tolist(),
        make_texts(validation, normalization),
        score=score,
        criterion="f1",
        metadata=metadata,
        resume=resume,
        warn_of_truncation=warn_of_truncation,
    )
    content = read_run(run)
    test = golds.get("test")
    if test is not None and content.get("test", {}).get("data") != test.digest:
        rows = predict(test.records, run, choose_hardware(settings.device, settings.precision))
        content["test"] = {"data": test.digest, **score_labels(test.records, rows)}
        write_json(run / RUN, content)
    trained = describe_run(content, name or run.name)
    if trained.epoch:
        write_curves(run)
    return trained


def describe_run(run: Mapping[str, Any], folder: str) -> TrainedRun:
    """Return the results of a complete run from the content of its `run.json`."""
    data = run["data"]
    best = run["best"]
    test = run.get("test", {})
    test_scores = {name: test[name] for name in METRICS if name in test}
    validation_scores = {name: best[name] for name in METRICS}
    return TrainedRun(
        folder,
        data["size"],
        run["setting"]["seed"],
        data["questions"],
        best["epoch"],
        validation_scores,
        test_scores,
        run["seconds"],
    )


def train_several(
    golds: Golds,
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
    for size, seed in product(sizes or (100.0,), seeds):
        folder = f"size-{size:g}/" if sizes else ""
        plan.append((f"{folder}seed-{seed}", seed, size))
    if run.exists() and not is_empty_folder(run):
        folders = {name.partition("/")[0] for name, _, _ in plan}
        if not (resume and is_series(run, folders)):
            expected = f"expected a new folder, or several runs for {name_option('resume')}"
            raise RequestError(f"{run}: is not an empty folder ({expected})")
    results = TrainedRuns([])
    for number, (name, seed, size) in enumerate(plan, start=1):
        of_seed = replace(settings, seed=seed)
        with prefixing_progress(name):
            result = train(golds, run / name, of_seed, size=size, resume=resume, name=name)
        results = TrainedRuns([*results.runs, result], is_complete=number == len(plan))
        write_json(run / RUN, results.to_dict())
    return results


def is_series(folder: Path, names: set[str]) -> bool:
    """Return whether a folder holds several runs: it is described as such, or has only folders of these names."""
    path = folder / RUN
    if path.is_file():
        content = read_json(path)
        return isinstance(content, dict) and "runs" in content
    return folder.is_dir() and {inner.name for inner in folder.iterdir()} <= names


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
