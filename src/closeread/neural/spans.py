"""The vectors of spans of words: from an encoder, tuned or frozen, or from static word vectors.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8.

Conventions: with an encoder, a span is its first and its last word side by side; a static span is the sum of the
vectors of its words, 0 for unknown words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import nn

from closeread.arrays import Ints, expand_ranges
from closeread.formats.word_vectors import WordVectors
from closeread.neural.encoders import Encoder

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
            which, span = spans.select(documents)
            begin = np.cumsum([0, *(one.n_words for one in part)])[which]
            first, last = (
                torch.from_numpy(begin + place[span]).to(words.device) for place in (spans.first, spans.last)
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
        table = torch.empty(len(spans.first), self.size, device=next(self.encoder.parameters()).device)
        with torch.inference_mode():
            for batch in spans.batch_by_length():
                table[torch.from_numpy(spans.select(batch)[1]).to(table.device)] = vectors(batch)
        return _look_up(table, spans)


class StaticSpans:
    """Spans in word vectors that know no context."""

    def __init__(self, vectors: WordVectors, device: str = "cpu") -> None:
        self.source, self._device = vectors, device
        self.size = vectors.matrix.shape[1]

    def prepare(self, spans: Spans) -> VectorsOf:
        """See `SpanVectors.prepare`."""
        table = np.zeros((len(spans.first), self.size), np.float32)
        rows, matrix = self.source.rows, self.source.matrix
        for document, words in enumerate(spans.words):
            known = [rows.get(word) for word in words]
            for span in range(spans.starts[document], spans.starts[document + 1]):
                for row in known[spans.first[span] : spans.last[span] + 1]:
                    if row is not None:
                        table[span] += matrix[row]
        return _look_up(torch.from_numpy(table).to(self._device), spans)


def _look_up(table: torch.Tensor, spans: Spans) -> VectorsOf:
    return lambda documents: table[torch.from_numpy(spans.select(documents)[1]).to(table.device)]
