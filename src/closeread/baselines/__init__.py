"""One module a corpus; each offers `BASELINES`, from names to what makes a row for every gold record."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np

from closeread.records import Record

Baseline = Callable[[Sequence[Record], np.random.Generator], list[Record]]
"""From gold records and a source of randomness to a row for every record, in order."""


def load_baselines(corpus: str) -> Mapping[str, Baseline]:
    """The baselines of a corpus by name; none where it has no module here."""
    if corpus not in (module.name for module in pkgutil.iter_modules(__path__)):
        return {}
    return cast(Mapping[str, Baseline], importlib.import_module(f"{__name__}.{corpus}").BASELINES)
