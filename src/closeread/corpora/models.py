"""Trained models of a task: the module `models` offers `MODELS`, for `closeread.train` and `closeread.predict`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from closeread.counts.results import Result
from closeread.records import Record

__all__ = ["Models", "Progress"]

Progress = Callable[[str, int, int], None]
"""Is called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class Models:
    """What can be trained for a task.

    Attributes:
        defaults: of the numbers in `closeread.neural.training.Setting` that users set, by name.
        splits: of the corpus that models learn from ("training"), are chosen by ("validation") and are scored on
            ("test") unless users say otherwise; None where nothing is read.
        train: trains.  Takes the gold by the names of `splits` (None where there is none), the folder of the run and
            the setting, then options by keyword.
        predict: predicts rows of a submission.  Takes the gold, the folder of the run, if there is one, and a function
            from the name of a split of the same corpus to its gold, then options by keyword, `device` and `precision`
            among them.
    """

    defaults: Mapping[str, float]
    splits: Mapping[str, str | None]
    train: Callable[..., Result]
    predict: Callable[..., Sequence[Record]]
