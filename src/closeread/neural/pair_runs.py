"""Runs of classifiers of pairs of texts: trained in a folder, continued, and loaded from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import torch

from closeread.arrays import Floats, Ints
from closeread.exceptions import FormatError, Problem
from closeread.neural.pair_classifier import PairClassifier, PairLearner, PairPieces, TextPairs, predict_pairs
from closeread.neural.run_files import COMPLETE, ENCODER, RUN, read_run
from closeread.neural.run_folders import RunFolder
from closeread.neural.training import Setting, train, use_precision


@dataclass(frozen=True)
class PairChoice:
    """What is trained.

    Attributes:
        encoder: its name on the Hugging Face Hub, or its folder.
        labels: the number of labels.
        encoder_dropout: the dropout inside the encoder; None for its own.
    """

    encoder: str
    labels: int = 2
    encoder_dropout: float | None = None


class LabelledTexts(NamedTuple):
    """Pairs of texts to learn from.

    Attributes:
        pairs: the texts.
        labels: (n_pairs,) from 0.
    """

    pairs: TextPairs
    labels: Ints


def train_pairs(
    folder: RunFolder,
    choice: PairChoice,
    setting: Setting,
    training: LabelledTexts,
    held_out: TextPairs,
    *,
    score: Callable[[Floats], Mapping[str, float | None]],
    criterion: str,
    about: Mapping[str, Any],
    resume: bool = False,
    warn_of_cut: Callable[[int, int], None] = lambda n_cut, longest: None,
) -> None:
    """Train a classifier in a folder; without pairs to learn from, it stays as it is, with new random layers.

    Args:
        folder: of the run.
        choice: what is trained.
        setting: how.
        training: the pairs to learn from.
        held_out: pairs on which every epoch is scored.
        score: takes the probabilities of the labels of these, (n_pairs, n_labels).
        criterion: the score by which the best epoch is chosen.
        about: what else `run.json` says, in JSON.
        resume: continue the run that is in the folder, if there is one.
        warn_of_cut: is told how many pairs are too long, so that their first texts are cut, and how many pieces fit.

    Raises:
        RequestError: the run in the folder is of another choice, setting or data.
    """
    described = {**about, "model": asdict(choice)}
    torch.manual_seed(setting.seed)
    run, state = folder.open(described, setting, resume=resume)
    if run is not None and run["state"] == COMPLETE:
        return
    model = _make_classifier(choice) if run is None or state is None else _rebuild_classifier(folder, run)
    model.to(setting.device)
    learnt, scored = model.cut(training.pairs), model.cut(held_out)
    if run is None:  # not before: a model that can't be loaded leaves no folder behind
        run = folder.begin(described, setting)
    if state is None:
        model.save(folder.path / ENCODER)
    warn_of_cut(learnt.n_cut + scored.n_cut, model.longest)
    if not len(training.labels):
        _keep_untrained(folder, run, model, scored, score, setting)
        return
    learner = PairLearner(
        model, learnt, training.labels, held_out=scored, score=score, criterion=criterion, device=setting.device
    )
    for after in train(learner, setting, state):
        folder.save(run, model, after, criterion)
    folder.finish(run)


def _keep_untrained(
    folder: RunFolder,
    run: dict[str, Any],
    model: PairClassifier,
    scored: PairPieces,
    score: Callable[[Floats], Mapping[str, float | None]],
    setting: Setting,
) -> None:
    """Score and save a classifier that has learnt nothing, as epoch 0."""
    model.eval()
    with use_precision(setting.device, setting.precision):
        run["best"] = {"epoch": 0, **score(predict_pairs(model, scored, setting.device))}
    run["seconds"] = 0.0
    folder.save_weights(model)
    folder.finish(run)


def load_classifier(folder: RunFolder, device: str) -> PairClassifier:
    """Load a trained classifier, to predict with it.

    Raises:
        FormatError: the folder does not hold one, or it is damaged.
    """
    model = _rebuild_classifier(folder, read_run(folder.path))
    folder.load_weights(model)
    model.to(device).eval()
    return model


def _make_classifier(choice: PairChoice) -> PairClassifier:
    """Make a classifier that has learnt nothing."""
    model = PairClassifier.load(choice.encoder, choice.labels)
    if choice.encoder_dropout is not None:
        model.set_dropout(choice.encoder_dropout)
    return model


def _rebuild_classifier(folder: RunFolder, run: Mapping[str, Any]) -> PairClassifier:
    """Make a classifier of the same form as that of a run.

    Raises:
        FormatError: the run is of something else.
    """
    try:
        choice = PairChoice(**run["model"])
    except TypeError:
        found = f"model: is not a classifier of pairs (expected {', '.join(each.name for each in fields(PairChoice))})"
        raise FormatError(folder.path / RUN, [Problem(found)]) from None
    model = PairClassifier.load(folder.path / ENCODER, choice.labels, with_weights=False)
    if choice.encoder_dropout is not None:
        model.set_dropout(choice.encoder_dropout)
    return model
