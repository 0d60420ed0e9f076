"""Validation of rows and records: JSON values, the schema, and the corpus's own rules.

What can mean only one thing is accepted although a schema wants something else.  A whole number may be written with
decimals, such as 1.0: where a schema asks for an integer, it is the integer.  A field that a schema marks with
`x-accepts-integer` is text that often looks like a number, such as the order 2 or the year 1888: a JSON integer is
taken as its digits.  A number with decimals is not, since 6.1 and 6.10 are one number.  Only rows that break the schema
are looked through, since 1.0 is no integer to a `RowValidator`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial
from itertools import chain, islice
from math import isfinite
from numbers import Integral, Real
from operator import is_not
from pathlib import Path
from typing import Any, cast

from closeread import limits
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.notices import warn_all
from closeread.corpus.schema import (
    Node,
    RowValidator,
    Schema,
    fold,
    has_many_fields,
    load_validator,
    name_label,
    resolve,
    value_type,
)
from closeread.exceptions import (
    FieldPath,
    Problem,
    ProblemList,
    describe_problems,
    quote,
    shorten,
)
from closeread.formats.json_lines import SCALARS, TOO_DEEP
from closeread.formats.text import UNSAFE, describe_unsafe
from closeread.json_schema import describe_unknown_fields
from closeread.records import ColumnRecords, Parsed, Record, find_repeated, name_problem
from closeread.tasks import find

PLAIN = SCALARS | {float, list, dict}

USUAL_DEPTH = 5
"""Down to this level, values are not compared to find repeated ones."""

MAX_INTEGER_BITS = 14_000
"""The most bits of an integer; Python does not print longer ones."""

MAX_VALUES_EXPLAINED = 100
"""How many values of a row are explained."""

MAX_TEXT_INTEGER = 10**9
"""Integers of this size and more are left to the schema, which refuses them; the digits of huge ones take long."""

MAX_EXACT_FLOAT = 2**53
"""Beyond it, a float stands for several integers."""

Convert = Callable[[Any], Any]

Finding = tuple[int, str]
"""The index of a record, and a sentence on what is wrong or unusual about it."""


# Rules


@dataclass(frozen=True)
class Rules:
    """Rules for the records of one definition, and for the predictions for them, that a schema can't express.

    Attributes:
        find_inconsistencies: finds inconsistencies in gold records, all of which match the schema.
        find_oddities: finds oddities of gold records that change nothing, for notices of one sentence each.
        find_odd_rows: finds oddities of a system's valid rows, given the gold records.
        is_scored: returns whether a gold record is scored.
        find_repairs: finds what reading gold records has repaired, for notices of one sentence each.
    """

    find_inconsistencies: Callable[[Sequence[Record]], Iterable[Finding]] = lambda records: ()
    find_oddities: Callable[[Sequence[Record]], Iterable[str]] = lambda records: ()
    find_odd_rows: Callable[[Sequence[Record], Sequence[Record]], Iterable[Finding]] = (
        lambda rows, gold: ()
    )
    is_scored: Callable[[Record], bool] = lambda record: True
    find_repairs: Callable[[Sequence[Record]], Iterable[str]] = lambda records: ()


@cache
def load_rules(task: str, definition: str = "document") -> Rules:
    """Load the rules of a task (`RULES` in its module `rules`) for records of a definition of the schema."""
    module = find(task, "rules")
    rules = {} if module is None else cast(Mapping[str, Rules], module.RULES)
    return rules.get(definition, Rules())


# Records


def validate_records(
    path: Path | str,
    parsed: Parsed,
    validator: RowValidator,
    *keys: str,
    find_inconsistencies: Callable[[Sequence[Record]], Iterable[Finding]] = lambda records: (),
    unsafe: re.Pattern[str] = UNSAFE,
) -> Sequence[Record]:
    """Return the records of a file, a folder or memory (`path`, in messages) if all of them are valid.

    All problems are reported at once, those that `find_inconsistencies` finds in valid records as well; for the others,
    see `check_records`.  Unknown fields are left out, with a warning.
    """
    dropped: list[Problem] = ProblemList()
    parsed, problems, numbers = check_records(parsed, validator, keys, unsafe, dropped)
    records = parsed.records
    if len(numbers) < len(records):
        records = [records[number] for number in numbers]
    for index, message in find_inconsistencies(records):
        problems.append(parsed.problem(numbers[index], message))
    problems.raise_any(path)
    if dropped:
        warn_all(describe_problems(str(path), dropped))
    return parsed.records


def check_records(
    parsed: Parsed,
    validator: RowValidator,
    keys: Sequence[str],
    unsafe: re.Pattern[str] = UNSAFE,
    dropped: list[Problem] | None = None,
) -> tuple[Parsed, ProblemList, Sequence[int]]:
    """Return records as a schema wants them, all problems, and the numbers of the valid records.

    Values of the `keys` must be unique; the first key names a record in messages.  No string of records in memory may
    contain unsafe characters.  Unknown fields are added to `dropped`, if it is given, as in `accept_rows`.
    """
    in_memory = parsed.places is None
    key = keys[0] if keys else ""
    unknown_fields: list[Problem] | None = None if dropped is None else ProblemList()
    records, rejected = accept_rows(
        validator, parsed.records, unsafe=unsafe if in_memory else None, dropped=unknown_fields
    )
    parsed = parsed._replace(records=records)
    other_rows = _describe_other_rows(validator, records) if rejected else ""
    if other_rows:
        return parsed, ProblemList([*parsed.problems, Problem(other_rows)]), ()
    if dropped is not None:
        dropped.extend(name_problem(parsed, key, problem) for problem in unknown_fields or ())
    problems = ProblemList(parsed.problems)
    problems.extend(name_problem(parsed, key, problem) for problem in rejected)
    for name in keys:
        problems.extend(find_repeated(parsed, name, key))
    numbers: Sequence[int] = range(len(records))
    if rejected:
        # Problems of many rows are only counted, so that these must be validated again.
        invalid = {problem.row for problem in rejected}
        numbers = [n for n in numbers if n not in invalid and validator.accepts(records[n])]
    return parsed, problems, numbers


def _describe_other_rows(validator: RowValidator, rows: Sequence[Any]) -> str:
    """Say that the first row, which lacks fields, has those of another procedure; empty if it has not."""
    names = rows[0].keys() if isinstance(rows[0], dict) else set()
    if validator.required <= names:
        return ""
    for name in corpus_names():
        corpus = load_corpus(name)
        for definition in ("submission", "document"):
            other = load_validator(corpus.schema, definition)
            is_same = other.schema["$defs"] == validator.schema["$defs"]
            if not is_same and other.required and other.required <= names <= other.fields.keys():
                fields = ", ".join(map(quote, names))
                expected = ", ".join(map(quote, validator.fields))
                return f"the rows look like those of {corpus.procedure}: {fields} (expected {expected})"
    return ""


def accept_rows(
    validator: RowValidator,
    rows: Sequence[Any],
    numbers: Sequence[int] | None = None,
    *,
    unsafe: re.Pattern[str] | None = None,
    dropped: list[Problem] | None = None,
) -> tuple[Sequence[Any], list[Problem]]:
    """Return rows as a schema wants them, with unambiguous values converted, and their problems.

    `numbers` are those of the rows in problems, by default from 0; `unsafe` are the characters that no string of rows
    in memory may contain, and None for rows of a text file, whose reader refuses them and anything that is no JSON
    value.  If `dropped` is given, unknown fields are left out and added to it, except in objects that lack a field,
    which may be misspelt; and null is a missing field wherever the schema has no null.
    """
    unsafe_rows: dict[int, list[Problem]] = {}
    if unsafe is not None:
        unsafe_rows = _find_unsafe_rows(rows, unsafe)
    if not unsafe_rows and validator.accepts_all(rows):
        return rows, []
    rows = fit_numbers(validator, rows, in_memory=unsafe is not None)
    if dropped is not None and not validator.accepts_all(rows):
        rows = [
            row
            if number in unsafe_rows or validator.accepts(row)
            else _drop_unknown(validator.schema, validator.schema, row, (number,), dropped)
            for number, row in enumerate(rows)
        ]
    if unsafe is not None:
        # A number with too many digits can't be quoted.
        for number, row in enumerate(rows):
            if number not in unsafe_rows and not validator.accepts(row):
                explained = explain_values(row, unsafe)
                if explained:
                    unsafe_rows[number] = explained
    if numbers is None:
        numbers = range(len(rows))
    if not unsafe_rows:
        return rows, validator.problems(rows, numbers)
    problems = ProblemList()
    for number, explained in unsafe_rows.items():
        problems += [problem._replace(row=numbers[number]) for problem in explained]
    safe = [number for number in range(len(rows)) if number not in unsafe_rows]
    safe_rows = [rows[number] for number in safe]
    problems += validator.problems(safe_rows, [numbers[number] for number in safe])
    return rows, sorted(problems, key=lambda problem: problem.row or 0)


def _find_unsafe_rows(rows: Sequence[Any], unsafe: re.Pattern[str]) -> dict[int, list[Problem]]:
    """Find the rows in memory with values that JSON Lines may not contain, by number."""
    if isinstance(rows, ColumnRecords):
        values = chain(rows.columns, *rows.columns.values())
        are_safe = _are_safe(values, unsafe, limits.MAX_DEPTH)
    else:
        are_safe = _are_safe(rows, unsafe, limits.MAX_DEPTH + 1)
    if are_safe:
        return {}
    explained = {number: explain_values(row, unsafe) for number, row in enumerate(rows)}
    return {number: problems for number, problems in explained.items() if problems}


def _drop_unknown(
    schema: Schema, node: Node, value: Any, path: FieldPath, dropped: list[Problem]
) -> Any:
    """Return a value without the unknown and missing fields of its objects; the path begins with the row's number."""
    node = resolve(schema, node)
    if isinstance(value, list) and "items" in node:
        return [
            _drop_unknown(schema, node["items"], child, (*path, number), dropped)
            for number, child in enumerate(value)
        ]
    nodes: Mapping[str, Node] = node.get("properties", {})
    if not isinstance(value, dict) or not nodes or has_many_fields(value):
        return value
    if not value.keys() >= set(node.get("required", ())):
        return value
    fields = {
        name: child
        for name, child in value.items()
        if child is not None or not _may_lack(schema, node, name)
    }
    row, *place = path
    dropped += [
        Problem(sentence, row=cast(int, row), path=tuple(place))
        for sentence in describe_unknown_fields(node, fields, " is ignored")
    ]
    return {
        name: _drop_unknown(schema, nodes[name], child, (*path, name), dropped)
        for name, child in fields.items()
        if name in nodes
    }


def _may_lack(schema: Schema, node: Node, name: str) -> bool:
    """Tell whether an object may lack a field, which can't be null."""
    if name not in node["properties"] or name in node.get("required", ()):
        return False
    return "null" not in resolve(schema, node["properties"][name]).get("type", ())


# Numbers that fit the schema


def fit_numbers(
    validator: RowValidator, rows: Sequence[Any], *, in_memory: bool = False
) -> Sequence[Any]:
    """Return rows with integers, and integers as text, wherever the schema wants that; anything else is unchanged.

    In memory, labels may be integers, as `datasets` stores them, or arrays of them; they are replaced by their names.
    """
    if isinstance(rows, ColumnRecords):
        columns = dict(rows.columns)
        for name, node in validator.fields.items():
            if name in columns and not validator.accepts_column(name, columns[name]):
                convert = _find_converter(validator.schema, node, in_memory=in_memory)
                if convert is not None:
                    columns[name] = list(map(convert, columns[name]))
        return ColumnRecords(columns)
    convert = _find_converter(validator.schema, validator.schema, in_memory=in_memory)
    if convert is None:
        return rows
    return [row if validator.accepts(row) else convert(row) for row in rows]


def _find_converter(schema: Schema, node: Node, *, in_memory: bool) -> Convert | None:
    """Return the function that converts the values of a node; None if nothing in it may be a number."""

    def convert_scalar(node: Node) -> Convert | None:
        if in_memory and "enum" in node:
            return partial(name_label, node["enum"])
        if node.get("x-accepts-integer"):
            return _write_integer
        return _read_whole_number if value_type(node) == "integer" else None

    return fold(schema, node, scalar=convert_scalar, array=convert_items, struct=convert_fields)


def _write_integer(value: Any) -> Any:
    """Return an integer as its digits; anything else is unchanged."""
    return str(value) if type(value) is int and abs(value) < MAX_TEXT_INTEGER else value


def _read_whole_number(value: Any) -> Any:
    """Return a float that is a whole number as an integer; anything else is unchanged."""
    is_whole = type(value) is float and value.is_integer() and abs(value) <= MAX_EXACT_FLOAT
    return int(value) if is_whole else value


def convert_items(convert: Convert | None) -> Convert | None:
    """Return the function that converts the items of a list; None if items need no conversion."""
    if convert is None:
        return None

    def convert_all(values: Any) -> Any:
        if not isinstance(values, list | tuple):
            return values
        converted = list(map(convert, values))
        # Only a list that changes is copied.
        return converted if any(map(is_not, converted, values)) else values

    return convert_all


def convert_fields(children: dict[str, Convert | None]) -> Convert | None:
    """Return the function that converts the fields of an object; None if fields need no conversion."""
    converters = {name: convert for name, convert in children.items() if convert is not None}
    if not converters:
        return None

    def convert_object(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        fields = {
            name: convert(value[name]) for name, convert in converters.items() if name in value
        }
        has_changed = any(field is not value[name] for name, field in fields.items())
        return {**value, **fields} if has_changed else value

    return convert_object


# JSON values


def convert_rows(rows: Sequence[Any]) -> Sequence[Any]:
    """Return rows, or records stored as columns, with JSON types, as `as_json`."""
    if isinstance(rows, ColumnRecords):
        columns = {str(name): convert_rows(values) for name, values in rows.columns.items()}
        return ColumnRecords(columns)
    if _are_safe(rows, UNSAFE, limits.MAX_DEPTH + 1):
        return rows
    return [as_json(value) for value in rows]


def as_json(value: Any) -> Any:
    """Convert scalars, arrays, tensors, tuples, decimals and subclasses of Python's types to JSON types.

    Anything else, and anything nested too deeply, is unchanged.
    """
    try:
        return _convert(value)
    except RecursionError:
        return value


def _convert(value: Any) -> Any:
    kind = type(value)
    if kind in SCALARS or kind is float:
        return value
    if isinstance(value, Mapping):
        return {_convert_key(name): _convert(child) for name, child in value.items()}
    if hasattr(value, "tolist"):  # arrays, tensors and their scalars
        value = value.tolist()
        # What still has lists would never end.
        return value if hasattr(value, "tolist") else _convert(value)
    if isinstance(value, list | tuple | set | frozenset):
        if kind is list and set(map(type, value)) <= SCALARS:
            return value
        return [_convert(child) for child in value]
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Decimal):
        is_whole = value.is_finite() and abs(value) < 2**63 and value == value.to_integral_value()
        return int(value) if is_whole else float(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        try:
            return float(value)
        except OverflowError:  # a fraction
            return value
    return value


def _convert_key(name: Any) -> Any:
    return str.__str__(name) if isinstance(name, str) else name


def _are_safe(values: Iterable[Any], unsafe: re.Pattern[str], n_levels: int) -> bool:
    """Tell whether all values, of so many levels at most, may be in JSON Lines; very long numbers are not found.

    The schema reports these.  Looking at level after level is many times faster than at one value after the other.
    """
    level = list(values)
    for depth in range(n_levels):
        by_type: dict[type, list[Any]] = {}
        kinds = set(map(type, level))
        if not kinds <= PLAIN:
            return False
        for kind in kinds & {str, float, dict, list}:
            by_type[kind] = level
            if len(kinds) > 1:
                by_type[kind] = [value for value in level if type(value) is kind]
        text = "".join(set(by_type.get(str, ())))
        if not text.isprintable() and unsafe.search(text):
            return False
        if not all(map(isfinite, by_type.get(float, ()))):
            return False
        dicts = by_type.get(dict, [])
        lists = by_type.get(list, [])
        if not set(map(type, chain.from_iterable(dicts))) <= {str}:
            return False
        if not dicts and not lists:
            return True
        # A list that contains itself twice would double every level.
        if depth > USUAL_DEPTH:
            dicts = list({id(value): value for value in dicts}.values())
            lists = list({id(value): value for value in lists}.values())
        keys = set(chain.from_iterable(dicts))
        level = [
            *chain.from_iterable(lists),
            *keys,
            *chain.from_iterable(map(dict.values, dicts)),
        ]
    return False


def explain_values(row: Any, unsafe: re.Pattern[str] = UNSAFE) -> list[Problem]:
    """Return a problem for each value in a row that JSON Lines may not contain, up to `MAX_VALUES_EXPLAINED`.

    These are unsafe characters, numbers that are not finite, values that are nested too deeply and anything that is no
    JSON value.
    """
    try:
        return list(islice(_find_wrong(row, (), unsafe), MAX_VALUES_EXPLAINED))
    except RecursionError:
        return [Problem(TOO_DEEP)]


def _find_wrong(value: Any, path: FieldPath, unsafe: re.Pattern[str]) -> Iterator[Problem]:
    kind = type(value)
    if kind is dict:
        for name, child in value.items():
            reason = _describe_key(name, unsafe)
            if reason:
                yield Problem(f"the key {reason}", path=path)
            else:
                yield from _find_wrong(child, (*path, name), unsafe)
    elif kind is list:
        for place, child in enumerate(value):
            yield from _find_wrong(child, (*path, place), unsafe)
    elif kind is str:
        reason = describe_unsafe(value, unsafe)
        if reason:
            yield Problem(f"the string {reason}", path=path)
    elif kind is float:
        if not isfinite(value):
            name = f"{value}".replace("nan", "NaN").replace("inf", "Infinity")
            yield Problem(f"{name} is not a valid JSON value", path=path)
    elif kind is int and value.bit_length() > MAX_INTEGER_BITS:
        yield Problem("contains a number with too many digits", path=path)
    elif kind not in SCALARS:
        yield Problem(f"{_describe(value)} (expected a JSON value)", path=path)


def _describe_key(name: object, unsafe: re.Pattern[str]) -> str:
    """Say why a key can't be the name of a field; empty if it can."""
    if type(name) is not str:
        return f"{_describe(name)} (expected text)"
    return describe_unsafe(name, unsafe)


def _describe(value: object) -> str:
    name = type(value).__name__
    article = "an " if name[0] in "aeiouAEIOU" else "a "
    if name == "bytes":
        article = ""
    return f"{shorten(ascii(value), 60)} is {article}{name}"
