"""Models that decide which spans of a document are linked, and by which label.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8, and Dozat and Manning's (2017) habit of one
representation of a span as the head of links and another as their end.

Conventions: documents of a batch are padded to the one with the most spans.  A pair is an ordered pair of different
spans of one document, anchor first; label 0 is no link.  Both ends of a pair enter the first layer of a head by a
matrix each, which is what a matrix for the two of them side by side does, without a copy of every span for every pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional

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
