"""Compare the columns of Arrow tables with a corpus's schema, before any value is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from closeread.corpus.schema import Node, Schema, resolve, value_type
from closeread.exceptions import Problem, quote, shorten

if TYPE_CHECKING:
    import pyarrow as pa

ACCEPTED = {
    "string": ("string",),
    "integer": ("integer", "number"),
    "number": ("integer", "number"),
    "boolean": ("boolean",),
}
"""The JSON types that the values of a column may have, by the type of the schema; of numbers, whole ones are integers.

Labels, and text that accepts integers, may be numbers, too.
"""

JSON_TYPES = "a string, a number, a boolean, a list or a struct"


def find_column_problems(found: pa.Schema, schema: Schema, definition: str) -> list[Problem]:
    """Find columns that are not in a definition of a corpus's schema, are missing or have other types.

    Args:
        found: the Arrow schema of a table.
        schema: the corpus's schema.
        definition: the definition that its rows follow, which is an object.
    """
    return list(_compare_fields(schema, list(found), resolve(schema, schema["$defs"][definition]), ""))


def find_foreign_columns(found: pa.Schema) -> list[Problem]:
    """Find columns of types that JSON does not have, and names that several columns have."""
    return list(_compare_fields({}, list(found), None, ""))


def _compare_fields(schema: Schema, found: Sequence[pa.Field], node: Node | None, place: str) -> Iterator[Problem]:
    """Compare columns, or the fields of an object at a place, with a node of the schema; None for anything."""
    what = "field" if place else "column"
    where = f"column {quote(place)} " if place else ""
    names = [field.name for field in found]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1) if len(set(names)) < len(names) else ():
        yield Problem(f"{where}has several {what}s {quote(name)}")
    if node is not None:
        known = ", ".join(map(quote, node["properties"]))
        for name in node.get("required", ()):
            if name not in names:
                yield Problem(f"{where}has no {what} {quote(name)} ({what}s: {', '.join(map(quote, names))})")
        for name in names:
            if name not in node["properties"]:
                yield Problem(f"{where}has an unknown {what} {quote(name)} (expected {known})")
    for field in found:
        child = None if node is None else node["properties"].get(field.name)
        if node is None or child is not None:
            inner = f"{place}.{field.name}" if place else field.name
            yield from _compare(schema, field.type, None if child is None else resolve(schema, child), inner)


def _compare(schema: Schema, kind: pa.DataType, node: Node | None, place: str) -> Iterator[Problem]:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    name, expected = _name_type(kind), None if node is None else value_type(node)
    if name == "null":
        return
    if name == "array" and expected in ("array", None):
        items = None if node is None else resolve(schema, node["items"])
        yield from _compare(schema, kind.value_type, items, place)
    elif name == "object" and expected in ("object", None):
        yield from _compare_fields(schema, list(kind), node, place)
    elif name is None or (node is not None and name not in _accept(node)):
        wanted = JSON_TYPES if expected is None else {"array": "list", "object": "struct"}.get(expected, expected)
        yield Problem(f"column {quote(place)} is {shorten(str(kind), 60)} (expected {wanted})")


def _accept(node: Node) -> tuple[str, ...]:
    """Return the JSON types of the values that a node may have."""
    accepted = ACCEPTED.get(value_type(node), ())
    return (*accepted, "integer", "number") if "enum" in node or node.get("x-accepts-integer") else accepted


def _name_type(kind: pa.DataType) -> str | None:
    """Return the JSON type of an Arrow type; None if there is none."""
    import pyarrow as pa

    types = pa.types
    names = {
        "null": types.is_null,
        "boolean": types.is_boolean,
        "integer": types.is_integer,
        "number": lambda kind: types.is_floating(kind) or types.is_decimal(kind),
        "string": lambda kind: types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind),
        "array": _is_list,
        "object": types.is_struct,
    }
    if isinstance(kind, pa.BaseExtensionType):
        return None
    return next((name for name, is_of in names.items() if is_of(kind)), None)


def _is_list(kind: pa.DataType) -> bool:
    from pyarrow import types

    of_views = types.is_list_view(kind) or types.is_large_list_view(kind)
    return bool(of_views or types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))
