"""What is accepted although a schema wants something else, because it can mean only one thing.

A whole number may be written with decimals, such as 1.0: where a schema asks for an integer, it is the integer.

A field that a schema marks with `x-accepts-integer` is text that often looks like a number, such as the order 2 or the
year 1888: a JSON integer is taken as its digits.  A number with decimals is not, since 6.1 and 6.10 are one number.

Only rows that break the schema are looked through, since 1.0 is no integer to a `RowValidator`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from closeread.corpus.schema import Node, RowValidator, Schema, fold, value_type
from closeread.corpus.values import explain_values, find_wrong_rows
from closeread.exceptions import Problem
from closeread.problems import ProblemList
from closeread.records import ColumnRecords, Record

LARGEST = 10**9
"""Integers of this size and more are left to the schema, which refuses them; the digits of huge ones take long."""

LARGEST_FLOAT = 2**53
"""Beyond it, a float does not say which integer was meant."""

Convert = Callable[[Any], Any]


class Accepted(NamedTuple):
    """Rows as a schema wants them.

    Attributes:
        rows: the rows, converted where they need to be.
        problems: what is wrong with them, each with the number of its row.
    """

    rows: Sequence[Any]
    problems: list[Problem]


def accept_rows(
    validator: RowValidator,
    rows: Sequence[Any],
    numbers: Sequence[int] | None = None,
    *,
    unsafe: re.Pattern[str] | None = None,
) -> Accepted:
    """Validate rows, and convert what can mean only one thing in those that break the schema.

    Args:
        validator: what validates them.
        rows: JSON values, valid or not.
        numbers: the number of each row, for its problems; None to count from 0.
        unsafe: of rows in memory, characters that no string may contain; None for rows of a text file, whose reader
            refuses such characters, and whatever is no JSON value.

    >>> from closeread.corpus.schema import load_schema
    >>> possession = {"order": 2, "anchor": 1657, "possessor": "Ann", "certainty": None}
    >>> possession |= {"relation": None, "relation_certainty": None}
    >>> rows = [{"article": "Florentine Diamond", "possessions": [possession]}]
    >>> found = accept_rows(RowValidator(load_schema("wikipossessions"), "submission"), rows)
    >>> found.rows[0]["possessions"][0]["order"]
    '2'
    """
    wrong = {} if unsafe is None else find_wrong_rows(rows, unsafe)
    if not wrong and validator.accepts_all(rows):
        return Accepted(rows, [])
    rows = fit_numbers(validator, rows)
    if unsafe is not None:  # a number with too many digits can't be quoted
        suspects = [i for i, row in enumerate(rows) if i not in wrong and not validator.accepts(row)]
        wrong |= {i: found for i in suspects if (found := explain_values(rows[i], unsafe))}
    numbers = range(len(rows)) if numbers is None else numbers
    problems = ProblemList(one._replace(row=numbers[i]) for i, found in wrong.items() for one in found)
    rest = [i for i in range(len(rows)) if i not in wrong] if wrong else range(len(rows))
    problems += validator.problems([rows[i] for i in rest] if wrong else rows, [numbers[i] for i in rest])
    return Accepted(rows, sorted(problems, key=lambda problem: problem.row or 0) if wrong else problems)


def fit_numbers(validator: RowValidator, rows: Sequence[Any]) -> Sequence[Any]:
    """Return rows with integers, and integers as text, wherever the schema wants that; anything else is unchanged.

    Args:
        validator: what knows the schema; rows that it accepts are unchanged.
        rows: JSON values, valid or not.
    """
    schema = validator.schema
    if isinstance(rows, ColumnRecords):
        nodes = validator.fields
        converters = {name: _find_converter(schema, node) for name, node in nodes.items()}
        return ColumnRecords(
            {
                name: _convert_all(converters.get(name), values)
                if name in nodes and not validator.accepts_column(name, values)
                else values
                for name, values in rows.columns.items()
            }
        )
    convert = _find_converter(schema, schema)
    return rows if convert is None else [row if validator.accepts(row) else convert(row) for row in rows]


def make_check(schema: Schema, definition: str) -> Callable[[Record], bool]:
    """Return what tells whether a row follows a definition of a schema, integers as text included."""
    validator, convert = RowValidator(schema, definition), _find_converter(schema, {"$ref": f"#/$defs/{definition}"})
    return lambda row: validator.accepts(row) or (convert is not None and validator.accepts(convert(row)))


def _convert_all(convert: Convert | None, values: Sequence[Any]) -> Sequence[Any]:
    return values if convert is None else [convert(value) for value in values]


def _find_converter(schema: Schema, node: Node) -> Convert | None:
    """Return what converts the values of a node; None if nothing in it may be a number."""
    return fold(schema, node, scalar=_find_scalar, array=_find_array, struct=_find_struct)


def _find_scalar(node: Node) -> Convert | None:
    if node.get("x-accepts-integer"):
        return _quote
    return _make_whole if value_type(node) == "integer" else None


def _find_array(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None

    def convert_items(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        items = [convert(item) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value

    return convert_items


def _find_struct(children: dict[str, Convert | None]) -> Convert | None:
    found = {name: convert for name, convert in children.items() if convert is not None}
    if not found:
        return None

    def convert_fields(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        new = {name: found[name](value[name]) for name in found if name in value}
        return {**value, **new} if any(child is not value[name] for name, child in new.items()) else value

    return convert_fields


def _quote(value: Any) -> Any:
    return str(value) if type(value) is int and abs(value) < LARGEST else value


def _make_whole(value: Any) -> Any:
    return int(value) if type(value) is float and value.is_integer() and abs(value) <= LARGEST_FLOAT else value


def describe_unwrapped(validator: RowValidator, side: str, rows: object) -> str:
    """Say that the rows are one row that was not put in a list; empty if they are not.

    Args:
        validator: what validates a row, which is itself a list, such as the clusters of a document.
        side: the name of the argument.
        rows: the rows, which are not valid.
    """
    if not isinstance(rows, list | tuple) or not validator.accepts(list(rows)):
        return ""
    return (
        f"are the {validator.title} of a single document (expected a list with one item per document; "
        f"wrap them in a list: [{side}])"
    )
