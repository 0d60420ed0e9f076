"""Derive `datasets.Features` from a corpus's JSON Schema; their `arrow_schema` is the Arrow schema of its tables.

Conventions: a list of objects is written as `[{...}]`, which all versions of `datasets` read the same way; labels are
text, in every corpus, as in records, submissions and files; `x-dtype` gives the Arrow type of a number.
"""

from __future__ import annotations

from typing import Any

import datasets

from closeread.corpus.schema import Node, Schema, fold, value_type

DTYPES = {"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}


def features(schema: Schema, definition: str = "document") -> datasets.Features:
    """Return the features of a schema's definition, which must be an object."""
    return datasets.Features(feature(schema, definition))


def feature(schema: Schema, definition: str) -> Any:
    """Return the feature of any definition of a schema."""

    def make_scalar(node: Node) -> Any:
        return datasets.Value(node.get("x-dtype", DTYPES[value_type(node)]))

    return fold(schema, schema["$defs"][definition], scalar=make_scalar, array=lambda item: [item], struct=dict)
