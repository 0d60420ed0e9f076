"""Submissions: read, validated by the schema, and matched with the gold by id.

All problems of a file are reported at once; only valid files are scored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from closeread import limits
from closeread.corpus.declaration import Corpus
from closeread.corpus.leniency import accept_rows, make_check
from closeread.corpus.objects import name_labels
from closeread.corpus.rules import Rules, load_rules
from closeread.corpus.schema import RowValidator, Spared, load_schema
from closeread.corpus.submission_formats import find_files, find_folders
from closeread.exceptions import (
    FormatError,
    Problem,
    SubmissionError,
    describe_problems,
    join_names,
    pluralize,
    quote,
)
from closeread.formats import SubmissionFile, stored_lines
from closeread.formats.json_lines import parse_json_lines, pause_garbage_collection
from closeread.formats.stored_lines import StoredRecords, parse_valid
from closeread.formats.stored_text import HeldText, Text, find_begin, iterate_lines, open_large
from closeread.formats.text import UNSAFE, Lines, read_lines
from closeread.problems import ProblemList, count_problems
from closeread.records import (
    AnyParsed,
    ColumnRecords,
    Parsed,
    ParsedFolder,
    ParsedRows,
    Record,
    as_columns,
    column,
    find_repeated,
    name_problem,
    place_problem,
)
from closeread.wording import name_option


def advise_missing() -> str:
    """Return what commands with that option advise if predictions are missing."""
    return f", or use {name_option('missing', 'empty', 'skip')}"


@dataclass(frozen=True)
class Submission:
    """A system's output, aligned with the gold.

    Attributes:
        rows: the row of every gold id, in the order of the gold; None for ids without a row.
        missing: the gold ids without a row, except those that are not scored.
        notices: what is unusual about it, with the place.
    """

    rows: Sequence[Record | None]
    missing: tuple[str, ...]
    notices: tuple[str, ...] = ()


Find = Callable[[Sequence[Record | None]], Iterable[Problem]]
"""Finds problems of aligned rows that the schema can't express; None is a missing row.  Problems have its index."""

Prepare = Callable[[Sequence[Record | None]], Sequence[Record | None]]
"""Converts aligned rows for scoring."""


Unite = Callable[[Iterable[Sequence[Record]], Sequence[Record]], Sequence[Record | None]]
"""Converts the rows of a file for scoring, given some at a time, and all of them, which are parsed when asked for."""


def read_submission(
    source: Path | Sequence[Record],
    corpus: Corpus,
    gold: Sequence[Record],
    missing: str = "error",
    find: Find | None = None,
    prepare: Prepare | None = None,
    unite: Unite | None = None,
) -> Submission:
    """Read, validate and align predictions.

    Args:
        source: a file of JSON Lines or in one of the corpus's own submission formats; a folder, if that is one of them;
            or rows in memory.
        corpus: the declaration whose schema the rows must match.
        gold: the gold records.
        missing: "error" to refuse a file without predictions for some ids; "empty" and "skip" accept it.
        find: finds further problems of the rows, aligned with the gold.
        prepare: converts these rows for `find` and the procedure.
        unite: converts the rows of a large file as `prepare` does; None if these are read as those of others.

    Raises:
        SubmissionError: the file can't be read or is invalid; all problems at once.
    """
    path = source if isinstance(source, Path) else "predictions"
    alignment = _Alignment(path, corpus, gold, missing, find, prepare)
    try:
        text: Text | None = open_large(source) if unite is not None and isinstance(source, Path) else None
        taken = _open(source, corpus) if text is None else None
        if isinstance(taken, Lines):
            text = HeldText(taken.data)
        if unite is not None and text is not None and text.size >= stored_lines.LARGE:
            with suppress(stored_lines.UnfitError):
                return alignment.take_stored(text, unite)
        parsed = _read(_open(source, corpus) if taken is None else taken, corpus, gold)
    except FormatError as error:
        raise SubmissionError(error.source, error.problems) from None
    return alignment.take(parsed)


@dataclass(frozen=True)
class _Alignment:
    """Validation of rows, and their alignment with the gold.

    Attributes:
        path: what to call their source in messages.
        corpus, gold, missing, find, prepare: see `read_submission`.
    """

    path: Path | str
    corpus: Corpus
    gold: Sequence[Record]
    missing: str
    find: Find | None
    prepare: Prepare | None

    @cached_property
    def ids(self) -> Sequence[str]:
        """The ids of the gold, in order."""
        return column(self.gold, self.corpus.key)

    @cached_property
    def rules(self) -> Rules:
        """The rules of the task."""
        return load_rules(self.corpus.task)

    @cached_property
    def validator(self) -> RowValidator:
        """The validator of rows."""
        return RowValidator(load_schema(self.corpus.name), "submission")

    def take_stored(self, text: Text, unite: Unite) -> Submission:
        """Take the rows of a large file.

        Raises:
            UnfitError: the file is no JSON Lines, something may be wrong with a row, or the ids differ from those of
                the gold, or are in another order.
        """
        try:
            if _find_own_format(map(bytes.decode, iterate_lines(text, find_begin(text))), self.corpus) is not None:
                raise stored_lines.UnfitError
        except UnicodeDecodeError:
            raise stored_lines.UnfitError from None
        stored = StoredRecords(text, partial(parse_valid, unsafe=UNSAFE))
        keys: dict[str, list[str]] = {name: [] for name in (self.corpus.key, *self.corpus.unique)}
        with pause_garbage_collection():
            rows = unite(self._validate(stored, keys), stored)
        if keys[self.corpus.key] != list(self.ids) or any(len(set(own)) < len(own) for own in keys.values()):
            raise stored_lines.UnfitError
        if self.find is not None and next(iter(self.find(rows)), None) is not None:
            raise stored_lines.UnfitError
        return Submission(rows, (), self._describe_oddities(Parsed(stored, range(1, len(stored) + 1), [])))

    def _validate(self, stored: StoredRecords, keys: Mapping[str, list[str]]) -> Iterator[Sequence[Record]]:
        """Yield some rows at a time, and add their values to the lists of those of each key."""
        for some in stored.batches():
            if not self.validator.accepts_all(some):
                raise stored_lines.UnfitError
            for name, values in keys.items():
                values += column(some, name)
            yield some

    def take(self, parsed: AnyParsed) -> Submission:
        """Take any rows.

        Raises:
            SubmissionError: they are invalid; all problems at once.
        """
        in_memory = isinstance(parsed, ParsedRows)
        accepted, invalid = accept_rows(self.validator, parsed.records, unsafe=UNSAFE if in_memory else None)
        parsed = parsed._replace(records=accepted)
        key, ids = self.corpus.key, self.ids
        problems = ProblemList(parsed.problems)
        problems += (name_problem(parsed, key, problem) for problem in invalid)
        problems += (problem for unique in self.corpus.unique for problem in find_repeated(parsed, unique, key))
        names = column(parsed.records, key) if not problems else None
        if names is not None and (names is ids or list(names) == list(ids)):
            rows = self._convert(parsed.records, parsed, problems, range(len(ids)), {})
            return Submission(rows, (), self._describe_oddities(parsed))
        return self._align(parsed, problems, all_valid=not invalid)

    def _align(self, parsed: AnyParsed, problems: ProblemList, *, all_valid: bool) -> Submission:
        """Take rows in another order than that of the gold, or with problems."""
        rows, id_problems = _index_rows(parsed, self.corpus.key, set(self.ids))
        expected = zip(self.ids, self.gold, strict=True)
        absent = tuple(name for name, record in expected if name not in rows and self.rules.is_scored(record))
        problems += id_problems
        if self.missing == "error" and len(absent) > _count_unread(parsed):
            problems.append(Problem(_describe_missing(absent, len(self.ids))))
        # The valid items of rows that break the schema are checked too, so that all problems are reported at once.
        rejected = [] if all_valid else [n for n in rows.values() if not self.validator.accepts(parsed.records[n])]
        spared = {
            n: self.validator.drop_invalid_items(parsed.records[n]) if place < limits.MAX_EXPLAINED else None
            for place, n in enumerate(sorted(rejected))
        }
        numbers = [rows.get(name) for name in self.ids]
        sound = [None if number is None else _keep_valid_items(number, parsed.records, spared) for number in numbers]
        aligned = self._convert(sound, parsed, problems, numbers, spared)
        return Submission(aligned, absent, self._describe_oddities(parsed))

    def _convert(
        self,
        rows: Sequence[Record | None],
        parsed: AnyParsed,
        problems: ProblemList,
        numbers: Sequence[int | None],
        spared: Mapping[int, Spared | None],
    ) -> Sequence[Record | None]:
        """Convert aligned rows, given their numbers in the file, unless there are problems.

        Raises:
            SubmissionError: there are; all of them at once.
        """
        aligned = rows if self.prepare is None else self.prepare(rows)
        found = () if self.find is None else self.find(aligned)
        problems += _add_places(found, self.corpus.key, self.ids, parsed, numbers, spared)
        if problems:
            raise SubmissionError(self.path, sorted(problems, key=lambda problem: problem.order))
        return aligned

    def _describe_oddities(self, parsed: AnyParsed) -> tuple[str, ...]:
        """Describe what is unusual about valid rows, with the place."""
        if isinstance(parsed, ParsedFolder):
            notices = parsed.notices
        else:
            notices = [parsed.problem(row, what) for row, what in self.rules.find_odd_rows(parsed.records, self.gold)]
        return tuple(describe_problems(str(self.path), sorted(notices, key=lambda notice: notice.order)))


def _count_unread(parsed: AnyParsed) -> float:
    """Return how many rows at most could not be read; these may be the missing ones.

    The number is unknown if the file is invalid as a whole or no row can be read.
    """
    places = {(problem.file, problem.line) for problem in parsed.problems}
    only_counted = count_problems(parsed.problems) - len(parsed.problems)
    return math.inf if (None, None) in places or (places and not parsed.records) else len(places) + only_counted


def _keep_valid_items(number: int, rows: Sequence[Record], spared: Mapping[int, Spared | None]) -> Record | None:
    """Return a row without the items that break the schema; None if nothing is left."""
    if number not in spared:
        return rows[number]
    left = spared[number]
    return None if left is None else left.row


def _add_places(
    found: Iterable[Problem],
    key: str,
    ids: Sequence[str],
    parsed: AnyParsed,
    numbers: Sequence[int | None],
    spared: Mapping[int, Spared | None],
) -> ProblemList:
    """Add their place in the file to problems of aligned rows, given the rows' ids and numbers in the file."""
    problems = ProblemList()
    for problem in found:
        row = problem.row or 0
        number = numbers[row]
        left = None if number is None else spared.get(number)
        path = problem.path if left is None else left.original_path(problem.path)
        own, name = problem._replace(path=path, row=number), f"{key} {quote(ids[row])}"
        problems.append(own._replace(record=name) if number is None else place_problem(parsed, own, name))
    return problems


def _open(source: Path | Sequence[Record], corpus: Corpus) -> Path | Lines | Sequence[Record]:
    """Return the lines of a file; a folder in one of the corpus's formats and rows in memory as they are."""
    if not isinstance(source, Path) or (find_folders(corpus) and source.is_dir()):
        return source
    return read_lines(source)


def _read(source: Path | Lines | Sequence[Record], corpus: Corpus, gold: Sequence[Record]) -> AnyParsed:
    if isinstance(source, Lines):
        return _parse(source, corpus, gold)
    if not isinstance(source, Path):
        rows = name_labels(source, corpus.name, "submission")
        if isinstance(rows, ColumnRecords) and corpus.key not in rows.columns:
            found = f"has no column {quote(corpus.key)} (columns: {', '.join(map(quote, map(str, rows.columns)))})"
            raise FormatError("predictions", [Problem(found)])
        return ParsedRows(rows, [])
    return find_folders(corpus)[0].read(source, gold)


def _find_own_format(lines: Iterable[str], corpus: Corpus) -> SubmissionFile | None:
    """Return the format of the corpus's own that a file is in; None if it is none of them."""
    # A blank line is invalid in every format, so it must not decide the format of the file.
    first = next((line for line in lines if line.strip()), "")
    return next((one for one in find_files(corpus) if one.recognises(first)), None)


def _parse(lines: Lines, corpus: Corpus, gold: Sequence[Record]) -> Parsed:
    own = _find_own_format(lines, corpus)
    if own is not None:
        return own.parse(lines, gold)
    return parse_json_lines(lines, accepts=make_check(load_schema(corpus.name), "submission"))


def _index_rows(parsed: AnyParsed, key: str, known: set[str]) -> tuple[dict[str, int], list[Problem]]:
    """Return the index of the row of every id, and problems for unknown and duplicate ids."""
    rows: dict[str, int] = {}
    problems = ProblemList()
    for number, name in enumerate(as_columns(parsed.records, [key])[key]):
        if not isinstance(name, str):
            continue  # the schema reports it
        if name not in known:
            problems.append(parsed.problem(number, f"{key} {quote(name)} is not in the gold"))
        elif name in rows:
            found = f"duplicate {key} {quote(name)} (first {parsed.place(rows[name])})"
            problems.append(parsed.problem(number, found))
        else:
            rows[name] = number
    return rows, problems


def _describe_missing(absent: Sequence[str], total: int) -> str:
    have = "has" if len(absent) == 1 else "have"
    found = f"{len(absent):,} of {pluralize(total, 'id')} {have} no prediction: {join_names(absent)}"
    return f"{found}. Add {'it' if len(absent) == 1 else 'them'}{advise_missing()}"


def drop_advice(problems: Sequence[Problem]) -> list[Problem]:
    """Return problems without the advice to use options that are not there, or not the submitter's to choose."""
    return [problem._replace(what=problem.what.removesuffix(advise_missing())) for problem in problems]
