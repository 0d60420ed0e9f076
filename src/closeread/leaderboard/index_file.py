"""The file `board.json`, everything that the page of a leaderboard shows: its structure, and how it is read.

All texts in it are untrusted: they are made harmless where they are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from closeread.exceptions import FormatError, Problem
from closeread.formats.json_lines import SURROGATE
from closeread.json_schema import convert
from closeread.leaderboard.store_files import (
    FORMAT,
    BoardName,
    Count,
    StoreFile,
    StoreStruct,
    Time,
    read_json,
)

Number = Annotated[float, Meta(ge=0)]
Ratio = Annotated[float, Meta(ge=0, le=1)]
Fraction = Annotated[float, Meta(gt=0, lt=1)]
Rank = Annotated[int, Meta(ge=1, le=2**53 - 1)]
NumberByName = Mapping[str, float]


class IndexedScore(StoreStruct, frozen=True):
    """A score and its interval; `undefined` says that it is 0/0, set by convention."""

    value: Number | None
    low: Number | None
    high: Number | None
    undefined: bool


class IndexedSlice(StoreStruct, frozen=True):
    """The scores of a part of the units."""

    n_units: Count
    n_blocks: Count
    scores: Mapping[str, IndexedScore]
    counts: NumberByName | None = None


class Standing(StoreStruct, frozen=True):
    """The interval of a system's rank among the systems that have a score.

    Attributes:
        low: 1 + the number of systems that are better for certain.
        high: the number of systems, without those that are worse for certain.
        best: whether no system with the highest score is better for certain.
    """

    low: Rank
    high: Rank
    best: bool


class Flag(StoreStruct, frozen=True):
    """What readers should know about a row: `of` is the id of the original of a duplicate."""

    flag: str
    of: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class IndexRow(StoreStruct, frozen=True):
    """A system or a baseline."""

    kind: Literal["system", "baseline"]
    id: str
    author: str | None
    submitted: Time | None
    source: str | None
    system: str
    model: str | None
    paper: str | None
    code: str | None
    description: str
    scores: Mapping[str, IndexedScore]
    slices: Mapping[str, Mapping[str, IndexedSlice]]
    counts: NumberByName | None
    rank: Standing | None
    flags: Sequence[Flag]
    signature: str
    closeread: str
    record: str | None
    reproduce: str


class OtherRows(StoreStruct, frozen=True):
    """Rows with another signature, which are not comparable."""

    signature: str
    closeread: str
    rows: Sequence[IndexRow]


class PairTests(StoreStruct, frozen=True):
    """The differences of each two of the best systems, in the order of `itertools.combinations`.

    Attributes:
        ids: the systems, best first.
        low: the ends of the interval of each difference, as `high`.
        p: the p-values of the paired randomization test.
        detectable: the smallest difference that is significant in 80% of such test sets, the median of all pairs.
    """

    ids: Sequence[str]
    low: Sequence[float | None]
    high: Sequence[float | None]
    p: Sequence[Ratio | None]
    detectable: Number | UnsetType = UNSET


class Milestone(StoreStruct, frozen=True):
    """A submission that was better than all before."""

    date: Time
    id: str
    value: Number


class IndexedMetric(StoreStruct, frozen=True):
    """A score in words."""

    name: str
    title: str
    description: str


class IndexedLimits(StoreStruct, frozen=True):
    """Those limits of submissions that concern participants."""

    bytes: Count
    rows: Count
    per_day: Count
    total: Count | None


class IndexedBoard(StoreStruct, frozen=True):
    """A board, with its rows in order.

    Attributes:
        superseded: rows that don't count since their authors have later or better ones.
        others: rows with other signatures.
        slices: the values of each field to slice by.
        accepted: the number of submissions that were accepted, as `refused` and `withdrawn`.
    """

    name: BoardName
    title: str
    corpus: str | None
    procedure: str
    config: str | None
    split: str | None
    signature: str
    options: Mapping[str, str]
    gold: Literal["public", "private"]
    unit: str
    n_units: Count
    resampling_unit: str
    n_blocks: Count
    confidence: Fraction
    n_resamples: Count
    seed: Count
    headline: str
    metrics: Annotated[Sequence[IndexedMetric], Meta(min_length=1)]
    slices: Mapping[str, Sequence[str]]
    citation: str
    homepage: str | None
    licence: str | None
    limits: IndexedLimits
    counting: Literal["all", "best", "last", "chosen"]
    late: Literal["refuse", "flag"]
    reveals: Time | None
    rows: Sequence[IndexRow]
    superseded: Sequence[IndexRow]
    others: Sequence[OtherRows]
    pairs: PairTests
    history: Sequence[Milestone]
    accepted: Count
    refused: Count
    withdrawn: Count
    opens: Time | None = None
    closes: Time | None = None


class Index(StoreFile, frozen=True):
    """The content of `board.json`."""

    closeread: str
    title: str
    boards: Sequence[IndexedBoard]


def parse_index(content: bytes, source: object) -> dict[str, Any]:
    """Return the index from its bytes, as JSON; `source` names the file for messages."""
    try:
        index_json = read_json(content, source, SURROGATE)
        convert(Index, index_json, source)
    except FormatError as error:
        advice = Problem("closeread leaderboard judge writes it again")
        raise FormatError(source, [*error.problems, advice]) from None
    return dict(sorted({"format": FORMAT, **index_json}.items()))
