"""Classifiers of pairs of texts, made from a pretrained encoder: trained in a folder, continued, and loaded from it.

Works with any encoder that transformers' `AutoModelForSequenceClassification` loads and that has a fast tokenizer.

Conventions: of a pair that is too long for the encoder, only the first text is truncated, at its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import transformers

from closeread.arrays import Floats, Ints
from closeread.exceptions import RequestError, quote
from closeread.neural.devices import Hardware
from closeread.neural.encoders import load_encoder, load_tokenizer, longest_input, set_dropout
from closeread.neural.prediction import Outputs, predict_batches
from closeread.neural.run_folders import RunFolder
from closeread.parameters import TrainingSettings

PAIRS_AT_ONCE = 64
"""How many pairs are predicted at once."""

# Pairs are short: on CPUs, the backward pass of fused attention takes longer than all else together.
ATTENTION = "eager"

Classifier = transformers.AutoModelForSequenceClassification

Score = Callable[[Floats], Mapping[str, float | None]]
"""From the probabilities of the labels of all pairs, (n_pairs, n_labels), to scores."""


class TextPairs(NamedTuple):
    """The first and the second text of each pair."""

    first: Sequence[str]
    second: Sequence[str]


class TokenizedPairs(NamedTuple):
    """Pairs as a model reads them.

    Attributes:
        examples: the inputs of each pair by name, with special tokens.
        n_truncated: how many first texts are truncated.
        longest: the most tokens that the model takes.
    """

    examples: list[dict[str, Any]]
    n_truncated: int
    longest: int

    def sort_by_length(self) -> tuple[list[dict[str, Any]], Ints]:
        """Return pairs of similar length together, so that there is little padding, and their numbers."""
        order = np.argsort([len(example["input_ids"]) for example in self.examples], kind="stable")
        return [self.examples[number] for number in order.tolist()], order


@dataclass(frozen=True)
class PairChoice:
    """The kind of model that is trained.

    Attributes:
        encoder: its name on the Hugging Face Hub, or its folder.
        labels: the names of the labels.
        encoder_dropout: the dropout inside the encoder; None for its own.
    """

    encoder: str
    labels: Sequence[str]
    encoder_dropout: float | None = None


def tokenize_pairs(tokenizer: Any, config: Any, pairs: TextPairs) -> TokenizedPairs:
    """Return the tokens of pairs of texts.

    Raises:
        RequestError: a second text leaves no room for a token of the first.
    """
    longest = longest_input(tokenizer, config)
    if not len(pairs.first):
        return TokenizedPairs([], 0, longest)
    tokenizer.truncation_side = "left"
    tokenizer.padding_side = "right"
    _check_room(tokenizer, pairs.second, longest)
    encoded = tokenizer(
        list(pairs.first), list(pairs.second), truncation="only_first", max_length=longest
    )
    columns = dict(encoded)
    examples = []
    n_truncated = 0
    for number, encoding in enumerate(encoded.encodings):
        examples.append({name: column[number] for name, column in columns.items()})
        if encoding.overflowing:
            n_truncated += 1
    return TokenizedPairs(examples, n_truncated, longest)


def _check_room(tokenizer: Any, texts: Sequence[str], longest: int) -> None:
    """Check that second texts leave room for a token of the first."""
    special = tokenizer.num_special_tokens_to_add(pair=True)
    tokens = tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
    for text, text_tokens in zip(texts, tokens, strict=True):
        if len(text_tokens) + special >= longest:
            size = f"{quote(text)} has {len(text_tokens):,} tokens"
            limit = f"the model takes {longest:,} for a pair"
            expected = f"expected at most {longest - special - 1:,} of the second text"
            raise RequestError(f"{size}, and {limit} ({expected})")


def check_labels(labels: Iterable[int], n_labels: int) -> None:
    """Refuse labels that a model does not have."""
    for label in labels:
        if not 0 <= label < n_labels:
            raise RequestError(f"a label is {label} (expected 0 to {n_labels - 1})")


def train_pairs(
    folder: RunFolder,
    choice: PairChoice,
    settings: TrainingSettings,
    training: TextPairs,
    labels: Sequence[int],
    validation: TextPairs,
    *,
    score: Score,
    criterion: str,
    metadata: Mapping[str, Any],
    resume: bool,
    warn_of_truncation: Callable[[int, int], None],
) -> None:
    """Train a classifier in a folder; every epoch is scored on validation pairs, and the best is that of the criterion.

    `labels` are those of the training pairs, from 0.  `metadata` is what else `run.json` says.  `warn_of_truncation` is
    told how many pairs are too long, so that their first texts are truncated, and how many tokens fit.
    """
    from closeread.neural.training import Learner, train

    check_labels(labels, len(choice.labels))

    def build_learner(checkpoint: Path | None) -> Learner:
        source = checkpoint or choice.encoder
        tokenizer = load_tokenizer(source)
        names = dict(enumerate(choice.labels))
        numbers = {name: number for number, name in names.items()}
        model = load_encoder(
            source, Classifier, id2label=names, label2id=numbers, attn_implementation=ATTENTION
        )
        set_dropout(model, choice.encoder_dropout)
        learnt = tokenize_pairs(tokenizer, model.config, training)
        for example, label in zip(learnt.examples, labels, strict=True):
            example["labels"] = label
        validated = tokenize_pairs(tokenizer, model.config, validation)
        warn_of_truncation(learnt.n_truncated + validated.n_truncated, learnt.longest)
        ordered, order = validated.sort_by_length()
        return Learner(
            model,
            f"{model.base_model_prefix}.",
            tokenizer,
            learnt.examples,
            ordered,
            transformers.DataCollatorWithPadding(tokenizer),
            PAIRS_AT_ONCE,
            lambda outputs: score(find_probabilities(outputs, order)),
            criterion,
        )

    train(folder, {**metadata, "model": asdict(choice)}, settings, build_learner, resume=resume)


def find_probabilities(outputs: Outputs, order: Ints) -> Floats:
    """Return the probabilities of the labels of all pairs, (n_pairs, n_labels), from a model's outputs in some order."""
    predicted = np.concatenate(
        [output["logits"].double().softmax(-1).numpy() for output in outputs]
    )
    probabilities = np.empty_like(predicted)
    probabilities[order] = predicted
    return probabilities


def predict_pairs(
    folder: RunFolder,
    pairs: TextPairs,
    hardware: Hardware,
    warn_of_truncation: Callable[[int, int], None],
) -> Floats:
    """Return the probabilities of the labels of pairs, (n_pairs, n_labels), by a trained classifier."""
    folder.read_choice(PairChoice, "a classifier of pairs")
    model = folder.load_model(Classifier, attn_implementation=ATTENTION).to(hardware.device)
    tokenizer = load_tokenizer(folder.path)
    tokenized = tokenize_pairs(tokenizer, model.config, pairs)
    warn_of_truncation(tokenized.n_truncated, tokenized.longest)
    if not tokenized.examples:
        return np.zeros((0, model.config.num_labels))
    examples, order = tokenized.sort_by_length()
    collate = transformers.DataCollatorWithPadding(tokenizer)
    outputs = predict_batches(model, examples, collate, PAIRS_AT_ONCE, hardware)
    return find_probabilities(outputs, order)
