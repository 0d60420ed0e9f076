"""The JSON of a report, a file format: its structure, and how it is read.

Scores are ratios between 0 and 1, null where they are 0/0 and no convention gives a value, and never NaN.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from closeread.counts.estimates import Estimate, Scores
from closeread.counts.results import FORMAT
from closeread.json_schema import convert
from closeread.records import IntervalKind, check_format


class ReportFile(Struct, frozen=True, kw_only=True):
    """The JSON of a report, with the fields of `Provenance`, `Resampling` and `Scores` beside each other."""

    format: Literal[1]
    closeread: str
    corpus: str
    config: str | None
    split: str | None
    released: bool | None
    procedure: str
    procedure_version: int
    options: dict[str, str]
    signature: str
    unit: str
    n_units: int
    resampling_unit: str
    n_blocks: int
    confidence: Annotated[float, Meta(gt=0, lt=1)]
    n_resamples: Annotated[int, Meta(ge=0)]
    seed: Annotated[int, Meta(ge=0)]
    interval: IntervalKind = "percentile"
    missing: int
    scores: dict[str, Estimate]
    counts: dict[str, float]
    slices: dict[str, dict[str, Scores]]
    titles: dict[str, str] = {}
    preset: str | None = None
    groups: dict[str, Scores] = {}
    secondary: dict[str, Any] = {}
    units: list[dict[str, str | int | float | None]] | None = None


def read_report(content: object, source: object) -> ReportFile:
    """Read the JSON of a report; a FormatError has everything that is wrong with it."""
    check_format(content, FORMAT, source)
    return convert(ReportFile, content, source)
