"""Models of links between noun phrases, as `closeread.train` and `closeread.predict` call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from closeread.corpus.gold import Gold
from closeread.corpus.models import Models, Progress, check_dropout
from closeread.corpus.training_curves import write_curves
from closeread.exceptions import RequestError
from closeread.records import Record
from closeread.suggestions import describe_unknown
from closeread.tasks.tne.model_options import DECODINGS, DEFAULTS, SPLITS, VARIANTS
from closeread.tasks.tne.trained_run import TrainedRun
from closeread.tasks.tne.training import predict as predict_rows
from closeread.tasks.tne.training import train as train_run

if TYPE_CHECKING:
    from closeread.neural.training import Setting


def train(
    golds: Mapping[str, Gold | None],
    run: Path,
    setting: Setting,
    *,
    encoder: str,
    variant: str = VARIANTS[0],
    encoder_dropout: float | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> TrainedRun:
    """Train a model (`closeread.tasks.tne.training.train`), draw its curves, and return what came of it.

    Raises:
        RequestError: an option does not accept its value, or there is nothing to learn from or to choose the best epoch
            by.
    """
    if variant not in VARIANTS:
        raise RequestError(describe_unknown("variant", variant, VARIANTS))
    check_dropout(encoder_dropout)
    if golds.get("test") is not None:
        raise RequestError("test is not scored in training; predict and score it afterwards")
    learnt, held_out = golds["training"], golds["validation"]
    if learnt is None or held_out is None:
        raise RequestError("training and validation are needed")
    train_run(
        learnt,
        held_out,
        run,
        encoder=encoder,
        setting=setting,
        variant=variant,
        encoder_dropout=encoder_dropout,
        resume=resume,
        progress=progress,
    )
    write_curves(run)
    return TrainedRun.read(run)


def predict(
    gold: Gold,
    run: Path | None,
    read_split: Callable[[str], Gold],
    *,
    device: str,
    precision: str,
    decoding: str = DECODINGS[0],
    fallbacks: bool = True,
    progress: Progress | None = None,
) -> list[Record]:
    """Predict links (`closeread.tasks.tne.training.predict`).

    Raises:
        RequestError: there is no run, or no such way to decode.
    """
    del read_split
    if run is None:
        raise RequestError("the folder of a run is needed")
    if decoding not in DECODINGS:
        raise RequestError(describe_unknown("decoding", decoding, DECODINGS))
    shared = {"device": device, "precision": precision, "progress": progress}
    return predict_rows(gold, run, decoding=decoding, fallbacks=fallbacks, **shared)  # type: ignore[arg-type]


MODELS = Models(DEFAULTS, SPLITS, train, predict)
