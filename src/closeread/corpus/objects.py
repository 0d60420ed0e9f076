"""Objects in memory as JSON values: lists of values, and records, some of them stored as columns.

Tables and columns of any library that has Arrow's C interface (pyarrow, polars, duckdb …) are read through it; datasets
name their classes; pandas, whose columns may hold what Arrow refuses, NumPy and torch have lists.  No library of data
frames or datasets is imported: who has such an object has it.

Conventions: rows are numbered from 0 in messages.  Labels that a dataset stores as integers are converted to the names
that its features give them.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from closeread.corpus.schema import Node, RowValidator, name_label
from closeread.corpus.validation import (
    PLAIN,
    Convert,
    accept_rows,
    as_json,
    convert_fields,
    convert_items,
    convert_rows,
)
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
from closeread.records import ColumnRecords, Record, Table

Columns = dict[str, list[Any]]

SINGLE_ROW = "got a single row (expected a list of rows, or columns by name)"


def as_list(side: str, values: Any) -> list[Any]:
    """Convert a list, array, tensor or column, or the rows of a dataset or data frame, to a list of JSON values."""
    if isinstance(values, Mapping):
        raise _refuse_type(side, values)
    content = _read(side, values)
    if isinstance(content, dict):
        return list(_to_records(side, content)) if content else []
    return content


def take_rows(
    side: str, rows: Table | Iterable[object], by_name: tuple[str, str] | None = None
) -> Sequence[Any]:
    """Return a list of rows, a mapping of columns, a dataset, or a data frame as rows; their reader validates them.

    Args:
        side: what to call the rows in messages; a SubmissionError says what is wrong with "predictions".
        rows: the objects in memory.
        by_name: the fields of a row for which a mapping from names to values, or to rows, may stand, such as a document
            and its clusters; None if there are none.  Data frames and series of pandas may have the names as index.
    """
    if isinstance(rows, ColumnRecords):
        return rows
    try:
        if by_name is not None:
            rows = _name_rows(side, rows, *by_name)
        content = _read(side, rows)
        return _to_records(side, content) if isinstance(content, dict) else content
    except SubmissionError as error:
        kind = SubmissionError if side == "predictions" else FormatError
        raise kind(side, error.problems) from error.__cause__


def records(side: str, rows: Any, node: Node) -> Sequence[Record]:
    """Convert rows, or a table, to records with the fields of a definition of a schema, which is an object.

    Fields that the schema does not define, such as columns added by a tokenizer, are dropped.
    """
    fields = node["properties"]
    content = _read(side, rows, list(fields))
    if isinstance(content, dict):
        if not content:
            expected = ", ".join(node.get("required", ()))
            raise _refuse(side, f"has none of the fields of a record (expected {expected})")
        return _to_records(side, content)
    converted = []
    for row in content:
        if isinstance(row, Mapping):
            row = {name: as_json(row[name]) for name in fields if name in row}
        converted.append(row)
    return converted


def check_rows(
    side: str,
    validator: RowValidator,
    rows: Sequence[Any],
    numbers: Sequence[int],
    absent: str = "",
    *,
    unsafe: re.Pattern[str] = UNSAFE,
) -> Sequence[Any]:
    """Validate rows in memory with these numbers, and return them with JSON types as the schema wants them.

    For a row that is None, `absent` is the message; if it is empty, the validator's is.
    """
    rows, rejected = accept_rows(validator, convert_rows(rows), numbers, unsafe=unsafe)
    if not rejected:
        return rows
    # A row may itself be a list, such as one of clusters.
    if isinstance(rows, list) and validator.accepts(rows):
        advice = f"expected a list with one item per document; wrap them in a list: [{side}]"
        raise _refuse(side, f"are the {validator.title} of a single document ({advice})")
    row_by_number = dict(zip(numbers, rows, strict=True))
    problems = []
    for problem in rejected:
        if absent and row_by_number[problem.row or 0] is None:
            problem = Problem(absent, row=problem.row)
        problems.append(problem.in_row())
    raise SubmissionError(side, problems)


def _refuse(side: str, message: str) -> SubmissionError:
    return SubmissionError(side, [Problem(message)])


def _refuse_type(side: str, value: object) -> SubmissionError:
    name = type(value).__name__
    found = "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
    return _refuse(side, f"expected a list with one item per row, got {found}")


def _name_rows(side: str, rows: Any, key: str, field: str) -> Any:
    """Turn a mapping or an indexed frame into rows or columns with the names as a field; leave others unchanged."""
    named: Iterable[tuple[Any, Any]]
    if isinstance(rows, Mapping):
        if isinstance(rows.get(key), str):
            raise _refuse(side, SINGLE_ROW)
        if key in rows or field in rows or _has_texts(rows) or _has_splits(rows):
            return rows
        named = rows.items()
    elif _has_named_index(rows, key):
        if hasattr(rows, "columns"):
            return rows if key in rows.columns else rows.rename_axis(key).reset_index()
        named = zip(rows.index.tolist(), _read_items(side, rows), strict=True)
    else:
        return rows
    named_rows = []
    for name, value in named:
        fields = value if isinstance(value, Mapping) else {field: value}
        named_rows.append({key: name, **fields})
    return named_rows


def _has_texts(columns: Mapping[Any, Any]) -> bool:
    """Tell whether a mapping has lists of text, so that it is a table whose columns are misspelt."""
    lists = [values for values in columns.values() if isinstance(values, list)]
    return any(isinstance(value, str) for value in chain.from_iterable(lists))


def _has_named_index(rows: Any, key: str) -> bool:
    """Tell whether rows are a frame or a series of pandas that has names as its index."""
    if not hasattr(rows, "isna"):
        return False
    index = rows.index
    return bool(index.name == key or index.inferred_type == "string")


def _to_records(side: str, columns: Columns) -> Sequence[Record]:
    if not columns:
        raise _refuse(side, "has no columns")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise _refuse(
            side, f"columns differ in length: {sizes} (expected one value per row in each)"
        )
    return ColumnRecords(columns)


def _read(side: str, rows: Any, known: Sequence[str] | None = None) -> Columns | list[Any]:
    """Return the known columns of a table, or all of them; the items of anything else."""
    if isinstance(rows, Mapping) and _has_splits(rows):
        splits = f"the splits {', '.join(map(quote, rows))}"
        if len(rows) == 1:
            splits = f"a split by name, {quote(*rows)}"
        raise _refuse(side, f"got {splits} (expected the rows of one split)")
    # Not every row of a stream has to have every column.
    if is_stream(rows):
        return [as_json(row) for row in _read_stream(side, rows)]
    content = _read_arrow(side, rows, known)
    if content is not None:
        return content
    names = list(rows) if isinstance(rows, Mapping) else getattr(rows, "columns", None)
    if names is None or callable(names):
        return _read_items(side, rows)
    if isinstance(rows, Mapping) and rows and not any(map(_is_column, rows.values())):
        raise _refuse(side, SINGLE_ROW)
    selected = _select_names(side, names, known)
    return {name: _read_items(f"{side}: {name}", rows[name]) for name in selected}


def _read_items(side: str, values: Any) -> list[Any]:
    """Return the items of a list, an array, a tensor or a column as JSON values."""
    content = _read_arrow(side, values)
    if isinstance(content, list):
        return content
    # pandas uses NaN for missing text.
    if hasattr(values, "isna"):
        values = values.astype(object).where(values.notna(), None)
    # Of pyarrow, of polars, and of NumPy, pandas and torch.
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            values = getattr(values, method)()
            break
    if not _is_column(values):
        raise _refuse_type(side, values)
    try:
        # A slice reads a lazy column at once.
        rows = list(values[:]) if isinstance(values, Sequence) else list(values)
    except UnicodeDecodeError:  # of a lazy column
        raise _refuse(side, "contains text that is not valid UTF-8") from None
    if set(map(type, rows)) <= PLAIN:
        return rows
    return [value if type(value) in PLAIN else as_json(value) for value in rows]


def _is_column(values: object) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)


def _select_names(side: str, names: Iterable[str], known: Sequence[str] | None) -> list[str]:
    """Return the names of the known columns, or of all; none may occur twice."""
    selected = [name for name in names if known is None or name in known]
    problems = find_repeated_columns(selected)
    if problems:
        raise SubmissionError(side, problems)
    return selected


def find_repeated_columns(names: Sequence[str]) -> list[Problem]:
    """Return a problem for each name that several columns have."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    return [Problem(f"has several columns {quote(str(name))}") for name in repeated]


# Arrow and datasets


def _read_arrow(
    side: str, values: Any, known: Sequence[str] | None = None
) -> Columns | list[Any] | None:
    """Return the known columns of a dataset or an Arrow table, or all; the items of an Arrow column; None for others.

    Labels are named as in the dataset, whose order of classes may differ from the schema's.
    """
    if is_dataset(values):
        names = _select_names(side, values.column_names, known)
        # A dataset without columns has no rows.
        if not names:
            return {}
        table = values.select_columns(names).with_format("arrow")[:]
        columns = _read_table(side, table)
        features = values.features
        return {name: name_classes(features.get(name), columns[name]) for name in columns}
    is_stream_of_arrow = hasattr(values, "__arrow_c_stream__")
    if hasattr(values, "isna") or not (is_stream_of_arrow or hasattr(values, "__arrow_c_array__")):
        return None
    import pyarrow as pa

    if any(hasattr(values, name) for name in ("columns", "column_names", "schema")):
        table = pa.table(values)
        return _read_table(side, table.select(_select_names(side, table.column_names, known)))
    column = pa.chunked_array(values) if is_stream_of_arrow else pa.array(values)
    return _read_table(side, pa.table([column], ["values"]))["values"]


def _read_table(side: str, table: Any) -> Columns:
    try:
        return read_columns(side, table)
    except FormatError as error:
        raise SubmissionError(side, error.problems) from None


def is_dataset(rows: object) -> bool:
    """Tell whether rows are a `datasets.Dataset`."""
    datasets = sys.modules.get("datasets")
    return datasets is not None and isinstance(rows, datasets.Dataset)


def is_stream(rows: object) -> bool:
    """Tell whether rows are a `datasets.IterableDataset`."""
    datasets = sys.modules.get("datasets")
    return datasets is not None and isinstance(rows, datasets.IterableDataset)


def _has_splits(rows: Mapping[Any, object]) -> bool:
    return any(is_dataset(split) or is_stream(split) for split in rows.values())


def _read_stream(side: str, stream: Any) -> list[Any]:
    """Read the rows of a `datasets.IterableDataset`, whose generator and conversions may raise any error."""
    rows: list[Any] = []
    try:
        for row in stream.with_format(None):
            rows.append(row)  # noqa: PERF402 (how many there are must be known if the next can't be read)
    except (InputError, RequestError, MemoryError):
        raise
    except Exception as error:
        reason = escape_line(shorten(f"{type(error).__name__}: {error}", 200))
        raise _refuse(side, f"can't be read from row {len(rows)} on ({reason})") from error
    return name_classes(stream.features or {}, rows)


def name_classes(feature: Any, values: list[Any]) -> list[Any]:
    """Replace the numbers of classes by the names of a feature of `datasets`, inside lists and structs, too."""
    convert = _find_namer(feature)
    return values if convert is None else list(map(convert, values))


def _find_namer(feature: Any) -> Convert | None:
    if feature is None:
        return None
    if isinstance(feature, Mapping):
        return convert_fields({name: _find_namer(child) for name, child in feature.items()})
    inner = getattr(feature, "feature", None)
    if isinstance(feature, list) and feature:
        inner = feature[0]
    if inner is not None:
        return convert_items(_find_namer(inner))
    if not isinstance(feature, sys.modules["datasets"].ClassLabel):
        return None
    return partial(name_label, feature.names)
