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


def _unite(records_by_split: Mapping[str, Sequence[Record]]) -> Sequence[Record]:
    return list(chain.from_iterable(records_by_split.values()))


def _complete_nothing(rows: Sequence[Any]) -> Parsed:
    return Parsed(rows, None, [])


@dataclass(frozen=True)
class Format:
    """A format that gold is kept in.

    Attributes:
        read: reads a file of a split; makes ids from the split's name where the file has none.
        write: returns the text of a file; a ValueError names content that the format can't express.
        suffixes: those of files for which it precedes the general readers.
        folder: how a split of many files is read; None where every split is a single file.
        unite: returns the records of several splits together; their ids must differ.
        unsafe: characters that no string of a record may contain, whatever its source.
        is_json_lines: whether a file has a JSON object on each line.
        complete: adds to rows in memory, or of a Parquet file, what reading a file of the format adds to its records.
    """

    read: Callable[[Path, str], Parsed]
    write: Callable[[Sequence[Record]], str] | None = None
    suffixes: tuple[str, ...] = ()
    folder: FormatFolder | None = None
    unite: Callable[[Mapping[str, Sequence[Record]]], Sequence[Record]] = _unite
    unsafe: re.Pattern[str] = UNSAFE
    is_json_lines: bool = False
    complete: Callable[[Sequence[Any]], Parsed] = _complete_nothing


@dataclass(frozen=True)
class SubmissionFile:
    """A text format other than JSON Lines that systems send.

    Attributes:
        recognises: tells whether a file is of the format, by the first line that is not blank.
        parse: reads lines; the ids are those of the gold where the format has none.
        suffix: that of the files; None, as `dump`, where it takes more than rows to write a file.
        dump: writes rows in the order of the gold.
    """

    recognises: Callable[[str], bool]
    parse: Callable[[Sequence[str], Sequence[Record]], Parsed]
    suffix: str | None = None
    dump: Callable[[Sequence[Record]], str] | None = None


@dataclass(frozen=True)
class SubmissionFolder:
    """A folder of files that systems send.

    Attributes:
        read: reads it, with oddities relative to the gold records.
        write: writes rows; a ValueError names content that the format can't express.
    """

    read: Callable[[Path, Sequence[Record]], Parsed]
    write: Callable[[Sequence[Record], Path], None]


SubmissionFormat = SubmissionFile | SubmissionFolder
