"""JSON Lines: one JSON object a line, strictly.

Stricter than `json.loads`, which lets NaN, Infinity, numbers beyond the range of a float and duplicate keys
through.  Control characters and lone surrogates inside strings are refused as well, since such a string can't
be shown, stored or compared safely, and so is a value nested so deeply that some Python can't print it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import orjson

from closeread.errors import Problem, quote
from closeread.formats import Format
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import Parsed, Record

SUFFIXES = (".jsonl", ".ndjson")

MAX_DEPTH = 100
TOO_DEEP = f"is nested too deeply; a value may have {MAX_DEPTH} levels"


LONG_NUMBER = re.compile("[0-9][0-9]{18}")


class _RefusedError(ValueError):
    """Something that Python's parser would have let through."""


def read_json_lines(path: Path) -> Parsed:
    """The objects of a JSON Lines file.

    Raises:
        FormatError: the file can't be read as text (see `closeread.formats.text`).
    """
    return parse_json_lines(read_lines(path))


def parse_json_lines(lines: Sequence[str], unsafe: re.Pattern[str] = UNSAFE) -> Parsed:
    """The objects on the lines, and a problem for every line that holds none.

    Args:
        lines: the lines.
        unsafe: what no text may hold.
    """
    records: list[Record] = []
    numbers: list[int] = []
    problems: list[Problem] = []
    decode = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite).decode
    for number, line in enumerate(lines, start=1):
        if (record := _plain_object(line)) is not None:
            records.append(record)
            numbers.append(number)
            continue
        try:
            value = decode(line)
            if _needs_a_look(line):
                _refuse_unsafe(value, unsafe)
        except _RefusedError as error:
            problems.append(Problem(str(error), number))
        except RecursionError:
            problems.append(Problem(TOO_DEEP, number))
        except json.JSONDecodeError as error:
            problems.append(Problem(_worded(error, line), number))
        except ValueError:  # an integer of more digits than Python converts
            problems.append(Problem("a number has more digits than can be read", number))
        else:
            if isinstance(value, dict):
                records.append(value)
                numbers.append(number)
            else:
                found = f"{quote(line.strip())} is no JSON object"
                problems.append(Problem(f"{found}; needed: one object a line", number))
    return Parsed(records, numbers, problems)


def _plain_object(line: str) -> Record | None:
    """The object on a line on which there can't be anything to refuse; None for all other lines."""
    if "\\" in line or UNSAFE.search(line) or LONG_NUMBER.search(line):
        return None
    try:
        value = orjson.loads(line)
        # All quotation marks are written again, but for those of a key that is given twice.
        if not isinstance(value, dict) or orjson.dumps(value).count(b'"') != line.count('"'):
            return None
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    return None if _may_be_deep(line) and _is_too_deep(value) else value


def _may_be_deep(line: str) -> bool:
    """Whether objects and lists may stand in each other more than `MAX_DEPTH` deep; not where most follow others."""
    return 2 * line.count("[") + line.count("{") - line.count("},{") - line.count("}, {") >= MAX_DEPTH


def _is_too_deep(value: Record) -> bool:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        inside = (child for parent in level for child in (parent.values() if isinstance(parent, dict) else parent))
        level = [child for child in inside if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def dump_json_lines(rows: Iterable[Record]) -> str:
    """The rows as JSON Lines, in UTF-8 and with the keys in their own order."""
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


def _worded(error: json.JSONDecodeError, line: str) -> str:
    if not line.strip():
        return "is blank; needed: one JSON object a line"
    return f"is no JSON: {error.msg.rstrip(': ').removesuffix(' at')} at column {error.colno}"


def _object(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in record if names.count(name) > 1)
        raise _RefusedError(f"key {quote(twice)} is given twice")
    return record


def _no_constant(name: str) -> float:
    raise _RefusedError(f"{name} is no JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _RefusedError(f"the number {quote(digits)} is beyond the range of a float")
    return number


def _needs_a_look(line: str) -> bool:
    """Whether the line's value can hold anything that `_refuse_unsafe` refuses; most lines can't."""
    return "\\" in line or line.count("[") + line.count("{") > MAX_DEPTH or UNSAFE.search(line) is not None


def _refuse_unsafe(value: object, unsafe: re.Pattern[str], depth: int = 0) -> None:
    if isinstance(value, str):
        if found := unsafe.search(value):
            kind = "lone surrogate" if "\ud800" <= found[0] <= "\udfff" else "control character"
            raise _RefusedError(f"the text {quote(value)} holds the {kind} U+{ord(found[0]):04X}")
    elif isinstance(value, dict | list):
        if depth == MAX_DEPTH:
            raise _RefusedError(TOO_DEEP)
        children = value if isinstance(value, list) else [*value, *value.values()]
        for child in children:
            _refuse_unsafe(child, unsafe, depth + 1)


FORMAT = Format(read=lambda path, split: read_json_lines(path), write=dump_json_lines, suffixes=SUFFIXES)
