"""Where gold is and how it is scored, from the arguments of a function: the parameters that operations share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from closeread.exceptions import RequestError
from closeread.parameters import Param, within
from closeread.public_names import AnyFamily, AnyPreset
from closeread.records import FileOrRows, OptionValue

if TYPE_CHECKING:
    from closeread.corpus.declaration import Corpus
    from closeread.counts.procedure import GoldSpec

Predictions = Annotated[FileOrRows, Param(kind="source")]
OwnGold = Annotated[FileOrRows | None, Param(kind="gold")]
Config = Annotated[str | None, Param(kind="gold")]
Split = Annotated[str | None, Param(kind="gold")]
DataDir = Annotated[str | Path | None, Param(kind="gold")]
Metrics = Annotated[AnyFamily | Sequence[AnyFamily] | None, Param(kind="metrics")]
Preset = Annotated[AnyPreset | None, Param(kind="preset")]
Scores = Annotated[str | Sequence[str] | None, Param(kind="scores")]
TestResamples = Annotated[
    int | None,
    within(1),
    Param(help="Number of resamples.  [default: 1000, or more if the correction of p-values needs them]"),
]
ProcedureOptions = Annotated[OptionValue, Param(kind="procedure_options")]


def take_path(value: str | Path | None) -> Path | None:
    """Return a path as such."""
    return None if value is None else Path(value)


def take_place(
    corpus: Corpus,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    options: Mapping[str, OptionValue] | None = None,
) -> GoldSpec:
    """Return where the gold of a corpus is; options are folders of the corpus and options of reading it."""
    from closeread.scoring import make_place

    place, rest = make_place(corpus.name, gold, config, split, data_dir, options)
    if rest:
        raise RequestError(f"unexpected arguments for {corpus.name}: {', '.join(rest)}")
    return place
