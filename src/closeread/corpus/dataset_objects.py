"""Datasets of the library `datasets` in memory: the rows of those that are read as they go, and the names of classes.

The library is not imported: who has such a dataset has it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from closeread.corpus.schema import label_names
from closeread.exceptions import InputError, Problem, RequestError, SubmissionError, escape_line, shorten


def is_dataset(rows: object) -> bool:
    """Return whether rows are a `datasets.Dataset`, or one that is read as it goes."""
    datasets = sys.modules.get("datasets")
    return datasets is not None and isinstance(rows, datasets.Dataset | datasets.IterableDataset)


def is_stream(rows: object) -> bool:
    """Return whether rows are a `datasets.IterableDataset`."""
    datasets = sys.modules.get("datasets")
    return datasets is not None and isinstance(rows, datasets.IterableDataset)


def read_stream(side: str, rows: Any) -> list[Any]:
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
    if isinstance(kind, Mapping):
        return any(map(_has_classes, kind.values()))
    if (item := _find_item(kind)) is not None:
        return _has_classes(item)
    return isinstance(kind, sys.modules["datasets"].ClassLabel)


def _find_item(kind: Any) -> Any:
    """Return the feature of the items of a list; None if the feature is no list."""
    return kind[0] if isinstance(kind, list) and kind else getattr(kind, "feature", None)
