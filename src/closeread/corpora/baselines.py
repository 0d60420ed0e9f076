"""The module `baselines` of a task offers `BASELINES`, from names to what makes a row for every gold record
that it can be made for.

A module may offer `DEFINITIONS`, from names of definitions to such baselines, where a paper's text and its tables do
not define them alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from closeread.corpora.gold import load_corpus
from closeread.errors import RequestError, describe_unknown, quote
from closeread.records import Record
from closeread.tasks import find


@dataclass(frozen=True)
class Resources:
    """What a baseline may make use of beside the gold records.

    Attributes:
        rng: a source of randomness.
        spacy_model: the name or the folder of a spaCy pipeline; None where none was named.
        articles: a folder of texts, as the corpus has them; None where none was named.
    """

    rng: np.random.Generator
    spacy_model: str | None = None
    articles: Path | None = None


Baseline = Callable[[Sequence[Record], Resources], list[Record]]
"""From gold records and resources to a row for every record that it can be made for, in order."""


def load_baselines(corpus: str, definition: str | None = None) -> Mapping[str, Baseline]:
    """The baselines of a corpus by name; none where its task has none.

    Args:
        corpus: its name.
        definition: how they are defined, where there are several ways; None for the corpus's default.

    Raises:
        RequestError: the corpus's baselines have no such definition.
    """
    module = find(load_corpus(corpus).procedure, "baselines")
    if module is None:
        return {}
    if definition is None:
        return cast(Mapping[str, Baseline], module.BASELINES)
    definitions = cast(Mapping[str, Mapping[str, Baseline]], getattr(module, "DEFINITIONS", {}))
    if not definitions:
        raise RequestError(f"the baselines of {corpus} have one definition each; leave out {quote(definition)}")
    if definition not in definitions:
        raise RequestError(describe_unknown(f"definition of the baselines of {corpus}", definition, list(definitions)))
    return definitions[definition]
