"""Classifiers of candidate answers, as `closeread.train` and `closeread.predict` call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closeread.corpus.gold import Gold
from closeread.corpus.models import Models, Progress, check_dropout
from closeread.corpus.notices import warn_all
from closeread.corpus.training_curves import write_curves
from closeread.exceptions import RequestError
from closeread.records import Record
from closeread.suggestions import describe_unknown
from closeread.tasks.mctaco.model_options import DEFAULTS, HELD_OUT, OFF, SPLITS, UNIT_NORMALIZATIONS
from closeread.tasks.mctaco.trained_runs import TrainedRuns, find_run
from closeread.tasks.mctaco.training import Examples, Method, Tell, train_several
from closeread.tasks.mctaco.training import predict as predict_rows
from closeread.tasks.mctaco.training import train as train_one
from closeread.wording import fill_options

if TYPE_CHECKING:
    from closeread.neural.training import Setting


def train(
    golds: Mapping[str, Gold | None],
    run: Path,
    setting: Setting,
    *,
    encoder: str,
    held_out: float | None = None,
    unit_normalization: str = OFF,
    encoder_dropout: float | None = None,
    seeds: int | None = None,
    sizes: Sequence[float] = (),
    resume: bool = False,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> TrainedRuns:
    """Train one classifier, or one for each seed and size (`closeread.tasks.mctaco.training`), and draw their curves.

    Without `tell`, what a user should know is a warning.

    Raises:
        RequestError: an option does not accept its value, or there is nothing to learn from.
    """
    if unit_normalization not in UNIT_NORMALIZATIONS:
        raise RequestError(describe_unknown("unit_normalization", unit_normalization, UNIT_NORMALIZATIONS))
    check_dropout(encoder_dropout)
    _check_numbers(held_out, seeds, sizes)
    learnt, validation = golds["training"], golds["validation"]
    if learnt is None:
        raise RequestError("there is nothing to learn from")
    if validation is not None and held_out is not None:
        raise RequestError(fill_options("{held_out} and {validation} exclude each other"))
    examples = Examples(learnt, validation, HELD_OUT if held_out is None else held_out, golds["test"])
    method = Method(encoder, unit_normalization, encoder_dropout)
    shared: dict[str, Any] = {"resume": resume, "progress": progress, "tell": tell or _warn}
    if seeds is None and not sizes:
        found = TrainedRuns([train_one(examples, run, method, setting, **shared)], is_complete=True)
        folders = [run]
    else:
        numbers = range(setting.seed, setting.seed + (seeds or 1))
        found = train_several(examples, run, method, setting, seeds=numbers, sizes=tuple(sizes), **shared)
        folders = [run / one.folder for one in found.runs]
    for one, folder in zip(found.runs, folders, strict=True):
        if one.epoch:
            write_curves(folder)
    return found


def _check_numbers(held_out: float | None, seeds: int | None, sizes: Sequence[float]) -> None:
    """Check what the command line checks by the types of its options.

    Raises:
        RequestError: a number is out of its range, or a size is given twice.
    """
    if held_out is not None and not 0 < held_out < 1:
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
        raise RequestError(fill_options("{run_seed} can't be used with {zero_shot}"))
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


MODELS = Models(DEFAULTS, SPLITS, train, predict)
