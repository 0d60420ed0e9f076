"""Settings of training classifiers of candidate answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from closeread.parameters import Param, TrainingSettings, within

UnitNormalization = Literal["off", "proper", "official"]


@dataclass(frozen=True)
class Settings(TrainingSettings):
    """How to train a classifier of candidate answers.

    Attributes:
        batch_size: Train on batches of N candidate answers.
        held_out: Hold out this share of the sentences, and choose the best epoch by their questions.  [default: 0.1]
        unit_normalization: Rewrite temporal expressions in answers in their most proper unit, as `closeread perturb
            mctaco units` does with this rule.
    """

    held_out: Annotated[float | None, within(0, 1, above=True, below=True), Param(metavar="X")] = None
    unit_normalization: UnitNormalization = "off"
