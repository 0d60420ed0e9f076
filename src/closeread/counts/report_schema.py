"""The schema of the JSON of reports and comparisons."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from closeread.errors import FormatError, Problem, quote, shorten
from closeread.files import package_folder
from closeread.records import check_format

__all__ = ["FORMAT", "check_comparison", "check_report"]

FORMAT = 1
"""The number of the format of reports, comparisons and tables."""


def check_report(found: Any, source: object = "report") -> None:
    """Check a report by its schema.

    Args:
        found: the JSON value.
        source: what it is from, for messages.

    Raises:
        FormatError: it breaks the schema; all problems at once.
    """
    _check("report", found, source)


def check_comparison(found: Any, source: object = "comparison") -> None:
    """Check a comparison by its schema.

    Args:
        found: the JSON value.
        source: what it is from, for messages.

    Raises:
        FormatError: it breaks the schema, or its two reports do not have the scores that it compares; all problems at
            once.
    """
    _check("comparison", found, source)
    problems = [
        Problem(f"differences: {quote(name)} is not a score of both systems")
        for name in found["differences"]
        if not all(name in found[side]["scores"] for side in ("first", "second"))
    ]
    if problems:
        raise FormatError(source, problems)


def _check(definition: str, found: Any, source: object) -> None:
    check_format(found, FORMAT, source)
    if not _load_validator(definition).is_valid(found):
        import jsonschema

        schema = _load_schema(definition)
        errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(found), key=lambda error: error.json_path)
        problems = [Problem(f"{error.json_path.removeprefix('$.')}: {shorten(error.message)}") for error in errors]
        raise FormatError(source, problems)


def _load_schema(definition: str) -> Any:
    schema = json.loads((package_folder("closeread.counts") / "report.schema.json").read_text("utf-8"))
    return {**schema, "$ref": f"#/$defs/{definition}"}


@cache
def _load_validator(definition: str) -> Any:
    """Return the validator of a definition, which takes longer to make than to use."""
    import jsonschema_rs

    return jsonschema_rs.validator_for(_load_schema(definition))
