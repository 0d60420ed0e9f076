"""What is accepted although a schema wants something else, because it can mean only one thing.

A field that a schema marks with `x-accepts-integer` is text that often looks like a number, such as the order 2 or the
year 1888: a JSON integer is taken as its digits.  A number with decimals is not, since 6.1 and 6.10 are one number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any

from closeread.corpora.schema import Node, RowValidator, Schema, fold
from closeread.records import ColumnRecords, Record

LARGEST = 10**9
"""Integers of this size and more are left to the schema, which refuses them; the digits of huge ones take long."""

Convert = Callable[[Any], Any]


def quote_integers(schema: Schema, definition: str, rows: Sequence[Any]) -> Sequence[Any]:
    """Return rows with integers as text wherever the schema accepts that; anything else is unchanged.

    Args:
        schema: a corpus's schema.
        definition: the definition that the rows follow.
        rows: JSON values, valid or not.

    >>> from closeread.corpora.schema import load_schema
    >>> rows = [{"article": "Florentine Diamond", "possessions": [{"order": 2, "anchor": 1657}]}]
    >>> quote_integers(load_schema("wikipossessions"), "submission", rows)[0]["possessions"]
    [{'order': '2', 'anchor': '1657'}]
    """
    convert = _find_converter(schema, {"$ref": f"#/$defs/{definition}"})
    if convert is None:
        return rows
    if not isinstance(rows, ColumnRecords):
        return [convert(row) for row in rows]
    nodes = schema["$defs"][definition]["properties"]
    converters = {name: _find_converter(schema, node) for name, node in nodes.items()}
    return ColumnRecords({name: _convert_all(converters.get(name), values) for name, values in rows.columns.items()})


def make_check(schema: Schema, definition: str) -> Callable[[Record], bool]:
    """Return what tells whether a row follows a definition of a schema, integers as text included."""
    validator, convert = RowValidator(schema, definition), _find_converter(schema, {"$ref": f"#/$defs/{definition}"})
    return lambda row: validator.accepts(row) or (convert is not None and validator.accepts(convert(row)))


def _convert_all(convert: Convert | None, values: Sequence[Any]) -> Sequence[Any]:
    return values if convert is None else [convert(value) for value in values]


def _find_converter(schema: Schema, node: Node) -> Convert | None:
    """Return what converts the values of a node; None if nothing in it accepts integers as text."""
    return fold(schema, node, scalar=_find_scalar, array=_find_array, struct=_find_struct)


def _find_scalar(node: Node) -> Convert | None:
    return _quote if node.get("x-accepts-integer") else None


def _find_array(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None
    return lambda value: [convert(item) for item in value] if isinstance(value, list | tuple) else value


def _find_struct(children: dict[str, Convert | None]) -> Convert | None:
    found = {name: convert for name, convert in children.items() if convert is not None}
    if not found:
        return None

    def convert_fields(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {name: found[name](child) if name in found else child for name, child in value.items()}

    return convert_fields


def _quote(value: Any) -> Any:
    if isinstance(value, Integral) and not isinstance(value, bool) and abs(int(value)) < LARGEST:
        return str(int(value))
    return value


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
