"""The schemas of what closeread sends to the Hub: nothing is sent that they reject."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from closeread.exceptions import FormatError, Problem, quote_json, shorten
from closeread.packages import package_folder

if TYPE_CHECKING:
    from jsonschema import ValidationError

SCHEMAS = {
    "dataset_card": "closeread.cards",
    "metric_card": "closeread.cards",
    "space_card": "closeread.cards",
    "eval": "closeread.hub",
    "eval_results": "closeread.hub",
}
"""The packages that hold the schemas."""


def check(found: Any, schema: str, source: str) -> None:
    """Check a value by one of our schemas.

    Args:
        found: the value, as JSON or YAML gives it.
        schema: the name of the schema.
        source: the file that will hold the value, for messages.

    Raises:
        FormatError: it breaks the schema; all problems at once.
    """
    import jsonschema
    import jsonschema_rs

    package = SCHEMAS[schema]
    name = f"{schema}.json" if package == "closeread.cards" else f"{schema}.schema.json"
    loaded = json.loads((package_folder(package) / name).read_text("utf-8"))
    if not jsonschema_rs.is_valid(loaded, found):
        errors = sorted(jsonschema.Draft202012Validator(loaded).iter_errors(found), key=lambda error: error.json_path)
        # The two libraries read a few patterns differently; the stricter one judges, the other words the errors.
        raise FormatError(
            source, list(map(_describe, errors)) or [Problem(f"is not valid (expected what {name} says)")]
        )


def _describe(error: ValidationError) -> Problem:
    """Say what is wrong with a value; the description in the schema says what is expected."""
    expected = error.schema.get("description") if isinstance(error.schema, dict) else None
    path = tuple(error.absolute_path)
    if expected is None or error.validator in ("type", "required", "additionalProperties"):
        return Problem(shorten(error.message), path=path)
    return Problem(f"{quote_json(error.instance)} is not valid (expected {expected})", path=path)
