"""Training, on a linear model of a few numbers."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from closeread.neural.training import Epoch, State, find_best, train  # noqa: E402
from closeread.parameters import TrainingSettings  # noqa: E402
from closeread.progress import showing_progress  # noqa: E402

N_ITEMS = 10


class LongWarmup(TrainingSettings):
    warmup = 0.2  # the peak is not in the first epoch


SETTINGS = LongWarmup(
    epochs=6,
    patience=6,
    batch_size=3,
    learning_rate=0.1,
    head_learning_rate=0.1,
    seed=4,
    device="cpu",
)


@dataclass(frozen=True)
class Batch:
    x: torch.Tensor
    y: torch.Tensor
    totals: dict


class Learner:
    """Learns a sum; items have different numbers of terms, and a second part of the loss has terms in some only."""

    pretrained = "encoder."
    criterion = "score"

    def __init__(self, dropout=0.0, scores=None):
        torch.manual_seed(0)
        self.model = nn.ModuleDict(
            {"encoder": nn.Linear(3, 4), "drop": nn.Dropout(dropout), "head": nn.Linear(4, 1)}
        )
        self.model.double()
        generator = torch.Generator().manual_seed(1)
        self.x = [
            torch.randn(1 + i % 3, 3, generator=generator, dtype=torch.float64)
            for i in range(N_ITEMS)
        ]
        self.n_items = N_ITEMS
        self.scores = scores
        self.seen = []

    def gather(self, items):
        self.seen += items.tolist()
        x = torch.cat([self.x[i] for i in items])
        return Batch(x, x.sum(1), {"all": len(x), "large": int((x.sum(1) > 1).sum())})

    def predict(self, x):
        return self.model["head"](self.model["drop"](self.model["encoder"](x)))[:, 0]

    def find_losses(self, batch):
        error = (self.predict(batch.x) - batch.y) ** 2
        return {"all": error.sum(), "large": error[batch.y > 1].sum()}

    def evaluate(self):
        assert not self.model.training
        if self.scores:
            return {"score": self.scores.pop(0)}
        x = torch.cat(self.x)
        return {"score": -float(((self.predict(x) - x.sum(1)) ** 2).mean())}


def copy(state):
    """A state as it is after a run that ended there."""
    return State(
        list(state.epochs),
        {name: value.clone() for name, value in state.parameters.items()},
        {
            "state": {
                k: {n: v.clone() for n, v in s.items()} for k, s in state.optimizer["state"].items()
            },
            "param_groups": [dict(group) for group in state.optimizer["param_groups"]],
        },
        [value.clone() for value in state.random],
    )


def run(learner, setting, state=None):
    return [copy(after) for after in train(learner, setting, state)]


def test_the_loss_falls():
    states = run(Learner(), SETTINGS)
    losses = [epoch.loss for epoch in states[-1].epochs]
    assert losses[-1] < losses[0] / 2
    assert [epoch.number for epoch in states[-1].epochs] == [1, 2, 3, 4, 5, 6]


def test_every_item_is_seen_once_in_an_epoch_in_an_order_of_its_own():
    learner = Learner()
    run(learner, SETTINGS)
    epochs = [learner.seen[i : i + N_ITEMS] for i in range(0, len(learner.seen), N_ITEMS)]
    assert all(sorted(epoch) == list(range(N_ITEMS)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 6


@pytest.mark.parametrize("after", range(1, 6))
def test_a_resumed_run_is_the_uninterrupted_one_to_the_last_bit(after):
    whole = run(Learner(dropout=0.5), SETTINGS)
    first = next(
        state
        for state in map(copy, train(Learner(dropout=0.5), SETTINGS))
        if len(state.epochs) == after
    )
    torch.manual_seed(99)
    resumed = run(Learner(dropout=0.5), SETTINGS, first)
    for name, value in whole[-1].parameters.items():
        assert torch.equal(value, resumed[-1].parameters[name])
    assert [(e.number, e.loss, e.scores) for e in whole[-1].epochs] == [
        (e.number, e.loss, e.scores) for e in resumed[-1].epochs
    ]


def test_other_seeds_are_other_runs():
    first, second = (run(Learner(), replace(SETTINGS, seed=seed))[-1].parameters for seed in (1, 2))
    assert not torch.equal(first["head.weight"], second["head.weight"])


def test_learning_rates_rise_and_fall():
    # 4 steps an epoch, 24 in all: the peak is at step 4.8, and 0 would be at step 24.
    setting = replace(SETTINGS, learning_rate=0.01, head_learning_rate=0.1)
    rates = [
        [group["lr"] for group in state.optimizer["param_groups"]]
        for state in train(Learner(), setting)
    ]

    def rate(step, highest):
        share = step / 4.8 if step < 4.8 else (24 - step) / (24 - 4.8)
        return highest * (1 / 32 + 31 / 32 * share)

    # The weight and the bias of the encoder, then those of the head.
    expected = [[rate(4 * e + 3, h) for h in (0.01, 0.01, 0.1, 0.1)] for e in range(6)]
    np.testing.assert_allclose(rates, expected)


@pytest.mark.parametrize(
    ("scores", "n_epochs", "best"),
    [
        ([0.5, 0.4, 0.5, 0.5, 0.6, 0.7], 4, 1),  # an equal score is no better one
        ([0.1, 0.2, 0.1, 0.3, 0.2, 0.1], 6, 4),
        ([None, None, 0.0, None, None, None], 6, 3),
        ([None, None, None, None, None, None], 4, 1),
    ],
)
def test_training_stops_without_a_better_score(scores, n_epochs, best):
    states = run(Learner(scores=list(scores)), replace(SETTINGS, patience=3))
    assert len(states) == n_epochs
    assert find_best(states[-1].epochs, "score").number == best


def test_a_run_that_is_over_is_not_continued():
    learner = Learner()
    epochs = [Epoch(n, 1.0, {"score": 1.0 if n == 1 else 0.0}, 1.0) for n in range(1, 5)]
    state = replace(next(train(learner, SETTINGS)), epochs=epochs)
    assert run(learner, replace(SETTINGS, patience=3), state) == []


def test_progress_tells_every_step():
    told = []
    with showing_progress(lambda *about: told.append(about)):
        list(train(Learner(), replace(SETTINGS, epochs=2)))
    assert told == [(f"epoch {epoch}, step", step, 4) for epoch in (1, 2) for step in (1, 2, 3, 4)]
