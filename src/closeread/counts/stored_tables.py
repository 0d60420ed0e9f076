"""Tables of counts, read from the columns of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Floats, Ints
from closeread.counts.arrow_arrays import Texts, list_bytes, list_floats, list_ints, list_texts
from closeread.counts.table import Breakdown, CountTable
from closeread.digests import DIGEST_BYTES

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_NAME = "block_name"
FIELD = "field:"
COUNT = "count:"
UNITS = ""
"""Stands for the units among the names of breakdowns, which are not empty."""


@dataclass(frozen=True)
class StoredColumns:
    """The columns of a file.

    Attributes:
        schema: their names and types.
        chunks: the chunks of each column.
    """

    schema: pa.Schema
    chunks: Sequence[Sequence[pa.Array]]

    def check(self) -> dict[str, Sequence[pa.Array]]:
        """Return the chunks by the column's name.

        Raises:
            ValueError: a name occurs twice, or a column does not have the type that `write_counts` gives it, or has
                unexpected nulls.
        """
        digest = f"fixed_size_binary[{DIGEST_BYTES}]"
        kinds = {"unit": "string", BLOCK_NAME: digest, "block": "int64", FIELD: "string", COUNT: "double"}
        kinds |= {"breakdown": "string", "part": "string", "gold": digest}
        found = dict(zip(self.schema.names, self.chunks, strict=True))
        if len(found) < len(self.chunks):
            raise ValueError("two columns have the same name")
        for column in self.schema:
            kind = next((kind for start, kind in kinds.items() if column.name.startswith(start)), None)
            may_be_null = column.name in (BLOCK_NAME, "breakdown", "part", "gold") or column.name.startswith(COUNT)
            has_null = any(chunk.null_count for chunk in found[column.name])
            if str(column.type) != kind or (has_null and not may_be_null):
                raise ValueError(f"column {column.name} is not a column of {kind}")
        return found


def read_table(
    columns: StoredColumns, breakdowns: dict[str, Sequence[str]], counts: dict[str, Sequence[str]]
) -> CountTable:
    """Read the counts from a file's columns.

    Args:
        columns: the columns.
        breakdowns: the parts of each breakdown.
        counts: the counts of the units, and of each breakdown that has others; empty if all have all counts.

    Raises:
        ValueError: a column does not have the type that `write_counts` gives it, or has unexpected nulls, or rows are
            not those of units and their parts; a KeyError if a column is missing.
    """
    chunks = columns.check()
    values = {name.removeprefix(COUNT): list_floats(own) for name, own in chunks.items() if name.startswith(COUNT)}
    of_units = tuple(name for name in counts.get(UNITS, values) if name in values)
    units, parts, within = (list_texts(chunks[name]) for name in ("unit", "part", "breakdown"))
    n = _count_units(within, breakdowns)
    blocks = list_ints(chunks["block"])[:n].copy()
    known = _list_digests(chunks["gold"], n)
    block_names = _list_digests(chunks[BLOCK_NAME], n) if BLOCK_NAME in chunks else []

    def read_breakdown(name: str) -> Breakdown:
        rows, own = np.flatnonzero(within.codes == within.find(name)), tuple(counts.get(name, ()))
        return Breakdown(
            tuple(breakdowns[name]),
            _place(units.codes[rows], _number(units.codes[:n], len(units.values))),
            _place(parts.codes[rows], _number_parts(parts, breakdowns[name])),
            _stack(values, own or of_units, rows),
            own,
        )

    return CountTable(
        units.take(n),
        blocks,
        of_units,
        _stack(values, of_units, slice(n)),
        {name.removeprefix(FIELD): list_texts(own).take(n) for name, own in chunks.items() if name.startswith(FIELD)},
        {name: read_breakdown(name) for name in breakdowns},
        known,
        block_names,
    )


def _list_digests(chunks: Sequence[pa.Array], n: int) -> list[bytes]:
    """Return the digests of the units, the first rows.

    Raises:
        ValueError: a unit has none.
    """
    known = [digest for digest in list_bytes(chunks, DIGEST_BYTES)[:n] if digest is not None]
    if len(known) < n:
        raise ValueError("a unit has no digest")
    return known


def _count_units(within: Texts, breakdowns: Mapping[str, object]) -> int:
    """Return how many rows are units, given the breakdown of each row.

    Raises:
        ValueError: a breakdown is not after the units, or has an unknown name.
    """
    is_unit = within.codes < 0
    n = int(np.count_nonzero(is_unit))
    if not is_unit[:n].all() or set(within.values) - set(breakdowns) or UNITS in within.values:
        raise ValueError("a breakdown is not after the units, or has an unknown name")
    return n


def _number_parts(parts: Texts, names: Sequence[str]) -> Ints:
    """Return the place among these names of each text, (n_texts,); -1 for the others."""
    number = {name: i for i, name in enumerate(names)}
    return np.array([number.get(text, -1) for text in parts.values], np.int64)


def _number(codes: Ints, n_texts: int) -> Ints:
    """Return the row of each text, (n_texts,); -1 for those in no row."""
    rows = np.full(n_texts, -1)
    rows[codes] = np.arange(len(codes))
    return rows


def _place(codes: Ints, places: Ints) -> Ints:
    """Return the places of texts, given their numbers.

    Raises:
        ValueError: a text is null, or has no place.
    """
    if len(codes) and (codes.min() < 0 or places[codes].min() < 0):
        raise ValueError("a part is of no unit, or has an unknown name")
    return places[codes]


def _stack(columns: Mapping[str, Floats], names: Sequence[str], rows: slice | Ints) -> Floats:
    """Return some rows of some columns side by side."""
    return np.column_stack([columns[name][rows] for name in names])
