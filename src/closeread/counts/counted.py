"""The counts of a system, where they come from, the scores of its units, and the merging of shards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

from closeread.arrays import Floats
from closeread.counts.estimates import number_or_none
from closeread.counts.procedure import Procedure
from closeread.counts.table import CountTable, merge
from closeread.digests import combine_digests
from closeread.exceptions import RequestError, escape, pluralize


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


def merge_counts(parts: Sequence[Counted], names: Sequence[str]) -> Counted:
    """Merge the counts of shards, whatever blocks they share: units, blocks, breakdowns, and the digest of the gold.

    Args:
        parts: the counts of each shard, by one procedure.
        names: the names of the shards in messages.

    Raises:
        RequestError: they do not belong together: options or versions differ, or two of them have the same unit; or a
            file is too old to say which units of two shards are resampled together.
    """
    first = parts[0].provenance
    for part, name in zip(parts[1:], names[1:], strict=True):
        other = part.provenance
        for what in ("procedure", "procedure_version", "corpus", "options"):
            if getattr(other, what) != getattr(first, what):
                found = f"{name} has {what.replace('_', ' ')} {_format_value(getattr(other, what))}"
                expected = f"expected {_format_value(getattr(first, what))}, as in {names[0]}"
                raise RequestError(f"cannot merge these counts: {found} ({expected})")
    procedure = parts[0].procedure
    old = [name for part, name in zip(parts, names, strict=True) if not part.table.block_names]
    if old and len(parts) > 1 and procedure.unit != procedure.resampling_unit:
        lacks = (
            f"{old[0]} does not say which {procedure.unit}s share a {procedure.resampling_unit} with those of others"
        )
        raise RequestError(f"cannot merge these counts: {lacks}, since an earlier version wrote it; score again")
    try:
        table = merge([part.table for part in parts])
    except ValueError as error:
        raise RequestError(f"cannot merge these counts: {error}") from None
    digest = combine_digests(table.digests)
    same = {
        what: _find_common({getattr(part.provenance, what) for part in parts})
        for what in ("config", "split", "released")
    }
    provenance = replace(
        first,
        signature=parts[0].procedure.signature(first.options, digest),
        missing=sum(part.provenance.missing for part in parts),
        **same,
    )
    return Counted(table, parts[0].procedure, provenance, _note_dropped(parts, table))


def _note_dropped(parts: Sequence[Counted], merged: CountTable) -> list[str]:
    """Note the fields that only some of the shards can be sliced by."""
    slicing = dict.fromkeys(name for part in parts for name in (*part.table.fields, *part.table.breakdowns))
    dropped = [name for name in slicing if name not in merged.fields and name not in merged.breakdowns]
    return [f"the merged counts can't be sliced by {', '.join(dropped)}: only some files can"] if dropped else []


def _format_value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}:{choice}" for name, choice in value.items())
    return escape(str(value))


def _find_common(values: set[Any]) -> Any:
    """Return the value that all have; None if there are several values."""
    return next(iter(values)) if len(values) == 1 else None
