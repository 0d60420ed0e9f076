"""Gzipped files that may be anything: what is in them, up to a sensible size."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

from closeread.errors import FormatError, Problem
from closeread.formats.text import MAX_FILE_BYTES

MAGIC = b"\x1f\x8b"
GZIP = 16 + zlib.MAX_WBITS
CHUNK = 2**14


def unzipped(path: Path, data: bytes) -> bytes:
    """The bytes of a file, decompressed where they are gzipped.

    Raises:
        FormatError: they are damaged or cut off, or more than `MAX_FILE_BYTES` come of them.
    """
    if not data.startswith(MAGIC):
        return data
    parts: list[bytes] = []
    room = MAX_FILE_BYTES
    try:
        for part in _parts(data):
            parts.append(part)
            room -= len(part)
            if room < 0:
                found = f"holds more than {MAX_FILE_BYTES:,} bytes once it is decompressed; a file may have so many"
                raise FormatError(path, [Problem(found)])
    except zlib.error:
        raise FormatError(path, [Problem("is no sound gzip file: its data is damaged")]) from None
    except EOFError:
        raise FormatError(path, [Problem("is no sound gzip file: it ends too early")]) from None
    return b"".join(parts)


def _parts(data: bytes) -> Iterator[bytes]:
    """What is in gzipped data, piece by piece.

    Raises:
        EOFError: it is cut off; a zlib.error where it is damaged.
    """
    stream = zlib.decompressobj(GZIP)
    # In chunks, since the end of a member is copied whole: of many small ones that would take quadratic time.
    for start in range(0, len(data), CHUNK):
        rest = data[start : start + CHUNK]
        while rest:
            if stream.eof:  # a file may hold several members, one after the other
                stream = zlib.decompressobj(GZIP)
            yield stream.decompress(rest)
            rest = stream.unused_data
    if not stream.eof:
        raise EOFError
