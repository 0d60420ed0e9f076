"""McTaco's released files: tab-separated, without header or quoting, five columns.

Conventions: the columns are sentence, question, answer, label and category.  Every character of the text is kept,
including double spaces and unbalanced quotation marks.  Ids are made from the split's name and the order of the
file: a candidate is a row, a question is a (sentence, question) pair, a sentence is a distinct sentence text; each
is numbered from 0 in order of first appearance (four question texts of the release occur with two sentences).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from closeread import limits
from closeread.arrays import Ints
from closeread.errors import Problem, quote
from closeread.formats import Format
from closeread.formats.text import UNSAFE, read_lines
from closeread.problems import ProblemList
from closeread.records import ColumnRecords, Parsed, Record, find_runs

__all__ = ["BYTE_ORDER_MARK", "COLUMNS", "FORMAT", "SHORTEST", "UNSAFE_BYTES", "dump_records", "read_records"]

BYTE_ORDER_MARK = "\ufeff"
COLUMNS = ("sentence", "question", "answer", "label", "category")
UNSAFE_BYTES = re.compile(rb"\xc2[\x80-\x9f]")
"""The control characters that take two bytes."""

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
    columns: dict[str, list[str]] = {name: [] for name in COLUMNS}
    shared: dict[str, str] = {}
    n_lines = short = 0
    for text in lines.texts():
        sound: Sequence[str] = ()
        if (number := _count_rows(text)) is not None:
            kept += range(n_lines, n_lines + number)
            cells = text.decode().replace("\n", "\t").split("\t")
        else:
            number, sound = 0, [line.removesuffix("\r") for line in text.decode().split("\n")]
            cells = []
        for index, line in enumerate(sound, n_lines):
            number += 1
            found = line.split("\t")
            if len(found) != len(COLUMNS):
                expected = f"expected {len(COLUMNS)}: {', '.join(COLUMNS)}"
                problems.append(Problem(f"the number of columns is {len(found)} ({expected})", index + 1))
                continue
            if len(line) < SHORTEST:
                short += 1
                if short > limits.MAX_EXPLAINED:  # a record would take much more memory than the line
                    problems.append(Problem(f"has {len(line)} characters (expected at least {SHORTEST})", index + 1))
                    continue
            kept.append(index)
            cells += found
            problems += _find_unsafe(found, index + 1)
        n_lines += number
        for position, texts in enumerate(columns.values()):
            # Equal texts share one object, which saves memory on large files.
            values = cells[position :: len(COLUMNS)]
            texts.extend(map(shared.setdefault, values, values))
    del lines, shared
    sentence, sentences = _number_values(columns["sentence"])
    wording, wordings = _number_values(columns["question"])
    question, questions = _number_values((sentence * wordings + wording).tolist())
    ids = {
        "id": list(map(f"{split.replace('{', '{{').replace('}', '}}')}-{{:05d}}".format, kept)),
        "question_id": _format_ids(f"{split}-q", question, questions),
        "sentence_id": _format_ids(f"{split}-s", sentence, sentences),
    }
    return Parsed(ColumnRecords({**ids, **columns}, made=ids.keys()), [index + 1 for index in kept], problems)


def _count_rows(text: bytes) -> int | None:
    """Return the number of lines if all are rows that nothing can be wrong with but their values; None otherwise.

    They have the right number of columns, are long enough, end without a carriage return, and have no control
    characters.
    """
    if b"\x7f" in text or (b"\xc2" in text and UNSAFE_BYTES.search(text) is not None):
        return None
    raw = np.frombuffer(text, np.uint8)
    controls = np.flatnonzero(raw < ord(" "))
    is_end = raw[controls] == ord("\n")
    ends = np.append(controls[is_end], len(raw))
    tabs = np.append(np.flatnonzero(is_end), len(controls)) - np.arange(len(ends))
    if not (raw[controls[~is_end]] == ord("\t")).all() or (np.diff(tabs, prepend=0) != len(COLUMNS) - 1).any():
        return None
    n_others = 0 if text.isascii() else np.cumsum(np.append(raw, 0) & 0xC0 == 0x80)[ends]
    lengths = np.diff(ends - n_others, prepend=-1) - 1
    return None if (lengths < SHORTEST).any() else len(ends)


def _find_unsafe(cells: Iterable[str], line: int) -> Iterator[Problem]:
    """Find the control characters in the values of a row."""
    for name, text in zip(COLUMNS, cells, strict=True):
        if unsafe := UNSAFE.search(text):
            found = f"{name} {quote(text)} contains the control character U+{ord(unsafe[0]):04X}"
            yield Problem(found, line)


def _number_values(values: Sequence[Hashable]) -> tuple[Ints, int]:
    """Number the values from 0 in order of first appearance; return the numbers and how many are distinct."""
    starts = np.array(find_runs(values), np.int64)  # equal values mostly follow each other
    seen: dict[Hashable, int] = {}
    numbers = [seen.setdefault(values[start], len(seen)) for start in starts.tolist()]
    return np.repeat(np.array(numbers, np.int64), np.diff(starts, append=len(values))), len(seen)


def _format_ids(prefix: str, numbers: Ints, distinct: int) -> list[str]:
    names = [f"{prefix}{number:04d}" for number in range(distinct)]
    return [names[number] for number in numbers.tolist()]


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
