"""Pretrained encoders: vectors in context of the words of documents of any length.

Works with any encoder that transformers' `AutoModel` loads and that has a fast tokenizer.  Code from a model's
repository is never run, and weights are read in formats that cannot contain code.

Conventions: a word is an element of a document's list of words; its vector is the mean of those of its pieces.  A
document with more pieces than the encoder takes is encoded in overlapping windows (`closeread.neural.windows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from closeread.arrays import Ints, expand_ranges
from closeread.exceptions import RequestError
from closeread.neural.devices import loading_silently
from closeread.neural.windows import Windows, cut_windows

OVERLAP = 4
"""Neighbouring windows share a quarter of their pieces."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """The word pieces of documents, without the special tokens of a model.

    Attributes:
        ids: (n_pieces,) the number of each in the vocabulary.
        word: (n_pieces,) the word of each, numbered over all documents.
        starts: (n_documents + 1,) where the pieces of each document begin.
        word_starts: (n_documents + 1,) where the words of each document begin.
    """

    ids: Ints
    word: Ints
    starts: Ints
    word_starts: Ints

    def select(self, documents: Ints) -> Pieces:
        """Return the pieces of some documents, in the order given."""
        size, n_words = np.diff(self.starts)[documents], np.diff(self.word_starts)[documents]
        which, piece = expand_ranges(self.starts[documents], size)
        starts, word_starts = _starts(size), _starts(n_words)
        word = self.word[piece] - self.word_starts[documents][which] + word_starts[which]
        return Pieces(self.ids[piece], word, starts, word_starts)


@dataclass(frozen=True, eq=False)
class WordPieces:
    """Windows over documents as tensors for an encoder, and where the vector of each piece stands in its output.

    Attributes:
        ids: (n_windows, longest) with the special tokens, padded.
        mask: (n_windows, longest) 1 where there is no padding.
        row, column: (n_pieces,) the window and the position of every piece.
        word: (n_pieces,) the word of every piece.
        n_words: the number of words.
    """

    ids: torch.Tensor
    mask: torch.Tensor
    row: torch.Tensor
    column: torch.Tensor
    word: torch.Tensor
    n_words: int


class Encoder(torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """A pretrained encoder with its tokenizer.

    Args:
        tokenizer: a fast tokenizer.
        model: a model whose output has a `last_hidden_state`.

    Attributes:
        dimensions: the length of a vector.
        longest: the most pieces of a window, without special tokens.
    """

    def __init__(self, tokenizer: Any, model: Any) -> None:
        super().__init__()
        self.tokenizer, self.model = tokenizer, model
        self.dimensions = int(model.config.hidden_size)
        self._before, self._after = find_special_tokens(tokenizer)
        self.longest = longest_input(tokenizer, model.config) - len(self._before) - len(self._after)

    @classmethod
    def load(cls, name: str | Path, *, with_weights: bool = True) -> Encoder:
        """Load an encoder by its name on the Hugging Face Hub, or from a folder.

        Args:
            name: the name, or the folder.
            with_weights: load its parameters, too; otherwise, they are random.

        Raises:
            OSError: the model does not exist, or has no weights in a safe format.
            RequestError: the model has no fast tokenizer, or is no encoder.
        """
        with loading_silently():
            tokenizer = load_tokenizer(name)
            config = transformers.AutoConfig.from_pretrained(name, trust_remote_code=False)
            if getattr(config, "is_encoder_decoder", False):
                raise RequestError(f"{name}: is a {config.model_type} model with a decoder (expected an encoder)")
            if with_weights:
                model = transformers.AutoModel.from_pretrained(
                    name, config=config, trust_remote_code=False, weights_only=True
                )
            else:
                model = transformers.AutoModel.from_config(config, trust_remote_code=False)
        return cls(tokenizer, model.float())

    def save(self, folder: Path, *, with_weights: bool) -> None:
        """Write the tokenizer and the configuration to a folder, and the parameters if wanted."""
        self.tokenizer.save_pretrained(folder)
        with loading_silently():
            (self.model if with_weights else self.model.config).save_pretrained(folder)

    def set_dropout(self, share: float) -> None:
        """Drop this share of every activation in training, instead of what the model's configuration says."""
        set_dropout(self.model, share)

    def cut(self, documents: Sequence[Sequence[str]]) -> Pieces:
        """Cut the words of documents into pieces."""
        return cut_pieces(self.tokenizer, documents)

    def prepare(self, pieces: Pieces) -> WordPieces:
        """Return the windows over documents as tensors."""
        windows = cut_windows(np.diff(pieces.starts), self.longest, self.longest // OVERLAP)
        ids, mask = self._fill_windows(pieces, windows)
        row = windows.owner
        column = np.arange(len(row)) - windows.start[row] + len(self._before)
        ids_, mask_, row_, column_, word = map(torch.from_numpy, (ids, mask, row, column, pieces.word))
        return WordPieces(ids_, mask_, row_, column_, word, int(pieces.word_starts[-1]))

    def _fill_windows(self, pieces: Pieces, windows: Windows) -> tuple[Ints, Ints]:
        begin, end = len(self._before), len(self._before) + windows.size
        longest = int(end.max(initial=begin)) + len(self._after)
        ids = np.full((len(windows.size), longest), self.tokenizer.pad_token_id or 0)
        which, piece = expand_ranges(windows.start, windows.size)
        ids[:, :begin] = self._before
        ids[which, begin + piece - windows.start[which]] = pieces.ids[piece]
        for n, token in enumerate(self._after):
            ids[np.arange(len(ids)), end + n] = token
        mask = (np.arange(longest) < end[:, None] + len(self._after)).astype(np.int64)
        return ids, mask

    def forward(self, batch: WordPieces) -> torch.Tensor:
        """Return the vectors of all words, (n_words, dimensions); that of a word without pieces is zero."""
        vectors = torch.zeros(batch.n_words, self.dimensions, device=batch.ids.device)
        if not len(batch.word):
            return vectors
        hidden = self.model(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        of_pieces = hidden[batch.row, batch.column].float()
        n_pieces = torch.bincount(batch.word, minlength=batch.n_words).clamp(min=1)
        return vectors.index_add(0, batch.word, of_pieces) / n_pieces[:, None]


def set_dropout(model: Any, share: float) -> None:
    """Drop this share of every activation of a model in training, instead of what its configuration says."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = share
        # Attention drops its weights by itself.
        if isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout = share


def load_tokenizer(name: str | Path) -> Any:
    """Load a fast tokenizer.

    Raises:
        RequestError: the model does not exist, or has no fast tokenizer.
    """
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, trust_remote_code=False, add_prefix_space=True)
    except (OSError, ValueError) as error:  # which speak of the Hub, and rarely of the model
        expected = "(expected a model of the Hugging Face Hub, or a folder with one)"
        raise RequestError(f"{name}: its tokenizer can't be loaded {expected}") from error
    if not tokenizer.is_fast:
        kind = type(tokenizer).__name__
        raise RequestError(f"{name}: {kind} is not a fast tokenizer (expected one, with a tokenizer.json)")
    return tokenizer


def cut_pieces(tokenizer: Any, documents: Sequence[Sequence[str]]) -> Pieces:
    """Cut the words of documents into pieces."""
    n_words = np.array([len(words) for words in documents], np.int64)
    word_starts = _starts(n_words)
    if not len(documents):
        return Pieces(np.zeros(0, np.int64), np.zeros(0, np.int64), word_starts, word_starts)
    encoded = tokenizer(
        [list(words) for words in documents],
        is_split_into_words=True,
        add_special_tokens=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,  # about the length: documents are cut into windows
    )
    size = np.array([len(ids) for ids in encoded["input_ids"]], np.int64)
    total = int(size.sum())
    ids = np.fromiter(chain.from_iterable(encoded["input_ids"]), np.int64, total)
    word = np.fromiter(chain.from_iterable(encoded.word_ids(i) for i in range(len(documents))), np.int64, total)
    return Pieces(ids, word + np.repeat(word_starts[:-1], size), _starts(size), word_starts)


def longest_input(tokenizer: Any, config: Any) -> int:
    """Return the most tokens of an input, special tokens included."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions is None or positions <= 0:  # of relative positions, as in T5
        return int(min(tokenizer.model_max_length, MOST_PIECES))
    # RoBERTa and its relatives begin to count positions after that of padding.
    unused = (config.pad_token_id or 0) + 1 if config.model_type in _COUNT_FROM_PADDING else 0
    return int(min(tokenizer.model_max_length, positions - unused))


MOST_PIECES = 4096
"""The most pieces of a window of models that set no limit; the work grows with the square of it."""

_COUNT_FROM_PADDING = frozenset(
    ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer", "ibert", "data2vec-text", "esm")
)


def find_special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the special tokens before and after a text."""
    encoded = tokenizer("a", return_special_tokens_mask=True)
    ids, special = encoded["input_ids"], encoded["special_tokens_mask"]
    first, last = special.index(0), len(special) - special[::-1].index(0)
    return ids[:first], ids[last:]


def _starts(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)])
