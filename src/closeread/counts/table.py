"""Tables of counts, from which all scores, intervals and comparisons are computed.

A procedure turns gold and system into a `CountTable` with a row for each unit.  Rows are summed, and a `Metric`
computes a score from the sums.  Intervals, paired tests, slices and merging need nothing else: they sum the rows with
other weights.  Ratios are never stored; a mean is a ratio of two counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import chain
from typing import TypeVar

import numpy as np

from closeread.arrays import Floats, Ints, Mask, mark_run_starts, sum_groups, sum_rows
from closeread.counts.metrics import Columns, Metric, by_name
from closeread.digests import DIGEST_BYTES
from closeread.exceptions import RequestError, describe_unknown, quote

S = TypeVar("S", str, bytes)
T = TypeVar("T")


@dataclass(frozen=True)
class Breakdown:
    """Counts of parts of units, such as the links of each preposition in each document, as sparse rows.

    Attributes:
        parts: the names of the parts, in order.
        unit: (m,) the row of the table that each row belongs to.
        part: (m,) the part that each row counts, as an index into `parts`; no two rows have the same unit and part.
        values: (m, k) the counts of each row, not all 0.
        names: (k,) the names of its counts; empty if they are those of the table.
    """

    parts: tuple[str, ...]
    unit: Ints
    part: Ints
    values: Floats
    names: tuple[str, ...] = ()

    @classmethod
    def from_dense(
        cls, parts: Sequence[str], values: Floats, names: Sequence[str] = ()
    ) -> Breakdown:
        """Make a breakdown from counts (n_parts, n_units, k), without rows of zeros."""
        part, unit = np.nonzero(values.any(axis=2))
        return cls(tuple(parts), unit, part, values[part, unit], tuple(names))

    def select(self, indices: Ints, n_units: int) -> Breakdown:
        """Return the rows of some units, which are renumbered in the given order."""
        new_number = np.full(n_units, -1)
        new_number[indices] = np.arange(len(indices))
        rows = np.flatnonzero(new_number[self.unit] >= 0)
        units = new_number[self.unit[rows]]
        return replace(self, unit=units, part=self.part[rows], values=self.values[rows])

    def take_part(self, part: int) -> tuple[Ints, Floats]:
        """Return the units that have a part, (n,), and its counts in each of them, (n, k)."""
        rows = np.flatnonzero(self.part == part)
        rows = rows[np.argsort(self.unit[rows], kind="stable")]
        return self.unit[rows], self.values[rows]


@dataclass(frozen=True)
class CountTable:
    """Counts of every unit.

    Attributes:
        units: (n,) the ids of the units, the smallest that are reported.
        blocks: (n,) int64, the block of each unit, numbered from 0 without gaps; units of a block are resampled
            together.
        names: (k,) the names of the counts.
        values: (n, k) float64, the counts.
        fields: properties of the units to slice by, each (n,).
        breakdowns: counts of parts of units to slice by, by the name of the field, such as `preposition`.
        digests: (n,) the sha256 of each unit's gold; empty if unknown.
        block_names: (n,) the sha256 of the name of each unit's block, by which shards that share a block are merged;
            empty if unknown.
        groups: (n,) the group of each unit, if scores are means of those of groups; otherwise empty.
    """

    units: Sequence[str]
    blocks: Ints
    names: tuple[str, ...]
    values: Floats
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    breakdowns: Mapping[str, Breakdown] = field(default_factory=dict)
    digests: Sequence[bytes] = ()
    block_names: Sequence[bytes] = ()
    groups: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check the shapes."""
        n_units = len(self.units)
        n_counts = len(self.names)
        has_shape = self.values.shape == (n_units, n_counts) and self.blocks.shape == (n_units,)
        has_digests = {len(self.digests), len(self.block_names), len(self.groups)} <= {0, n_units}
        if not has_shape or not has_digests:
            raise ValueError(
                f"{n_units} units do not match blocks {self.blocks.shape} and counts {self.values.shape}"
            )
        if any(len(column) != n_units for column in self.fields.values()):
            raise ValueError(f"a field does not have one value for each of the {n_units} units")
        for breakdown in self.breakdowns.values():
            n_rows = len(breakdown.unit)
            shape = (n_rows, len(breakdown.names) or n_counts)
            if len(breakdown.part) != n_rows or breakdown.values.shape != shape:
                raise ValueError(
                    f"a breakdown of {shape[1]} counts has values of shape {breakdown.values.shape}"
                )

    @classmethod
    def of_columns(cls, units: Sequence[str], columns: Columns) -> CountTable:
        """Make a table from columns by name, (n,) each; every unit is a block."""
        return cls(
            units, np.arange(len(units)), tuple(columns), np.column_stack(list(columns.values()))
        )

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""
        return int(self.blocks.max(initial=-1)) + 1

    @cached_property
    def group_names(self) -> list[str]:
        """The names of the groups in sorted order, so that the order of units does not matter."""
        return sorted(set(self.groups))

    @cached_property
    def group_numbers(self) -> Ints:
        """The number of the group of each unit, (n,), as an index into `group_names`; 0 without groups."""
        if not self.groups:
            return np.zeros(len(self.units), np.int64)
        number = {name: i for i, name in enumerate(self.group_names)}
        return np.array([number[name] for name in self.groups], np.int64)

    @property
    def totals(self) -> Floats:
        """The sums of the counts of all units, (k,), whatever their order."""
        return sum_rows(self.values)

    def sums(self) -> Columns:
        """Return the sums of the counts by name: of all units, or (n_groups,) of each group."""
        if not self.groups:
            return by_name(self.totals, self.names)
        return by_name(self.group_totals(), self.names)

    def group_totals(self) -> Floats:
        """Return the sums of the counts of every group, (n_groups, k); without groups, of all units as one group."""
        numbers = range(max(1, len(self.group_names)))
        return np.array([sum_rows(self.values[self.group_numbers == number]) for number in numbers])

    def block_totals(self) -> Floats:
        """Return the sums of the counts of every block, (n_blocks, k), in the order of the blocks' numbers."""
        sums = [sum_groups(self.blocks, column, self.n_blocks) for column in self.values.T]
        return np.column_stack(sums) if sums else np.zeros((self.n_blocks, 0))

    def split_blocks(self) -> Floats:
        """Return the sums of the counts of every block in every group, (n_blocks, n_groups, k), or in all as one group."""
        if not self.groups:
            return self.block_totals()[:, None]
        n_groups = len(self.group_names)
        pairs = replace(
            self, blocks=self.blocks * n_groups + self.group_numbers, groups=(), breakdowns={}
        )
        sums = np.zeros((self.n_blocks * n_groups, len(self.names)))
        sums[: pairs.n_blocks] = pairs.block_totals()
        return sums.reshape(self.n_blocks, n_groups, len(self.names))

    def list_strata(self) -> list[tuple[str, Ints]]:
        """Return the blocks that are resampled among themselves, with the name of their group.

        They are those of a group.  All are resampled together, without a name, if there are no two groups, or if a
        block has units of several, as a sentence of McTaco has questions of several categories.
        """
        together = [("", np.arange(self.n_blocks))]
        if len(self.group_names) < 2:
            return together
        pairs = np.unique(np.stack([self.blocks, self.group_numbers]), axis=1)
        if pairs.shape[1] > self.n_blocks:
            return together
        return [
            (name, pairs[0, pairs[1] == number]) for number, name in enumerate(self.group_names)
        ]

    @property
    def can_vary(self) -> bool:
        """Whether a resample can differ from the whole: whether any block can be replaced by another."""
        return any(len(blocks) > 1 for _, blocks in self.list_strata())

    def split_groups(self) -> dict[str, CountTable]:
        """Return a table without groups for each group."""
        tables = {}
        for number, name in enumerate(self.group_names):
            part = self._take(np.flatnonzero(self.group_numbers == number))
            tables[name] = replace(part, groups=())
        return tables

    def order_blocks(self) -> Ints:
        """Return the numbers of the blocks, (n_blocks,), in the order of the digests of their gold.

        So neither the order of the units in a file nor how shards were merged affects which blocks are drawn together.
        Blocks with the same gold (all, if the digests are unknown) are in the order of the names of their first units.
        """
        gold = self.number_golds()
        order = np.argsort(gold, kind="stable")
        is_tied = mark_tied(gold[order])
        rows = np.flatnonzero(np.isin(self.blocks, order[is_tied]))
        first_names: dict[int, str] = {}
        for block, row in zip(self.blocks[rows].tolist(), rows.tolist(), strict=True):
            name = self.units[row]
            first_names[block] = min(first_names.get(block, name), name)

        def sort_key(block: int) -> tuple[int, str]:
            return int(gold[block]), first_names[block]

        order[is_tied] = sorted(order[is_tied].tolist(), key=sort_key)
        return order

    def number_golds(self) -> Ints:
        """Number the gold of the blocks in the order of its digests, (n_blocks,); equal gold has equal numbers."""
        if not self.digests:
            return np.zeros(self.n_blocks, np.int64)
        digests = np.array(self.digests, f"S{DIGEST_BYTES}")
        order = np.lexsort((digests, self.blocks))
        starts = np.flatnonzero(mark_run_starts(self.blocks[order]))
        block_digests = digests[order]
        if len(starts) < len(order):
            ends = [*starts[1:].tolist(), len(order)]
            parts = [
                block_digests[start:end].tobytes()
                for start, end in zip(starts.tolist(), ends, strict=True)
            ]
            block_digests = np.array([sha256(part).digest() for part in parts], digests.dtype)
        return np.unique(block_digests, return_inverse=True)[1].astype(np.int64)

    def scores(self, metrics: Iterable[Metric]) -> dict[str, float | None]:
        """Return the scores of all units by the metric's name; None if undefined."""
        sums = self.sums()
        values = {metric.name: float(metric.score_columns(sums)) for metric in metrics}
        return {name: None if math.isnan(value) else value for name, value in values.items()}

    def select(self, rows: Mask) -> CountTable:
        """Return the rows where the mask is true, with blocks renumbered; the table itself if that is all rows."""
        return self if rows.all() else self._take(np.flatnonzero(rows))

    def _take(self, indices: Ints) -> CountTable:
        """Return the rows of some units, with blocks renumbered, and their rows in breakdowns."""
        _, blocks = np.unique(self.blocks[indices], return_inverse=True)
        rows = indices.tolist()

        def take(values: Sequence[T]) -> list[T]:
            return [values[row] for row in rows] if len(values) else []

        n_units = len(self.units)
        return CountTable(
            take(self.units),
            blocks.astype(np.int64),
            self.names,
            self.values[indices],
            {name: take(column) for name, column in self.fields.items()},
            {
                name: breakdown.select(indices, n_units)
                for name, breakdown in self.breakdowns.items()
            },
            take(self.digests),
            take(self.block_names),
            take(self.groups),
        )

    def with_counts(self, names: Sequence[str]) -> CountTable:
        """Return the table with only these columns; the table itself if they are all of its columns, in order.

        Breakdowns that have counts of their own keep them all.
        """
        if tuple(names) == self.names:
            return self
        columns = [self.names.index(name) for name in names]
        breakdowns = {}
        for name, breakdown in self.breakdowns.items():
            if not breakdown.names:
                breakdown = replace(breakdown, values=breakdown.values[:, columns])
            breakdowns[name] = breakdown
        values = self.values[:, columns]
        return replace(self, names=tuple(names), values=values, breakdowns=breakdowns)

    def slices(self, name: str) -> dict[str, CountTable]:
        """Return a table for each value of a field, in order of first appearance, or for each part of a breakdown."""
        if name in self.breakdowns:
            return self._slice_breakdown(self.breakdowns[name])
        if name not in self.fields:
            names = [*self.fields, *self.breakdowns]
            raise RequestError(describe_unknown("field to slice by", name, names))
        numbers, values = factorize(self.fields[name])
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(1, len(values) + 1))
        groups = np.split(order, ends)[:-1]
        return {value: self._take(rows) for value, rows in zip(values, groups, strict=True)}

    def _slice_breakdown(self, breakdown: Breakdown) -> dict[str, CountTable]:
        """Return a table for each part that any unit has, with the counts of that part."""
        without_breakdowns = replace(self, breakdowns={})
        names = breakdown.names or self.names
        slices = {}
        for number, part in enumerate(breakdown.parts):
            units, values = breakdown.take_part(number)
            if len(units):
                table = without_breakdowns._take(units)
                slices[part] = replace(table, names=names, values=values)
        return slices


def mark_tied(values: Ints) -> Mask:
    """Return a mask of the values of a sorted array that occur several times."""
    is_first = mark_run_starts(values)
    is_tied: Mask = ~(is_first & np.append(is_first[1:], True))
    return is_tied


def factorize(names: Sequence[S]) -> tuple[Ints, list[S]]:
    """Number names from 0 in order of first appearance; return the numbers and the distinct names in that order.

    >>> numbers, distinct = factorize(["b", "a", "b"])
    >>> numbers.tolist(), distinct
    ([0, 1, 0], ['b', 'a'])
    """
    distinct = list(dict.fromkeys(names))
    number = {name: i for i, name in enumerate(distinct)}
    return np.fromiter(map(number.__getitem__, names), np.int64, len(names)), distinct


def merge(tables: Sequence[CountTable]) -> CountTable:
    """Merge the tables of several shards; blocks of the same name are joined.  Without names, all blocks are distinct.

    Fields and breakdowns that a shard lacks, such as the genre of documents without one, are dropped.
    """
    if not tables:
        raise ValueError("no tables to merge")
    fields = _list_common([table.fields for table in tables])
    breakdowns = _list_common([table.breakdowns for table in tables])
    _check_counts(tables, breakdowns)
    units: list[str] = []
    for table in tables:
        units += table.units
    if len(set(units)) < len(units):
        ((repeated, _),) = Counter(units).most_common(1)
        raise ValueError(f"unit {quote(repeated)} is in several tables")
    merged = CountTable(
        units,
        _merge_blocks(tables),
        tables[0].names,
        np.concatenate([table.values for table in tables]),
    )
    joined_fields = {}
    for name in fields:
        joined_fields[name] = _join([table.fields[name] for table in tables])
    return replace(
        merged,
        fields=joined_fields,
        breakdowns={name: _merge_breakdowns(tables, name) for name in breakdowns},
        digests=_join_known([table.digests for table in tables], len(units)),
        block_names=_join_known([table.block_names for table in tables], len(units)),
        groups=_join_known([table.groups for table in tables], len(units)),
    )


def _list_common(columns: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the names that all mappings have, in the order of the first."""
    common = set(columns[0]).intersection(*columns)
    return [name for name in columns[0] if name in common]


def _check_counts(tables: Sequence[CountTable], breakdowns: Sequence[str]) -> None:
    """Check that all tables and their breakdowns have the same counts."""
    columns = set()
    for table in tables:
        names = [table.breakdowns[name].names for name in breakdowns]
        columns.add((table.names, *names))
    if len(columns) > 1:
        raise ValueError("the tables have different counts")


def _merge_blocks(tables: Sequence[CountTable]) -> Ints:
    """Number the blocks of all tables; those of the same name are one block."""
    n_units = sum(len(table.units) for table in tables)
    names = _join_known([table.block_names for table in tables], n_units)
    if names:
        return factorize(names)[0]
    blocks = []
    first_block = 0
    for table in tables:
        blocks.append(table.blocks + first_block)
        first_block += table.n_blocks
    return np.concatenate(blocks)


def _join(parts: Sequence[Sequence[T]]) -> list[T]:
    return list(chain.from_iterable(parts))


def _join_known(parts: Sequence[Sequence[T]], n_units: int) -> list[T]:
    """Return what all units have; nothing if it is unknown for some."""
    joined = _join(parts)
    return joined if len(joined) == n_units else []


def _merge_breakdowns(tables: Sequence[CountTable], name: str) -> Breakdown:
    """Merge a breakdown of several tables."""
    breakdowns = [table.breakdowns[name] for table in tables]
    names = list(dict.fromkeys(_join([breakdown.parts for breakdown in breakdowns])))
    number = {name: index for index, name in enumerate(names)}
    parts = []
    units = []
    first_unit = 0
    for table, breakdown in zip(tables, breakdowns, strict=True):
        new_numbers = np.array([number[name] for name in breakdown.parts], np.int64)
        parts.append(new_numbers[breakdown.part])
        units.append(breakdown.unit + first_unit)
        first_unit += len(table.units)
    part = np.concatenate(parts)
    unit = np.concatenate(units)
    values = np.concatenate([breakdown.values for breakdown in breakdowns])
    order = np.lexsort((unit, part))  # as `from_dense`
    return Breakdown(tuple(names), unit[order], part[order], values[order], breakdowns[0].names)
