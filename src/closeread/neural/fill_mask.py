"""A masked language model as a function: texts with one mask -> words that fill it, best first.

Works with any fill-mask model that transformers can load.  torch and transformers are imported when a model is
loaded, not with this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from closeread.exceptions import RequestError
from closeread.neural.devices import check_libraries, choose_device

if TYPE_CHECKING:
    import torch

# Word pieces and special tokens are discarded, so more tokens are ranked than words are returned.
_OVERSAMPLING = 5


class FillMask:
    """A Hugging Face fill-mask model.

    Deterministic on a given machine: nothing is sampled.  Code from the model's repository is never run
    (`trust_remote_code` is always off), and weights come from safetensors files or are loaded with torch's
    `weights_only`, which cannot run code either.

    Args:
        model: a model id on the Hugging Face Hub, or a local folder.
        candidates: the maximum number of words per mask.
        batch_size: the number of texts per forward pass.  The logits take 4 bytes * texts * tokens of the longest
            text * vocabulary size.
        device: such as "cpu" or "cuda:1"; defaults to the first GPU, if there is one.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        OSError: the model does not exist, or has no weights in a safe format.
        RequestError: the model's tokenizer has no mask token, or there is no such device.
    """

    def __init__(self, model: str, *, candidates: int = 10, batch_size: int = 32, device: str | None = None) -> None:
        check_libraries("a language model")
        import transformers

        from closeread.neural.encoders import longest_input

        self._device = choose_device(device)
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        if self._tokenizer.mask_token is None:
            raise RequestError(f"{model}: the tokenizer has no mask token (expected a fill-mask model)")
        # The answer comes last in the text, so long inputs are truncated at the beginning of the sentence.
        self._tokenizer.truncation_side = "left"
        loaded = transformers.AutoModelForMaskedLM.from_pretrained(model, trust_remote_code=False, weights_only=True)
        self._model = loaded.to(self._device).float().eval()
        self._longest = longest_input(self._tokenizer, self._model.config)
        self._candidates = candidates
        self._batch_size = batch_size
        self._words: dict[int, str | None] = {}

    @property
    def mask_token(self) -> str:
        """The token that marks the missing word, such as "[MASK]"."""
        return str(self._tokenizer.mask_token)

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words that fill the mask of each text, most probable first.

        Only whole words are returned, never word pieces or special tokens.  Texts longer than the model's
        maximum length are truncated at the beginning; if that removes the mask (because the answer alone is too
        long), the text gets no words.

        Raises:
            ValueError: a text does not have exactly one mask.
        """
        for text in texts:
            if (masks := text.count(self.mask_token)) != 1:
                raise ValueError(f"{text!r} contains {self.mask_token} {masks} times (expected once)")
        # Texts of similar length are batched together, so that there is little padding.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        words: list[list[str]] = [[] for _ in texts]
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            for i, fillings in zip(batch, self._fill([texts[i] for i in batch]), strict=True):
                words[i] = fillings
        return words

    def _fill(self, texts: list[str]) -> list[list[str]]:
        import torch

        encoded = self._tokenizer(
            texts, return_tensors="pt", padding=True, truncation=True, max_length=self._longest
        ).to(self._device)
        with torch.inference_mode():
            logits = self._model(**encoded).logits
        masks = encoded["input_ids"] == self._tokenizer.mask_token_id
        return [self._find_best(row[mask]) for row, mask in zip(logits, masks, strict=True)]

    def _find_best(self, at_mask: torch.Tensor) -> list[str]:
        """Return the best words for the logits at the mask: (1, vocabulary), or (0, vocabulary) if it was truncated."""
        if not len(at_mask):
            return []
        most = min(_OVERSAMPLING * self._candidates, at_mask.shape[-1])
        tokens = at_mask[0].topk(most).indices.tolist()
        words = dict.fromkeys(word for token in tokens if (word := self._decode_word(token)) is not None)
        return list(words)[: self._candidates]

    def _decode_word(self, token: int) -> str | None:
        """Decode a token to a word; None for special tokens and word pieces."""
        if token not in self._words:
            word = self._tokenizer.decode([token]).strip()
            # A word piece ("##ing", or "ing" where words begin with a space) is a different token when tokenized alone.
            alone = self._tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
            is_special = token in self._tokenizer.all_special_ids
            self._words[token] = word if word and alone == [token] and not is_special else None
        return self._words[token]
