"""McTaco's released files: tab-separated, without header or quoting, five columns.

Conventions: the columns are sentence, question, answer, label and category.  Every character of the text is kept,
including double spaces and unbalanced quotation marks.  Ids are made from the split's name and the order of the
file: a candidate is a row, a question is a (sentence, question) pair, a sentence is a distinct sentence text; each
is numbered from 0 in order of first appearance (four question texts of the release occur with two sentences).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from closeread import limits
from closeread.exceptions import Problem, ProblemList, quote
from closeread.formats import Format
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import ColumnRecords, Parsed, Record

BYTE_ORDER_MARK = "\ufeff"
COLUMNS = ("sentence", "question", "answer", "label", "category")
IDS = ("id", "question_id", "sentence_id")

SHORTEST = len("s\tq\ta\tno\tFrequency")
"""The characters of the shortest valid line."""


def read_records(path: Path, split: str) -> Parsed:
    """Read the candidates of a file, with ids made from the split's name."""
    problems = ProblemList()
    rows: list[tuple[str, ...]] = []
    places: list[int] = []
    questions: dict[tuple[str, str], str] = {}
    sentences: dict[str, str] = {}
    texts: dict[str, str] = {}  # repeated texts are kept once
    n_short = 0
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split("\t")
        if len(cells) != len(COLUMNS):
            expected = f"expected {len(COLUMNS)}: {', '.join(COLUMNS)}"
            problems.append(Problem(f"the number of columns is {len(cells)} ({expected})", number))
            continue
        if len(line) < SHORTEST:
            n_short += 1
            if n_short > limits.MAX_EXPLAINED:  # a record would take much more memory than the line
                problems.append(
                    Problem(f"has {len(line)} characters (expected at least {SHORTEST})", number)
                )
                continue
        if not line.replace("\t", "").isprintable():
            for name, text in zip(COLUMNS, cells, strict=True):
                if unsafe := UNSAFE.search(text):
                    found = f"{name} {quote(text)} contains the control character U+{ord(unsafe[0]):04X}"
                    problems.append(Problem(found, number))
        sentence, question, answer, label, category = (
            texts.setdefault(cell, cell) for cell in cells
        )
        places.append(number)
        rows.append(
            (
                f"{split}-{number - 1:05d}",
                questions.setdefault((sentence, question), f"{split}-q{len(questions):04d}"),
                sentences.setdefault(sentence, f"{split}-s{len(sentences):04d}"),
                *(sentence, question, answer, label, category),
            )
        )
    return Parsed(ColumnRecords.from_rows((*IDS, *COLUMNS), rows), places, problems)


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
