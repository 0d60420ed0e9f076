"""A masked language model as a function: texts with one mask -> words that fill it, best first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from closeread.exceptions import RequestError
from closeread.neural.devices import check_libraries, choose_device, loading_silently

MAX_WORDS = 10
"""How many words are returned for a text."""

# Word pieces and special tokens are discarded, so more tokens are ranked than words are returned.
MAX_TOKENS = 5 * MAX_WORDS

TEXTS_AT_ONCE = 32
"""How many texts the model reads at once."""


class FillMask:
    """A Hugging Face fill-mask model, by its name on the Hub or a folder; on the first GPU, if no device is named.

    Deterministic on a given machine: nothing is sampled.  Code from the model's repository is never run, and weights
    come from safetensors files or are loaded with torch's `weights_only`, which cannot run code either.
    """

    def __init__(self, model: str, *, device: str | None = None) -> None:
        check_libraries("a language model")
        import transformers

        from closeread.neural.encoders import longest_input

        chosen_device = choose_device(device)
        tokenizer = transformers.AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        if tokenizer.mask_token is None:
            raise RequestError(
                f"{model}: the tokenizer has no mask token (expected a fill-mask model)"
            )
        # The answer comes last in the text, so long inputs are truncated at the beginning of the sentence.
        tokenizer.truncation_side = "left"
        with loading_silently():
            loaded = transformers.AutoModelForMaskedLM.from_pretrained(
                model, trust_remote_code=False, weights_only=True
            ).float()
        self._tokenizer = tokenizer
        longest = longest_input(tokenizer, loaded.config)
        self._truncation = {"truncation": True, "max_length": longest}
        n_tokens = min(MAX_TOKENS, loaded.config.vocab_size)
        self._pipeline = transformers.pipeline(
            "fill-mask",
            model=loaded,
            tokenizer=tokenizer,
            device=chosen_device,
            batch_size=TEXTS_AT_ONCE,
            top_k=n_tokens,
            tokenizer_kwargs=self._truncation,
        )

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
        for text in texts:
            n_masks = text.count(self.mask_token)
            if n_masks != 1:
                raise ValueError(
                    f"{text!r} contains {self.mask_token} {n_masks} times (expected once)"
                )
        words: list[list[str]] = [[] for _ in texts]
        fitting = [number for number, text in enumerate(texts) if self._has_mask(text)]
        if not fitting:
            return words
        # Texts of similar length are batched together, so that there is little padding.
        fitting.sort(key=lambda number: len(texts[number]))
        fillings = self._pipeline(texts[number] for number in fitting)
        for number, predictions in zip(fitting, fillings, strict=True):
            words[number] = self._choose_words(predictions)
        return words

    def _has_mask(self, text: str) -> bool:
        """Tell whether the mask is left when a text is truncated."""
        tokens = self._tokenizer(text, **self._truncation)["input_ids"]
        return self._tokenizer.mask_token_id in tokens

    def _choose_words(self, predictions: Sequence[dict[str, Any]]) -> list[str]:
        """Return the best of the predicted tokens that are whole words, each word once."""
        words: dict[str, None] = {}
        for prediction in predictions:
            token = prediction["token"]
            word = self._tokenizer.decode([token]).strip()
            # A word piece ("##ing", or "ing" where words begin with a space) is a different token when tokenized alone.
            alone = self._tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
            if word and alone == [token] and token not in self._tokenizer.all_special_ids:
                words[word] = None
        return list(words)[:MAX_WORDS]
