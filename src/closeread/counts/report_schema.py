"""The schema of the JSON of reports and comparisons."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from closeread.errors import FormatError, Problem, quote, shorten
from closeread.files import package_folder

__all__ = ["check_comparison", "check_report"]


def check_report(found: object, source: object = "report") -> Mapping[str, Any]:
    """Check a report by its schema, and return it.

    Args:
        found: the JSON value.
        source: what it is from, for messages.

    Raises:
        FormatError: it breaks the schema; all problems at once.
    """
    return _check("report", found, source)


def check_comparison(found: object, source: object = "comparison") -> Mapping[str, Any]:
    """Check a comparison by its schema, and return it.

    Args:
        found: the JSON value.
        source: what it is from, for messages.

    Raises:
        FormatError: it breaks the schema, or its two reports do not have the scores that it compares; all problems at
            once.
    """
    checked = _check("comparison", found, source)
    problems = [
        Problem(f"differences: {quote(name)} is not a score of both systems")
        for name in checked["differences"]
        if not all(name in checked[side]["scores"] for side in ("first", "second"))
    ]
    if problems:
        raise FormatError(source, problems)
    return checked


def _check(definition: str, found: object, source: object) -> Mapping[str, Any]:
    if not _load_validator(definition).is_valid(found):
        import jsonschema

        schema = _load_schema(definition)
        errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(found), key=lambda error: error.json_path)
        problems = [Problem(f"{error.json_path.removeprefix('$.')}: {shorten(error.message)}") for error in errors]
        raise FormatError(source, problems)
    return cast("Mapping[str, Any]", found)


def _load_schema(definition: str) -> Any:
    schema = json.loads((package_folder("closeread.counts") / "report.schema.json").read_text("utf-8"))
    return {**schema, "$ref": f"#/$defs/{definition}"}


@cache
def _load_validator(definition: str) -> Any:
    """Return the validator of a definition, which takes longer to make than to use."""
    import jsonschema_rs

    return jsonschema_rs.validator_for(_load_schema(definition))
