"""Training classifiers of candidate answers, and predicting with them.

Source: Zhou, Khashabi, Ning and Roth (2019), section 4: the sentence and the question are the first text of a pair,
the answer is the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closeread.corpus.gold import Gold
from closeread.exceptions import FormatError, Problem, RequestError, pluralize
from closeread.formats.json_lines import write_json
from closeread.neural.run_files import RUN, read_run
from closeread.records import Record
from closeread.tasks.mctaco.categories import score_table
from closeread.tasks.mctaco.perturbation.units import Rule, normalize_units
from closeread.tasks.mctaco.procedure import NO, PROCEDURE, YES
from closeread.tasks.mctaco.trained_runs import (
    TASK,
    TrainedRun,
    TrainedRuns,
    check_series,
    describe_run,
    is_series,
    name_run,
)
from closeread.wording import name_option

if TYPE_CHECKING:
    from closeread.arrays import Floats
    from closeread.neural.pair_classifier import TextPairs
    from closeread.neural.training import Progress, Setting

CRITERION = "f1"
"""The score on held-out questions by which the best epoch is chosen."""

WHOLE = 100.0
"""All questions to learn from, in percent."""

Tell = Callable[[str], None]
"""Is told what a user should know, in a sentence."""


@dataclass(frozen=True)
class Method:
    """What is trained.

    Attributes:
        encoder: its name on the Hugging Face Hub, or its folder.
        unit_normalization: "off", or how answers are normalized before they are encoded: "proper" or "official", as
            for `closeread.tasks.mctaco.perturbation.units.normalize_units`.
        encoder_dropout: the dropout inside the encoder; None for its own.
        size: how many of the questions to learn from, in percent; 0 keeps the model untrained.
    """

    encoder: str
    unit_normalization: str = "off"
    encoder_dropout: float | None = None
    size: float = WHOLE


@dataclass(frozen=True)
class Examples:
    """The questions of a run.

    Attributes:
        training: what to learn from.
        validation: what every epoch is scored on; None to hold out some of the sentences to learn from.
        held_out: the share of their sentences, between 0 and 1.
        test: what the trained model is scored on, if anything.
    """

    training: Gold
    validation: Gold | None = None
    held_out: float = 0.1
    test: Gold | None = None


def make_texts(records: Sequence[Record], unit_normalization: str = "off") -> TextPairs:
    """Return the pairs of texts that a classifier sees: sentence and question, answer.

    Args:
        records: with `sentence`, `question` and `answer`.
        unit_normalization: as in `Method`.

    Raises:
        MissingExtraError: text2num, which normalization needs, is not installed.
    """
    from closeread.neural.pair_classifier import TextPairs

    first = [f"{record['sentence']} {record['question']}" for record in records]
    second = [str(record["answer"]) for record in records]
    if unit_normalization != "off":
        rule: Rule = "proper" if unit_normalization == "proper" else "official"
        changed = {text: normalize_units(text, rule=rule) for text in set(second)}
        second = [changed[text] for text in second]
    return TextPairs(first, second)


def split_questions(records: Sequence[Record], share: float, seed: int) -> tuple[list[Record], list[Record]]:
    """Hold out the questions of a share of the sentences, drawn at random; return the others' records, and theirs.

    So no sentence that is learnt from is held out.  Both have one sentence at least, and keep the order of the records.

    Raises:
        RequestError: there is only one sentence.
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
    questions = _list_questions(records)
    order = np.random.default_rng((seed, 1)).permutation(len(questions))
    # Rounded up, so that few questions are not none.
    kept = {questions[number] for number in order[: int(np.ceil(len(questions) * percent / WHOLE))].tolist()}
    return [record for record in records if record["question_id"] in kept]


def _list_questions(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(record["question_id"] for record in records))


def train(
    examples: Examples,
    run: Path,
    method: Method,
    setting: Setting,
    *,
    resume: bool = False,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> TrainedRun:
    """Train a classifier of candidate answers in a folder, which `predict` reads, and return how it went.

    Args:
        examples: the questions.
        run: a new folder; or that of a run to continue.
        method: what to train.
        setting: how.
        resume: continue the run that is in the folder, if there is one.
        progress: is told of every step.
        tell: is told what a user should know.

    Raises:
        RequestError: the folder is in use by another run, or there are too few questions.
    """
    from closeread.neural.pair_runs import LabelledTexts, PairChoice, train_pairs
    from closeread.neural.run_folders import RunFolder

    if resume and is_series(run):
        raise RequestError(f"{run}: holds several runs (expected the folder of one run for {name_option('resume')})")
    learnt, held_out = _divide(examples, method, setting.seed)
    train_pairs(
        RunFolder(run),
        PairChoice(method.encoder, encoder_dropout=method.encoder_dropout),
        setting,
        LabelledTexts(make_texts(learnt, method.unit_normalization), _encode_labels(learnt)),
        make_texts(held_out, method.unit_normalization),
        score=lambda found: score_labels(held_out, _decode(held_out, found)),
        criterion=CRITERION,
        about=_describe(examples, method, len(_list_questions(learnt))),
        resume=resume,
        progress=progress,
        tell_cut=None if tell is None else lambda n, longest: tell(describe_cut(n, longest)),
    )
    if examples.test is not None:
        _test(run, examples.test, setting, progress, tell)
    return describe_run(read_run(run), run.name)


def _divide(examples: Examples, method: Method, seed: int) -> tuple[list[Record], list[Record]]:
    """Return the records to learn from, and those that every epoch is scored on."""
    if examples.validation is not None:
        learnt, held_out = list(examples.training.records), list(examples.validation.records)
    else:
        learnt, held_out = split_questions(examples.training.records, examples.held_out, seed)
    for records, what in ((learnt, "to learn from"), (held_out, "to choose the best epoch by")):
        if not records:
            raise RequestError(f"0 questions {what} (expected 1 or more)")
    return keep_questions(learnt, method.size, seed), held_out


def _describe(examples: Examples, method: Method, n_questions: int) -> dict[str, Any]:
    """Describe what a run learns from, for its `run.json`."""
    validation = examples.validation
    return {
        "task": TASK,
        "unit_normalization": method.unit_normalization,
        "data": {
            "training": examples.training.digest,
            "held_out": examples.held_out if validation is None else validation.digest,
            "size": method.size,
            "questions": n_questions,
        },
    }


def _test(run: Path, test: Gold, setting: Setting, progress: Progress | None, tell: Tell | None) -> None:
    """Score a trained model, and note the scores in its folder, unless they stand there."""
    described = read_run(run)
    if described.get("test", {}).get("data") == test.digest:
        return
    rows = predict(test.records, run, device=setting.device, precision=setting.precision, progress=progress, tell=tell)
    described["test"] = {"data": test.digest, **score_labels(test.records, rows)}
    write_json(run / RUN, described)


def score_labels(gold: Sequence[Record], rows: Sequence[Record]) -> dict[str, float]:
    """Return exact match and F1 of predictions in the order of gold, as `closeread score mctaco` computes them."""
    return score_table(PROCEDURE.count(gold=gold, system=rows))


def _encode_labels(records: Sequence[Record]) -> Any:
    return np.array([YES if record["label"] == "yes" else NO for record in records], np.int64)


def _decode(records: Sequence[Record], probabilities: Floats) -> list[Record]:
    """Return the more probable labels as the rows of a submission; "no" if both are equally probable."""
    plausible = (probabilities[:, YES] > probabilities[:, NO]).tolist()
    return [
        {"id": record["id"], "label": "yes" if yes else "no"} for record, yes in zip(records, plausible, strict=True)
    ]


def describe_cut(n_cut: int, longest: int) -> str:
    """Say how many candidates are too long for a model."""
    have = "is" if n_cut == 1 else "are"
    found = f"{pluralize(n_cut, 'candidate')} {have} longer than the {longest:,} tokens that the model takes"
    return f"{found}: the beginning of the sentence is left out."


def train_several(
    examples: Examples,
    run: Path,
    method: Method,
    setting: Setting,
    *,
    seeds: Sequence[int],
    sizes: Sequence[float] = (),
    resume: bool = False,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> TrainedRuns:
    """Train a classifier for each seed, and for each size of the training data if there are any, in one folder.

    Args:
        examples: the questions; what is held out depends on the seed.
        run: a new folder; or that of runs to continue: those that are complete stay as they are.
        method: what to train.
        setting: how, but for the seed.
        seeds: of the runs.
        sizes: how many of the questions to learn from, in percent; none for all of them.
        resume: continue the runs that are in the folder, if there are any.
        progress: is told of every step.
        tell: is told what a user should know.

    Raises:
        RequestError: the folder is in use by other runs, or there are too few questions.
    """
    names = {(seed, size): name_run(seed, size) for size in sizes or (None,) for seed in seeds}
    check_series(run, names.values(), resume=resume)
    done: list[TrainedRun] = []
    told: set[str] = set()

    def tell_once(sentence: str) -> None:
        if tell is not None and sentence not in told:
            told.add(sentence)
            tell(sentence)

    for (seed, size), name in names.items():
        trained = train(
            examples,
            run / name,
            method if size is None else replace(method, size=size),
            replace(setting, seed=seed),
            resume=resume,
            progress=_prefix(name, progress),
            tell=tell_once,
        )
        done.append(replace(trained, folder=name))
        write_json(run / RUN, TrainedRuns(done).to_json())
    found = TrainedRuns(done, is_complete=True)
    write_json(run / RUN, found.to_json())
    return found


def _prefix(name: str, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda what, done, total: progress(f"{name}: {what}", done, total)


def predict(
    records: Sequence[Record],
    run: Path,
    *,
    device: str = "cpu",
    precision: str = "float32",
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> list[Record]:
    """Predict the labels of candidates, and return the rows of a submission.

    Args:
        records: the candidates; their labels are not looked at.
        run: the folder of a trained model.
        device: such as "cpu" or "cuda:0".
        precision: "float32" or "bfloat16".
        progress: is told how many candidates are done.
        tell: is told what a user should know.

    Raises:
        FormatError: the folder does not hold a run of this task, or it is damaged.
    """
    from closeread.neural.pair_classifier import predict_pairs
    from closeread.neural.pair_runs import load_classifier
    from closeread.neural.run_folders import RunFolder
    from closeread.neural.training import use_precision

    described = read_run(run)
    if described["task"] != TASK:
        raise FormatError(run / RUN, [Problem(f"is a run of {described['task']} (expected {TASK})")])
    model = load_classifier(RunFolder(run), device)
    pieces = model.cut(make_texts(records, described.get("unit_normalization", "off")))
    if tell and pieces.n_cut:
        tell(describe_cut(pieces.n_cut, model.longest))
    with use_precision(device, precision):
        return _decode(records, predict_pairs(model, pieces, device, progress))
