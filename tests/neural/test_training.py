"""Training, on a linear model of a few numbers."""

import json
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from torch import nn  # noqa: E402

from closeread.exceptions import MissingExtraError, RequestError  # noqa: E402
from closeread.neural import training  # noqa: E402
from closeread.neural.devices import Hardware  # noqa: E402
from closeread.neural.run_files import read_run  # noqa: E402
from closeread.neural.run_folders import RunFolder  # noqa: E402
from closeread.neural.training import Learner, Recorder, make_trainer, train  # noqa: E402
from closeread.parameters import TrainingSettings  # noqa: E402
from closeread.progress import showing_progress  # noqa: E402

N_EXAMPLES = 10
CPU = Hardware("cpu", "float32")
METADATA = {"task": "sums", "model": {}, "data": {}}


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


class Config(transformers.PretrainedConfig):
    model_type = "sum_of_numbers"


class Model(transformers.PreTrainedModel):
    """Learns a sum."""

    config_class = Config

    def __init__(self, config):
        super().__init__(config)
        self.encoder = nn.Linear(3, 4)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(4, 1)
        self.post_init()

    def forward(self, x, labels=None):
        sums = self.head(self.drop(self.encoder(x)))[:, 0]
        if labels is None:
            return {"sums": sums}
        return {"loss": ((sums - labels) ** 2).mean()}


GENERATOR = torch.Generator().manual_seed(1)
EXAMPLES = torch.randn(N_EXAMPLES, 3, generator=GENERATOR)


class Lesson:
    """Learns the examples; scores are those that are given in advance, or what the model gets right."""

    def __init__(self, scores=None, scale=1.0):
        self.scores = scores
        self.scale = scale

    def build(self, checkpoint=None):
        model = Model(Config()) if checkpoint is None else Model.from_pretrained(checkpoint)
        return Learner(
            model=model,
            pretrained="encoder.",
            tokenizer=None,
            training=[(number, True) for number in range(N_EXAMPLES)],
            validation=[(number, False) for number in range(N_EXAMPLES)],
            collate=self.collate,
            prediction_batch_size=4,
            score=self.score,
            criterion="score",
        )

    def collate(self, examples):
        x = EXAMPLES[[number for number, _ in examples]]
        if not examples[0][1]:
            return {"x": x}
        return {"x": x, "labels": self.scale * x.sum(1)}

    def score(self, outputs):
        if self.scores:
            return {"score": self.scores.pop(0)}
        sums = torch.cat([output["sums"] for output in outputs])
        assert len(sums) == N_EXAMPLES
        return {"score": 1 / (1 + float(((sums - EXAMPLES.sum(1)) ** 2).mean()))}


def run(folder, lesson=None, settings=SETTINGS, *, resume=False):
    lesson = lesson or Lesson()
    train(RunFolder(folder), METADATA, settings, lesson.build, resume=resume)
    return read_run(folder)


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


def without_time(described):
    epochs = [{**epoch, "seconds": 0} for epoch in described["epochs"]]
    return {**described, "epochs": epochs, "seconds": 0}


@pytest.fixture
def stop_after(monkeypatch):
    """End the process after an epoch, before or after it is recorded."""

    def stop(number, *, recorded):
        record = Recorder.on_save

        def on_save(self, args, state, control, **options):
            ends = round(state.epoch) == number
            if not ends or recorded:
                record(self, args, state, control, **options)
            if ends:
                raise KeyboardInterrupt

        monkeypatch.setattr(Recorder, "on_save", on_save)

    return stop


def test_the_loss_falls(tmp_path):
    described = run(tmp_path / "run")
    losses = [epoch["loss"] for epoch in described["epochs"]]
    assert losses[-1] < losses[0]
    assert [epoch["number"] for epoch in described["epochs"]] == [1, 2, 3, 4, 5, 6]
    assert described["state"] == "complete"
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "config.json",
        "model.safetensors",
        "run.json",
    ]


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("number", [1, 3, 6])
def test_a_resumed_run_is_the_uninterrupted_one_to_the_last_bit(
    number, recorded, tmp_path, stop_after, monkeypatch
):
    whole = run(tmp_path / "whole")
    stop_after(number, recorded=recorded)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "resumed")
    monkeypatch.undo()
    torch.manual_seed(99)
    resumed = run(tmp_path / "resumed", resume=True)
    assert weights(tmp_path / "resumed") == weights(tmp_path / "whole")
    assert without_time(resumed) == without_time(whole)


def test_a_checkpoint_that_is_not_whole_is_left_aside(tmp_path, stop_after, monkeypatch):
    whole = run(tmp_path / "whole")
    stop_after(2, recorded=True)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "resumed")
    monkeypatch.undo()
    for number, text in ((97, None), (98, ""), (99, '{"global_step":')):
        folder = tmp_path / "resumed" / f"checkpoint-{number}"
        folder.mkdir()
        if text is not None:
            (folder / "trainer_state.json").write_text(text, "utf-8")
    assert without_time(run(tmp_path / "resumed", resume=True)) == without_time(whole)
    assert weights(tmp_path / "resumed") == weights(tmp_path / "whole")


def test_other_seeds_are_other_runs(tmp_path):
    run(tmp_path / "4")
    run(tmp_path / "5", settings=replace(SETTINGS, seed=5))
    assert weights(tmp_path / "4") != weights(tmp_path / "5")


def make(folder, lesson, settings):
    """The trainer of a run that has begun."""
    run_folder = RunFolder(folder)
    described = run_folder.open(METADATA, settings, resume=False)
    learner = lesson.build()
    return make_trainer(run_folder, described, learner, settings, CPU, settings.epochs)


class Watcher(transformers.TrainerCallback):
    """Notes the learning rates with which steps are made."""

    def __init__(self):
        self.rates = []

    def on_pre_optimizer_step(self, args, state, control, optimizer, **_):
        self.rates.append([group["lr"] for group in optimizer.param_groups])


def test_learning_rates_rise_and_fall(tmp_path):
    # 4 steps an epoch, 24 in all; a fifth of them, rounded up, is 5.
    settings = replace(SETTINGS, learning_rate=0.01, head_learning_rate=0.1)
    trainer = make(tmp_path / "run", Lesson(), settings)
    watcher = Watcher()
    trainer.add_callback(watcher)
    trainer.train()
    shares = [step / 5 if step < 5 else (24 - step) / (24 - 5) for step in range(24)]
    # The weight and the bias of the encoder, then those of the head.
    expected = [[share * peak for peak in (0.01, 0.01, 0.1, 0.1)] for share in shares]
    np.testing.assert_allclose(watcher.rates, expected)


def test_only_matrices_decay(tmp_path):
    optimizer = make(tmp_path / "run", Lesson(), SETTINGS).optimizer
    groups = [
        ([tuple(parameter.shape) for parameter in group["params"]], group["weight_decay"])
        for group in optimizer.param_groups
    ]
    assert groups == [([(4, 3)], 0.01), ([(4,)], 0.0), ([(1, 4)], 0.01), ([(1,)], 0.0)]


class GradientNorm(transformers.TrainerCallback):
    """Notes the norm of the gradient with which a step is made."""

    def __init__(self):
        self.norms = []

    def on_pre_optimizer_step(self, args, state, control, model, **_):
        squares = [float((p.grad**2).sum()) for p in model.parameters() if p.grad is not None]
        self.norms.append(sum(squares) ** 0.5)


@pytest.mark.parametrize(("scale", "is_clipped"), [(1000.0, True), (1e-3, False)])
def test_large_gradients_are_clipped(scale, is_clipped, tmp_path):
    """A step with a large gradient is made with one of norm 1; smaller ones stay as they are."""
    torch.manual_seed(0)
    trainer = make(tmp_path / "run", Lesson(scale=scale), replace(SETTINGS, epochs=1))
    if not is_clipped:
        with torch.no_grad():
            for parameter in trainer.model.parameters():
                parameter *= 0.01
    watcher = GradientNorm()
    trainer.add_callback(watcher)
    trainer.train()
    assert len(watcher.norms) == 4
    if is_clipped:
        assert watcher.norms == pytest.approx([1.0] * 4, rel=1e-4)
    else:
        assert max(watcher.norms) < 1


@pytest.mark.parametrize(
    ("scores", "n_epochs", "best"),
    [
        ([0.5, 0.4, 0.5, 0.5, 0.6, 0.7], 4, 1),  # an equal score is no better one
        ([0.1, 0.2, 0.1, 0.3, 0.2, 0.1], 6, 4),
        ([None, None, 0.0, None, None, None], 6, 3),
        ([None, None, None, None, None, None], 4, 1),
    ],
)
def test_training_stops_without_a_better_score(scores, n_epochs, best, tmp_path):
    described = run(tmp_path / "run", Lesson(scores=list(scores)), replace(SETTINGS, patience=3))
    assert [epoch["scores"]["score"] for epoch in described["epochs"]] == scores[:n_epochs]
    assert described["best"]["epoch"] == best


def test_the_weights_are_those_of_the_best_epoch(tmp_path, stop_after):
    scores = [0.1, 0.9, 0.2, 0.3]
    settings = replace(SETTINGS, patience=2)
    described = run(tmp_path / "long", Lesson(scores=list(scores)), settings)
    assert (described["best"]["epoch"], len(described["epochs"])) == (2, 4)
    stop_after(2, recorded=True)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "short", Lesson(scores=list(scores)), settings)
    assert weights(tmp_path / "long") == weights(tmp_path / "short")


def test_a_run_that_ended_after_its_last_epoch_learns_no_more(tmp_path, stop_after, monkeypatch):
    settings = replace(SETTINGS, patience=2)
    scores = [0.5, 0.4, 0.3, 0.9, 0.9, 0.9]
    stop_after(3, recorded=True)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", Lesson(scores=list(scores)), settings)
    monkeypatch.undo()
    described = run(tmp_path / "run", Lesson(scores=[0.9] * 3), settings, resume=True)
    assert [epoch["scores"]["score"] for epoch in described["epochs"]] == [0.5, 0.4, 0.3]
    assert (described["best"]["epoch"], described["state"]) == (1, "complete")


def test_progress_tells_every_step(tmp_path):
    messages = []
    with showing_progress(lambda *message: messages.append(message)):
        run(tmp_path / "run", settings=replace(SETTINGS, epochs=2))
    steps = [message for message in messages if message[0].startswith("epoch")]
    assert steps == [(f"epoch {epoch}, step", step, 4) for epoch in (1, 2) for step in (1, 2, 3, 4)]


def test_losses_and_scores_reach_a_tracker(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    settings = replace(SETTINGS, epochs=2, report_to="tensorboard")
    described = run(tmp_path / "run", settings=settings)
    (log,) = (tmp_path / "run").rglob("events.out.tfevents.*")
    events = EventAccumulator(str(log.parent)).Reload()
    scores = [event.value for event in events.Scalars("eval/score")]
    expected = [epoch["scores"]["score"] for epoch in described["epochs"]]
    assert scores == pytest.approx(expected, abs=1e-6)
    losses = [event.value for event in events.Scalars("train/loss")]
    assert losses == pytest.approx([epoch["loss"] for epoch in described["epochs"]], abs=1e-6)


@pytest.mark.parametrize("name", ["tensorboard", "trackio", "wandb"])
def test_a_tracker_is_asked_for_by_name(name, tmp_path, monkeypatch):
    """Without its library, nothing is trained; with it, transformers' own callback is called."""
    with monkeypatch.context() as patch:
        patch.setattr(training, "find_spec", lambda _: None)
        with pytest.raises(MissingExtraError, match=f"{name} needs {name}: pip install {name}"):
            run(tmp_path / "run", settings=replace(SETTINGS, report_to=name))
    assert not (tmp_path / "run").exists()
    logged = []

    class Tracker(transformers.TrainerCallback):
        def on_log(self, args, state, control, logs, **_):
            logged.append(dict(logs))

    integrations = transformers.integrations.integration_utils.INTEGRATION_TO_CALLBACK
    monkeypatch.setitem(integrations, name, Tracker)
    monkeypatch.setattr(training, "find_spec", lambda _: True)
    run(tmp_path / "run", settings=replace(SETTINGS, epochs=2, report_to=name))
    assert [log["epoch"] for log in logged if "loss" in log] == [1, 2]
    assert [log["epoch"] for log in logged if "eval_score" in log] == [1, 2]


def test_another_device_than_the_trainers_is_refused(tmp_path):
    learner = Lesson().build()
    with pytest.raises(RequestError, match=r"training runs on cpu, not on meta \(CUDA_VISIBLE"):
        make_trainer(
            RunFolder(tmp_path), {}, learner, SETTINGS, Hardware("meta", "float32"), n_epochs=1
        )


def test_a_run_without_anything_to_learn_from_stays_untrained(tmp_path):
    lesson = Lesson()
    build = lesson.build
    lesson.build = lambda checkpoint: replace(build(checkpoint), training=[])
    described = run(tmp_path / "run", lesson)
    assert (described["best"]["epoch"], described["epochs"]) == (0, [])
    assert json.loads((tmp_path / "run/config.json").read_text("utf-8"))["model_type"] == (
        "sum_of_numbers"
    )
