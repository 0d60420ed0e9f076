"""One module a corpus: figures of its records, as printed by `closeread stats` and in papers' tables."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import cast

from closeread.errors import RequestError, unknown
from closeread.records import Record

Facts = Callable[[Sequence[Record]], dict[str, float]]
"""From records to figures by name."""


def load_facts(corpus: str) -> Facts:
    """What counts the records of a corpus.

    Raises:
        RequestError: nothing does.
    """
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    if corpus not in names:
        raise RequestError(unknown("figures of", corpus, names))
    return cast(Facts, importlib.import_module(f"{__name__}.{corpus}").facts)
