"""Records that a reader found, judged by their schema and by what no schema can say: all of them, or one error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from closeread.corpora.schema import RowValidator, Schema
from closeread.errors import FormatError
from closeread.records import AnyParsed, Record, find_repeated, name_problem


def judge(
    path: Path | str,
    parsed: AnyParsed,
    schema: Schema,
    definition: str = "document",
    *keys: str,
    judge: Callable[[Sequence[Record]], Iterable[tuple[int, str]]] = lambda records: (),
) -> Sequence[Record]:
    """The records of a file or a folder, or one error with everything that is wrong with it.

    Args:
        path: the file or the folder, or what to call records in memory, for the message.
        parsed: what a reader found in it.
        schema, definition: what the records must fit.
        keys: the fields that name a record, each of which no two may share.
        judge: what no schema can say of records that fit it: the number of each that is wrong, and what is.

    Raises:
        FormatError: something could not be read, a record breaks the schema or is judged wrong, or two records share
            a name.
    """
    rejected = RowValidator(schema, definition).problems(parsed.records)
    problems = parsed.problems + [name_problem(parsed, next(iter(keys), ""), problem) for problem in rejected]
    problems += [problem for key in keys for problem in find_repeated(parsed, key)]
    unfit = {problem.row for problem in rejected}
    numbers = [number for number in range(len(parsed.records)) if number not in unfit]
    fit = [parsed.records[number] for number in numbers] if unfit else parsed.records
    problems += [parsed.problem(numbers[index], what) for index, what in judge(fit)]
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
    return parsed.records
