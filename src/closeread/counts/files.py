"""Files of counts: results in Parquet, with their provenance, to be compared and merged later.

Conventions: a row is a unit or, if `breakdown` is not null, a part of a unit.  Columns are `unit`, `block`, `gold` (the
sha256 of the unit's gold), `breakdown`, `part`, `field:…` and `count:…`; the provenance is metadata.  A count is null
in the rows that do not have it: a breakdown may have other counts than the units.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closeread import limits
from closeread.arrays import Floats
from closeread.counts.checking import complete_options, digest_content, find_problems, find_unsafe_names
from closeread.counts.column_limits import read_columns
from closeread.counts.counted import Counted, Provenance
from closeread.counts.procedure import Procedure
from closeread.counts.table import Breakdown, CountTable
from closeread.digests import DIGEST_BYTES
from closeread.errors import FormatError, Problem, RequestError
from closeread.files import replacing
from closeread.records import SMALL, check_format, is_dense
from closeread.wording import choose_words

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "CHANGED",
    "COUNT",
    "FIELD",
    "FORMAT",
    "KEY",
    "MAGIC",
    "NAMES",
    "PROVENANCE",
    "TEXT",
    "UNITS",
    "is_count_file",
    "read_any_counts",
    "read_counts",
    "write_counts",
]

FORMAT = 2
"""The number of the file format.  Files of format 1 have neither this number nor a digest of their content."""

KEY = b"closeread"
FIELD = "field:"
COUNT = "count:"
UNITS = ""
"""Stands for the units among the names of breakdowns, which are not empty."""

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
        "gold": pa.array([*table.digests, *[None] * (len(rows) - n)], pa.binary(DIGEST_BYTES)),
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
            schema = pq.read_schema(data)
            texts = [field.name for field in schema if field.type == pa.string()]
            # A text that is repeated takes no more memory than in the file, until the size of all is known.
            with pq.ParquetFile(data, page_checksum_verification=True, read_dictionary=texts) as file:
                about = _read_metadata((schema.metadata or {})[KEY])
                check_format(about, FORMAT, path)
                return _read_content(read_columns(path, file, schema), about)
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


def _read_content(arrow: pa.Table, about: dict[str, Any]) -> _Stored:
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
    table = _read_table(arrow, parts, counts)
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


def _read_table(arrow: pa.Table, breakdowns: dict[str, Sequence[str]], counts: dict[str, Sequence[str]]) -> CountTable:
    """Read the counts from a file's columns.

    Args:
        arrow: the columns.
        breakdowns: the parts of each breakdown.
        counts: the counts of the units, and of each breakdown that has others; empty if all have all counts.

    Raises:
        ValueError: a column does not have the type that `write_counts` gives it, or has unexpected nulls.
    """
    kinds = {"unit": "string", "block": "int64", FIELD: "string", COUNT: "double"}
    kinds |= {"breakdown": "string", "part": "string", "gold": f"fixed_size_binary[{DIGEST_BYTES}]"}
    for column in arrow.schema:
        kind = next((kind for start, kind in kinds.items() if column.name.startswith(start)), None)
        may_be_null = column.name in ("breakdown", "part", "gold") or column.name.startswith(COUNT)
        if str(column.type) != kind or (arrow[column.name].null_count and not may_be_null):
            raise ValueError(f"column {column.name} is not a column of {kind}")
    columns = {name.removeprefix(COUNT): arrow[name] for name in arrow.column_names if name.startswith(COUNT)}
    of_units = tuple(name for name in counts.get(UNITS, columns) if name in columns)
    breakdown, units = np.asarray(arrow["breakdown"].to_pylist(), dtype=object), arrow["unit"].to_pylist()
    part = arrow["part"].to_pylist()
    n = arrow.num_rows - int(np.count_nonzero(breakdown))
    if not all(name is None for name in breakdown[:n]) or set(breakdown[n:]) - set(breakdowns):
        raise ValueError("a breakdown is not after the units, or has an unknown name")
    digests = arrow["gold"].to_pylist()
    if any(digest is None for digest in digests[:n]):
        raise ValueError("a unit has no digest")
    place = {unit: i for i, unit in enumerate(units[:n])}

    def read_breakdown(name: str) -> Breakdown:
        rows, own = np.flatnonzero(breakdown == name), tuple(counts.get(name, ()))
        number = {value: i for i, value in enumerate(breakdowns[name])}
        return Breakdown(
            tuple(breakdowns[name]),
            np.array([place[units[row]] for row in rows.tolist()], np.int64),
            np.array([number[part[row]] for row in rows.tolist()], np.int64),
            _stack_columns(columns, own or of_units)[rows],
            own,
        )

    return CountTable(
        units[:n],
        arrow["block"].to_numpy()[:n],
        of_units,
        _stack_columns(columns, of_units)[:n],
        {c.removeprefix(FIELD): arrow[c].to_pylist()[:n] for c in arrow.column_names if c.startswith(FIELD)},
        {name: read_breakdown(name) for name in breakdowns},
        digests[:n],
    )


def _stack_columns(columns: Mapping[str, pa.ChunkedArray], names: Sequence[str]) -> Floats:
    """Return some columns side by side; null becomes NaN."""
    return np.column_stack([columns[name].to_numpy() for name in names])


def _metrics_without_counts(table: CountTable, procedure: Procedure) -> list[str]:
    """List the metrics whose counts are missing."""
    return [metric.name for metric in procedure.metrics if not metric.is_defined(table.names)]


def _name_writer() -> str:
    return choose_words("--counts", "`closeread score --counts`")
