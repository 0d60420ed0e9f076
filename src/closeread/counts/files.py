"""Files of counts: results in Parquet, with their provenance, to be compared and merged later.

Conventions: a row is a unit or, if `breakdown` is not null, a part of a unit.  Columns are `unit`, `block`, `gold` (the
sha256 of the unit's gold), `block_name` (that of the block's name; only where a block may have several units),
`breakdown`, `part`, `field:…` and `count:…`; the provenance is metadata.  A count is null in the rows that do not have
it: a breakdown may have other counts than the units.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from closeread import limits
from closeread.arrays import Floats
from closeread.counts.checking import complete_options, digest_content, find_problems, find_unsafe_names
from closeread.counts.column_limits import read_columns
from closeread.counts.counted import Counted, Provenance
from closeread.counts.procedure import Procedure
from closeread.counts.stored_tables import BLOCK_NAME, COUNT, FIELD, UNITS, StoredColumns, read_table
from closeread.counts.table import CountTable
from closeread.digests import DIGEST_BYTES
from closeread.exceptions import FormatError, Problem, RequestError
from closeread.files import replacing
from closeread.records import SMALL, check_format, is_dense
from closeread.wording import choose_words

FORMAT = 3
"""The number of the file format.  Files of format 1 have neither this number nor a digest of their content; those of
format 2 have no names of blocks, so that shards that share a block can't be merged.
"""

KEY = b"closeread"
CHANGED = "was changed after it was written: its content has another digest; score again"

MAGIC = b"PAR1"

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

NAMES: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {"type": "array", "items": {"type": "string"}},
}
"""Lists of names by name: the parts of breakdowns, and the counts that they have."""


def write_counts(path: Path, counted: Counted) -> None:
    """Write the counts of a system.

    Raises:
        OSError: the file can't be written.
        RequestError: a name contains a control character, so that the file could not be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = counted.table
    if unsafe := list(find_unsafe_names(table, counted.procedure)):
        raise RequestError(f"{path}: the counts can't be stored: {'; '.join(unsafe)}")
    inside = list(table.breakdowns.items())
    n, units = len(table.units), np.asarray(table.units, dtype=object)
    rows = np.concatenate([np.arange(n), *(parts.unit for _, parts in inside)]).astype(np.int64)
    counts = dict.fromkeys([*table.names, *(name for _, parts in inside for name in parts.names)])
    values = np.concatenate(
        [
            _spread_columns(own, names or table.names, list(counts))
            for own, names in ((table.values, table.names), *((parts.values, parts.names) for _, parts in inside))
        ]
    )
    sizes = [(name, len(parts.unit)) for name, parts in inside]
    part = [parts.parts[i] for _, parts in inside for i in parts.part.tolist()]
    columns = {
        "unit": pa.array(units[rows].tolist(), pa.string()),
        "block": pa.array(table.blocks[rows], pa.int64()),
        **({BLOCK_NAME: _fill_digests(table.block_names, len(rows))} if table.block_names else {}),
        "gold": _fill_digests(table.digests, len(rows)),
        "breakdown": pa.array([None] * n + [name for name, size in sizes for _ in range(size)], pa.string()),
        "part": pa.array([None] * n + part, pa.string()),
        **{
            FIELD + name: pa.array(np.asarray(column, dtype=object)[rows].tolist(), pa.string())
            for name, column in table.fields.items()
        },
        **{
            COUNT + name: pa.array(column, pa.float64(), from_pandas=True)  # NaN is null
            for name, column in zip(counts, values.T, strict=True)
        },
    }
    # The rows do not show the order of the parts, nor breakdowns without counts.
    about: dict[str, Any] = {"format": FORMAT, "digest": digest_content(table, counted.provenance)}
    about |= {**asdict(counted.provenance), "breakdowns": {name: parts.parts for name, parts in inside}}
    if own := {name: parts.names for name, parts in inside if parts.names}:
        about["counts"] = {UNITS: table.names, **own}
    arrow = pa.table(columns).replace_schema_metadata({KEY: json.dumps(about)})
    # pyarrow takes no path that is not UTF-8.
    with replacing(path) as partial, partial.open("wb") as file:
        pq.write_table(arrow, file, write_page_checksum=True)


def _fill_digests(digests: Sequence[bytes], n_rows: int) -> Any:
    """Return digests of units as a column of all rows, an Arrow array."""
    import pyarrow as pa

    return pa.array([*digests, *[None] * (n_rows - len(digests))], pa.binary(DIGEST_BYTES))


def _spread_columns(values: Floats, names: Sequence[str], everything: Sequence[str]) -> Floats:
    """Return counts, (n, k), in the columns of all counts; NaN in the other columns."""
    if list(names) == everything:
        return values
    spread = np.full((len(values), len(everything)), np.nan)
    spread[:, [everything.index(name) for name in names]] = values
    return spread


def read_counts(path: Path, procedure: Procedure) -> Counted:
    """Read the counts of a system.

    Args:
        path: the file.
        procedure: the procedure, with the metrics to compute.

    Raises:
        FormatError: the file is missing, was not written by `write_counts`, or is for another procedure or another
            version of it.
    """
    return _check_counts(path, _read_file(path), procedure)


def read_any_counts(path: Path, load: Callable[[str], Procedure]) -> Counted:
    """Read the counts of a system by any procedure, with all metrics that can be computed from them.

    Args:
        path: the file.
        load: returns the procedure of a name.

    Raises:
        FormatError: as for `read_counts`; a RequestError if there is no such procedure.
    """
    stored = _read_file(path)
    procedure = load(stored.provenance.procedure)
    procedure = procedure.with_metrics(procedure.families)
    lacking = {metric.partition("/")[0] for metric in _metrics_without_counts(stored.table, procedure)}
    families = [family for family in procedure.families if family not in lacking]
    return _check_counts(path, stored, procedure.with_metrics(families) if families else procedure)


def _check_counts(path: Path, stored: _Stored, procedure: Procedure) -> Counted:
    """Check that the counts are those of the procedure, and return them.

    Raises:
        FormatError: they are not; all problems at once.
    """
    table, provenance, is_changed = stored
    if (provenance.procedure, provenance.procedure_version) != (procedure.name, procedure.version):
        found = f"contains counts of {provenance.procedure} version {provenance.procedure_version}"
        raise FormatError(path, [Problem(f"{found} (expected {procedure.name} version {procedure.version})")])
    try:
        provenance = replace(provenance, options=complete_options(procedure, provenance.options))
    except RequestError as error:
        raise FormatError(path, [Problem(str(error))]) from None
    if lacking := _metrics_without_counts(table, procedure):
        what = "any score" if len(lacking) == len(procedure.metrics) else ", ".join(lacking)
        raise FormatError(path, [Problem(f"contains no counts for {what}; score them again")])
    if provenance.signature != procedure.signature(provenance.options, table.gold_digest):
        raise FormatError(path, [Problem("the signature does not match the options and the gold; score again")])
    problems = list(find_problems(table, provenance, procedure))
    if problems or is_changed:
        raise FormatError(
            path,
            [
                *problems,
                Problem(CHANGED if is_changed else f"contains counts that {_name_writer()} never writes; score again"),
            ],
        )
    return Counted(table, procedure, provenance)


def is_count_file(path: Path) -> bool:
    """Return whether a file is Parquet, as files of counts are and submissions never are."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class _Stored(NamedTuple):
    """What a file of counts says.

    Attributes:
        table, provenance: the counts and their provenance, of which only the form is checked.
        is_changed: whether they have another digest than the file has for them.
    """

    table: CountTable
    provenance: Provenance
    is_changed: bool


def _read_file(path: Path) -> _Stored:
    """Read the counts of a file and their provenance.

    Raises:
        FormatError: the file is missing, or was not written by `write_counts`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.exists() and not path.is_file():  # opening a pipe would wait
        raise FormatError(path, [Problem("is not a file")])
    if path.exists() and (found := limits.describe_excess(path.stat().st_size)) is not None:
        raise FormatError(path, [Problem(found)])
    try:
        with path.open("rb") as data:
            plain = pq.ParquetFile(data)
            schema = plain.schema.to_arrow_schema()
            texts = [field.name for field in schema if field.type == pa.string()]
            # A text that is repeated takes no more memory than in the file, until the size of all is known.
            options = {"metadata": plain.metadata, "page_checksum_verification": True}
            with pq.ParquetFile(data, read_dictionary=texts, **options) as file:
                about = _read_metadata((schema.metadata or {})[KEY])
                check_format(about, FORMAT, path)
                return _read_content(StoredColumns(schema, read_columns(path, file)), about)
    except (FormatError, MemoryError):  # pyarrow's own is one of its errors, too
        raise
    except OSError as error:
        # pyarrow's own errors have no strerror.
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror or "not a Parquet file"
        raise FormatError(path, [Problem(f"can't be read: {reason.lower()}")]) from None
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError, pa.ArrowException):
        raise FormatError(
            path, [Problem(f"is not a file of counts (expected one written by {_name_writer()})")]
        ) from None


def _read_metadata(data: bytes) -> Any:
    """Parse the JSON in the metadata of a file.

    Raises:
        ValueError: it is not valid JSON in UTF-8, or takes too much memory.
    """
    text = data.decode()
    if len(text) > SMALL and is_dense(text):
        raise ValueError("too many objects and lists")
    return json.loads(text)


def _read_content(columns: StoredColumns, about: dict[str, Any]) -> _Stored:
    """Read counts and provenance from a file's columns and metadata.

    Raises:
        ValueError: they are invalid; a KeyError, TypeError or AttributeError if they have another form.
    """
    import jsonschema_rs

    parts, counts = about.pop("breakdowns"), about.pop("counts", {})
    if not jsonschema_rs.is_valid(NAMES, parts) or not jsonschema_rs.is_valid(NAMES, counts):
        raise ValueError("names are not strings")
    digest = about.pop("digest") if about.pop("format", 1) > 1 else None
    provenance = _read_provenance(about)
    table = read_table(columns, parts, counts)
    return _Stored(table, provenance, digest is not None and digest != digest_content(table, provenance))


def _read_provenance(found: Any) -> Provenance:
    """Read the provenance from a file's metadata.

    Raises:
        ValueError: it is invalid.
    """
    import jsonschema_rs

    if not jsonschema_rs.is_valid(PROVENANCE, found):
        raise ValueError("the provenance is invalid")
    return Provenance(**found)


def _metrics_without_counts(table: CountTable, procedure: Procedure) -> list[str]:
    """List the metrics whose counts are missing."""
    return [metric.name for metric in procedure.metrics if not metric.is_defined(table.names)]


def _name_writer() -> str:
    return choose_words("--counts", "`closeread score --counts`")
