"""Pretrained encoders, by their names on the Hugging Face Hub or from folders, and their tokens of words.

Code from a model's repository is never run, and weights are read in formats that cannot contain code.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers

from closeread.exceptions import RequestError
from closeread.neural.devices import loading_silently

WINDOWS_PER_OVERLAP = 4  # neighbouring windows of a long document share a quarter of their tokens
LONGEST_WINDOW = 4096  # tokens, for models that set no limit; the work grows with the square of it
SPECIAL = -1  # in place of the word of a special token, or of padding

# The model types that begin to count positions after that of padding.
_COUNT_FROM_PADDING = {
    "roberta",
    "xlm-roberta",
    "xlm-roberta-xl",
    "camembert",
    "mpnet",
    "longformer",
    "ibert",
    "data2vec-text",
    "esm",
}


class Window(NamedTuple):
    """As many tokens of a document as an encoder takes at once.

    Attributes:
        tokens: the numbers of the tokens, special tokens included.
        words: the number of the word of each of these tokens; `SPECIAL` for special tokens.
    """

    tokens: list[int]
    words: list[int]


def load_tokenizer(name: str | Path) -> Any:
    """Load the fast tokenizer of an encoder."""
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            name, trust_remote_code=False, add_prefix_space=True
        )
    except (OSError, ValueError) as error:  # which speak of the Hub, and rarely of the model
        raise RequestError(
            f"{name}: its tokenizer can't be loaded "
            "(expected a model of the Hugging Face Hub, or a folder with one)"
        ) from error
    if not tokenizer.is_fast:
        kind = type(tokenizer).__name__
        raise RequestError(
            f"{name}: {kind} is not a fast tokenizer (expected one, with a tokenizer.json)"
        )
    if tokenizer.pad_token_id is None:
        raise RequestError(f"{name}: the tokenizer has no padding token (expected an encoder)")
    # Without a mask, the vectors of a text would depend on the length of the others in its batch.
    names = [*tokenizer.model_input_names, "attention_mask"]
    tokenizer.model_input_names = list(dict.fromkeys(names))
    return tokenizer


def load_encoder(name: str | Path, model_class: Any, **options: Any) -> Any:
    """Load an encoder with one of transformers' auto classes, in 32 bits.

    Args:
        name: its name on the Hub, or its folder.
        model_class: such as `transformers.AutoModel`.
        **options: the number of labels, and other settings of the model.
    """
    try:
        config = transformers.AutoConfig.from_pretrained(name, trust_remote_code=False)
        if getattr(config, "is_encoder_decoder", False):
            raise RequestError(
                f"{name}: is a {config.model_type} model with a decoder (expected an encoder)"
            )
        with loading_silently():
            model = model_class.from_pretrained(
                name,
                trust_remote_code=False,
                weights_only=True,
                ignore_mismatched_sizes=True,
                **options,
            )
    except (OSError, ValueError) as error:
        reason = str(error).split("\n", 1)[0]
        raise RequestError(f"{name}: can't be loaded as an encoder: {reason}") from error
    return model.float()


def set_dropout(model: Any, share: float | None) -> None:
    """Set the dropout of a model in training to this share; None leaves that of its configuration."""
    if share is None:
        return
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = share
        # Attention drops its weights by itself.
        if isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout = share


def longest_input(tokenizer: Any, config: Any) -> int:
    """Return the most tokens of an input, special tokens included."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions is None or positions <= 0:  # relative positions, as in T5
        return int(min(tokenizer.model_max_length, LONGEST_WINDOW))
    unused = (config.pad_token_id or 0) + 1 if config.model_type in _COUNT_FROM_PADDING else 0
    return int(min(tokenizer.model_max_length, positions - unused))


def tokenize_words(
    tokenizer: Any, documents: Sequence[Sequence[str]], longest: int
) -> list[list[Window]]:
    """Return the tokens of the words of documents, in overlapping windows of at most `longest` tokens."""
    windows: list[list[Window]] = [[] for _ in documents]
    if not windows:
        return windows
    encoded = tokenizer(
        [list(words) for words in documents],
        is_split_into_words=True,
        truncation=True,
        max_length=longest,
        stride=longest // WINDOWS_PER_OVERLAP,
        return_overflowing_tokens=True,
    )
    for number, document in enumerate(encoded["overflow_to_sample_mapping"]):
        words = [SPECIAL if word is None else word for word in encoded.word_ids(number)]
        windows[document].append(Window(encoded["input_ids"][number], words))
    return windows


def encode_words(
    encoder: Any, words: torch.Tensor, n_words: int, **tokens: torch.Tensor
) -> torch.Tensor:
    """Return the vectors of words, (n_words, dimensions): the means of those of their tokens in all windows.

    The vector of a word without tokens, such as a space, is zero.

    Args:
        encoder: a model with a `last_hidden_state`.
        words: (windows, tokens) the word of each token, or `SPECIAL`.
        n_words: how many words there are.
        **tokens: `input_ids` and `attention_mask`, (windows, tokens), as the tokenizer pads them.
    """
    hidden = encoder(**tokens).last_hidden_state.float()
    is_of_word = words != SPECIAL
    word = words[is_of_word]
    sums = hidden.new_zeros(n_words, hidden.shape[-1]).index_add(0, word, hidden[is_of_word])
    n_tokens = torch.bincount(word, minlength=n_words).clamp(min=1)
    return sums / n_tokens[:, None]
