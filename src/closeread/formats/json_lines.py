"""JSON, read strictly: JSON Lines, with an object on each line, and files of one value.

Stricter than `json.loads`, which accepts NaN, Infinity, numbers beyond the range of a float and duplicate keys.
Also rejected are values nested so deeply that some Python versions can't print them, and, in JSON Lines, control
characters and lone surrogates in strings, since such a string can't be shown, stored or compared safely.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from sys import intern
from typing import Any

import orjson

from closeread import limits
from closeread.exceptions import FormatError, Problem, ProblemList, pluralize, quote
from closeread.files import write_text
from closeread.formats import Format
from closeread.formats.text import (
    BYTE_ORDER_MARK,
    UNSAFE,
    Lines,
    describe_unsafe,
    read_bytes,
    read_lines,
)
from closeread.records import Parsed, Record

SUFFIXES = (".jsonl", ".ndjson")

SURROGATE = re.compile("[\ud800-\udfff]")

TOO_DEEP = f"is nested too deeply (limit: {limits.MAX_DEPTH} levels)"

SCALARS = frozenset({str, int, bool, type(None)})
"""The types of values that are neither containers nor floats."""

_CONTAINERS = frozenset({dict, list, tuple})


class _RefusedError(ValueError):
    """Something that Python's parser accepts and we reject."""


def _make_object(pairs: list[tuple[str, Any]]) -> Record:
    record = {intern(name): value for name, value in pairs}  # a million rows share their keys
    if len(record) < len(pairs):
        [(repeated, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise _RefusedError(f"duplicate key {quote(repeated)}")
    return record


def _reject_constant(name: str) -> float:
    raise _RefusedError(f"{name} is not a valid JSON value")


def _parse_finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _RefusedError(f"the number {quote(digits)} is too large for a float")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_make_object, parse_constant=_reject_constant, parse_float=_parse_finite
)


def parse_json(text: str, unsafe: re.Pattern[str] | None = None) -> Any:
    """Return the value of a text of JSON, no string of which may contain unsafe characters.

    Raises:
        ValueError: the text is not JSON (a `json.JSONDecodeError`), or its value is rejected, in words.
    """
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    except (json.JSONDecodeError, _RefusedError):
        raise
    except ValueError:
        raise ValueError("contains a number with too many digits") from None
    _check_value(value, text, unsafe)
    return value


def _check_value(value: object, text: str, unsafe: re.Pattern[str] | None) -> None:
    """Reject a value that is nested too deeply or has a string with unsafe characters; for most, the text decides."""
    if text.count("{") + text.count("[") > limits.MAX_DEPTH and _is_too_deep(value):
        raise ValueError(TOO_DEEP)
    if unsafe is not None and (unsafe.search(text) or _compile_escapes(unsafe).search(text)):
        _reject_unsafe(value, unsafe)


def _is_too_deep(value: object) -> bool:
    """Return whether a value has more than `limits.MAX_DEPTH` levels, without recursion."""
    level: list[Any] = [value]
    for _ in range(limits.MAX_DEPTH):
        children: list[Any] = []
        for container in level:
            children += container.values() if type(container) is dict else container
        level = [child for child in children if type(child) in _CONTAINERS]
        if not level:
            return False
    return True


@cache
def _compile_escapes(unsafe: re.Pattern[str]) -> re.Pattern[str]:
    """Return a pattern of the escapes that may be those of unsafe characters."""
    letters = zip("bfnrt", "\b\f\n\r\t", strict=True)
    escapes = [letter for letter, character in letters if unsafe.search(character)]
    escapes += ["u00[0189]", "u007[fF]", "u[dD][89a-fA-F]"]
    return re.compile(rf"\\(?:{'|'.join(escapes)})")


def _reject_unsafe(value: object, unsafe: re.Pattern[str]) -> None:
    if isinstance(value, str):
        if reason := describe_unsafe(value, unsafe):
            raise ValueError(f"the string {reason}")
    elif isinstance(value, dict):
        for child in (*value, *value.values()):
            _reject_unsafe(child, unsafe)
    elif isinstance(value, list | tuple):
        for child in value:
            _reject_unsafe(child, unsafe)


def read_json_lines(path: Path) -> Parsed:
    """Read the objects of a JSON Lines file, as `parse_json_lines` does."""
    return parse_json_lines(read_lines(path))


def parse_json_lines(lines: Sequence[str], unsafe: re.Pattern[str] = UNSAFE) -> Parsed:
    """Parse one object per line, with a problem for every line that has none, or a string with unsafe characters."""
    records: list[Record] = []
    numbers: list[int] = []
    problems = ProblemList()
    first = 1
    for group in lines.in_groups() if isinstance(lines, Lines) else [lines]:
        flat_records = _parse_flat_lines(group, unsafe)
        if flat_records is not None:
            records += flat_records
            numbers += range(first, first + len(group))
        else:
            for number, line in enumerate(group, first):
                try:
                    records.append(_parse_line(line, unsafe))
                    numbers.append(number)
                except ValueError as error:
                    problems.add(str(error), number)
        first += len(group)
    if problems and not records:
        other_form = _describe_other_json(lines)
        if other_form:
            expected = "expected JSON Lines: each object on a line of its own"
            problems = ProblemList([Problem(f"{other_form} ({expected})")])
    return Parsed(records, numbers, problems)


def _parse_flat_lines(lines: Sequence[str], unsafe: re.Pattern[str]) -> list[Record] | None:
    """Parse lines that are objects of text, integers, booleans and nulls; None if any of them may be something else.

    orjson is several times as fast as Python's parser, but less strict: it drops repeated keys without a word, and
    makes floats of long integers.
    """
    text = "".join(lines)
    if "[" in text or "\\" in text or unsafe.search(text):
        return None
    try:
        records = list(map(orjson.loads, lines))
    except orjson.JSONDecodeError:
        return None
    if set(map(type, records)) != {dict}:
        return None
    # A colon follows each key, so that there are more colons than keys if a key is repeated.
    has_distinct_keys = text.count(":") == sum(map(len, records))
    values = chain.from_iterable(map(dict.values, records))
    return records if has_distinct_keys and set(map(type, values)) <= SCALARS else None


def _parse_line(line: str, unsafe: re.Pattern[str]) -> Record:
    """Return the object of a line; a ValueError says what is wrong with it."""
    try:
        value = parse_json(line, unsafe)
    except json.JSONDecodeError as error:
        raise ValueError(_describe_syntax_error(line, error)) from None
    if isinstance(value, dict):
        return value
    raise ValueError(f"{quote(line.strip())} is not a JSON object (expected one object per line)")


def _describe_syntax_error(line: str, error: json.JSONDecodeError) -> str:
    if not line.strip():
        return "is blank (expected one JSON object per line)"
    if line.startswith("{'"):
        return "is a Python dict, not JSON (expected double quotes, as json.dumps writes them)"
    message = error.msg.rstrip(": ").removesuffix(" at")
    return f"is not valid JSON: {message} at column {error.colno}"


def _describe_other_json(lines: Sequence[str]) -> str:
    """Say how the lines together are JSON, if they are a list of objects, or one object; empty if they are not."""
    try:
        value = parse_json("\n".join(lines))
    except ValueError:
        return ""
    if isinstance(value, dict):
        return f"is one JSON object on {len(lines):,} lines" if len(lines) > 1 else ""
    if isinstance(value, list) and value and all(isinstance(record, dict) for record in value):
        return f"is a JSON list of {pluralize(len(value), 'object')}"
    return ""


def dump_json_lines(rows: Iterable[Record], unsafe: re.Pattern[str] = UNSAFE) -> str:
    """Write rows as JSON Lines, with keys in their own order and non-ASCII characters as they are.

    A ValueError names the row that `parse_json_lines` would refuse, and why.
    """
    lines = []
    for number, row in enumerate(rows):
        try:
            line = json.dumps(row, ensure_ascii=False, allow_nan=False)
            _check_value(row, line, unsafe)
        except RecursionError:
            raise ValueError(f"row {number}: {TOO_DEEP}") from None
        except ValueError as error:
            raise ValueError(f"row {number}: {error}") from None
        lines.append(f"{line}\n")
    return "".join(lines)


def read_json(path: Path) -> object:
    """Read a file of one JSON value, which may be gzipped."""
    data = read_bytes(path).removeprefix(BYTE_ORDER_MARK)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise FormatError(path, [Problem(f"is not UTF-8 (byte {error.start})")]) from None
    return decode_json(text, path)


def decode_json(text: str, source: object) -> object:
    """Return the value of a text of JSON from a source, which messages name."""
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        raise FormatError(source, [Problem(f"is not JSON: {error.msg}", error.lineno)]) from None
    except ValueError as error:
        raise FormatError(source, [Problem(str(error))]) from None


def dump_json(value: object, indent: int | None = None) -> str:
    r"""Return a JSON value as text that ends a line; characters that UTF-8 lacks, as in some file names, are escaped.

    >>> dump_json(["é", "\udcff"])
    '["é", "\\udcff"]\n'
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def write_json(path: Path, value: object) -> None:
    """Write a JSON value as the command line prints it, completely or not at all."""
    write_text(path, dump_json(value, indent=2))


FORMAT = Format(
    read=lambda path, split: read_json_lines(path),
    write=dump_json_lines,
    suffixes=SUFFIXES,
    is_json_lines=True,
)
