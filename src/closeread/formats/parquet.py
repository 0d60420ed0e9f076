"""Parquet files, as `closeread export` writes them: the columns of a split."""

from __future__ import annotations

from pathlib import Path

from closeread.errors import FormatError, Problem
from closeread.formats.text import read_bytes
from closeread.records import ColumnRecords

__all__ = ["read_parquet"]


def read_parquet(path: Path) -> ColumnRecords:
    """Read the rows of a Parquet file.

    Raises:
        FormatError: the file can't be read, is too large, or is not a Parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(read_bytes(path)))
    except (OSError, pa.ArrowException):
        raise FormatError(path, [Problem("is not a Parquet file")]) from None
    if not table.column_names:
        raise FormatError(path, [Problem("has no columns")])
    return ColumnRecords({name: table[name].to_pylist() for name in table.column_names})
