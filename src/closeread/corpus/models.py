"""Trained models of a task: the module `models` offers `MODELS`, for `closeread.train` and `closeread.predict`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from closeread.counts.results import Result
from closeread.exceptions import RequestError
from closeread.records import Record
from closeread.wording import name_option

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


def check_dropout(dropout: float | None) -> None:
    """Check the dropout inside an encoder.

    Raises:
        RequestError: it is no share of the values that are dropped.
    """
    if dropout is not None and not 0 <= dropout < 1:
        raise RequestError(f"encoder_dropout is {dropout} (expected a number from 0 to less than 1)")


def place_golds(
    splits: Mapping[str, str | None], given: Mapping[str, tuple[Any, str | None]], config: Any, data_dir: Any
) -> dict[str, dict[str, Any] | None]:
    """Return what to read for each role of `Models.splits`, as keywords of a place; None where nothing is read.

    Args:
        splits: as in `Models`.
        given: files or rows of one's own, and the name of a split, by role; None for what is not given.
        config, data_dir: of the splits; what is one's own is in none.

    Raises:
        RequestError: a role is given twice, or there is no split for the config or the folder.
    """
    places: dict[str, dict[str, Any] | None] = {}
    for role, (own, name) in given.items():
        if own is not None and name is not None:
            raise RequestError(f"{role} is given twice: as data and as a split")
        split = name or splits[role]
        if own is not None:
            places[role] = {"gold": own}
        else:
            places[role] = None if split is None else {"config": config, "split": split, "data_dir": data_dir}
    if not any("split" in (place or {}) for place in places.values()):
        for option, value in (("config", config), ("data_dir", data_dir)):
            if value is not None:
                raise RequestError(f"{name_option(option)} has no effect: no split of the corpus is read")
    return places
