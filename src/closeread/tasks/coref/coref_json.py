"""Coreference as JSON Lines: ``{"document": NAME, "clusters": [[[start, end], ...], ...]}``, one document per line.

Conventions: tokens are numbered from 0 across the document's sentences, and a mention's end is its last token.  A
cluster has at least one mention.  `n_tokens`, the number of tokens of the document, is optional.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from closeread.corpora.schema import RowValidator, load_schema
from closeread.errors import FormatError, Problem, quote
from closeread.formats import Format
from closeread.formats.json_lines import SUFFIXES, dump_json_lines, read_json_lines
from closeread.records import Parsed, Record
from closeread.tasks.coref.columns import MentionTable, mention_table
from closeread.tasks.coref.rules import find_misplaced_mentions


def read_records(path: Path, split: str) -> Parsed:
    """The documents of a file, each with its line; names are the file's, whatever the split.

    Raises:
        FormatError: as `read_coref_json`.
    """
    del split
    parsed = _read(path)
    return parsed._replace(records=table_of(parsed.records))


def read_coref_json(path: Path) -> MentionTable:
    """Read the documents of a file.

    Returns:
        Clusters and mentions in the order of the file; `n_tokens` only if every document has it.

    Raises:
        FormatError: the file can't be read or is invalid, with all its problems.
    """
    return table_of(_read(path).records)


def _read(path: Path) -> Parsed:
    parsed = read_json_lines(path)
    validator = RowValidator(load_schema("coref"), "document")
    problems = parsed.problems + [
        parsed.problem(problem.row or 0, problem.message) for problem in validator.problems(parsed.records)
    ]
    fit = [
        (record, line)
        for record, line in zip(parsed.records, parsed.lines, strict=True)
        if not problems or validator.accepts(record)
    ]
    for record, line in fit:
        problems += [Problem(found, line) for found in find_misplaced_mentions(record)]
    seen: dict[str, int] = {}
    for record, line in fit:
        before = seen.setdefault(record["document"], line)
        if before != line:
            problems.append(Problem(f"duplicate document {quote(record['document'])} (first on line {before})", line))
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.line or 0))
    return parsed


def table_of(records: Sequence[Record]) -> MentionTable:
    """Convert records that fit the schema to columns."""
    if isinstance(records, MentionTable):
        return records
    table = mention_table([record["document"] for record in records], [record["clusters"] for record in records])
    n_tokens = [record.get("n_tokens") for record in records]
    return table if None in n_tokens else replace(table, n_tokens=np.array(n_tokens, np.int64))


def dump_coref_json(table: MentionTable) -> str:
    """Convert documents to JSON Lines.

    Raises:
        ValueError: a mention is discontinuous, which the format can't express.
    """
    if table.parts:
        raise ValueError("coreference JSON Lines can't express discontinuous mentions")
    if table.n_tokens is None:
        return dump_json_lines(table)
    n_tokens = table.n_tokens.tolist()
    return dump_json_lines({**record, "n_tokens": n} for record, n in zip(table, n_tokens, strict=True))


FORMAT = Format(
    read_records,
    lambda records: dump_coref_json(table_of(records)),
    suffixes=SUFFIXES,
    first_line=re.compile(r"\{"),
)
