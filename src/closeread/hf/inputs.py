"""What callers hand to a metric, as JSON values: lists of values, and records kept as columns.

Conventions: a row's number counts from 0 and stands in every message.  Labels that a dataset holds as integers are
taken by the names that its features give them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import datasets

from closeread.corpora.schema import Node, Schema, label_names, resolve
from closeread.errors import Problem, SubmissionError, quote
from closeread.records import ColumnRecords, Record

PLAIN = {str, int, float, bool, type(None), list, dict}
CONVERSIONS = ("to_pylist", "to_list", "tolist")
"""How columns of pyarrow, of polars, and of NumPy, pandas and torch become lists."""


def as_list(side: str, values: Any) -> list[Any]:
    """Values as a list of JSON values, whatever holds them: a list, an array, a tensor, a column, the rows of a
    dataset or a data frame.

    Raises:
        SubmissionError: they are one value, not many.
    """
    if _is_dataset(values):
        return list(values.with_format(None))
    if hasattr(values, "isna"):  # pandas has NaN where a text is missing
        values = values.astype(object).where(values.notna(), None)
        if hasattr(values, "columns"):
            values = values.to_dict("records")
    for name in CONVERSIONS:
        if hasattr(values, name):
            values = getattr(values, name)()
            break
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise SubmissionError(side, [Problem(f"{_kind(values)} was given; needed: a list, one item a row")])
    # A slice reads a lazy column at once.
    rows = list(values[:]) if isinstance(values, Sequence) else list(values)
    return (
        rows if set(map(type, rows)) <= PLAIN else [value if type(value) in PLAIN else as_json(value) for value in rows]
    )


def as_json(value: Any) -> Any:
    """A value with its NumPy scalars, tensors and tuples as what JSON has; what has no such form stays as it is."""
    if isinstance(value, Mapping):
        return {name: as_json(child) for name, child in value.items()}
    if hasattr(value, "tolist"):  # arrays, tensors and their scalars alike
        value = value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(child) for child in value]
    return value


def records(side: str, rows: Any, schema: Schema, node: Node) -> Sequence[Record]:
    """Rows with the fields that a definition of a schema knows.

    Args:
        side: what the rows are called in messages.
        rows: records, or a table: a `datasets.Dataset`, a data frame, a mapping of columns.
        schema, node: the definition, which is an object.

    Fields that the schema does not know are left out: they are no part of the gold, such as the columns that a
    tokenizer added.

    Raises:
        SubmissionError: the rows are no rows, or columns differ in length.
    """
    fields = {name: resolve(schema, child) for name, child in node["properties"].items()}
    columns = _columns(side, rows, list(fields))
    if columns is None:
        found = as_list(side, rows)
        required = set(node.get("required", ()))
        if not found:
            return ColumnRecords({name: [] for name in required})
        if not all(isinstance(row, Mapping) and row.keys() >= required for row in found):
            return [_known(row, fields) if isinstance(row, Mapping) else row for row in found]
        present = [name for name in fields if all(name in row for row in found)]
        partial = [name for name in fields if name not in present and any(name in row for row in found)]
        if partial:
            return [_known(row, fields) for row in found]
        columns = {name: as_list(side, [row[name] for row in found]) for name in present}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise SubmissionError(side, [Problem(f"columns differ in length: {told}; needed: one value a row in each")])
    if not columns:
        needed = ", ".join(node.get("required", ()))
        raise SubmissionError(side, [Problem(f"has none of the fields of a record; needed: {needed}")])
    return ColumnRecords({name: label_names(fields[name], values) for name, values in columns.items()})


def _columns(side: str, rows: Any, known: Sequence[str]) -> dict[str, list[Any]] | None:
    """The known columns of a table; None for anything else."""
    if isinstance(rows, Mapping) and any(_is_dataset(value) for value in rows.values()):
        splits = ", ".join(map(quote, rows))
        raise SubmissionError(side, [Problem(f"several splits were given ({splits}); needed: the rows of one")])
    if _is_dataset(rows):
        return _columns_of_dataset(rows, known)
    names = getattr(rows, "column_names", getattr(rows, "columns", None))
    if isinstance(rows, Mapping):
        names = list(rows)
    if names is None or callable(names):
        return None
    return {name: as_list(f"{side}: {name}", rows[name]) for name in known if name in names}


def _is_dataset(rows: object) -> bool:
    return isinstance(rows, datasets.Dataset | datasets.IterableDataset)


def _columns_of_dataset(rows: Any, known: Sequence[str]) -> dict[str, list[Any]]:
    """The known columns of a dataset, labels by the names that it gives them, whose order may differ from ours."""
    features = rows.features or {}
    if isinstance(rows, datasets.Dataset):
        present = [name for name in known if name in rows.column_names]
        # Asked for without a column, a dataset has no rows.
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


def _known(row: Mapping[str, Any], fields: Mapping[str, Node]) -> Record:
    return {name: label_names(node, [as_json(row[name])])[0] for name, node in fields.items() if name in row}


def _kind(value: object) -> str:
    name = type(value).__name__
    return "nothing" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
