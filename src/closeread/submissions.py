"""What systems send: read, judged by the schema, and joined with the gold by id.

Every problem of a file is reported at once; nothing is scored before a file has none.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from closeread.declarations import Corpus
from closeread.errors import FormatError, Problem, SubmissionError, quoted
from closeread.formats.json_lines import dump_json_lines, parse_json_lines
from closeread.formats.text import read_lines
from closeread.records import Parsed, Record, column
from closeread.schema import RowValidator, load_schema


class SubmissionFormat(Protocol):
    """What a module of `closeread.formats` offers for a file that is not JSON Lines."""

    SUFFIX: str

    def recognises(self, first_line: str) -> bool:
        """Whether a file whose first line that is not blank is this one is of the format."""
        ...

    def parse_submission(self, lines: Sequence[str], ids: Sequence[str]) -> Parsed:
        """The rows of a file, with the gold's ids where the format has none."""
        ...

    def dump_submission(self, rows: Sequence[Record]) -> str:
        """The text of a file with these rows, which are in the order of the gold."""
        ...


@dataclass(frozen=True)
class Submission:
    """A system's output, aligned with the gold.

    Attributes:
        rows: the row of every gold id, in the gold's order; None where the system sent none.
        missing: the gold ids without a row.
    """

    rows: Sequence[Record | None]
    missing: tuple[str, ...]


def read_submission(path: Path, corpus: Corpus, ids: Sequence[str], missing: str = "error") -> Submission:
    """Read, check and align a file of predictions.

    Args:
        path: the file: JSON Lines, or one of the corpus's own submission formats.
        corpus: the declaration whose schema the rows must fit.
        ids: the ids of the gold records, in order.
        missing: "error" to refuse a file that lacks ids; with "empty" and "skip" they are allowed here, and
            the procedure decides what they cost.

    Raises:
        SubmissionError: the file can't be read, or holds anything that is wrong; all problems at once.
    """
    try:
        lines = read_lines(path)
    except FormatError as error:
        raise SubmissionError(error.source, error.problems) from None
    parsed = _parse(lines, corpus, ids)
    del lines
    problems = parsed.problems + RowValidator(load_schema(corpus.name), "submission").problems(
        parsed.records, parsed.lines
    )
    if not problems and list(column(parsed.records, corpus.key)) == list(ids):
        return Submission(parsed.records, ())
    rows, id_problems = _by_id(parsed, corpus.key, set(ids))
    absent = tuple(name for name in ids if name not in rows)
    problems += id_problems
    # A file with rows that could not be read lacks their ids too: no news.
    if absent and missing == "error" and not parsed.problems:
        problems.append(Problem(_missing_in_words(absent, len(ids))))
    if problems:
        raise SubmissionError(path, sorted(problems, key=lambda p: p.line or 0))
    return Submission([rows.get(name) for name in ids], absent)


def dump_submission(rows: Sequence[Record], corpus: Corpus, suffix: str) -> str:
    """The rows as the text of a file: in a submission format of the corpus by its suffix, or JSON Lines."""
    for module in _formats(corpus):
        if suffix == module.SUFFIX:
            return module.dump_submission(rows)
    return dump_json_lines(rows)


def _formats(corpus: Corpus) -> list[SubmissionFormat]:
    modules = [importlib.import_module(f"closeread.formats.{name}") for name in corpus.submission_formats]
    return [cast(SubmissionFormat, module) for module in modules]


def _parse(lines: Sequence[str], corpus: Corpus, ids: Sequence[str]) -> Parsed:
    # A blank line is wrong in any format: it must not decide which one the file is taken for.
    first = next((line for line in lines if line.strip()), "")
    for module in _formats(corpus):
        if module.recognises(first):
            return module.parse_submission(lines, ids)
    return parse_json_lines(lines)


def _by_id(parsed: Parsed, key: str, known: set[str]) -> tuple[dict[str, Record], list[Problem]]:
    rows: dict[str, Record] = {}
    first: dict[str, int] = {}
    problems = []
    for row, line in zip(parsed.records, parsed.lines, strict=True):
        name = row.get(key)
        if not isinstance(name, str):
            continue  # the schema has said so
        if name not in known:
            problems.append(Problem(f"{key} {quoted(name)} is not in the gold", line))
        elif name in rows:
            problems.append(Problem(f"{key} {quoted(name)} was given on line {first[name]} already", line))
        else:
            rows[name] = row
            first[name] = line
    return rows, problems


def _missing_in_words(absent: Sequence[str], total: int) -> str:
    named = ", ".join(quoted(name) for name in absent[:3])
    more = ", …" if len(absent) > 3 else ""
    found = f"no row for {len(absent):,} of the {total:,} ids of the gold: {named}{more}"
    return f"{found}; needed: one for each, unless missing is empty or skip"
