"""Validation of records, by their schema and by the corpus's own rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from closeread.corpus.leniency import accept_rows
from closeread.corpus.schema import RowValidator, Schema
from closeread.exceptions import FormatError
from closeread.formats.text import UNSAFE
from closeread.problems import ProblemList
from closeread.records import AnyParsed, ParsedRows, Record, find_repeated, name_problem


def validate_records(
    path: Path | str,
    parsed: AnyParsed,
    schema: Schema,
    definition: str = "document",
    *keys: str,
    find_inconsistencies: Callable[[Sequence[Record]], Iterable[tuple[int, str]]] = lambda records: (),
    unsafe: re.Pattern[str] = UNSAFE,
) -> Sequence[Record]:
    """Return the records of a file or a folder if all of them are valid.

    Args:
        path: the file or the folder, or the name of records in memory, for messages.
        parsed: its content.
        schema, definition: the definition that the records must match.
        keys: the fields whose values must be unique; the first one names a record in messages.
        find_inconsistencies: finds problems that the schema can't express: the index of a record, and its problem.
            Records that break the schema are not passed to it.
        unsafe: characters that no string of records in memory may contain.

    Raises:
        FormatError: something could not be read, a record is invalid, or two records have the same key; all problems
            at once.
    """
    validator = RowValidator(schema, definition)
    accepted, rejected = accept_rows(
        validator, parsed.records, unsafe=unsafe if isinstance(parsed, ParsedRows) else None
    )
    parsed = parsed._replace(records=accepted)
    problems = ProblemList(parsed.problems)
    problems += (name_problem(parsed, next(iter(keys), ""), problem) for problem in rejected)
    problems += (problem for key in keys for problem in find_repeated(parsed, key, keys[0]))
    numbers: Sequence[int] = range(len(parsed.records))
    valid = parsed.records
    if rejected:
        invalid = {problem.row for problem in rejected}
        numbers = [n for n in numbers if n not in invalid and validator.accepts(parsed.records[n])]
        valid = [parsed.records[number] for number in numbers]
    problems += (parsed.problem(numbers[index], what) for index, what in find_inconsistencies(valid))
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
    return parsed.records
