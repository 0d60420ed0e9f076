"""Convert what callers pass to a metric into JSON values: lists of values, and records stored as columns.

Conventions: rows are numbered from 0 in messages.  Labels that a dataset stores as integers are converted to the names
that its features give them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import datasets

from closeread.corpora.leniency import describe_unwrapped
from closeread.corpora.schema import Node, RowValidator, Schema, label_names, resolve
from closeread.errors import Problem, SubmissionError, quote
from closeread.records import ColumnRecords, Record

PLAIN = {str, int, float, bool, type(None), list, dict}
CONVERSIONS = ("to_pylist", "to_list", "tolist")
"""Methods that turn columns into lists: of pyarrow, of polars, and of NumPy, pandas and torch."""


def as_list(side: str, values: Any) -> list[Any]:
    """Convert a list, array, tensor or column, or the rows of a dataset or data frame, to a list of JSON values.

    Raises:
        SubmissionError: they are a single value.
    """
    if _is_dataset(values):
        return list(values.with_format(None))
    if hasattr(values, "isna"):  # pandas uses NaN for missing text
        values = values.astype(object).where(values.notna(), None)
        if hasattr(values, "columns"):
            values = values.to_dict("records")
    for name in CONVERSIONS:
        if hasattr(values, name):
            values = getattr(values, name)()
            break
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise SubmissionError(side, [Problem(f"expected a list with one item per row, got {_describe_type(values)}")])
    # A slice reads a lazy column at once.
    rows = list(values[:]) if isinstance(values, Sequence) else list(values)
    return (
        rows if set(map(type, rows)) <= PLAIN else [value if type(value) in PLAIN else as_json(value) for value in rows]
    )


def check_rows(
    side: str, validator: RowValidator, rows: Sequence[Any], numbers: Sequence[int], absent: str = ""
) -> Sequence[Any]:
    """Validate rows and return them; if they are invalid, try again with arrays and tuples converted to JSON values.

    Args:
        side: what to call the rows in messages.
        validator: what validates them.
        rows: the rows.
        numbers: the number of each row.
        absent: what is wrong with a row that is None; empty to let the validator word it.

    Raises:
        SubmissionError: rows break the schema.
    """
    if not validator.problems(rows, numbers):
        return rows
    try:
        if isinstance(rows, ColumnRecords):
            rows = ColumnRecords(as_json(rows.columns))
        else:
            rows = [as_json(row) for row in rows]
        problems = validator.problems(rows, numbers)
    except RecursionError:
        raise SubmissionError(side, [Problem("a row is nested too deeply")]) from None
    if problems:
        if unwrapped := describe_unwrapped(validator, side, rows):
            raise SubmissionError(side, [Problem(unwrapped)])
        row_of = dict(zip(numbers, rows, strict=True))
        messages = [(p.row, absent if absent and row_of[p.row or 0] is None else p.message) for p in problems]
        raise SubmissionError(side, [Problem(f"row {row}: {what}") for row, what in messages])
    return rows


def as_json(value: Any) -> Any:
    """Convert the NumPy scalars, tensors and tuples in a value to JSON types; leave anything else unchanged."""
    if isinstance(value, Mapping):
        return {name: as_json(child) for name, child in value.items()}
    if hasattr(value, "tolist"):  # arrays, tensors and their scalars
        value = value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(child) for child in value]
    return value


def records(side: str, rows: Any, schema: Schema, node: Node) -> Sequence[Record]:
    """Convert rows to records with the fields of a schema's definition.

    Args:
        side: what to call the rows in messages.
        rows: records, or a table: a `datasets.Dataset`, a data frame, a mapping of columns.
        schema, node: the definition, which is an object.

    Fields that the schema does not define, such as columns added by a tokenizer, are dropped.

    Raises:
        SubmissionError: the rows are not rows, or the columns differ in length.
    """
    fields = {name: resolve(schema, child) for name, child in node["properties"].items()}
    columns = _read_columns(side, rows, list(fields))
    if columns is None:
        found = as_list(side, rows)
        required = set(node.get("required", ()))
        if not found:
            return ColumnRecords({name: [] for name in required})
        if not all(isinstance(row, Mapping) and row.keys() >= required for row in found):
            return [_select_fields(row, fields) if isinstance(row, Mapping) else row for row in found]
        present = [name for name in fields if all(name in row for row in found)]
        partial = [name for name in fields if name not in present and any(name in row for row in found)]
        if partial:
            return [_select_fields(row, fields) for row in found]
        columns = {name: as_list(side, [row[name] for row in found]) for name in present}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise SubmissionError(
            side, [Problem(f"columns differ in length: {sizes} (expected one value per row in each)")]
        )
    if not columns:
        expected = ", ".join(node.get("required", ()))
        raise SubmissionError(side, [Problem(f"has none of the fields of a record (expected {expected})")])
    return ColumnRecords({name: label_names(fields[name], values) for name, values in columns.items()})


def _read_columns(side: str, rows: Any, known: Sequence[str]) -> dict[str, list[Any]] | None:
    """Return the known columns of a table; None for anything else."""
    if isinstance(rows, Mapping) and any(_is_dataset(value) for value in rows.values()):
        splits = ", ".join(map(quote, rows))
        raise SubmissionError(side, [Problem(f"got several splits: {splits} (expected the rows of one split)")])
    if _is_dataset(rows):
        return _read_dataset(rows, known)
    names = getattr(rows, "column_names", getattr(rows, "columns", None))
    if isinstance(rows, Mapping):
        names = list(rows)
    if names is None or callable(names):
        return None
    return {name: as_list(f"{side}: {name}", rows[name]) for name in known if name in names}


def _is_dataset(rows: object) -> bool:
    return isinstance(rows, datasets.Dataset | datasets.IterableDataset)


def _read_dataset(rows: Any, known: Sequence[str]) -> dict[str, list[Any]]:
    """Return the known columns of a dataset, with its own names for labels, whose order may differ from ours."""
    features = rows.features or {}
    if isinstance(rows, datasets.Dataset):
        present = [name for name in known if name in rows.column_names]
        # Without columns, a dataset has no rows.
        table = dict(rows.with_format(None).select_columns(present)[:]) if present else {}
    else:
        found = list(rows.with_format(None))
        present = [name for name in known if all(name in row for row in found)]
        table = {name: [row[name] for row in found] for name in present}
    columns = {name: list(values) for name, values in table.items()}
    for name, values in columns.items():
        kind = features.get(name)
        if isinstance(kind, datasets.ClassLabel):
            columns[name] = [kind.int2str(value) if isinstance(value, int) else value for value in values]
    return columns


def _select_fields(row: Mapping[str, Any], fields: Mapping[str, Node]) -> Record:
    return {name: label_names(node, [as_json(row[name])])[0] for name, node in fields.items() if name in row}


def _describe_type(value: object) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
