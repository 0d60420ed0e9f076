"""Convert objects in memory into JSON values: lists of values, and records, some of them stored as columns.

Conventions: rows are numbered from 0 in messages.  Labels that a dataset stores as integers are converted to the names
that its features give them.  No library of data frames or datasets is imported: who has such an object has it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Protocol, cast, runtime_checkable

from closeread.corpus.arrow_objects import COLUMN, find_column, find_table, read_table
from closeread.corpus.dataset_objects import is_dataset, is_stream, name_classes, read_stream
from closeread.corpus.leniency import accept_rows, describe_unwrapped
from closeread.corpus.schema import Node, RowValidator, Schema, label_names, load_schema, resolve
from closeread.corpus.values import as_json, convert_rows
from closeread.exceptions import FormatError, Problem, SubmissionError, quote
from closeread.formats.text import UNSAFE
from closeread.records import ColumnRecords, Record


@runtime_checkable
class Table(Protocol):
    """A table with named columns: a data frame of pandas or polars, an Arrow table, a `datasets.Dataset`."""

    def __len__(self) -> int:
        """Return the number of its rows."""
        ...

    def __getitem__(self, name: str, /) -> object:
        """Return a column."""
        ...


FileOrRows = Annotated[str | Path | Table | Iterable[object], "a file, a folder, rows or a table"]
"""A file, a folder, or objects in memory: rows, a table, or what a procedure takes by name, such as clusters."""

PLAIN = {str, int, float, bool, type(None), list, dict}
CONVERSIONS = ("to_pylist", "to_list", "tolist")
"""Methods that turn columns into lists: of pyarrow, of polars, and of NumPy, pandas and torch."""


def as_list(side: str, values: Any) -> list[Any]:
    """Convert a list, array, tensor or column, or the rows of a dataset or data frame, to a list of JSON values.

    Raises:
        SubmissionError: they are a single value, or columns of types that JSON does not have.
    """
    if is_stream(values):
        return [as_json(row) for row in read_stream(side, values)]
    if (column := find_column(values)) is not None:
        return read_table(side, column)[COLUMN]
    if (columns := _read_table(side, values, None)) is not None:
        return list(_to_records(side, columns)) if columns else []
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
    try:
        # A slice reads a lazy column at once.
        rows = list(values[:]) if isinstance(values, Sequence) else list(values)
    except UnicodeDecodeError:  # of a lazy column
        raise SubmissionError(side, [Problem("contains text that is not valid UTF-8")]) from None
    return (
        rows if set(map(type, rows)) <= PLAIN else [value if type(value) in PLAIN else as_json(value) for value in rows]
    )


def take_source(side: str, source: FileOrRows, by_name: tuple[str, str] | None = None) -> Path | Sequence[Any]:
    """Return the path of a file or folder, or objects in memory as rows.

    Args:
        side: what to call the rows in messages.
        source: the file, folder or objects.
        by_name: as for `take_rows`.

    Raises:
        InputError: the objects are not rows.
    """
    return Path(source) if isinstance(source, str | os.PathLike) else take_rows(side, source, by_name)


def take_rows(side: str, rows: Table | Iterable[object], by_name: tuple[str, str] | None = None) -> Sequence[Any]:
    """Convert objects in memory to rows as a file has them; whoever reads them validates them.

    Args:
        side: what to call the rows in messages.
        rows: a list of rows, a mapping of columns, a dataset, or a data frame.
        by_name: the fields of a row for which a mapping from names to values may stand, such as a document and its
            clusters; None if there are none.

    Raises:
        FormatError: they are not rows; a SubmissionError if they are predictions.
    """
    if isinstance(rows, ColumnRecords):
        return rows
    try:
        _refuse_splits(side, rows)
        if by_name is not None and isinstance(rows, Mapping):
            name, value = by_name
            if not rows.keys() >= {name, value}:
                return [as_json({name: of, value: what}) for of, what in rows.items()]
            if isinstance(rows[name], str):  # a row that is not in a list, as whoever reads the rows says
                return cast("Sequence[Any]", rows)
        columns = _read_columns(side, rows, None)
        return convert_rows(_to_records(side, columns) if columns is not None else as_list(side, rows))
    except SubmissionError as error:
        raise (SubmissionError if side == "predictions" else FormatError)(side, error.problems) from error.__cause__


def _to_records(side: str, columns: Mapping[str, list[Any]]) -> Sequence[Record]:
    """Return columns as records.

    Raises:
        SubmissionError: there are none, or they differ in length.
    """
    _check_lengths(side, columns)
    if not columns:
        raise SubmissionError(side, [Problem("has no columns")])
    return ColumnRecords(columns)


def name_labels(rows: Sequence[Any], corpus: str, definition: str) -> Sequence[Any]:
    """Replace integers, as which `datasets` may store labels, by their names, in rows of a definition of a schema."""
    schema = load_schema(corpus)
    nodes = resolve(schema, schema["$defs"][definition])["properties"]
    labels = {name: node for name, one in nodes.items() if "enum" in (node := resolve(schema, one))}
    if not labels:
        return rows
    if isinstance(rows, ColumnRecords):
        named = {name: label_names(labels.get(name, {}), values) for name, values in rows.columns.items()}
        return ColumnRecords(named)
    return [
        {**row, **{name: label_names(node, [row[name]])[0] for name, node in labels.items() if name in row}}
        if isinstance(row, dict)
        else row
        for row in rows
    ]


def check_rows(
    side: str,
    validator: RowValidator,
    rows: Sequence[Any],
    numbers: Sequence[int],
    absent: str = "",
    *,
    unsafe: re.Pattern[str] = UNSAFE,
) -> Sequence[Any]:
    """Validate rows in memory, and return them with JSON types as the schema wants them.

    Args:
        side: what to call the rows in messages.
        validator: what validates them.
        rows: the rows.
        numbers: the number of each row.
        absent: what is wrong with a row that is None; empty to let the validator word it.
        unsafe: characters that no string may contain.

    Raises:
        SubmissionError: rows break the schema.
    """
    rows, problems = accept_rows(validator, convert_rows(rows), numbers, unsafe=unsafe)
    if problems:
        if unwrapped := describe_unwrapped(validator, side, rows):
            raise SubmissionError(side, [Problem(unwrapped)])
        row_of = dict(zip(numbers, rows, strict=True))
        messages = [(p.row, absent if absent and row_of[p.row or 0] is None else p.message) for p in problems]
        raise SubmissionError(side, [Problem(f"row {row}: {what}") for row, what in messages])
    return rows


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
    _check_lengths(side, columns)
    if not columns:
        expected = ", ".join(node.get("required", ()))
        raise SubmissionError(side, [Problem(f"has none of the fields of a record (expected {expected})")])
    return ColumnRecords({name: label_names(fields[name], values) for name, values in columns.items()})


def _check_lengths(side: str, columns: Mapping[str, list[Any]]) -> None:
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        found = f"columns differ in length: {sizes} (expected one value per row in each)"
        raise SubmissionError(side, [Problem(found)])


def _read_columns(side: str, rows: Any, known: Sequence[str] | None) -> dict[str, list[Any]] | None:
    """Return the known columns of a table, or all; None for anything that is not a table."""
    _refuse_splits(side, rows)
    if is_stream(rows):  # not every row has to have every column
        return None
    if (table := _read_table(side, rows, known)) is not None:
        return table
    names = getattr(rows, "column_names", getattr(rows, "columns", None))
    if isinstance(rows, Mapping):
        names = list(rows)
    if names is None or callable(names):
        return None
    names = list(names)
    wanted = names if known is None else [name for name in known if name in names]
    if twice := [name for name in dict.fromkeys(wanted) if names.count(name) > 1]:
        raise SubmissionError(side, [Problem(f"has several columns {quote(str(name))}") for name in twice])
    if isinstance(rows, Mapping) and rows and not any(_is_column(rows[name]) for name in names):
        raise SubmissionError(side, [Problem("got a single row (expected a list of rows, or columns by name)")])
    return {name: as_list(f"{side}: {name}", rows[name]) for name in wanted}


def _refuse_splits(side: str, rows: object) -> None:
    if isinstance(rows, Mapping) and any(map(is_dataset, rows.values())):
        splits = f"the splits {', '.join(map(quote, rows))}" if len(rows) > 1 else f"a split by name, {quote(*rows)}"
        raise SubmissionError(side, [Problem(f"got {splits} (expected the rows of one split)")])


def _is_column(values: object) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)


def _read_table(side: str, rows: Any, known: Sequence[str] | None) -> dict[str, list[Any]] | None:
    """Return the known columns of a dataset or an Arrow table, or all; None for anything else.

    Labels have the dataset's own names, whose order may differ from ours.
    """
    if not is_dataset(rows):
        table = find_table(rows)
        return None if table is None else read_table(side, table, known)
    present = [name for name in known or rows.column_names if name in rows.column_names]
    # Without columns, a dataset has no rows.
    table = find_table(rows.select_columns(present)) if present else None
    columns = {} if table is None else read_table(side, table)
    return {name: name_classes(rows.features[name], values) for name, values in columns.items()}


def _select_fields(row: Mapping[str, Any], fields: Mapping[str, Node]) -> Record:
    return {name: label_names(node, [as_json(row[name])])[0] for name, node in fields.items() if name in row}


def _describe_type(value: object) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
