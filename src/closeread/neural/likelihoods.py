"""How likely a text is after another, by a masked or a causal language model.

Source: Salazar, Liang, Nguyen and Kirchhoff (2020), Masked Language Model Scoring, for masked models.

Conventions: the likelihood of a text is the mean of the logarithms of the probabilities of its pieces.  A masked model
gives that of a piece with this piece masked, and all others of both texts visible; a causal model gives it after all
pieces before.  Both texts are cut into pieces by themselves; of a pair that is too long for the model, only the first
text is cut, at its beginning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
)

from closeread.arrays import Floats, Ints, expand_ranges
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


@dataclass(frozen=True, eq=False)
class _Sequences:
    """What a model reads.

    Attributes:
        ids: (n_pieces,) the pieces of all sequences, with special tokens.
        starts: (n_sequences + 1,) where each begins.
        scored: (n_sequences,) where in it those pieces begin that are scored; they end with the sequence, or are one.
    """

    ids: Ints
    starts: Ints
    scored: Ints


class LikelihoodModel:
    """A language model that says how likely texts are.

    Args:
        tokenizer: a fast tokenizer.
        model: a masked or causal language model.
        kind: one of `MASKED` and `CAUSAL`.
        device: such as "cpu" or "cuda:0".

    Attributes:
        kind: one of `MASKED` and `CAUSAL`.
        longest: the most pieces of a pair, special tokens included.
        n_cut: the number of pairs so far whose first text was cut.
    """

    def __init__(self, tokenizer: Any, model: Any, kind: str, device: str = "cpu") -> None:
        self.kind, self.n_cut = kind, 0
        self.longest = longest_input(tokenizer, model.config)
        self._tokenizer, self._model, self._device = tokenizer, model.to(device).eval(), device
        before, after = find_special_tokens(tokenizer)
        if kind == CAUSAL:
            # The first piece has no probability, so that there must be one before the text.
            start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
            before, after = before or ([] if start is None else [start]), []
        self._before, self._after = before, after

    @classmethod
    def load(cls, name: str | Path, device: str = "cpu") -> LikelihoodModel:
        """Load a language model by its name on the Hugging Face Hub, or from a folder.

        Raises:
            OSError: the model does not exist, or has no weights in a safe format.
            RequestError: it is no masked or causal language model, its tokenizer has no mask, or it lacks parameters.
        """
        tokenizer = load_tokenizer(name)
        config = transformers.AutoConfig.from_pretrained(name, trust_remote_code=False)
        kind = find_kind(config, name)
        if kind == MASKED and tokenizer.mask_token_id is None:
            raise RequestError(f"{name}: the tokenizer has no mask token (expected a masked language model)")
        classes = transformers.AutoModelForMaskedLM if kind == MASKED else transformers.AutoModelForCausalLM
        with loading_silently():
            model, found = classes.from_pretrained(
                name, config=config, trust_remote_code=False, weights_only=True, output_loading_info=True
            )
        if lacking := sorted(found["missing_keys"]):  # they would be random
            raise RequestError(f"{name}: lacks parameters of a {kind} language model: {join_names(lacking)}")
        return cls(tokenizer, model.float(), kind, device)

    def score(self, pairs: TextPairs) -> Floats:
        """Return how likely the second text of each pair is after the first, (n_pairs,), at most 0.

        Raises:
            RequestError: a second text has no pieces, or so many that there is no room for the first.
        """
        firsts, seconds = self._cut(pairs)
        make = self._mask_each if self.kind == MASKED else self._join
        sequences, owner = make(firsts, seconds)
        sums = np.zeros(len(firsts))
        with torch.inference_mode():
            done = 0
            for numbers in _batch(np.diff(sequences.starts)):
                np.add.at(sums, owner[numbers], self._sum(sequences, numbers))
                done += len(numbers)
                report_progress("scoring", done, len(owner))
        return sums / np.array([len(second) for second in seconds], np.int64)

    def _cut(self, pairs: TextPairs) -> tuple[list[list[int]], list[list[int]]]:
        """Return the pieces of the first texts, as many of their last as there is room for, and of the second."""
        if not len(pairs.first):
            return [], []
        firsts, seconds = (
            self._tokenizer(
                list(texts),
                add_special_tokens=False,
                return_attention_mask=False,
                return_token_type_ids=False,
                verbose=False,
            )["input_ids"]
            for texts in pairs
        )
        room = self.longest - len(self._before) - len(self._after)
        kept = []
        for first, second, text in zip(firsts, seconds, pairs.second, strict=True):
            if not 0 < len(second) < room:
                found = f"{quote(shorten(text))} has {len(second):,} tokens of this model"
                raise RequestError(f"{found} (expected from 1 to {room - 1:,})")
            rest = room - len(second)
            self.n_cut += len(first) > rest
            kept.append(first[-rest:])
        return kept, seconds

    def _join(self, firsts: Sequence[list[int]], seconds: Sequence[list[int]]) -> tuple[_Sequences, Ints]:
        """Return a sequence for each pair, and the number of its pair."""
        rows = [[*self._before, *first, *second] for first, second in zip(firsts, seconds, strict=True)]
        scored = [len(row) - len(second) for row, second in zip(rows, seconds, strict=True)]
        return _pack(rows, scored), np.arange(len(rows))

    def _mask_each(self, firsts: Sequence[list[int]], seconds: Sequence[list[int]]) -> tuple[_Sequences, Ints]:
        """Return a sequence for each piece of the second text of each pair, and the number of its pair."""
        rows, scored, owner = [], [], []
        for number, (first, second) in enumerate(zip(firsts, seconds, strict=True)):
            whole = [*self._before, *first, *second, *self._after]
            begin = len(self._before) + len(first)
            for place in range(begin, begin + len(second)):
                rows.append(whole)
                scored.append(place)
                owner.append(number)
        return _pack(rows, scored), np.array(owner, np.int64)

    def _sum(self, sequences: _Sequences, numbers: Ints) -> Floats:
        """Return the sum of the log-probabilities of the pieces of each sequence that are scored."""
        sizes, scored = np.diff(sequences.starts)[numbers], sequences.scored[numbers]
        ids = np.full((len(numbers), int(sizes.max())), self._tokenizer.pad_token_id or 0)
        row, piece = expand_ranges(sequences.starts[numbers], sizes)
        ids[row, piece - sequences.starts[numbers][row]] = sequences.ids[piece]
        mask = (np.arange(ids.shape[1]) < sizes[:, None]).astype(np.int64)
        if self.kind == MASKED:
            row = np.arange(len(numbers))
            place = scored
            wanted = ids[row, place]
            ids[row, place] = self._tokenizer.mask_token_id
        else:
            row, place = expand_ranges(scored - 1, sizes - scored)
            wanted = ids[row, place + 1]
        logits = self._model(
            input_ids=torch.from_numpy(ids).to(self._device), attention_mask=torch.from_numpy(mask).to(self._device)
        ).logits
        found = logits[torch.from_numpy(row), torch.from_numpy(place)].float().log_softmax(-1)
        chosen = found[torch.arange(len(wanted)), torch.from_numpy(wanted)].double().cpu().numpy()
        return np.bincount(row, chosen, len(numbers)).astype(np.float64)


def find_kind(config: Any, name: str | Path) -> str:
    """Return the kind of a language model: `MASKED` or `CAUSAL`, by the architecture in its configuration.

    Raises:
        RequestError: it is neither.
    """
    architectures = config.architectures or ["an unknown architecture"]
    if not getattr(config, "is_encoder_decoder", False):
        for kind, known in _KINDS.items():
            if any(architecture in known for architecture in architectures):
                return kind
    found = f"{name}: is {', '.join(architectures)}"
    raise RequestError(f"{found} (expected a masked or causal language model, such as BertForMaskedLM)")


def _pack(rows: Sequence[Sequence[int]], scored: Sequence[int]) -> _Sequences:
    sizes = np.array([len(row) for row in rows], np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ids = np.fromiter((piece for row in rows for piece in row), np.int64, int(starts[-1]))
    return _Sequences(ids, starts, np.array(scored, np.int64))


def _batch(sizes: Ints) -> Iterator[Ints]:
    """Yield the numbers of all sequences, those of similar length together, `PIECES_AT_ONCE` at most."""
    order = np.argsort(sizes, kind="stable")
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or (end + 1 - start) * sizes[order[end]] > PIECES_AT_ONCE:
            yield order[start:end]
            start = end


_KINDS = {
    MASKED: {*MODEL_FOR_MASKED_LM_MAPPING_NAMES.values(), "BertForPreTraining"},
    CAUSAL: {*MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values()},
}
