"""Counts kept in a Parquet file, with what they were computed from: a result that can be compared later."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closeread.counts.report import Provenance
from closeread.counts.table import CountTable, Procedure
from closeread.errors import FormatError, Problem
from closeread.files import replacing
from closeread.scoring import Counted

if TYPE_CHECKING:
    import pyarrow as pa

KEY = b"closeread"
FIELD = "field:"
COUNT = "count:"
MAGIC = b"PAR1"

TEXT: dict[str, Any] = {"type": "string", "maxLength": 200}
PROVENANCE: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": [field.name for field in fields(Provenance)],
    "properties": {
        **dict.fromkeys(("procedure", "signature", "corpus"), TEXT),
        **{name: {**TEXT, "type": ["string", "null"]} for name in ("config", "split")},
        **{name: {"type": "integer", "minimum": 0} for name in ("procedure_version", "missing")},
        "released": {"type": ["boolean", "null"]},
        "options": {"type": "object", "additionalProperties": TEXT},
    },
}


def write_counts(path: Path, table: CountTable, provenance: Provenance) -> None:
    """Write a table of counts: columns `unit`, `block`, `field:…` and `count:…`, the provenance as metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "unit": pa.array(table.units, pa.string()),
        "block": pa.array(table.blocks, pa.int64()),
        **{FIELD + name: pa.array(column, pa.string()) for name, column in table.fields.items()},
        **{
            COUNT + name: pa.array(column, pa.float64())
            for name, column in zip(table.names, table.values.T, strict=True)
        },
    }
    arrow = pa.table(columns).replace_schema_metadata({KEY: json.dumps(asdict(provenance))})
    with replacing(path) as partial:
        pq.write_table(arrow, partial, write_page_checksum=True)


def read_counts(path: Path, procedure: Procedure) -> Counted:
    """A table of counts and where it comes from.

    Raises:
        FormatError: the file is missing, was not written by `write_counts`, or counts for another procedure or
            another version of it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        arrow = pq.read_table(path, page_checksum_verification=True)
        provenance = _provenance((arrow.schema.metadata or {})[KEY])
        table = _table(arrow)
    except OSError as error:
        raise FormatError(path, [Problem(f"can't be read: {error.strerror or 'no Parquet file'}")]) from None
    except (KeyError, ValueError, RecursionError, pa.ArrowException):
        raise FormatError(path, [Problem("is no file of counts; needed: one written with --counts")]) from None
    if (provenance.procedure, provenance.procedure_version) != (procedure.name, procedure.version):
        found = f"holds counts of {provenance.procedure} version {provenance.procedure_version}"
        raise FormatError(path, [Problem(f"{found}; needed: {procedure.name} version {procedure.version}")])
    left_out = _left_out(table, procedure)
    if left_out:
        found = f"holds no counts for {', '.join(left_out)}"
        raise FormatError(path, [Problem(f"{found}; needed: counts of all metrics that are asked for")])
    if not _sound(table, procedure):
        raise FormatError(path, [Problem("holds other counts or blocks than --counts writes; score it again")])
    return Counted(table, procedure, provenance)


def _provenance(text: bytes) -> Provenance:
    """The provenance in a file's metadata.

    Raises:
        ValueError: it is none.
    """
    import jsonschema_rs

    found = json.loads(text)
    if not jsonschema_rs.is_valid(PROVENANCE, found):
        raise ValueError("no provenance")
    return Provenance(**found)


def _table(arrow: pa.Table) -> CountTable:
    """The counts in a file's columns.

    Raises:
        ValueError: a column has another type than `write_counts` gives it, or holds nulls.
    """
    kinds = {"unit": "string", "block": "int64", FIELD: "string", COUNT: "double"}
    for column in arrow.schema:
        kind = next((kind for start, kind in kinds.items() if column.name.startswith(start)), None)
        if str(column.type) != kind or arrow[column.name].null_count:
            raise ValueError(f"column {column.name} is no {kind}")
    names = [name for name in arrow.column_names if name.startswith(COUNT)]
    return CountTable(
        arrow["unit"].to_pylist(),
        arrow["block"].to_numpy(),
        tuple(name.removeprefix(COUNT) for name in names),
        np.column_stack([arrow[name].to_numpy() for name in names]),
        {n.removeprefix(FIELD): arrow[n].to_pylist() for n in arrow.column_names if n.startswith(FIELD)},
    )


def is_count_file(path: Path) -> bool:
    """Whether a file is Parquet, as files of counts are; submissions never are."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _left_out(table: CountTable, procedure: Procedure) -> list[str]:
    """The metrics for which counts are lacking, where others have theirs."""
    left_out = []
    for metric in procedure.metrics:
        try:
            metric.score(table.values, table.names)
        except KeyError:
            left_out.append(metric.name)
    return left_out if len(left_out) < len(procedure.metrics) else []


def _sound(table: CountTable, procedure: Procedure) -> bool:
    """Whether the table can be resampled, and every unit's scores are scores."""
    if len(set(table.units)) < len(table.units) or not np.isfinite(table.values).all() or (table.values < 0).any():
        return False
    try:
        scores = [metric.score(table.values, table.names) for metric in procedure.metrics]
    except KeyError:  # a count that the metric needs
        return False
    blocks = np.unique(table.blocks)
    in_range = all(((column <= 1) | np.isnan(column)).all() for column in scores)
    return in_range and np.array_equal(blocks, np.arange(len(blocks)))
