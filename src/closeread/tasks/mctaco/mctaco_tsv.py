"""McTaco's released files: tab-separated, no header, no quoting, five fields.

Conventions: the fields are sentence, question, answer, label, category.  Every character of the text is kept,
double blanks and unbalanced quotation marks included.  Ids follow from the split's name and the order of the
file: a candidate is a row, a question a (sentence, question) pair, a sentence a sentence, each numbered from 0
in order of first appearance (four question texts of the release occur with two sentences).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path

from closeread.errors import Problem, quote
from closeread.formats import Format
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import ColumnRecords, Parsed, Record

BYTE_ORDER_MARK = "\ufeff"
CHUNK = 2**14
"""How many lines are split at once."""

COLUMNS = ("sentence", "question", "answer", "label", "category")


def read_records(path: Path, split: str) -> Parsed:
    """The candidates of a file, with ids made from the split's name.

    Raises:
        FormatError: the file can't be read as text (see `closeread.formats.text`).
    """
    lines = read_lines(path)
    ragged = {i: tabs + 1 for i, line in enumerate(lines) if (tabs := line.count("\t")) != len(COLUMNS) - 1}
    problems = [
        Problem(f"the number of columns is {found}; needed: {len(COLUMNS)} ({', '.join(COLUMNS)})", index + 1)
        for index, found in ragged.items()
    ]
    kept = [index for index in range(len(lines)) if index not in ragged] if ragged else range(len(lines))
    columns = _columns([lines[index] for index in kept] if ragged else lines)
    problems += [
        Problem(f"{name} {quote(text)} holds the control character U+{ord(unsafe[0]):04X}", index + 1)
        for name, values in columns.items()
        if any(map(UNSAFE.search, set(values)))
        for index, text in zip(kept, values, strict=True)
        if (unsafe := UNSAFE.search(text))
    ]
    sentence, sentences = _numbers(columns["sentence"])
    wording, wordings = _numbers(columns["question"])
    question, questions = _numbers([s * wordings + q for s, q in zip(sentence, wording, strict=True)])
    ids = {
        "id": [f"{split}-{index:05d}" for index in kept],
        "question_id": _named(f"{split}-q", question, questions),
        "sentence_id": _named(f"{split}-s", sentence, sentences),
    }
    return Parsed(ColumnRecords({**ids, **columns}), [index + 1 for index in kept], problems)


def _columns(lines: Sequence[str]) -> dict[str, list[str]]:
    """The cells of lines that are not ragged; equal texts share one object, which keeps large files small."""
    columns: dict[str, list[str]] = {name: [] for name in COLUMNS}
    shared: dict[str, str] = {}
    for start in range(0, len(lines), CHUNK):
        cells = "\t".join(lines[start : start + CHUNK]).split("\t")
        for position, texts in enumerate(columns.values()):
            values = cells[position :: len(COLUMNS)]
            texts.extend(map(shared.setdefault, values, values))
    return columns


def _numbers(values: Iterable[Hashable]) -> tuple[list[int], int]:
    """A number for every value, from 0 in order of first appearance, and how many there are."""
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(value, len(seen)) for value in values], len(seen)


def _named(prefix: str, numbers: Sequence[int], distinct: int) -> list[str]:
    names = [f"{prefix}{number:04d}" for number in range(distinct)]
    return [names[number] for number in numbers]


def dump_records(records: Iterable[Record]) -> str:
    """The records as the text of a released file; ids are dropped, since they follow from the order.

    Raises:
        ValueError: a field holds a tab, a line end or another control character, which the format can't express.
    """
    lines = []
    for record in records:
        row = [str(record[name]) for name in COLUMNS]
        if any(map(UNSAFE.search, row)):
            raise ValueError(f"{record['id']}: a field holds a control character, which this format can't express")
        lines.append("\t".join(row) + "\n")
    text = "".join(lines)
    # Readers drop one byte-order mark: a text of its own that begins with one needs another in front.
    return BYTE_ORDER_MARK + text if text.startswith(BYTE_ORDER_MARK) else text


FORMAT = Format(read=read_records, write=dump_records)
