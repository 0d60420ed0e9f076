"""Validation of records, by their schema and by the corpus's own rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from closeread.corpora.leniency import quote_integers
from closeread.corpora.schema import RowValidator, Schema
from closeread.errors import FormatError
from closeread.problems import ProblemList
from closeread.records import AnyParsed, Record, find_repeated, name_problem


def validate_records(
    path: Path | str,
    parsed: AnyParsed,
    schema: Schema,
    definition: str = "document",
    *keys: str,
    find_inconsistencies: Callable[[Sequence[Record]], Iterable[tuple[int, str]]] = lambda records: (),
) -> Sequence[Record]:
    """Return the records of a file or a folder if all of them are valid.

    Args:
        path: the file or the folder, or the name of records in memory, for messages.
        parsed: its content.
        schema, definition: the definition that the records must match.
        keys: the fields whose values must be unique; the first one names a record in messages.
        find_inconsistencies: finds problems that the schema can't express: the index of a record, and its problem.
            Records that break the schema are not passed to it.

    Raises:
        FormatError: something could not be read, a record is invalid, or two records have the same key; all problems
            at once.
    """
    parsed = parsed._replace(records=quote_integers(schema, definition, parsed.records))
    validator = RowValidator(schema, definition)
    rejected = validator.problems(parsed.records)
    problems = ProblemList(parsed.problems)
    problems += (name_problem(parsed, next(iter(keys), ""), problem) for problem in rejected)
    problems += (problem for key in keys for problem in find_repeated(parsed, key, keys[0]))
    numbers: Sequence[int] = range(len(parsed.records))
    valid = parsed.records
    if rejected:
        numbers = [number for number in numbers if validator.accepts(parsed.records[number])]
        valid = [parsed.records[number] for number in numbers]
    problems += (parsed.problem(numbers[index], what) for index, what in find_inconsistencies(valid))
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
    return parsed.records
