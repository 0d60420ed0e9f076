"""Classifiers of pairs of texts, made from a pretrained encoder: trained in a folder, continued, and loaded from it.

Works with any encoder that transformers' `AutoModelForSequenceClassification` loads and that has a fast tokenizer.
Code from a model's repository is never run, and weights are read in formats that cannot contain code.

Conventions: of a pair that is too long for the encoder, only the first text is cut, at its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers
from torch import nn
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

from closeread.arrays import Floats, Ints, expand_ranges
from closeread.exceptions import FormatError, Problem, RequestError, quote, shorten
from closeread.neural.devices import loading_silently
from closeread.neural.encoders import load_tokenizer, longest_input, set_dropout
from closeread.neural.run_files import COMPLETE, ENCODER, RUN, read_run
from closeread.neural.run_folders import RunFolder
from closeread.neural.training import Setting, train, use_precision
from closeread.progress import report_progress

PREDICTED_AT_ONCE = 64
"""How many pairs are predicted at once."""


class TextPairs(NamedTuple):
    """Pairs of texts.

    Attributes:
        first, second: the texts of each pair.
    """

    first: Sequence[str]
    second: Sequence[str]


@dataclass(frozen=True, eq=False)
class PairPieces:
    """The word pieces of pairs, with the special tokens of a model.

    Attributes:
        ids: (n_pieces,) the number of each in the vocabulary.
        kind: (n_pieces,) 1 for those of the second text if the model tells them apart, else 0.
        starts: (n_pairs + 1,) where the pieces of each pair begin.
        n_cut: the number of pairs whose first text is cut.
    """

    ids: Ints
    kind: Ints
    starts: Ints
    n_cut: int

    @property
    def sizes(self) -> Ints:
        """(n_pairs,) the number of pieces of each pair."""
        return np.diff(self.starts)


class PairBatch(NamedTuple):
    """Some pairs as tensors, padded.

    Attributes:
        ids, mask, kind: (n_pairs, longest) pieces, 1 where there is no padding, and kinds of pieces.
        labels: (n_pairs,) from 0; all 0 if they are unknown.
    """

    ids: torch.Tensor
    mask: torch.Tensor
    kind: torch.Tensor
    labels: torch.Tensor

    @property
    def totals(self) -> Mapping[str, int]:
        """The number of terms of the loss."""
        return {"label": len(self.labels)}


def cut_pairs(tokenizer: Any, pairs: TextPairs, longest: int) -> PairPieces:
    """Cut pairs of texts into pieces.

    Args:
        tokenizer: a fast tokenizer.
        pairs: the texts.
        longest: the most pieces of a pair, special tokens included.

    Raises:
        RequestError: a second text leaves no room for the first.
    """
    if not len(pairs.first):
        empty = np.zeros(0, np.int64)
        return PairPieces(empty, empty, np.zeros(1, np.int64), 0)
    tokenizer.truncation_side = "left"
    options = {"return_attention_mask": False, "return_token_type_ids": True, "verbose": False}
    encoded = tokenizer(list(pairs.first), list(pairs.second), **options)
    ids, kinds = encoded["input_ids"], encoded["token_type_ids"]
    long = [number for number, of_pair in enumerate(ids) if len(of_pair) > longest]
    if long:
        _check_rooms(tokenizer, [pairs.second[number] for number in long], longest)
        again = tokenizer(
            [pairs.first[number] for number in long],
            [pairs.second[number] for number in long],
            truncation="only_first",
            max_length=longest,
            **options,
        )
        for place, number in enumerate(long):
            ids[number], kinds[number] = again["input_ids"][place], again["token_type_ids"][place]
    sizes = np.array([len(of_pair) for of_pair in ids], np.int64)
    total = int(sizes.sum())
    flat_ids, flat_kinds = (np.fromiter(chain.from_iterable(each), np.int64, total) for each in (ids, kinds))
    return PairPieces(flat_ids, flat_kinds, np.concatenate([[0], np.cumsum(sizes)]), len(long))


def _check_rooms(tokenizer: Any, seconds: Sequence[str], longest: int) -> None:
    """Check that second texts leave room for a piece of the first."""
    special = tokenizer.num_special_tokens_to_add(pair=True)
    alone = tokenizer(list(seconds), add_special_tokens=False, return_attention_mask=False, verbose=False)
    for text, of_text in zip(seconds, alone["input_ids"], strict=True):
        if len(of_text) + special >= longest:
            found = f"{quote(shorten(text))} has {len(of_text):,} tokens, and the model takes {longest:,} for a pair"
            raise RequestError(f"{found} (expected at most {longest - special - 1:,} of the second text)")


class PairClassifier(nn.Module):  # type: ignore[misc] # torch has no types here
    """A pretrained encoder with a classifier of pairs, and its tokenizer.

    Args:
        tokenizer: a fast tokenizer with a padding token.
        model: a model whose output has `logits`, (n_pairs, n_labels).

    Attributes:
        longest: the most pieces of a pair, special tokens included.
        pretrained: how the names of the parameters of the encoder begin.
    """

    def __init__(self, tokenizer: Any, model: Any) -> None:
        super().__init__()
        self.tokenizer, self.model = tokenizer, model
        self.longest = longest_input(tokenizer, model.config)
        self.pretrained = f"model.{model.base_model_prefix}."
        self._tells_kinds = "token_type_ids" in tokenizer.model_input_names

    @classmethod
    def load(cls, name: str | Path, labels: int, *, with_weights: bool = True) -> PairClassifier:
        """Load an encoder by its name on the Hugging Face Hub, or from a folder, with a new classifier.

        Args:
            name: the name, or the folder.
            labels: the number of labels.
            with_weights: load the parameters of the encoder, too; otherwise, they are random.

        Raises:
            OSError: the model does not exist, or has no weights in a safe format.
            RequestError: the model has no fast tokenizer or no padding, or is no encoder.
        """
        tokenizer = load_tokenizer(name)
        if tokenizer.pad_token_id is None:
            raise RequestError(f"{name}: the tokenizer has no padding token (expected an encoder)")
        config = transformers.AutoConfig.from_pretrained(name, trust_remote_code=False, num_labels=labels)
        if getattr(config, "is_encoder_decoder", False):
            raise RequestError(f"{name}: is a {config.model_type} model with a decoder (expected an encoder)")
        if config.model_type not in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES:
            raise RequestError(f"{name}: {config.model_type} models have no classifier of texts (expected an encoder)")
        classes = transformers.AutoModelForSequenceClassification
        # Pairs are short: on CPUs, the backward pass of fused attention takes longer than all else together.
        options = {"config": config, "trust_remote_code": False, "attn_implementation": "eager"}
        with loading_silently():
            if with_weights:
                model = classes.from_pretrained(name, weights_only=True, ignore_mismatched_sizes=True, **options)
            else:
                model = classes.from_config(**options)
        return cls(tokenizer, model.float())

    def save(self, folder: Path) -> None:
        """Write the tokenizer and the configuration to a folder."""
        self.tokenizer.save_pretrained(folder)
        self.model.config.save_pretrained(folder)

    def set_dropout(self, share: float) -> None:
        """Drop this share of every activation in training, instead of what the model's configuration says."""
        set_dropout(self.model, share)

    def cut(self, pairs: TextPairs) -> PairPieces:
        """Cut pairs of texts into pieces."""
        return cut_pairs(self.tokenizer, pairs, self.longest)

    def gather(self, pieces: PairPieces, numbers: Ints, labels: Ints, device: str) -> PairBatch:
        """Return pairs as tensors on a device.

        Args:
            pieces: the pieces of all pairs.
            numbers: (n,) which pairs.
            labels: (n,) their labels, from 0.
            device: such as "cpu" or "cuda:0".
        """
        sizes = pieces.sizes[numbers]
        longest = int(sizes.max(initial=0))
        ids = np.full((len(numbers), longest), self.tokenizer.pad_token_id)
        kind = np.zeros_like(ids)
        row, piece = expand_ranges(pieces.starts[numbers], sizes)
        column = piece - pieces.starts[numbers][row]
        ids[row, column], kind[row, column] = pieces.ids[piece], pieces.kind[piece]
        mask = (np.arange(longest) < sizes[:, None]).astype(np.int64)
        return PairBatch(*(torch.from_numpy(array).to(device) for array in (ids, mask, kind, labels)))

    def forward(self, batch: PairBatch) -> torch.Tensor:
        """Return the logits of pairs, (n_pairs, n_labels), in float32 or more."""
        kinds = {"token_type_ids": batch.kind} if self._tells_kinds else {}
        logits: torch.Tensor = self.model(input_ids=batch.ids, attention_mask=batch.mask, **kinds).logits
        return logits if logits.dtype == torch.float64 else logits.float()


class PairLearner:
    """Learns the labels of pairs (`closeread.neural.training.Learner`).

    Args:
        model: the classifier, which is on its device.
        pairs: the pairs to learn from.
        labels: (n_pairs,) their labels, from 0.
        held_out: pairs on which every epoch is scored.
        score: takes the probabilities of the labels of these, (n_pairs, n_labels).
        criterion: the score by which the best epoch is chosen.
        device: where the model is.
    """

    def __init__(
        self,
        model: PairClassifier,
        pairs: PairPieces,
        labels: Ints,
        *,
        held_out: PairPieces,
        score: Callable[[Floats], Mapping[str, float | None]],
        criterion: str,
        device: str = "cpu",
    ) -> None:
        self.model, self.criterion, self.pretrained = model, criterion, model.pretrained
        self.n_items = len(labels)
        self._pairs, self._labels, self._device = pairs, labels, device
        self._held_out, self._score = held_out, score

    def gather(self, items: Ints) -> PairBatch:
        """Return some pairs with their labels."""
        return self.model.gather(self._pairs, items, self._labels[items], self._device)

    def find_losses(self, batch: PairBatch) -> Mapping[str, torch.Tensor]:
        """Return the cross-entropy, summed over pairs."""
        return {"label": nn.functional.cross_entropy(self.model(batch), batch.labels, reduction="sum")}

    def evaluate(self) -> Mapping[str, float | None]:
        """Return the scores on held-out pairs."""
        return self._score(predict_pairs(self.model, self._held_out, self._device))


def predict_pairs(model: PairClassifier, pairs: PairPieces, device: str = "cpu") -> Floats:
    """Return the probabilities of the labels of all pairs, (n_pairs, n_labels).

    Args:
        model: the classifier, which is on its device and not being trained.
        pairs: the pieces of the pairs.
        device: where the model is.
    """
    found = np.zeros((len(pairs.sizes), model.model.config.num_labels))
    with torch.inference_mode():
        done = 0
        for numbers in batch_by_length(pairs.sizes):
            batch = model.gather(pairs, numbers, np.zeros_like(numbers), device)
            found[numbers] = model(batch).softmax(-1).cpu().numpy()
            done += len(numbers)
            report_progress("predicting", done, len(found))
    return found


def batch_by_length(sizes: Ints) -> Iterator[Ints]:
    """Yield the numbers of all texts, those of similar length together, so that there is little padding."""
    order = np.argsort(sizes, kind="stable")
    for start in range(0, len(order), PREDICTED_AT_ONCE):
        yield order[start : start + PREDICTED_AT_ONCE]


@dataclass(frozen=True)
class PairChoice:
    """What is trained.

    Attributes:
        encoder: its name on the Hugging Face Hub, or its folder.
        labels: the number of labels.
        encoder_dropout: the dropout inside the encoder; None for its own.
    """

    encoder: str
    labels: int = 2
    encoder_dropout: float | None = None


class LabelledTexts(NamedTuple):
    """Pairs of texts to learn from.

    Attributes:
        pairs: the texts.
        labels: (n_pairs,) from 0.
    """

    pairs: TextPairs
    labels: Ints


def train_pairs(
    folder: RunFolder,
    choice: PairChoice,
    setting: Setting,
    training: LabelledTexts,
    held_out: TextPairs,
    *,
    score: Callable[[Floats], Mapping[str, float | None]],
    criterion: str,
    about: Mapping[str, Any],
    resume: bool = False,
    warn_of_cut: Callable[[int, int], None] = lambda n_cut, longest: None,
) -> None:
    """Train a classifier in a folder; without pairs to learn from, it stays as it is, with new random layers.

    Args:
        folder: of the run.
        choice: what is trained.
        setting: how.
        training: the pairs to learn from.
        held_out: pairs on which every epoch is scored.
        score: takes the probabilities of the labels of these, (n_pairs, n_labels).
        criterion: the score by which the best epoch is chosen.
        about: what else `run.json` says, in JSON.
        resume: continue the run that is in the folder, if there is one.
        warn_of_cut: is told how many pairs are too long, so that their first texts are cut, and how many pieces fit.

    Raises:
        RequestError: the run in the folder is of another choice, setting or data.
    """
    described = {**about, "model": asdict(choice)}
    torch.manual_seed(setting.seed)
    run, state = folder.open(described, setting, resume=resume)
    if run is not None and run["state"] == COMPLETE:
        return
    model = _make_classifier(choice) if run is None or state is None else _rebuild_classifier(folder, run)
    model.to(setting.device)
    learnt, scored = model.cut(training.pairs), model.cut(held_out)
    if run is None:  # not before: a model that can't be loaded leaves no folder behind
        run = folder.begin(described, setting)
    if state is None:
        model.save(folder.path / ENCODER)
    warn_of_cut(learnt.n_cut + scored.n_cut, model.longest)
    if not len(training.labels):
        _keep_untrained(folder, run, model, scored, score, setting)
        return
    learner = PairLearner(
        model, learnt, training.labels, held_out=scored, score=score, criterion=criterion, device=setting.device
    )
    for after in train(learner, setting, state):
        folder.save(run, model, after, criterion)
    folder.finish(run)


def _keep_untrained(
    folder: RunFolder,
    run: dict[str, Any],
    model: PairClassifier,
    scored: PairPieces,
    score: Callable[[Floats], Mapping[str, float | None]],
    setting: Setting,
) -> None:
    """Score and save a classifier that has learnt nothing, as epoch 0."""
    model.eval()
    with use_precision(setting.device, setting.precision):
        run["best"] = {"epoch": 0, **score(predict_pairs(model, scored, setting.device))}
    run["seconds"] = 0.0
    folder.save_weights(model)
    folder.finish(run)


def load_classifier(folder: RunFolder, device: str) -> PairClassifier:
    """Load a trained classifier, to predict with it.

    Raises:
        FormatError: the folder does not hold one, or it is damaged.
    """
    model = _rebuild_classifier(folder, read_run(folder.path))
    folder.load_weights(model)
    model.to(device).eval()
    return model


def _make_classifier(choice: PairChoice) -> PairClassifier:
    """Make a classifier that has learnt nothing."""
    model = PairClassifier.load(choice.encoder, choice.labels)
    if choice.encoder_dropout is not None:
        model.set_dropout(choice.encoder_dropout)
    return model


def _rebuild_classifier(folder: RunFolder, run: Mapping[str, Any]) -> PairClassifier:
    """Make a classifier of the same form as that of a run.

    Raises:
        FormatError: the run is of something else.
    """
    try:
        choice = PairChoice(**run["model"])
    except TypeError:
        found = f"model: is not a classifier of pairs (expected {', '.join(each.name for each in fields(PairChoice))})"
        raise FormatError(folder.path / RUN, [Problem(found)]) from None
    model = PairClassifier.load(folder.path / ENCODER, choice.labels, with_weights=False)
    if choice.encoder_dropout is not None:
        model.set_dropout(choice.encoder_dropout)
    return model
