"""Decompress gzip files of unknown origin, up to a reasonable size."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

from closeread import limits
from closeread.errors import FormatError, Problem

__all__ = ["CHUNK", "GZIP", "MAGIC", "decompress"]

MAGIC = b"\x1f\x8b"
GZIP = 16 + zlib.MAX_WBITS
CHUNK = 2**14


def decompress(path: Path, data: bytes, limit: int | None = None) -> bytes:
    """Return the bytes of a file, decompressed if they are gzipped.

    Args:
        path: the file, for messages.
        data: its bytes.
        limit: how many bytes they may decompress to; None for `limits.MAX_FILE_BYTES`.  Beyond `limits.MAX_SMALL_BYTES`
            they may decompress to `limits.MAX_EXPANSION` times their size at most.

    Raises:
        FormatError: they are corrupt or truncated, or decompress to more than `limit` bytes.
    """
    if not data.startswith(MAGIC):
        return data
    parts: list[bytes] = []
    limit = limits.MAX_FILE_BYTES if limit is None else limit
    room = limit = min(limit, max(limits.MAX_SMALL_BYTES, limits.MAX_EXPANSION * len(data)))
    try:
        for part in _iterate_pieces(data):
            parts.append(part)
            room -= len(part)
            if room < 0:
                found = f"is too large: more than {limit:,} bytes when decompressed"
                raise FormatError(path, [Problem(found)])
    except zlib.error:
        raise FormatError(path, [Problem("is not a valid gzip file: its data is corrupt")]) from None
    except EOFError:
        raise FormatError(path, [Problem("is not a valid gzip file: it is truncated")]) from None
    return b"".join(parts)


def _iterate_pieces(data: bytes) -> Iterator[bytes]:
    """Decompress gzipped data piece by piece.

    Raises:
        EOFError: the data is truncated; a zlib.error if it is corrupt.
    """
    stream = zlib.decompressobj(GZIP)
    # In chunks: all bytes after a member are copied, which takes quadratic time for many small members.
    for start in range(0, len(data), CHUNK):
        rest = data[start : start + CHUNK]
        while rest:
            if stream.eof:  # a file may contain several members, one after the other
                stream = zlib.decompressobj(GZIP)
            yield stream.decompress(rest)
            rest = stream.unused_data
    if not stream.eof:
        raise EOFError
