"""The prediction file of McTaco's official evaluator: `yes` or `no` on every line, in the order of the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from closeread.errors import Problem
from closeread.formats import SubmissionFile
from closeread.records import ColumnRecords, Parsed, Record, column

SUFFIX = ".txt"


def recognises(first_line: str) -> bool:
    """Whether a file with this first line is not JSON Lines, and so is meant as labels."""
    return not first_line.lstrip().startswith(("{", "["))


def parse_submission(lines: Sequence[str], gold: Sequence[Record]) -> Parsed:
    """One row a line; a wrong number of lines is a problem, since every later line would be off.

    Args:
        lines: the file's lines.
        gold: the gold candidates, in order.
    """
    ids = column(gold, "id")
    problems = []
    if len(lines) != len(ids):
        found = f"the number of lines is {len(lines):,}"
        problems.append(Problem(f"{found}; needed: {len(ids):,}, one for each candidate"))
    # Blanks around a label are dropped, as the official evaluator does.
    labels = [line.strip() for line in lines[: len(ids)]]
    return Parsed(ColumnRecords({"id": ids[: len(labels)], "label": labels}), range(1, len(labels) + 1), problems)


def dump_submission(rows: Iterable[Record]) -> str:
    """The labels, one a line; the rows must be in the order of the corpus."""
    return "".join(f"{row['label']}\n" for row in rows)


SUBMISSION = SubmissionFile(recognises, parse_submission, SUFFIX, dump_submission)
