"""The files of a store: JSON with exactly one way to write a value, so that equal values have equal digests.

What is read may have been damaged, or be hostile: it is checked against `store.schema.json`.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from itertools import islice
from typing import Any, Literal

from closeread import limits
from closeread.exceptions import FormatError, Problem, quote, quote_json, shorten
from closeread.formats.json_lines import parse_json_lines
from closeread.formats.text import UNSAFE
from closeread.packages import package_folder
from closeread.records import check_format
from closeread.suggestions import suggest

FORMAT = 1
"""The number of the format of all files of a store; `store.schema.json` describes it."""

Kind = Literal["leaderboard", "submission", "entry", "record", "index"]

NAMES = {
    "leaderboard": "the declaration of a leaderboard",
    "submission": "the description of a submission",
    "entry": "an entry of a leaderboard",
    "record": "a record of a leaderboard",
    "index": "the index of a leaderboard",
}

WITH_LINE_ENDS = re.compile(r"[\x00\ud800-\udfff]")
"""What no string may contain where line ends, tabs and the like are to be expected."""

SURROGATES = re.compile("[\ud800-\udfff]")
"""What no string may contain where every character is escaped before it is shown."""


def write_json(value: Any) -> bytes:
    """Return a value as one line of JSON in UTF-8: sorted keys, no spaces, a newline at the end.

    >>> write_json({"b": 1, "a": "é"}).decode()
    '{"a":"é","b":1}\\n'
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"{text}\n".encode()


def read_json(data: bytes, source: object, unsafe: re.Pattern[str] = UNSAFE) -> dict[str, Any]:
    """Read one line of JSON strictly.

    Args:
        data: the bytes.
        source: the name of the file, for messages.
        unsafe: characters that no string may contain.
    """
    try:
        lines = data.decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise FormatError(source, [Problem(f"is not UTF-8 (byte {error.start})")]) from None
    if len(lines) != 1:
        raise FormatError(source, [Problem(f"has {len(lines)} lines (expected a JSON object on one line)")])
    parsed = parse_json_lines(lines, unsafe)
    if parsed.problems:
        raise FormatError(source, [Problem(problem.message) for problem in parsed.problems])
    return dict(parsed.records[0])


def digest(data: bytes) -> str:
    """Return the sha256 in hex."""
    return hashlib.sha256(data).hexdigest()


def check_structure(found: Any, kind: Kind, source: object) -> None:
    """Check the structure of a file of a store."""
    check_format(found, FORMAT, source)
    check_schema(found, "store.schema.json", source, kind)


def check_schema(found: Any, schema: str, source: object, kind: str | None = None) -> None:
    """Check a JSON value against one of the schemas beside this module.

    Args:
        found: the value.
        schema: the name of the schema.
        source: the name of the file, for messages.
        kind: a definition of the schema, if the value is of that one.
    """
    definition, validator = _load_schema(schema, kind)
    if validator.is_valid(found):
        return
    import jsonschema

    # Each error takes some kilobytes.
    errors = islice(jsonschema.Draft202012Validator(definition).iter_errors(found), limits.MAX_PROBLEMS)
    problems = [Problem(f"is not {NAMES[kind]}")] if kind else []
    for error in sorted(errors, key=lambda error: error.json_path):
        what = shorten(error.message, 160)
        if error.validator == "const":
            what = f"{quote_json(error.instance, 60)} is unknown (expected {quote_json(error.schema['const'])})"
        elif error.validator == "additionalProperties":
            known = list(error.schema["properties"])
            unknown = sorted(set(error.instance) - set(known))
            what = "; ".join(f"unknown field {quote(name)};{suggest(name, known)}".rstrip(";") for name in unknown[:5])
        elif error.validator in ("oneOf", "anyOf") and "description" in error.schema:
            what = f"is not as expected: {error.schema['description']}"
        problems.append(Problem(what, path=tuple(error.path)))
    # The two libraries read a few patterns differently; the stricter one judges, the other words the errors.
    raise FormatError(source, problems or [Problem("does not follow its schema")])


@cache
def _load_schema(name: str, kind: str | None) -> tuple[dict[str, Any], Any]:
    """Return a schema and its validator, which takes longer to make than to use."""
    import jsonschema_rs

    schema = json.loads((package_folder("closeread.leaderboard") / name).read_text("utf-8"))
    schema = schema if kind is None else {**schema, "$ref": f"#/$defs/{kind}"}
    return schema, jsonschema_rs.validator_for(schema)
