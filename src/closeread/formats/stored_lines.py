"""Records of large files of JSON Lines, which are parsed from the text whenever they are asked for.

The records of a text take seven times its size in memory.  Whoever needs only a few numbers of each can take these from
some records at a time, and read the text again for whatever needs a record again.

Only valid text is stored: if anything may be wrong with it, `UnfitError` is raised, and the file has to be read as a
whole, which tells all that is wrong.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import overload

from closeread.formats.json_lines import parse_each, pause_garbage_collection
from closeread.formats.stored_text import Text, find_begin, iterate_parts
from closeread.formats.text import Lines
from closeread.records import Record

LARGE = 2**25
"""The size of a text, in bytes, from which on its records are stored as text."""

BATCH = 2**17
"""How many bytes of text are parsed at once, at least: enough for arrays, and little enough for a processor's cache."""

Parse = Callable[[Lines], list[Record]]
"""Parses lines that are valid: a record for each.  It raises `UnfitError` if something may be wrong with one."""


class UnfitError(Exception):
    """Something may be wrong with a text."""


def parse_valid(lines: Lines, unsafe: re.Pattern[str]) -> list[Record]:
    """Parse one object per line.

    Args:
        lines: the lines.
        unsafe: characters that no string may contain.

    Raises:
        UnfitError: a line is invalid.
    """
    records: list[Record] = []
    with pause_garbage_collection():
        for _, _, record in parse_each(lines, unsafe):
            if isinstance(record, str):
                raise UnfitError
            records.append(record)
    return records


class StoredRecords(Sequence[Record]):
    """Records that are parsed whenever they are asked for, many at a time, so that changes to them are lost.

    Args:
        text: the text.
        parse: parses some of its lines.
    """

    def __init__(self, text: Text, parse: Parse) -> None:
        self._text = text
        self._parse = parse
        self._parts: list[tuple[int, int]] = []
        numbers: list[int] = []
        for position, data in iterate_parts(text, find_begin(text), text.size):
            for begin, end, number in Lines(data).parts(BATCH):
                self._parts.append((position + begin, position + end))
                numbers.append(number)
        self._starts = [0, *accumulate(numbers)]
        self._last: tuple[int, list[Record]] = (-1, [])

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[Record]:
        return (record for batch in self.batches() for record in batch)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        number = range(len(self))[index]
        part = bisect_right(self._starts, number) - 1
        if self._last[0] != part:
            self._last = part, self._parse_part(part)
        return self._last[1][number - self._starts[part]]

    def batches(self) -> Iterator[list[Record]]:
        """Yield the records in order, some at a time.

        Raises:
            UnfitError: something may be wrong with a line; not if all batches could be read before.
            FormatError: the file has changed since it was opened.
        """
        return map(self._parse_part, range(len(self._parts)))

    def _parse_part(self, part: int) -> list[Record]:
        # Without the line end, a blank line at the end would be lost.
        return self._parse(Lines(self._text.read(*self._parts[part]) + b"\n"))
