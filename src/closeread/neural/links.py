"""Models that decide which spans of a document are linked, and by which label: trained in a folder, and loaded from it.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8, and Dozat and Manning's (2017) habit of one
representation of a span as the head of links and another as their end.

Conventions: with an encoder, the vector of a span is that of its first and of its last word side by side; with word
vectors, the sum of those of its words, 0 for unknown words.  A pair is an ordered pair of different spans of one
document; the pairs of a document are sorted by anchor, then by complement; label 0 is no link.  An encoder is named as
on the Hugging Face Hub, or by its folder, and is trained, too; "frozen:NAME" stays as it is; "static:FILE" are word
vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from closeread.formats.word_vectors import WordVectors, read_vectors
from closeread.neural.devices import Hardware, choose_hardware
from closeread.neural.encoders import (
    SPECIAL,
    encode_words,
    load_encoder,
    load_tokenizer,
    longest_input,
    set_dropout,
    tokenize_words,
)
from closeread.neural.pairs import check_labels
from closeread.neural.prediction import Batch, Outputs, predict_batches, use_precision
from closeread.neural.run_folders import RunFolder
from closeread.parameters import TrainingSettings

KINDS = ("tuned", "frozen", "static")

DOCUMENTS_AT_ONCE = 16
"""How many documents are encoded or predicted at once, where nothing is learnt from it."""


class SpanDocument(NamedTuple):
    """A document with the spans that may be linked.

    Attributes:
        words: its words.
        spans: the first and the last word of each span, numbered from 0; the last is part of it.
        links: the label, from 1, of each linked pair of spans, by the numbers of anchor and complement; empty where links
            are not known.
    """

    words: Sequence[str]
    spans: Sequence[tuple[int, int]]
    links: Mapping[tuple[int, int], int]


class PredictedPair(NamedTuple):
    """A pair of spans of a document.

    Attributes:
        anchor, complement: the numbers of the spans.
        label: the most probable label of a link, from 1.
        is_linked: whether there is a link.
    """

    anchor: int
    complement: int
    label: int
    is_linked: bool


Predictions = Sequence[Sequence[PredictedPair]]
"""All pairs of each document."""


@dataclass(frozen=True)
class LinkChoice:
    """The kind of model that is trained.

    Attributes:
        variant: "coupled" or "decoupled" (see `LinkModel`).
        kind: one of `KINDS`.
        name: of the encoder, or the file of word vectors.
        labels: the names of the labels; the first is no link.
        encoder_dropout: of an encoder that is trained; None for its own.
    """

    variant: str
    kind: str
    name: str
    labels: Sequence[str]
    encoder_dropout: float | None = None


def parse_encoder(text: str) -> tuple[str, str]:
    """Split the description of an encoder into one of `KINDS` and a name.

    >>> parse_encoder("frozen:SpanBERT/spanbert-base-cased")
    ('frozen', 'SpanBERT/spanbert-base-cased')
    >>> parse_encoder("bert-base-cased")
    ('tuned', 'bert-base-cased')
    """
    kind, colon, name = text.partition(":")
    if colon and kind in KINDS:
        return kind, name
    return KINDS[0], text


class LinkConfig(transformers.PretrainedConfig):
    """The configuration of a `LinkModel`.

    Attributes:
        variant: "coupled" or "decoupled".
        kind: one of `KINDS`.
        encoder: the configuration of the encoder; None for word vectors.
        span_size, end_size, head_size: the sizes of the vector of a span, and of the layers over one and over two of them.
    """

    model_type = "closeread_links"

    variant: str = "coupled"
    kind: str = "static"
    encoder: dict[str, Any] | None = None
    span_size: int = 1
    end_size: int = 500
    head_size: int = 100


class Head(nn.Module):
    """A layer over both ends of a pair, and one that scores labels.

    Both ends enter the first layer by a matrix each, which is what a matrix for the two of them side by side does,
    without a copy of every span for every pair.
    """

    def __init__(self, end_size: int, head_size: int, n_labels: int) -> None:
        super().__init__()
        # The weights begin as those of the layer that this stands for.
        both = nn.Linear(2 * end_size, head_size)
        self.anchor = nn.Linear(end_size, head_size)
        self.complement = nn.Linear(end_size, head_size, bias=False)
        with torch.no_grad():
            self.anchor.weight.copy_(both.weight[:, :end_size])
            self.anchor.bias.copy_(both.bias)
            self.complement.weight.copy_(both.weight[:, end_size:])
        self.scores = nn.Linear(head_size, n_labels)

    def forward(self, anchors: torch.Tensor, complements: torch.Tensor) -> torch.Tensor:
        """Score the labels of the pairs of a document, (n_pairs, n_labels), from the vectors of its spans."""
        hidden = self.anchor(anchors)[:, None] + self.complement(complements)[None, :]
        is_pair = ~torch.eye(len(anchors), dtype=torch.bool, device=anchors.device)
        return self.scores(functional.relu(hidden))[is_pair].float()


class LinkModel(transformers.PreTrainedModel):
    """Links between the spans of documents.

    "coupled" is one head with "no link" as one of the labels; "decoupled" a head for links, and one for the labels of
    links.
    """

    config_class = LinkConfig
    accepts_loss_kwargs = False  # the keywords of `forward` are tokens

    def __init__(self, config: LinkConfig, encoder: Any = None) -> None:
        super().__init__(config)
        if encoder is None and config.encoder is not None:
            encoder_config = transformers.AutoConfig.for_model(**config.encoder)
            encoder = transformers.AutoModel.from_config(encoder_config, trust_remote_code=False)
        self.encoder = encoder
        self.dropout = nn.Dropout(0.2)
        self.anchor = self._make_end()
        self.complement = self._make_end()
        sizes = (config.end_size, config.head_size)
        is_coupled = config.variant == "coupled"
        self.label_head = Head(*sizes, config.num_labels if is_coupled else config.num_labels - 1)
        self.link_head = None if is_coupled else Head(*sizes, 2)
        self.post_init()

    def _make_end(self) -> nn.Sequential:
        layer = nn.Linear(self.config.span_size, self.config.end_size)
        return nn.Sequential(layer, nn.ReLU(), nn.Dropout(0.3))

    def _init_weights(self, module: nn.Module) -> None:
        """Keep the values with which torch makes layers."""

    def encode(
        self, words: torch.Tensor, n_words: torch.Tensor, spans: torch.Tensor, **tokens: Any
    ) -> torch.Tensor:
        """Return the vectors of spans, (n_spans, span_size), by the encoder.

        Args:
            words, n_words: the word of each token, and how many words there are, as for `encode_words`.
            spans: (n_spans, 2) the first and last word of each span, numbered over all documents.
            **tokens: `input_ids` and `attention_mask` of the windows of documents.
        """
        vectors = encode_words(self.encoder, words, int(n_words), **tokens)
        first, last = spans.T
        return torch.cat([vectors[first], vectors[last]], dim=1)

    def forward(
        self,
        sizes: torch.Tensor,
        vectors: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,
        **windows: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """Return the loss of documents whose labels are known, or else the predictions for all pairs.

        Args:
            sizes: the number of spans of each document.
            vectors: (n_spans, span_size) of all documents; None to encode their windows.
            labels: (n_pairs,) of all documents.
            **windows: as for `encode`.
        """
        if vectors is None:
            vectors = self.encode(**windows)
        vectors = self.dropout(vectors)
        counts = sizes.tolist()
        anchors = self.anchor(vectors).split(counts)
        complements = self.complement(vectors).split(counts)
        label_scores = torch.cat(list(map(self.label_head, anchors, complements)))
        link_scores = None
        if self.link_head is not None:
            link_scores = torch.cat(list(map(self.link_head, anchors, complements)))
        if labels is not None:
            return {"loss": find_loss(label_scores, link_scores, labels)}
        if link_scores is None:
            link_scores = label_scores
            label_scores = label_scores[:, 1:]
        return {"label": label_scores.argmax(-1) + 1, "is_linked": link_scores.argmax(-1) > 0}


transformers.AutoConfig.register(LinkConfig.model_type, LinkConfig)
transformers.AutoModel.register(LinkConfig, LinkModel)


def find_loss(
    label_scores: torch.Tensor, link_scores: torch.Tensor | None, labels: torch.Tensor
) -> torch.Tensor:
    """Return the mean cross-entropy of pairs; if links are decided apart, and that of the labels of linked pairs."""
    if link_scores is None:
        return _mean_loss(label_scores, labels)
    is_linked = labels > 0
    of_links = _mean_loss(label_scores[is_linked], labels[is_linked] - 1)
    return _mean_loss(link_scores, is_linked.long()) + of_links


def _mean_loss(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    if not len(labels):  # documents without pairs, or without links, teach nothing
        return scores.sum()
    return functional.cross_entropy(scores, labels)


@dataclass(frozen=True)
class LinkSystem:
    """A model of links, and what it reads documents with.

    Attributes:
        model: the model, on its device.
        tokenizer: that of its encoder; None without an encoder.
        vectors: the word vectors; None with an encoder.
        hardware: where the model runs.
    """

    model: LinkModel
    tokenizer: Any
    vectors: WordVectors | None
    hardware: Hardware

    def collate(self, examples: Sequence[Mapping[str, Any]]) -> Batch:
        """Return a batch of documents as tensors by the names of the parameters of `LinkModel.forward`."""
        batch = {"sizes": torch.tensor([len(example["spans"]) for example in examples])}
        for name in ("vectors", "labels"):
            if name in examples[0]:
                batch[name] = torch.cat([example[name] for example in examples])
        if "vectors" in batch:
            return batch
        tokens: list[dict[str, list[int]]] = []
        words: list[torch.Tensor] = []
        spans: list[torch.Tensor] = []
        n_words = 0
        for example in examples:
            for window in example["windows"]:
                tokens.append({"input_ids": window.tokens})
                numbers = torch.tensor(window.words)
                words.append(torch.where(numbers == SPECIAL, SPECIAL, numbers + n_words))
            spans.append(example["spans"] + n_words)
            n_words += example["n_words"]
        batch |= transformers.DataCollatorWithPadding(self.tokenizer)(tokens)
        batch["words"] = pad_sequence(words, batch_first=True, padding_value=SPECIAL)
        batch["n_words"] = torch.tensor(n_words)
        batch["spans"] = torch.cat(spans)
        return batch

    def prepare(self, documents: Sequence[SpanDocument]) -> list[dict[str, Any]]:
        """Return documents as examples without labels.

        The vectors of spans that stay as they are are computed here, once.
        """
        examples: list[dict[str, Any]] = []
        for document in documents:
            spans = torch.tensor(document.spans, dtype=torch.long).reshape(-1, 2)
            example = {"spans": spans, "n_words": len(document.words)}
            if self.vectors is not None:
                example["vectors"] = _sum_vectors(self.vectors, document)
            examples.append(example)
        if self.vectors is not None:
            return examples
        longest = longest_input(self.tokenizer, self.model.encoder.config)
        texts = [document.words for document in documents]
        tokenized = tokenize_words(self.tokenizer, texts, longest)
        for windows, example in zip(tokenized, examples, strict=True):
            example["windows"] = windows
        if self.model.config.kind == "frozen":
            self._encode(examples)
        return examples

    def _encode(self, examples: list[dict[str, Any]]) -> None:
        """Add the vectors of spans by an encoder that stays as it is."""
        model = self.model.to(self.hardware.device).eval()
        model.encoder.requires_grad_(False)
        by_length = sorted(examples, key=lambda example: example["n_words"])
        for start in range(0, len(by_length), DOCUMENTS_AT_ONCE):
            documents = by_length[start : start + DOCUMENTS_AT_ONCE]
            batch = {
                name: tensor.to(self.hardware.device)
                for name, tensor in self.collate(documents).items()
            }
            sizes = batch.pop("sizes").tolist()
            with torch.no_grad(), use_precision(self.hardware):
                vectors = model.encode(**batch).float().cpu()
            for document, document_vectors in zip(documents, vectors.split(sizes), strict=True):
                document["vectors"] = document_vectors


def _sum_vectors(vectors: WordVectors, document: SpanDocument) -> torch.Tensor:
    """Return the sums of the vectors of the words of each span, (n_spans, size)."""
    sums = np.zeros((len(document.spans), vectors.matrix.shape[1]), np.float32)
    row_of_word = [vectors.rows.get(word) for word in document.words]
    for span, (first, last) in enumerate(document.spans):
        for row in row_of_word[first : last + 1]:
            if row is not None:
                sums[span] += vectors.matrix[row]
    return torch.from_numpy(sums)


def label_pairs(document: SpanDocument) -> torch.Tensor:
    """Return the labels of all pairs of a document, (n_pairs,), 0 for pairs that are not linked."""
    pairs = permutations(range(len(document.spans)), 2)
    return torch.tensor([document.links.get(pair, 0) for pair in pairs], dtype=torch.long)


def name_pairs(outputs: Outputs, documents: Sequence[SpanDocument]) -> Predictions:
    """Return the predictions of a model, batch by batch, as the pairs of each document."""
    labels = chain.from_iterable(output["label"].tolist() for output in outputs)
    decisions = chain.from_iterable(output["is_linked"].tolist() for output in outputs)
    predictions = []
    for document in documents:
        pairs = permutations(range(len(document.spans)), 2)
        predictions.append([PredictedPair(*pair, next(labels), next(decisions)) for pair in pairs])
    return predictions


def train_links(
    folder: RunFolder,
    choice: LinkChoice,
    settings: TrainingSettings,
    training: Sequence[SpanDocument],
    validation: Sequence[SpanDocument],
    *,
    score: Callable[[Predictions], Mapping[str, float | None]],
    criterion: str,
    metadata: Mapping[str, Any],
    resume: bool,
) -> None:
    """Train a model in a folder; every epoch is scored on validation documents, and the best is that of the criterion.

    `metadata` is what else `run.json` says.
    """
    from closeread.neural.training import Learner, train

    hardware = choose_hardware(settings.device, settings.precision)
    for document in training:
        check_labels(document.links.values(), len(choice.labels))
    documents = [*training, *validation]

    def build_learner(checkpoint: Path | None) -> Learner:
        source = None if checkpoint is None else RunFolder(checkpoint)
        system = make_system(choice, documents, hardware, source)
        set_dropout(system.model.encoder, choice.encoder_dropout)
        learnt = system.prepare(training)
        for example, document in zip(learnt, training, strict=True):
            example["labels"] = label_pairs(document)
        validated = system.prepare(validation)
        return Learner(
            system.model,
            "encoder.",
            system.tokenizer,
            learnt,
            validated,
            system.collate,
            DOCUMENTS_AT_ONCE,
            lambda outputs: score(name_pairs(outputs, validation)),
            criterion,
        )

    train(folder, {**metadata, "model": asdict(choice)}, settings, build_learner, resume=resume)


def make_system(
    choice: LinkChoice,
    documents: Sequence[SpanDocument],
    hardware: Hardware,
    folder: RunFolder | None = None,
) -> LinkSystem:
    """Load the model of a folder, or make one that has learnt nothing yet, with what it reads documents with."""
    model = None if folder is None else folder.load_model(LinkModel)
    tokenizer = None
    vectors = None
    if choice.kind == "static":
        words: set[str] = set().union(*(document.words for document in documents))
        vectors = read_vectors(Path(choice.name), words)
    else:
        tokenizer = load_tokenizer(choice.name if folder is None else folder.path)
    if model is None:
        model = make_model(choice, vectors)
    return LinkSystem(model, tokenizer, vectors, hardware)


def make_model(choice: LinkChoice, vectors: WordVectors | None) -> LinkModel:
    """Make a model that has learnt nothing yet, of spans of these word vectors or with a pretrained encoder."""
    encoder = None
    encoder_config = None
    if vectors is None:
        encoder = load_encoder(choice.name, transformers.AutoModel)
        encoder_config = encoder.config.to_dict()
        span_size = 2 * encoder.config.hidden_size
    else:
        span_size = vectors.matrix.shape[1]
    config = LinkConfig(
        variant=choice.variant,
        kind=choice.kind,
        encoder=encoder_config,
        span_size=span_size,
        id2label=dict(enumerate(choice.labels)),
    )
    return LinkModel(config, encoder)


def predict_links(
    folder: RunFolder, documents: Sequence[SpanDocument], hardware: Hardware
) -> Predictions:
    """Predict the links of all pairs of spans by a trained model."""
    choice = folder.read_choice(LinkChoice, "a model of links")
    system = make_system(choice, documents, hardware, folder)
    examples = system.prepare(documents)
    model = system.model.to(hardware.device)
    outputs = predict_batches(model, examples, system.collate, DOCUMENTS_AT_ONCE, hardware)
    return name_pairs(outputs, documents)
