"""The likelihood of a text after another, by a masked or a causal language model.

Source: Salazar, Liang, Nguyen and Kirchhoff (2020), Masked Language Model Scoring, for masked models.

Conventions: the likelihood of a text is the mean of the logarithms of the probabilities of its pieces.  A masked model
gives that of a piece with this piece masked, and all others of both texts visible; a causal model gives it after all
pieces before.  Both texts are cut into pieces by themselves; of a pair that is too long for the model, only the first
text is cut, at its beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch.nn.utils.rnn import pad_sequence
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
)

from closeread.arrays import Floats
from closeread.exceptions import RequestError, join_names, quote, shorten
from closeread.neural.devices import loading_silently
from closeread.neural.encoders import find_special_tokens, load_tokenizer, longest_input
from closeread.neural.pairs import TextPairs
from closeread.progress import report_progress

MASKED, CAUSAL = "masked", "causal"
"""The kinds of language models."""

PIECES_AT_ONCE = 2048
"""The most pieces, padding included, that a model reads at once; the logits take 4 bytes times the vocabulary of each,
250 MB for that of BERT."""


class LikelihoodModel:
    """A masked or causal language model that gives the likelihood of texts; its tokenizer is a fast one.

    `longest` is the most pieces of a pair, special tokens included; `n_cut` the number of pairs so far whose first text
    was cut.
    """

    def __init__(self, tokenizer: Any, model: Any, kind: str, device: str = "cpu") -> None:
        self.kind, self.n_cut = kind, 0
        self.longest = longest_input(tokenizer, model.config)
        self._tokenizer, self._model, self._device = tokenizer, model.to(device).eval(), device
        before, after = find_special_tokens(tokenizer)
        if kind == CAUSAL:
            # The first piece has no probability, so that there must be one before the text.
            start = (
                tokenizer.bos_token_id
                if tokenizer.bos_token_id is not None
                else tokenizer.eos_token_id
            )
            before, after = before or ([] if start is None else [start]), []
        self._before, self._after = before, after

    @classmethod
    def load(cls, name: str | Path, device: str = "cpu") -> LikelihoodModel:
        """Load a language model by its name on the Hugging Face Hub, or from a folder."""
        tokenizer = load_tokenizer(name)
        config = transformers.AutoConfig.from_pretrained(name, trust_remote_code=False)
        kind = find_kind(config, name)
        if kind == MASKED and tokenizer.mask_token_id is None:
            raise RequestError(
                f"{name}: the tokenizer has no mask token (expected a masked language model)"
            )
        classes = (
            transformers.AutoModelForMaskedLM
            if kind == MASKED
            else transformers.AutoModelForCausalLM
        )
        with loading_silently():
            model, found = classes.from_pretrained(
                name,
                config=config,
                trust_remote_code=False,
                weights_only=True,
                output_loading_info=True,
            )
        if lacking := sorted(found["missing_keys"]):  # they would be random
            raise RequestError(
                f"{name}: lacks parameters of a {kind} language model: {join_names(lacking)}"
            )
        return cls(tokenizer, model.float(), kind, device)

    def score(self, pairs: TextPairs) -> Floats:
        """Return how likely the second text of each pair is after the first, (n_pairs,)."""
        pieces = self._cut(pairs)
        # The input of the model, the places in it that are scored, and the number of the pair.
        sequences: list[tuple[list[int], range, int]] = []
        for number, (first, second) in enumerate(pieces):
            whole = [*self._before, *first, *second, *self._after]
            begin = len(self._before) + len(first)
            scored = range(begin, begin + len(second))
            parts = (
                [range(place, place + 1) for place in scored] if self.kind == MASKED else [scored]
            )
            sequences += [(whole, part, number) for part in parts]
        sums = np.zeros(len(pieces))
        order = sorted(range(len(sequences)), key=lambda i: len(sequences[i][0]))
        with torch.inference_mode():
            start = 0
            for end in range(1, len(order) + 1):  # those of similar length together
                if (
                    end == len(order)
                    or (end + 1 - start) * len(sequences[order[end]][0]) > PIECES_AT_ONCE
                ):
                    batch = [sequences[i] for i in order[start:end]]
                    np.add.at(sums, [number for *_, number in batch], self._sum(batch))
                    start = end
                    report_progress("scoring", end, len(order))
        return sums / np.array([len(second) for _, second in pieces], np.int64)

    def _cut(self, pairs: TextPairs) -> list[tuple[list[int], list[int]]]:
        """Return the pieces of the first texts, as many of their last as there is room for, and of the second."""
        if not len(pairs.first):
            return []
        options = {"add_special_tokens": False, "return_attention_mask": False, "verbose": False}
        firsts, seconds = (self._tokenizer(list(texts), **options)["input_ids"] for texts in pairs)
        room = self.longest - len(self._before) - len(self._after)
        kept = []
        for first, second, text in zip(firsts, seconds, pairs.second, strict=True):
            if not 0 < len(second) < room:
                found = f"{quote(shorten(text))} has {len(second):,} tokens of this model"
                raise RequestError(f"{found} (expected from 1 to {room - 1:,})")
            rest = room - len(second)
            self.n_cut += len(first) > rest
            kept.append((first[-rest:], second))
        return kept

    def _sum(self, batch: Sequence[tuple[list[int], range, int]]) -> Floats:
        """Return the sum of the log-probabilities of the pieces of each sequence that are scored."""
        padding = self._tokenizer.pad_token_id or 0
        ids = pad_sequence(
            [torch.tensor(whole) for whole, *_ in batch], batch_first=True, padding_value=padding
        )
        mask = pad_sequence(
            [torch.ones(len(whole), dtype=torch.long) for whole, *_ in batch], batch_first=True
        )
        row = torch.tensor([number for number, (_, scored, _) in enumerate(batch) for _ in scored])
        place = torch.tensor([place for _, scored, _ in batch for place in scored])
        wanted = ids[row, place]
        if self.kind == MASKED:
            ids[row, place] = self._tokenizer.mask_token_id
        else:
            place -= 1  # a causal model predicts what comes next
        logits = self._model(
            input_ids=ids.to(self._device), attention_mask=mask.to(self._device)
        ).logits
        found = logits[row, place].float().log_softmax(-1)
        chosen = found[torch.arange(len(wanted)), wanted].double().cpu().numpy()
        return np.bincount(row.numpy(), chosen, len(batch)).astype(np.float64)


def find_kind(config: Any, name: str | Path) -> str:
    """Return the kind of a language model: `MASKED` or `CAUSAL`, by the architecture in its configuration."""
    architectures = config.architectures or ["an unknown architecture"]
    if not getattr(config, "is_encoder_decoder", False):
        for kind, known in _KINDS.items():
            if any(architecture in known for architecture in architectures):
                return kind
    found = f"{name}: is {', '.join(architectures)}"
    raise RequestError(
        f"{found} (expected a masked or causal language model, such as BertForMaskedLM)"
    )


_KINDS = {
    MASKED: {*MODEL_FOR_MASKED_LM_MAPPING_NAMES.values(), "BertForPreTraining"},
    CAUSAL: {*MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values()},
}
