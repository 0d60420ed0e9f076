"""McTaco's released files: tab-separated, without header or quoting, five columns.

Conventions: the columns are sentence, question, answer, label and category.  Every character of the text is kept,
including double spaces and unbalanced quotation marks.  Ids are made from the split's name and the order of the
file: a candidate is a row, a question is a (sentence, question) pair, a sentence is a distinct sentence text; each
is numbered from 0 in order of first appearance (four question texts of the release occur with two sentences).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path

from closeread import limits
from closeread.exceptions import ProblemList
from closeread.formats import Format
from closeread.formats.text import UNSAFE, describe_unsafe, read_lines
from closeread.records import ColumnRecords, Parsed, Record

BYTE_ORDER_MARK = "\ufeff"
COLUMNS = ("sentence", "question", "answer", "label", "category")

SHORTEST = len("s\tq\ta\tno\tFrequency")
"""The characters of the shortest valid line."""


def read_records(path: Path, split: str) -> Parsed:
    """Read the candidates of a file, with ids made from the split's name."""
    problems = ProblemList()
    rows: dict[int, list[str]] = {}
    # Repeated texts are kept once.
    texts: dict[str, str] = {}
    n_short = 0
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split("\t")
        if len(cells) != len(COLUMNS):
            expected = f"expected {len(COLUMNS)}: {', '.join(COLUMNS)}"
            problems.add(f"the number of columns is {len(cells)} ({expected})", number)
            continue
        if len(line) < SHORTEST:
            n_short += 1
            # A record would take much more memory than the line.
            if n_short > limits.MAX_EXPLAINED:
                expected = f"expected at least {SHORTEST}"
                problems.add(f"has {len(line)} characters ({expected})", number)
                continue
        if not "".join(cells).isprintable():
            for name, text in zip(COLUMNS, cells, strict=True):
                problem = describe_unsafe(text)
                if problem:
                    problems.add(f"{name} {problem}", number)
        rows[number] = [texts.setdefault(cell, cell) for cell in cells]
    columns = ColumnRecords.from_rows(COLUMNS, rows.values()).columns
    questions = list(zip(columns["sentence"], columns["question"], strict=True))
    ids = {
        "id": [f"{split}-{number - 1:05d}" for number in rows],
        "question_id": _number_names(f"{split}-q", questions),
        "sentence_id": _number_names(f"{split}-s", columns["sentence"]),
    }
    return Parsed(ColumnRecords({**ids, **columns}), list(rows), problems)


def _number_names(prefix: str, values: Sequence[Hashable]) -> list[str]:
    """Return a name for each value, with the number of its first appearance among the distinct ones."""
    distinct = dict.fromkeys(values)
    names = {value: f"{prefix}{number:04d}" for number, value in enumerate(distinct)}
    return [names[value] for value in values]


def dump_records(records: Iterable[Record]) -> str:
    """Return the records as the text of a released file, without ids, which follow from the order."""
    lines = []
    for record in records:
        row = [str(record[name]) for name in COLUMNS]
        if any(map(UNSAFE.search, row)):
            raise ValueError(
                f"{record['id']}: a field contains a control character, which this format can't represent"
            )
        lines.append("\t".join(row) + "\n")
    text = "".join(lines)
    # Readers drop one byte-order mark, so a text that itself begins with one needs a second one before it.
    return BYTE_ORDER_MARK + text if text.startswith(BYTE_ORDER_MARK) else text


FORMAT = Format(read=read_records, write=dump_records)
