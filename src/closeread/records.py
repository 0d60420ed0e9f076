"""Records, the data that readers return and everything else works with.

A *record* is one gold unit, or one row of a system's predictions: JSON values under the field names of the corpus's
schema.  It is a plain dict, so that a field added to the schema needs no Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Protocol, runtime_checkable

from closeread.exceptions import FormatError, Problem, ProblemList, quote, quote_json

Record = dict[str, Any]


@runtime_checkable
class Table(Protocol):
    """A table with named columns: a data frame of pandas or polars, an Arrow table, a `datasets.Dataset`."""

    def __len__(self) -> int: ...
    def __getitem__(self, name: str, /) -> object: ...


FileOrRows = Annotated[str | Path | Table | Iterable[object], "a file, a folder, rows or a table"]
"""A file, a folder, or objects in memory: rows, a table, or values by name, such as clusters by document."""

OptionValue = Annotated[str | float | bool | Path, "a string, a number or a path"]

IntervalKind = Literal["percentile", "bca"]
"""What the ends of an interval are: percentiles of the resamples, or bias-corrected and accelerated ones."""


class ColumnRecords(Sequence[Record]):
    """Records stored as columns of the same length, one or more; each becomes a dict when accessed."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self.columns = columns
        self._length = len(next(iter(columns.values())))

    @classmethod
    def from_rows(cls, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> ColumnRecords:
        """Return the records with these fields, from their values in the order of the fields."""
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        return cls(dict(zip(names, columns, strict=True)))

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        selected = {name: values[index] for name, values in self.columns.items()}
        return ColumnRecords(selected) if isinstance(index, slice) else selected

    def __iter__(self) -> Iterator[Record]:
        names = tuple(self.columns)
        return (
            dict(zip(names, values, strict=True))
            for values in zip(*self.columns.values(), strict=True)
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def column(records: Sequence[Record], name: str) -> Sequence[Any]:
    """Return the values of a field that every record has, in order."""
    if isinstance(records, ColumnRecords):
        return records.columns[name]
    return [record[name] for record in records]


def as_columns(records: Sequence[Record], names: Iterable[str]) -> dict[str, Sequence[Any]]:
    """Return the fields as columns, with None where a record has no value, or is none."""
    if isinstance(records, ColumnRecords):
        return {name: records.columns.get(name, [None] * len(records)) for name in names}
    # asking for the class is ten times as fast as asking for the protocol, and nearly all records are dicts
    are_mappings = [type(record) is dict or isinstance(record, Mapping) for record in records]
    columns: dict[str, Sequence[Any]] = {}
    for name in names:
        columns[name] = [
            record.get(name) if is_mapping else None
            for record, is_mapping in zip(records, are_mappings, strict=True)
        ]
    return columns


class Parsed(NamedTuple):
    """The records of a file, a folder or memory that could be read, all problems, and notes on a folder.

    Attributes:
        records: those that could be read.
        places: the line, from 1, where each begins, or its file in the folder; None in memory.
        problems: why others could not.
        notices: what was repaired or left out; None if it is not a folder.
        numbers: the numbers that the records have in memory, where some were left out; None if there are all.
        oddities: what else is unusual.
        is_checked: whether the reader has checked all that the schema says, so that nobody need do so again.
    """

    records: Sequence[Record]
    places: Sequence[Any] | None
    problems: list[Problem]
    notices: list[Problem] | None = None
    numbers: Sequence[int] | None = None
    oddities: Sequence[Problem] = ()
    is_checked: bool = False

    @property
    def lines(self) -> Sequence[Any]:
        """The lines, or files, of the records."""
        return self.places or ()

    def problem(self, index: int, message: str) -> Problem:
        """Return a problem of a record."""
        if self.places is None:
            return Problem(message, record=f"row {self._number(index)}")
        place = self.places[index]
        if isinstance(place, str):
            return Problem(message, file=place)
        return Problem(message, place)

    def _number(self, index: int) -> int:
        return index if self.numbers is None else self.numbers[index]

    def place(self, index: int) -> str:
        """Describe where a record is."""
        if self.places is None:
            return f"in row {self._number(index)}"
        place = self.places[index]
        return f"in {place}" if isinstance(place, str) else f"on line {place}"


def name_problem(parsed: Parsed, key: str, problem: Problem) -> Problem:
    """Return a problem of a record (`Problem.row`) with its line or file, and the record's name if it has one."""
    record = parsed.records[problem.row or 0]
    name = record.get(key) if isinstance(record, dict) else None
    is_called = isinstance(name, str) and problem.path[:1] != (key,)
    return place_problem(parsed, problem, f"{key} {quote(str(name))}" if is_called else "")


def place_problem(parsed: Parsed, problem: Problem, name: str = "") -> Problem:
    """Return a problem of a record (`Problem.row`) with its line or file, and the name of the record."""
    placed = parsed.problem(problem.row or 0, problem.message)
    names = ": ".join(filter(None, (placed.record, problem.record, name)))
    return problem._replace(line=placed.line, file=placed.file, row=None, record=names)


def find_repeated(parsed: Parsed, key: str, id_key: str) -> list[Problem]:
    """Find records that have the same value in a field as an earlier record.

    Other fields than the id may be the same in records of different splits, whose ids begin with the split and a slash.
    """
    columns = as_columns(parsed.records, {key, id_key})
    names = columns[key]
    if set(map(type, names)) == {str} and len(set(names)) == len(names):
        return []
    splits = ["" if key == id_key else str(name).rpartition("/")[0] for name in columns[id_key]]
    first_index: dict[tuple[str, str], int] = {}
    problems = ProblemList()
    for index, (split, name) in enumerate(zip(splits, names, strict=True)):
        if not isinstance(name, str):
            continue
        first = first_index.setdefault((split, name), index)
        if first != index:
            message = f"duplicate {key} {quote(name)} (first {parsed.place(first)})"
            problems.append(parsed.problem(index, message))
    return problems


@dataclass(frozen=True)
class UserFiles:
    """A user's own files of a corpus, and how to read them; nothing is given by default.

    Attributes:
        data_dir: the folder with the corpus's files; None to look in the usual places.
        folders: by name, those of its folders that are elsewhere; None for one to do without.
        options: options of reading that are not the defaults.
    """

    data_dir: Path | None = None
    folders: Mapping[str, Path | None] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.data_dir is not None or bool(self.folders) or bool(self.options)


NO_FILES = UserFiles()
"""Nothing is given, so that files are looked for in the usual places."""


class Origin(NamedTuple):
    """Where gold comes from, for reports.

    Attributes:
        corpus: the corpus whose declaration it follows; the procedure if it follows none.
        config: the part of the corpus; None, as the split, for the user's own gold.
        released: whether it is the released gold; None if there is no release.
    """

    corpus: str
    config: str | None
    split: str | None
    released: bool | None


def check_format(content: object, newest: int, source: object) -> None:
    """Check the number of a file's format, from 1 to the newest; a JSON value without a number has the format 1."""
    number = content.get("format", 1) if isinstance(content, dict) else 1
    is_newer = type(number) is int and number > newest
    if type(number) is not int or number < 1 or is_newer:
        expected = "expected 1" if newest == 1 else f"expected 1 to {newest}"
        advice = ": it was written by a newer closeread; update closeread" if is_newer else ""
        raise FormatError(
            source, [Problem(f"has format {quote_json(number, 60)} ({expected}){advice}")]
        )
