"""Fields of documents to slice by: the genre, and the columns of a file that the user gives.

Conventions: such a file is CSV, TSV or JSON Lines, as its suffix says, with a column or key `document` and one row for
each document of the key.  An empty cell, null and an absent key are an unknown value.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from closeread.exceptions import (
    FormatError,
    Problem,
    ProblemList,
    join_names,
    pluralize,
    quote,
    quote_json,
)
from closeread.formats.json_lines import SUFFIXES, read_json_lines
from closeread.formats.text import UNSAFE, read_lines
from closeread.tasks.coref.documents import GENRE, Documents, find_genre
from closeread.tasks.coref.metrics.slices import FIELDS

DOCUMENT, UNKNOWN = "document", "unknown"


def list_fields(documents: Documents) -> dict[str, list[str]]:
    """Return the fields of the documents; the genre is that in their names if their file does not give it.

    A field that is unknown for all documents is left out.
    """
    if documents.is_packed and documents.count_unnamed():
        return {}  # numbers have no genre
    names = dict.fromkeys([GENRE])
    for document in documents.documents:
        names.update(dict.fromkeys(document.fields))
    fields = {
        name: [document.fields.get(name, "") for document in documents.documents] for name in names
    }
    if documents.count_unnamed() < len(documents):
        pairs = zip(fields[GENRE], documents.names, strict=True)
        fields[GENRE] = [genre or find_genre(name) for genre, name in pairs]
    return {
        name: [value or UNKNOWN for value in values]
        for name, values in fields.items()
        if any(values)
    }


def add_fields(documents: Documents, path: Path) -> Documents:
    """Return the documents with the fields of a file, which replace those of the same name."""
    columns = read_fields(path, documents.names)
    return documents.replaced(
        replace(
            document,
            fields={
                **document.fields,
                **{name: values[number] for name, values in columns.items()},
            },
        )
        for number, document in enumerate(documents.documents)
    )


def read_fields(path: Path, documents: Sequence[str]) -> dict[str, list[str]]:
    """Read the fields of documents, by name; "" if unknown."""
    problems, known = ProblemList(), set(documents)
    line_of: dict[str, int] = {}
    values: dict[str, dict[str, str]] = {}
    whole_of: dict[str, str] = {}
    for one in documents:
        whole_of.setdefault(one.partition("; part")[0], one)
    for line, row in _read_rows(path, problems):
        name = row.get(DOCUMENT)
        if not isinstance(name, str):
            problems.add(f"document is {quote_json(name)} (expected the name of a document)", line)
        elif name not in known:
            whole = whole_of.get(name)
            hint = f"; did you mean {quote(whole)}? (the part belongs to the name)" if whole else ""
            problems.add(f"document {quote(name)} is not in the key{hint}", line)
        elif line_of.setdefault(name, line) != line:
            problems.add(f"duplicate document {quote(name)} (first on line {line_of[name]})", line)
        else:
            for column, value in row.items():
                if column != DOCUMENT:
                    values.setdefault(column, {})[name] = _format_value(
                        column, value, line, problems
                    )
    absent = [name for name in documents if name not in line_of]
    if absent and not problems:
        found = f"has no row for {len(absent):,} of the {pluralize(len(documents), 'document')} of the key"
        problems.add(f"{found}: {join_names(absent)} (expected one row for each document)")
    problems.raise_any(path)
    return {
        column: [of_column.get(name, "") for name in documents]
        for column, of_column in values.items()
    }


def _format_value(column: str, value: Any, line: int, problems: ProblemList) -> str:
    """Return a value as text; add a problem if it is none."""
    if not isinstance(value, str | bool | int | float | None):
        problems.add(f"{column}: {quote_json(value)} is not text, a number or true or false", line)
        return ""
    text = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
    if unsafe := UNSAFE.search(text):
        problems.add(
            f"{column}: {quote(text)} contains the control character U+{ord(unsafe[0]):04X}", line
        )
    return text


def _read_rows(path: Path, problems: ProblemList) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows with their lines, whatever the format, if the names of the columns are right."""
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        parsed = read_json_lines(path)
        for problem in parsed.problems:
            problems.add(problem.text, problem.line)
        for number, record in zip(parsed.lines, parsed.records, strict=True):
            if _check_columns(list(record), number, problems):
                yield number, record
        return
    if suffix not in (".csv", ".tsv"):
        expected = ", ".join((".csv", ".tsv", *SUFFIXES))
        raise FormatError(
            path, [Problem(f"the suffix is {quote(path.suffix)} (expected one of {expected})")]
        )
    header: list[str] = []
    is_right = False
    for number, line in enumerate(read_lines(path), start=1):
        try:
            row = (
                line.split("\t") if suffix == ".tsv" else next(csv.reader([line], strict=True), [])
            )
        except csv.Error as error:
            problems.add(f"is not a valid CSV row: {error}", number)
            if "unexpected end" in str(error):
                break  # a quotation mark is open, so the end of the cell is unknown
            continue
        if any(row) and not header:
            header, is_right = row, _check_columns(row, number, problems)
        elif any(row) and len(row) != len(header):
            problems.add(
                f"the number of cells is {len(row)} (expected {len(header)}, as in the header)",
                number,
            )
        elif any(row) and is_right:
            yield number, dict(zip(header, row, strict=True))
    if not header:
        problems.add("has no header (expected a column 'document' and others)", 1)


def _check_columns(names: Sequence[str], line: int, problems: ProblemList) -> bool:
    """Check that there are the document and another column, and that columns have usable names."""
    before = problems.total
    if DOCUMENT not in names or len(names) < 2:
        found = ", ".join(map(quote, names))
        problems.add(
            f"the columns are {found or 'none'} (expected 'document' and at least one other)", line
        )
    for i, name in enumerate(names):
        if not name or UNSAFE.search(name):
            problems.add(f"column {i + 1}: {quote(name)} is not a name for a field", line)
        elif name in names[:i]:
            problems.add(f"column {i + 1}: {quote(name)} is given twice", line)
        elif name in FIELDS:
            problems.add(
                f"column {i + 1}: {quote(name)} is a field of mentions (expected another name)",
                line,
            )
    return problems.total == before
