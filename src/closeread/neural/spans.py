"""The vectors of spans of words: from an encoder, tuned or frozen, or from static word vectors.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8.

Conventions: with an encoder, a span is its first and its last word side by side; a static span is the sum of the
vectors of its words, 0 for unknown words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import nn

from closeread.arrays import Ints, expand_ranges
from closeread.formats.word_vectors import WordVectors
from closeread.neural.encoders import Encoder, Pieces, WordPieces

FROZEN_BATCH = 16
"""How many documents are encoded at once, where nothing is learnt from it."""


class Spans(NamedTuple):
    """Spans of the words of documents.

    Attributes:
        words: the words of every document.
        starts: (n_documents + 1,) where the spans of each document begin.
        first, last: (n_spans,) the first and the last word of each, numbered within its document.
    """

    words: Sequence[Sequence[str]]
    starts: Ints
    first: Ints
    last: Ints


VectorsOf = Callable[[Ints], torch.Tensor]
"""Returns the vectors of all spans of some documents, (n_spans, size)."""


class SpanVectors(Protocol):
    """Makes the vectors of spans.

    Attributes:
        size: the length of a vector.
    """

    size: int

    def prepare(self, spans: Spans) -> VectorsOf:
        """Return a function from documents to the vectors of their spans, once their words have been looked at."""


class TunedSpans(nn.Module):  # type: ignore[misc] # torch has no types here
    """Spans in the vectors of an encoder that is trained, too.

    Args:
        encoder: a pretrained encoder.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.size = 2 * encoder.dimensions

    def prepare(self, spans: Spans) -> VectorsOf:
        """See `SpanVectors.prepare`; gradients flow through the vectors."""
        pieces = self.encoder.cut(spans.words)
        return lambda documents: self._encode(pieces, spans, documents)

    def _encode(self, pieces: Pieces, spans: Spans, documents: Ints) -> torch.Tensor:
        device = next(self.encoder.parameters()).device
        part = pieces.select(documents)
        words = self.encoder(_move(self.encoder.prepare(part), device))
        which, span = select_spans(spans, documents)
        first, last = (
            torch.from_numpy(part.word_starts[which] + place[span]).to(device) for place in (spans.first, spans.last)
        )
        return torch.cat([words[first], words[last]], dim=1)


class FrozenSpans:
    """Spans in the vectors of an encoder that stays as it is: every document is encoded once."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.size = 2 * encoder.dimensions

    def prepare(self, spans: Spans) -> VectorsOf:
        """See `SpanVectors.prepare`."""
        vectors = TunedSpans(self.encoder.eval()).prepare(spans)
        n_documents = len(spans.words)
        lengths = np.array([len(words) for words in spans.words], np.int64)
        order = np.argsort(lengths, kind="stable")  # so that there is little padding
        device = next(self.encoder.parameters()).device
        table = torch.empty(len(spans.first), self.size, device=device)
        with torch.inference_mode():
            for start in range(0, n_documents, FROZEN_BATCH):
                batch = order[start : start + FROZEN_BATCH]
                table[torch.from_numpy(select_spans(spans, batch)[1]).to(device)] = vectors(batch)
        return _look_up(table, spans)


class StaticSpans:
    """Spans in word vectors that know no context.

    Args:
        vectors: of all words of the spans.
        device: where the vectors are needed.
    """

    def __init__(self, vectors: WordVectors, device: str = "cpu") -> None:
        self._vectors, self._device = vectors, device
        self.size = vectors.matrix.shape[1]

    def prepare(self, spans: Spans) -> VectorsOf:
        """See `SpanVectors.prepare`."""
        vectors = self._vectors
        unknown = len(vectors.matrix)
        row = np.array([vectors.rows.get(word, unknown) for words in spans.words for word in words], np.int64)
        word_starts = np.concatenate([[0], np.cumsum([len(words) for words in spans.words])]).astype(np.int64)
        document = np.repeat(np.arange(len(spans.words)), np.diff(spans.starts))
        span, word = expand_ranges(word_starts[document] + spans.first, spans.last - spans.first + 1)
        row, span = row[word], span[row[word] < unknown]
        row = row[row < unknown]
        table = torch.zeros(len(spans.first), self.size)
        table.index_add_(0, torch.from_numpy(span), torch.from_numpy(vectors.matrix[row]))
        return _look_up(table.to(self._device), spans)


def select_spans(spans: Spans, documents: Ints) -> tuple[Ints, Ints]:
    """Return the spans of some documents, in their order: which of the documents each is of, and its number."""
    return expand_ranges(spans.starts[documents], np.diff(spans.starts)[documents])


def _look_up(table: torch.Tensor, spans: Spans) -> VectorsOf:
    return lambda documents: table[torch.from_numpy(select_spans(spans, documents)[1]).to(table.device)]


def _move(batch: WordPieces, device: torch.device) -> WordPieces:
    ids, mask, row, column, word = (
        tensor.to(device) for tensor in (batch.ids, batch.mask, batch.row, batch.column, batch.word)
    )
    return WordPieces(ids, mask, row, column, word, batch.n_words)
