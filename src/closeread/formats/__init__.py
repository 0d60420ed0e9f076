"""File formats, one module each.

A module offers its format as a value by which corpora and procedures find it: `FORMAT` where gold is kept in it,
`SUBMISSION` where systems send it.  Formats that a single task owns stand in that task's package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from closeread.formats.text import UNSAFE
from closeread.records import Parsed, Record


@dataclass(frozen=True)
class FormatFolder:
    """How a format reads many files that make a split together, by their path below its folder and the split's name.

    `read_files` takes the corpus's options of reading as keywords; `read` takes a folder that holds nothing else.
    """

    read_files: Callable[..., Parsed]
    read: Callable[[Path], Parsed]


@dataclass(frozen=True)
class Format:
    """A format that gold is kept in."""

    read: Callable[[Path, str], Parsed]  # makes ids from the split's name where the file has none
    # a ValueError names content that the format can't express
    write: Callable[[Sequence[Record]], str] | None = None
    suffixes: tuple[str, ...] = ()  # of files for which it precedes the general readers
    first_line: re.Pattern[str] | None = None  # that is not blank
    folder: FormatFolder | None = None  # None where every split is a single file
    # Of several splits together; their ids must differ.
    unite: Callable[[Mapping[str, Sequence[Record]]], Sequence[Record]] = lambda splits: list(
        chain.from_iterable(splits.values())
    )
    # None where a system's output is read as gold is
    read_system: Callable[[Path, str], Parsed] | None = None
    # characters that no string of a record may contain, whatever its source
    unsafe: re.Pattern[str] = UNSAFE
    is_json_lines: bool = False
    # Adds to rows in memory, or of a Parquet file, what reading a file of the format adds to its records.
    complete: Callable[[Sequence[Any]], Parsed] = lambda rows: Parsed(rows, None, [])

    def recognises(self, line: str) -> bool:
        """Whether a file with this first line that is not blank is known to be of the format."""
        return self.first_line is not None and self.first_line.match(line) is not None


@dataclass(frozen=True)
class SubmissionFile:
    """A text format other than JSON Lines that systems send."""

    recognises: Callable[[str], bool]  # by the first line that is not blank
    # with the gold's ids where the format has none
    parse: Callable[[Sequence[str], Sequence[Record]], Parsed]
    suffix: str | None = None  # None, as `dump`, where it takes more than rows to write a file
    dump: Callable[[Sequence[Record]], str] | None = None  # of rows in the order of the gold


@dataclass(frozen=True)
class SubmissionFolder:
    """A folder of files that systems send."""

    read: Callable[[Path, Sequence[Record]], Parsed]  # with oddities relative to the gold records
    # a ValueError names content that the format can't express
    write: Callable[[Sequence[Record], Path], None]


SubmissionFormat = SubmissionFile | SubmissionFolder
