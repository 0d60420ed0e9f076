"""Files of counts: results in Parquet, with their provenance, to be compared and merged later.

Conventions: a row is a unit or, if `breakdown` is not null, a part of a unit.  Columns are `unit`, `block`, `gold` (the
sha256 of the unit's gold), `breakdown`, `part`, `field:…` and `count:…`; the provenance is metadata.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closeread.counts.procedure import Procedure
from closeread.counts.report import Counted, Provenance
from closeread.counts.table import Breakdown, CountTable, merge
from closeread.digests import combine_digests
from closeread.errors import FormatError, Problem, RequestError, escape
from closeread.files import replacing

if TYPE_CHECKING:
    import pyarrow as pa

KEY = b"closeread"
FIELD = "field:"
COUNT = "count:"
MAGIC = b"PAR1"
DIGEST_BYTES = 32

TEXT: dict[str, Any] = {"type": "string", "maxLength": 200}
PROVENANCE: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": [field.name for field in fields(Provenance)],
    "properties": {
        **dict.fromkeys(("procedure", "corpus"), TEXT),
        "signature": {**TEXT, "maxLength": 2000},
        **{name: {**TEXT, "type": ["string", "null"]} for name in ("config", "split")},
        **{name: {"type": "integer", "minimum": 0} for name in ("procedure_version", "missing")},
        "released": {"type": ["boolean", "null"]},
        "options": {"type": "object", "additionalProperties": TEXT},
    },
}


def write_counts(path: Path, counted: Counted) -> None:
    """Write the counts of a system.

    Raises:
        OSError: the file can't be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = counted.table
    inside = list(table.breakdowns.items())
    n, units = len(table.units), np.asarray(table.units, dtype=object)
    rows = np.concatenate([np.arange(n), *(parts.unit for _, parts in inside)]).astype(np.int64)
    values = np.concatenate([table.values, *(parts.values for _, parts in inside)])
    sizes = [(name, len(parts.unit)) for name, parts in inside]
    part = [parts.parts[i] for _, parts in inside for i in parts.part.tolist()]
    columns = {
        "unit": pa.array(units[rows].tolist(), pa.string()),
        "block": pa.array(table.blocks[rows], pa.int64()),
        "gold": pa.array([*table.digests, *[None] * (len(rows) - n)], pa.binary(DIGEST_BYTES)),
        "breakdown": pa.array([None] * n + [name for name, size in sizes for _ in range(size)], pa.string()),
        "part": pa.array([None] * n + part, pa.string()),
        **{
            FIELD + name: pa.array(np.asarray(column, dtype=object)[rows].tolist(), pa.string())
            for name, column in table.fields.items()
        },
        **{COUNT + name: pa.array(column, pa.float64()) for name, column in zip(table.names, values.T, strict=True)},
    }
    # The rows do not show the order of the parts, nor breakdowns without counts.
    about = {**asdict(counted.provenance), "breakdowns": {name: parts.parts for name, parts in inside}}
    arrow = pa.table(columns).replace_schema_metadata({KEY: json.dumps(about)})
    with replacing(path) as partial:
        pq.write_table(arrow, partial, write_page_checksum=True)


def read_counts(path: Path, procedure: Procedure) -> Counted:
    """Read the counts of a system.

    Args:
        path: the file.
        procedure: the procedure, with the metrics to compute.

    Raises:
        FormatError: the file is missing, was not written by `write_counts`, or is for another procedure or another
            version of it.
    """
    return _check_counts(path, *_read_file(path), procedure)


def read_any_counts(path: Path, load: Callable[[str], Procedure]) -> Counted:
    """Read the counts of a system by any procedure, with all metrics that can be computed from them.

    Args:
        path: the file.
        load: returns the procedure of a name.

    Raises:
        FormatError: as for `read_counts`; a RequestError if there is no such procedure.
    """
    table, provenance = _read_file(path)
    procedure = load(provenance.procedure)
    procedure = procedure.with_metrics(procedure.families)
    lacking = {metric.partition("/")[0] for metric in _metrics_without_counts(table, procedure)}
    families = [family for family in procedure.families if family not in lacking]
    return _check_counts(path, table, provenance, procedure.with_metrics(families) if lacking else procedure)


def _check_counts(path: Path, table: CountTable, provenance: Provenance, procedure: Procedure) -> Counted:
    """Check that the counts are those of the procedure, and return them.

    Raises:
        FormatError: they are not.
    """
    if (provenance.procedure, provenance.procedure_version) != (procedure.name, procedure.version):
        found = f"contains counts of {provenance.procedure} version {provenance.procedure_version}"
        raise FormatError(path, [Problem(f"{found} (expected {procedure.name} version {procedure.version})")])
    lacking = _metrics_without_counts(table, procedure)
    if lacking:
        raise FormatError(path, [Problem(f"contains no counts for {', '.join(lacking)}; score them again")])
    if provenance.signature != procedure.signature(provenance.options, table.gold_digest):
        raise FormatError(path, [Problem("the signature does not match the options and the gold; score again")])
    if not _is_sound(table, procedure):
        raise FormatError(path, [Problem("contains counts or blocks that --counts never writes; score again")])
    return Counted(table, procedure, provenance)


def merge_counts(parts: Sequence[Counted], names: Sequence[str]) -> Counted:
    """Merge the counts of shards: units, blocks, breakdowns, and the digest of the gold.

    Args:
        parts: the counts of each shard, by one procedure.
        names: the names of the shards in messages.

    Raises:
        RequestError: they do not belong together: options or versions differ, or two of them have the same unit.
    """
    first = parts[0].provenance
    for part, name in zip(parts[1:], names[1:], strict=True):
        other = part.provenance
        for what in ("procedure", "procedure_version", "corpus", "options"):
            if getattr(other, what) != getattr(first, what):
                found = f"{name} has {what.replace('_', ' ')} {_format_value(getattr(other, what))}"
                expected = f"expected {_format_value(getattr(first, what))}, as in {names[0]}"
                raise RequestError(f"cannot merge these counts: {found} ({expected})")
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
    return Counted(table, parts[0].procedure, provenance)


def _format_value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}:{choice}" for name, choice in value.items())
    return escape(str(value))


def _find_common(values: set[Any]) -> Any:
    """Return the value that all have; None if there are several values."""
    return next(iter(values)) if len(values) == 1 else None


def is_count_file(path: Path) -> bool:
    """Return whether a file is Parquet, as files of counts are and submissions never are."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _read_file(path: Path) -> tuple[CountTable, Provenance]:
    """Read the counts of a file and their provenance.

    Raises:
        FormatError: the file is missing, or was not written by `write_counts`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        arrow = pq.read_table(path, page_checksum_verification=True)
        about = json.loads((arrow.schema.metadata or {})[KEY])
        parts = about.pop("breakdowns")
        provenance = _read_provenance(about)
        table = _read_table(arrow, parts)
    except OSError as error:
        # pyarrow's own errors have no strerror.
        missing = "no such file" if isinstance(error, FileNotFoundError) else "not a Parquet file"
        raise FormatError(path, [Problem(f"can't be read: {error.strerror or missing}")]) from None
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError, pa.ArrowException):
        raise FormatError(path, [Problem("is not a file of counts (expected one written by --counts)")]) from None
    return table, provenance


def _read_provenance(found: Any) -> Provenance:
    """Read the provenance from a file's metadata.

    Raises:
        ValueError: it is invalid.
    """
    import jsonschema_rs

    if not jsonschema_rs.is_valid(PROVENANCE, found):
        raise ValueError("the provenance is invalid")
    return Provenance(**found)


def _read_table(arrow: pa.Table, breakdowns: dict[str, Sequence[str]]) -> CountTable:
    """Read the counts from a file's columns.

    Raises:
        ValueError: a column does not have the type that `write_counts` gives it, or has unexpected nulls.
    """
    kinds = {"unit": "string", "block": "int64", FIELD: "string", COUNT: "double"}
    kinds |= {"breakdown": "string", "part": "string", "gold": f"fixed_size_binary[{DIGEST_BYTES}]"}
    for column in arrow.schema:
        kind = next((kind for start, kind in kinds.items() if column.name.startswith(start)), None)
        may_be_null = column.name in ("breakdown", "part", "gold")
        if str(column.type) != kind or (arrow[column.name].null_count and not may_be_null):
            raise ValueError(f"column {column.name} is not a column of {kind}")
    names = [name for name in arrow.column_names if name.startswith(COUNT)]
    values = np.column_stack([arrow[name].to_numpy() for name in names])
    breakdown, units = np.asarray(arrow["breakdown"].to_pylist(), dtype=object), arrow["unit"].to_pylist()
    part = arrow["part"].to_pylist()
    n = arrow.num_rows - int(np.count_nonzero(breakdown))
    if not all(name is None for name in breakdown[:n]) or set(breakdown[n:]) - set(breakdowns):
        raise ValueError("a breakdown is not after the units, or has an unknown name")
    digests = arrow["gold"].to_pylist()
    if any(digest is None for digest in digests[:n]):
        raise ValueError("a unit has no digest")
    place = {unit: i for i, unit in enumerate(units[:n])}
    return CountTable(
        units[:n],
        arrow["block"].to_numpy()[:n],
        tuple(name.removeprefix(COUNT) for name in names),
        values[:n],
        {c.removeprefix(FIELD): arrow[c].to_pylist()[:n] for c in arrow.column_names if c.startswith(FIELD)},
        {
            name: _read_breakdown(parts, np.flatnonzero(breakdown == name), part, units, values, place)
            for name, parts in breakdowns.items()
        },
        digests[:n],
    )


def _read_breakdown(
    parts: Sequence[str],
    rows: Any,
    part: Sequence[str],
    units: Sequence[str],
    values: Any,
    place: dict[str, int],
) -> Breakdown:
    number = {name: i for i, name in enumerate(parts)}
    return Breakdown(
        tuple(parts),
        np.array([place[units[row]] for row in rows.tolist()], np.int64),
        np.array([number[part[row]] for row in rows.tolist()], np.int64),
        values[rows],
    )


def _metrics_without_counts(table: CountTable, procedure: Procedure) -> list[str]:
    """List the metrics whose counts are missing, if at least one metric has its counts."""
    lacking = []
    for metric in procedure.metrics:
        try:
            metric.score(table.values, table.names)
        except KeyError:
            lacking.append(metric.name)
    return lacking if len(lacking) < len(procedure.metrics) else []


def _is_sound(table: CountTable, procedure: Procedure) -> bool:
    """Return whether the table can be resampled, and the scores of every unit are between 0 and 1."""
    everything = [table.values, *(parts.values for parts in table.breakdowns.values())]
    if len(set(table.units)) < len(table.units) or any(not np.isfinite(v).all() or (v < 0).any() for v in everything):
        return False
    try:
        scores = [metric.score(table.values, table.names) for metric in procedure.metrics]
    except KeyError:  # the counts of a metric are missing
        return False
    blocks = np.unique(table.blocks)
    in_range = all(((column <= 1) | np.isnan(column)).all() for column in scores)
    return in_range and np.array_equal(blocks, np.arange(len(blocks)))
