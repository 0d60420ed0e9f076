"""Arrow tables of unknown origin: their values, or one error with the rows that have none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from closeread import limits
from closeread.exceptions import FormatError, Problem, quote

if TYPE_CHECKING:
    import pyarrow as pa


def read_columns(source: Path | str, table: pa.Table) -> dict[str, list[Any]]:
    """Return the columns of a table as lists of Python values.

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
        except MemoryError:  # Arrow's own is an ArrowException, too
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
