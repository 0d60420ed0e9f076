"""The JSON of a report, a file format: its structure, and how it is read.

Scores are ratios between 0 and 1, null where they are 0/0 and no convention gives a value, and never NaN.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from closeread.counts.results import FORMAT
from closeread.exceptions import FieldPath, FormatError, Problem
from closeread.json_schema import convert, find_unsafe
from closeread.records import IntervalKind, check_format

Count = Annotated[int, Meta(ge=0, le=2**53 - 1)]
"""A number that every reader of JSON can represent."""

Score = Annotated[float, Meta(ge=0)]
Sum = Annotated[float, Meta(ge=0, lt=2**53)]
Name = Annotated[str, Meta(max_length=200)]
Text = Annotated[str, Meta(max_length=2000)]

# CEAF of the reference scorer and of coval can exceed 1 if mentions repeat, and so can CoNLL F1.
MAY_EXCEED_ONE = re.compile(r"coref\|(.*\|)?(duplicates:reference|matching:minimum)\|")


class StoredEstimate(Struct, frozen=True, forbid_unknown_fields=True):
    """A score with its interval, as `Estimate`."""

    value: Score | None
    low: Score | None
    high: Score | None
    undefined: bool


class StoredScores(Struct, frozen=True, forbid_unknown_fields=True):
    """The scores of some units, as `Scores`."""

    n_units: Count
    n_blocks: Count
    scores: dict[str, StoredEstimate]
    counts: dict[str, Sum]


class ReportFile(Struct, frozen=True, kw_only=True):
    """The JSON of a report, with the fields of `Provenance`, `Resampling` and `Scores` beside each other."""

    format: Literal[1]
    closeread: Text
    corpus: Name
    config: Name | None
    split: Name | None
    released: bool | None
    procedure: Name
    procedure_version: Annotated[int, Meta(ge=1)]
    options: dict[str, Name]
    signature: Text
    unit: Name
    n_units: Count
    resampling_unit: Name
    n_blocks: Count
    confidence: Annotated[float, Meta(gt=0, lt=1)]
    n_resamples: Count
    seed: Annotated[int, Meta(ge=0)]
    interval: IntervalKind = "percentile"
    missing: Count
    scores: dict[str, StoredEstimate]
    counts: dict[str, Sum]
    slices: dict[str, dict[str, StoredScores]]
    titles: dict[str, Name] = {}
    preset: Name | None = None
    units: list[dict[str, str | int | float | None]] | None = None


def read_report(content: object, source: object) -> ReportFile:
    """Read the JSON of a report; a FormatError has everything that is wrong with it."""
    check_format(content, FORMAT, source)
    report = convert(ReportFile, content, source)
    problems = [*find_unsafe(content), *find_large_scores(report)]
    if problems:
        raise FormatError(source, problems)
    return report


def find_large_scores(report: Any, path: FieldPath = ()) -> Iterator[Problem]:
    """Yield the scores of JSON with a signature, scores and slices that exceed 1, unless its procedure may do so."""
    if MAY_EXCEED_ONE.match(report.signature):
        return
    parts = [(report.scores, (*path, "scores"))]
    for field, slices in report.slices.items():
        for value, part in slices.items():
            parts.append((part.scores, (*path, "slices", field, value, "scores")))
    for scores, place in parts:
        for metric, score in scores.items():
            for name in ("value", "low", "high"):
                number = getattr(score, name)
                if number is not None and number > 1:
                    yield refuse_score(number, (*place, metric, name))


def refuse_score(number: float, path: FieldPath) -> Problem:
    """Return the problem of a score that exceeds 1."""
    return Problem(f"{number:g} is greater than the maximum of 1", path=path)
