"""Decompress gzip files of unknown origin, up to a reasonable size."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from closeread import limits
from closeread.exceptions import FormatError, Problem

MAGIC = b"\x1f\x8b"
GZIP = 16 + zlib.MAX_WBITS
CHUNK = 2**14


def decompress(path: Path, data: bytes) -> bytes:
    """Return the bytes of a file, decompressed if they are gzipped.

    Args:
        path: the file, for messages.
        data: its bytes.

    Raises:
        FormatError: they are corrupt or truncated, or decompress to more than `limits.max_file_bytes()` bytes; or,
            beyond `limits.MAX_SMALL_BYTES`, to more than `limits.MAX_EXPANSION` times their size.
    """
    if not data.startswith(MAGIC):
        return data
    parts: list[bytes] = []
    room = limit = _find_limit(data)
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


def measure_growth(path: Path, room: int) -> int:
    """Return by how many bytes a file grows when it is decompressed; 0 if it is not gzipped, or can't be read.

    Args:
        path: the file.
        room: the growth beyond which it need not be known.
    """
    try:
        with path.open("rb") as file:
            data = file.read(len(MAGIC))
            data += file.read() if data == MAGIC else b""
    except OSError:  # reading it tells
        return 0
    if not data.startswith(MAGIC):
        return 0
    growth, most = -len(data), min(room, _find_limit(data) - len(data))
    with suppress(zlib.error, EOFError):
        for part in _iterate_pieces(data):
            growth += len(part)
            if growth > most:
                break
    return growth


def _find_limit(data: bytes) -> int:
    """Return how many bytes a gzipped file may decompress to."""
    return min(limits.max_file_bytes(), max(limits.MAX_SMALL_BYTES, limits.MAX_EXPANSION * len(data)))


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
