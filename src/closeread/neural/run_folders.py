"""The folder of a training run: its settings, its scores, and the files needed to predict or to continue.

    run.json             the setting, the versions, and the scores of every epoch; written after each
    model.safetensors    the parameters after the best epoch
    checkpoint.pt        the state after the last epoch, until training is over
    encoder/             the configuration and the tokenizer of a pretrained encoder

Conventions: every file is replaced as a whole, so that a run that is interrupted, or whose disk is full, keeps its last
checkpoint.  Nothing that is read back can contain code.
"""

from __future__ import annotations

import pickle
import platform
import stat
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import safetensors
import safetensors.torch
import torch
import transformers
from torch import nn

from closeread._version import __version__
from closeread.exceptions import FormatError, Problem, RequestError, name_option
from closeread.files import is_empty_folder, replacing
from closeread.formats.json_lines import write_json
from closeread.neural.devices import choose_hardware
from closeread.neural.run_files import COMPLETE, FORMAT, RUN, read_run
from closeread.neural.training import Epoch, Learner, State, find_best, train, use_precision
from closeread.parameters import TrainingSettings

WEIGHTS = "model.safetensors"
CHECKPOINT = "checkpoint.pt"
L = TypeVar("L", bound=Learner)


class RunFolder:
    """A training run on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def train(
        self,
        described: Mapping[str, Any],
        settings: TrainingSettings,
        *,
        prepare: Callable[[bool], L],
        save_source: Callable[[L], None],
        resume: bool,
    ) -> None:
        """Train a model in the folder, or continue the run that is in it, if it is to be resumed and there is one.

        Args:
            described: what is trained: the task, the model and the data, in JSON.
            settings: how it is trained.
            prepare: makes the learner, from scratch or of the run in the folder; without anything to learn from, the
                model stays as it is, as epoch 0.
            save_source: writes what the model is loaded from again, besides its parameters.
            resume: whether to continue.
        """
        torch.manual_seed(settings.seed)
        run, state = self._open(described, settings, resume=resume)
        if run is not None and run["state"] == COMPLETE:
            return
        learner = prepare(state is not None)
        if run is None:  # not before: a model that can't be loaded leaves no folder behind
            run = self._begin(described, settings)
        if state is None:
            save_source(learner)
        for after in train(learner, settings, state) if learner.n_items else ():
            self.save(run, learner.model, after, learner.criterion)
        if not learner.n_items:
            learner.model.eval()
            with use_precision(choose_hardware(settings.device, settings.precision)):
                run["best"] = {"epoch": 0, **learner.evaluate()}
            run["seconds"] = 0.0
            self.save_weights(learner.model)
        run["state"] = COMPLETE
        write_json(self.path / RUN, run)
        (self.path / CHECKPOINT).unlink(missing_ok=True)

    def _begin(self, described: Mapping[str, Any], settings: TrainingSettings) -> dict[str, Any]:
        """Create the folder with the description of a run without epochs, and return the content of `run.json`."""
        self._check_new()
        self.path.mkdir(parents=True, exist_ok=True)
        setting = _describe_schedule(settings)
        device = setting["device"]
        if device.startswith("cuda"):
            device = str(torch.cuda.get_device_name(device))
        elif device == "cpu":
            device = platform.processor() or platform.machine()
        run = {
            "format": FORMAT,
            "closeread": __version__,
            **described,
            "setting": setting,
            "versions": {
                "python": platform.python_version(),
                "torch": str(torch.__version__),
                "transformers": str(transformers.__version__),
            },
            "device": device,
            "threads": torch.get_num_threads(),
            "state": "training",
            "epochs": [],
        }
        write_json(self.path / RUN, run)
        return run

    def _check_new(self) -> None:
        if self.path.exists() and not (self.path.is_dir() and is_empty_folder(self.path)):
            expected = f"expected a new folder, or a run for {name_option('resume')}"
            raise RequestError(f"{self.path}: is not an empty folder ({expected})")

    def _open(
        self, described: Mapping[str, Any], settings: TrainingSettings, *, resume: bool
    ) -> tuple[dict[str, Any] | None, State | None]:
        """Return the content of `run.json` and the last state of the run to continue; None for each if there is none.

        A folder with another run, or with anything if nothing is to be continued, is refused before a model is loaded.
        """
        if not (resume and (self.path / RUN).exists()):
            self._check_new()
            return None, None
        run = read_run(self.path)
        before = {**{name: run.get(name) for name in described}, **run["setting"]}
        different = [
            f"{name} was {before.get(name)!r} and is {value!r}"
            for name, value in {**described, **_describe_schedule(settings)}.items()
            if before.get(name) != value
        ]
        if different:
            raise RequestError(f"{self.path}: holds a different run: {'; '.join(different)}")
        return run, self.load_state()

    def save(self, run: dict[str, Any], model: nn.Module, state: State, criterion: str) -> None:
        """Save the state after an epoch.

        The parameters of the best epoch come first, then the checkpoint, then the description: a run that ends in
        between goes on from the checkpoint before, and comes to the same parameters.
        """
        best = find_best(state.epochs, criterion)
        if best is state.epochs[-1]:
            self.save_weights(model)
        checkpoint = {**vars(state), "epochs": [asdict(epoch) for epoch in state.epochs]}
        with replacing(self.path / CHECKPOINT) as partial:
            try:
                with partial.open("wb") as file:
                    torch.save(checkpoint, file)
            except RuntimeError as error:  # torch's own writer says so of a full disk
                raise OSError(None, str(error).split("\n", 1)[0], str(partial)) from error
        run["epochs"] = checkpoint["epochs"]
        run["best"] = {"epoch": best.number, **best.scores}
        run["seconds"] = sum(epoch.seconds for epoch in state.epochs)
        write_json(self.path / RUN, run)

    def save_weights(self, model: nn.Module) -> None:
        """Write the parameters of a model."""
        with replacing(self.path / WEIGHTS) as partial:
            mode = stat.S_IMODE(partial.stat().st_mode)
            # a new file, which only its owner may read
            safetensors.torch.save_model(model, str(partial))
            partial.chmod(mode)

    def load_state(self) -> State | None:
        """Return the state of the checkpoint; None if there is none."""
        path = self.path / CHECKPOINT
        if not path.exists():
            return None
        try:
            checkpoint = torch.load(path, map_location="cpu", weights_only=True)
            epochs = [Epoch(**epoch) for epoch in checkpoint["epochs"]]
            return State(
                epochs, checkpoint["parameters"], checkpoint["optimizer"], checkpoint["random"]
            )
        except (
            RuntimeError,
            EOFError,
            KeyError,
            TypeError,
            ValueError,
            pickle.UnpicklingError,
            OSError,
        ) as error:
            reason = str(error).split("\n", 1)[0]
            raise FormatError(path, [Problem(f"is damaged: {reason}")]) from None

    def load_weights(self, model: nn.Module) -> None:
        """Give a model the parameters of the best epoch."""
        path = self.path / WEIGHTS
        try:
            safetensors.torch.load_model(model, str(path))
        except FileNotFoundError:
            raise FormatError(
                path, [Problem("does not exist (expected the parameters of a trained model)")]
            ) from None
        except (RuntimeError, safetensors.SafetensorError, OSError) as error:
            reason = str(error).split("\n", 1)[0]
            raise FormatError(
                path, [Problem(f"does not fit the model of {RUN}: {reason}")]
            ) from None


def _describe_schedule(settings: TrainingSettings) -> dict[str, Any]:
    """Return the field `setting` of `run.json`: all settings but those of the model, and those that only a task has."""
    names = [
        field.name
        for field in fields(TrainingSettings)
        if field.name not in ("encoder", "encoder_dropout")
    ]
    values = {name: getattr(settings, name) for name in (*names, "weight_decay", "warmup", "clip")}
    return {**values, **choose_hardware(settings.device, settings.precision)._asdict()}
