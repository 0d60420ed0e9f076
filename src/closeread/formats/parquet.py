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

PARQUET_MAGIC = b"PAR1"
ENCRYPTED_MAGIC = b"PARE"


def read_parquet(path: Path, check: Callable[[pa.Schema], Sequence[Problem]]) -> ColumnRecords:
    """Read the rows of a Parquet file; `check` finds problems of its columns before any value is decoded."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = read_bytes(path)
    if data.endswith(ENCRYPTED_MAGIC):
        message = "is an encrypted Parquet file (expected one without encryption)"
        raise FormatError(path, [Problem(message)])
    if not data.startswith(PARQUET_MAGIC):
        raise FormatError(path, [Problem("is not a Parquet file")])
    if not data.endswith(PARQUET_MAGIC) or len(data) < 12:
        raise FormatError(path, [Problem("is not a valid Parquet file: it is truncated")])
    try:
        file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        problems = _check_columns(file, check)
        if not problems:
            table = _read_table(file)
            problems = _check_rows(table)
    except MemoryError:  # Arrow's own is an ArrowException, too
        raise
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError, pa.ArrowException):
        problems = [Problem("is not a valid Parquet file: it is damaged")]
    if problems:
        raise FormatError(path, problems)
    return ColumnRecords(read_columns(path, table))


def _check_columns(file: Any, check: Callable[[pa.Schema], Sequence[Problem]]) -> Sequence[Problem]:
    """Find what is wrong with a file before its values are decoded."""
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    n_bytes = sum(group.total_byte_size for group in groups)
    if excess := limits.describe_excess(n_bytes, "bytes when decoded"):
        return [Problem(excess)]
    if not file.schema_arrow.names:
        return [Problem("has no columns")]
    return check(file.schema_arrow)


def _read_table(file: Any) -> pa.Table:
    """Return the table of a file, with plain values where a column has the numbers of values in a dictionary."""
    import pyarrow as pa

    table = file.read(use_threads=False)
    table.validate(full=True)
    for number, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            plain = column.cast(column.type.value_type)
            table = table.set_column(number, table.column_names[number], plain)
    return table


def _check_rows(table: pa.Table) -> list[Problem]:
    if not len(table):
        return [Problem("has no rows (expected at least one)")]
    excess = limits.describe_excess(table.nbytes, "bytes when decoded")
    return [Problem(excess)] if excess else []


def read_columns(source: Path | str, table: pa.Table) -> dict[str, list[Any]]:
    """Return the columns of a table of unknown origin, whose types JSON has, as lists of Python values."""
    import pyarrow as pa

    problems = []
    columns = {}
    for name in table.column_names:
        try:
            table[name].validate(full=True)
            columns[name] = table[name].to_pylist()
        except MemoryError:
            raise
        except (ValueError, OverflowError, pa.ArrowException):  # a UnicodeDecodeError is one
            problems += _find_damaged(name, table[name])
    if problems:
        raise FormatError(source, problems)
    return columns


def _find_damaged(name: str, column: pa.ChunkedArray) -> list[Problem]:
    """Return the problems of a damaged column: those of its rows, if single rows are damaged."""
    import pyarrow as pa

    problems: list[Problem] = []
    for row in range(len(column)):
        message = ""
        try:
            column.slice(row, 1).to_pylist()
        except UnicodeDecodeError:
            message = "contains text that is not valid UTF-8"
        except OverflowError:
            message = f"is a {column.type} that is out of range (expected a JSON value)"
        except MemoryError:
            raise
        except (ValueError, LookupError, pa.ArrowException):
            message = "is damaged"
        if message:
            problems.append(Problem(message, record=f"row {row}", path=(name,)))
        if len(problems) == limits.MAX_PROBLEMS:
            break
    return problems or [Problem(f"column {quote(name)} is damaged")]
