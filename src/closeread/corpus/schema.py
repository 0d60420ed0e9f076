r"""A corpus's JSON Schema, and everything derived from it.

The schema is the one definition of a record.  From it come the validation of gold records and of submissions (here),
the card's field table (here), and `datasets.Features` with their Arrow schema (`closeread.hf.builder`, by the same
`fold`).

Conventions: schemas use a subset of JSON Schema 2020-12 on which `jsonschema-rs`, which validates rows, and
`jsonschema`, which words the errors, agree: the keywords that `tests/test_schema.py` lists, local `$ref`s, and patterns
of ASCII classes that end in ``$(?!\n)``, since Python's ``$`` also matches before a final line end.  Three keywords are
our own: `x-dtype` (the Arrow type of a number), `x-expected` (a pattern in words) and `x-accepts-integer` (read an
integer as text, see `closeread.corpus.validation`).
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from copy import deepcopy
from functools import cache
from numbers import Integral
from typing import Any, NamedTuple, TypeVar, cast

from closeread import limits
from closeread.exceptions import Problem, ProblemList, quote_json
from closeread.files import package_folder
from closeread.json_schema import explain
from closeread.records import ColumnRecords

Schema = Mapping[str, Any]
Node = Mapping[str, Any]
T = TypeVar("T")

NOT_EXPLAINED = f"is invalid, too (only {limits.MAX_EXPLAINED} rows are explained)"
DRAFT_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}


@cache
def load_schema(name: str) -> Schema:
    """Load a schema by name (`Corpus.schema`), as it ships in the package."""
    text = (package_folder("closeread.schemas") / f"{name}.json").read_text("utf-8")
    schema: Schema = json.loads(text)
    return schema


def extract_definition(schema: Schema, definition: str) -> Schema:
    """Return a copy of a schema with one definition only, and the definitions that it refers to."""
    names: set[str] = set()
    waiting = [definition]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema["$defs"][name]))
    extracted = {"$schema": schema["$schema"]}
    for key in ("title", "description"):
        if key in schema["$defs"][definition]:
            extracted[key] = schema["$defs"][definition][key]
    extracted["$ref"] = f"#/$defs/{definition}"
    extracted["$defs"] = {name: node for name, node in schema["$defs"].items() if name in names}
    return deepcopy(extracted)


def resolve(schema: Schema, node: Node) -> Node:
    """Return the node itself, or the target of its local `$ref`, plus the other keywords of the node."""
    while "$ref" in node:
        keywords = {key: value for key, value in node.items() if key != "$ref"}
        node = {**schema["$defs"][node["$ref"].removeprefix("#/$defs/")], **keywords}
    return node


def fold(
    schema: Schema,
    node: Node,
    *,
    scalar: Callable[[Node], T],
    array: Callable[[T], T],
    struct: Callable[[dict[str, T]], T],
) -> T:
    """Build something for every node, from the leaves up: the traversal that all derived schemas share."""

    def build(node: Node) -> T:
        node = resolve(schema, node)
        kind = value_type(node)
        if kind == "object":
            return struct({name: build(child) for name, child in node["properties"].items()})
        if kind == "array":
            return array(build(node["items"]))
        return scalar(node)

    return build(node)


def value_type(node: Node) -> str:
    """Return the node's JSON type; for `["string", "null"]` it is `string`."""
    kinds = node["type"]
    if isinstance(kinds, str):
        return kinds
    kinds = [kind for kind in kinds if kind != "null"]
    if len(kinds) != 1:
        raise ValueError(f"a schema node must have one type other than null, not {kinds}")
    return str(kinds[0])


def name_label(names: Sequence[Any], value: Any) -> Any:
    """Return the label with a class number, as models predict and datasets store it; return any other value unchanged.

    >>> [name_label(["no", "yes"], value) for value in (1, "no", 2, 1.0, True)]
    ['yes', 'no', 2, 'yes', 'yes']
    """
    if isinstance(value, bool):
        return ("no", "yes")[value] if set(names) == {"no", "yes"} else value
    is_whole = isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())
    return names[int(value)] if is_whole and 0 <= int(value) < len(names) else value


class Field(NamedTuple):
    """One row of a card's field table."""

    name: str
    type: str
    required: bool
    description: str


def fields(schema: Schema, definition: str = "document") -> list[Field]:
    """List the fields of a definition in schema order, for a table."""

    def describe_scalar(leaf: Node) -> str:
        if "enum" in leaf:
            return " | ".join(f"`{value}`" for value in leaf["enum"])
        return value_type(leaf)

    def describe_struct(children: Mapping[str, str]) -> str:
        return "{" + ", ".join(f"{name}: {kind}" for name, kind in children.items()) + "}"

    node = resolve(schema, schema["$defs"][definition])
    required = node.get("required", ())
    described = []
    for name, child in node["properties"].items():
        kind = fold(
            schema,
            child,
            scalar=describe_scalar,
            array="list of {}".format,
            struct=describe_struct,
        )
        description = str(resolve(schema, child).get("description", ""))
        described.append(Field(name, kind, name in required, description))
    return described


def list_names(schema: Schema, definition: str) -> frozenset[str]:
    """Return the names of all fields of a definition, at any depth."""
    return fold(
        schema,
        schema["$defs"][definition],
        scalar=lambda leaf: frozenset(),
        array=lambda names: names,
        struct=lambda children: frozenset(children).union(*children.values()),
    )


@cache
def load_validator(name: str, definition: str = "document") -> RowValidator:
    """Load the validator of a definition of a schema (`load_schema`)."""
    return RowValidator(load_schema(name), definition)


class RowValidator:
    """Validate rows against one definition of a schema.

    A whole number with decimals, such as 1.0, is no integer, as in Draft 4 of JSON Schema; `accept_rows` converts it.
    """

    def __init__(self, schema: Schema, definition: str) -> None:
        import jsonschema_rs

        self.schema = {"$defs": schema["$defs"], "$ref": f"#/$defs/{definition}"}
        # The older draft refuses floats that are too large for `closeread.corpus.validation`, and have no maximum.
        self._drafts = (self.schema, self.schema | DRAFT_4)
        self._node = resolve(self.schema, self.schema)
        self._validator = jsonschema_rs.Draft4Validator(self.schema)
        self._column_validators: dict[str, jsonschema_rs.Validator] = {}

    @property
    def title(self) -> str:
        """The title of the definition, in lower case."""
        return str(self._node["title"]).lower()

    @property
    def fields(self) -> Mapping[str, Node]:
        """The fields of the definition, if it is an object."""
        fields: Mapping[str, Node] = self._node["properties"]
        return fields

    @property
    def required(self) -> Set[str]:
        """The fields that an object must have."""
        return set(self._node.get("required", ()))

    def problems(self, rows: Sequence[Any], numbers: Iterable[int] | None = None) -> ProblemList:
        """Find every problem of every row, whose numbers begin with 0 unless they are given.

        Only the first `limits.MAX_EXPLAINED` invalid rows are explained.
        """
        problems = ProblemList()
        if isinstance(rows, ColumnRecords) and self.accepts_all(rows):
            return problems
        n_invalid = 0
        for row, number in zip(rows, range(len(rows)) if numbers is None else numbers, strict=True):
            if self.accepts(row):
                continue
            n_invalid += 1
            explained = [Problem(NOT_EXPLAINED)]
            if n_invalid <= limits.MAX_EXPLAINED:
                explained = self._explain(row)
            problems += [problem._replace(row=number) for problem in explained]
        return problems

    def accepts(self, row: object) -> bool:
        """Return whether a row is valid; anything that is not JSON (a set, a key that is not a string) is not."""
        try:
            return bool(self._validator.is_valid(row))
        except ValueError:  # UnicodeEncodeError is one
            return False

    def drop_invalid_items(
        self, row: object
    ) -> tuple[dict[str, Any], Mapping[str, Sequence[int]]] | None:
        """Drop the list items that break the schema; return None if the row also breaks it elsewhere.

        Returns:
            The remaining row, and for every list that lost items, the original places of those that remain.
        """
        if not isinstance(row, dict):
            return None
        invalid: dict[str, set[int]] = defaultdict(set)
        for problem in self._explain(row):
            match problem.path:
                case (str(name), int(place), *_):
                    invalid[name].add(place)
                case _:
                    return None
        remains = dict(row)
        places = {}
        for name, invalid_places in invalid.items():
            places[name] = [n for n in range(len(row[name])) if n not in invalid_places]
            remains[name] = [row[name][place] for place in places[name]]
        return (remains, places) if self.accepts(remains) else None

    def accepts_all(self, rows: Sequence[Any]) -> bool:
        """Return whether all rows are valid; of columns, each distinct value is checked once."""
        columns: Mapping[str, Sequence[Any]] = {}
        if isinstance(rows, ColumnRecords):
            columns = rows.columns
        elif rows and set(map(type, rows)) == {dict}:
            names = rows[0].keys()
            # Lists and objects are not compared, so that a field of them is no column.
            is_flat = {list, dict}.isdisjoint(map(type, rows[0].values()))
            if is_flat and all(row.keys() == names for row in rows):
                columns = {name: [row[name] for row in rows] for name in names}
        # Columns can be checked one by one, since no keyword involves two fields.
        known = self._node.get("properties", {}).keys()
        is_table = bool(columns) and self.required <= columns.keys() <= known
        if is_table and all(self.accepts_column(name, values) for name, values in columns.items()):
            return True
        return not isinstance(rows, ColumnRecords) and all(map(self.accepts, rows))

    def accepts_column(self, name: str, values: Sequence[Any]) -> bool:
        """Return whether all values of a field of the definition are valid."""
        import jsonschema_rs

        # Making a validator takes longer than validating a few rows.
        if name not in self._column_validators:
            node = self._node["properties"][name]
            schema = {"$defs": self.schema["$defs"], "type": "array", "items": node}
            self._column_validators[name] = jsonschema_rs.Draft4Validator(schema)
        try:
            distinct = list(dict.fromkeys(values))
            # 1, 1.0 and True are equal, and not all of them are integers.
            if len(set(map(type, values))) > 1:
                typed_values = dict.fromkeys(zip(map(type, values), values, strict=True))
                distinct = [value for _, value in typed_values]
            return bool(self._column_validators[name].is_valid(distinct))
        except (TypeError, ValueError):
            # A value can't be hashed or is not JSON.
            return False

    def _explain(self, row: object) -> list[Problem]:
        if isinstance(row, dict) and has_many_fields(row):
            return [Problem(f"has {len(row):,} fields (expected at most {len(self.fields)})")]
        problems = []
        for problem in explain(row, self._drafts):
            match problem.path:
                case (str(name), int(place), *_):
                    item = cast(Any, row)[name][place]
                    if isinstance(item, dict):  # such as a link
                        message = f"{problem.message} (in {quote_json(item)})"
                        problem = problem._replace(message=message)
            problems.append(problem)
        return problems or [Problem("is not a JSON value")]


def has_many_fields(row: Mapping[str, Any]) -> bool:
    """Tell whether an object has too many fields to be named in an error."""
    return len(row) > limits.MAX_PROBLEMS
