"""Parquet files, as `closeread export` writes them, and Arrow tables: the columns of a split as Python values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closeread import limits
from closeread.exceptions import FormatError, Problem, quote
from closeread.formats.text import read_bytes
from closeread.records import ColumnRecords

if TYPE_CHECKING:
    import pyarrow as pa

MAX_COLUMNS = 1000
"""The most columns of a file, those inside objects included."""

MAX_VALUES = 2**28
"""The most values of a file, in all columns together."""

MAX_ELEMENTS = 20_000
"""The most elements of a list in a footer, such as the columns and the row groups."""

MAGIC, ENCRYPTED = b"PAR1", b"PARE"


def read_parquet(path: Path, check: Callable[[pa.Schema], Sequence[Problem]]) -> ColumnRecords:
    """Read the rows of a Parquet file.

    Args:
        path: the file.
        check: finds what is wrong with its columns, before any value is decoded.

    Raises:
        FormatError: the file can't be read, is too large, or is not a valid Parquet file, or `check` finds problems.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = read_bytes(path)
    if data.endswith(ENCRYPTED):
        raise FormatError(path, [Problem("is an encrypted Parquet file (expected one without encryption)")])
    if not data.startswith(MAGIC):
        raise FormatError(path, [Problem("is not a Parquet file")])
    if not data.endswith(MAGIC) or len(data) < 12:
        raise FormatError(path, [Problem("is not a valid Parquet file: it is truncated")])
    damages = (ArithmeticError, LookupError, OSError, TypeError, ValueError, pa.ArrowException)
    try:
        file = pq.ParquetFile(
            pa.BufferReader(data),
            thrift_string_size_limit=len(data),
            thrift_container_size_limit=MAX_ELEMENTS,
            page_checksum_verification=True,
        )
        schema, names, excess = file.schema_arrow, file.schema_arrow.names, _describe_excess(file.metadata)
    except MemoryError:  # Arrow's own is an ArrowException, too
        raise
    except damages as error:
        found = "is too large" if "size limit" in str(error) else "is damaged"
        raise FormatError(path, [Problem(f"is not a valid Parquet file: its footer {found}")]) from None
    if problems := [Problem(excess)] if excess else check(schema) if names else [Problem("has no columns")]:
        raise FormatError(path, problems)
    damaged: list[Problem] = []
    columns: dict[str, pa.ChunkedArray] = {}
    for name in names:
        try:
            column = file.read(columns=[name], use_threads=False)[name]
            if pa.types.is_dictionary(column.type):
                column.validate(full=True)
                column = column.cast(column.type.value_type)
            if len(column) != file.metadata.num_rows:
                raise ValueError("a page is shorter than the footer says")
            columns[name] = column
        except MemoryError:
            raise
        except damages:
            damaged.append(Problem(f"column {quote(name)} is damaged"))
    if damaged:
        raise FormatError(path, damaged)
    table = pa.table(columns)
    if excess := limits.describe_excess(table.nbytes, "bytes when decoded"):
        raise FormatError(path, [Problem(excess)])
    return ColumnRecords(read_columns(path, table))


def _describe_excess(metadata: Any) -> str | None:
    """Say what is too large in the numbers of a footer; None if nothing is."""
    if metadata.num_columns > MAX_COLUMNS:
        return f"has {metadata.num_columns:,} columns (limit: {MAX_COLUMNS:,})"
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    chunks = [group.column(i) for group in groups for i in range(metadata.num_columns)]
    if (values := sum(chunk.num_values for chunk in chunks)) > MAX_VALUES:
        return f"has {values:,} values (limit: {MAX_VALUES:,})"
    return limits.describe_excess(sum(chunk.total_uncompressed_size for chunk in chunks), "bytes when decoded")


def read_columns(source: Path | str, table: pa.Table) -> dict[str, list[Any]]:
    """Return the columns of a table of unknown origin as lists of Python values.

    Args:
        source: the file, or what to call the table in messages.
        table: the table, whose columns have distinct names and types that JSON has.

    Raises:
        FormatError: text is not UTF-8, or the table is damaged; the first problems of every column at once.
    """
    import pyarrow as pa

    problems, columns = [], {}
    for name in table.column_names:
        try:
            table[name].validate(full=True)
            columns[name] = table[name].to_pylist()
        except MemoryError:
            raise
        except (ValueError, pa.ArrowException):  # a UnicodeDecodeError is one
            problems += _find_damaged(name, table[name])
    if problems:
        raise FormatError(source, problems)
    return columns


def _find_damaged(name: str, column: pa.ChunkedArray) -> list[Problem]:
    """Return what is wrong with a damaged column: its rows, if single rows are damaged."""
    import pyarrow as pa

    problems: list[Problem] = []
    for row in range(len(column)):
        try:
            column.slice(row, 1).to_pylist()
        except UnicodeDecodeError:
            problems.append(Problem("contains text that is not valid UTF-8", record=f"row {row}", path=(name,)))
        except MemoryError:
            raise
        except (ValueError, LookupError, pa.ArrowException):
            problems.append(Problem("is damaged", record=f"row {row}", path=(name,)))
        if len(problems) == limits.MAX_PROBLEMS:
            break
    return problems or [Problem(f"column {quote(name)} is damaged")]
