"""Classifiers of candidate answers, as `closeread.train` and `closeread.predict` call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closeread.corpora.gold import Gold
from closeread.corpora.models import Models, Progress
from closeread.corpora.notices import warn_all
from closeread.errors import RequestError
from closeread.records import Record
from closeread.suggestions import describe_unknown
from closeread.tasks.mctaco.trained_runs import TrainedRuns, find_run
from closeread.tasks.mctaco.training import OFF, Examples, Method, train_several
from closeread.tasks.mctaco.training import predict as predict_rows
from closeread.tasks.mctaco.training import train as train_one
from closeread.wording import fill_options

if TYPE_CHECKING:
    from closeread.neural.training import Setting

__all__ = ["MODELS", "RULES", "predict", "train"]

RULES = (OFF, "proper", "official")
"""How answers may be normalized."""


def train(
    golds: Mapping[str, Gold | None],
    run: Path,
    setting: Setting,
    *,
    encoder: str,
    held_out: float = 0.1,
    unit_normalization: str = OFF,
    encoder_dropout: float | None = None,
    seeds: int | None = None,
    sizes: Sequence[float] = (),
    resume: bool = False,
    progress: Progress | None = None,
) -> TrainedRuns:
    """Train one classifier, or one for each seed and size (`closeread.tasks.mctaco.training`).

    Raises:
        RequestError: an option does not accept its value, or there is nothing to learn from.
    """
    if unit_normalization not in RULES:
        raise RequestError(describe_unknown("unit_normalization", unit_normalization, RULES))
    _check_numbers(held_out, seeds, sizes)
    learnt = golds["training"]
    if learnt is None:
        raise RequestError("there is nothing to learn from")
    examples = Examples(learnt, golds.get("validation"), held_out, golds.get("test"))
    method = Method(encoder, unit_normalization, encoder_dropout)
    shared: dict[str, Any] = {"resume": resume, "progress": progress, "tell": _warn}
    if seeds is None and not sizes:
        return TrainedRuns([train_one(examples, run, method, setting, **shared)], is_complete=True)
    numbers = range(setting.seed, setting.seed + (seeds or 1))
    return train_several(examples, run, method, setting, seeds=numbers, sizes=tuple(sizes), **shared)


def _check_numbers(held_out: float, seeds: int | None, sizes: Sequence[float]) -> None:
    """Check what the command line checks by the types of its options.

    Raises:
        RequestError: a number is out of its range, or a size is given twice.
    """
    if not 0 < held_out < 1:
        raise RequestError(f"held_out is {held_out} (expected a number between 0 and 1)")
    if seeds is not None and seeds < 1:
        raise RequestError(f"seeds is {seeds} (expected 1 or more)")
    if not all(0 <= size <= 100 for size in sizes) or len(set(sizes)) < len(sizes):
        raise RequestError("sizes are not different percentages (expected numbers from 0 to 100, each once)")


def predict(
    gold: Gold,
    run: Path | None,
    read_split: Callable[[str], Gold],
    *,
    device: str,
    precision: str,
    run_seed: int | None = None,
    zero_shot: str | None = None,
    threshold: float | None = None,
    tune_on: str | None = None,
    unit_normalization: str | None = None,
    progress: Progress | None = None,
) -> list[Record]:
    """Predict with a trained classifier, or without training by the likelihood of answers.

    Raises:
        RequestError: options exclude each other, or there is neither a run nor a model.
    """
    own = {"threshold": threshold, "tune_on": tune_on, "unit_normalization": unit_normalization}
    if (run is None) == (zero_shot is None):
        raise RequestError(fill_options("either the folder of a run or {zero_shot} is needed"))
    if zero_shot is None and (given := [name for name, value in own.items() if value is not None]):
        raise RequestError(fill_options(f"{{{given[0]}}} needs {{zero_shot}}"))
    shared: dict[str, Any] = {"device": device, "precision": precision, "progress": progress, "tell": _warn}
    if run is not None:
        return predict_rows(gold.records, find_run(run, run_seed), **shared)
    if run_seed is not None:
        raise RequestError(fill_options("{run_seed} is of trained models; {zero_shot} has none"))
    if threshold is not None and tune_on is not None:
        raise RequestError(fill_options("{threshold} and {tune_on} exclude each other"))
    from closeread.neural.likelihoods import LikelihoodModel
    from closeread.tasks.mctaco.zero_shot import choose_threshold, label_candidates, score_candidates

    model = LikelihoodModel.load(str(zero_shot), device)
    shared["unit_normalization"] = unit_normalization or OFF
    if tune_on is not None:
        tuned = read_split(tune_on).records
        threshold, _ = choose_threshold(tuned, score_candidates(tuned, model, **shared))
    return label_candidates(gold.records, score_candidates(gold.records, model, **shared), threshold)


def _warn(sentence: str) -> None:
    warn_all([sentence])


MODELS = Models(
    {
        "epochs": 3,
        "patience": 3,
        "batch_size": 32,
        "accumulate": 1,
        "learning_rate": 2e-5,
        "head_learning_rate": 2e-5,
        "seed": 0,
    },
    {"training": "validation", "validation": None, "test": None},
    train,
    predict,
)
