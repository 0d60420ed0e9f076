"""McTaco's released files: tab-separated, without header or quoting, five columns.

Conventions: the columns are sentence, question, answer, label and category.  Every character of the text is kept,
including double spaces and unbalanced quotation marks.  Ids are made from the split's name and the order of the
file: a candidate is a row, a question is a (sentence, question) pair, a sentence is a distinct sentence text; each
is numbered from 0 in order of first appearance (four question texts of the release occur with two sentences).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from closeread import limits
from closeread.exceptions import Problem, ProblemList, quote
from closeread.formats import Format
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import ColumnRecords, Parsed, Record

BYTE_ORDER_MARK = "\ufeff"
COLUMNS = ("sentence", "question", "answer", "label", "category")

SHORTEST = len("s\tq\ta\tno\tFrequency")
"""The characters of the shortest valid line."""


def read_records(path: Path, split: str) -> Parsed:
    """Read the candidates of a file, with ids made from the split's name."""
    problems = ProblemList()
    short_lines: list[int] = []
    places: list[int] = []
    columns: dict[str, list[str]] = {name: [] for name in COLUMNS}
    # Repeated texts are kept once.
    texts: dict[str, str] = {}
    n_lines = 0
    for lines in read_lines(path).in_groups():
        rows = {number: line.split("\t") for number, line in enumerate(lines, start=n_lines + 1)}
        n_lines += len(lines)
        if not _are_usual(lines, rows.values()):
            rows = {
                number: cells
                for number, cells in rows.items()
                if _check_row(number, cells, problems, short_lines)
            }
        places += rows
        for name, values in zip(COLUMNS, zip(*rows.values(), strict=True), strict=False):
            columns[name] += map(texts.setdefault, values, values)
    questions = list(zip(columns["sentence"], columns["question"], strict=True))
    ids = {
        "id": [f"{split}-{number - 1:05d}" for number in places],
        "question_id": _number_names(f"{split}-q", questions),
        "sentence_id": _number_names(f"{split}-s", columns["sentence"]),
    }
    return Parsed(ColumnRecords({**ids, **columns}), places, problems)


def _are_usual(lines: Sequence[str], rows: Iterable[Sequence[str]]) -> bool:
    """Return whether nothing is wrong with rows, or else they are to be checked one by one."""
    has_all_columns = set(map(len, rows)) == {len(COLUMNS)}
    is_printable = "".join(set(chain.from_iterable(rows))).isprintable()
    return has_all_columns and is_printable and min(map(len, lines)) >= SHORTEST


def _check_row(
    number: int, cells: Sequence[str], problems: ProblemList, short_lines: list[int]
) -> bool:
    """Add what is wrong with a row to the problems, and return whether it is a candidate."""
    if len(cells) != len(COLUMNS):
        expected = f"expected {len(COLUMNS)}: {', '.join(COLUMNS)}"
        problems.append(Problem(f"the number of columns is {len(cells)} ({expected})", number))
        return False
    n_characters = len("\t".join(cells))
    if n_characters < SHORTEST:
        # A record would take much more memory than the line.
        if len(short_lines) == limits.MAX_EXPLAINED:
            expected = f"expected at least {SHORTEST}"
            problems.append(Problem(f"has {n_characters} characters ({expected})", number))
            return False
        short_lines.append(number)
    for name, text in zip(COLUMNS, cells, strict=True):
        unsafe = UNSAFE.search(text)
        if unsafe is not None:
            character = f"the control character U+{ord(unsafe[0]):04X}"
            problems.append(Problem(f"{name} {quote(text)} contains {character}", number))
    return True


def _number_names(prefix: str, values: Sequence[Hashable]) -> list[str]:
    """Return a name for each value, with the number of its first appearance among the distinct ones."""
    names = {}
    for number, value in enumerate(dict.fromkeys(values)):
        names[value] = f"{prefix}{number:04d}"
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
