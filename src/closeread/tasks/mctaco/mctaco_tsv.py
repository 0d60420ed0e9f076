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
from closeread.errors import Problem, quote
from closeread.formats import Format
from closeread.formats.text import UNSAFE, read_lines
from closeread.problems import ProblemList
from closeread.records import ColumnRecords, Parsed, Record

__all__ = ["BYTE_ORDER_MARK", "CHUNK", "COLUMNS", "FORMAT", "SHORTEST", "dump_records", "read_records"]

BYTE_ORDER_MARK = "\ufeff"
CHUNK = 2**14
"""The number of lines that are split at once."""

COLUMNS = ("sentence", "question", "answer", "label", "category")
SHORTEST = len("s\tq\ta\tno\tFrequency")
"""The characters of the shortest valid line."""


def read_records(path: Path, split: str) -> Parsed:
    """Read the candidates of a file, with ids made from the split's name.

    Raises:
        FormatError: the file can't be read as text (see `closeread.formats.text`).
    """
    lines = read_lines(path)
    problems = ProblemList()
    kept: list[int] = []
    sound: list[str] = []
    short = 0
    for index, line in enumerate(lines):
        if (found := line.count("\t") + 1) == len(COLUMNS):
            if len(line) < SHORTEST:
                short += 1
                if short > limits.MAX_EXPLAINED:  # a record would take much more memory than the line
                    problems.append(Problem(f"has {len(line)} characters (expected at least {SHORTEST})", index + 1))
                    continue
            kept.append(index)
            sound.append(line)
        else:
            expected = f"expected {len(COLUMNS)}: {', '.join(COLUMNS)}"
            problems.append(Problem(f"the number of columns is {found} ({expected})", index + 1))
    columns = _split_columns(sound)
    del lines, sound
    problems += (
        Problem(f"{name} {quote(text)} contains the control character U+{ord(unsafe[0]):04X}", index + 1)
        for name, values in columns.items()
        if any(map(UNSAFE.search, set(values)))
        for index, text in zip(kept, values, strict=True)
        if (unsafe := UNSAFE.search(text))
    )
    sentence, sentences = _number_values(columns["sentence"])
    wording, wordings = _number_values(columns["question"])
    question, questions = _number_values([s * wordings + q for s, q in zip(sentence, wording, strict=True)])
    ids = {
        "id": [f"{split}-{index:05d}" for index in kept],
        "question_id": _format_ids(f"{split}-q", question, questions),
        "sentence_id": _format_ids(f"{split}-s", sentence, sentences),
    }
    return Parsed(ColumnRecords({**ids, **columns}), [index + 1 for index in kept], problems)


def _split_columns(lines: Sequence[str]) -> dict[str, list[str]]:
    """Split lines with the right number of columns; equal texts share one object, which saves memory on large files."""
    columns: dict[str, list[str]] = {name: [] for name in COLUMNS}
    shared: dict[str, str] = {}
    for start in range(0, len(lines), CHUNK):
        cells = "\t".join(lines[start : start + CHUNK]).split("\t")
        for position, texts in enumerate(columns.values()):
            values = cells[position :: len(COLUMNS)]
            texts.extend(map(shared.setdefault, values, values))
    return columns


def _number_values(values: Iterable[Hashable]) -> tuple[list[int], int]:
    """Number the values from 0 in order of first appearance; return the numbers and how many are distinct."""
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(value, len(seen)) for value in values], len(seen)


def _format_ids(prefix: str, numbers: Sequence[int], distinct: int) -> list[str]:
    names = [f"{prefix}{number:04d}" for number in range(distinct)]
    return [names[number] for number in numbers]


def dump_records(records: Iterable[Record]) -> str:
    """Return the records as the text of a released file, without ids, which follow from the order.

    Raises:
        ValueError: a field contains a tab, a line break or another control character, which the format can't
            represent.
    """
    lines = []
    for record in records:
        row = [str(record[name]) for name in COLUMNS]
        if any(map(UNSAFE.search, row)):
            raise ValueError(f"{record['id']}: a field contains a control character, which this format can't represent")
        lines.append("\t".join(row) + "\n")
    text = "".join(lines)
    # Readers drop one byte-order mark, so a text that itself begins with one needs a second one before it.
    return BYTE_ORDER_MARK + text if text.startswith(BYTE_ORDER_MARK) else text


FORMAT = Format(read=read_records, write=dump_records)
