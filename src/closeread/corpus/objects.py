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
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
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
from closeread.records import ColumnRecords, FileOrRows, Record, Table

Columns = dict[str, list[Any]]

SINGLE = Problem("got a single row (expected a list of rows, or columns by name)")


def as_list(side: str, values: Any) -> list[Any]:
    """Convert a list, array, tensor or column, or the rows of a dataset or data frame, to a list of JSON values."""
    if isinstance(values, Mapping):
        raise SubmissionError(
            side, [Problem(f"expected a list with one item per row, got {_describe_type(values)}")]
        )
    found = _read(side, values)
    return (list(_to_records(side, found)) if found else []) if isinstance(found, dict) else found


def take_source(
    side: str, source: FileOrRows, by_name: tuple[str, str] | None
) -> Path | Sequence[Any]:
    """Return the path of a file or folder, or objects in memory as rows (see `take_rows`)."""
    return (
        Path(source) if isinstance(source, str | os.PathLike) else take_rows(side, source, by_name)
    )


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
        found = _read(side, rows)
        return _to_records(side, found) if isinstance(found, dict) else found
    except SubmissionError as error:
        raise (SubmissionError if side == "predictions" else FormatError)(
            side, error.problems
        ) from error.__cause__


def records(side: str, rows: Any, node: Node) -> Sequence[Record]:
    """Convert rows, or a table, to records with the fields of a definition of a schema, which is an object.

    Fields that the schema does not define, such as columns added by a tokenizer, are dropped.
    """
    fields = node["properties"]
    found = _read(side, rows, list(fields))
    if not isinstance(found, dict):
        return [
            {name: as_json(row[name]) for name in fields if name in row}
            if isinstance(row, Mapping)
            else row
            for row in found
        ]
    if not found:
        expected = ", ".join(node.get("required", ()))
        raise SubmissionError(
            side, [Problem(f"has none of the fields of a record (expected {expected})")]
        )
    return _to_records(side, found)


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
    rows, problems = accept_rows(validator, convert_rows(rows), numbers, unsafe=unsafe)
    if not problems:
        return rows
    # a row may itself be a list, such as one of clusters
    if isinstance(rows, list) and validator.accepts(rows):
        what = f"are the {validator.title} of a single document"
        wrapped = f"(expected a list with one item per document; wrap them in a list: [{side}])"
        raise SubmissionError(side, [Problem(f"{what} {wrapped}")])
    row_of = dict(zip(numbers, rows, strict=True))
    found = []
    for problem in problems:
        if absent and row_of[problem.row or 0] is None:
            problem = Problem(absent, row=problem.row)
        found.append(problem.in_row())
    raise SubmissionError(side, found)


def _name_rows(side: str, rows: Any, key: str, value: str) -> Any:
    """Turn a mapping or an indexed frame into rows or columns with the names as a field; leave others unchanged."""
    index: Any = getattr(rows, "index", None)
    named: Iterable[tuple[Any, Any]]
    if isinstance(rows, Mapping):
        if isinstance(rows.get(key), str):
            raise SubmissionError(side, [SINGLE])
        lists = (values for values in rows.values() if isinstance(values, list))
        # whose columns are misspelt
        is_table = any(isinstance(one, str) for values in lists for one in values)
        if key in rows or value in rows or is_table or _has_splits(rows):
            return rows
        named = rows.items()
    elif hasattr(rows, "isna") and (index.name == key or index.inferred_type == "string"):
        if hasattr(rows, "columns"):
            return rows if key in rows.columns else rows.rename_axis(key).reset_index()
        named = zip(index.tolist(), _read_items(side, rows), strict=True)
    else:
        return rows
    return [
        {key: name, **(one if isinstance(one, Mapping) else {value: one})} for name, one in named
    ]


def _to_records(side: str, columns: Columns) -> Sequence[Record]:
    if not columns:
        raise SubmissionError(side, [Problem("has no columns")])
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise SubmissionError(
            side,
            [Problem(f"columns differ in length: {sizes} (expected one value per row in each)")],
        )
    return ColumnRecords(columns)


def _read(side: str, rows: Any, known: Sequence[str] | None = None) -> Columns | list[Any]:
    """Return the known columns of a table, or all of them; the items of anything else."""
    if isinstance(rows, Mapping) and _has_splits(rows):
        splits = (
            f"the splits {', '.join(map(quote, rows))}"
            if len(rows) > 1
            else f"a split by name, {quote(*rows)}"
        )
        raise SubmissionError(side, [Problem(f"got {splits} (expected the rows of one split)")])
    if is_stream(rows):  # not every row has to have every column
        return [as_json(row) for row in _read_stream(side, rows)]
    if (found := _read_arrow(side, rows, known)) is not None:
        return found
    names = list(rows) if isinstance(rows, Mapping) else getattr(rows, "columns", None)
    if names is None or callable(names):
        return _read_items(side, rows)
    if (
        isinstance(rows, Mapping)
        and rows
        and not any(_is_column(values) for values in rows.values())
    ):
        raise SubmissionError(side, [SINGLE])
    return {
        name: _read_items(f"{side}: {name}", rows[name])
        for name in _select_names(side, names, known)
    }


def _read_items(side: str, values: Any) -> list[Any]:
    """Return the items of a list, an array, a tensor or a column as JSON values."""
    if isinstance(found := _read_arrow(side, values), list):
        return found
    if hasattr(values, "isna"):  # pandas uses NaN for missing text
        values = values.astype(object).where(values.notna(), None)
    # of pyarrow, of polars, and of NumPy, pandas and torch
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, name):
            values = getattr(values, name)()
            break
    if not _is_column(values):
        raise SubmissionError(
            side, [Problem(f"expected a list with one item per row, got {_describe_type(values)}")]
        )
    try:
        # A slice reads a lazy column at once.
        rows = list(values[:]) if isinstance(values, Sequence) else list(values)
    except UnicodeDecodeError:  # of a lazy column
        raise SubmissionError(side, [Problem("contains text that is not valid UTF-8")]) from None
    return (
        rows
        if set(map(type, rows)) <= PLAIN
        else [value if type(value) in PLAIN else as_json(value) for value in rows]
    )


def _is_column(values: object) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)


def _select_names(side: str, names: Iterable[str], known: Sequence[str] | None) -> list[str]:
    """Return the names of the known columns, or of all; none may occur twice."""
    found = [name for name in names if known is None or name in known]
    if problems := find_repeated_columns(found):
        raise SubmissionError(side, problems)
    return found


def find_repeated_columns(names: Sequence[str]) -> list[Problem]:
    """Return a problem for each name that several columns have."""
    return [
        Problem(f"has several columns {quote(str(name))}")
        for name, times in Counter(names).items()
        if times > 1
    ]


def _describe_type(value: object) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


# Arrow and datasets


def _read_arrow(
    side: str, values: Any, known: Sequence[str] | None = None
) -> Columns | list[Any] | None:
    """Return the known columns of a dataset or an Arrow table, or all; the items of an Arrow column; None for others.

    Labels are named as in the dataset, whose order of classes may differ from the schema's.
    """
    features: Mapping[str, Any] = {}
    is_alone = False
    if is_dataset(values):
        features, names = values.features, _select_names(side, values.column_names, known)
        if not names:  # a dataset without columns has no rows
            return {}
        table = values.select_columns(names).with_format("arrow")[:]
    elif hasattr(values, "isna") or not (
        hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")
    ):
        return None
    else:
        import pyarrow as pa

        is_alone = not any(hasattr(values, name) for name in ("columns", "column_names", "schema"))
        if is_alone:
            make = pa.chunked_array if hasattr(values, "__arrow_c_stream__") else pa.array
            table = pa.table([make(values)], ["values"])
        else:
            table = pa.table(values)
            table = table.select(_select_names(side, table.column_names, known))
    try:
        columns = read_columns(side, table)
    except FormatError as error:
        raise SubmissionError(side, error.problems) from None
    if is_alone:
        return columns["values"]
    return {name: name_classes(features.get(name), values) for name, values in columns.items()}


def is_dataset(rows: object) -> bool:
    """Tell whether rows are a `datasets.Dataset`."""
    datasets = sys.modules.get("datasets")
    return datasets is not None and isinstance(rows, datasets.Dataset)


def is_stream(rows: object) -> bool:
    """Tell whether rows are a `datasets.IterableDataset`."""
    datasets = sys.modules.get("datasets")
    return datasets is not None and isinstance(rows, datasets.IterableDataset)


def _has_splits(rows: Mapping[Any, object]) -> bool:
    return any(is_dataset(one) or is_stream(one) for one in rows.values())


def _read_stream(side: str, rows: Any) -> list[Any]:
    """Read the rows of a `datasets.IterableDataset`, whose generator and conversions may raise any error."""
    found: list[Any] = []
    try:
        for row in rows.with_format(None):
            found.append(row)  # noqa: PERF402 (how many there are must be known if the next can't be read)
    except (InputError, RequestError, MemoryError):
        raise
    except Exception as error:
        what = escape_line(shorten(f"{type(error).__name__}: {error}", 200))
        raise SubmissionError(
            side, [Problem(f"can't be read from row {len(found)} on ({what})")]
        ) from error
    return name_classes(rows.features or {}, found)


def name_classes(kind: Any, values: list[Any]) -> list[Any]:
    """Replace the numbers of classes by the names of a feature of `datasets`, inside lists and structs, too."""
    convert = _find_namer(kind)
    return values if convert is None else [convert(value) for value in values]


def _find_namer(kind: Any) -> Convert | None:
    if kind is None:
        return None
    if isinstance(kind, Mapping):
        return convert_fields({name: _find_namer(one) for name, one in kind.items()})
    item = kind[0] if isinstance(kind, list) and kind else getattr(kind, "feature", None)
    if item is not None:
        return convert_items(_find_namer(item))
    if not isinstance(kind, sys.modules["datasets"].ClassLabel):
        return None
    return partial(name_label, kind.names)
