"""The module `facts` of a task: figures of its records, as printed by `closeread stats` and in papers' tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from closeread.corpora.gold import load_corpus
from closeread.errors import RequestError
from closeread.records import Record
from closeread.tasks import find

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
    module = find(load_corpus(corpus).procedure, "facts")
    if module is None:
        raise RequestError(f"no figures of {corpus}")
    facts = getattr(module, "facts" if definition == "document" else f"{definition}_facts", None)
    if facts is None:
        raise RequestError(f"no figures of the records of {corpus} that are no gold")
    return cast(Facts, facts)
