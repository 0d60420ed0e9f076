"""Read text files of unknown origin: their lines, or one clear error.

Conventions: a line ends at ``\\n`` or ``\\r\\n`` and nowhere else (U+2028, form feeds and the like are text); the last
line need not end in one, and a byte-order mark at the start is dropped.
"""

from __future__ import annotations

import re
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from closeread.errors import FormatError, Problem

MAX_FILE_BYTES = 2**30
MAX_LINE_BYTES = 2**26

UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters and lone surrogates: text with one can't be shown, stored and compared safely."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_lines(path: Path) -> list[str]:
    """Read the lines of a UTF-8 text file, without their line ends.

    Raises:
        FormatError: the file is missing, not a regular file, empty, too large (more than `MAX_FILE_BYTES`, or a
            line of more than `MAX_LINE_BYTES`: rejected before parsing), binary, or not UTF-8.
    """
    data = read_bytes(path).removeprefix(BYTE_ORDER_MARK)
    if not data:
        raise FormatError(path, [Problem("is empty")])
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError(path, [Problem("is UTF-16 text (expected UTF-8)")])
    if b"\0" in data:
        raise FormatError(path, [Problem("is a binary file: it contains NUL bytes (expected UTF-8 text)")])
    raw = data.removesuffix(b"\n").split(b"\n")
    if max(map(len, raw)) > MAX_LINE_BYTES:
        raise FormatError(path, _find_long_lines(raw))
    if b"\r" in data:
        raw = [line.removesuffix(b"\r") for line in raw]
    del data
    try:
        # Line by line: one character beyond the basic plane would make a whole file take four times the memory.
        return list(map(bytes.decode, raw))
    except UnicodeDecodeError:
        raise FormatError(path, _find_encoding_errors(raw)) from None


def read_bytes(path: Path) -> bytes:
    """Read the bytes of a regular file of a reasonable size.

    Raises:
        FormatError: the file is missing, unreadable, not a regular file, empty, or larger than `MAX_FILE_BYTES`.
    """
    try:
        status = path.stat()
        if S_ISDIR(status.st_mode):
            raise FormatError(path, [Problem("is a directory (expected a file)")])
        if not S_ISREG(status.st_mode):
            raise FormatError(path, [Problem("is not a regular file")])
        if status.st_size > MAX_FILE_BYTES:
            found = f"is too large: {status.st_size:,} bytes (limit: {MAX_FILE_BYTES:,})"
            raise FormatError(path, [Problem(found)])
        data = path.read_bytes()
    except OSError as error:
        raise FormatError(path, [Problem(f"can't be read: {error.strerror}")]) from None
    if not data:
        raise FormatError(path, [Problem("is empty")])
    return data


def _find_long_lines(lines: list[bytes]) -> list[Problem]:
    return [
        Problem(f"line is too long: {len(line):,} bytes (limit: {MAX_LINE_BYTES:,})", number)
        for number, line in enumerate(lines, start=1)
        if len(line) > MAX_LINE_BYTES
    ]


def _find_encoding_errors(lines: list[bytes]) -> list[Problem]:
    problems = []
    for number, line in enumerate(lines, start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            found = f"byte {error.start + 1} (0x{line[error.start]:02x}) is not valid UTF-8"
            problems.append(Problem(found, number))
    return problems
