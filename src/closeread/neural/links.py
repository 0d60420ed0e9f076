"""Models that decide which spans of a document are linked, and by which label: trained in a folder, and loaded from it.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8, and Dozat and Manning's (2017) habit of one
representation of a span as the head of links and another as their end.

Conventions: documents of a batch are padded to the one with the most spans.  A pair is an ordered pair of different
spans of one document, anchor first; label 0 is no link.  Both ends of a pair enter the first layer of a head by a
matrix each, which is what a matrix for the two of them side by side does, without a copy of every span for every pair.
An encoder is named as on the Hugging Face Hub, or by its folder, and is trained, too; "frozen:NAME" stays as it is;
"static:FILE" are word vectors, and "static:corpus" are trained on the documents to learn from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from closeread.arrays import Ints, Mask, expand_ranges
from closeread.exceptions import FormatError, Problem
from closeread.formats.word_vectors import WordVectors, read_vectors, write_vectors
from closeread.neural.encoders import Encoder
from closeread.neural.run_files import COMPLETE, ENCODER, RUN, read_run
from closeread.neural.run_folders import RunFolder
from closeread.neural.spans import FrozenSpans, Spans, SpanVectors, StaticSpans, TunedSpans, VectorsOf, select_spans
from closeread.neural.trained_vectors import train_vectors
from closeread.neural.training import Setting, train
from closeread.progress import report_progress

NOT_A_PAIR = -100
"""In place of the label where there is no pair: a span and itself, and padding."""

MAX_PAIRS = 2**20
"""How many pairs are decoded at once."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of a model's layers, and how much of what they return is dropped in training.

    Attributes:
        span: the length of the vector of a span.
        ends: what the vectors of an anchor and of a complement are mapped to.
        head: the hidden layer of a head.
        labels: the number of labels, "no link" included.
        span_dropout: of the vectors of words.
        ends_dropout: of the vectors of anchors and complements.
    """

    span: int
    labels: int
    ends: int = 500
    head: int = 100
    span_dropout: float = 0.2
    ends_dropout: float = 0.3


@dataclass(frozen=True, eq=False)
class LinkBatch:
    """The spans of a batch of documents.

    Attributes:
        document, number: (n_spans,) the document of each span, and its number there.
        shape: the number of documents, and the most spans of one.
        labels: (documents, spans, spans) the label of every pair, `NOT_A_PAIR` where there is none; None if unknown.
    """

    document: torch.Tensor
    number: torch.Tensor
    shape: tuple[int, int]
    labels: torch.Tensor | None = None

    @property
    def totals(self) -> Mapping[str, int]:
        """How many pairs each part of the loss is summed over."""
        if self.labels is None:
            raise ValueError("the labels are unknown")
        return {"pairs": int((self.labels >= 0).sum()), "links": int((self.labels > 0).sum())}

    @property
    def pairs(self) -> torch.Tensor:
        """(documents, spans, spans) where there is a pair."""
        exists = torch.zeros(self.shape, dtype=torch.bool, device=self.document.device)
        exists[self.document, self.number] = True
        both = exists[:, :, None] & exists[:, None, :]
        return both & ~torch.eye(self.shape[1], dtype=torch.bool, device=both.device)


class Decoded(NamedTuple):
    """What a model predicts for the pairs of a batch.

    Attributes:
        document, anchor, complement: (n_pairs,) pairs; with their neighbours they cover all pairs of the batch.
        label: (n_pairs,) the most probable label of a link, from 1.
        is_linked: (n_pairs,) whether the two are linked.
    """

    document: torch.Tensor
    anchor: torch.Tensor
    complement: torch.Tensor
    label: torch.Tensor
    is_linked: torch.Tensor


class _Head(nn.Module):  # type: ignore[misc] # torch has no types here
    """A layer over both ends of a pair, and one that scores labels."""

    def __init__(self, ends: int, hidden: int, labels: int) -> None:
        super().__init__()
        both = nn.Linear(2 * ends, hidden)  # so that the weights begin as those of the layer that this stands for
        self.anchor = nn.Linear(ends, hidden)
        self.complement = nn.Linear(ends, hidden, bias=False)
        with torch.no_grad():
            self.anchor.weight.copy_(both.weight[:, :ends])
            self.anchor.bias.copy_(both.bias)
            self.complement.weight.copy_(both.weight[:, ends:])
        self.scores = nn.Linear(hidden, labels)

    def forward(self, anchors: torch.Tensor, complements: torch.Tensor) -> torch.Tensor:
        """Score the labels of all pairs.

        Args:
            anchors: (documents, n_anchors, ends).
            complements: (documents, n_complements, ends).

        Returns:
            (documents, n_anchors, n_complements, labels).
        """
        hidden = self.anchor(anchors)[:, :, None] + self.complement(complements)[:, None, :]
        return self.scores(functional.relu(hidden))


class LinkModel(nn.Module):  # type: ignore[misc] # torch has no types here
    """Links between spans, from their vectors.

    Args:
        variant: "coupled", one head with "no link" as one of the labels; or "decoupled", a head for links, and one for
            the labels of links.
        sizes: of its layers.
    """

    def __init__(self, variant: str, sizes: Sizes) -> None:
        super().__init__()
        self.variant, self.sizes = variant, sizes
        self.dropout = nn.Dropout(sizes.span_dropout)
        self.anchor, self.complement = (
            nn.Sequential(nn.Linear(sizes.span, sizes.ends), nn.ReLU(), nn.Dropout(sizes.ends_dropout))
            for _ in range(2)
        )
        coupled = variant == "coupled"
        self.label_head = _Head(sizes.ends, sizes.head, sizes.labels if coupled else sizes.labels - 1)
        self.link_head = None if coupled else _Head(sizes.ends, sizes.head, 2)

    def forward(self, vectors: torch.Tensor, batch: LinkBatch) -> Mapping[str, torch.Tensor]:
        """Return the parts of the loss, each summed over as many pairs as `LinkBatch.totals` says.

        Args:
            vectors: (n_spans, span) the vectors of the batch's spans.
            batch: the spans, with labels.
        """
        labels = batch.labels
        if labels is None:
            raise ValueError("the labels are unknown")
        ends = self._find_ends(vectors, batch)
        if self.link_head is None:
            return {"pairs": _sum_losses(self.label_head(*ends), labels)}
        linked = torch.where(labels > 0, 1, labels)
        of_links = torch.where(labels > 0, labels - 1, NOT_A_PAIR)
        return {
            "pairs": _sum_losses(self.link_head(*ends), linked),
            "links": _sum_losses(self.label_head(*ends), of_links),
        }

    def decode(self, vectors: torch.Tensor, batch: LinkBatch) -> Iterator[Decoded]:
        """Yield the predictions for all pairs of a batch, some anchors at a time.

        Args:
            vectors: (n_spans, span) the vectors of the batch's spans.
            batch: the spans.
        """
        anchors, complements = self._find_ends(vectors, batch)
        pairs = batch.pairs
        step = max(1, MAX_PAIRS // max(1, len(pairs) * pairs.shape[2]))
        for start in range(0, pairs.shape[1], step):
            part = slice(start, start + step)
            label, is_linked = self._decide(anchors[:, part], complements)
            document, anchor, complement = pairs[:, part].nonzero(as_tuple=True)
            place = (document, anchor, complement)
            yield Decoded(document, anchor + start, complement, label[place], is_linked[place])

    def _decide(self, anchors: torch.Tensor, complements: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = self.label_head(anchors, complements)
        if self.link_head is None:
            return scores[..., 1:].argmax(-1) + 1, scores.argmax(-1) > 0
        return scores.argmax(-1) + 1, self.link_head(anchors, complements).argmax(-1) > 0

    def _find_ends(self, vectors: torch.Tensor, batch: LinkBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of the spans as anchors and as complements, (documents, spans, ends) each."""
        vectors = self.dropout(vectors)
        place = (batch.document, batch.number)
        ends = []
        for mapping in (self.anchor, self.complement):
            mapped = mapping(vectors)
            ends.append(mapped.new_zeros(*batch.shape, mapped.shape[-1]).index_put(place, mapped))
        return ends[0], ends[1]


def _sum_losses(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(
        scores.float().flatten(0, -2), labels.flatten(), ignore_index=NOT_A_PAIR, reduction="sum"
    )


PREDICTED_AT_ONCE = 16
"""How many documents are predicted at once."""


class LabelledPairs(NamedTuple):
    """The linked pairs of documents, anchor first, sorted by document.

    Attributes:
        document, anchor, complement: (n_pairs,) the document of each, and the numbers of its spans there.
        label: (n_pairs,) from 1.
    """

    document: Ints
    anchor: Ints
    complement: Ints
    label: Ints


class PredictedPairs(NamedTuple):
    """All pairs of some documents, anchor first.

    Attributes:
        document, anchor, complement: (n_pairs,) the document of each, and the numbers of its spans there.
        label: (n_pairs,) the most probable label of a link, from 1.
        is_linked: (n_pairs,) whether the two are linked.
    """

    document: Ints
    anchor: Ints
    complement: Ints
    label: Ints
    is_linked: Mask


class LinkSystem(nn.Module):  # type: ignore[misc] # torch has no types here
    """What makes the vectors of spans, and the model of the links between them.

    Args:
        vectors: makes the vectors; it is trained if it is a module.
        model: finds the links.
    """

    def __init__(self, vectors: SpanVectors, model: LinkModel) -> None:
        super().__init__()
        self.vectors = vectors
        self.model = model


@dataclass(frozen=True, eq=False)
class _Gathered:
    """Some documents, with the labels of their pairs."""

    items: Ints
    links: LinkBatch

    @property
    def totals(self) -> Mapping[str, int]:
        return self.links.totals


class LinkLearner:
    """Learns the links of documents (`closeread.neural.training.Learner`).

    Args:
        system: the model, which is on its device.
        spans: the spans to learn from.
        links: the links between them.
        held_out: the spans of held-out documents.
        score: scores predictions for these.
        criterion: the score by which the best epoch is chosen.
        device: where the model is.
    """

    pretrained = "vectors."

    def __init__(
        self,
        system: LinkSystem,
        spans: Spans,
        links: LabelledPairs,
        *,
        held_out: Spans,
        score: Callable[[Iterator[PredictedPairs]], Mapping[str, float | None]],
        criterion: str,
        device: str = "cpu",
    ) -> None:
        self.model, self.criterion = system, criterion
        self.n_items = len(spans.words)
        self._device, self._spans, self._links = device, spans, links
        self._link_starts = np.searchsorted(links.document, np.arange(self.n_items + 1))
        self._vectors = system.vectors.prepare(spans)
        self._held_out, self._held_out_vectors = held_out, system.vectors.prepare(held_out)
        self._score = score

    def gather(self, items: Ints) -> _Gathered:
        """Return some documents, with the labels of their pairs."""
        batch = _make_batch(self._spans, items, self._device)
        labels = torch.where(batch.pairs, 0, NOT_A_PAIR)
        which, link = expand_ranges(self._link_starts[items], np.diff(self._link_starts)[items])
        place = tuple(map(self._move, (which, self._links.anchor[link], self._links.complement[link])))
        labels[place] = self._move(self._links.label[link])
        return _Gathered(items, LinkBatch(batch.document, batch.number, batch.shape, labels))

    def find_losses(self, batch: _Gathered) -> Mapping[str, torch.Tensor]:
        """Return the parts of the loss, each summed over its terms."""
        losses: Mapping[str, torch.Tensor] = self.model.model(self._vectors(batch.items), batch.links)
        return losses

    def evaluate(self) -> Mapping[str, float | None]:
        """Return the scores on held-out documents."""
        return self._score(_predict(self.model.model, self._held_out, self._held_out_vectors, self._device))

    def _move(self, array: Ints) -> torch.Tensor:
        return torch.from_numpy(array).to(self._device)


def predict_pairs(system: LinkSystem, spans: Spans, device: str = "cpu") -> Iterator[PredictedPairs]:
    """Predict the links of all pairs of spans, some documents at a time.

    Documents come in no particular order, and in parts if they have many pairs.

    Args:
        system: a trained model, which is on its device.
        spans: the spans.
        device: where the model is.
    """
    system.eval()
    with torch.inference_mode():
        yield from _predict(system.model, spans, system.vectors.prepare(spans), device)


def _predict(model: LinkModel, spans: Spans, vectors: VectorsOf, device: str) -> Iterator[PredictedPairs]:
    n_documents = len(spans.words)
    # Documents of similar length are predicted together, so that there is little padding.
    order = np.argsort([len(words) for words in spans.words], kind="stable")
    for start in range(0, n_documents, PREDICTED_AT_ONCE):
        documents = order[start : start + PREDICTED_AT_ONCE]
        for found in model.decode(vectors(documents), _make_batch(spans, documents, device)):
            document, anchor, complement, label, is_linked = (tensor.cpu().numpy() for tensor in found)
            yield PredictedPairs(documents[document], anchor, complement, label, is_linked)
        report_progress("predicting", min(start + PREDICTED_AT_ONCE, n_documents), n_documents)


def _make_batch(spans: Spans, documents: Ints, device: str) -> LinkBatch:
    document, span = select_spans(spans, documents)
    number = span - spans.starts[documents][document]
    most = int(np.diff(spans.starts)[documents].max(initial=0))
    document, number = (torch.from_numpy(array).to(device) for array in (document, number))
    return LinkBatch(document, number, (len(documents), most))


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
        variant: "coupled" or "decoupled" (see `closeread.neural.links.LinkModel`).
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
