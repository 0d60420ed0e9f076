"""The structure of the files of a store, by `store.schema.json`: what is read may have been damaged, or be hostile."""

from __future__ import annotations

import json
from functools import cache
from itertools import islice
from typing import Any, Literal

from closeread import limits
from closeread.exceptions import FormatError, Problem, quote_json, shorten
from closeread.packages import package_folder
from closeread.records import check_format

FORMAT = 1
"""The number of the format of all files of a store; `store.schema.json` describes it."""

Kind = Literal["leaderboard", "entry", "record", "index"]

NAMES = {
    "leaderboard": "the declaration of a leaderboard",
    "entry": "an entry of a leaderboard",
    "record": "a record of a leaderboard",
    "index": "the index of a leaderboard",
}


def check_structure(found: Any, kind: Kind, source: object) -> None:
    """Check the structure of a file of a store.

    Args:
        found: the JSON value.
        kind: what the file is.
        source: the name of the file, for messages.

    Raises:
        FormatError: it has another structure; the first `limits.MAX_PROBLEMS` problems at once.
    """
    check_format(found, FORMAT, source)
    if _load_validator(kind).is_valid(found):
        return
    import jsonschema

    validator = jsonschema.Draft202012Validator(_select(kind))
    # Each error takes some kilobytes.
    errors = sorted(islice(validator.iter_errors(found), limits.MAX_PROBLEMS), key=lambda error: error.json_path)
    problems = [
        Problem(_describe(error.instance, error.schema, error.message, error.validator), path=tuple(error.path))
        for error in errors
    ]
    # The two libraries read a few patterns differently; the stricter one judges, the other words the errors.
    raise FormatError(source, [Problem(f"is not {NAMES[kind]}"), *problems])


def _describe(instance: Any, schema: Any, message: str, validator: str) -> str:
    """Say what is wrong; the description of alternatives says what is expected."""
    if validator == "const":
        return f"{quote_json(instance, 60)} is unknown (expected {quote_json(schema['const'])})"
    if validator in ("oneOf", "anyOf") and "description" in schema:
        return f"is not as expected: {schema['description']}"
    return shorten(message, 160)


def _select(kind: Kind) -> dict[str, Any]:
    """Return the schema of a kind of files."""
    text = (package_folder("closeread.leaderboard") / "store.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return {**schema, "$ref": f"#/$defs/{kind}"}


@cache
def _load_validator(kind: Kind) -> Any:
    """Return a validator, which takes longer to make than to use."""
    import jsonschema_rs

    return jsonschema_rs.validator_for(_select(kind))
