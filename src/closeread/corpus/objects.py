"""Objects in memory as JSON values: lists of values, and records, some of them stored as columns.

Tables and columns of any library that has Arrow's C interface (pyarrow, polars, duckdb …) are read through it; datasets
name their classes; pandas, whose columns may hold what Arrow refuses, NumPy and torch have lists.  No library of data
frames or datasets is imported: who has such an object has it.

Conventions: rows are numbered from 0 in messages.  Labels that a dataset stores as integers are converted to the names
that its features give them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, cast, runtime_checkable

from closeread.corpus.schema import Node, RowValidator, Schema, label_names, load_schema, resolve, value_type
from closeread.corpus.validation import PLAIN, accept_rows, as_json, convert_rows, describe_unwrapped
from closeread.exceptions import (
    FormatError,
    InputError,
    Problem,
    RequestError,
    SubmissionError,
    escape_line,
    quote,
    shorten,
)
from closeread.formats.parquet import read_columns
from closeread.formats.text import UNSAFE
from closeread.records import ColumnRecords, Record

if TYPE_CHECKING:
    import pyarrow as pa


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

CONVERSIONS = ("to_pylist", "to_list", "tolist")
"""Methods that turn columns into lists: of pyarrow, of polars, and of NumPy, pandas and torch."""


def as_list(side: str, values: Any) -> list[Any]:
    """Convert a list, array, tensor or column, or the rows of a dataset or data frame, to a list of JSON values.

    Raises:
        SubmissionError: they are a single value, or columns of types that JSON does not have.
    """
    if is_stream(values):
        return [as_json(row) for row in _read_stream(side, values)]
    if (columns := _read_table(side, values, None)) is not None:
        if not _is_table(values):
            return columns[COLUMN]
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
                return convert_rows([{name: of, value: what} for of, what in rows.items()])
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


def name_labels(rows: Sequence[Any], schema_name: str, definition: str) -> Sequence[Any]:
    """Replace integers, as which `datasets` may store labels, by their names, in rows of a definition of a schema."""
    schema = load_schema(schema_name)
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
    if _is_table(rows) and (table := _read_table(side, rows, known)) is not None:
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
    if isinstance(rows, Mapping) and any(is_dataset(one) or is_stream(one) for one in rows.values()):
        splits = f"the splits {', '.join(map(quote, rows))}" if len(rows) > 1 else f"a split by name, {quote(*rows)}"
        raise SubmissionError(side, [Problem(f"got {splits} (expected the rows of one split)")])


def _is_column(values: object) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)


def _read_table(side: str, rows: Any, known: Sequence[str] | None) -> dict[str, list[Any]] | None:
    """Return the known columns of a dataset or an Arrow table, or all; None for anything else.

    A column alone is a table with the column `COLUMN`.  Labels have the dataset's own names, whose order may differ
    from ours.
    """
    table, features = find_table(rows, known), rows.features if is_dataset(rows) else {}
    if table is None:
        return {} if is_dataset(rows) else None  # without columns, a dataset has no rows
    if problems := find_foreign_columns(table.schema):
        raise SubmissionError(side, problems)
    try:
        columns = read_columns(side, table)
    except FormatError as error:
        raise SubmissionError(side, error.problems) from None
    return {name: name_classes(features.get(name), values) for name, values in columns.items()}


def _select_fields(row: Mapping[str, Any], fields: Mapping[str, Node]) -> Record:
    return {name: label_names(node, [as_json(row[name])])[0] for name, node in fields.items() if name in row}


def _describe_type(value: object) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


# Arrow

COLUMN = "values"
"""The name of a column that is not in a table."""


def find_table(values: Any, known: Sequence[str] | None = None) -> pa.Table | None:
    """Return the Arrow table of a table, a column or a `datasets.Dataset`, with the known columns; None for others.

    The columns of a dataset are not decoded: labels are integers.
    """
    if is_dataset(values):
        present = [name for name in values.column_names if known is None or name in known]
        return values.select_columns(present).with_format("arrow")[:] if present else None
    is_arrow = hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")
    if not is_arrow or hasattr(values, "isna"):
        return None
    import pyarrow as pa

    if not _is_table(values):
        make = pa.chunked_array if hasattr(values, "__arrow_c_stream__") else pa.array
        return pa.table([make(values)], [COLUMN])
    table = pa.table(values)
    return table.select([i for i, name in enumerate(table.column_names) if known is None or name in known])


def _is_table(values: Any) -> bool:
    """Tell whether an object with Arrow's interface is a table, not a column."""
    return any(hasattr(values, name) for name in ("columns", "column_names", "schema"))


ACCEPTED = {
    "string": ("string",),
    "integer": ("integer", "number"),
    "number": ("integer", "number"),
    "boolean": ("boolean",),
}
"""The JSON types that the values of a column may have, by the type of the schema; of numbers, whole ones are integers.

Labels, and text that accepts integers, may be numbers, too.
"""

JSON_TYPES = "a string, a number, a boolean, a list or a struct"


def find_column_problems(found: pa.Schema, schema: Schema, definition: str) -> list[Problem]:
    """Find columns that are not in a definition of a corpus's schema, are missing or have other types.

    Args:
        found: the Arrow schema of a table.
        schema: the corpus's schema.
        definition: the definition that its rows follow, which is an object.
    """
    return list(_compare_fields(schema, list(found), resolve(schema, schema["$defs"][definition]), ""))


def find_foreign_columns(found: pa.Schema) -> list[Problem]:
    """Find columns of types that JSON does not have, and names that several columns have."""
    return list(_compare_fields({}, list(found), None, ""))


def _compare_fields(schema: Schema, found: Sequence[pa.Field], node: Node | None, place: str) -> Iterator[Problem]:
    """Compare columns, or the fields of an object at a place, with a node of the schema; None for anything."""
    what = "field" if place else "column"
    where = f"column {quote(place)} " if place else ""
    names = [field.name for field in found]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1) if len(set(names)) < len(names) else ():
        yield Problem(f"{where}has several {what}s {quote(name)}")
    if node is not None:
        known = ", ".join(map(quote, node["properties"]))
        for name in node.get("required", ()):
            if name not in names:
                yield Problem(f"{where}has no {what} {quote(name)} ({what}s: {', '.join(map(quote, names))})")
        for name in names:
            if name not in node["properties"]:
                yield Problem(f"{where}has an unknown {what} {quote(name)} (expected {known})")
    for field in found:
        child = None if node is None else node["properties"].get(field.name)
        if node is None or child is not None:
            inner = f"{place}.{field.name}" if place else field.name
            yield from _compare(schema, field.type, None if child is None else resolve(schema, child), inner)


def _compare(schema: Schema, kind: pa.DataType, node: Node | None, place: str) -> Iterator[Problem]:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    name, expected = _name_type(kind), None if node is None else value_type(node)
    if name == "null":
        return
    if name == "array" and expected in ("array", None):
        items = None if node is None else resolve(schema, node["items"])
        yield from _compare(schema, kind.value_type, items, place)
    elif name == "object" and expected in ("object", None):
        yield from _compare_fields(schema, list(kind), node, place)
    elif name is None or (node is not None and name not in _accept(node)):
        wanted = JSON_TYPES if expected is None else {"array": "list", "object": "struct"}.get(expected, expected)
        yield Problem(f"column {quote(place)} is {shorten(str(kind), 60)} (expected {wanted})")


def _accept(node: Node) -> tuple[str, ...]:
    """Return the JSON types of the values that a node may have."""
    accepted = ACCEPTED.get(value_type(node), ())
    return (*accepted, "integer", "number") if "enum" in node or node.get("x-accepts-integer") else accepted


def _name_type(kind: pa.DataType) -> str | None:
    """Return the JSON type of an Arrow type; None if there is none."""
    import pyarrow as pa

    types = pa.types
    names = {
        "null": types.is_null,
        "boolean": types.is_boolean,
        "integer": types.is_integer,
        "number": lambda kind: types.is_floating(kind) or types.is_decimal(kind),
        "string": lambda kind: types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind),
        "array": _is_list,
        "object": types.is_struct,
    }
    if isinstance(kind, pa.BaseExtensionType):
        return None
    return next((name for name, is_of in names.items() if is_of(kind)), None)


def _is_list(kind: pa.DataType) -> bool:
    from pyarrow import types

    of_views = types.is_list_view(kind) or types.is_large_list_view(kind)
    return bool(of_views or types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


# Datasets


def is_dataset(rows: object) -> bool:
    """Tell whether rows are a `datasets.Dataset`."""
    datasets = sys.modules.get("datasets")
    return datasets is not None and isinstance(rows, datasets.Dataset)


def is_stream(rows: object) -> bool:
    """Tell whether rows are a `datasets.IterableDataset`."""
    datasets = sys.modules.get("datasets")
    return datasets is not None and isinstance(rows, datasets.IterableDataset)


def _read_stream(side: str, rows: Any) -> list[Any]:
    """Read the rows of a `datasets.IterableDataset`, with the names of classes for their numbers.

    Args:
        side: what to call the rows in messages.
        rows: the dataset, whose generator, conversions and files may raise whatever they like.

    Raises:
        SubmissionError: rows can't be read; its cause is the error that says why.
    """
    found: list[Any] = []
    try:
        for row in rows.with_format(None):
            found.append(row)  # noqa: PERF402 (how many there are must be known if the next can't be read)
    except (InputError, RequestError, MemoryError):
        raise
    except Exception as error:
        what = escape_line(shorten(f"{type(error).__name__}: {error}", 200))
        raise SubmissionError(side, [Problem(f"can't be read from row {len(found)} on ({what})")]) from error
    return name_classes(rows.features or {}, found)


def name_classes(kind: Any, values: list[Any]) -> list[Any]:
    """Replace the numbers of classes by the names that a dataset gives them, inside lists and structs, too.

    Args:
        kind: the feature that the values have, of `datasets`.
        values: the values; numbers without a name, and other values, are unchanged.
    """
    if not _has_classes(kind):
        return values
    if isinstance(kind, Mapping):
        fields = {name: one for name, one in kind.items() if _has_classes(one)}
        return [_name_fields(fields, value) if isinstance(value, Mapping) else value for value in values]
    if (item := _find_item(kind)) is not None:
        return [name_classes(item, value) if isinstance(value, list) else value for value in values]
    return list(label_names({"enum": kind.names}, values))


def _name_fields(fields: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    return {**value, **{name: name_classes(kind, [value[name]])[0] for name, kind in fields.items() if name in value}}


def _has_classes(kind: Any) -> bool:
    if kind is None:
        return False
    if isinstance(kind, Mapping):
        return any(map(_has_classes, kind.values()))
    if (item := _find_item(kind)) is not None:
        return _has_classes(item)
    return isinstance(kind, sys.modules["datasets"].ClassLabel)


def _find_item(kind: Any) -> Any:
    """Return the feature of the items of a list; None if the feature is no list."""
    return kind[0] if isinstance(kind, list) and kind else getattr(kind, "feature", None)
