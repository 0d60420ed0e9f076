"""Pretrained encoders: vectors in context of the words of documents of any length.

Works with any encoder that transformers' `AutoModel` loads and that has a fast tokenizer.  Code from a model's
repository is never run, and weights are read in formats that cannot contain code.

Conventions: a word is an element of a document's list of words; its vector is the mean of those of its pieces.  A
document with more pieces than the encoder takes is encoded in overlapping windows (`cut_windows`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers
from torch.nn.utils.rnn import pad_sequence

from closeread.arrays import Ints
from closeread.exceptions import RequestError
from closeread.neural.devices import loading_silently

OVERLAP = 4  # neighbouring windows share a quarter of their pieces
MOST_PIECES = 4096  # of a window of models that set no limit; the work grows with the square of it

_COUNT_FROM_PADDING = frozenset(
    (
        "roberta",
        "xlm-roberta",
        "xlm-roberta-xl",
        "camembert",
        "mpnet",
        "longformer",
        "ibert",
        "data2vec-text",
        "esm",
    )
)


class Pieces(NamedTuple):
    """The word pieces of a document; arrays are (n_pieces,)."""

    # the numbers in the vocabulary of the pieces of each window, with special tokens
    windows: list[list[int]]
    row: Ints  # the window to which each piece belongs
    column: Ints  # and its place there
    word: Ints  # the word of each piece
    n_words: int


class Encoder(torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """A pretrained encoder with its fast tokenizer; the output of the model has a `last_hidden_state`.

    `dimensions` is the length of a vector; `longest` the most pieces of a window, without special tokens.
    """

    def __init__(self, tokenizer: Any, model: Any) -> None:
        super().__init__()
        self.tokenizer = tokenizer
        self.model = model
        self.dimensions = int(model.config.hidden_size)
        self._before, self._after = find_special_tokens(tokenizer)
        self.longest = longest_input(tokenizer, model.config) - len(self._before) - len(self._after)

    @classmethod
    def load(cls, name: str | Path, *, with_weights: bool = True) -> Encoder:
        """Load an encoder by its name on the Hugging Face Hub, or from a folder; without weights, they are random."""
        with loading_silently():
            tokenizer = load_tokenizer(name)
            config = transformers.AutoConfig.from_pretrained(name, trust_remote_code=False)
            if getattr(config, "is_encoder_decoder", False):
                raise RequestError(
                    f"{name}: is a {config.model_type} model with a decoder (expected an encoder)"
                )
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

    def cut(self, documents: Sequence[Sequence[str]]) -> list[Pieces]:
        """Cut the words of documents into pieces."""
        return list(self._cut(documents)) if len(documents) else []

    def _cut(self, documents: Sequence[Sequence[str]]) -> Iterator[Pieces]:
        encoded = self.tokenizer(
            [list(words) for words in documents],
            is_split_into_words=True,
            add_special_tokens=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,  # about the length: documents are cut into windows
        )
        for number, (ids, words) in enumerate(zip(encoded["input_ids"], documents, strict=True)):
            windows, row = cut_windows(len(ids), self.longest, self.longest // OVERLAP)
            starts = np.array([window.start for window in windows], np.int64)
            column = np.arange(len(ids)) - starts[row] + len(self._before)
            windows_with_ends = [
                [*self._before, *ids[window.start : window.stop], *self._after]
                for window in windows
            ]
            yield Pieces(
                windows_with_ends,
                row,
                column,
                np.array(encoded.word_ids(number), np.int64),
                len(words),
            )

    def forward(self, documents: Sequence[Pieces]) -> torch.Tensor:
        """Return the vectors of all words, (n_words, dimensions); that of a word without pieces is zero."""
        device = next(self.model.parameters()).device
        windows: list[torch.Tensor] = []
        for pieces in documents:
            windows += map(torch.tensor, pieces.windows)
        row = _chain(
            [pieces.row for pieces in documents], [len(pieces.windows) for pieces in documents]
        ).to(device)
        word = _chain(
            [pieces.word for pieces in documents], [pieces.n_words for pieces in documents]
        ).to(device)
        n_words = sum(pieces.n_words for pieces in documents)
        vectors = torch.zeros(n_words, self.dimensions, device=device)
        if not windows:
            return vectors
        column = torch.from_numpy(np.concatenate([pieces.column for pieces in documents])).to(
            device
        )
        ids = pad_sequence(
            windows, batch_first=True, padding_value=self.tokenizer.pad_token_id or 0
        )
        mask = pad_sequence([torch.ones_like(window) for window in windows], batch_first=True)
        hidden = self.model(
            input_ids=ids.to(device), attention_mask=mask.to(device)
        ).last_hidden_state
        n_pieces = torch.bincount(word, minlength=n_words).clamp(min=1)
        return vectors.index_add(0, word, hidden[row, column].float()) / n_pieces[:, None]


def cut_windows(length: int, limit: int, overlap: int) -> tuple[list[range], Ints]:
    """Cut a sequence into windows of at most `limit` pieces; neighbouring windows share at least `overlap` pieces.

    A sequence that fits is one window, an empty one has none.  The windows of a longer sequence all have `limit`
    pieces, and are spread evenly from its first piece to its last.  Each piece belongs to the window in which it is
    farthest from an edge that cuts the sequence, so that it is seen with the most context on its shorter side.

    >>> windows, owner = cut_windows(10, limit=6, overlap=2)
    >>> windows, owner.tolist()
    ([range(0, 6), range(4, 10)], [0, 0, 0, 0, 0, 1, 1, 1, 1, 1])

    Returns:
        The pieces of each window; and (length,) the window to which each piece belongs.
    """
    if not 0 <= overlap < limit:
        raise ValueError(f"overlap is {overlap} (expected 0 to {limit - 1}, less than the limit)")
    room = max(length - limit, 0)
    size = min(length, limit)
    # The fewest windows that cover a sequence with this overlap.
    extra = -(-room // (limit - overlap))
    windows = [
        range(room * n // max(extra, 1), room * n // max(extra, 1) + size)
        for n in range(extra + 1)
        if length
    ]
    # Two neighbours meet in the middle of their overlap.
    begins = [(after.start + before.stop) // 2 for before, after in pairwise(windows)]
    return windows, np.searchsorted(begins, np.arange(length), side="right")


def _chain(numbers: Sequence[Ints], sizes: Sequence[int]) -> torch.Tensor:
    """Turn numbers within documents of these sizes into numbers over all documents."""
    starts = np.cumsum([0, *sizes])
    return torch.from_numpy(np.concatenate([np.zeros(0, np.int64), *map(np.add, numbers, starts)]))


def set_dropout(model: Any, share: float) -> None:
    """Set the dropout of a model in training to this share, instead of that in its configuration."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = share
        # Attention drops its weights by itself.
        if isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout = share


def load_tokenizer(name: str | Path) -> Any:
    """Load a fast tokenizer."""
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            name, trust_remote_code=False, add_prefix_space=True
        )
    except (OSError, ValueError) as error:  # which speak of the Hub, and rarely of the model
        expected = "(expected a model of the Hugging Face Hub, or a folder with one)"
        raise RequestError(f"{name}: its tokenizer can't be loaded {expected}") from error
    if not tokenizer.is_fast:
        kind = type(tokenizer).__name__
        raise RequestError(
            f"{name}: {kind} is not a fast tokenizer (expected one, with a tokenizer.json)"
        )
    return tokenizer


def longest_input(tokenizer: Any, config: Any) -> int:
    """Return the most tokens of an input, special tokens included."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions is None or positions <= 0:  # relative positions, as in T5
        return int(min(tokenizer.model_max_length, MOST_PIECES))
    # RoBERTa and its relatives begin to count positions after that of padding.
    unused = (config.pad_token_id or 0) + 1 if config.model_type in _COUNT_FROM_PADDING else 0
    return int(min(tokenizer.model_max_length, positions - unused))


def find_special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the special tokens before and after a text."""
    encoded = tokenizer("a", return_special_tokens_mask=True)
    ids = encoded["input_ids"]
    special = encoded["special_tokens_mask"]
    first = special.index(0)
    last = len(special) - special[::-1].index(0)
    return ids[:first], ids[last:]
