"""One module a corpus; each offers `BASELINES`, from names to what makes a row for every gold record."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from closeread.records import Record


@dataclass(frozen=True)
class Resources:
    """What a baseline may make use of beside the gold records.

    Attributes:
        rng: a source of randomness.
        spacy_model: the name or the folder of a spaCy pipeline; None where none was named.
        articles: a folder of texts, `<title>.txt`; None where none was named.
    """

    rng: np.random.Generator
    spacy_model: str | None = None
    articles: Path | None = None


Baseline = Callable[[Sequence[Record], Resources], list[Record]]
"""From gold records and resources to a row for every record, in order."""


def load_baselines(corpus: str) -> Mapping[str, Baseline]:
    """The baselines of a corpus by name; none where it has no module here."""
    if corpus not in (module.name for module in pkgutil.iter_modules(__path__)):
        return {}
    return cast(Mapping[str, Baseline], importlib.import_module(f"{__name__}.{corpus}").BASELINES)
