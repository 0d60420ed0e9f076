"""JSON against our schemas: `jsonschema_rs` decides, `jsonschema` finds the errors, and one function words them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

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

if TYPE_CHECKING:
    import msgspec

Schema = dict[str, Any]
Struct = TypeVar("Struct", bound="msgspec.Struct")

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
MAX_FIELDS_LISTED = 5
MAX_CHOICES_LISTED = 30
TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def check_json(content: object, schema: str, source: object) -> None:
    """Check a JSON value from a source by one of our schemas, such as `closeread.hub/eval_results.schema.json`.

    The name of the schema has its package, its file and perhaps the definition in it.
    """
    with suppress(ValueError):  # no JSON, such as a set or a lone surrogate
        if _load_validator(schema).is_valid(content):
            # `jsonschema_rs` takes NaN for null, and accepts lone surrogates.
            json.dumps(content, allow_nan=False, ensure_ascii=False).encode()
            return
    problems = explain(content, [_load_schema(schema)])
    raise FormatError(
        source, problems or [Problem(f"is not valid (expected a value as in {schema})")]
    )


def convert(kind: type[Struct], content: object, source: object) -> Struct:
    """Return JSON as a struct of msgspec of a kind; a FormatError has everything that is wrong with it."""
    import msgspec  # takes a fifth of the time of NumPy's import, and scores need no struct

    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        problems = explain(content, [derive_schema(kind)])
        raise FormatError(source, problems or [Problem(str(error))]) from None


@cache
def derive_schema(kind: type[msgspec.Struct]) -> Schema:
    """Return the JSON Schema of a struct of msgspec."""
    import msgspec

    schema = msgspec.json.schema(kind)
    _join_types(schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _join_types(schema: Any) -> None:
    """Write alternatives that are types, such as text or null, as a list of types, whose message is clearer.

    Only one of the types may have limits.
    """
    if isinstance(schema, list):
        for part in schema:
            _join_types(part)
    if isinstance(schema, dict):
        branches = schema.get("anyOf", [])
        with_limits = [branch for branch in branches if len(branch) > 1]
        if branches and len(with_limits) <= 1 and all("type" in branch for branch in branches):
            del schema["anyOf"]
            types = [branch["type"] for branch in branches]
            if "number" in types and "integer" in types:
                types.remove("integer")
            for branch in with_limits:
                schema.update(branch)
            schema["type"] = types
        for part in schema.values():
            _join_types(part)


@cache
def _load_schema(name: str) -> Schema:
    package, _, path = name.partition("/")
    file, _, definition = path.partition("#")
    schema: Schema = json.loads((package_folder(package) / file).read_text("utf-8"))
    return {**schema, "$ref": f"#/$defs/{definition}"} if definition else schema


@cache
def _load_validator(name: str) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(_load_schema(name))


def explain(content: Any, schemas: Iterable[Schema]) -> list[Problem]:
    """Say in words why a JSON value is invalid, by the first of the schemas that `jsonschema` finds to be broken.

    The two libraries read a few patterns differently, so that there may be no problem in words.
    """
    try:
        problems = list(find_unsafe(content))
        for schema in schemas:
            errors = _find_errors(content, schema)
            for error in errors:
                problems += describe(error)
            if errors:
                break
    except RecursionError:
        return [Problem("is nested too deeply")]
    except (TypeError, ValueError):  # too many digits to print, or no JSON, such as pandas.NA
        return []
    if len(problems) > limits.MAX_PROBLEMS:
        return [*problems[: limits.MAX_PROBLEMS], Problem("has further problems, not listed")]
    return problems


def _find_errors(content: Any, schema: Schema) -> list[Any]:
    """Return the errors of `jsonschema` that a person needs to know, in the order of their places."""
    import jsonschema  # takes 60 ms to import, and only errors need it

    draft = jsonschema.validators.validator_for(schema)
    # Each error takes some kilobytes.
    errors = list(islice(draft(schema).iter_errors(content), limits.MAX_PROBLEMS + 1))
    errors.sort(key=lambda error: [(isinstance(step, str), step) for step in error.absolute_path])
    # A value of the wrong type is none of the choices either, and only the choices are a useful expectation.
    with_choices = {error.json_path for error in errors if error.validator == "enum"}
    return [
        error
        for error in errors
        if error.validator != "type" or error.json_path not in with_choices
    ]


def find_unsafe(content: object) -> Iterator[Problem]:
    """Yield the numbers and texts that JSON or UTF-8 can't hold."""
    for path, value in _walk(content):
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
        branches = _find_branches(error)
        if len(branches) == 1:
            problems = []
            for error_of_branch in branches[0]:
                problems += describe(error_of_branch)
            return problems
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
        messages = describe_unknown_fields(error.schema, error.instance)
        return [Problem(message, path=path) for message in messages]
    return [Problem(_word_error(error), path=path)]


def _find_branches(error: Any) -> list[list[Any]]:
    """Return the errors of each branch of `anyOf` or `oneOf` that may have been meant.

    The error of a branch for another type, such as null, explains nothing.
    """
    branches: dict[object, list[Any]] = {}
    for error_of_branch in error.context:
        branches.setdefault(error_of_branch.schema_path[0], []).append(error_of_branch)
    return [errors for errors in branches.values() if not any(map(_is_of_other_type, errors))]


def _is_of_other_type(error: Any) -> bool:
    return not error.path and error.validator == "type"


def describe_unknown_fields(
    schema: Mapping[str, Any], record: Mapping[str, Any], verdict: str = ""
) -> list[str]:
    """Return a sentence for each field of an object that its schema does not have, with the field that was meant."""
    hint = ""
    if not verdict:
        hint = f" (fields: {_list(list(schema.get('properties', ())), MAX_FIELDS_LISTED)})"
    sentences = []
    for name, meant in _guess_fields(schema, record).items():
        ending = hint if meant is None else f"; did you mean {quote(meant)}?"
        sentences.append(f"unknown field {quote(str(name))}{verdict}{ending}")
    return sentences


def _guess_fields(schema: Mapping[str, Any], record: Mapping[str, Any]) -> dict[object, str | None]:
    """Map the unknown fields of an object to those that were meant: a similar one, or the only one that is missing."""
    fields = schema.get("properties", {})
    unknown = list(islice((name for name in record if name not in fields), limits.MAX_PROBLEMS))
    missing = [name for name in schema.get("required", ()) if name not in record]
    only_one = missing[0] if len(unknown) == len(missing) == 1 else None
    absent = [name for name in fields if name not in record]
    return {name: find_similar(str(name), absent) or only_one for name in unknown}


def _list(values: Sequence[object], limit: int) -> str:
    text = ", ".join(quote_json(value, 60) for value in values[:limit])
    return text if len(values) <= limit else f"{text}, …"


def _word_error(error: Any) -> str:
    schema: Any = error.schema
    expected = error.validator_value
    value = error.instance
    match error.validator:
        case "type":
            if schema.get("x-accepts-integer") and isinstance(value, float):
                return _describe_fraction(value)
            return f"expected {_describe_type(expected, schema)}, found {_name_value(value)}"
        case "enum":
            text = f"{quote_json(value)} is not one of {_list(expected, MAX_CHOICES_LISTED)}"
            if not isinstance(value, str | bool):
                return text
            choices = [choice for choice in expected if isinstance(choice, str)]
            return text + suggest_choice(str(value), choices)
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


def _describe_fraction(value: float) -> str:
    """Say that a number was found where text was expected, such as the version 1.10, which is no number."""
    reason = "" if value.is_integer() else f", since {value:g} and {value:g}0 are one number"
    return f'{value} is a number (expected text: "{value:g}" in quotes{reason})'


def _describe_type(types: str | Sequence[str], schema: Schema) -> str:
    """Name types in words; of an object, its first fields, too."""
    if not isinstance(types, str):
        return " or ".join(_describe_type(name, schema) for name in types)
    names = schema.get("required") or list(schema.get("properties", ()))
    if types != "object" or not names:
        return TYPES[types]
    fields = [f'"{name}": …' for name in names[:2]]
    if len(names) > 2:
        fields.append("…")
    return f"an object such as {{{', '.join(fields)}}}"


def _name_value(value: object) -> str:
    """Name a value of the wrong type: scalars as they are, others by their type."""
    if value is None or isinstance(value, str | int | float):
        return quote_json(value)
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, Mapping) else f"a {type(value).__name__}"
