"""Words as text: gold has a page, a misspelt word and the word on a line, split by tabs; a system sends a word a line.

Conventions: ids are made from the split's name and the order of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from closeread.exceptions import Problem
from closeread.formats import Format, SubmissionFile
from closeread.formats.text import read_lines
from closeread.records import Parsed, Record

COLUMNS = ("page", "written", "word")


def read_records(path: Path, split: str) -> Parsed:
    """Read the words of a file.

    Raises:
        FormatError: the file can't be read as text.
    """
    rows = [line.split("\t") for line in read_lines(path)]
    problems = [
        Problem(
            f"the number of columns is {len(row)} (expected {len(COLUMNS)}: {', '.join(COLUMNS)})",
            number,
        )
        for number, row in enumerate(rows, start=1)
        if len(row) != len(COLUMNS)
    ]
    numbers = [number for number, row in enumerate(rows) if len(row) == len(COLUMNS)]
    records = [
        {"id": f"{split}-{number}", **dict(zip(COLUMNS, rows[number], strict=True))}
        for number in numbers
    ]
    return Parsed(records, [number + 1 for number in numbers], problems)


def dump_records(records: Sequence[Record]) -> str:
    """Return the text of a file with these records."""
    return "".join("\t".join(record[name] for name in COLUMNS) + "\n" for record in records)


def is_submission(first_line: str) -> bool:
    """Return whether a file with this first line holds words, not JSON Lines."""
    return not first_line.startswith("{")


def parse_submission(lines: Sequence[str], gold: Sequence[Record]) -> Parsed:
    """Parse one word per line, in the order of gold."""
    problems = []
    if len(lines) != len(gold):
        problems.append(
            Problem(
                f"the number of lines is {len(lines):,} (expected {len(gold):,}, one for each word)"
            )
        )
    rows = [{"id": record["id"], "word": line} for record, line in zip(gold, lines, strict=False)]
    return Parsed(rows, range(1, len(rows) + 1), problems)


def dump_submission(rows: Sequence[Record]) -> str:
    """Return the words, one per line."""
    return "".join(f"{row['word']}\n" for row in rows)


FORMAT = Format(read=read_records, write=dump_records)
SUBMISSION = SubmissionFile(is_submission, parse_submission, ".txt", dump_submission)
