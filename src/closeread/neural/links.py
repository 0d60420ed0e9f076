"""Models that decide which spans of a document are linked, and by which label: trained in a folder, and loaded from it.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8, and Dozat and Manning's (2017) habit of one
representation of a span as the head of links and another as their end.

Conventions: with an encoder, the vector of a span is that of its first and of its last word side by side; with word
vectors, the sum of those of its words, 0 for unknown words. Documents of a batch are padded to the one with the most
spans. A pair is an ordered pair of different spans of one document, anchor first; label 0 is no link. Both ends of a
pair enter the first layer of a head by a matrix each, which is what a matrix for the two of them side by side does,
without a copy of every span for every pair. An encoder is named as on the Hugging Face Hub, or by its folder, and is
trained, too; "frozen:NAME" stays as it is; "static:FILE" are word vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from closeread.arrays import Ints, Mask, expand_ranges
from closeread.exceptions import FormatError, Problem
from closeread.formats.word_vectors import WordVectors, read_vectors
from closeread.neural.devices import choose_hardware
from closeread.neural.encoders import Encoder, set_dropout
from closeread.neural.run_files import ENCODER, RUN, read_run
from closeread.neural.run_folders import RunFolder
from closeread.parameters import TrainingSettings
from closeread.progress import report_progress

NOT_A_PAIR = -100  # in place of the label where there is no pair: a span and itself, and padding
MAX_PAIRS = 2**20  # how many pairs are decoded at once
KINDS = ("tuned", "frozen", "static")

AT_ONCE = 16
"""How many documents are encoded or predicted at once, where nothing is learnt from it."""


class Spans(NamedTuple):
    """Spans of the words of documents."""

    words: Sequence[Sequence[str]]  # of every document
    starts: Ints  # (n_documents + 1,) where the spans of each document begin
    first: Ints  # (n_spans,) the first word of each, numbered within its document
    last: Ints

    def select(self, documents: Ints) -> tuple[Ints, Ints]:
        """Return the spans of some documents, in their order: which of the documents each is of, and its number."""
        return expand_ranges(self.starts[documents], np.diff(self.starts)[documents])

    def batch_by_length(self) -> Iterator[Ints]:
        """Yield the numbers of all documents, those of similar length together, so that there is little padding."""
        order = np.argsort([len(words) for words in self.words], kind="stable")
        for start in range(0, len(order), AT_ONCE):
            yield order[start : start + AT_ONCE]


VectorsOf = Callable[[Ints], torch.Tensor]
"""Returns the vectors of all spans of some documents, (n_spans, size)."""


class SpanVectors(Protocol):
    """Makes the vectors of spans, of length `size`."""

    size: int

    def prepare(self, spans: Spans) -> VectorsOf:
        """Return a function from documents to the vectors of their spans, once their words have been looked at."""


class TunedSpans(nn.Module):  # type: ignore[misc] # torch has no types here
    """Spans in the vectors of an encoder that is trained, too: gradients flow through them."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.size = 2 * encoder.dimensions

    def prepare(self, spans: Spans) -> VectorsOf:
        """See `SpanVectors.prepare`."""
        pieces = self.encoder.cut(spans.words)

        def encode(documents: Ints) -> torch.Tensor:
            part = [pieces[document] for document in documents.tolist()]
            words = self.encoder(part)
            index, span = spans.select(documents)
            begin = np.cumsum([0, *(document.n_words for document in part)])[index]
            first, last = (
                torch.from_numpy(begin + place[span]).to(words.device)
                for place in (spans.first, spans.last)
            )
            return torch.cat([words[first], words[last]], dim=1)

        return encode


class FrozenSpans:
    """Spans in the vectors of an encoder that stays as it is: every document is encoded once."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.size = 2 * encoder.dimensions

    def prepare(self, spans: Spans) -> VectorsOf:
        """See `SpanVectors.prepare`."""
        vectors = TunedSpans(self.encoder.eval()).prepare(spans)
        table = torch.empty(
            len(spans.first), self.size, device=next(self.encoder.parameters()).device
        )
        with torch.inference_mode():
            for batch in spans.batch_by_length():
                table[torch.from_numpy(spans.select(batch)[1]).to(table.device)] = vectors(batch)
        return _look_up(table, spans)


class StaticSpans:
    """Spans in word vectors that know no context."""

    def __init__(self, vectors: WordVectors, device: str = "cpu") -> None:
        self.source = vectors
        self._device = device
        self.size = vectors.matrix.shape[1]

    def prepare(self, spans: Spans) -> VectorsOf:
        """See `SpanVectors.prepare`."""
        table = np.zeros((len(spans.first), self.size), np.float32)
        rows = self.source.rows
        matrix = self.source.matrix
        for document, words in enumerate(spans.words):
            row_of_word = [rows.get(word) for word in words]
            for span in range(spans.starts[document], spans.starts[document + 1]):
                for row in row_of_word[spans.first[span] : spans.last[span] + 1]:
                    if row is not None:
                        table[span] += matrix[row]
        return _look_up(torch.from_numpy(table).to(self._device), spans)


def _look_up(table: torch.Tensor, spans: Spans) -> VectorsOf:
    return lambda documents: table[torch.from_numpy(spans.select(documents)[1]).to(table.device)]


@dataclass(frozen=True, eq=False)
class LinkBatch:
    """The spans of a batch of documents."""

    documents: Ints  # their numbers
    document: torch.Tensor  # (n_spans,) the document of each span in the batch
    number: torch.Tensor  # (n_spans,) and its number there
    shape: tuple[int, int]  # the number of documents, and the most spans of one
    # (documents, spans, spans) of every pair, `NOT_A_PAIR` where there is none; 0 if unknown
    labels: torch.Tensor

    @classmethod
    def make(cls, spans: Spans, documents: Ints, device: str) -> LinkBatch:
        """Make the batch of some documents."""
        index, span = spans.select(documents)
        shape = (len(documents), int(np.diff(spans.starts)[documents].max(initial=0)))
        document, number = (
            torch.from_numpy(numbers).to(device)
            for numbers in (index, span - spans.starts[documents][index])
        )
        exists = torch.zeros(shape, dtype=torch.bool, device=device)
        exists[document, number] = True
        pairs = (
            exists[:, :, None]
            & exists[:, None, :]
            & ~torch.eye(shape[1], dtype=torch.bool, device=device)
        )
        return cls(documents, document, number, shape, torch.where(pairs, 0, NOT_A_PAIR))

    @property
    def totals(self) -> Mapping[str, int]:
        """How many pairs each part of the loss is summed over."""
        return {"pairs": int((self.labels >= 0).sum()), "links": int((self.labels > 0).sum())}


class LabeledPairs(NamedTuple):
    """The linked pairs of documents, anchor first, sorted by document; (n_pairs,) each."""

    document: Ints
    anchor: Ints  # the number of the span in its document
    complement: Ints
    label: Ints  # from 1


class PredictedPairs(NamedTuple):
    """Pairs of some documents, anchor first; (n_pairs,) each."""

    document: Ints
    anchor: Ints  # the number of the span in its document
    complement: Ints
    label: Ints  # the most probable label of a link, from 1
    is_linked: Mask


class _Head(nn.Module):  # type: ignore[misc] # torch has no types here
    """A layer over both ends of a pair, and one that scores labels."""

    def __init__(self, ends: int, hidden: int, labels: int) -> None:
        super().__init__()
        # so that the weights begin as those of the layer that this stands for
        both = nn.Linear(2 * ends, hidden)
        self.anchor = nn.Linear(ends, hidden)
        self.complement = nn.Linear(ends, hidden, bias=False)
        with torch.no_grad():
            self.anchor.weight.copy_(both.weight[:, :ends])
            self.anchor.bias.copy_(both.bias)
            self.complement.weight.copy_(both.weight[:, ends:])
        self.scores = nn.Linear(hidden, labels)

    def forward(self, anchors: torch.Tensor, complements: torch.Tensor) -> torch.Tensor:
        """Score the labels of all pairs of (documents, spans, ends) each: (documents, anchors, complements, labels)."""
        hidden = self.anchor(anchors)[:, :, None] + self.complement(complements)[:, None, :]
        return self.scores(functional.relu(hidden))


class LinkModel(nn.Module):  # type: ignore[misc] # torch has no types here
    """Links between spans, from their vectors.

    "coupled" is one head with "no link" as one of the labels; "decoupled" a head for links, and one for the labels of
    links.  The vectors of an anchor and of a complement are mapped to `ends`; `head` is the hidden layer of a head.
    """

    def __init__(
        self, variant: str, span: int, labels: int, *, ends: int = 500, head: int = 100
    ) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.2)
        self.anchor, self.complement = (
            nn.Sequential(nn.Linear(span, ends), nn.ReLU(), nn.Dropout(0.3)) for _ in range(2)
        )
        coupled = variant == "coupled"
        self.label_head = _Head(ends, head, labels if coupled else labels - 1)
        self.link_head = None if coupled else _Head(ends, head, 2)

    def forward(self, vectors: torch.Tensor, batch: LinkBatch) -> Mapping[str, torch.Tensor]:
        """Return the parts of the loss, each summed over as many pairs as `LinkBatch.totals` says.

        `vectors` are those of the batch's spans, (n_spans, span).
        """
        labels = batch.labels
        ends = self._find_ends(vectors, batch)
        if self.link_head is None:
            return {"pairs": _sum_losses(self.label_head(*ends), labels)}
        linked = torch.where(labels > 0, 1, labels)
        of_links = torch.where(labels > 0, labels - 1, NOT_A_PAIR)
        return {
            "pairs": _sum_losses(self.link_head(*ends), linked),
            "links": _sum_losses(self.label_head(*ends), of_links),
        }

    def decode(self, vectors: torch.Tensor, batch: LinkBatch) -> Iterator[PredictedPairs]:
        """Yield the predictions for all pairs of a batch, some anchors at a time."""
        anchors, complements = self._find_ends(vectors, batch)
        pairs = batch.labels != NOT_A_PAIR
        step = max(1, MAX_PAIRS // max(1, len(pairs) * pairs.shape[2]))
        for start in range(0, pairs.shape[1], step):
            part = slice(start, start + step)
            scores = self.label_head(anchors[:, part], complements)
            if self.link_head is None:
                label = scores[..., 1:].argmax(-1) + 1
                is_linked = scores.argmax(-1) > 0
            else:
                label = scores.argmax(-1) + 1
                is_linked = self.link_head(anchors[:, part], complements).argmax(-1) > 0
            place = pairs[:, part].nonzero(as_tuple=True)
            document, anchor, complement, *predictions = (
                column.cpu().numpy() for column in (*place, label[place], is_linked[place])
            )
            yield PredictedPairs(
                batch.documents[document], anchor + start, complement, *predictions
            )

    def _find_ends(
        self, vectors: torch.Tensor, batch: LinkBatch
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of the spans as anchors and as complements, (documents, spans, ends) each."""
        vectors = self.dropout(vectors)
        place = (batch.document, batch.number)
        anchor, complement = (
            mapped.new_zeros(*batch.shape, mapped.shape[-1]).index_put(place, mapped)
            for mapped in (self.anchor(vectors), self.complement(vectors))
        )
        return anchor, complement


def _sum_losses(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(
        scores.float().flatten(0, -2), labels.flatten(), ignore_index=NOT_A_PAIR, reduction="sum"
    )


class LinkSystem(nn.Module):  # type: ignore[misc] # torch has no types here
    """The source of the vectors of spans, trained if it is a module, and the model of the links between the spans."""

    def __init__(self, vectors: SpanVectors, model: LinkModel) -> None:
        super().__init__()
        self.vectors = vectors
        self.model = model


class LinkLearner:
    """Learns the links of documents (`closeread.neural.training.Learner`); the system is on its device."""

    pretrained = "vectors."

    def __init__(
        self,
        system: LinkSystem,
        spans: Spans,
        links: LabeledPairs,
        *,
        held_out: Spans,
        score: Callable[[Iterator[PredictedPairs]], Mapping[str, float | None]],
        criterion: str,
        device: str = "cpu",
    ) -> None:
        self.model = system
        self.criterion = criterion
        self.n_items = len(spans.words)
        self._device = device
        self._spans = spans
        self._links = links
        self._link_starts = np.searchsorted(links.document, np.arange(self.n_items + 1))
        self._vectors = system.vectors.prepare(spans)
        self._held_out = held_out
        self._held_out_vectors = system.vectors.prepare(held_out)
        self._score = score

    def gather(self, numbers: Ints) -> LinkBatch:
        """Return some documents, with the labels of their pairs."""
        batch = LinkBatch.make(self._spans, numbers, self._device)
        n_links = np.diff(self._link_starts)
        index, link = expand_ranges(self._link_starts[numbers], n_links[numbers])
        columns = (
            index,
            self._links.anchor[link],
            self._links.complement[link],
            self._links.label[link],
        )
        *place, label = (torch.from_numpy(column).to(self._device) for column in columns)
        batch.labels[tuple(place)] = label
        return batch

    def find_losses(self, batch: LinkBatch) -> Mapping[str, torch.Tensor]:
        """Return the parts of the loss, each summed over its terms."""
        losses: Mapping[str, torch.Tensor] = self.model.model(self._vectors(batch.documents), batch)
        return losses

    def evaluate(self) -> Mapping[str, float | None]:
        """Return the scores on held-out documents."""
        return self._score(
            _predict(self.model.model, self._held_out, self._held_out_vectors, self._device)
        )


def predict_pairs(
    system: LinkSystem, spans: Spans, device: str = "cpu"
) -> Iterator[PredictedPairs]:
    """Predict the links of all pairs of spans with a trained model, some documents at a time.

    Documents come in no particular order, and in parts if they have many pairs.
    """
    system.eval()
    with torch.inference_mode():
        yield from _predict(system.model, spans, system.vectors.prepare(spans), device)


def _predict(
    model: LinkModel, spans: Spans, vectors: VectorsOf, device: str
) -> Iterator[PredictedPairs]:
    done = 0
    for documents in spans.batch_by_length():
        yield from model.decode(vectors(documents), LinkBatch.make(spans, documents, device))
        done += len(documents)
        report_progress("predicting", done, len(spans.words))


@dataclass(frozen=True)
class LinkChoice:
    """The kind of model that is trained."""

    variant: str  # "coupled" or "decoupled" (see `LinkModel`)
    kind: str  # one of `KINDS`
    name: str  # of the encoder, or the file of word vectors
    labels: int  # the number of labels, "no link" included
    encoder_dropout: float | None = None  # of an encoder that is trained; None for its own


class Examples(NamedTuple):
    """Documents to learn from: their spans, the links between these, and a digest of both."""

    spans: Spans
    links: LabeledPairs
    digest: str


def parse_encoder(text: str) -> tuple[str, str]:
    """Split the description of an encoder into one of `KINDS` and a name.

    >>> parse_encoder("frozen:SpanBERT/spanbert-base-cased")
    ('frozen', 'SpanBERT/spanbert-base-cased')
    >>> parse_encoder("bert-base-cased")
    ('tuned', 'bert-base-cased')
    """
    kind, colon, name = text.partition(":")
    return (kind, name) if colon and kind in KINDS else (KINDS[0], text)


def train_links(
    folder: RunFolder,
    choice: LinkChoice,
    settings: TrainingSettings,
    training: Examples,
    held_out: Examples,
    *,
    score: Callable[[Iterator[PredictedPairs]], Mapping[str, float | None]],
    criterion: str,
    about: Mapping[str, Any],
    resume: bool = False,
) -> None:
    """Train a model in a folder; every epoch is scored on held-out documents, and the best is that of the criterion.

    `about` is what else `run.json` says.
    """
    device = choose_hardware(settings.device, settings.precision).device
    words = set[str]().union(*training.spans.words, *held_out.spans.words)

    def prepare(continues: bool) -> LinkLearner:
        if continues:
            source = _load_source(folder, choice, words)
        elif choice.kind == "static":
            source = read_vectors(Path(choice.name), words)
        else:
            source = Encoder.load(choice.name)
        return LinkLearner(
            _make_system(choice, source, device).to(device),
            training.spans,
            training.links,
            held_out=held_out.spans,
            score=score,
            criterion=criterion,
            device=device,
        )

    def save_source(learner: LinkLearner) -> None:
        vectors = learner.model.vectors
        if isinstance(vectors, (TunedSpans, FrozenSpans)):
            vectors.encoder.save(folder.path / ENCODER, with_weights=choice.kind == "frozen")

    data = {"training": training.digest, "held_out": held_out.digest}
    described = {**about, "model": asdict(choice), "data": data}
    folder.train(described, settings, prepare=prepare, save_source=save_source, resume=resume)


def load_system(folder: RunFolder, spans: Spans, device: str) -> LinkSystem:
    """Load a trained model, to predict the links of these spans with it."""
    try:
        choice = LinkChoice(**read_run(folder.path)["model"])
    except TypeError:
        names = ", ".join(field.name for field in fields(LinkChoice))
        problem = Problem(f"model: is not a model of links (expected {names})")
        raise FormatError(folder.path / RUN, [problem]) from None
    words = set[str]().union(*spans.words)
    system = _make_system(choice, _load_source(folder, choice, words), device)
    folder.load_weights(system)
    system.to(device).eval()
    return system


def _load_source(
    folder: RunFolder, choice: LinkChoice, words: Collection[str]
) -> Encoder | WordVectors:
    """Load the source of the vectors of spans; an encoder that was trained gets its parameters later."""
    if choice.kind == "static":
        return read_vectors(Path(choice.name), words)
    return Encoder.load(folder.path / ENCODER, with_weights=choice.kind == "frozen")


def _make_system(choice: LinkChoice, source: Encoder | WordVectors, device: str) -> LinkSystem:
    """Make a model that has learnt nothing yet."""
    if isinstance(source, Encoder):
        if choice.encoder_dropout is not None:
            set_dropout(source.model, choice.encoder_dropout)
        source.to(device)
        vectors: SpanVectors = (
            FrozenSpans(source) if choice.kind == "frozen" else TunedSpans(source)
        )
    else:
        vectors = StaticSpans(source, device)
    return LinkSystem(vectors, LinkModel(choice.variant, vectors.size, choice.labels))
