"""Submissions: read, validated by the schema, and matched with the gold by id.

All problems of a file are reported at once; only valid files are scored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from closeread import limits
from closeread.corpora.declaration import Corpus
from closeread.corpora.leniency import accept_rows, make_check
from closeread.corpora.objects import name_labels
from closeread.corpora.rules import Rules, load_rules
from closeread.corpora.schema import RowValidator, Spared, load_schema
from closeread.errors import (
    FormatError,
    Problem,
    RequestError,
    SubmissionError,
    describe_problems,
    join_names,
    pluralize,
    quote,
)
from closeread.files import is_empty_folder, text_suffix, write_text
from closeread.formats import SubmissionFile, SubmissionFolder, SubmissionFormat, stored_lines
from closeread.formats.json_lines import SUFFIXES, dump_json_lines, parse_json_lines, pause_garbage_collection
from closeread.formats.stored_lines import StoredRecords, parse_valid
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
from closeread.tasks import find_submission_format
from closeread.wording import name_option

__all__ = [
    "Find",
    "Prepare",
    "Submission",
    "Unite",
    "advise_missing",
    "check_submission_path",
    "drop_advice",
    "dump_submission",
    "read_submission",
    "write_submission",
]


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
    ids = column(gold, corpus.key)
    rules = load_rules(corpus.task)
    path = source if isinstance(source, Path) else "predictions"
    try:
        taken = _open(source, corpus)
        if unite is not None and isinstance(taken, Lines) and taken.n_bytes >= stored_lines.LARGE:
            with suppress(stored_lines.UnfitError):
                stored, united = _store(taken, corpus, ids, find, unite)
                whole = Parsed(stored, range(1, len(stored) + 1), [])
                return Submission(united, (), _describe_oddities(path, rules, whole, gold))
        parsed = _read(taken, corpus, gold)
    except FormatError as error:
        raise SubmissionError(error.source, error.problems) from None
    validator = RowValidator(load_schema(corpus.name), "submission")
    in_memory = isinstance(parsed, ParsedRows)
    accepted, invalid = accept_rows(validator, parsed.records, unsafe=UNSAFE if in_memory else None)
    parsed = parsed._replace(records=accepted)
    problems = ProblemList(parsed.problems)
    problems += (name_problem(parsed, corpus.key, problem) for problem in invalid)
    problems += (problem for key in corpus.unique for problem in find_repeated(parsed, key, corpus.key))
    names = column(parsed.records, corpus.key) if not problems else None
    if names is not None and (names is ids or list(names) == list(ids)):
        aligned = parsed.records if prepare is None else prepare(parsed.records)
        found = () if find is None else find(aligned)
        _raise_problems(path, _add_places(found, corpus.key, ids, parsed, range(len(ids)), {}))
        return Submission(aligned, (), _describe_oddities(path, rules, parsed, gold))
    rows, id_problems = _index_rows(parsed, corpus.key, set(ids))
    absent = tuple(name for name, record in zip(ids, gold, strict=True) if name not in rows and rules.is_scored(record))
    problems += id_problems
    if missing == "error" and len(absent) > _count_unread(parsed):
        problems.append(Problem(_describe_missing(absent, len(ids))))
    # The valid items of rows that break the schema are checked too, so that all problems are reported at once.
    rejected = [n for n in rows.values() if not validator.accepts(parsed.records[n])] if invalid else []
    spared = {
        n: validator.drop_invalid_items(parsed.records[n]) if place < limits.MAX_EXPLAINED else None
        for place, n in enumerate(sorted(rejected))
    }
    numbers = [rows.get(name) for name in ids]
    sound = [None if number is None else _keep_valid_items(number, parsed.records, spared) for number in numbers]
    aligned = sound if prepare is None else prepare(sound)
    found = () if find is None else find(aligned)
    _raise_problems(path, problems + _add_places(found, corpus.key, ids, parsed, numbers, spared))
    return Submission(aligned, absent, _describe_oddities(path, rules, parsed, gold))


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
) -> list[Problem]:
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


def _raise_problems(path: Path | str, problems: Sequence[Problem]) -> None:
    if problems:
        raise SubmissionError(path, sorted(problems, key=lambda problem: problem.order))


def _describe_oddities(path: Path | str, rules: Rules, parsed: AnyParsed, gold: Sequence[Record]) -> tuple[str, ...]:
    """Describe what is unusual about valid rows, with the place."""
    if isinstance(parsed, ParsedFolder):
        notices = parsed.notices
    else:
        notices = [parsed.problem(row, what) for row, what in rules.find_odd_rows(parsed.records, gold)]
    return tuple(describe_problems(str(path), sorted(notices, key=lambda notice: notice.order)))


def check_submission_path(path: Path, corpus: Corpus) -> None:
    """Check that rows can be written to a path, before they are made.

    Raises:
        RequestError: no format has its suffix, or it is a folder that is not empty.
    """
    if not _is_for_folder(path, corpus):
        _find_writer(corpus, text_suffix(path))
    elif path.is_dir() and not is_empty_folder(path):
        raise RequestError(f"{path} is not empty; choose a new folder, or a file name that ends in .jsonl")


def write_submission(path: Path, rows: Sequence[Record], corpus: Corpus) -> None:
    """Write rows to a file, or to a folder if the corpus has such submissions and the path has no suffix.

    Raises:
        RequestError: the folder is not empty, or its format can't express the rows; all problems at once.
        OSError: the file or the folder can't be written.
    """
    check_submission_path(path, corpus)
    if not _is_for_folder(path, corpus):
        write_text(path, dump_submission(rows, corpus, text_suffix(path)))
        return
    try:
        _find_folders(corpus)[0].write(rows, path)
    except ValueError as error:
        raise RequestError(f"{error}; choose a file name that ends in .jsonl") from None


def dump_submission(rows: Sequence[Record], corpus: Corpus, suffix: str) -> str:
    """Return rows as the text of a file: JSON Lines, or the corpus's submission format with that suffix.

    Raises:
        RequestError: no format has that suffix, or the format can't express the rows.
    """
    dump = _find_writer(corpus, suffix)
    try:
        return dump(rows)
    except ValueError as error:
        raise RequestError(f"cannot write {corpus.name} predictions: {error}") from None


def _is_for_folder(path: Path, corpus: Corpus) -> bool:
    return bool(_find_folders(corpus)) and (not path.suffix or path.is_dir())


def _find_writer(corpus: Corpus, suffix: str) -> Callable[[Sequence[Record]], str]:
    """Return what writes rows as the text of a file with a suffix.

    Raises:
        RequestError: no format has it.
    """
    writers: dict[str, Callable[[Sequence[Record]], str]] = {
        one.suffix: one.dump for one in _find_files(corpus) if one.suffix is not None and one.dump is not None
    }
    writers |= dict.fromkeys((*SUFFIXES, ".json", ""), dump_json_lines)
    if suffix not in writers:
        known = [name for name in writers if name]
        if _find_folders(corpus):
            known.append("a folder name without a suffix")
        raise RequestError(
            f"cannot write {corpus.name} predictions with suffix '{suffix}' (choose from: {', '.join(known)})"
        )
    return writers[suffix]


def _find_files(corpus: Corpus) -> list[SubmissionFile]:
    return [one for one in _find_formats(corpus) if isinstance(one, SubmissionFile)]


def _find_folders(corpus: Corpus) -> list[SubmissionFolder]:
    return [one for one in _find_formats(corpus) if isinstance(one, SubmissionFolder)]


def _find_formats(corpus: Corpus) -> list[SubmissionFormat]:
    return [find_submission_format(corpus.task, name) for name in corpus.submission_formats]


def _store(
    lines: Lines, corpus: Corpus, ids: Sequence[str], find: Find | None, unite: Unite
) -> tuple[StoredRecords, Sequence[Record | None]]:
    """Return the rows of a file, which are parsed when they are asked for, and what is made of some at a time.

    Raises:
        UnfitError: the file is no JSON Lines, something may be wrong with a row, or the ids differ from those of the
            gold, or are in another order.
    """
    validator = RowValidator(load_schema(corpus.name), "submission")
    keys: dict[str, list[str]] = {name: [] for name in (corpus.key, *corpus.unique)}
    stored = StoredRecords(lines, partial(parse_valid, unsafe=UNSAFE))

    def validate() -> Iterator[Sequence[Record]]:
        for some in stored.batches():
            if not validator.accepts_all(some):
                raise stored_lines.UnfitError
            for name, values in keys.items():
                values += column(some, name)
            yield some

    if _find_own_format(lines, corpus) is not None:
        raise stored_lines.UnfitError
    with pause_garbage_collection():
        rows = unite(validate(), stored)
    if keys[corpus.key] != list(ids) or any(len(set(values)) < len(values) for values in keys.values()):
        raise stored_lines.UnfitError
    if find is not None and next(iter(find(rows)), None) is not None:
        raise stored_lines.UnfitError
    return stored, rows


def _open(source: Path | Sequence[Record], corpus: Corpus) -> Path | Lines | Sequence[Record]:
    """Return the lines of a file; a folder in one of the corpus's formats and rows in memory as they are."""
    if not isinstance(source, Path) or (_find_folders(corpus) and source.is_dir()):
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
    return _find_folders(corpus)[0].read(source, gold)


def _find_own_format(lines: Lines, corpus: Corpus) -> SubmissionFile | None:
    """Return the format of the corpus's own that a file is in; None if it is none of them."""
    # A blank line is invalid in every format, so it must not decide the format of the file.
    first = next((line for line in lines if line.strip()), "")
    return next((one for one in _find_files(corpus) if one.recognises(first)), None)


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
