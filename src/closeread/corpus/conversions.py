"""Conversions of a task: the module `conversions` offers `CONVERSIONS`, by the names that `closeread convert` has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from closeread.records import Record


class Converted(NamedTuple):
    """What is converted.

    Attributes:
        records: the records, or rows.
        summary: what is converted, in a few words with numbers.
        notices: what a user should know about it, one sentence each.
    """

    records: Sequence[Record]
    summary: str
    notices: Sequence[str] = ()


@dataclass(frozen=True)
class Conversion:
    """A conversion.

    Attributes:
        convert: takes an `Annotator` (the source), the place of the gold if `corpus` is not None, the output path or
            None to write nothing, and options by keyword.
        corpus: the corpus whose gold it needs; None if it needs none.
    """

    convert: Callable[..., Converted]
    corpus: str | None = None
