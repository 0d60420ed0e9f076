"""Tables as text: CSV or TSV with a header, as spreadsheets and data frames write them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from closeread.exceptions import ProblemList, pluralize, quote
from closeread.formats.text import UNSAFE, describe_unsafe
from closeread.records import Parsed

DELIMITERS = {".csv": ",", ".tsv": "\t"}


def find_delimiter(first_line: str, suffix: str) -> str | None:
    """Return what separates the cells of a table, by its header and the file's suffix; None if it is no table."""
    if first_line.lstrip().startswith(("{", "[")):
        return None
    separators = [mark for mark in ("\t", ",", ";") if mark in first_line]
    return separators[0] if separators else DELIMITERS.get(suffix)


def parse_table(lines: Sequence[str], delimiter: str, key: str) -> Parsed:
    """Parse a row for each line below the header, which needs the column `key`; an empty cell is null."""
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    problems = ProblemList()
    records = []
    places = []
    rows = _read_rows(reader, problems)
    header = [name.strip() for name in next(rows, (1, []))[1]]
    if key not in header or len(set(header)) < len(header):
        expected = f"expected a header with distinct columns, one of them {quote(key)}"
        problems.add(f"the columns are {', '.join(map(quote, header))} ({expected})", 1)
        return Parsed([], [], problems)
    for line, cells in rows:
        if len(cells) != len(header):
            expected = f"expected {len(header)}, as in the header"
            problems.add(f"has {pluralize(len(cells), 'cell')} ({expected})", line)
            continue
        for cell in cells:
            if reason := describe_unsafe(cell, UNSAFE):
                problems.add(f"the cell {reason}", line)
        records.append({name: cell or None for name, cell in zip(header, cells, strict=True)})
        places.append(line)
    return Parsed(records, places, problems)


def _read_rows(
    reader: Iterator[list[str]], problems: ProblemList
) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row, with the number of its first line."""
    line = 1
    try:
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1  # type: ignore[attr-defined]
    except csv.Error as error:
        problems.add(f"is not a row of a table: {error}", line)
