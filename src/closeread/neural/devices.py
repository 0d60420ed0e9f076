"""The libraries of trained models, and the device that they run on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from closeread.exceptions import MissingExtraError, RequestError


def check_libraries(purpose: str) -> None:
    """Check that torch and transformers are installed for a purpose, such as "training"."""
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(purpose, "torch", "transformers", extra="neural") from error


def choose_device(name: str | None) -> str:
    """Return a device by name, or the first GPU if there is one, or the CPU."""
    import torch

    if name is None:
        return "cuda:0" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError) as error:  # of an unknown name, and of a library without support for it
        reason = str(error).split("\n", 1)[0]
        raise RequestError(f"device {name!r} can't be used: {reason}") from None
    return name


def choose_precision(name: str, device: str) -> str:
    """Return the precision that "auto", "float32" or "bfloat16" means on a device."""
    import torch

    if name != "auto":
        return name
    return "bfloat16" if device.startswith("cuda") and torch.cuda.is_bf16_supported() else "float32"


@contextmanager
def loading_silently() -> Iterator[None]:
    """Hide the progress bars of transformers, which loads files of the usual sizes in a second, and its warnings.

    These are about parameters that the model's files lack, such as those of a classifier, which is new.
    """
    from transformers.utils import logging

    was_shown, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if was_shown:
            logging.enable_progress_bar()
