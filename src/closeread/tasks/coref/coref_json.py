"""Coreference as JSON Lines: ``{"document": NAME, "clusters": [[[start, end], ...], ...]}``, one document per line.

Conventions: tokens are numbered from 0 across the document's sentences, and a mention's end is its last token.  A
mention may also be ``[start, end, head]``, if all mentions of the file are.  A cluster has at least one mention.
`n_tokens`, the number of tokens of the document, is optional.  Files of neural systems, with `doc_key` or `cased_words`
instead of `document`, are read, too (`closeread.tasks.coref.neural_json`).
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
from closeread.formats.json_lines import SUFFIXES, dump_json_lines, parse_json_lines
from closeread.formats.text import read_lines
from closeread.records import Parsed, Record
from closeread.tasks.coref.columns import MentionTable, mention_table
from closeread.tasks.coref.neural_json import Dialect, JsonWords, find_dialect, read_neural
from closeread.tasks.coref.rules import Clusters, find_lacking_heads, find_misplaced_mentions

FOREIGN = {
    "clusters_strings": "fastcoref writes no document names, and its clusters count characters "
    "(expected 'doc_key', and clusters of tokens)",
    "clusters_token_offsets": "maverick writes no document names (expected 'doc_key', and 'clusters_token_offsets' "
    "as 'clusters')",
}
"""What to say of documents with these fields, which some systems write."""


def read_records(path: Path, split: str) -> Parsed:
    """Read the documents of a file, each with its line; names are the file's, whatever the split.

    Raises:
        FormatError: as `read_coref_json`.
    """
    del split
    return _read(path, is_response=False)


def read_predictions(path: Path, split: str) -> Parsed:
    """Read the documents of a system's output; predicted entities are preferred if a file has gold ones, too.

    Raises:
        FormatError: as `read_coref_json`.
    """
    del split
    return _read(path, is_response=True)


def read_coref_json(path: Path) -> MentionTable:
    """Read the documents of a file.

    Returns:
        Clusters and mentions in the order of the file; `n_tokens` only if every document has it.

    Raises:
        FormatError: the file can't be read or is invalid, with all its problems.
    """
    return table_of(_read(path, is_response=False).records)


def _read(path: Path, *, is_response: bool) -> Parsed:
    lines = read_lines(path)
    dialect = find_dialect(lines)
    return _read_own(path, lines) if dialect is None else _read_dialect(path, lines, dialect, is_response=is_response)


def _read_own(path: Path, lines: Sequence[str]) -> Parsed:
    parsed = parse_json_lines(lines)
    validator = RowValidator(load_schema("coref"), "document")
    foreign = {i: said for i, row in enumerate(parsed.records) for name, said in FOREIGN.items() if name in row}
    problems = parsed.problems + [parsed.problem(i, said) for i, said in foreign.items()]
    rejected = (problem for problem in validator.problems(parsed.records) if problem.row not in foreign)
    problems += [parsed.problem(problem.row or 0, problem.message) for problem in rejected]
    fit = [
        (record, line)
        for record, line in zip(parsed.records, parsed.lines, strict=True)
        if not problems or validator.accepts(record)
    ]
    for record, line in fit:
        misplaced = find_misplaced_mentions(record["clusters"], record.get("n_tokens"))
        problems += [Problem(found, line) for found in misplaced]
    problems += [Problem(what, fit[i][1]) for i, what in find_lacking_heads([record["clusters"] for record, _ in fit])]
    problems += _find_duplicates([record["document"] for record, _ in fit], [line for _, line in fit])
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.line or 0))
    return parsed._replace(records=table_of(parsed.records))


def _read_dialect(path: Path, lines: Sequence[str], dialect: Dialect, *, is_response: bool) -> Parsed:
    found = read_neural(lines, dialect, is_response=is_response)
    names = [document.name for document in found.documents]
    problems = found.problems + _find_duplicates(names, found.lines)
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.line or 0))
    table = replace(
        _with_lengths(names, [d.clusters for d in found.documents], [d.n_tokens for d in found.documents]),
        words=JsonWords([document.words for document in found.documents], found.lines),
        notices=found.notices,
    )
    return Parsed(table, found.lines, [])


def _find_duplicates(names: Sequence[str], lines: Sequence[int]) -> list[Problem]:
    seen: dict[str, int] = {}
    return [
        Problem(f"duplicate document {quote(name)} (first on line {seen[name]})", line)
        for name, line in zip(names, lines, strict=True)
        if seen.setdefault(name, line) != line
    ]


def table_of(records: Sequence[Record]) -> MentionTable:
    """Convert records that fit the schema to columns."""
    if isinstance(records, MentionTable):
        return records
    names, clusters = ([record[name] for record in records] for name in ("document", "clusters"))
    return _with_lengths(names, clusters, [record.get("n_tokens") for record in records])


def _with_lengths(names: Sequence[str], documents: Sequence[Clusters], n_tokens: Sequence[int | None]) -> MentionTable:
    table = mention_table(names, documents)
    return table if None in n_tokens else replace(table, n_tokens=np.array(n_tokens, np.int64))


def dump_coref_json(table: MentionTable) -> str:
    """Convert documents to JSON Lines, with the heads of mentions if the table has them.

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
    read_system=read_predictions,
)
