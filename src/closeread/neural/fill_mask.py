"""A masked language model as a function: texts with one mask -> words that fill it, best first.

Works with any fill-mask model that transformers can load.  torch and transformers are imported when a model is
loaded, not with this module.
"""

from __future__ import annotations

from collections.abc import Sequence

from closeread.exceptions import RequestError
from closeread.neural.devices import check_libraries, choose_device

# Word pieces and special tokens are discarded, so more tokens are ranked than words are returned.
_OVERSAMPLING = 5


class FillMask:
    """A Hugging Face fill-mask model, by its name on the Hub or a folder; on the first GPU, if no device is named.

    Deterministic on a given machine: nothing is sampled.  Code from the model's repository is never run, and weights
    come from safetensors files or are loaded with torch's `weights_only`, which cannot run code either.

    It returns at most so many candidates per mask.  The logits of a batch take 4 bytes * texts * tokens of the longest
    text * vocabulary size.
    """

    def __init__(
        self, model: str, *, candidates: int = 10, batch_size: int = 32, device: str | None = None
    ) -> None:
        check_libraries("a language model")
        import transformers

        from closeread.neural.encoders import longest_input

        self._device = choose_device(device)
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        if self._tokenizer.mask_token is None:
            raise RequestError(
                f"{model}: the tokenizer has no mask token (expected a fill-mask model)"
            )
        # The answer comes last in the text, so long inputs are truncated at the beginning of the sentence.
        self._tokenizer.truncation_side = "left"
        loaded = transformers.AutoModelForMaskedLM.from_pretrained(
            model, trust_remote_code=False, weights_only=True
        )
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
        """Return the words that fill the one mask of each text, most probable first.

        Only whole words are returned, never word pieces or special tokens.  Texts longer than the model's
        maximum length are truncated at the beginning; if that removes the mask (because the answer alone is too
        long), the text gets no words.
        """
        import torch

        for text in texts:
            n_masks = text.count(self.mask_token)
            if n_masks != 1:
                raise ValueError(
                    f"{text!r} contains {self.mask_token} {n_masks} times (expected once)"
                )
        # Texts of similar length are batched together, so that there is little padding.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        words: list[list[str]] = [[] for _ in texts]
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            options = {
                "return_tensors": "pt",
                "padding": True,
                "truncation": True,
                "max_length": self._longest,
            }
            encoded = self._tokenizer([texts[i] for i in batch], **options).to(self._device)
            with torch.inference_mode():
                logits = self._model(**encoded).logits
            at_mask = encoded["input_ids"] == self._tokenizer.mask_token_id
            for i, row, mask in zip(batch, logits, at_mask, strict=True):
                for scores in row[mask]:  # one or, if it was truncated, none
                    tokens = scores.topk(
                        min(_OVERSAMPLING * self._candidates, len(scores))
                    ).indices.tolist()
                    # The keys are distinct words, since several tokens may be the same word.
                    fillings: dict[str, None] = {}
                    for token in tokens:
                        word = self._decode_word(token)
                        if word is not None:
                            fillings[word] = None
                    words[i] = list(fillings)[: self._candidates]
        return words

    def _decode_word(self, token: int) -> str | None:
        """Decode a token to a word; None for special tokens and word pieces."""
        if token not in self._words:
            word = self._tokenizer.decode([token]).strip()
            # A word piece ("##ing", or "ing" where words begin with a space) is a different token when tokenized alone.
            alone = self._tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
            is_special = token in self._tokenizer.all_special_ids
            self._words[token] = word if word and alone == [token] and not is_special else None
        return self._words[token]
