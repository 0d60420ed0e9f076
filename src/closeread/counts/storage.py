"""Counts as Parquet, with their provenance, to be compared and merged later.

Conventions: a row is a unit or, if `breakdown` is not null, a part of a unit.  Columns are `unit`, `block`, `gold` (the
sha256 of the unit's gold), `block_name` (that of the block's name; only where a block may have several units),
`breakdown`, `part`, `field:…` and `count:…`; the provenance is metadata.  A count is null in the rows that do not have
it: a breakdown may have other counts than the units.

Columns are made of buffers, and read from them: otherwise pyarrow imports pandas, which takes as long as scoring does.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from closeread import limits
from closeread.arrays import Floats, Ints
from closeread.counts.report import Provenance
from closeread.counts.table import Breakdown, CountTable
from closeread.digests import DIGEST_BYTES
from closeread.exceptions import FormatError, Problem, RequestError, choose_words
from closeread.records import check_format

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

FORMAT = 1
"""The number of the file format."""

KEY = b"closeread"
BLOCK_NAME, FIELD, COUNT = "block_name", "field:", "count:"
UNITS = ""  # stands for the units among the names of breakdowns, which are not empty


def may_be_counts(path: Path) -> bool:
    """Tell whether a Parquet file is one of counts, or a damaged one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return KEY in (pq.read_schema(path).metadata or {})
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError, pa.ArrowException):
        return True


def name_writer() -> str:
    """Name the command or method that writes counts, for messages."""
    return choose_words("`closeread score --counts`", "counts= of closeread.score")


def digest_content(table: CountTable, provenance: Provenance) -> str:
    """Return the sha256, in hex, of the values in a file of counts, however they are encoded."""
    inside = {
        name: [list(parts.parts), list(parts.names)] for name, parts in table.breakdowns.items()
    }
    columns = {name: list(column) for name, column in table.fields.items()}
    about = {**asdict(provenance), "options": list(provenance.options.items())}
    head = [about, list(table.units), list(table.names), columns, inside]
    found = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    arrays: list[Floats | Ints] = [table.blocks, table.values]
    for _, parts in sorted(table.breakdowns.items()):
        arrays += [parts.unit, parts.part, parts.values]
    for array in arrays:
        found.update(np.ascontiguousarray(array, np.dtype(array.dtype).newbyteorder("<")).tobytes())
    found.update(b"".join([*table.digests, *table.block_names]))
    return found.hexdigest()


def encode_counts(table: CountTable, provenance: Provenance) -> bytes:
    """Return counts as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    inside = list(table.breakdowns.items())
    n = len(table.units)
    rows = np.concatenate([np.arange(n), *(parts.unit for _, parts in inside)]).astype(np.int64)
    counts = list(
        dict.fromkeys([*table.names, *(name for _, parts in inside for name in parts.names)])
    )
    values = np.full((len(counts), len(rows)), np.nan)
    start = 0
    for own, names in (
        (table.values, table.names),
        *((parts.values, parts.names) for _, parts in inside),
    ):
        values[[counts.index(name) for name in names or table.names], start : start + len(own)] = (
            own.T
        )
        start += len(own)

    def make_array(kind: pa.DataType, valid: Any, *buffers: Any) -> pa.Array:
        bits = pa.py_buffer(np.packbits(np.asarray(valid, np.bool_), bitorder="little"))
        return pa.Array.from_buffers(kind, len(rows), [bits, *map(pa.py_buffer, buffers)])

    def make_texts(texts: Sequence[str | None]) -> pa.Array:
        data = ["" if text is None else text for text in texts]
        coded = {text: text.encode() for text in set(data)}
        ends = np.cumsum([0, *(len(coded[text]) for text in data)], dtype=np.int32)
        return make_array(
            pa.string(),
            [text is not None for text in texts],
            ends,
            b"".join(coded[text] for text in data),
        )

    def make_digests(digests: Sequence[bytes]) -> pa.Array:
        data = b"".join(digests).ljust(DIGEST_BYTES * len(rows))
        return make_array(pa.binary(DIGEST_BYTES), np.arange(len(rows)) < len(digests), data)

    def spread(column: Sequence[str]) -> list[str]:
        return [column[i] for i in rows.tolist()]

    within = [name for name, parts in inside for _ in parts.unit]
    part = [parts.parts[i] for _, parts in inside for i in parts.part.tolist()]
    columns = {
        "unit": make_texts(spread(table.units)),
        "block": make_array(pa.int64(), np.ones(len(rows)), table.blocks[rows]),
        **({BLOCK_NAME: make_digests(table.block_names)} if table.block_names else {}),
        "gold": make_digests(table.digests),
        "breakdown": make_texts([*[None] * n, *within]),
        "part": make_texts([*[None] * n, *part]),
        **{FIELD + name: make_texts(spread(column)) for name, column in table.fields.items()},
        **{
            COUNT + name: make_array(pa.float64(), ~np.isnan(column), column)
            for name, column in zip(counts, values, strict=True)
        },
    }
    # The rows do not show the order of the parts, nor breakdowns without counts.
    about: dict[str, Any] = {"format": FORMAT, "digest": digest_content(table, provenance)}
    about |= {**asdict(provenance), "breakdowns": {name: parts.parts for name, parts in inside}}
    if own_names := {name: parts.names for name, parts in inside if parts.names}:
        about["counts"] = {UNITS: table.names, **own_names}
    file = io.BytesIO()
    pq.write_table(pa.table(columns).replace_schema_metadata({KEY: json.dumps(about)}), file)
    return file.getvalue()


def decode_counts(data: bytes, source: object) -> tuple[CountTable, Provenance, bool]:
    """Return the counts of a Parquet file, their provenance, and whether they were changed after they were written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(pa.BufferReader(data)) as file:
            about = json.loads((file.schema_arrow.metadata or {})[KEY])
            check_format(about, FORMAT, source)
            table = _read_table(file, source, about["breakdowns"], about.get("counts", {}))
        provenance = Provenance(**{field.name: about[field.name] for field in fields(Provenance)})
        _check_provenance(provenance)
        digest = digest_content(table, provenance)
        return table, provenance, about["digest"] != digest
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


def _check_provenance(provenance: Provenance) -> None:
    """Check the types of what a file says of its counts, which others may have written."""
    options = provenance.options
    texts = [provenance.procedure, provenance.signature, provenance.corpus]
    texts += [*options, *options.values()]
    texts += [name for name in (provenance.config, provenance.split) if name is not None]
    numbers = [provenance.procedure_version, provenance.missing]
    are_texts = all(isinstance(text, str) for text in texts)
    are_numbers = all(type(number) is int for number in numbers)
    if not (are_texts and are_numbers and isinstance(provenance.released, bool | None)):
        raise TypeError


def _read_table(
    file: pq.ParquetFile,
    source: object,
    parts_of: Mapping[str, Sequence[str]],
    counts: Mapping[str, Sequence[str]],
) -> CountTable:
    """Read the counts from a file's columns, unless they are too large: columns that repeat are small in a file."""
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    if excess := limits.describe_excess(sum(group.total_byte_size for group in groups)):
        raise FormatError(source, [Problem(excess)])
    arrow = file.read(use_threads=False)

    def read_numbers(name: str, dtype: str) -> Any:
        found = [np.empty(0, dtype)]
        for chunk in filter(len, arrow[name].chunks):
            valid, data = chunk.buffers()
            end = chunk.offset + len(chunk)
            values = np.frombuffer(data, dtype)[chunk.offset : end]
            if chunk.null_count:
                bits = np.unpackbits(np.frombuffer(valid, np.uint8), count=end, bitorder="little")
                values = np.where(bits[chunk.offset :], values, np.nan)
            found.append(values)
        return np.concatenate(found)

    def select(kind: str) -> list[str]:
        return [name.removeprefix(kind) for name in arrow.column_names if name.startswith(kind)]

    units, within, parts = (arrow[name].to_pylist() for name in ("unit", "breakdown", "part"))
    n = within.count(None)
    row_of = {unit: row for row, unit in enumerate(units[:n])}
    values = {name: read_numbers(COUNT + name, "f8") for name in select(COUNT)}
    of_units = tuple(name for name in counts.get(UNITS, values) if name in values)

    def stack(names: Sequence[str], rows: slice | list[int]) -> Floats:
        return np.column_stack([values[name][rows] for name in names])

    def read_breakdown(name: str) -> Breakdown:
        own = tuple(counts.get(name, ()))
        rows = [row for row in range(n, len(units)) if within[row] == name]
        number = {part: i for i, part in enumerate(parts_of[name])}
        unit = np.array([row_of[units[row]] for row in rows], np.int64)
        part = np.array([number[parts[row]] for row in rows], np.int64)
        return Breakdown(tuple(parts_of[name]), unit, part, stack(own or of_units, rows), own)

    return CountTable(
        units[:n],
        read_numbers("block", "i8")[:n].copy(),
        of_units,
        stack(of_units, slice(n)),
        {name: arrow[FIELD + name].slice(0, n).to_pylist() for name in select(FIELD)},
        {name: read_breakdown(name) for name in parts_of},
        arrow["gold"].slice(0, n).to_pylist(),
        arrow[BLOCK_NAME].slice(0, n).to_pylist() if BLOCK_NAME in arrow.column_names else [],
    )
