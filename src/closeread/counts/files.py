"""Counts kept in a Parquet file, with what they were computed from: a result that can be compared and merged later.

Conventions: a row is a unit, or, where `breakdown` says so, one part of a unit.  Columns are `unit`, `block`, `gold`
(the sha256 of the unit's gold), `breakdown`, `part`, `field:…` and `count:…`; the provenance is metadata.
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
    """Write a system's counts.

    Raises:
        OSError: the file can't be written to.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = counted.table
    inside = list(table.breakdowns.items())
    n, units = len(table.units), np.asarray(table.units, dtype=object)
    rows = np.concatenate([np.arange(n), *(parts.unit for _, parts in inside)]).astype(np.int64)
    values = np.concatenate([table.values, *(parts.values for _, parts in inside)])
    named = [(name, len(parts.unit)) for name, parts in inside]
    part = [parts.parts[i] for _, parts in inside for i in parts.part.tolist()]
    columns = {
        "unit": pa.array(units[rows].tolist(), pa.string()),
        "block": pa.array(table.blocks[rows], pa.int64()),
        "gold": pa.array([*table.digests, *[None] * (len(rows) - n)], pa.binary(DIGEST_BYTES)),
        "breakdown": pa.array([None] * n + [name for name, size in named for _ in range(size)], pa.string()),
        "part": pa.array([None] * n + part, pa.string()),
        **{
            FIELD + name: pa.array(np.asarray(column, dtype=object)[rows].tolist(), pa.string())
            for name, column in table.fields.items()
        },
        **{COUNT + name: pa.array(column, pa.float64()) for name, column in zip(table.names, values.T, strict=True)},
    }
    # The order of parts, and breakdowns that counted nothing, show in no row.
    about = {**asdict(counted.provenance), "breakdowns": {name: parts.parts for name, parts in inside}}
    arrow = pa.table(columns).replace_schema_metadata({KEY: json.dumps(about)})
    with replacing(path) as partial:
        pq.write_table(arrow, partial, write_page_checksum=True)


def read_counts(path: Path, procedure: Procedure) -> Counted:
    """A system's counts as they were kept.

    Args:
        path: the file.
        procedure: the procedure, with the metrics that are asked for.

    Raises:
        FormatError: the file is missing, was not written by `write_counts`, or counts for another procedure or
            another version of it.
    """
    return _check_counts(path, *_read(path), procedure)


def read_any_counts(path: Path, load: Callable[[str], Procedure]) -> Counted:
    """A system's counts of whatever procedure, with the metrics that they are enough for.

    Args:
        path: the file.
        load: from a procedure's name to the procedure.

    Raises:
        FormatError: as `read_counts`; a RequestError where there is no such procedure.
    """
    table, provenance = _read(path)
    procedure = load(provenance.procedure)
    lacking = {metric.partition("/")[0] for metric in _metrics_without_counts(table, procedure)}
    kept = [family for family in procedure.families if family not in lacking]
    return _check_counts(path, table, provenance, procedure.with_metrics(kept) if lacking else procedure)


def _check_counts(path: Path, table: CountTable, provenance: Provenance, procedure: Procedure) -> Counted:
    """The counts, once they are those of the procedure.

    Raises:
        FormatError: they are not.
    """
    if (provenance.procedure, provenance.procedure_version) != (procedure.name, procedure.version):
        found = f"holds counts of {provenance.procedure} version {provenance.procedure_version}"
        raise FormatError(path, [Problem(f"{found} (expected {procedure.name} version {procedure.version})")])
    lacking = _metrics_without_counts(table, procedure)
    if lacking:
        raise FormatError(path, [Problem(f"holds no counts for {', '.join(lacking)}; score those metrics again")])
    if provenance.signature != procedure.signature(provenance.options, table.gold_digest):
        raise FormatError(path, [Problem("its signature is not that of its options and its gold; score again")])
    if not _is_sound(table, procedure):
        raise FormatError(path, [Problem("holds counts or blocks that --counts never writes; score again")])
    return Counted(table, procedure, provenance)


def merge_counts(parts: Sequence[Counted], names: Sequence[str]) -> Counted:
    """Add up the counts of shards: units, blocks, breakdowns, and the digest of their gold.

    Args:
        parts: the counts of each shard, of one procedure.
        names: what to call them in messages.

    Raises:
        RequestError: they don't belong together: other options, another version, or a unit in two of them.
    """
    first = parts[0].provenance
    for part, name in zip(parts[1:], names[1:], strict=True):
        other = part.provenance
        for what in ("procedure", "procedure_version", "corpus", "options"):
            if getattr(other, what) != getattr(first, what):
                found = f"{name} has {what} {_words(getattr(other, what))}"
                expected = f"expected {_words(getattr(first, what))}, as in {names[0]}"
                raise RequestError(f"these counts can't be merged: {found} ({expected})")
    try:
        table = merge([part.table for part in parts])
    except ValueError as error:
        raise RequestError(f"these counts can't be merged: {error}") from None
    digest = combine_digests(table.digests)
    same = {what: _only({getattr(part.provenance, what) for part in parts}) for what in ("config", "split", "released")}
    provenance = replace(
        first,
        signature=parts[0].procedure.signature(first.options, digest),
        missing=sum(part.provenance.missing for part in parts),
        **same,
    )
    return Counted(table, parts[0].procedure, provenance)


def _words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}:{choice}" for name, choice in value.items())
    return escape(str(value))


def _only(values: set[Any]) -> Any:
    """The one value; None where there are several."""
    return next(iter(values)) if len(values) == 1 else None


def is_count_file(path: Path) -> bool:
    """Whether a file is Parquet, as files of counts are; submissions never are."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _read(path: Path) -> tuple[CountTable, Provenance]:
    """A file's counts and where they come from.

    Raises:
        FormatError: the file is missing, or was not written by `write_counts`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        arrow = pq.read_table(path, page_checksum_verification=True)
        about = json.loads((arrow.schema.metadata or {})[KEY])
        parts = about.pop("breakdowns")
        provenance = _provenance(about)
        table = _table(arrow, parts)
    except OSError as error:
        raise FormatError(path, [Problem(f"can't be read: {error.strerror or 'not a Parquet file'}")]) from None
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError, pa.ArrowException):
        raise FormatError(path, [Problem("is not a file of counts (expected one written by --counts)")]) from None
    return table, provenance


def _provenance(found: Any) -> Provenance:
    """The provenance in a file's metadata.

    Raises:
        ValueError: it is none.
    """
    import jsonschema_rs

    if not jsonschema_rs.is_valid(PROVENANCE, found):
        raise ValueError("no provenance")
    return Provenance(**found)


def _table(arrow: pa.Table, breakdowns: dict[str, Sequence[str]]) -> CountTable:
    """The counts in a file's columns.

    Raises:
        ValueError: a column has another type than `write_counts` gives it, or holds nulls where it never does.
    """
    kinds = {"unit": "string", "block": "int64", FIELD: "string", COUNT: "double"}
    kinds |= {"breakdown": "string", "part": "string", "gold": f"fixed_size_binary[{DIGEST_BYTES}]"}
    for column in arrow.schema:
        kind = next((kind for start, kind in kinds.items() if column.name.startswith(start)), None)
        may_be_null = column.name in ("breakdown", "part", "gold")
        if str(column.type) != kind or (arrow[column.name].null_count and not may_be_null):
            raise ValueError(f"column {column.name} is no {kind}")
    names = [name for name in arrow.column_names if name.startswith(COUNT)]
    values = np.column_stack([arrow[name].to_numpy() for name in names])
    breakdown, units = np.asarray(arrow["breakdown"].to_pylist(), dtype=object), arrow["unit"].to_pylist()
    n = arrow.num_rows - int(np.count_nonzero(breakdown))
    if not all(name is None for name in breakdown[:n]) or set(breakdown[n:]) - set(breakdowns):
        raise ValueError("a breakdown is not where it is written")
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
            name: _breakdown(parts, np.flatnonzero(breakdown == name), arrow["part"].to_pylist(), units, values, place)
            for name, parts in breakdowns.items()
        },
        digests[:n],
    )


def _breakdown(
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
    """The metrics for which counts are lacking, where others have theirs."""
    lacking = []
    for metric in procedure.metrics:
        try:
            metric.score(table.values, table.names)
        except KeyError:
            lacking.append(metric.name)
    return lacking if len(lacking) < len(procedure.metrics) else []


def _is_sound(table: CountTable, procedure: Procedure) -> bool:
    """Whether the table can be resampled, and every unit's scores are scores."""
    everything = [table.values, *(parts.values for parts in table.breakdowns.values())]
    if len(set(table.units)) < len(table.units) or any(not np.isfinite(v).all() or (v < 0).any() for v in everything):
        return False
    try:
        scores = [metric.score(table.values, table.names) for metric in procedure.metrics]
    except KeyError:  # a count that the metric needs
        return False
    blocks = np.unique(table.blocks)
    in_range = all(((column <= 1) | np.isnan(column)).all() for column in scores)
    return in_range and np.array_equal(blocks, np.arange(len(blocks)))
