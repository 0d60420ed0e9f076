"""Fields of documents to slice by: the genre, and the columns of a file that the user gives.

Conventions: such a file is CSV, TSV or JSON Lines, as its suffix says, with a column or key `document` and one row for
each document of the key.  An empty cell, null and an absent key are an unknown value.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
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
from closeread.formats.delimited import DELIMITERS
from closeread.formats.json_lines import SUFFIXES, read_json_lines
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import Record
from closeread.tasks.coref.documents import GENRE, Documents, find_genre
from closeread.tasks.coref.files import find_treebank
from closeread.tasks.coref.metrics.slices import FIELDS

DOCUMENT = "document"
"""The column with the names of the documents."""

UNKNOWN = "unknown"
"""The value of a field that is not known."""


def list_fields(documents: Documents) -> dict[str, list[str]]:
    """Return the fields of the documents; the genre is that in their names if their file does not give it.

    A field that is unknown for all documents is left out.
    """
    fields = {GENRE: [""] * len(documents)}
    if not documents.is_packed:
        names = chain.from_iterable(document.fields for document in documents.documents)
        for name in dict.fromkeys([GENRE, *names]):
            fields[name] = [document.fields.get(name, "") for document in documents.documents]
    if documents.packed is None or documents.packed.is_named:  # numbers have no genre
        pairs = zip(fields[GENRE], documents.names, strict=True)
        fields[GENRE] = [genre or find_genre(name) for genre, name in pairs]
    # The group of a record of a corpus may be a treebank.
    if "group" in fields and "treebank" not in fields:
        treebanks = [find_treebank(f"{group}-corefud") for group in fields["group"]]
        fields["treebank"] = treebanks
        fields["language"] = [treebank.partition("_")[0] for treebank in treebanks]
    return {
        name: [value or UNKNOWN for value in values]
        for name, values in fields.items()
        if any(values)
    }


def add_file_fields(documents: Documents, source: Path) -> Documents:
    """Return the documents with fields that the paths of their files tell: treebank, language and folder.

    The source is their only file, unless they have files of their own in its folder.
    """
    if not find_treebank(source.name) and not any(
        document.file for document in documents.documents
    ):
        return documents
    documents_with_fields = []
    for document in documents.documents:
        file = document.file or source.name
        treebank = find_treebank(file)
        folder, _, _ = file.rpartition("/")
        fields = {
            "treebank": treebank,
            "language": treebank.partition("_")[0],
            "folder": folder.partition("/")[0],
        }
        fields = {name: value for name, value in fields.items() if value}
        if fields:
            document = replace(document, fields={**document.fields, **fields})
        documents_with_fields.append(document)
    return documents.replaced(documents_with_fields)


def add_fields(documents: Documents, path: Path) -> Documents:
    """Return the documents with the fields of a file, which replace those of the same name."""
    columns = read_fields(path, documents.names)
    documents_with_fields = []
    for number, document in enumerate(documents.documents):
        values = {name: column[number] for name, column in columns.items()}
        fields = {**document.fields, **values}
        documents_with_fields.append(replace(document, fields=fields))
    return documents.replaced(documents_with_fields)


def read_fields(path: Path, documents: Sequence[str]) -> dict[str, list[str]]:
    """Read the fields of documents, by name; "" if unknown."""
    problems = ProblemList()
    names = set(documents)
    # The first part of each document, by its name without the part.
    first_parts: dict[str, str] = {}
    for document in documents:
        first_parts.setdefault(document.partition("; part")[0], document)
    lines: dict[str, int] = {}
    columns: dict[str, dict[str, str]] = {}
    for line, row in _read_rows(path, problems):
        name = row.get(DOCUMENT)
        if not isinstance(name, str):
            problems.add(f"document is {quote_json(name)} (expected the name of a document)", line)
        elif name not in names:
            hint = ""
            if name in first_parts:
                similar = quote(first_parts[name])
                hint = f"; did you mean {similar}? (the part belongs to the name)"
            problems.add(f"document {quote(name)} is not in the key{hint}", line)
        elif lines.setdefault(name, line) != line:
            problems.add(f"duplicate document {quote(name)} (first on line {lines[name]})", line)
        else:
            for column, value in row.items():
                if column != DOCUMENT:
                    text = _format_value(column, value, line, problems)
                    columns.setdefault(column, {})[name] = text
    absent = [name for name in documents if name not in lines]
    if absent and not problems:
        n_documents = pluralize(len(documents), "document")
        lack = f"has no row for {len(absent):,} of the {n_documents} of the key"
        problems.add(f"{lack}: {join_names(absent)} (expected one row for each document)")
    problems.raise_any(path)
    return {
        column: [values.get(name, "") for name in documents] for column, values in columns.items()
    }


def _format_value(column: str, value: Any, line: int, problems: ProblemList) -> str:
    """Return a value as text; add a problem if it is none."""
    if not isinstance(value, str | bool | int | float | None):
        problems.add(f"{column}: {quote_json(value)} is not text, a number or true or false", line)
        return ""
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    unsafe = UNSAFE.search(text)
    if unsafe:
        character = f"the control character U+{ord(unsafe[0]):04X}"
        problems.add(f"{column}: {quote(text)} contains {character}", line)
    return text


def _read_rows(path: Path, problems: ProblemList) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows with their lines, whatever the format, if the names of the columns are right."""
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        return _read_json_rows(path, problems)
    if suffix in DELIMITERS:
        return _read_table_rows(path, DELIMITERS[suffix], problems)
    expected = ", ".join((*DELIMITERS, *SUFFIXES))
    message = f"the suffix is {quote(path.suffix)} (expected one of {expected})"
    raise FormatError(path, [Problem(message)])


def _read_json_rows(path: Path, problems: ProblemList) -> Iterator[tuple[int, Record]]:
    """Yield the rows of a JSON Lines file whose keys are right."""
    parsed = read_json_lines(path)
    for problem in parsed.problems:
        problems.add(problem.text, problem.line)
    for line, record in zip(parsed.lines, parsed.records, strict=True):
        if _check_columns(list(record), line, problems):
            yield line, record


def _read_table_rows(
    path: Path, delimiter: str, problems: ProblemList
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table below its header, if the header is right."""
    header: list[str] = []
    is_right = False
    for number, line in enumerate(read_lines(path), start=1):
        try:
            row = line.split(delimiter)
            if delimiter == ",":
                row = next(csv.reader([line], strict=True), [])
        except csv.Error as error:
            problems.add(f"is not a valid CSV row: {error}", number)
            if "unexpected end" in str(error):
                # A quotation mark is open, so the end of the cell is unknown.
                break
            continue
        if not any(row):
            continue
        if not header:
            header = row
            is_right = _check_columns(row, number, problems)
        elif len(row) != len(header):
            expected = f"expected {len(header)}, as in the header"
            problems.add(f"the number of cells is {len(row)} ({expected})", number)
        elif is_right:
            yield number, dict(zip(header, row, strict=True))
    if not header:
        problems.add("has no header (expected a column 'document' and others)", 1)


def _check_columns(names: Sequence[str], line: int, problems: ProblemList) -> bool:
    """Check that there are the document and another column, and that columns have usable names."""
    before = problems.total
    if DOCUMENT not in names or len(names) < 2:
        columns = ", ".join(map(quote, names)) or "none"
        expected = "expected 'document' and at least one other"
        problems.add(f"the columns are {columns} ({expected})", line)
    for i, name in enumerate(names):
        column = f"column {i + 1}: {quote(name)}"
        if not name or UNSAFE.search(name):
            problems.add(f"{column} is not a name for a field", line)
        elif name in names[:i]:
            problems.add(f"{column} is given twice", line)
        elif name in FIELDS:
            problems.add(f"{column} is a field of mentions (expected another name)", line)
    return problems.total == before
