"""The logo of a competition: lines of text under a magnifying glass, drawn as a PNG file with deterministic bytes."""

from __future__ import annotations

import struct
import zlib

import numpy as np

SIZE = 160
"""The width and the height, in pixels."""

COLOURS = bytes.fromhex("ffffffb8c0cc1f4e79dcebf7d9822b")
"""The palette: paper, text, glass, lens, and the word under the lens."""

PAPER, TEXT, GLASS, LENS, WORD = range(5)
LINES = ((24, 24, 130), (46, 24, 112), (68, 24, 134), (90, 24, 120), (112, 24, 84))
"""The lines of text: the upper edge, and both ends."""

MAGNIFIED = ((54, 74, 110, TEXT), (74, 64, 104, WORD), (74, 108, 121, TEXT), (94, 70, 112, TEXT))
"""The words under the lens: the middle line, both ends, and the colour."""


def draw_logo() -> bytes:
    """Return the bytes of the picture."""
    y, x = np.mgrid[:SIZE, :SIZE]
    pixels = np.full((SIZE, SIZE), PAPER, np.uint8)
    for top, left, right in LINES:
        pixels[top : top + 9, left:right] = TEXT
    distance = np.hypot(x - 92, y - 74)
    along, across = (x - 92 + y - 74) / 2**0.5, np.abs(x - 92 - (y - 74)) / 2**0.5
    pixels[(along > 40) & (along < 84) & (across < 7)] = GLASS
    pixels[distance < 44] = GLASS
    pixels[distance < 36] = LENS
    for middle, left, right, colour in MAGNIFIED:
        pixels[(abs(y - middle) < 6) & (x >= left) & (x < right)] = colour
    return encode_png(pixels)


def encode_png(pixels: np.ndarray[tuple[int, int], np.dtype[np.uint8]]) -> bytes:
    """Return a picture with the colours of the palette as a PNG file.

    It is stored without compression, since the bytes of compressed data depend on the version of zlib.

    Args:
        pixels: (height, width) indices of colours; at most 65,535 pixels, counting one more for each row.
    """
    height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    stored = struct.pack("<BHH", 1, len(rows), len(rows) ^ 0xFFFF) + rows
    data = b"\x78\x01" + stored + struct.pack(">I", zlib.adler32(rows))
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", COLOURS), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
