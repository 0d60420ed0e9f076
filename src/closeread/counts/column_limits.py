"""The columns of a file of counts, which are read only if they don't take more memory than counts need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from closeread import limits
from closeread.counts.arrow_arrays import measure_texts
from closeread.exceptions import FormatError, Problem

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

MAX_COLUMNS = 1000
MAX_CELLS = 2**28
"""The limits of a file's columns, and of its rows times columns, which its size does not tell: rows may be repeated."""


def read_columns(path: Path, file: pq.ParquetFile) -> list[list[pa.Array]]:
    """Read the chunks of each of a file's columns, unless they take more memory than counts need.

    Args:
        path: the file, for messages.
        file: the file, whose texts are read as dictionaries.

    Raises:
        FormatError: they decode to more bytes than a file may have.
        ValueError: it has more rows or columns than are read.
    """
    rows, columns = file.metadata.num_rows, file.metadata.num_columns
    if columns > MAX_COLUMNS or rows * columns > MAX_CELLS:
        raise ValueError(f"{rows:,} rows of {columns:,} columns are too many")
    batches, size, limit = [], 0, limits.max_file_bytes()
    for batch in file.iter_batches(use_threads=False):
        size += sum(map(_measure, batch.columns))
        if size > limit:
            raise FormatError(path, [Problem(f"is too large: more than {limit:,} bytes when decoded")])
        batches.append(batch.columns)
    return [list(chunks) for chunks in zip(*batches, strict=True)] or [[] for _ in range(columns)]


def _measure(column: pa.Array) -> int:
    """Return the bytes that a column takes without its dictionary."""
    return int(column.indices.nbytes) + measure_texts(column) if hasattr(column, "dictionary") else int(column.nbytes)
