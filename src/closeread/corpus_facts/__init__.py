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


def load_facts(corpus: str, definition: str = "document") -> Facts:
    """What counts the records of a corpus: `facts` of its module, or `NAME_facts` for those that are no `document`.

    Args:
        corpus: its name.
        definition: what the records are by the corpus's schema.

    Raises:
        RequestError: nothing does.
    """
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    if corpus not in names:
        raise RequestError(unknown("figures of", corpus, names))
    module = importlib.import_module(f"{__name__}.{corpus}")
    facts = getattr(module, "facts" if definition == "document" else f"{definition}_facts", None)
    if facts is None:
        raise RequestError(f"no figures of the records of {corpus} that are no gold")
    return cast(Facts, facts)
