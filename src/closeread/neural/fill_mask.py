"""A masked language model as a function: texts with one mask -> words that fill it, the best first.

Any fill-mask model that transformers can load will do.  torch and transformers are imported when a model is
made, not with this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from closeread.errors import MissingExtraError, RequestError

if TYPE_CHECKING:
    import torch

# Pieces of words and special tokens are thrown away, so that more has to be looked at than is returned.
_LOOKED_AT = 5


class FillMask:
    """Any Hugging Face model for masked words, ready to fill in masks.

    The same texts give the same words on the same machine: nothing is sampled.  No code of the model's
    repository is run (`trust_remote_code` is never on), and weights come from safetensors files or are read
    with torch's `weights_only`, which cannot run code either.

    Args:
        model: a name on the Hugging Face Hub, or a folder.
        candidates: how many words to return for a mask, at most.
        batch_size: how many texts go through the model at once.  The model's output takes 4 bytes for every
            text of a batch, token of the longest one, and entry of the vocabulary.
        device: such as "cpu" or "cuda:1"; by default the first GPU if there is one.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        OSError: there is no such model, or it has no weights in a safe format.
        RequestError: the model's tokenizer has no mask.
    """

    def __init__(self, model: str, *, candidates: int = 10, batch_size: int = 32, device: str | None = None) -> None:
        torch, transformers = _libraries()
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        if self._tokenizer.mask_token is None:
            raise RequestError(f"{model}: its tokenizer has no mask token; a fill-mask model is needed")
        # The answer stands last in a text: what does not fit is cut off at the beginning of the sentence.
        self._tokenizer.truncation_side = "left"
        loaded = transformers.AutoModelForMaskedLM.from_pretrained(model, trust_remote_code=False, weights_only=True)
        self._model = loaded.to(self._device).float().eval()
        self._longest = _longest_input(self._tokenizer, self._model)
        self._candidates = candidates
        self._batch_size = batch_size
        self._words: dict[int, str | None] = {}

    @property
    def mask_token(self) -> str:
        """What stands for the missing word in a text, such as "[MASK]"."""
        return str(self._tokenizer.mask_token)

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        """For every text the words that fill its mask, the most probable first.

        Only whole words are returned, never pieces of words or special tokens.  A text that is longer than
        the model can read loses its beginning; one whose mask is lost that way (because the answer alone is
        too long) gets no words.

        Raises:
            ValueError: a text does not have exactly one mask.
        """
        for text in texts:
            if (masks := text.count(self.mask_token)) != 1:
                raise ValueError(f"{text!r}: {masks} times {self.mask_token}; one mask a text is needed")
        # Texts of about the same length go together, so that little is padded.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        words: list[list[str]] = [[] for _ in texts]
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            for i, found in zip(batch, self._fill([texts[i] for i in batch]), strict=True):
                words[i] = found
        return words

    def _fill(self, texts: list[str]) -> list[list[str]]:
        import torch

        encoded = self._tokenizer(
            texts, return_tensors="pt", padding=True, truncation=True, max_length=self._longest
        ).to(self._device)
        with torch.inference_mode():
            logits = self._model(**encoded).logits
        masks = encoded["input_ids"] == self._tokenizer.mask_token_id
        return [self._best(row[mask]) for row, mask in zip(logits, masks, strict=True)]

    def _best(self, at_mask: torch.Tensor) -> list[str]:
        """The best words, from the scores at the mask: (1, vocabulary); (0, vocabulary) if it was cut off."""
        if not len(at_mask):
            return []
        most = min(_LOOKED_AT * self._candidates, at_mask.shape[-1])
        tokens = at_mask[0].topk(most).indices.tolist()
        words = dict.fromkeys(word for token in tokens if (word := self._word(token)) is not None)
        return list(words)[: self._candidates]

    def _word(self, token: int) -> str | None:
        """The token as a word, or None for special tokens and pieces of words."""
        if token not in self._words:
            word = self._tokenizer.decode([token]).strip()
            # A piece ("##ing", or "ing" where words begin with a blank) is another token when it is alone.
            alone = self._tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
            is_special = token in self._tokenizer.all_special_ids
            self._words[token] = word if word and alone == [token] and not is_special else None
        return self._words[token]


def _libraries() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtraError("a language model", "torch", "transformers") from error
    return torch, transformers


def _longest_input(tokenizer: Any, model: Any) -> int:
    """How many tokens the model can read."""
    positions = getattr(model.config, "max_position_embeddings", None) or tokenizer.model_max_length
    # RoBERTa and its kin never use the first two of their positions.
    return int(min(tokenizer.model_max_length, positions - 2))
