"""Models of candidate answers: trained classifiers, one or a series, and language models without training.

Source: Zhou, Khashabi, Ning and Roth (2019), section 4: the sentence and the question are the first text of a pair, the
answer is the second.

Conventions: scores are from 0 to 1, by the names of metrics; those on held-out questions are of the best epoch.  The
standard error of a mean is the standard deviation of the sample, divided by the root of its size.  Of a pair that is
too long for a model, the beginning of the sentence is left out, with a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from closeread.arrays import Floats, Ints, Mask
from closeread.corpus.gold import Gold
from closeread.corpus.notices import warn_all
from closeread.counts.results import Result
from closeread.counts.table import factorize
from closeread.exceptions import FormatError, Problem, RequestError, name_option, pluralize, quote, quote_json
from closeread.files import is_empty_folder
from closeread.formats.json_lines import read_json, write_json
from closeread.neural.run_files import RUN, read_run
from closeread.progress import prefixing_progress
from closeread.records import Record, check_format
from closeread.tables import Grid, Style, percent
from closeread.tasks.mctaco.perturbation.units import Rule, normalize_units
from closeread.tasks.mctaco.procedure import NO, PROCEDURE, YES, score_labels

if TYPE_CHECKING:
    from closeread.neural.likelihoods import LikelihoodModel
    from closeread.neural.pairs import TextPairs
    from closeread.neural.training import Setting

TASK = "mctaco"
CRITERION = "f1"  # the score on held-out questions by which the best epoch is chosen
WHOLE = 100.0  # all questions to learn from, in percent
RUNS_FORMAT = 1  # of the description of several runs
DATA = {"held_out": "held-out", "test": "test"}
"""What scores are of, by its name here; and what it is called."""

METRICS = {metric.name: metric.title for metric in PROCEDURE.metrics}
SAME = 1e-6  # scores that differ less are equal: the same text in another batch may differ so much


@dataclass(frozen=True)
class Method:
    """What is trained."""

    encoder: str  # its name on the Hugging Face Hub, or its folder
    unit_normalization: str = "off"  # how answers are normalized before they are encoded: "proper" or "official"
    encoder_dropout: float | None = None  # the dropout inside the encoder; None for its own
    size: float = WHOLE  # how many of the questions to learn from, in percent; 0 keeps the model untrained


@dataclass(frozen=True)
class Examples:
    """The questions of a run."""

    training: Gold
    validation: Gold | None = None  # what every epoch is scored on; None to hold out some of the training sentences
    held_out: float = 0.1  # the share of these, between 0 and 1
    test: Gold | None = None  # what the trained model is scored on, if anything

    def divide(self, size: float, seed: int) -> tuple[list[Record], list[Record]]:
        """Return the records to learn from, a percentage of all, and those that every epoch is scored on."""
        if self.validation is not None:
            learnt, held_out = list(self.training.records), list(self.validation.records)
        else:
            learnt, held_out = split_questions(self.training.records, self.held_out, seed)
        for records, what in ((learnt, "to learn from"), (held_out, "to choose the best epoch by")):
            if not records:
                raise RequestError(f"0 questions {what} (expected 1 or more)")
        return keep_questions(learnt, size, seed), held_out


def split_questions(records: Sequence[Record], share: float, seed: int) -> tuple[list[Record], list[Record]]:
    """Hold out the questions of a share of the sentences, drawn at random; return the others' records, and theirs.

    So no sentence that is learnt from is held out.  Both have one sentence at least, and keep the order of the records.
    """
    sentences = list(dict.fromkeys(record["sentence_id"] for record in records))
    if len(sentences) < 2:
        found = pluralize(len(sentences), "sentence")
        raise RequestError(f"{found} to learn from (expected 2 or more, since one is held out)")
    n_held_out = min(max(1, round(share * len(sentences))), len(sentences) - 1)
    drawn = np.random.default_rng((seed, 0)).permutation(len(sentences))[:n_held_out]
    held_out = {sentences[number] for number in drawn.tolist()}
    learnt = [record for record in records if record["sentence_id"] not in held_out]
    return learnt, [record for record in records if record["sentence_id"] in held_out]


def keep_questions(records: Sequence[Record], percent: float, seed: int) -> list[Record]:
    """Keep some of the questions, drawn at random; those of a smaller percentage are among those of a larger one."""
    questions = list(dict.fromkeys(record["question_id"] for record in records))
    order = np.random.default_rng((seed, 1)).permutation(len(questions))
    # Rounded up, so that few questions are not none.
    kept = {questions[number] for number in order[: int(np.ceil(len(questions) * percent / WHOLE))].tolist()}
    return [record for record in records if record["question_id"] in kept]


def make_texts(records: Sequence[Record], unit_normalization: str = "off") -> TextPairs:
    """Return the pairs of texts that a model sees: sentence and question, answer."""
    from closeread.neural.pairs import TextPairs

    first = [f"{record['sentence']} {record['question']}" for record in records]
    second = [str(record["answer"]) for record in records]
    if unit_normalization != "off":
        rule = cast(Rule, unit_normalization)
        changed = {text: normalize_units(text, rule=rule) for text in set(second)}
        second = [changed[text] for text in second]
    return TextPairs(first, second)


def make_rows(records: Sequence[Record], plausible: Mask) -> list[Record]:
    """Return the rows of a submission: "yes" for the candidates that are plausible."""
    labels = ("yes" if yes else "no" for yes in plausible.tolist())
    return [{"id": record["id"], "label": label} for record, label in zip(records, labels, strict=True)]


def decode(records: Sequence[Record], probabilities: Floats) -> list[Record]:
    """Return the more probable labels as the rows of a submission; "no" if both are equally probable."""
    return make_rows(records, probabilities[:, YES] > probabilities[:, NO])


def warn_of_cut(n_cut: int, longest: int) -> None:
    """Say how many candidates are too long for a model, if any are."""
    if n_cut:
        have = "is" if n_cut == 1 else "are"
        found = f"{pluralize(n_cut, 'candidate')} {have} longer than the {longest:,} tokens that the model takes"
        warn_all([f"{found}: the beginning of the sentence is left out."])


# Training


@dataclass(frozen=True)
class TrainedRun:
    """What came of a run."""

    folder: str  # its name inside the folder of all runs
    size: float  # how many of the questions it learnt from, in percent
    seed: int
    questions: int  # how many it learnt from
    epoch: int  # the best, from 1; 0 for a model that is not trained
    held_out: Mapping[str, float]  # its scores on held-out questions
    test: Mapping[str, float]  # its scores on the test questions; empty if it has no such scores
    seconds: float  # how long it was trained


class Estimate(NamedTuple):
    """A mean over runs, and its standard error, which is None for a single run."""

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
    def sizes(self) -> dict[float, int]:
        """The sizes of the training data, in percent, from the smallest, and the number of runs of each."""
        return dict(sorted(Counter(run.size for run in self.runs).items()))

    def estimate(self, size: float, data: str, metric: str) -> Estimate | None:
        """Return the mean of a score, on one of `DATA`, over the runs of a size; None if not all of them have it."""
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
                *(f"{run.size:g}", str(run.seed), f"{run.questions:,}", str(run.epoch)),
                *(percent(getattr(run, data).get(metric)) for data, metric in scores),
            ]
            for run in self.runs
        ]
        yield Grid("", ["size (%)", "seed", "questions", "epoch", *titles], rows, labels=2)
        if len(self.runs) < 2:
            return
        means = []
        for size, n in self.sizes.items():
            cells = [f"{size:g}", str(n)]
            for data, metric in scores:
                mean, error = self.estimate(size, data, metric) or (None, None)
                cells.append(percent(mean) + ("" if error is None else f" ± {percent(error)}"))
            means.append(cells)
        yield Grid("Mean and standard error", ["size (%)", "runs", *titles], means, labels=1)

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of the runs."""
        columns = [(data, metric) for data in DATA for metric in METRICS]
        header = ["size", "seed", "questions", "epoch"]
        rows = [
            [*(getattr(run, name) for name in header), *(getattr(run, data).get(metric) for data, metric in columns)]
            for run in self.runs
        ]
        return [*header, *(f"{data}/{metric}" for data, metric in columns)], rows

    def to_json(self) -> dict[str, Any]:
        """Return it as `run.json` holds it."""
        summary: list[dict[str, Any]] = [{"size": size, "runs": n} for size, n in self.sizes.items()]
        for of_size in summary:
            for data in DATA:
                found = {metric: self.estimate(of_size["size"], data, metric) for metric in METRICS}
                of_size[data] = {metric: one._asdict() for metric, one in found.items() if one is not None}
        return {
            "format": RUNS_FORMAT,
            "task": TASK,
            "state": "complete" if self.is_complete else "training",
            "runs": [asdict(run) for run in self.runs],
            "summary": summary,
        }


def train(
    examples: Examples, run: Path, method: Method, setting: Setting, *, resume: bool = False, name: str = ""
) -> TrainedRun:
    """Train a classifier of candidate answers in a folder, which `predict` reads, and return how it went.

    Args:
        examples: the questions.
        run: a new folder; or that of a run to continue.
        method: what to train.
        setting: how.
        resume: continue the run that is in the folder, if there is one.
        name: what to call the run, inside the folder of all runs; empty for the name of its folder.
    """
    from closeread.neural.pairs import LabelledTexts, PairChoice, train_pairs
    from closeread.neural.run_folders import RunFolder

    if resume and is_series(run):
        raise RequestError(f"{run}: holds several runs (expected the folder of one run for {name_option('resume')})")
    learnt, held_out = examples.divide(method.size, setting.seed)
    labels = np.array([YES if record["label"] == "yes" else NO for record in learnt], np.int64)
    validation, test = examples.validation, examples.test
    train_pairs(
        RunFolder(run),
        PairChoice(method.encoder, encoder_dropout=method.encoder_dropout),
        setting,
        LabelledTexts(make_texts(learnt, method.unit_normalization), labels),
        make_texts(held_out, method.unit_normalization),
        score=lambda found: score_labels(held_out, decode(held_out, found)),
        criterion=CRITERION,
        about={
            "task": TASK,
            "unit_normalization": method.unit_normalization,
            "data": {
                "training": examples.training.digest,
                "held_out": examples.held_out if validation is None else validation.digest,
                "size": method.size,
                "questions": len({record["question_id"] for record in learnt}),
            },
        },
        resume=resume,
        warn_of_cut=warn_of_cut,
    )
    described = read_run(run)
    if test is not None and described.get("test", {}).get("data") != test.digest:
        rows = predict(test.records, run, device=setting.device, precision=setting.precision)
        described["test"] = {"data": test.digest, **score_labels(test.records, rows)}
        write_json(run / RUN, described)
    return describe_run(described, name or run.name)


def describe_run(run: Mapping[str, Any], folder: str) -> TrainedRun:
    """Return what came of a run that is complete, by what its `run.json` holds."""
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


def train_several(
    examples: Examples,
    run: Path,
    method: Method,
    setting: Setting,
    *,
    seeds: Sequence[int],
    sizes: Sequence[float] = (),
    resume: bool = False,
) -> TrainedRuns:
    """Train a classifier for each seed, and for each size of the training data if there are any, in one folder.

    With `resume`, the runs in the folder that are complete stay as they are.
    """
    names = {(seed, size): name_run(seed, size) for size in sizes or (None,) for seed in seeds}
    if run.exists() and not is_empty_folder(run):
        known = {name.partition("/")[0] for name in names.values()}
        is_known = run.is_dir() and (is_series(run) or {path.name for path in run.iterdir()} <= known)
        if not (resume and is_known):
            expected = f"expected a new folder, or several runs for {name_option('resume')}"
            raise RequestError(f"{run}: is not an empty folder ({expected})")
    found = TrainedRuns([])
    for (seed, size), name in names.items():
        of_size = method if size is None else replace(method, size=size)
        with prefixing_progress(name):
            one = train(examples, run / name, of_size, replace(setting, seed=seed), resume=resume, name=name)
        found = TrainedRuns([*found.runs, one], is_complete=len(found.runs) + 1 == len(names))
        write_json(run / RUN, found.to_json())
    return found


def name_run(seed: int, size: float | None = None) -> str:
    """Return the folder of a run, inside that of several runs.

    >>> name_run(3), name_run(3, 12.5)
    ('seed-3', 'size-12.5/seed-3')
    """
    return f"seed-{seed}" if size is None else f"size-{size:g}/seed-{seed}"


def is_series(folder: Path) -> bool:
    """Return whether a folder holds several runs."""
    path = folder / RUN
    found = read_json(path) if path.is_file() else None
    return isinstance(found, dict) and "runs" in found


def read_runs(folder: Path) -> TrainedRuns:
    """Read what came of the runs in a folder; of one run, if it holds only one."""
    path = folder / RUN
    if not path.exists():
        raise FormatError(path, [Problem("does not exist (expected the folder of training runs)")])
    found = read_json(path)
    if not isinstance(found, dict) or found.get("task") != TASK:
        raise FormatError(path, [Problem(f"does not describe training runs of {TASK}")])
    check_format(found, RUNS_FORMAT, path)
    try:
        if "runs" not in found:
            return TrainedRuns([describe_run(read_run(folder), "")], is_complete=True)
        runs = [TrainedRun(**run) for run in found["runs"]]
        is_complete = found["state"] == "complete"
    except (KeyError, TypeError) as error:
        raise FormatError(path, [Problem(f"does not describe complete runs: {error}")]) from None
    if problems := [problem for number, run in enumerate(runs) for problem in _find_problems(run, number)]:
        raise FormatError(path, problems)
    return TrainedRuns(runs, is_complete)


def _find_problems(run: TrainedRun, number: int) -> list[Problem]:
    """Find what in the description of one of several runs is not what `TrainedRun` says; the first wrong number."""

    def is_number(value: object, largest: float, kinds: Any = (int, float)) -> bool:
        return isinstance(value, kinds) and not isinstance(value, bool) and 0 <= cast(float, value) <= largest

    def report(name: str, expected: str) -> Problem:
        return Problem(f"is {quote_json(getattr(run, name))} (expected {expected})", path=("runs", number, name))

    bounds = {"size": 100, "seed": 2**64 - 1, "questions": 2**53, "epoch": 2**53, "seconds": 2**53}
    for name, largest in bounds.items():
        kinds, what = ((int, float), "a number") if name in ("size", "seconds") else (int, "a whole number")
        if not is_number(getattr(run, name), largest, kinds):
            return [report(name, f"{what} from 0 to {largest:,}")]
    problems = []
    if run.folder not in (name_run(run.seed), name_run(run.seed, run.size)):
        problems.append(report("folder", quote(name_run(run.seed))))
    for data in DATA:
        scores = getattr(run, data)
        if not isinstance(scores, dict) or not all(is_number(scores.get(name, 0), 1) for name in METRICS):
            problems.append(report(data, f"{' and '.join(METRICS)}, from 0 to 1"))
    return problems


def find_run(folder: Path, seed: int | None = None) -> Path:
    """Return the folder of a run: the folder itself, or that of several runs in it which has this seed."""
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
        what = f"no run with seed {seed}" if runs else "no complete run"
        raise RequestError(f"{folder}: holds {what}" + (f" (expected one of {names})" if names else ""))
    how = "--run-seed, or " if seed is None and len({run.size for run in runs}) == 1 else ""
    found = f"{folder}: holds {pluralize(len(fitting), 'run')} that fit: {names}"
    raise RequestError(f"{found} (expected {how}the folder of one run)")


def predict(records: Sequence[Record], run: Path, *, device: str = "cpu", precision: str = "float32") -> list[Record]:
    """Predict the labels of candidates with a trained model, and return the rows of a submission."""
    from closeread.neural.pairs import load_classifier, predict_pairs
    from closeread.neural.run_folders import RunFolder
    from closeread.neural.training import use_precision

    described = read_run(run)
    if described["task"] != TASK:
        raise FormatError(run / RUN, [Problem(f"is a run of {described['task']} (expected {TASK})")])
    model = load_classifier(RunFolder(run), device)
    pieces = model.cut(make_texts(records, described.get("unit_normalization", "off")))
    warn_of_cut(pieces.n_cut, model.longest)
    with use_precision(device, precision):
        return decode(records, predict_pairs(model, pieces, device))


# Predicting without training: a score is the mean log-likelihood of the pieces of the answer.


def score_candidates(
    records: Sequence[Record],
    model: LikelihoodModel,
    *,
    unit_normalization: str = "off",
    precision: str = "float32",
    device: str = "cpu",
) -> Floats:
    """Return how likely a language model finds each answer after sentence and question, (n_candidates,)."""
    from closeread.neural.training import use_precision

    cut_before = model.n_cut
    with use_precision(device, precision):
        scores = model.score(make_texts(records, unit_normalization))
    warn_of_cut(model.n_cut - cut_before, model.longest)
    return scores


def label_candidates(records: Sequence[Record], scores: Floats, threshold: float | None = None) -> list[Record]:
    """Return the rows of a submission: yes above the threshold, or above the mean of the question's candidates."""
    if threshold is not None:
        return make_rows(records, scores > threshold)
    question, _ = factorize([record["question_id"] for record in records])
    return make_rows(records, above_mean(question, scores))


def above_mean(question: Ints, scores: Floats) -> Mask:
    """Return which candidates have a score above the mean of their question; `question` is its index."""
    means = np.bincount(question, scores) / np.maximum(np.bincount(question), 1)
    above: Mask = scores - means[question] > SAME
    return above


def choose_threshold(records: Sequence[Record], scores: Floats) -> tuple[float, float]:
    """Return the threshold with the best F1 on labelled candidates, and that F1."""
    question, _ = factorize([record["question_id"] for record in records])
    gold = np.array([record["label"] == "yes" for record in records])
    return find_best_threshold(question, gold, scores)


def find_best_threshold(question: Ints, gold: Mask, scores: Floats) -> tuple[float, float]:
    """Return the threshold with the best mean F1 over questions, and that F1; the highest of equally good thresholds.

    Thresholds are half way between neighbouring scores, or a little below the lowest or above the highest score.

    Args:
        question: (n_candidates,) index of each candidate's question; every index up to the highest occurs.
        gold: (n_candidates,) whether the gold label is yes.
        scores: (n_candidates,) their scores; one or more.
    """
    order = np.argsort(-scores, kind="stable")
    n_yes = np.bincount(question[gold], minlength=int(question.max()) + 1)
    # With the highest threshold, no candidate is yes, and F1 is 1 where that is right.
    f1 = (n_yes == 0).astype(np.float64)
    means = [f1.mean()]
    system_yes, both_yes = np.zeros_like(n_yes), np.zeros_like(n_yes)
    total = f1.sum()
    for candidate in order.tolist():
        of = question[candidate]
        system_yes[of] += 1
        both_yes[of] += gold[candidate]
        before, f1[of] = f1[of], 2 * both_yes[of] / (n_yes[of] + system_yes[of])
        total += f1[of] - before
        means.append(total / len(f1))
    ranked = scores[order]
    thresholds = np.concatenate([[ranked[0] + 1], (ranked[:-1] + ranked[1:]) / 2, [ranked[-1] - 1]])
    tried = np.array(means)
    tried[1:-1][ranked[:-1] - ranked[1:] <= SAME] = -1.0  # a threshold can't divide equal scores
    best = int(np.flatnonzero(tried >= tried.max() - 1e-12)[0])  # sums in another order differ by rounding only
    return float(thresholds[best]), float(tried[best])
