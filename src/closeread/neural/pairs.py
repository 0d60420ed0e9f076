"""Classifiers of pairs of texts, made from a pretrained encoder: trained in a folder, continued, and loaded from it.

Works with any encoder that transformers' `AutoModelForSequenceClassification` loads and that has a fast tokenizer.
Code from a model's repository is never run, and weights are read in formats that cannot contain code.

Conventions: of a pair that is too long for the encoder, only the first text is cut, at its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers
from torch import nn
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

from closeread.arrays import Floats, Ints
from closeread.exceptions import FormatError, Problem, RequestError, quote, shorten
from closeread.neural.devices import choose_hardware, loading_silently
from closeread.neural.encoders import load_tokenizer, longest_input, set_dropout
from closeread.neural.run_files import ENCODER, RUN, read_run
from closeread.neural.run_folders import RunFolder
from closeread.parameters import TrainingSettings
from closeread.progress import report_progress

AT_ONCE = 64
"""How many pairs are predicted at once."""

Score = Callable[[Floats], Mapping[str, float | None]]
"""From the probabilities of the labels of all pairs, (n_pairs, n_labels), to scores."""


class TextPairs(NamedTuple):
    """The first and the second text of each pair."""

    first: Sequence[str]
    second: Sequence[str]


class LabelledTexts(NamedTuple):
    """Pairs of texts to learn from, with their labels from 0, (n_pairs,)."""

    pairs: TextPairs
    labels: Ints


class PairPieces(NamedTuple):
    """What a model sees of each pair, with special tokens: its inputs by name; and how many first texts are cut."""

    inputs: list[dict[str, list[int]]]
    n_cut: int


class PairBatch(NamedTuple):
    """Some pairs as padded tensors, (n_pairs, longest), by the name of the input; and their labels, (n_pairs,)."""

    inputs: Mapping[str, torch.Tensor]
    labels: torch.Tensor

    @property
    def totals(self) -> Mapping[str, int]:
        """The number of terms of the loss."""
        return {"label": len(self.labels)}


@dataclass(frozen=True)
class PairChoice:
    """The kind of model that is trained."""

    encoder: str  # its name on the Hugging Face Hub, or its folder
    labels: int = 2  # the number of labels
    encoder_dropout: float | None = None  # the dropout inside the encoder; None for its own


class PairClassifier(nn.Module):  # type: ignore[misc] # torch has no types here
    """A pretrained encoder with a classifier of pairs, and its fast tokenizer.

    `longest` is the most pieces of a pair, special tokens included; `pretrained` how the names of the parameters of the
    encoder begin.
    """

    def __init__(self, tokenizer: Any, model: Any) -> None:
        super().__init__()
        self.tokenizer = tokenizer
        self.model = model
        self.longest = longest_input(tokenizer, model.config)
        self.pretrained = f"model.{model.base_model_prefix}."
        # Without a mask, what a pair is given would depend on the length of the others of its batch.
        tokenizer.model_input_names = list(
            dict.fromkeys([*tokenizer.model_input_names, "attention_mask"])
        )
        self._pad = transformers.DataCollatorWithPadding(tokenizer)

    @classmethod
    def load(
        cls, name: str | Path, choice: PairChoice, *, with_weights: bool = True
    ) -> PairClassifier:
        """Load an encoder by its name on the Hugging Face Hub, or from a folder, with a new classifier.

        Without weights, the parameters of the encoder are random, too.
        """
        tokenizer = load_tokenizer(name)
        if tokenizer.pad_token_id is None:
            raise RequestError(f"{name}: the tokenizer has no padding token (expected an encoder)")
        config = transformers.AutoConfig.from_pretrained(
            name, trust_remote_code=False, num_labels=choice.labels
        )
        if getattr(config, "is_encoder_decoder", False):
            raise RequestError(
                f"{name}: is a {config.model_type} model with a decoder (expected an encoder)"
            )
        if config.model_type not in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES:
            raise RequestError(
                f"{name}: {config.model_type} models have no classifier of texts (expected an encoder)"
            )
        classes = transformers.AutoModelForSequenceClassification
        # Pairs are short: on CPUs, the backward pass of fused attention takes longer than all else together.
        options = {"config": config, "trust_remote_code": False, "attn_implementation": "eager"}
        with loading_silently():
            if with_weights:
                model = classes.from_pretrained(
                    name, weights_only=True, ignore_mismatched_sizes=True, **options
                )
            else:
                model = classes.from_config(**options)
        if choice.encoder_dropout is not None:
            set_dropout(model, choice.encoder_dropout)
        return cls(tokenizer, model.float())

    def save(self, folder: Path) -> None:
        """Write the tokenizer and the configuration to a folder."""
        self.tokenizer.save_pretrained(folder)
        self.model.config.save_pretrained(folder)

    def cut(self, pairs: TextPairs) -> PairPieces:
        """Cut pairs of texts into pieces."""
        self.tokenizer.truncation_side = "left"
        self.tokenizer.padding_side = "right"
        encoded = (
            self.tokenizer(list(pairs.first), list(pairs.second), verbose=False)
            if len(pairs.first)
            else {}
        )
        inputs = [
            dict(zip(encoded, of_pair, strict=True))
            for of_pair in zip(*encoded.values(), strict=True)
        ]
        long = [
            number
            for number, of_pair in enumerate(inputs)
            if len(of_pair["input_ids"]) > self.longest
        ]
        for number in long:
            first = pairs.first[number]
            second = pairs.second[number]
            self._check_room(second)
            inputs[number] = dict(
                self.tokenizer(first, second, truncation="only_first", max_length=self.longest)
            )
        return PairPieces(inputs, len(long))

    def _check_room(self, second: str) -> None:
        """Check that the second text leaves room for a piece of the first."""
        special = self.tokenizer.num_special_tokens_to_add(pair=True)
        n_pieces = len(self.tokenizer(second, add_special_tokens=False, verbose=False)["input_ids"])
        if n_pieces + special >= self.longest:
            size = f"{quote(shorten(second))} has {n_pieces:,} tokens"
            limit = f"the model takes {self.longest:,} for a pair"
            expected = f"expected at most {self.longest - special - 1:,} of the second text"
            raise RequestError(f"{size}, and {limit} ({expected})")

    def gather(
        self, pieces: PairPieces, numbers: Ints, device: str, labels: Ints | None = None
    ) -> PairBatch:
        """Return pairs as tensors on a device, with their labels, which are 0 if they are unknown."""
        inputs = self._pad([pieces.inputs[number] for number in numbers.tolist()])
        batch_labels = np.zeros_like(numbers) if labels is None else labels[numbers]
        label = torch.from_numpy(batch_labels).to(device)
        return PairBatch({name: tensor.to(device) for name, tensor in inputs.items()}, label)

    def forward(self, batch: PairBatch) -> torch.Tensor:
        """Return the logits of pairs, (n_pairs, n_labels), in float32 or more."""
        logits: torch.Tensor = self.model(**batch.inputs).logits
        return logits if logits.dtype == torch.float64 else logits.float()


class PairLearner:
    """Learns the labels of pairs, (n_pairs,) from 0 (`closeread.neural.training.Learner`)."""

    def __init__(
        self,
        model: PairClassifier,
        pairs: PairPieces,
        labels: Ints,
        *,
        held_out: PairPieces,
        score: Score,
        criterion: str,
        device: str = "cpu",
    ) -> None:
        self.model = model
        self.criterion = criterion
        self.pretrained = model.pretrained
        self.n_items = len(labels)
        self._pairs = pairs
        self._labels = labels
        self._device = device
        self._held_out = held_out
        self._score = score

    def gather(self, numbers: Ints) -> PairBatch:
        """Return some pairs with their labels."""
        return self.model.gather(self._pairs, numbers, self._device, self._labels)

    def find_losses(self, batch: PairBatch) -> Mapping[str, torch.Tensor]:
        """Return the cross-entropy, summed over pairs."""
        return {
            "label": nn.functional.cross_entropy(self.model(batch), batch.labels, reduction="sum")
        }

    def evaluate(self) -> Mapping[str, float | None]:
        """Return the scores on held-out pairs."""
        return self._score(predict_pairs(self.model, self._held_out, self._device))


def predict_pairs(model: PairClassifier, pairs: PairPieces, device: str = "cpu") -> Floats:
    """Return the probabilities of the labels of all pairs, (n_pairs, n_labels); pairs of similar length at once."""
    order = np.argsort([len(inputs["input_ids"]) for inputs in pairs.inputs], kind="stable")
    probabilities = np.zeros((len(order), model.model.config.num_labels))
    with torch.inference_mode():
        for start in range(0, len(order), AT_ONCE):
            numbers = order[start : start + AT_ONCE]
            logits = model(model.gather(pairs, numbers, device))
            probabilities[numbers] = logits.softmax(-1).cpu().numpy()
            report_progress("predicting", start + len(numbers), len(order))
    return probabilities


def train_pairs(
    folder: RunFolder,
    settings: TrainingSettings,
    training: LabelledTexts,
    held_out: TextPairs,
    *,
    score: Score,
    criterion: str,
    about: Mapping[str, Any],
    resume: bool = False,
    warn_of_cut: Callable[[int, int], None] = lambda n_cut, longest: None,
) -> None:
    """Train a classifier in a folder; every epoch is scored on held-out pairs, and the best is that of the criterion.

    `about` is what else `run.json` says.  `warn_of_cut` is told how many pairs are too long, so that their first texts
    are cut, and how many pieces fit.
    """

    choice = PairChoice(settings.encoder, encoder_dropout=settings.encoder_dropout)

    def prepare(continues: bool) -> PairLearner:
        device = choose_hardware(settings.device, settings.precision).device
        name = folder.path / ENCODER if continues else choice.encoder
        model = PairClassifier.load(name, choice, with_weights=not continues).to(device)
        learnt = model.cut(training.pairs)
        scored = model.cut(held_out)
        warn_of_cut(learnt.n_cut + scored.n_cut, model.longest)
        return PairLearner(
            model,
            learnt,
            training.labels,
            held_out=scored,
            score=score,
            criterion=criterion,
            device=device,
        )

    folder.train(
        {**about, "model": asdict(choice)},
        settings,
        prepare=prepare,
        save_source=lambda learner: learner.model.save(folder.path / ENCODER),
        resume=resume,
    )


def load_classifier(folder: RunFolder, device: str) -> PairClassifier:
    """Load a trained classifier, to predict with it."""
    try:
        choice = PairChoice(**read_run(folder.path)["model"])
    except TypeError:
        names = ", ".join(field.name for field in fields(PairChoice))
        problem = Problem(f"model: is not a classifier of pairs (expected {names})")
        raise FormatError(folder.path / RUN, [problem]) from None
    model = PairClassifier.load(folder.path / ENCODER, choice, with_weights=False)
    folder.load_weights(model)
    model.to(device).eval()
    return model
