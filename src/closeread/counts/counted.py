"""The counts of a system, where they come from, and the scores of its units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

from closeread.arrays import Floats
from closeread.counts.estimates import number_or_none
from closeread.counts.procedure import Procedure
from closeread.counts.table import CountTable
from closeread.exceptions import pluralize


@dataclass(frozen=True)
class Provenance:
    """What a table of counts was computed from, and how; stored with it.

    Attributes:
        procedure, procedure_version, options: how it was scored, with the values of all options.
        signature: scores with equal signatures are comparable.
        corpus: the corpus whose schema the gold follows.
        config, split: the part of the corpus; None for the user's own gold.
        released: whether the gold is the released one; None if there is no release.
        missing: the number of gold records without a prediction.
    """

    procedure: str
    procedure_version: int
    options: Mapping[str, str]
    signature: str
    corpus: str
    config: str | None
    split: str | None
    released: bool | None
    missing: int


@dataclass(frozen=True)
class Counted:
    """The counts of a system.

    Attributes:
        table: the counts.
        procedure: the procedure that counted.
        provenance: what was counted.
        notices: notices for the user.
    """

    table: CountTable
    procedure: Procedure
    provenance: Provenance
    notices: Sequence[str] = ()


UnitRow = dict[str, str | int | float | None]
"""The id of a unit, its block, fields, scores and counts, by name; a score without a value is None."""


class UnitRows(Sequence[UnitRow]):
    """A row for every unit of a system, made when it is asked for.

    Attributes:
        counted: the counts of the system.
    """

    def __init__(self, counted: Counted) -> None:
        self.counted = counted

    @cached_property
    def _scores(self) -> dict[str, Floats]:
        """The scores of all units, (n,) each, by the metric's name."""
        table = self.counted.table
        return {metric.name: metric.score(table.values, table.names) for metric in self.counted.procedure.metrics}

    def __len__(self) -> int:
        return len(self.counted.table.units)

    @overload
    def __getitem__(self, place: int) -> UnitRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[UnitRow]: ...

    def __getitem__(self, place: int | slice) -> UnitRow | list[UnitRow]:
        """Return the row of a unit by its number, or those of several."""
        numbers = range(len(self))[place]
        return self._make_row(numbers) if isinstance(numbers, int) else [self._make_row(i) for i in numbers]

    def __iter__(self) -> Iterator[UnitRow]:
        return map(self._make_row, range(len(self)))

    def __repr__(self) -> str:
        return f"<{pluralize(len(self), self.counted.procedure.unit)}>"

    def _make_row(self, i: int) -> UnitRow:
        table, unit = self.counted.table, self.counted.procedure.unit
        return {
            unit: table.units[i],
            "block": int(table.blocks[i]),
            **{name: column[i] for name, column in table.fields.items()},
            **{name: number_or_none(float(column[i])) for name, column in self._scores.items()},
            **dict(zip(table.names, table.values[i].tolist(), strict=True)),
        }


def per_unit(counted: Counted) -> list[UnitRow]:
    """Return a row for every unit, with its id, block, fields, scores and counts."""
    return list(UnitRows(counted))
