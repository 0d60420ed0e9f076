"""The files of a store: JSON with exactly one way to write a value, so that equal values have equal digests.

Each kind of file is a struct.  Reading is strict: a JSON Schema, derived from the struct, finds all problems of a file
that the struct can't hold, which people may have written by hand.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from closeread.exceptions import FormatError, Problem
from closeread.formats.json_lines import parse_json
from closeread.formats.text import UNSAFE
from closeread.json_schema import convert
from closeread.records import check_format

FORMAT = 1  # the number of the format of all files of a store

WITH_LINE_ENDS = re.compile(r"[\x00\ud800-\udfff]")
"""The characters that no string may contain where line ends, tabs and the like are expected."""

Count = Annotated[int, Meta(ge=0, le=2**53 - 1)]
"""A number that every reader of JSON can represent."""

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
_DAY = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
Time = Annotated[str, Meta(pattern=f"^{_DAY}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$")]
"""A time in UTC, such as "2026-11-22T10:00:00Z"."""

BoardName = Annotated[
    str, Meta(pattern="^[a-z0-9_]{1,60}(-[A-Za-z0-9_]{1,60})?/[A-Za-z0-9_.-]{1,40}$")
]


class StoreStruct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A part of a file of a store; a field that it does not have is a problem."""


class StoreFile(StoreStruct, frozen=True):
    """A file of a store."""

    def to_bytes(self) -> bytes:
        """Return the bytes of the file."""
        return write_json({"format": FORMAT, **msgspec.to_builtins(self)})


File = TypeVar("File", bound=StoreStruct)


def write_json(value: Any) -> bytes:
    """Return a value as one line of JSON in UTF-8: sorted keys, no spaces, a newline at the end."""
    text = json.dumps(
        value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return f"{text}\n".encode()


def read_json(data: bytes, source: object, unsafe: re.Pattern[str] = UNSAFE) -> Any:
    """Read JSON strictly, without the number of its format; no string may contain `unsafe` characters."""
    try:
        content = parse_json(data.decode(), unsafe)
    except ValueError as error:
        raise FormatError(
            source, [Problem(f"is not JSON as closeread writes it: {error}")]
        ) from None
    check_format(content, FORMAT, source)
    if isinstance(content, dict):
        content.pop("format", None)
    return content


def read_file(kind: type[File], data: bytes, source: object) -> File:
    """Read a file of a store."""
    return convert(kind, read_json(data, source), source)


def digest(data: bytes) -> str:
    """Return the sha256 in hex."""
    return hashlib.sha256(data).hexdigest()


def store_path(kind: str, board: str, name: str, suffix: str = ".json") -> str:
    """Return the path of a file of a board, which is named after a digest."""
    return f"{kind}/{board}/{name[:2]}/{name}{suffix}"
