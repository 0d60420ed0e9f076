"""Arrow tables and columns in memory: those of pyarrow, of `datasets` and of polars.

pyarrow is not imported here unless somebody has such an object.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from closeread.corpus.arrow_columns import find_foreign_columns
from closeread.exceptions import FormatError, SubmissionError
from closeread.formats.arrow import read_columns

if TYPE_CHECKING:
    import pyarrow as pa

COLUMN = "values"
"""The name of a column that is not in a table."""


def find_table(values: Any) -> pa.Table | None:
    """Return the Arrow table of a table, a record batch, a data frame of polars or a `datasets.Dataset`.

    None for anything else.  The columns of a dataset are not decoded: labels are integers.
    """
    pa, datasets = sys.modules.get("pyarrow"), sys.modules.get("datasets")
    if datasets is not None and isinstance(values, datasets.Dataset):
        return values.with_format("arrow")[:] if values.column_names else None
    if hasattr(values, "to_arrow") and hasattr(values, "columns"):
        return values.to_arrow()
    if pa is not None and isinstance(values, pa.RecordBatch):
        return pa.Table.from_batches([values])
    return values if pa is not None and isinstance(values, pa.Table) else None


def find_column(values: Any) -> pa.Table | None:
    """Return a table of the only column that an array of pyarrow or a series of polars is; None for anything else."""
    if hasattr(values, "to_arrow") and hasattr(values, "to_list"):
        values = values.to_arrow()
    pa = sys.modules.get("pyarrow")
    if pa is not None and isinstance(values, pa.Array | pa.ChunkedArray):
        return pa.table([values], [COLUMN])
    return None


def read_table(side: str, table: pa.Table, known: Sequence[str] | None = None) -> dict[str, list[Any]]:
    """Return the columns of a table as lists of Python values.

    Args:
        side: what to call the table in messages.
        table: the table.
        known: the columns to read; None for all.

    Raises:
        SubmissionError: columns have types that JSON does not have, or the same name, or are damaged; all problems at
            once.
    """
    indices = [i for i, name in enumerate(table.column_names) if known is None or name in known]
    table = table.select(indices)
    if problems := find_foreign_columns(table.schema):
        raise SubmissionError(side, problems)
    try:
        return read_columns(side, table)
    except FormatError as error:
        raise SubmissionError(side, error.problems) from None
