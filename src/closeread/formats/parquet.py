"""Parquet files, as `closeread export` writes them, and Arrow tables: the columns of a split as Python values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closeread.exceptions import FormatError, Problem, quote
from closeread.formats.text import read_bytes
from closeread.records import ColumnRecords

if TYPE_CHECKING:
    import pyarrow as pa

PARQUET_MAGIC = b"PAR1"


def read_parquet(path: Path, check: Callable[[pa.Schema], Sequence[Problem]]) -> ColumnRecords:
    """Read the rows of a Parquet file; `check` finds problems of its columns before any value is decoded."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = read_bytes(path)
    if not data.startswith(PARQUET_MAGIC):
        raise FormatError(path, [Problem("is not a Parquet file")])
    if not data.endswith(PARQUET_MAGIC):
        raise FormatError(path, [Problem("is not a valid Parquet file: it is truncated")])
    try:
        file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        problems = check(file.schema_arrow)
        table: Any = None if problems else file.read(use_threads=False)
    except MemoryError:  # Arrow's own is an ArrowException, too
        raise
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError, pa.ArrowException):
        problems = [Problem("is not a valid Parquet file: it is damaged")]
    if not problems and not len(table):
        problems = [Problem("has no rows (expected at least one)")]
    if problems:
        raise FormatError(path, problems)
    return ColumnRecords(read_columns(path, table))


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
        except (LookupError, OverflowError, ValueError, pa.ArrowException) as error:
            reason = f"can't be read as {table[name].type} ({error})"
            problems.append(Problem(f"column {quote(name)} {reason}"))
    if problems:
        raise FormatError(source, problems)
    return columns
