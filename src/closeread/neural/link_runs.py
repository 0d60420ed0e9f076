"""Runs of link models: trained in a folder, continued, and loaded from it.

Conventions: an encoder is named as on the Hugging Face Hub, or by its folder, and is trained, too; "frozen:NAME" stays
as it is; "static:FILE" are word vectors, and "static:corpus" are trained on the documents to learn from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from closeread.exceptions import FormatError, Problem
from closeread.formats.word_vectors import WordVectors, read_vectors, write_vectors
from closeread.neural.encoders import Encoder
from closeread.neural.link_learning import LabelledPairs, LinkLearner, LinkSystem, PredictedPairs
from closeread.neural.link_model import LinkModel, Sizes
from closeread.neural.run_files import COMPLETE, ENCODER, RUN, read_run
from closeread.neural.run_folders import RunFolder
from closeread.neural.spans import FrozenSpans, Spans, SpanVectors, StaticSpans, TunedSpans
from closeread.neural.trained_vectors import train_vectors
from closeread.neural.training import Setting, train

KINDS = ("tuned", "frozen", "static")
CORPUS = "corpus"
"""In place of a file of word vectors: those trained on the documents to learn from."""

VECTORS = "vectors.txt"
"""The word vectors in the folder of a run that are its own."""


_Source = Encoder | WordVectors
"""What the vectors of spans come from."""

_TrainedVectors = tuple[list[str], NDArray[np.float32]]


@dataclass(frozen=True)
class LinkChoice:
    """What is trained.

    Attributes:
        variant: "coupled" or "decoupled" (see `closeread.neural.link_model.LinkModel`).
        kind: one of `KINDS`.
        name: of the encoder, or the file of word vectors.
        labels: the number of labels, "no link" included.
        encoder_dropout: of an encoder that is trained; None for its own.
    """

    variant: str
    kind: str
    name: str
    labels: int
    encoder_dropout: float | None = None


@dataclass(frozen=True, eq=False)
class Examples:
    """Documents to learn from.

    Attributes:
        spans: their spans.
        links: the links between these.
        digest: of both.
    """

    spans: Spans
    links: LabelledPairs
    digest: str


def parse_encoder(text: str) -> tuple[str, str]:
    """Split what is said of an encoder into one of `KINDS` and a name.

    >>> parse_encoder("frozen:SpanBERT/spanbert-base-cased")
    ('frozen', 'SpanBERT/spanbert-base-cased')
    >>> parse_encoder("bert-base-cased")
    ('tuned', 'bert-base-cased')
    """
    kind, found, name = text.partition(":")
    return (kind, name) if found and kind in KINDS else (KINDS[0], text)


def train_links(
    folder: RunFolder,
    choice: LinkChoice,
    setting: Setting,
    training: Examples,
    held_out: Examples,
    *,
    score: Callable[[Iterator[PredictedPairs]], Mapping[str, float | None]],
    criterion: str,
    about: Mapping[str, Any],
    resume: bool = False,
) -> None:
    """Train a model in a folder.

    Args:
        folder: of the run.
        choice: what is trained.
        setting: how.
        training: the documents to learn from.
        held_out: documents on which every epoch is scored.
        score: scores predictions for these.
        criterion: the score by which the best epoch is chosen.
        about: what else `run.json` says, in JSON.
        resume: continue the run that is in the folder, if there is one.

    Raises:
        RequestError: the run in the folder is of another choice, setting or data.
    """
    described = {
        **about,
        "model": asdict(choice),
        "data": {"training": training.digest, "held_out": held_out.digest},
    }
    torch.manual_seed(setting.seed)
    run, state = folder.open(described, setting, resume=resume)
    if run is not None and run["state"] == COMPLETE:
        return
    words = {word for examples in (training, held_out) for document in examples.spans.words for word in document}
    found = _find_source(choice, training.spans.words, words) if state is None else None
    if run is None:  # not before: an encoder or vectors that can't be loaded leave no folder behind
        run = folder.begin(described, setting)
    source = _load_source(folder, choice, words) if found is None else _save_source(folder, choice, found, words)
    system = _make_system(choice, source, setting.device)
    learner = LinkLearner(
        system.to(setting.device),
        training.spans,
        training.links,
        held_out=held_out.spans,
        score=score,
        criterion=criterion,
        device=setting.device,
    )
    for after in train(learner, setting, state):
        folder.save(run, system, after, criterion)
    folder.finish(run)


def load_system(folder: RunFolder, spans: Spans, device: str) -> LinkSystem:
    """Load a trained model, to predict the links of these spans with it.

    Raises:
        FormatError: the folder does not hold one, or it is damaged.
    """
    try:
        choice = LinkChoice(**read_run(folder.path)["model"])
    except TypeError:
        found = f"model: is not a model of links (expected {', '.join(each.name for each in fields(LinkChoice))})"
        raise FormatError(folder.path / RUN, [Problem(found)]) from None
    words = {word for document in spans.words for word in document}
    system = _make_system(choice, _load_source(folder, choice, words), device)
    folder.load_weights(system)
    system.to(device).eval()
    return system


def _find_source(
    choice: LinkChoice, documents: Sequence[Sequence[str]], words: Collection[str]
) -> _Source | _TrainedVectors:
    """Load what the vectors of spans come from, or train vectors."""
    if choice.kind != "static":
        return Encoder.load(choice.name)
    return train_vectors(documents) if choice.name == CORPUS else read_vectors(Path(choice.name), words)


def _save_source(
    folder: RunFolder, choice: LinkChoice, source: _Source | _TrainedVectors, words: Collection[str]
) -> _Source:
    """Write what belongs to a run, and return it as it will be loaded."""
    if isinstance(source, Encoder):
        source.save(folder.path / ENCODER, with_weights=choice.kind == "frozen")
    elif not isinstance(source, WordVectors):
        write_vectors(folder.path / VECTORS, *source)
        return _load_source(folder, choice, words)
    return source


def _load_source(folder: RunFolder, choice: LinkChoice, words: Collection[str]) -> _Source:
    """Load what the vectors of spans come from; an encoder that was trained gets its parameters later."""
    if choice.kind == "static":
        return read_vectors(folder.path / VECTORS if choice.name == CORPUS else Path(choice.name), words)
    return Encoder.load(folder.path / ENCODER, with_weights=choice.kind == "frozen")


def _make_system(choice: LinkChoice, source: _Source, device: str) -> LinkSystem:
    """Make a model that has learnt nothing yet."""
    if isinstance(source, Encoder):
        if choice.encoder_dropout is not None:
            source.set_dropout(choice.encoder_dropout)
        source.to(device)
        vectors: SpanVectors = FrozenSpans(source) if choice.kind == "frozen" else TunedSpans(source)
    else:
        vectors = StaticSpans(source, device)
    return LinkSystem(vectors, LinkModel(choice.variant, Sizes(vectors.size, choice.labels)))
