"""`datasets.Features` from a corpus's JSON Schema; their `arrow_schema` is the Arrow schema of its tables.

Conventions: a list of objects is written as `[{...}]`, which every generation of `datasets` reads alike; a label
with `x-class-label` loads as an integer; a number has the Arrow type that `x-dtype` names.
"""

from __future__ import annotations

from typing import Any

import datasets

from closeread.corpora.schema import Node, Schema, fold, value_type

DTYPES = {"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}


def features(schema: Schema, definition: str = "document") -> datasets.Features:
    """The features of a definition of a schema that is an object."""
    return datasets.Features(feature(schema, definition))


def feature(schema: Schema, definition: str) -> Any:
    """The feature of any definition of a schema."""
    return fold(schema, schema["$defs"][definition], scalar=_scalar, array=_list, struct=dict)


def _list(item: Any) -> Any:
    return [item]


def _scalar(node: Node) -> Any:
    if node.get("x-class-label"):
        return datasets.ClassLabel(names=node["enum"])
    return datasets.Value(node.get("x-dtype", DTYPES[value_type(node)]))
