"""The libraries of trained models, and the device that they run on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from closeread.exceptions import MissingExtraError, RequestError


def check_libraries(purpose: str) -> None:
    """Check that torch, transformers and accelerate are installed for a purpose, such as "training"."""
    try:
        import accelerate  # noqa: F401
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            purpose, "torch", "transformers", "accelerate", extra="neural"
        ) from error


class Hardware(NamedTuple):
    """Where a trained model runs.

    Attributes:
        device: "cpu", or such as "cuda:0".
        precision: "float32", or "bfloat16".
    """

    device: str
    precision: str


def choose_hardware(device: str | None = None, precision: str = "auto") -> Hardware:
    """Return a device as `choose_device` does, and a precision; "auto" is bfloat16 on GPUs that have it."""
    check_libraries("a trained model")
    import torch

    device = choose_device(device)
    if precision == "auto":
        is_safe = device.startswith("cuda") and torch.cuda.is_bf16_supported()
        precision = "bfloat16" if is_safe else "float32"
    return Hardware(device, precision)


def choose_device(name: str | None) -> str:
    """Return a device by name, or the first GPU if there is one, or the CPU."""
    import torch

    if name is None:
        return "cuda:0" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError) as error:
        # The name is unknown, or the library has no support for such a device.
        reason = str(error).split("\n", 1)[0]
        raise RequestError(f"device {name!r} can't be used: {reason}") from None
    return name


@contextmanager
def loading_silently() -> Iterator[None]:
    """Hide the progress bars of transformers, which loads files of the usual sizes in a second, and its warnings.

    These are about parameters that the model's files lack, such as those of a classifier, which is new.
    """
    from transformers.utils import logging

    was_shown = logging.is_progress_bar_enabled()
    verbosity = logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if was_shown:
            logging.enable_progress_bar()
