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
from hashlib import sha256
from typing import TypeVar

import numpy as np

from closeread.arrays import Floats, Ints, Mask, mark_run_starts, sum_groups, sum_rows
from closeread.counts.metrics import Columns, Metric
from closeread.digests import DIGEST_BYTES, combine_digests
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
        place = np.full(n_units, -1)
        place[indices] = np.arange(len(indices))
        rows = np.flatnonzero(place[self.unit] >= 0)
        return replace(
            self, unit=place[self.unit[rows]], part=self.part[rows], values=self.values[rows]
        )


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
    """

    units: Sequence[str]
    blocks: Ints
    names: tuple[str, ...]
    values: Floats
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    breakdowns: Mapping[str, Breakdown] = field(default_factory=dict)
    digests: Sequence[bytes] = ()
    block_names: Sequence[bytes] = ()

    def __post_init__(self) -> None:
        """Check the shapes."""
        n, k = len(self.units), len(self.names)
        has_digests = {len(self.digests), len(self.block_names)} <= {0, n}
        if self.values.shape != (n, k) or self.blocks.shape != (n,) or not has_digests:
            raise ValueError(
                f"{n} units do not match blocks {self.blocks.shape} and counts {self.values.shape}"
            )
        if any(len(column) != n for column in self.fields.values()):
            raise ValueError(f"a field does not have one value for each of the {n} units")
        for parts in self.breakdowns.values():
            of_parts = len(parts.names) or k
            if (
                not len(parts.unit) == len(parts.part) == len(parts.values)
                or parts.values.shape[1] != of_parts
            ):
                raise ValueError(
                    f"a breakdown of {of_parts} counts has values of shape {parts.values.shape}"
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

    @property
    def gold_digest(self) -> str:
        """The sha256, in hex, of the gold of all units in any order, so that merged shards have that of the whole."""
        if len(self.digests) != len(self.units):
            raise ValueError("the digests of the units are unknown")
        return combine_digests(self.digests)

    @property
    def totals(self) -> Floats:
        """The sums of the counts of all units, (k,), whatever their order."""
        return sum_rows(self.values)

    def block_totals(self) -> Floats:
        """Return the sums of the counts of every block, (n_blocks, k), in the order of the blocks' numbers."""
        sums = [sum_groups(self.blocks, column, self.n_blocks) for column in self.values.T]
        return np.column_stack(sums) if sums else np.zeros((self.n_blocks, 0))

    def order_blocks(self) -> Ints:
        """Return the numbers of the blocks, (n_blocks,), in the order of the digests of their gold.

        So neither the order of the units in a file nor how shards were merged affects which blocks are drawn together.
        Blocks with the same gold (all, if the digests are unknown) are in the order of the names of their first units.
        """
        gold = self.number_golds()
        order = np.argsort(gold, kind="stable")
        tied = mark_tied(gold[order])
        rows = np.flatnonzero(np.isin(self.blocks, order[tied]))
        names: dict[int, str] = {}
        for block, row in zip(self.blocks[rows].tolist(), rows.tolist(), strict=True):
            names[block] = min(names.get(block, self.units[row]), self.units[row])
        order[tied] = sorted(order[tied].tolist(), key=lambda block: (gold[block], names[block]))
        return order

    def number_golds(self) -> Ints:
        """Number the gold of the blocks in the order of its digests, (n_blocks,); equal gold has equal numbers."""
        if not self.digests:
            return np.zeros(self.n_blocks, np.int64)
        digests = np.array(self.digests, f"S{DIGEST_BYTES}")
        order = np.lexsort((digests, self.blocks))
        starts = np.flatnonzero(mark_run_starts(self.blocks[order]))
        if len(starts) == len(order):
            of_blocks = digests[order]
        else:
            whole = digests[order].tobytes()
            ends = [*starts[1:].tolist(), len(order)]
            parts = [
                whole[i * DIGEST_BYTES : j * DIGEST_BYTES]
                for i, j in zip(starts.tolist(), ends, strict=True)
            ]
            of_blocks = np.array([sha256(part).digest() for part in parts], digests.dtype)
        return np.unique(of_blocks, return_inverse=True)[1].astype(np.int64)

    def scores(self, metrics: Iterable[Metric]) -> dict[str, float | None]:
        """Return the scores of all units by the metric's name; None if undefined."""
        totals = self.totals
        values = {metric.name: float(metric.score(totals, self.names)) for metric in metrics}
        return {name: None if math.isnan(value) else value for name, value in values.items()}

    def select(self, rows: Mask) -> CountTable:
        """Return the rows where the mask is true, with blocks renumbered; the table itself if that is all rows."""
        return self if rows.all() else self._take(np.flatnonzero(rows))

    def _take(self, indices: Ints) -> CountTable:
        """Return the rows of some units, with blocks renumbered, and their rows in breakdowns."""
        _, blocks = np.unique(self.blocks[indices], return_inverse=True)

        def take(values: Sequence[T]) -> list[T]:
            return [values[i] for i in indices.tolist()] if len(values) else []

        return CountTable(
            take(self.units),
            blocks.astype(np.int64),
            self.names,
            self.values[indices],
            {name: take(column) for name, column in self.fields.items()},
            {
                name: parts.select(indices, len(self.units))
                for name, parts in self.breakdowns.items()
            },
            take(self.digests),
            take(self.block_names),
        )

    def with_counts(self, names: Sequence[str]) -> CountTable:
        """Return the table with only these columns; the table itself if they are all of its columns, in order.

        Breakdowns that have counts of their own keep them all.
        """
        if tuple(names) == self.names:
            return self
        places = [self.names.index(name) for name in names]
        breakdowns = {
            name: parts if parts.names else replace(parts, values=parts.values[:, places])
            for name, parts in self.breakdowns.items()
        }
        return replace(
            self, names=tuple(names), values=self.values[:, places], breakdowns=breakdowns
        )

    def slices(self, name: str) -> dict[str, CountTable]:
        """Return a table for each value of a field, in order of first appearance, or for each part of a breakdown."""
        if name in self.breakdowns:
            parts, whole, found = self.breakdowns[name], replace(self, breakdowns={}), {}
            for number, part in enumerate(parts.parts):  # of the units that have any
                rows = np.flatnonzero(parts.part == number)
                rows = rows[np.argsort(parts.unit[rows], kind="stable")]
                if len(rows):
                    names = parts.names or self.names
                    found[part] = replace(
                        whole._take(parts.unit[rows]), names=names, values=parts.values[rows]
                    )
            return found
        if name not in self.fields:
            known = [*self.fields, *self.breakdowns]
            raise RequestError(describe_unknown("field to slice by", name, known))
        numbers, values = factorize(self.fields[name])
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(1, len(values) + 1))
        groups = np.split(order, ends)[:-1]
        return dict(zip(values, map(self._take, groups), strict=True))


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
    fields = [name for name in tables[0].fields if all(name in table.fields for table in tables)]
    breakdowns = [
        name for name in tables[0].breakdowns if all(name in table.breakdowns for table in tables)
    ]
    columns = {
        (table.names, *(table.breakdowns[name].names for name in breakdowns)) for table in tables
    }
    if len(columns) > 1:
        raise ValueError("the tables have different counts")
    units = [unit for table in tables for unit in table.units]
    if len(set(units)) < len(units):
        (twice, _), *_ = Counter(units).most_common(1)
        raise ValueError(f"unit {quote(twice)} is in several tables")
    are_known = all(len(table.digests) == len(table.units) for table in tables)
    first_unit = np.cumsum([0] + [len(table.units) for table in tables[:-1]]).tolist()
    first_block = np.cumsum([0] + [table.n_blocks for table in tables[:-1]]).tolist()
    blocks = np.concatenate(
        [table.blocks + start for table, start in zip(tables, first_block, strict=True)]
    )
    are_named = all(len(table.block_names) == len(table.units) for table in tables)
    block_names = [name for table in tables for name in table.block_names] if are_named else []
    return CountTable(
        units,
        factorize(block_names)[0] if are_named else blocks,
        tables[0].names,
        np.concatenate([table.values for table in tables]),
        {name: [v for table in tables for v in table.fields[name]] for name in fields},
        {
            name: _merge_breakdowns([table.breakdowns[name] for table in tables], first_unit)
            for name in breakdowns
        },
        [digest for table in tables for digest in table.digests] if are_known else (),
        block_names,
    )


def _merge_breakdowns(breakdowns: Sequence[Breakdown], first_unit: Sequence[int]) -> Breakdown:
    names = list(dict.fromkeys(part for breakdown in breakdowns for part in breakdown.parts))
    number = {name: i for i, name in enumerate(names)}
    part = np.concatenate(
        [np.array([number[name] for name in b.parts], np.int64)[b.part] for b in breakdowns]
    )
    unit = np.concatenate([b.unit + start for b, start in zip(breakdowns, first_unit, strict=True)])
    order = np.lexsort((unit, part))  # as `from_dense`
    values = np.concatenate([b.values for b in breakdowns])[order]
    return Breakdown(tuple(names), unit[order], part[order], values, breakdowns[0].names)
