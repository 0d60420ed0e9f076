"""The schema of a report's JSON."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from closeread.errors import FormatError, Problem, shorten
from closeread.files import package_folder


def check_report(found: Any) -> None:
    """Check a report by its schema.

    Args:
        found: the JSON value.

    Raises:
        FormatError: it breaks the schema; all problems at once.
    """
    if not _load_validator().is_valid(found):
        import jsonschema

        schema = _load_schema()
        errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(found), key=lambda error: error.json_path)
        problems = [Problem(f"{error.json_path.removeprefix('$.')}: {shorten(error.message)}") for error in errors]
        raise FormatError("report", problems)


def _load_schema() -> Any:
    return json.loads((package_folder("closeread.counts") / "report.schema.json").read_text("utf-8"))


@cache
def _load_validator() -> Any:
    """Return the validator of reports, which takes longer to make than to use."""
    import jsonschema_rs

    return jsonschema_rs.validator_for(_load_schema())
