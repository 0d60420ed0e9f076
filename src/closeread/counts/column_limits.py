"""The columns of a file of counts, which are read only if they don't take more memory than counts need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from closeread import limits
from closeread.errors import FormatError, Problem

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["MAX_CELLS", "MAX_COLUMNS", "read_columns"]

MAX_COLUMNS = 1000
MAX_CELLS = 2**28
"""The limits of a file's columns, and of its rows times columns, which its size does not tell: rows may be repeated."""


def read_columns(path: Path, file: pq.ParquetFile, schema: pa.Schema) -> pa.Table:
    """Read a file's columns, unless they take more memory than counts need.

    Args:
        path: the file, for messages.
        file: the file, whose texts are read as dictionaries.
        schema: its columns.

    Raises:
        FormatError: they decode to more bytes than a file may have.
        ValueError: it has more rows or columns than are read.
    """
    import pyarrow as pa

    rows, columns = file.metadata.num_rows, file.metadata.num_columns
    if columns > MAX_COLUMNS or rows * columns > MAX_CELLS:
        raise ValueError(f"{rows:,} rows of {columns:,} columns are too many")
    batches, size, limit = [], 0, limits.max_file_bytes()
    for batch in file.iter_batches():
        size += sum(map(_measure, batch.columns))
        if size > limit:
            raise FormatError(path, [Problem(f"is too large: more than {limit:,} bytes when decoded")])
        batches.append(pa.record_batch([_decode(column) for column in batch.columns], schema))
    return pa.Table.from_batches(batches, schema)


def _measure(column: pa.Array) -> int:
    """Return the bytes that a column takes without its dictionary."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(column, pa.DictionaryArray):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).cast(pa.int64())
    return int(column.indices.nbytes) + (pc.sum(lengths.take(column.indices)).as_py() or 0)


def _decode(column: pa.Array) -> pa.Array:
    """Return a column without its dictionary."""
    import pyarrow as pa

    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
