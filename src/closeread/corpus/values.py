"""Values of objects in memory: convert them to JSON values, and find what JSON Lines may not contain either."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from math import isfinite, isnan
from numbers import Integral, Real
from typing import Any

from closeread import limits
from closeread.exceptions import FieldPath, Problem, quote, shorten
from closeread.formats.json_lines import TOO_DEEP
from closeread.formats.text import UNSAFE
from closeread.records import ColumnRecords

SCALARS = frozenset({str, int, bool, type(None)})
NUMBERS = frozenset({int, bool, type(None)})

LONGEST_NUMBER = 14_000
"""The most bits of an integer; Python does not print longer ones."""


EXPLAINED = 100
"""How many values of a row are explained."""


class _TooDeepError(Exception):
    """A value is nested more deeply than `limits.MAX_DEPTH`."""


class TooDeep:
    """What stands for a row that is nested too deeply."""


def as_json(value: Any) -> Any:
    """Convert scalars, arrays, tensors, tuples, decimals and subclasses of Python's types to JSON types.

    Anything else is unchanged, except that a `TooDeep` stands for what is nested too deeply.
    """
    try:
        return _convert(value, 0)
    except _TooDeepError:
        return TooDeep()


def convert_rows(rows: Sequence[Any]) -> Sequence[Any]:
    """Return rows, or records stored as columns, with JSON types, as `as_json`."""
    if isinstance(rows, ColumnRecords):
        return ColumnRecords({str(name): _convert_all(values) for name, values in rows.columns.items()})
    return _convert_all(rows)


def _convert_all(values: Sequence[Any]) -> Sequence[Any]:
    return values if set(map(type, values)) <= SCALARS else [as_json(value) for value in values]


def _convert(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind in SCALARS or kind is float:
        return value
    if depth > limits.MAX_DEPTH:
        raise _TooDeepError
    if kind is list:
        if set(map(type, value)) <= SCALARS:
            return value
        return [_convert(child, depth + 1) for child in value]
    if isinstance(value, Mapping):
        return {_convert_key(name): _convert(child, depth + 1) for name, child in value.items()}
    if hasattr(value, "tolist"):  # arrays, tensors and their scalars
        value = value.tolist()
        return value if type(value) in SCALARS or hasattr(value, "tolist") else _convert(value, depth)
    if isinstance(value, list | tuple | set | frozenset):
        return [_convert(child, depth + 1) for child in value]
    return _convert_scalar(value)


def _convert_key(name: Any) -> Any:
    return str.__str__(name) if isinstance(name, str) else name


def _convert_scalar(value: Any) -> Any:
    """Return what a text or a number of another type is in Python's own."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Decimal):
        whole = value.is_finite() and abs(value) < 2**63 and value == value.to_integral_value()
        return int(value) if whole else float(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        try:
            return float(value)
        except OverflowError:  # a fraction
            return value
    return value


def find_wrong_rows(rows: Sequence[Any], unsafe: re.Pattern[str] = UNSAFE) -> dict[int, list[Problem]]:
    """Return the problems of rows with values that JSON Lines may not contain, by the index of the row.

    These are unsafe characters, numbers that are not finite, values that are nested too deeply and anything that is no
    JSON value.

    Args:
        rows: the rows, or records stored as columns.
        unsafe: characters that no string may contain.
    """
    if isinstance(rows, ColumnRecords):
        if all(
            unsafe.search(name) is None and _are_plain(list(values), -1, unsafe)
            for name, values in rows.columns.items()
        ):
            return {}
        rows = list(rows)
    return {i: explain_values(row, unsafe) for i, row in enumerate(rows) if not _is_plain(row, 0, unsafe)}


def _is_plain(value: Any, depth: int, unsafe: re.Pattern[str]) -> bool:
    kind = type(value)
    if kind is str:
        return value.isprintable() or not unsafe.search(value)
    if kind in NUMBERS:
        return True
    if kind is float:
        return isfinite(value)
    if depth == limits.MAX_DEPTH:
        return False
    if kind is dict:
        return all(type(name) is str for name in value) and _are_plain([*value, *value.values()], depth, unsafe)
    return kind is list and _are_plain(value, depth, unsafe)


def _are_plain(values: list[Any], depth: int, unsafe: re.Pattern[str]) -> bool:
    """Return whether the values inside a list or an object are plain."""
    kinds = set(map(type, values))
    if kinds <= SCALARS:
        text = "".join(values if kinds <= {str} else [value for value in values if type(value) is str])
        return text.isprintable() or not unsafe.search(text)
    return all(_is_plain(value, depth + 1, unsafe) for value in values)


def explain_values(row: Any, unsafe: re.Pattern[str] = UNSAFE) -> list[Problem]:
    """Return a problem for each value in a row that JSON Lines may not contain, up to `EXPLAINED`."""
    try:
        return list(islice(_find_wrong(row, (), 0, unsafe), EXPLAINED))
    except _TooDeepError:
        return [Problem(TOO_DEEP)]


def _find_wrong(value: Any, path: FieldPath, depth: int, unsafe: re.Pattern[str]) -> Iterator[Problem]:
    if depth == limits.MAX_DEPTH and isinstance(value, list | dict):
        raise _TooDeepError
    if type(value) is dict:
        for name, child in value.items():
            if type(name) is not str:
                yield Problem(f"the key {_describe(name)} (expected text)", path=path)
            elif found := unsafe.search(name):
                yield Problem(f"the key {_describe_character(name, found[0])}", path=path)
            else:
                yield from _find_wrong(child, (*path, name), depth + 1, unsafe)
    elif type(value) is list:
        for place, child in enumerate(value):
            yield from _find_wrong(child, (*path, place), depth + 1, unsafe)
    elif what := _describe_wrong(value, unsafe):
        yield Problem(what, path=path)


def _describe_wrong(value: Any, unsafe: re.Pattern[str]) -> str:
    """Say what is wrong with a value that is neither a list nor an object; empty if nothing is."""
    kind = type(value)
    if kind is str:
        found = unsafe.search(value)
        return f"the string {_describe_character(value, found[0])}" if found else ""
    if kind is float and not isfinite(value):
        name = "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return f"{name} is not a valid JSON value"
    if kind is int and value.bit_length() > LONGEST_NUMBER:
        return "contains a number with too many digits"
    if kind in SCALARS or kind is float:
        return ""
    if kind is TooDeep:
        return TOO_DEEP
    return f"{_describe(value)} (expected a JSON value)"


def _describe_character(text: str, character: str) -> str:
    kind = "lone surrogate" if "\ud800" <= character <= "\udfff" else "control character"
    return f"{quote(text)} contains the {kind} U+{ord(character):04X}"


def _describe(value: object) -> str:
    name = type(value).__name__
    article = "" if name == "bytes" else "an " if name[0] in "aeiouAEIOU" else "a "
    return f"{shorten(ascii(value), 60)} is {article}{name}"
