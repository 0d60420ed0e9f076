"""McTaco's released files: tab-separated, without header or quoting, five columns.

Conventions: the columns are sentence, question, answer, label and category.  Every character of the text is kept,
including double spaces and unbalanced quotation marks.  Ids are made from the split's name and the order of the
file: a candidate is a row, a question is a (sentence, question) pair, a sentence is a distinct sentence text; each
is numbered from 0 in order of first appearance (four question texts of the release occur with two sentences).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from closeread import limits
from closeread.arrays import Ints
from closeread.coded_columns import CodedColumn, Coder, LazyColumn, NumberedNames
from closeread.exceptions import Problem, quote
from closeread.formats import Format
from closeread.formats.text import UNSAFE, read_lines
from closeread.problems import ProblemList
from closeread.records import ColumnRecords, Parsed, Record

BYTE_ORDER_MARK = "\ufeff"
COLUMNS = ("sentence", "question", "answer", "label", "category")
IDS = ("id", "question_id", "sentence_id")
PARTS = ("sentence\tquestion", "answer", "label\tcategory")
"""What is numbered of a row: pairs of columns that repeat together are looked up together."""

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
    kept: list[Ints] = []
    coders: list[Coder[bytes]] = [Coder(in_runs=part == PARTS[0]) for part in PARTS]
    n_lines = n_short = 0
    for text in lines.texts():
        if (parts := _split_rows(text)) is not None:
            number = len(parts) // len(PARTS)
            kept.append(np.arange(n_lines, n_lines + number))
        else:
            rows = _read_lines(text, n_lines, n_short)
            kept.append(np.array(rows.numbers, np.int64))
            parts, number = rows.parts, text.count(b"\n") + 1
            problems += rows.problems
            n_short += rows.n_short
        n_lines += number
        for position, coder in enumerate(coders):
            coder.add(parts[position :: len(PARTS)])
    del lines
    numbers = np.concatenate(kept)
    columns = _make_columns(split, numbers, [coder.finish(bytes.decode) for coder in coders])
    places = range(1, n_lines + 1) if len(numbers) == n_lines else (numbers + 1).tolist()
    return Parsed(ColumnRecords(columns, made=IDS), places, problems)


def _make_columns(split: str, numbers: Ints, parts: Sequence[CodedColumn]) -> dict[str, LazyColumn]:
    """Return the columns of records.

    Args:
        split: the split's name.
        numbers: (n,) the numbers of the lines, from 0.
        parts: the texts of each of `PARTS`.
    """
    pair, answer, judgement = parts
    sentence, question = pair.split("\t")
    label, category = judgement.split("\t")
    made: tuple[LazyColumn, ...] = (
        NumberedNames(f"{split}-", numbers),
        CodedColumn(pair.codes, [f"{split}-q{number:04d}" for number in range(len(pair.values))]),
        CodedColumn(sentence.codes, [f"{split}-s{number:04d}" for number in range(len(sentence.values))]),
    )
    return dict(zip((*IDS, *COLUMNS), (*made, sentence, question, answer, label, category), strict=True))


class _Rows(NamedTuple):
    """The rows among some lines.

    Attributes:
        numbers: the numbers of their lines, from 0.
        parts: the texts of `PARTS` of all of them, one row after the other.
        problems: what is wrong with the lines.
        n_short: how many rows are too short to be valid.
    """

    numbers: list[int]
    parts: list[bytes]
    problems: ProblemList
    n_short: int


def _read_lines(text: bytes, first: int, n_short: int) -> _Rows:
    """Read lines of any kind.

    Args:
        text: the lines.
        first: the number of the first of them, from 0.
        n_short: how many rows before were too short.
    """
    numbers: list[int] = []
    parts: list[bytes] = []
    problems = ProblemList()
    short = 0
    for index, line in enumerate(text.split(b"\n"), first):
        whole = line.removesuffix(b"\r")
        decoded = whole.decode()
        found = decoded.split("\t")
        if len(found) != len(COLUMNS):
            expected = f"expected {len(COLUMNS)}: {', '.join(COLUMNS)}"
            problems.append(Problem(f"the number of columns is {len(found)} ({expected})", index + 1))
            continue
        if len(decoded) < SHORTEST:
            short += 1
            if n_short + short > limits.MAX_EXPLAINED:  # a record would take much more memory than the line
                problems.append(Problem(f"has {len(decoded)} characters (expected at least {SHORTEST})", index + 1))
                continue
        numbers.append(index)
        sentence, question, answer, judgement = whole.split(b"\t", 3)
        parts += (sentence + b"\t" + question, answer, judgement)
        problems += _find_unsafe(found, index + 1)
    return _Rows(numbers, parts, problems, short)


def _split_rows(text: bytes) -> list[bytes] | None:
    """Return the texts of `PARTS` of lines, row by row, if nothing can be wrong with them but values; None otherwise.

    The lines have the right number of columns, are long enough, end without a carriage return, and have no control
    characters.
    """
    if b"\x7f" in text or (b"\xc2" in text and UNSAFE_BYTES.search(text) is not None):
        return None
    raw = np.frombuffer(text, np.uint8)
    controls = np.flatnonzero(raw < ord(" "))
    if len(controls) % len(COLUMNS) != len(COLUMNS) - 1:
        return None
    grid = np.append(controls, len(raw)).reshape(-1, len(COLUMNS))
    ends = grid[:, -1]
    if (raw[grid[:, :-1]] != ord("\t")).any() or (raw[ends[:-1]] != ord("\n")).any():
        return None
    n_others = 0 if text.isascii() else np.cumsum(np.append(raw, 0) & 0xC0 == 0x80)[ends]
    if (np.diff(ends - n_others, prepend=-1) <= SHORTEST).any():
        return None
    parted = raw.copy()
    parted[grid[:, 1:3]] = ord("\n")  # around the answer
    return parted.tobytes().split(b"\n")


def _find_unsafe(cells: Iterable[str], line: int) -> Iterator[Problem]:
    """Find the control characters in the values of a row."""
    for name, text in zip(COLUMNS, cells, strict=True):
        if unsafe := UNSAFE.search(text):
            found = f"{name} {quote(text)} contains the control character U+{ord(unsafe[0]):04X}"
            yield Problem(found, line)


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
