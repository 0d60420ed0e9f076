"""Learning links between the spans of documents, and predicting them.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from closeread.arrays import Ints, Mask, expand_ranges
from closeread.neural.link_model import NOT_A_PAIR, LinkBatch, LinkModel
from closeread.neural.spans import Spans, SpanVectors, VectorsOf, select_spans
from closeread.progress import report_progress

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
