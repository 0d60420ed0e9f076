"""Training: epochs of optimizer steps, early stopping, and checkpoints that resume to the identical run.

Conventions: an item is what is drawn in random order, such as a document.  A step learns from a batch of `batch_size`
items: every part of the loss is a sum over the batch, divided by the number of its terms.  On a CPU, the same setting,
data and number of threads give the same weights to the last bit, interrupted or not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from closeread.arrays import Ints
from closeread.neural.devices import Hardware, choose_hardware
from closeread.parameters import TrainingSettings
from closeread.progress import report_progress


class Batch(Protocol):
    """The items of a batch, with the number of terms of each part of their loss."""

    @property
    def totals(self) -> Mapping[str, int]:
        """The number of terms of each part."""


class Learner(Protocol):
    """The kind of model that is trained."""

    model: nn.Module  # all parameters; those below `pretrained` have a learning rate of their own
    pretrained: str  # how the names of pretrained parameters begin
    n_items: int  # how many items there are to learn from
    criterion: str  # the score of `evaluate` by which the best epoch is chosen

    def gather(self, numbers: Ints) -> Batch:
        """Return a batch of items."""

    def find_losses(self, batch: Any) -> Mapping[str, torch.Tensor]:
        """Return the parts of the loss, each summed over its terms."""

    def evaluate(self) -> Mapping[str, float | None]:
        """Score the model, which is not being trained meanwhile, on held-out data."""


@dataclass(frozen=True)
class Epoch:
    """What came of an epoch."""

    number: int  # from 1
    loss: float  # the mean over its steps
    scores: Mapping[str, float | None]  # on held-out data
    seconds: float


@dataclass(eq=False)
class State:
    """Where training stands after an epoch; all that is needed to continue it."""

    epochs: list[Epoch]
    parameters: Mapping[str, torch.Tensor]
    optimizer: Mapping[str, Any]
    # the states of the random number generators: of the CPU, and of the GPU if one is used
    random: list[torch.Tensor]


def train(
    learner: Learner, settings: TrainingSettings, state: State | None = None
) -> Iterator[State]:
    """Train a model, from a state if there is one, and yield the state after each epoch.

    The last is that of the last epoch, or the one after which the scores don't improve.
    """
    hardware = choose_hardware(settings.device, settings.precision)
    optimizer = _make_optimizer(learner, settings)
    n_steps = -(-learner.n_items // settings.batch_size)
    epochs: list[Epoch] = []
    if state is None:
        torch.manual_seed(settings.seed)
    else:
        epochs = list(state.epochs)
        learner.model.load_state_dict(state.parameters)
        optimizer.load_state_dict(state.optimizer)
        torch.set_rng_state(state.random[0])
        if hardware.device.startswith("cuda") and len(state.random) > 1:
            torch.cuda.set_rng_state(state.random[1], hardware.device)
    while len(epochs) < settings.epochs and not _is_over(
        epochs, learner.criterion, settings.patience
    ):
        begin = time.monotonic()
        number = len(epochs) + 1
        learner.model.train()
        losses = []
        order = np.random.default_rng((settings.seed, number)).permutation(learner.n_items)
        for step in range(n_steps):
            _set_rates(
                optimizer, settings, (number - 1) * n_steps + step, settings.epochs * n_steps
            )
            numbers = order[step * settings.batch_size : (step + 1) * settings.batch_size]
            losses.append(_take_step(learner, optimizer, numbers, settings, hardware))
            report_progress(f"epoch {number}, step", step + 1, n_steps)
        learner.model.eval()
        with torch.inference_mode(), _deterministic(), use_precision(hardware):
            scores = learner.evaluate()
        epochs.append(Epoch(number, float(np.mean(losses)), scores, time.monotonic() - begin))
        random = [torch.get_rng_state()]
        if hardware.device.startswith("cuda"):
            random.append(torch.cuda.get_rng_state(hardware.device))
        yield State(list(epochs), learner.model.state_dict(), optimizer.state_dict(), random)


def _is_over(epochs: list[Epoch], criterion: str, patience: int) -> bool:
    """Return whether the last `patience` epochs brought no better score."""
    return bool(epochs) and len(epochs) - find_best(epochs, criterion).number >= patience


def find_best(epochs: list[Epoch], criterion: str) -> Epoch:
    """Return the best epoch, the first of equally good ones; an undefined score is the worst."""

    def rate(epoch: Epoch) -> float:
        score = epoch.scores[criterion]
        return -1.0 if score is None else score

    return max(epochs, key=rate)


SMALLEST = 1 / 32
"""The learning rate at the edges, as a share of the highest."""


def _set_rates(
    optimizer: torch.optim.Optimizer, settings: TrainingSettings, done: int, total: int
) -> None:
    """Set the learning rates of a step: the slanted triangle of Howard and Ruder (2018)."""
    peak = max(1.0, total * settings.warmup)
    share = done / peak if done < peak else (total - done) / max(1.0, total - peak)
    for group in optimizer.param_groups:
        group["lr"] = group["highest"] * (SMALLEST + (1 - SMALLEST) * share)


def _take_step(
    learner: Learner,
    optimizer: torch.optim.Optimizer,
    numbers: Ints,
    settings: TrainingSettings,
    hardware: Hardware,
) -> float:
    batch = learner.gather(numbers)
    optimizer.zero_grad(set_to_none=True)
    loss = 0.0
    with _deterministic():
        with use_precision(hardware):
            sums = learner.find_losses(batch)
        # A part without terms, such as that of labels in documents without links, teaches nothing.
        terms = [total / batch.totals[part] for part, total in sums.items() if batch.totals[part]]
        if terms:
            mean = torch.stack(terms).sum()
            mean.backward()
            loss = float(mean.detach())
        nn.utils.clip_grad_norm_(learner.model.parameters(), settings.clip)
        optimizer.step()
    return loss


def use_precision(hardware: Hardware) -> Any:
    """Return a context in which matrices are multiplied as precisely as wanted."""
    is_wanted = hardware.precision == "bfloat16"
    return torch.autocast(
        torch.device(hardware.device).type, dtype=torch.bfloat16, enabled=is_wanted
    )


def _make_optimizer(learner: Learner, settings: TrainingSettings) -> torch.optim.Optimizer:
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for name, parameter in learner.model.named_parameters():
        if parameter.requires_grad:
            is_pretrained = bool(learner.pretrained) and name.startswith(learner.pretrained)
            groups.setdefault((is_pretrained, parameter.ndim > 1), []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": parameters,
                "highest": settings.learning_rate if is_pretrained else settings.head_learning_rate,
                "weight_decay": settings.weight_decay if is_matrix else 0.0,
            }
            for (is_pretrained, is_matrix), parameters in groups.items()
        ],
        fused=True,
    )


@contextmanager
def _deterministic() -> Iterator[None]:
    """Use deterministic algorithms where there are any."""
    before = torch.are_deterministic_algorithms_enabled()
    warned = torch.is_deterministic_algorithms_warn_only_enabled()
    filled = torch.utils.deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    # No memory is read before it is written here, and filling it takes a fifth of the time.
    torch.utils.deterministic.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.utils.deterministic.fill_uninitialized_memory = filled
        torch.use_deterministic_algorithms(before, warn_only=warned)
