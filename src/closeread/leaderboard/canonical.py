"""The files of a store: JSON with exactly one way to write a value, so that equal values have equal digests.

What is read may have been damaged, or be hostile: it is checked against `store.schema.json`.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Literal

from closeread.exceptions import FormatError, Problem
from closeread.formats.json_lines import parse_json_lines
from closeread.formats.text import UNSAFE
from closeread.json_schema import check_json
from closeread.records import check_format

FORMAT = 1
"""The number of the format of all files of a store; `store.schema.json` describes it."""

Kind = Literal["leaderboard", "submission", "entry", "record", "index"]

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
    check_json(found, f"closeread.leaderboard/store.schema.json#{kind}", source)
