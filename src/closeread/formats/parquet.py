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

MAGIC, ENCRYPTED = b"PAR1", b"PARE"


def read_parquet(path: Path, check: Callable[[pa.Schema], Sequence[Problem]]) -> ColumnRecords:
    """Read the rows of a Parquet file; `check` finds problems of its columns before any value is decoded."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = read_bytes(path)
    if data.endswith(ENCRYPTED):
        raise FormatError(
            path, [Problem("is an encrypted Parquet file (expected one without encryption)")]
        )
    if not data.startswith(MAGIC):
        raise FormatError(path, [Problem("is not a Parquet file")])
    if not data.endswith(MAGIC) or len(data) < 12:
        raise FormatError(path, [Problem("is not a valid Parquet file: it is truncated")])
    problems: Sequence[Problem] = ()
    table = None
    try:
        file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        excess = limits.describe_excess(
            sum(group.total_byte_size for group in groups), "bytes when decoded"
        )
        schema = file.schema_arrow
        problems = (
            [Problem(excess)]
            if excess
            else check(schema)
            if schema.names
            else [Problem("has no columns")]
        )
        if not problems:
            table = file.read(use_threads=False)
            table.validate(full=True)
            for place, column in enumerate(table.columns):
                if pa.types.is_dictionary(column.type):
                    plain = column.cast(column.type.value_type)
                    table = table.set_column(place, table.column_names[place], plain)
            excess = limits.describe_excess(table.nbytes, "bytes when decoded")
            problems = [Problem(excess)] if excess else ()
            if not len(table):
                problems = [Problem("has no rows (expected at least one)")]
    except MemoryError:  # Arrow's own is an ArrowException, too
        raise
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError, pa.ArrowException):
        problems = [Problem("is not a valid Parquet file: it is damaged")]
    if table is None or problems:
        raise FormatError(path, problems)
    return ColumnRecords(read_columns(path, table))


def read_columns(source: Path | str, table: pa.Table) -> dict[str, list[Any]]:
    """Return the columns of a table of unknown origin, whose types JSON has, as lists of Python values."""
    import pyarrow as pa

    problems, columns = [], {}
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
        try:
            column.slice(row, 1).to_pylist()
        except UnicodeDecodeError:
            problems.append(
                Problem("contains text that is not valid UTF-8", record=f"row {row}", path=(name,))
            )
        except OverflowError:
            what = f"is a {column.type} that is out of range (expected a JSON value)"
            problems.append(Problem(what, record=f"row {row}", path=(name,)))
        except MemoryError:
            raise
        except (ValueError, LookupError, pa.ArrowException):
            problems.append(Problem("is damaged", record=f"row {row}", path=(name,)))
        if len(problems) == limits.MAX_PROBLEMS:
            break
    return problems or [Problem(f"column {quote(name)} is damaged")]
