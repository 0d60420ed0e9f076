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
from functools import partial
from itertools import chain, islice
from math import isfinite, isnan
from numbers import Integral, Real
from operator import is_not
from pathlib import Path
from typing import Any, cast

from closeread import limits
from closeread.corpus.notices import warn_all
from closeread.corpus.schema import (
    Node,
    RowValidator,
    Schema,
    fold,
    name_label,
    resolve,
    value_type,
)
from closeread.exceptions import (
    FieldPath,
    FormatError,
    Problem,
    ProblemList,
    describe_problems,
    shorten,
)
from closeread.formats.json_lines import TOO_DEEP
from closeread.formats.text import UNSAFE, describe_unsafe
from closeread.json_schema import describe_unknown_fields
from closeread.records import ColumnRecords, Parsed, Record, find_repeated, name_problem
from closeread.tasks import find

SCALARS = frozenset({str, int, bool, type(None)})
PLAIN = SCALARS | {float, list, dict}

USUAL_DEPTH = 5  # down to this level, values are not compared to find repeated ones
LONGEST_NUMBER = 14_000  # the most bits of an integer; Python does not print longer ones
EXPLAINED = 100  # how many values of a row are explained

LARGEST = 10**9
"""Integers of this size and more are left to the schema, which refuses them; the digits of huge ones take long."""

LARGEST_FLOAT = 2**53  # beyond it, a float stands for several integers

Convert = Callable[[Any], Any]

# the index of a record, and a sentence on what is wrong or unusual about it
Finding = tuple[int, str]


# Rules


@dataclass(frozen=True)
class Rules:
    """Rules for the records of one definition, and for the predictions for them, that a schema can't express."""

    # Finds inconsistencies in gold records, all of which match the schema.
    find_inconsistencies: Callable[[Sequence[Record]], Iterable[Finding]] = lambda records: ()
    # Finds oddities of gold records that change nothing, for notices of one sentence each.
    find_oddities: Callable[[Sequence[Record]], Iterable[str]] = lambda records: ()
    # Finds oddities of a system's valid rows, given the gold records.
    find_odd_rows: Callable[[Sequence[Record], Sequence[Record]], Iterable[Finding]] = (
        lambda rows, gold: ()
    )
    # returns whether a gold record is scored
    is_scored: Callable[[Record], bool] = lambda record: True
    # finds what reading gold records has repaired, for notices of one sentence each
    find_repairs: Callable[[Sequence[Record]], Iterable[str]] = lambda records: ()


def load_rules(task: str, definition: str = "document") -> Rules:
    """Load the rules of a task (`RULES` in its module `rules`) for records of a definition of the schema."""
    module = find(task, "rules")
    rules = {} if module is None else cast(Mapping[str, Rules], module.RULES)
    return rules.get(definition, Rules())


# Records


def validate_records(
    path: Path | str,
    parsed: Parsed,
    schema: Schema,
    definition: str = "document",
    *keys: str,
    find_inconsistencies: Callable[[Sequence[Record]], Iterable[Finding]] = lambda records: (),
    unsafe: re.Pattern[str] = UNSAFE,
) -> Sequence[Record]:
    """Return the records of a file, a folder or memory (`path`, in messages) if all of them are valid.

    All problems are reported at once, those that `find_inconsistencies` finds in valid records as well; for the others,
    see `check_records`.  Unknown fields are left out, with a warning.
    """
    dropped: list[Problem] = ProblemList()
    parsed, problems, numbers = check_records(
        parsed, RowValidator(schema, definition), keys, unsafe, dropped
    )
    valid = (
        parsed.records
        if len(numbers) == len(parsed.records)
        else [parsed.records[n] for n in numbers]
    )
    problems += (
        parsed.problem(numbers[index], what) for index, what in find_inconsistencies(valid)
    )
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
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
    found: list[Problem] | None = None if dropped is None else ProblemList()
    accepted, rejected = accept_rows(
        validator, parsed.records, unsafe=unsafe if in_memory else None, dropped=found
    )
    parsed = parsed._replace(records=accepted)
    if dropped is not None:
        dropped += (name_problem(parsed, next(iter(keys), ""), one) for one in found or ())
    problems = ProblemList(parsed.problems)
    problems += (name_problem(parsed, next(iter(keys), ""), problem) for problem in rejected)
    for key in keys:
        problems.extend(find_repeated(parsed, key, keys[0]))
    numbers: Sequence[int] = range(len(accepted))
    if rejected:
        invalid = {problem.row for problem in rejected}
        numbers = [n for n in numbers if n not in invalid and validator.accepts(accepted[n])]
    return parsed, problems, numbers


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
    wrong: dict[int, list[Problem]] = {}
    columns = rows.columns if isinstance(rows, ColumnRecords) else None
    values = rows if columns is None else chain(columns, *columns.values())
    if unsafe is not None and not _are_safe(values, unsafe, is_flat=columns is not None):
        wrong = {i: found for i, row in enumerate(rows) if (found := explain_values(row, unsafe))}
    if not wrong and validator.accepts_all(rows):
        return rows, []
    rows = fit_numbers(validator, rows, in_memory=unsafe is not None)
    if dropped is not None and not validator.accepts_all(rows):
        rows = [
            row
            if i in wrong or validator.accepts(row)
            else _drop_unknown(validator.schema, validator.schema, row, (i,), dropped)
            for i, row in enumerate(rows)
        ]
    if unsafe is not None:  # a number with too many digits can't be quoted
        suspects = [
            i for i, row in enumerate(rows) if i not in wrong and not validator.accepts(row)
        ]
        wrong |= {i: found for i in suspects if (found := explain_values(rows[i], unsafe))}
    numbers = range(len(rows)) if numbers is None else numbers
    problems = ProblemList(
        one._replace(row=numbers[i]) for i, found in wrong.items() for one in found
    )
    rest = [i for i in range(len(rows)) if i not in wrong] if wrong else range(len(rows))
    problems += validator.problems(
        [rows[i] for i in rest] if wrong else rows, [numbers[i] for i in rest]
    )
    return rows, sorted(problems, key=lambda problem: problem.row or 0) if wrong else problems


def _drop_unknown(
    schema: Schema, node: Node, value: Any, path: FieldPath, dropped: list[Problem]
) -> Any:
    """Return a value without the unknown and missing fields of its objects; the path begins with the row's number."""
    node = resolve(schema, node)
    if isinstance(value, list) and "items" in node:
        return [
            _drop_unknown(schema, node["items"], item, (*path, i), dropped)
            for i, item in enumerate(value)
        ]
    known: Mapping[str, Node] = node.get("properties", {})
    lacks_field = isinstance(value, dict) and not value.keys() >= set(node.get("required", ()))
    if not isinstance(value, dict) or not known or lacks_field or len(value) > limits.MAX_PROBLEMS:
        return value
    value = {
        name: child
        for name, child in value.items()
        if child is not None or not _may_lack(schema, node, name)
    }
    row, *place = path
    sentences = describe_unknown_fields(node, value, " is ignored")
    dropped += (Problem(what, row=cast(int, row), path=tuple(place)) for what in sentences)
    return {
        name: _drop_unknown(schema, known[name], child, (*path, name), dropped)
        for name, child in value.items()
        if name in known
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
                columns[name] = (
                    columns[name]
                    if convert is None
                    else [convert(value) for value in columns[name]]
                )
        return ColumnRecords(columns)
    convert = _find_converter(validator.schema, validator.schema, in_memory=in_memory)
    return (
        rows
        if convert is None
        else [row if validator.accepts(row) else convert(row) for row in rows]
    )


def _find_converter(schema: Schema, node: Node, *, in_memory: bool) -> Convert | None:
    """Return the function that converts the values of a node; None if nothing in it may be a number."""

    def convert_scalar(node: Node) -> Convert | None:
        if in_memory and "enum" in node:
            return partial(name_label, node["enum"])
        if node.get("x-accepts-integer"):
            return lambda value: (
                str(value) if type(value) is int and abs(value) < LARGEST else value
            )
        if value_type(node) != "integer":
            return None
        return lambda value: (
            int(value)
            if type(value) is float and value.is_integer() and abs(value) <= LARGEST_FLOAT
            else value
        )

    return fold(schema, node, scalar=convert_scalar, array=convert_items, struct=convert_fields)


def convert_items(convert: Convert | None) -> Convert | None:
    """Return the function that converts the items of a list; None if items need no conversion."""
    if convert is None:
        return None

    def convert_all(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        items = list(map(convert, value))
        return items if any(map(is_not, items, value)) else value  # a copy only of what changes

    return convert_all


def convert_fields(children: dict[str, Convert | None]) -> Convert | None:
    """Return the function that converts the fields of an object; None if fields need no conversion."""
    found = {name: change for name, change in children.items() if change is not None}

    def convert(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        fields = {name: change(value[name]) for name, change in found.items() if name in value}
        return (
            {**value, **fields}
            if any(fields[name] is not value[name] for name in fields)
            else value
        )

    return convert if found else None


# JSON values


def convert_rows(rows: Sequence[Any]) -> Sequence[Any]:
    """Return rows, or records stored as columns, with JSON types, as `as_json`."""
    if isinstance(rows, ColumnRecords):
        return ColumnRecords(
            {str(name): convert_rows(values) for name, values in rows.columns.items()}
        )
    return rows if _are_safe(rows, UNSAFE) else [as_json(value) for value in rows]


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
        return {
            str.__str__(name) if isinstance(name, str) else name: _convert(child)
            for name, child in value.items()
        }
    if hasattr(value, "tolist"):  # arrays, tensors and their scalars
        value = value.tolist()
        return value if type(value) in SCALARS or hasattr(value, "tolist") else _convert(value)
    if isinstance(value, list | tuple | set | frozenset):
        return (
            value
            if kind is list and set(map(type, value)) <= SCALARS
            else [_convert(item) for item in value]
        )
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


def _are_safe(rows: Iterable[Any], unsafe: re.Pattern[str], *, is_flat: bool = False) -> bool:
    """Tell whether all values may be in JSON Lines, except very long numbers, which the schema reports.

    Looking at level after level is many times faster than looking at one value after the other.
    """
    level = list(rows)
    for depth in range(limits.MAX_DEPTH + (not is_flat)):
        kinds = set(map(type, level))
        if not kinds <= PLAIN:
            return False
        by_kind: dict[type, list[Any]] = {
            kind: level if len(kinds) == 1 else [value for value in level if type(value) is kind]
            for kind in kinds & {str, float, dict, list}
        }
        text = "".join(set(by_kind.get(str, ())))
        if not text.isprintable() and unsafe.search(text):
            return False
        if not all(map(isfinite, by_kind.get(float, ()))):
            return False
        dicts, lists = by_kind.get(dict, []), by_kind.get(list, [])
        if not set(map(type, chain.from_iterable(dicts))) <= {str}:
            return False
        if not dicts and not lists:
            return True
        if depth > USUAL_DEPTH:  # a list that contains itself twice would double every level
            dicts = list({id(value): value for value in dicts}.values())
            lists = list({id(value): value for value in lists}.values())
        level = [
            *chain.from_iterable(lists),
            *set(chain.from_iterable(dicts)),
            *chain.from_iterable(map(dict.values, dicts)),
        ]
    return False


def explain_values(row: Any, unsafe: re.Pattern[str] = UNSAFE) -> list[Problem]:
    """Return a problem for each value in a row that JSON Lines may not contain, up to `EXPLAINED`.

    These are unsafe characters, numbers that are not finite, values that are nested too deeply and anything that is no
    JSON value.
    """
    try:
        return list(islice(_find_wrong(row, (), unsafe), EXPLAINED))
    except RecursionError:
        return [Problem(TOO_DEEP)]


def _find_wrong(value: Any, path: FieldPath, unsafe: re.Pattern[str]) -> Iterator[Problem]:
    kind = type(value)
    if kind is dict:
        for name, child in value.items():
            if type(name) is not str:
                yield Problem(f"the key {_describe(name)} (expected text)", path=path)
            elif what := describe_unsafe(name, unsafe):
                yield Problem(f"the key {what}", path=path)
            else:
                yield from _find_wrong(child, (*path, name), unsafe)
    elif kind is list:
        for place, child in enumerate(value):
            yield from _find_wrong(child, (*path, place), unsafe)
    elif kind is str:
        if what := describe_unsafe(value, unsafe):
            yield Problem(f"the string {what}", path=path)
    elif kind is float:
        if not isfinite(value):
            name = "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
            yield Problem(f"{name} is not a valid JSON value", path=path)
    elif kind is int and value.bit_length() > LONGEST_NUMBER:
        yield Problem("contains a number with too many digits", path=path)
    elif kind not in SCALARS:
        yield Problem(f"{_describe(value)} (expected a JSON value)", path=path)


def _describe(value: object) -> str:
    name = type(value).__name__
    article = "" if name == "bytes" else "an " if name[0] in "aeiouAEIOU" else "a "
    return f"{shorten(ascii(value), 60)} is {article}{name}"
