"""Lines of JSON that can't contain anything to reject, parsed by orjson, many at a time.

All other lines are left to the strict parser of `closeread.formats.json_lines`, which finds out what is wrong, if
anything is.  What orjson accepts and we don't is looked for in the bytes of many lines at once: control characters and
their escapes, numbers beyond 64 bits, duplicate keys, and values that are nested too deeply.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import repeat

import orjson

from closeread import limits
from closeread.records import Record, count_byte, is_dense

LONG = 2**12
"""The length of a line, in bytes, from which on it is parsed alone and may not be dense."""

LONGEST = 2**20
"""The length of a line, in bytes, up to which it is parsed here: orjson takes 12 times the size of a text."""

SPARSE = 12
"""How many bytes a long line has, at least, for each of its commas, if it is written again to count its keys: orjson
takes up to 64 bytes for each value."""

NOT_ASCII_CONTROL = re.compile(rb"\xc2[\x80-\x9f]")
SUSPECT_ESCAPES = r"u00(?:[01]|7[fF]|[89]|22)"
LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
DIGITS = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else ord(" ") for byte in range(256))
LONG_NUMBER = b"0" * 19
BRACKETS = bytes.maketrans(b"{}", b"[]")
STRING = re.compile(rb'"[^"]*"')
NOT_STRUCTURE = bytes(byte for byte in range(256) if byte not in b'{}[]:"')


class FastParser:
    """Parses lines of JSON that can't contain anything to reject.

    Args:
        unsafe: characters that no string may contain.
    """

    def __init__(self, unsafe: re.Pattern[str]) -> None:
        letters = "".join(letter for letter, character in LETTERS.items() if unsafe.search(character))
        escapes = f"[{letters}]|{SUSPECT_ESCAPES}" if letters else SUSPECT_ESCAPES
        self._escapes = re.compile(rf"\\(?:{escapes})".encode())
        self._allows_c1 = unsafe.search("\x80") is None

    def parse(self, lines: Sequence[bytes]) -> Sequence[Record | None]:
        """Parse lines: an object for each, or None for those that need the strict parser.

        Args:
            lines: the lines, without their ends, of some kilobytes in all, or a single one.
        """
        if (
            max(map(len, lines), default=0) <= min(LONG, limits.MAX_LINE_BYTES)
            and (rows := self._parse_block(lines)) is not None
        ):
            return rows
        return [self._parse_line(line) for line in lines]

    def _parse_block(self, lines: Sequence[bytes]) -> list[Record] | None:
        """Parse short lines together; None if one of them may have to be rejected."""
        text = b"\n".join(lines)
        if self._is_suspect(text):
            return None
        try:
            rows = list(map(orjson.loads, lines))
            if not all(map(isinstance, rows, repeat(dict))) or _repeats_keys(rows, text):
                return None
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            return None
        # Every line opens one object at least, so that few lists and objects more can't be deep.
        may_be_deep = text.count(b"{") + text.count(b"[") - len(lines) >= limits.MAX_DEPTH
        return None if may_be_deep and is_too_deep(find_structure(text)) else rows

    def _parse_line(self, line: bytes) -> Record | None:
        """Parse a line of any length; None if it may have to be rejected."""
        is_long = len(line) > LONG
        if len(line) > min(LONGEST, limits.MAX_LINE_BYTES) or (is_long and is_dense(line)) or self._is_suspect(line):
            return None
        try:
            row = orjson.loads(line)
            structure = find_structure(line)
            if not isinstance(row, dict) or is_too_deep(structure):
                return None
            if structure.count(b"{") == 1:
                return row if structure.count(b":") == len(row) else None
            if is_long and count_byte(line, b",") * SPARSE > len(line):
                return None
            return None if _repeats_keys(row, line) else row
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            return None

    def _is_suspect(self, text: bytes) -> bool:
        """Tell whether there may be characters, escapes or numbers to reject; orjson rejects some others itself."""
        return (
            b"\x7f" in text
            or (b"\xc2" in text and not self._allows_c1 and NOT_ASCII_CONTROL.search(text) is not None)
            or (b"\\" in text and self._escapes.search(text) is not None)
            or LONG_NUMBER in text.translate(DIGITS)
        )


@cache
def make_fast_parser(unsafe: re.Pattern[str]) -> FastParser:
    """Return a parser for strings without these characters."""
    return FastParser(unsafe)


def _repeats_keys(value: object, text: bytes) -> bool:
    """Tell whether a key in a text is duplicate: writing its value again loses the quotation marks of such a key."""
    return count_byte(orjson.dumps(value), b'"') != count_byte(text, b'"')


def find_structure(text: bytes) -> bytes:
    r"""Return the brackets, braces and colons of lines of valid JSON that are not in strings.

    >>> find_structure(rb'{"a": [1, ":", "\"[", {"]": 2}]}')
    b'{:[{:}]}'
    """
    first, *others = text.split(b"\\")
    if b"" in others:  # a backslash that is escaped itself
        text = text.replace(rb"\\", b"").replace(rb"\"", b"")
    elif others:  # fast, since most characters are not escaped
        text = first + b"".join([other[1:] for other in others])
    # Quotation marks without anything between them are dropped in pairs, which leaves few for the slower search.
    return STRING.sub(b"", text.translate(None, NOT_STRUCTURE).replace(b'""', b""))


def is_too_deep(structure: bytes) -> bool:
    """Tell whether a value is nested more deeply than `limits.MAX_DEPTH`, given its structure.

    >>> is_too_deep(b"[" * 101 + b"]" * 101), is_too_deep(b"[" * 100 + b"]" * 100)
    (True, False)
    """
    left = structure.translate(BRACKETS, b":")
    for _ in range(limits.MAX_DEPTH):  # each pass removes the innermost brackets
        if not left:
            return False
        left = left.replace(b"[]", b"")
    return bool(left)
