"""JSON against our schemas: `jsonschema_rs` decides, `jsonschema` finds the errors, and one function words them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

from closeread import limits
from closeread.exceptions import (
    FieldPath,
    FormatError,
    Problem,
    find_similar,
    pluralize,
    quote,
    quote_json,
    shorten,
    suggest_choice,
)
from closeread.files import package_folder

Schema = dict[str, Any]

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
LISTED = 5  # how many fields a message lists; more choices than these need a suggestion
TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def check_json(found: object, schema: str, source: object) -> None:
    """Check a JSON value from a source by one of our schemas, such as `closeread.hub/eval_results.schema.json`.

    The name of the schema has its package, its file and perhaps the definition in it.
    """
    if problems := find_problems(found, schema):
        raise FormatError(source, problems)


def find_problems(found: object, schema: str) -> list[Problem]:
    """Return the problems of a JSON value by one of our schemas, as `check_json`; empty if it is valid."""
    try:
        if _load_validator(schema).is_valid(found):
            # `jsonschema_rs` takes NaN for null, and accepts lone surrogates.
            json.dumps(found, allow_nan=False, ensure_ascii=False).encode()
            return []
    except ValueError:  # no JSON, such as a set or a lone surrogate
        pass
    return explain(found, [_load_schema(schema)]) or [
        Problem(f"is not valid (expected a value as in {schema})")
    ]


@cache
def _load_schema(name: str) -> Schema:
    package, _, rest = name.partition("/")
    file, _, definition = rest.partition("#")
    schema: Schema = json.loads((package_folder(package) / file).read_text("utf-8"))
    return {**schema, "$ref": f"#/$defs/{definition}"} if definition else schema


@cache
def _load_validator(name: str) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(_load_schema(name))


def explain(found: Any, schemas: Iterable[Schema]) -> list[Problem]:
    """Say in words why a JSON value is invalid, by the first of the schemas that `jsonschema` finds to be broken.

    The two libraries read a few patterns differently, so that there may be no problem in words.
    """
    import jsonschema  # takes 60 ms to import, and only errors need it

    try:
        problems = list(_find_unsafe(found))
        for schema in schemas:
            draft = jsonschema.validators.validator_for(schema)
            # Each error takes some kilobytes.
            if errors := list(islice(draft(schema).iter_errors(found), limits.MAX_PROBLEMS + 1)):
                errors.sort(
                    key=lambda error: [
                        (isinstance(step, str), step) for step in error.absolute_path
                    ]
                )
                # A value of the wrong type is none of the choices either, and only the choices are a useful
                # expectation.
                chosen = {error.json_path for error in errors if error.validator == "enum"}
                told = (
                    error
                    for error in errors
                    if error.validator != "type" or error.json_path not in chosen
                )
                problems += (problem for error in told for problem in describe(error))
                break
    except RecursionError:
        return [Problem("is nested too deeply")]
    except (TypeError, ValueError):  # too many digits to print, or no JSON, such as pandas.NA
        return []
    if len(problems) > limits.MAX_PROBLEMS:
        return [*problems[: limits.MAX_PROBLEMS], Problem("has further problems, not listed")]
    return problems


def _find_unsafe(found: object) -> Iterator[Problem]:
    for path, value in _walk(found):
        if isinstance(value, float) and not math.isfinite(value):
            yield Problem("is not a finite number", path=path)
        elif isinstance(value, str) and LONE_SURROGATE.search(value):
            yield Problem(f"{quote(value)} contains a lone surrogate", path=path)


def _walk(value: object, path: FieldPath = ()) -> Iterator[tuple[FieldPath, object]]:
    """Yield every value inside a JSON value, with its place."""
    yield path, value
    if isinstance(value, Mapping):
        for key, child in value.items():
            yield from _walk(child, (*path, key))
    elif isinstance(value, list):
        for i, child in enumerate(value):
            yield from _walk(child, (*path, i))


def describe(error: Any) -> list[Problem]:
    """Word an error of `jsonschema`: the value found, the expected one, and the place."""
    path = tuple(error.absolute_path)
    if error.validator in ("anyOf", "oneOf") and "description" not in error.schema:
        branches: dict[object, list[Any]] = {}
        for one in error.context:
            branches.setdefault(one.schema_path[0], []).append(one)
        # The error of a branch for another type, such as null, explains nothing.
        meant = [
            some
            for some in branches.values()
            if all(one.path or one.validator != "type" for one in some)
        ]
        if len(meant) == 1:
            return [problem for one in meant[0] for problem in describe(one)]
    if error.validator == "required":
        # `jsonschema` has an error for each missing field, whose name is in the message only.
        missing = next(
            name for name in error.validator_value if error.message.startswith(repr(name))
        )
        # the unknown field is the problem
        if missing in _guess_fields(error.schema, error.instance).values():
            return []
        return [Problem(f"field {quote(missing)} is missing", path=path)]
    if error.validator == "additionalProperties":
        return [
            Problem(what, path=path)
            for what in describe_unknown_fields(error.schema, error.instance)
        ]
    return [Problem(_describe(error), path=path)]


def describe_unknown_fields(
    schema: Mapping[str, Any], found: Mapping[str, Any], verdict: str = ""
) -> list[str]:
    """Return a sentence for each field of an object that its schema does not have, with the field that was meant."""
    fields = "" if verdict else f" (fields: {_list(list(schema.get('properties', ())), LISTED)})"
    return [
        f"unknown field {quote(str(name))}{verdict}{fields if meant is None else f'; did you mean {quote(meant)}?'}"
        for name, meant in _guess_fields(schema, found).items()
    ]


def _guess_fields(schema: Mapping[str, Any], found: Mapping[str, Any]) -> dict[object, str | None]:
    """Map the unknown fields of an object to those that were meant: a similar one, or the only one that is missing."""
    known = schema.get("properties", {})
    unknown = list(islice((name for name in found if name not in known), limits.MAX_PROBLEMS))
    missing = [name for name in schema.get("required", ()) if name not in found]
    only = missing[0] if len(unknown) == len(missing) == 1 else None
    absent = [name for name in known if name not in found]
    return {name: find_similar(str(name), absent) or only for name in unknown}


def _list(values: Sequence[object], most: int) -> str:
    return ", ".join(quote_json(value, 60) for value in values[:most]) + ", …" * (
        len(values) > most
    )


def _describe(error: Any) -> str:
    schema: Any = error.schema
    expected, value = error.validator_value, error.instance
    match error.validator:
        case "type":
            if schema.get("x-accepts-integer") and isinstance(value, float):
                why = f", since {value:g} and {value:g}0 are one number" * (not value.is_integer())
                return f'{value} is a number (expected text: "{value:g}" in quotes{why})'
            return f"expected {_describe_type(expected, schema)}, found {_name_value(value)}"
        case "enum":
            texts = (
                [one for one in expected if isinstance(one, str)]
                if isinstance(value, str | bool)
                else []
            )
            guess = suggest_choice(str(value), texts)
            return f"{quote_json(value)} is not one of {_list(expected, 6 * LISTED)}{guess}"
        case "const":
            return f"expected {quote_json(expected)}, found {quote_json(value)}"
        case "pattern" | "anyOf" | "oneOf" | "not" if words := schema.get(
            "x-expected"
        ) or schema.get("description"):
            return f"{quote_json(value)} is not valid (expected {words})"
        case "pattern":
            return f"{quote_json(value)} is not valid (expected the form {expected})"
        case "anyOf" | "oneOf":
            return f"{quote_json(value)} is none of the values that are possible here"
        case "minLength" | "minItems" | "minProperties" if not value:
            return "is empty"
        case "minLength" | "maxLength" | "minItems" | "maxItems" as bound:
            unit = "character" if bound.endswith("Length") else "item"
            least = "least" if bound.startswith("min") else "most"
            text = f"{quote(value)} " if isinstance(value, str) else ""
            return f"{text}has {pluralize(len(value), unit)} (expected at {least} {expected:,})"
        case "uniqueItems":
            return "lists a value twice"
    return shorten(str(error.message))


def _describe_type(types: str | Sequence[str], schema: Schema) -> str:
    """Name types in words; of an object, its first fields, too."""
    if not isinstance(types, str):
        return " or ".join(_describe_type(one, schema) for one in types)
    names = schema.get("required") or list(schema.get("properties", ()))
    if types == "object" and names:
        fields = ", ".join(f'"{name}": …' for name in names[:2])
        return f"an object such as {{{fields}{', …' * (len(names) > 2)}}}"
    return TYPES[types]


def _name_value(value: object) -> str:
    """Name a value of the wrong type: scalars as they are, others by their type."""
    if value is None or isinstance(value, str | int | float):
        return quote_json(value)
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, Mapping) else f"a {type(value).__name__}"
