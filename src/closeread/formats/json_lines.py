"""JSON Lines: one JSON object per line, read strictly.

Stricter than `json.loads`, which accepts NaN, Infinity, numbers beyond the range of a float and duplicate keys.
Also rejected are control characters and lone surrogates inside strings, since such a string can't be shown, stored or
compared safely, and values nested so deeply that some Python versions can't print them.
"""

from __future__ import annotations

import gc
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any

from closeread import limits
from closeread.exceptions import Problem, ProblemList, pluralize, quote
from closeread.formats import Format
from closeread.formats.fast_json import LONG, find_structure, is_too_deep, make_fast_parser
from closeread.formats.text import UNSAFE, Lines, read_lines
from closeread.records import Parsed, Record, is_dense

SUFFIXES = (".jsonl", ".ndjson")

SHORT = 32
"""The length of a line, in characters, up to which an object takes many times as much memory as its line.

Valid rows are longer, so that none of them is validated twice."""

YOUNG = 100_000
"""From how many new objects on it is worth it to spare the garbage collector a scan."""

LINES = 256
"""How many lines in memory are parsed at once."""

INVALID = "does not match the schema"
TOO_DEEP = f"is nested too deeply (limit: {limits.MAX_DEPTH} levels)"


class _RefusedError(ValueError):
    """Something that Python's parser accepts and we reject."""


def read_json_lines(path: Path, accepts: Callable[[Record], bool] | None = None) -> Parsed:
    """Read the objects of a JSON Lines file, as `parse_json_lines` does.

    Raises:
        FormatError: the file can't be read as text (see `closeread.formats.text`).
    """
    return parse_json_lines(read_lines(path), accepts=accepts)


def parse_json_lines(
    lines: Sequence[str], unsafe: re.Pattern[str] = UNSAFE, accepts: Callable[[Record], bool] | None = None
) -> Parsed:
    """Parse one object per line, with a problem for every line that has none.

    Args:
        lines: the lines.
        unsafe: characters that no string may contain.
        accepts: whether an object is a valid record.  Invalid ones are kept, so that whoever validates them can explain
            what is wrong; but an object takes many times the size of a short or dense line, so of these, after the
            first `limits.MAX_EXPLAINED`, each is a problem here.
    """
    records: list[Record] = []
    numbers: list[int] = []
    problems = ProblemList()
    rejected = 0
    with pause_garbage_collection():
        for number, line, record in parse_each(lines, unsafe):
            if isinstance(record, str):
                problems.append(Problem(record, number))
                continue
            if accepts is not None and takes_more_memory(line) and not accepts(record):
                rejected += 1
                if rejected > limits.MAX_EXPLAINED:
                    problems.append(Problem(INVALID, number))
                    continue
            records.append(record)
            numbers.append(number)
    if problems and not records and (other := describe_other_json(lines)):
        problems = ProblemList([Problem(f"{other} (expected JSON Lines: each object on a line of its own)")])
    return Parsed(records, numbers, problems)


def takes_more_memory(line: bytes) -> bool:
    """Tell whether the object of a line that was parsed may take much more memory than the line."""
    return len(line) < SHORT or (len(line) <= LONG and is_dense(line))  # the parsers refuse longer ones that are dense


def parse_each(lines: Sequence[str], unsafe: re.Pattern[str]) -> Iterator[tuple[int, bytes, Record | str]]:
    """Yield the number of each line, from 1, the line, and its object or what is wrong with it."""
    parse_fast, parse = make_fast_parser(unsafe).parse, make_parser(unsafe)
    errors = "strict" if isinstance(lines, Lines) else "surrogatepass"
    first = 1
    for block in lines.blocks() if isinstance(lines, Lines) else _encode_blocks(lines):
        for number, line, record in zip(count(first), block, parse_fast(block), strict=False):
            yield number, line, _parse_bytes(line, parse, errors) if record is None else record
        first += len(block)


def _parse_bytes(line: bytes, parse: Callable[[str], Record | str], errors: str) -> Record | str:
    """Parse any line: its object, or what is wrong with it."""
    if len(line) > limits.MAX_LINE_BYTES:
        return f"the line has {len(line):,} bytes (expected at most {limits.MAX_LINE_BYTES:,})"
    try:
        return parse(line.decode("utf-8", errors))
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} (0x{line[error.start]:02x}) is not valid UTF-8"


def _encode_blocks(lines: Iterable[str]) -> Iterator[list[bytes]]:
    """Yield lines as `Lines.blocks` does."""
    left = iter(lines)
    while block := [line.encode("utf-8", "surrogatepass") for line in islice(left, LINES)]:
        yield block


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector, which would scan all objects of the process again and again.

    That takes a tenth of the time in an empty process, and more the more objects are alive.  Afterwards, the objects
    that were made count as old ones, which are scanned rarely, if there are many.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > YOUNG and gc.get_freeze_count() == 0:  # counting frozen objects of the caller takes time
            gc.freeze()
            gc.unfreeze()
        if was_on:
            gc.enable()


def make_parser(unsafe: re.Pattern[str]) -> Callable[[str], Record | str]:
    """Return what parses any line: its object, or what is wrong with it.

    Args:
        unsafe: characters that no string may contain.
    """
    decode = json.JSONDecoder(
        object_pairs_hook=_make_object, parse_constant=_reject_constant, parse_float=_parse_finite
    ).decode

    def parse(line: str) -> Record | str:
        if len(line) > LONG and is_dense(line):
            return _describe_density(line)
        try:
            value = decode(line)
            _check_value(value, line, unsafe)
        except _RefusedError as error:
            return str(error)
        except RecursionError:
            return TOO_DEEP
        except json.JSONDecodeError as error:
            return _describe_syntax_error(error, line)
        except ValueError:  # an integer with more digits than Python converts
            return "contains a number with too many digits"
        if isinstance(value, dict):
            return value
        return f"{quote(line.strip())} is not a JSON object (expected one object per line)"

    return parse


def describe_other_json(lines: Sequence[str]) -> str:
    """Say how the lines together are JSON, if they are a list of objects, or one object; empty if they are not."""
    first = next((line.lstrip()[:1] for line in lines if line.strip()), "")
    if first not in ("[", "{"):
        return ""
    text = lines.text() if isinstance(lines, Lines) else "\n".join(lines)
    try:
        value = None if is_dense(text) else json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if isinstance(value, dict):
        return f"is one JSON object on {len(lines):,} lines" if len(lines) > 1 else ""
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return f"is a JSON list of {pluralize(len(value), 'object')}"
    return ""


def _describe_density(line: str) -> str:
    """Say that a long line is dense, or that it is nested too deeply."""
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", line[:LONG])):
        depth += 1 if bracket in "[{" else -1
        if depth > limits.MAX_DEPTH:
            return TOO_DEEP
    n = line.count("{") + line.count("[")
    return f"has {n:,} objects and lists in {len(line):,} characters, too many for a line of that length"


def dump_json_lines(rows: Iterable[Record], unsafe: re.Pattern[str] = UNSAFE) -> str:
    """Write rows as JSON Lines, with keys in their own order and non-ASCII characters as they are.

    Args:
        rows: the rows.
        unsafe: characters that no string may contain.

    Raises:
        ValueError: a row contains what `parse_json_lines` refuses: such a character, NaN or infinity.
    """
    return "".join(_dump_row(row, number, unsafe) for number, row in enumerate(rows))


def _dump_row(row: Record, number: int, unsafe: re.Pattern[str]) -> str:
    try:
        line = json.dumps(row, ensure_ascii=False, allow_nan=False)
        _check_value(row, line, unsafe)
    except RecursionError:
        raise ValueError(f"row {number}: {TOO_DEEP}") from None
    except ValueError as error:
        raise ValueError(f"row {number}: {error}") from None
    return line + "\n"


def _describe_syntax_error(error: json.JSONDecodeError, line: str) -> str:
    if not line.strip():
        return "is blank (expected one JSON object per line)"
    return f"is not valid JSON: {error.msg.rstrip(': ').removesuffix(' at')} at column {error.colno}"


def _make_object(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        times = Counter(name for name, _ in pairs)
        twice = next(name for name in record if times[name] > 1)
        raise _RefusedError(f"duplicate key {quote(twice)}")
    return record


def _reject_constant(name: str) -> float:
    raise _RefusedError(f"{name} is not a valid JSON value")


def _parse_finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _RefusedError(f"the number {quote(digits)} is too large for a float")
    return number


def _check_value(value: object, line: str, unsafe: re.Pattern[str]) -> None:
    """Reject a value that is nested too deeply, or has a string with unsafe characters; most can't have any."""
    if is_too_deep(find_structure(line.encode("utf-8", "surrogatepass"))):
        raise _RefusedError(TOO_DEEP)
    if _may_be_unsafe(line):
        _reject_unsafe(value, unsafe)


def _may_be_unsafe(line: str) -> bool:
    """Tell whether a line can contain anything that `_reject_unsafe` rejects; most lines can't."""
    return "\\" in line or UNSAFE.search(line) is not None


def _reject_unsafe(value: object, unsafe: re.Pattern[str]) -> None:
    if isinstance(value, str):
        if found := unsafe.search(value):
            kind = "lone surrogate" if "\ud800" <= found[0] <= "\udfff" else "control character"
            raise _RefusedError(f"the string {quote(value)} contains the {kind} U+{ord(found[0]):04X}")
    elif isinstance(value, dict | list):
        children = value if isinstance(value, list) else [*value, *value.values()]
        for child in children:
            _reject_unsafe(child, unsafe)


FORMAT = Format(
    read=lambda path, split: read_json_lines(path), write=dump_json_lines, suffixes=SUFFIXES, is_json_lines=True
)
