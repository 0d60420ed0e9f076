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
from closeread.records import Parsed, ParsedFolder, ParsedRows, Record


@dataclass(frozen=True)
class FormatFolder:
    """How a format reads many files that make a split together.

    Attributes:
        read_files: the records of a split, from its files by their path below its folder, and the split's name; takes
            the corpus's options of reading as keywords, if it has any.
        read: the records of a folder that holds nothing else.
    """

    read_files: Callable[..., ParsedFolder]
    read: Callable[[Path], ParsedFolder]


@dataclass(frozen=True)
class Format:
    """A format that gold is kept in.

    Attributes:
        read: the records of a file; ids are made from the split's name where the file has none.
        write: the text of a file with these records, or a ValueError where the format can't express them; None for a
            format that is only read.
        suffixes: how the names of its files end; such files are read by it before the general readers are asked.
        first_line: what the first line that is not blank begins with; None where that tells nothing.
        folder: how it reads a folder; None where every split is a single file.
        unite: the records of several splits together, from those of each; their ids must differ.
        read_system: the records of a system's output; None where that is read as gold is.
        unsafe: characters that no string of a record may contain, wherever the record comes from.
        is_json_lines: whether `write` writes JSON Lines.
        complete: adds to rows in memory, or of a Parquet file, what reading a file of the format adds to its records.
    """

    read: Callable[[Path, str], Parsed]
    write: Callable[[Sequence[Record]], str] | None = None
    suffixes: tuple[str, ...] = ()
    first_line: re.Pattern[str] | None = None
    folder: FormatFolder | None = None
    unite: Callable[[Mapping[str, Sequence[Record]]], Sequence[Record]] = lambda splits: list(
        chain.from_iterable(splits.values())
    )
    read_system: Callable[[Path, str], Parsed] | None = None
    unsafe: re.Pattern[str] = UNSAFE
    is_json_lines: bool = False
    complete: Callable[[Sequence[Any]], ParsedRows] = lambda rows: ParsedRows(rows, [])

    def recognises(self, line: str) -> bool:
        """Whether a file with this first line that is not blank is known to be of the format."""
        return self.first_line is not None and self.first_line.match(line) is not None


@dataclass(frozen=True)
class SubmissionFile:
    """A text format other than JSON Lines that systems send.

    Attributes:
        recognises: whether a file whose first line that is not blank is this one is of the format.
        parse: the rows of a file's lines, with the gold's ids where the format has none, and the problems with them.
        suffix: how the names of files end that are written in it; None where it takes more than rows to write one.
        dump: the text of a file with these rows, which are in the order of the gold; None where `suffix` is.
    """

    recognises: Callable[[str], bool]
    parse: Callable[[Sequence[str], Sequence[Record]], Parsed]
    suffix: str | None = None
    dump: Callable[[Sequence[Record]], str] | None = None


@dataclass(frozen=True)
class SubmissionFolder:
    """A folder of files that systems send.

    Attributes:
        read: the rows of a folder, and what is odd about them given the gold records.
        write: writes rows into a folder, or raises a ValueError where the format can't express them.
    """

    read: Callable[[Path, Sequence[Record]], ParsedFolder]
    write: Callable[[Sequence[Record], Path], None]


SubmissionFormat = SubmissionFile | SubmissionFolder
