"""Fields of documents to slice by: the genre, and the columns of a file that the user gives.

Conventions: such a file is CSV, TSV or JSON Lines, as its suffix says, with a column or key `document` and one row for
each document of the key.  An empty cell, null and an absent key are an unknown value.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from closeread import limits
from closeread.exceptions import FormatError, Problem, ProblemList, join_names, pluralize, quote, quote_json
from closeread.formats.json_lines import SUFFIXES, read_json_lines
from closeread.formats.text import UNSAFE, read_lines
from closeread.tasks.coref.documents import MentionTable, find_genre
from closeread.tasks.coref.metrics.slices import FIELDS

DOCUMENT, GENRE = "document", "genre"
UNKNOWN = "unknown"

Row = tuple[int, Mapping[str, Any]]
"""A row of a file: its line, and its values by column."""


def list_fields(table: MentionTable) -> dict[str, list[str]]:
    """Return the fields of the documents; the genre is that in their names if their file does not give it.

    A field that is unknown for all documents is left out.
    """
    fields = {name: list(values) for name, values in table.document_fields.items()}
    given = fields.pop(GENRE, None) or [""] * len(table.names)
    if len(table.unnamed) == len(table.names):  # numbers have no genre
        genres = given
    else:
        genres = [genre or find_genre(name) for genre, name in zip(given, table.names, strict=True)]
    fields = {GENRE: genres, **fields}
    return {name: [value or UNKNOWN for value in values] for name, values in fields.items() if any(values)}


def add_fields(table: MentionTable, path: Path) -> MentionTable:
    """Return the documents with the fields of a file, which replace those of the same name."""
    return replace(table, document_fields={**table.document_fields, **read_fields(path, table.names)})


def read_fields(path: Path, documents: Sequence[str]) -> dict[str, list[str]]:
    """Read the fields of documents, by name; "" if unknown."""
    problems = ProblemList()
    rows, further = _read_rows(path, problems, len(documents) + limits.MAX_EXPLAINED)
    columns = dict.fromkeys(name for _, row in rows for name in row)
    line_of: dict[str, int] = {}
    known = set(documents)
    values: dict[str, dict[str, str]] = {name: {} for name in columns if name != DOCUMENT}
    for line, row in rows:
        name = row.get(DOCUMENT)
        if not isinstance(name, str):
            problems.add(f"document is {quote_json(name)} (expected the name of a document)", line)
        elif name not in known:
            problems.add(f"document {quote(name)} is not in the key{_suggest_part(name, documents)}", line)
        elif line_of.setdefault(name, line) != line:
            problems.add(f"duplicate document {quote(name)} (first on line {line_of[name]})", line)
        else:
            for column, value in row.items():
                if column != DOCUMENT:
                    values[column][name] = _format_value(column, value, line, problems)
    if further:
        problems.add(f"has {pluralize(further, 'further row')} (expected one row for each document)")
    absent = [name for name in documents if name not in line_of]
    if absent and not problems.total:
        found = f"has no row for {len(absent):,} of the {pluralize(len(documents), 'document')} of the key"
        problems.add(f"{found}: {join_names(absent)} (expected one row for each document)")
    problems.raise_any(path)
    return {column: [of_column.get(name, "") for name in documents] for column, of_column in values.items()}


def _suggest_part(name: str, documents: Sequence[str]) -> str:
    """Suggest the name with its part for a name without one."""
    whole = next((known for known in documents if known.partition("; part")[0] == name), None)
    return f"; did you mean {quote(whole)}? (the part belongs to the name)" if whole else ""


def _format_value(column: str, value: Any, line: int, problems: ProblemList) -> str:
    """Return a value as text; add a problem if it is none."""
    if value is None or isinstance(value, str):
        text = value or ""
    elif isinstance(value, bool | int | float):
        text = str(value).lower() if isinstance(value, bool) else str(value)
    else:
        problems.add(f"{column}: {quote_json(value)} is not text, a number or true or false", line)
        return ""
    if unsafe := UNSAFE.search(text):
        problems.add(f"{column}: {quote(text)} contains the control character U+{ord(unsafe[0]):04X}", line)
    return text


def _read_rows(path: Path, problems: ProblemList, most: int) -> tuple[list[Row], int]:
    """Read the rows of a file, whatever its format, and check the names of its columns.

    Returns:
        The rows, none if there are problems; and the number of others.
    """
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        parsed = read_json_lines(path)
        for problem in parsed.problems:
            problems.add(problem.message, problem.line)
        rows: list[Row] = list(zip(parsed.lines, parsed.records, strict=True))
        for line, row in rows:
            _check_columns(list(row), line, problems)
        return [] if problems.total else rows, 0
    if suffix not in (".csv", ".tsv"):
        expected = ", ".join((".csv", ".tsv", *SUFFIXES))
        raise FormatError(path, [Problem(f"the suffix is {quote(path.suffix)} (expected one of {expected})")])
    lines = read_lines(path)
    cells = _split_csv(lines, problems) if suffix == ".csv" else enumerate(map(_split_tabs, lines), start=1)
    return _check_rows(cells, problems, most)


def _split_tabs(line: str) -> list[str]:
    return line.split("\t")


def _split_csv(lines: Sequence[str], problems: ProblemList) -> Iterator[tuple[int, list[str]]]:
    """Split lines into cells; a quoted cell may not contain a line end."""
    for number, line in enumerate(lines, start=1):
        try:
            yield number, next(csv.reader([line], strict=True), [])
        except csv.Error as error:
            problems.add(f"is not a valid CSV row: {error}", number)
            if "unexpected end" in str(error):
                return  # a quotation mark is open, so nobody knows what belongs to the cell


def _check_rows(cells: Iterable[tuple[int, list[str]]], problems: ProblemList, most: int) -> tuple[list[Row], int]:
    """Return the rows below a header, without blank lines, as `_read_rows`."""
    filled = ((line, row) for line, row in cells if any(row))
    first, header = next(filled, (1, []))
    if not header:
        problems.add("has no header (expected a column 'document' and others)", 1)
        return [], 0
    _check_columns(header, first, problems)
    rows: list[Row] = []
    further = 0
    for line, row in filled:
        if len(row) != len(header):
            problems.add(f"the number of cells is {len(row)} (expected {len(header)}, as in the header)", line)
        elif len(rows) >= most:
            further += 1
        elif not problems.total:
            rows.append((line, dict(zip(header, row, strict=True))))
    return ([], 0) if problems.total else (rows, further)


def _check_columns(names: Sequence[str], line: int, problems: ProblemList) -> None:
    """Find columns without a usable name, and rows or headers without the document or without anything else."""
    if DOCUMENT not in names or len(names) < 2:
        found = ", ".join(map(quote, names))
        problems.add(f"the columns are {found or 'none'} (expected 'document' and at least one other)", line)
    for i, name in enumerate(names):
        if not name or UNSAFE.search(name):
            problems.add(f"column {i + 1}: {quote(name)} is not a name for a field", line)
        elif name in names[:i]:
            problems.add(f"column {i + 1}: {quote(name)} is given twice", line)
        elif name in FIELDS:
            problems.add(f"column {i + 1}: {quote(name)} is a field of mentions (expected another name)", line)
