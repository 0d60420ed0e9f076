"""Predicting with models of torch, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils.data import DataLoader

from closeread.neural.devices import Hardware
from closeread.progress import report_progress

Batch = Mapping[str, torch.Tensor]
Outputs = Sequence[Batch]
"""What a model returns for each batch of examples."""


def predict_batches(
    model: Any,
    examples: Sequence[Any],
    collate: Callable[[Sequence[Any]], Batch],
    batch_size: int,
    hardware: Hardware,
) -> Outputs:
    """Return what a model returns for each batch of examples, in their order, on the CPU."""
    model.eval()
    predicted: list[Batch] = []
    for batch in DataLoader(examples, batch_size, collate_fn=collate):
        inputs = {name: tensor.to(hardware.device) for name, tensor in batch.items()}
        with torch.inference_mode(), use_precision(hardware):
            outputs = model(**inputs)
        predicted.append({name: tensor.cpu() for name, tensor in outputs.items()})
        n_predicted = min(len(predicted) * batch_size, len(examples))
        report_progress("predicting", n_predicted, len(examples))
    return predicted


def use_precision(hardware: Hardware) -> Any:
    """Return a context in which matrices are multiplied as precisely as wanted."""
    return torch.autocast(
        torch.device(hardware.device).type,
        dtype=torch.bfloat16,
        enabled=hardware.precision == "bfloat16",
    )
