"""The prediction format of McTaco's official evaluator: one `yes` or `no` per line, in corpus order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from closeread.exceptions import Problem, ProblemList
from closeread.formats import SubmissionFile
from closeread.records import ColumnRecords, Parsed, Record, column

SUFFIX = ".txt"


def recognises(first_line: str) -> bool:
    """Return whether a file with this first line is a label file, that is, not JSON Lines."""
    return not first_line.lstrip().startswith(("{", "["))


def parse_submission(lines: Sequence[str], gold: Sequence[Record]) -> Parsed:
    """Parse one row per line; a wrong number of lines is a problem, since the labels would be misaligned.

    Args:
        lines: the file's lines.
        gold: the gold candidates, in order.
    """
    ids = column(gold, "id")
    problems = ProblemList()
    if len(lines) != len(ids):
        expected = f"expected {len(ids):,}, one for each candidate"
        problems.append(Problem(f"the number of lines is {len(lines):,} ({expected})"))
    # Whitespace around labels is stripped, as in the official evaluator.
    labels = [label.strip() for label in islice(lines, len(ids))]
    records = ColumnRecords({"id": ids[: len(labels)], "label": labels})
    return Parsed(records, range(1, len(labels) + 1), problems)


def dump_submission(rows: Iterable[Record]) -> str:
    """Return the labels, one per line; the rows must be in corpus order."""
    return "".join(f"{row['label']}\n" for row in rows)


SUBMISSION = SubmissionFile(recognises, parse_submission, SUFFIX, dump_submission)
