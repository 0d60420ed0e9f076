"""The files of a store: JSON with exactly one way to write a value, so that equal values have equal digests."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Literal

from closeread.exceptions import FormatError, Problem
from closeread.formats.json_lines import parse_json
from closeread.formats.text import UNSAFE
from closeread.json_schema import check_json
from closeread.records import check_format

FORMAT = 1
"""The number of the format of all files of a store; `store.schema.json` describes it."""

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


def read_json(
    data: bytes,
    kind: Literal["leaderboard", "submission", "entry", "record", "index"],
    source: object,
    unsafe: re.Pattern[str] = UNSAFE,
) -> dict[str, Any]:
    """Read a file of a store strictly, without the number of its format.

    Args:
        data: the bytes.
        kind: its definition in `store.schema.json`.
        source: the name of the file, for messages.
        unsafe: characters that no string may contain.
    """
    try:
        found: dict[str, Any] = parse_json(data.decode(), unsafe)
    except ValueError as error:
        raise FormatError(source, [Problem(f"is not JSON as closeread writes it: {error}")]) from None
    check_format(found, FORMAT, source)
    check_json(found, f"closeread.leaderboard/store.schema.json#{kind}", source)
    del found["format"]
    return found


def digest(data: bytes) -> str:
    """Return the sha256 in hex."""
    return hashlib.sha256(data).hexdigest()
