"""The folder of a training run: its settings, its scores, and the files needed to predict or to continue.

run.json             the setting, the versions, and the scores of every epoch; written after each
model.safetensors    the parameters after the best epoch, with config.json and the tokenizer, for `from_pretrained`
checkpoint-STEP      the trainer's state after the last epoch, until training is over
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Mapping
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import safetensors
import torch
import transformers

from closeread._version import __version__
from closeread.exceptions import FormatError, Problem, RequestError, name_option
from closeread.files import is_empty_folder
from closeread.formats.json_lines import write_json
from closeread.neural.devices import choose_hardware, loading_silently
from closeread.neural.run_files import COMPLETE, FORMAT, RUN, read_run
from closeread.parameters import TrainingSettings

CHECKPOINTS = "checkpoint-*"
C = TypeVar("C", bound=Any)
NOT_SETTINGS = ("encoder", "encoder_dropout", "report_to")
"""Settings that `run.json` has among the model's, or that change no number."""


class Checkpoint(NamedTuple):
    """What the trainer needs to go on.

    Attributes:
        step: how many steps have been made.
        path: its folder.
        n_epochs: how many epochs are over.
        is_last: whether there would have been no more.
    """

    step: int
    path: Path
    n_epochs: int
    is_last: bool


class RunFolder:
    """A training run on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(
        self, metadata: Mapping[str, Any], settings: TrainingSettings, *, resume: bool
    ) -> dict[str, Any]:
        """Return the content of `run.json`: of the run to continue, or else of a new one, which isn't written yet.

        A folder with another run, or with anything if nothing is to be continued, is refused before a model is loaded.
        """
        setting = _describe_settings(settings)
        if not (resume and (self.path / RUN).exists()):
            if self.path.exists() and not is_empty_folder(self.path):
                expected = f"expected a new folder, or a run for {name_option('resume')}"
                raise RequestError(f"{self.path}: is not an empty folder ({expected})")
            return _describe_run(metadata, setting)
        run = read_run(self.path)
        before = {**run, **run["setting"]}
        different = []
        for name, value in {**metadata, **setting}.items():
            if before.get(name) != value:
                different.append(f"{name} was {before.get(name)!r} and is {value!r}")
        if different:
            raise RequestError(f"{self.path}: holds a different run: {'; '.join(different)}")
        return run

    def write(self, run: Mapping[str, Any]) -> None:
        """Write `run.json`, in a new folder if there is none."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.path / RUN, run)

    def save_model(self, model: transformers.PreTrainedModel, tokenizer: Any) -> None:
        """Write a model for `from_pretrained`, and its tokenizer if it has one."""
        with loading_silently():
            # Else the names of weights depend on where the model was loaded from, and with it the file.
            model.save_pretrained(self.path, save_original_format=False)
        if tokenizer is not None:
            tokenizer.save_pretrained(self.path)

    def complete(self, run: dict[str, Any]) -> None:
        """Note that a run is over, and delete its checkpoints."""
        run["state"] = COMPLETE
        self.write(run)
        for checkpoint in self.path.glob(CHECKPOINTS):
            shutil.rmtree(checkpoint)

    def find_checkpoint(self) -> Checkpoint | None:
        """Return the last checkpoint that is whole; None if there is none.

        The trainer writes its state last, and deletes the checkpoint before only then.
        """
        checkpoints = []
        for path in self.path.glob(CHECKPOINTS):
            try:
                state = json.loads((path / "trainer_state.json").read_text("utf-8"))
            except (OSError, ValueError):
                continue
            control = state["stateful_callbacks"]["TrainerControl"]["args"]
            checkpoint = Checkpoint(
                state["global_step"], path, round(state["epoch"]), control["should_training_stop"]
            )
            checkpoints.append(checkpoint)
        return max(checkpoints, default=None)

    def read_choice(self, choice_class: type[C], name: str) -> C:
        """Return the kind of model that was trained; a run of another kind is refused by its name."""
        try:
            choice: C = choice_class(**read_run(self.path)["model"])
        except TypeError:
            expected = ", ".join(field.name for field in fields(choice_class))
            problem = Problem(f"model: is not {name} (expected {expected})")
            raise FormatError(self.path / RUN, [problem]) from None
        return choice

    def load_model(self, model_class: Any, **options: Any) -> Any:
        """Load the model of the best epoch by `from_pretrained` of a class."""
        try:
            with loading_silently():
                return model_class.from_pretrained(
                    self.path, trust_remote_code=False, use_safetensors=True, **options
                )
        except (OSError, ValueError, RuntimeError, safetensors.SafetensorError) as error:
            reason = str(error).split("\n", 1)[0]
            raise FormatError(
                self.path, [Problem(f"its model can't be loaded: {reason}")]
            ) from None


def _describe_run(metadata: Mapping[str, Any], setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of `run.json` of a run without epochs."""
    run = {"format": FORMAT, "closeread": __version__, **metadata, "setting": setting}
    run["versions"] = {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "transformers": str(transformers.__version__),
        "accelerate": version("accelerate"),
    }
    run["device"] = _name_processor(setting["device"])
    run["threads"] = torch.get_num_threads()
    run["state"] = "training"
    run["epochs"] = []
    return run


def _name_processor(device: str) -> str:
    """Return the model of a GPU or of the CPU."""
    if device.startswith("cuda"):
        return str(torch.cuda.get_device_name(device))
    if device == "cpu":
        return platform.processor() or platform.machine()
    return device


def _describe_settings(settings: TrainingSettings) -> dict[str, Any]:
    """Return the field `setting` of `run.json`: all settings but those of the model, and those that only a task has."""
    names = [field.name for field in fields(TrainingSettings) if field.name not in NOT_SETTINGS]
    values = {name: getattr(settings, name) for name in (*names, "weight_decay", "warmup", "clip")}
    return {**values, **choose_hardware(settings.device, settings.precision)._asdict()}
