"""Coreference as JSON Lines: ``{"document": NAME, "clusters": [[[start, end], ...], ...]}``, one document per line.

Conventions: tokens are numbered from 0 across the document's sentences, and a mention's end is its last token.  A
mention may also be ``[start, end, head]``, if all mentions of the file are.  A cluster has at least one mention.
`n_tokens`, the number of tokens of the document, is optional.  The other fields of Marmara's documents are ignored.
Files of neural systems, with `doc_key` or `cased_words` instead of `document`, are read, too
(`closeread.tasks.coref.neural_json`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from closeread.corpus.schema import RowValidator, load_schema
from closeread.corpus.validation import accept_rows
from closeread.exceptions import FormatError, Problem, ProblemList, quote
from closeread.formats import Format
from closeread.formats.json_lines import SUFFIXES, dump_json_lines, parse_json_lines
from closeread.formats.text import read_lines
from closeread.records import Parsed, Record, place_problem
from closeread.tasks.coref.columns import MentionTable, mention_table
from closeread.tasks.coref.neural_json import SURROGATES, find_dialect, read_neural
from closeread.tasks.coref.rules import find_lacking_heads, find_misplaced_mentions

FOREIGN = {
    "clusters_strings": "fastcoref writes no document names, and its clusters count characters "
    "(expected 'doc_key', and clusters of tokens)",
    "clusters_token_offsets": "maverick writes no document names (expected 'doc_key', and 'clusters_token_offsets' "
    "as 'clusters')",
}
"""What to say of documents with these fields, which some systems write."""

MARMARA = ("genre", "sentences", "mentions")
"""The fields that the documents of Marmara have besides."""


def read_records(path: Path, split: str) -> Parsed:
    """Read the documents of a file, each with its line; names are the file's, whatever the split."""
    del split
    return _read(path, is_response=False)


def read_predictions(path: Path, split: str) -> Parsed:
    """Read the documents of a system's output; predicted entities are preferred if a file has gold ones, too."""
    del split
    return _read(path, is_response=True)


def _read(path: Path, *, is_response: bool) -> Parsed:
    lines = read_lines(path)
    first = next((line for line in lines if line.strip()), "")
    dialect = find_dialect(next(iter(parse_json_lines([first], SURROGATES).records), None))
    if dialect is None:
        parsed = parse_json_lines(lines)
        return _read_own(path, parsed._replace(records=list(map(drop_other_fields, parsed.records))))
    parsed = parse_json_lines(lines, SURROGATES)
    found = read_neural(parsed, dialect, is_response=is_response)
    if isinstance(found, list):
        raise FormatError(path, sorted(found, key=lambda problem: problem.line or 0))
    return parsed._replace(records=found)


def drop_other_fields(record: Any) -> Any:
    """Return a document of Marmara with the fields of coreference only, and anything else as it is."""
    if not isinstance(record, Mapping) or not all(name in record for name in MARMARA):
        return record
    return {name: value for name, value in record.items() if name not in MARMARA}


def _read_own(path: Path, parsed: Parsed) -> Parsed:
    validator = RowValidator(load_schema("coref"), "document")
    accepted, invalid = accept_rows(validator, parsed.records)
    parsed = parsed._replace(records=accepted)
    foreign = {i: said for i, row in enumerate(parsed.records) for name, said in FOREIGN.items() if name in row}
    problems = ProblemList([*parsed.problems, *(parsed.problem(i, said) for i, said in foreign.items())])
    rejected = (problem for problem in invalid if problem.row not in foreign)
    problems += (place_problem(parsed, problem) for problem in rejected)
    fit = [
        (record, line)
        for record, line in zip(parsed.records, parsed.lines, strict=True)
        if not problems or validator.accepts(record)
    ]
    seen: dict[str, int] = {}
    for record, line in fit:
        misplaced = find_misplaced_mentions(record["clusters"], record.get("n_tokens"))
        problems += (Problem(found, line) for found in misplaced)
        before = seen.setdefault(record["document"], line)
        if before != line:
            problems.append(Problem(f"duplicate document {quote(record['document'])} (first on line {before})", line))
    lacking = find_lacking_heads([record["clusters"] for record, _ in fit])
    problems += (Problem(what, fit[i][1]) for i, what in lacking)
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.line or 0))
    return parsed._replace(records=table_of(parsed.records))


def table_of(records: Sequence[Record]) -> MentionTable:
    """Convert records that fit the schema to columns."""
    if isinstance(records, MentionTable):
        return records
    table = mention_table([record["document"] for record in records], [record["clusters"] for record in records])
    n_tokens = [record.get("n_tokens") for record in records]
    return table if None in n_tokens else replace(table, n_tokens=np.array(n_tokens, np.int64))


def dump_coref_json(table: MentionTable) -> str:
    """Convert documents to JSON Lines, with the heads of mentions if the table has them.

    Raises:
        ValueError: a mention is discontinuous, or the name of a document is empty or contains a control character,
            which the format can't express.
    """
    if "" in table.names:
        raise ValueError("coreference JSON Lines can't express a document with an empty name")
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
    first_line=re.compile(r"[{[]"),  # a list is not JSON Lines, but nothing else either
    read_system=read_predictions,
)
