"""Training by transformers' `Trainer`: every epoch is scored, and the best one is kept in the folder of the run.

On a CPU, the same settings, data and number of threads give the same weights to the last bit, interrupted or not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import safetensors
import torch
import transformers
from transformers.trainer_callback import PrinterCallback

from closeread.exceptions import MissingExtraError, RequestError, name_option
from closeread.neural.devices import Hardware, choose_hardware, loading_silently
from closeread.neural.prediction import Batch, Outputs, predict_batches
from closeread.neural.run_files import COMPLETE
from closeread.neural.run_folders import RunFolder
from closeread.parameters import TrainingSettings
from closeread.progress import report_progress

Scores = Mapping[str, float | None]

EVERY_EPOCH: dict[str, Any] = {
    "eval_strategy": "epoch",
    "save_strategy": "epoch",
    "logging_strategy": "epoch",
    "save_total_limit": 1,
    "restore_callback_states_from_checkpoint": True,
    "logging_nan_inf_filter": False,
    "disable_tqdm": True,
    "remove_unused_columns": False,
}
"""What the trainer does after each epoch, and with batches, whatever it trains."""


@dataclass(frozen=True)
class Learner:
    """A model, and what it learns from.

    Attributes:
        model: all parameters; its `forward` returns the loss if a batch has labels.
        pretrained: how the names of pretrained parameters begin, which have a learning rate of their own.
        tokenizer: what is saved beside the model; None if it reads no texts.
        training: the examples to learn from; empty for a model that stays untrained.
        validation: the examples by which the best epoch is chosen.
        collate: makes a batch of some examples.
        prediction_batch_size: how many examples are predicted at once.
        score: scores the outputs for the validation examples, from 0 to 1.
        criterion: the score by which the best epoch is chosen.
    """

    model: transformers.PreTrainedModel
    pretrained: str
    tokenizer: Any
    training: Sequence[Any]
    validation: Sequence[Any]
    collate: Callable[[Sequence[Any]], Batch]
    prediction_batch_size: int
    score: Callable[[Outputs], Scores]
    criterion: str


class EpochTrainer(transformers.Trainer):
    """A trainer that scores the validation examples as a whole."""

    def __init__(self, learner: Learner, hardware: Hardware, **options: Any) -> None:
        super().__init__(
            model=learner.model,
            train_dataset=learner.training,
            eval_dataset=learner.validation,
            data_collator=learner.collate,
            processing_class=learner.tokenizer,
            **options,
        )
        self._learner = learner
        self._hardware = hardware

    def evaluate(self, *args: Any, **options: Any) -> dict[str, float]:
        """Score the model; an undefined score counts as worse than any other."""
        del args, options
        scores = evaluate(self._learner, self._hardware)
        metrics = {f"eval_{name}": score for name, score in scores.items() if score is not None}
        self.log(dict(metrics))
        self.state.log_history[-1]["scores"] = dict(scores)
        metrics.setdefault(f"eval_{self._learner.criterion}", -1.0)
        # Callbacks, such as early stopping, change the control in place.
        self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


def evaluate(learner: Learner, hardware: Hardware) -> Scores:
    """Score a model on the validation examples."""
    outputs = predict_batches(
        learner.model,
        learner.validation,
        learner.collate,
        learner.prediction_batch_size,
        hardware,
    )
    return learner.score(outputs)


class Recorder(transformers.TrainerCallback):
    """Keeps the best epoch and `run.json` up to date in the folder of a run, and tells the progress.

    What it writes follows from the trainer's checkpoint alone, so a run that ended at any point comes to the same files
    when it is resumed.
    """

    def __init__(self, folder: RunFolder, run: dict[str, Any], learner: Learner) -> None:
        self._folder = folder
        self._run = run
        self._learner = learner
        self._epoch_began = 0.0

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Record the epochs of a run that is resumed."""
        self._record(state)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Note the time."""
        self._epoch_began = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Tell the progress."""
        n_steps = state.max_steps // state.num_train_epochs
        epoch, step = divmod(state.global_step - 1, n_steps)
        report_progress(f"epoch {epoch + 1}, step", step + 1, n_steps)

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Note how long the epoch took."""
        state.log_history[-1]["seconds"] = time.monotonic() - self._epoch_began

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Record the epoch whose checkpoint has been saved."""
        self._record(state)

    def _record(self, state: Any) -> None:
        epochs = list_epochs(state.log_history)
        if not epochs:
            return
        if state.best_global_step == state.global_step:
            self._folder.save_model(self._learner.model, self._learner.tokenizer)
        steps_per_epoch = state.global_step // len(epochs)
        best = epochs[state.best_global_step // steps_per_epoch - 1]
        self._run["epochs"] = epochs
        self._run["best"] = {"epoch": best["number"], **best["scores"]}
        self._run["seconds"] = sum(epoch["seconds"] for epoch in epochs)
        self._folder.write(self._run)


def list_epochs(history: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the epochs of `run.json` from the history of a trainer, which has an entry for losses, and one for scores."""
    epochs = []
    loss = math.nan
    for entry in history:
        loss = entry.get("loss", loss)
        if "scores" in entry:
            epoch = {
                "number": round(entry["epoch"]),
                "loss": loss,
                "scores": entry["scores"],
                "seconds": entry["seconds"],
            }
            epochs.append(epoch)
    return epochs


def train(
    folder: RunFolder,
    metadata: Mapping[str, Any],
    settings: TrainingSettings,
    build_learner: Callable[[Path | None], Learner],
    *,
    resume: bool,
) -> None:
    """Train a model in a folder, or continue the run that is in it, if it is to be resumed and there is one.

    Args:
        folder: the folder of the run.
        metadata: what is trained: the task, the model and the data, in JSON.
        settings: how it is trained.
        build_learner: makes the learner, with the model of a checkpoint if there is one.
        resume: whether to continue.
    """
    check_tracker(settings.report_to)
    hardware = choose_hardware(settings.device, settings.precision)
    run = folder.open(metadata, settings, resume=resume)
    if run["state"] == COMPLETE:
        return
    checkpoint = folder.find_checkpoint()
    start = None if checkpoint is None else checkpoint.path
    transformers.set_seed(settings.seed)
    learner = build_learner(start)
    # Not before: a model that can't be loaded leaves no folder behind.
    folder.write(run)
    if not len(learner.training):
        learner.model.to(hardware.device)
        run["best"] = {"epoch": 0, **evaluate(learner, hardware)}
        run["seconds"] = 0.0
        folder.save_model(learner.model, learner.tokenizer)
    else:
        n_epochs = settings.epochs
        if checkpoint is not None and checkpoint.is_last:
            # A run that ended between its last epoch and the end.
            n_epochs = checkpoint.n_epochs
        trainer = make_trainer(folder, run, learner, settings, hardware, n_epochs)
        learn(trainer, start)
    folder.complete(run)


def learn(trainer: EpochTrainer, checkpoint: Path | None) -> None:
    """Train, from a checkpoint if there is one; an error is raised in words if the disk is full."""
    try:
        with loading_silently():
            trainer.train(None if checkpoint is None else str(checkpoint))
    except (RuntimeError, safetensors.SafetensorError) as error:
        # So torch and safetensors say that a disk is full.
        if "inline_container" in str(error) or isinstance(error, safetensors.SafetensorError):
            reason = f"a checkpoint can't be written: {str(error).splitlines()[0]}"
            raise OSError(None, reason, trainer.args.output_dir) from error
        raise


def check_tracker(name: str) -> None:
    """Check that the library of a tracker is installed."""
    if name != "none" and find_spec(name) is None:
        raise MissingExtraError(f"{name_option('report_to')} {name}", name)


def make_trainer(
    folder: RunFolder,
    run: dict[str, Any],
    learner: Learner,
    settings: TrainingSettings,
    hardware: Hardware,
    n_epochs: int,
) -> EpochTrainer:
    """Make the trainer of a run: AdamW, and learning rates that rise and fall linearly."""
    is_on_cpu = hardware.device == "cpu"
    machine = {
        "use_cpu": is_on_cpu,
        "dataloader_pin_memory": not is_on_cpu,
        "bf16": hardware.precision == "bfloat16",
    }
    reports = {
        "output_dir": str(folder.path),
        "run_name": folder.path.name,
        "report_to": settings.report_to,
        "metric_for_best_model": learner.criterion,
    }
    schedule = {
        "num_train_epochs": n_epochs,
        "per_device_train_batch_size": settings.batch_size,
        "warmup_steps": settings.warmup,  # the share of all steps
        "max_grad_norm": settings.clip,
        "seed": settings.seed,
    }
    arguments = transformers.TrainingArguments(**EVERY_EPOCH, **machine, **reports, **schedule)
    device = torch.device(hardware.device)
    if (device.type, device.index or 0) != (arguments.device.type, arguments.device.index or 0):
        raise RequestError(
            f"training runs on {arguments.device}, not on {device} (CUDA_VISIBLE_DEVICES chooses a GPU)"
        )
    arguments._n_gpu = min(arguments.n_gpu, 1)
    optimizer = torch.optim.AdamW(group_parameters(learner, settings), fused=True)
    stop_early = transformers.EarlyStoppingCallback(settings.patience)
    trainer = EpochTrainer(
        learner,
        hardware,
        args=arguments,
        optimizers=(optimizer, None),
        callbacks=[stop_early, Recorder(folder, run, learner)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def group_parameters(learner: Learner, settings: TrainingSettings) -> list[dict[str, Any]]:
    """Return the groups of the optimizer: pretrained and new parameters, matrices, which decay, and others."""
    groups: dict[tuple[bool, bool], dict[str, Any]] = {}
    for name, parameter in learner.model.named_parameters():
        if not parameter.requires_grad:
            continue
        is_pretrained = name.startswith(learner.pretrained)
        is_matrix = parameter.ndim > 1
        kind = (is_pretrained, is_matrix)
        if kind not in groups:
            rate = settings.learning_rate if is_pretrained else settings.head_learning_rate
            decay = settings.weight_decay if is_matrix else 0.0
            groups[kind] = {"params": [], "lr": rate, "weight_decay": decay}
        groups[kind]["params"].append(parameter)
    return list(groups.values())
