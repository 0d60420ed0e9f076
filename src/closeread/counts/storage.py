"""Counts as Parquet, with their provenance, to be compared and merged later.

Conventions: a row is a unit or, if `breakdown` is not null, a part of a unit.  Columns are `unit`, `block`, `group` (only
if scores are means over groups), `gold` (the sha256 of the unit's gold), `block_name` (that of the block's name; only
where a block may have several units), `breakdown`, `part`, `field:…` and `count:…`; the provenance is metadata.  A count
is null in the rows that do not have it: a breakdown may have other counts than the units.

Columns are made of buffers, and read from them: otherwise pyarrow imports pandas, which takes as long as scoring does.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from closeread.arrays import Floats
from closeread.counts.report import Provenance
from closeread.counts.table import Breakdown, CountTable
from closeread.digests import DIGEST_BYTES
from closeread.exceptions import FormatError, Problem, RequestError, choose_words
from closeread.records import check_format

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

FORMAT = 1
"""The number of the file format."""

METADATA_KEY = b"closeread"
BLOCK_NAME = "block_name"
GROUP = "group"
FIELD_PREFIX = "field:"
COUNT_PREFIX = "count:"

OF_UNITS = ""
"""Stands for the units among the names of breakdowns, which are not empty."""


def may_be_counts(path: Path) -> bool:
    """Tell whether a Parquet file is one of counts, or a damaged one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return METADATA_KEY in (pq.read_schema(path).metadata or {})
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError, pa.ArrowException):
        return True


def name_writer() -> str:
    """Name the command or method that writes counts, for messages."""
    return choose_words("`closeread score --counts`", "counts= of closeread.score")


def encode_counts(table: CountTable, provenance: Provenance) -> bytes:
    """Return counts as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = _make_columns(table)
    # The rows do not show the order of the parts, nor breakdowns without counts.
    metadata: dict[str, Any] = {
        "format": FORMAT,
        **asdict(provenance),
        "breakdowns": {name: breakdown.parts for name, breakdown in table.breakdowns.items()},
    }
    names_by_breakdown = {
        name: breakdown.names for name, breakdown in table.breakdowns.items() if breakdown.names
    }
    if names_by_breakdown:
        metadata["counts"] = {OF_UNITS: table.names, **names_by_breakdown}
    file = io.BytesIO()
    arrow = pa.table(columns).replace_schema_metadata({METADATA_KEY: json.dumps(metadata)})
    pq.write_table(arrow, file, write_page_checksum=True)
    return file.getvalue()


def _make_columns(table: CountTable) -> dict[str, pa.Array]:
    """Return the columns of the file: the rows of the units, followed by those of each breakdown."""
    import pyarrow as pa

    n_units = len(table.units)
    rows = list(range(n_units))  # the unit of each row
    names: list[str | None] = [None] * n_units  # its breakdown and its part
    parts: list[str | None] = [None] * n_units
    count_names = dict.fromkeys(table.names)
    for name, breakdown in table.breakdowns.items():
        rows += breakdown.unit.tolist()
        names += [name] * len(breakdown.unit)
        parts += [breakdown.parts[part] for part in breakdown.part.tolist()]
        count_names |= dict.fromkeys(breakdown.names)
    columns = {
        "unit": _encode_texts([table.units[row] for row in rows]),
        "block": _make_array(pa.int64(), np.ones(len(rows)), table.blocks[rows]),
    }
    if table.block_names:
        columns[BLOCK_NAME] = _encode_digests(table.block_names, len(rows))
    if table.groups:
        columns[GROUP] = _encode_texts([table.groups[row] for row in rows])
    columns["gold"] = _encode_digests(table.digests, len(rows))
    columns["breakdown"] = _encode_texts(names)
    columns["part"] = _encode_texts(parts)
    for name, column in table.fields.items():
        columns[FIELD_PREFIX + name] = _encode_texts([column[row] for row in rows])
    for name in count_names:
        count = _stack_count(table, name)
        columns[COUNT_PREFIX + name] = _make_array(pa.float64(), ~np.isnan(count), count)
    return columns


def _stack_count(table: CountTable, name: str) -> Floats:
    """Return a count of all units and of all breakdowns, one after the other; NaN where there is none."""
    tables = [(table.names, table.values)]
    tables += [
        (breakdown.names or table.names, breakdown.values)
        for breakdown in table.breakdowns.values()
    ]
    columns = []
    for names, values in tables:
        has_count = name in names
        columns.append(values[:, names.index(name)] if has_count else np.full(len(values), np.nan))
    return np.concatenate(columns)


def _make_array(kind: pa.DataType, is_valid: Any, *buffers: Any) -> pa.Array:
    """Return a column of as many values as `is_valid` has, made of Arrow's buffers."""
    import pyarrow as pa

    bits = np.packbits(np.asarray(is_valid, np.bool_), bitorder="little")
    return pa.Array.from_buffers(
        kind, len(is_valid), [pa.py_buffer(bits), *map(pa.py_buffer, buffers)]
    )


def _encode_texts(texts: Sequence[str | None]) -> pa.Array:
    import pyarrow as pa

    is_valid = [text is not None for text in texts]
    encoded_by_text = {text: (text or "").encode() for text in set(texts)}
    encoded = [encoded_by_text[text] for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return _make_array(pa.string(), is_valid, ends, b"".join(encoded))


def _encode_digests(digests: Sequence[bytes], n_rows: int) -> pa.Array:
    """Return a column of digests, which only the first rows have."""
    import pyarrow as pa

    data = b"".join(digests).ljust(DIGEST_BYTES * n_rows)
    return _make_array(pa.binary(DIGEST_BYTES), np.arange(n_rows) < len(digests), data)


def decode_counts(data: bytes, source: object) -> tuple[CountTable, Provenance]:
    """Return the counts of a Parquet file, and their provenance."""
    import msgspec
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True) as file:
            metadata = json.loads((file.schema_arrow.metadata or {})[METADATA_KEY])
            check_format(metadata, FORMAT, source)
            arrow = file.read(use_threads=False)
        table = _make_table(arrow, metadata["breakdowns"], metadata.get("counts", {}))
        return table, msgspec.convert(metadata, Provenance)
    except (FormatError, MemoryError):  # pyarrow's own is one of its errors, too
        raise
    except (
        AttributeError,
        LookupError,
        OSError,
        RequestError,
        RuntimeError,
        TypeError,
        ValueError,
    ):
        expected = f"expected one written by {name_writer()}"
        raise FormatError(source, [Problem(f"is not a file of counts ({expected})")]) from None


def _make_table(
    arrow: pa.Table,
    parts_by_breakdown: Mapping[str, Sequence[str]],
    names_by_breakdown: Mapping[str, Sequence[str]],
) -> CountTable:
    """Return the counts in a file's columns.

    Args:
        arrow: the columns.
        parts_by_breakdown: the parts of each breakdown, in order.
        names_by_breakdown: the counts of breakdowns that have counts of their own, and then those of the units.
    """
    units = arrow["unit"].to_pylist()
    breakdown_names = arrow["breakdown"].to_pylist()
    part_names = arrow["part"].to_pylist()
    n_units = breakdown_names.count(None)
    row_of_unit = {unit: row for row, unit in enumerate(units[:n_units])}
    fields = {}
    counts: dict[str, Floats] = {}
    for column in arrow.column_names:
        if column.startswith(FIELD_PREFIX):
            values = arrow[column].slice(0, n_units).to_pylist()
            fields[column.removeprefix(FIELD_PREFIX)] = values
        elif column.startswith(COUNT_PREFIX):
            counts[column.removeprefix(COUNT_PREFIX)] = _decode_numbers(arrow[column], "f8")
    names = tuple(name for name in names_by_breakdown.get(OF_UNITS, counts) if name in counts)

    def stack(names: Sequence[str], rows: slice | list[int]) -> Floats:
        return np.column_stack([counts[name][rows] for name in names])

    breakdowns = {}
    for name, parts in parts_by_breakdown.items():
        rows = [row for row in range(n_units, len(units)) if breakdown_names[row] == name]
        number = {part: index for index, part in enumerate(parts)}
        unit = np.array([row_of_unit[units[row]] for row in rows], np.int64)
        part = np.array([number[part_names[row]] for row in rows], np.int64)
        own_names = tuple(names_by_breakdown.get(name, ()))
        values = stack(own_names or names, rows)
        breakdowns[name] = Breakdown(tuple(parts), unit, part, values, own_names)
    block_names = []
    if BLOCK_NAME in arrow.column_names:
        block_names = arrow[BLOCK_NAME].slice(0, n_units).to_pylist()
    groups = []
    if GROUP in arrow.column_names:
        groups = arrow[GROUP].slice(0, n_units).to_pylist()
    return CountTable(
        units[:n_units],
        _decode_numbers(arrow["block"], "i8")[:n_units].copy(),
        names,
        stack(names, slice(n_units)),
        fields,
        breakdowns,
        arrow["gold"].slice(0, n_units).to_pylist(),
        block_names,
        groups,
    )


def _decode_numbers(column: pa.ChunkedArray, dtype: str) -> Any:
    """Return the numbers of a column; NaN for null."""
    parts = [np.empty(0, dtype)]
    for chunk in column.chunks:
        if not len(chunk):
            continue
        validity, data = chunk.buffers()
        end = chunk.offset + len(chunk)
        numbers = np.frombuffer(data, dtype)[chunk.offset : end]
        if chunk.null_count:
            bits = np.unpackbits(np.frombuffer(validity, np.uint8), count=end, bitorder="little")
            numbers = np.where(bits[chunk.offset :], numbers, np.nan)
        parts.append(numbers)
    return np.concatenate(parts)
