"""What systems send: read, judged by the schema, and joined with the gold by id.

Every problem of a file is reported at once; nothing is scored before a file has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from closeread.corpora.declaration import Corpus
from closeread.corpora.rules import Rules, load_rules
from closeread.corpora.schema import WORDED, RowValidator, Spared, load_schema
from closeread.errors import FormatError, Problem, RequestError, SubmissionError, join_names, quote
from closeread.files import write_text
from closeread.formats import SubmissionFile, SubmissionFolder, SubmissionFormat
from closeread.formats.json_lines import SUFFIXES, dump_json_lines, parse_json_lines
from closeread.formats.text import read_lines
from closeread.records import (
    AnyParsed,
    Parsed,
    ParsedFolder,
    ParsedRows,
    Record,
    as_columns,
    column,
    find_repeated,
    name_problem,
)
from closeread.tasks import find_submission_format


@dataclass(frozen=True)
class Submission:
    """A system's output, aligned with the gold.

    Attributes:
        rows: the row of every gold id, in the gold's order; None where the system sent none.
        missing: the gold ids without a row, but for gold that is not scored.
        notices: what is odd about it, with the place where it is.
    """

    rows: Sequence[Record | None]
    missing: tuple[str, ...]
    notices: tuple[str, ...] = ()


Find = Callable[[Sequence[Record | None]], Iterable[Problem]]
"""What no schema can say of rows that fit it, None standing for no row; problems name the row by its number."""

Ready = Callable[[Sequence[Record | None]], Sequence[Record | None]]
"""What makes aligned rows ready to be scored, once."""


def read_submission(
    source: Path | Sequence[Record],
    corpus: Corpus,
    gold: Sequence[Record],
    missing: str = "error",
    find: Find | None = None,
    ready: Ready | None = None,
) -> Submission:
    """Read, check and align a file or a folder of predictions.

    Args:
        source: the file: JSON Lines, or one of the corpus's own submission formats; or a folder, where that is one;
            or rows in memory.
        corpus: the declaration whose schema the rows must fit.
        gold: the gold records.
        missing: "error" to refuse a file that lacks ids; with "empty" and "skip" they are allowed here, and
            the procedure decides what they cost.
        find: what else may be wrong with the rows, aligned with the gold.
        ready: makes these rows what `find` and the procedure take.

    Raises:
        SubmissionError: the file can't be read, or holds anything that is wrong; all problems at once.
    """
    ids = column(gold, corpus.key)
    rules = load_rules(corpus.procedure)
    path = source if isinstance(source, Path) else "predictions"
    try:
        parsed = _parsed(source, corpus, gold)
    except FormatError as error:
        raise SubmissionError(error.source, error.problems) from None
    validator = RowValidator(load_schema(corpus.name), "submission")
    unfit = validator.problems(parsed.records)
    problems = parsed.problems + [name_problem(parsed, corpus.key, problem) for problem in unfit]
    problems += [problem for key in corpus.unique for problem in find_repeated(parsed, key)]
    if not problems and list(column(parsed.records, corpus.key)) == list(ids):
        aligned = parsed.records if ready is None else ready(parsed.records)
        found = () if find is None else find(aligned)
        _refuse(path, _located(found, corpus.key, ids, parsed, range(len(ids)), {}))
        return Submission(aligned, (), _notices(path, rules, parsed, gold))
    rows, id_problems = _by_id(parsed, corpus.key, set(ids))
    absent = tuple(name for name, record in zip(ids, gold, strict=True) if name not in rows and rules.is_scored(record))
    problems += id_problems
    if missing == "error" and len(absent) > _unread(parsed):
        problems.append(Problem(_missing_in_words(absent, len(ids))))
    # Rows that break the schema are judged by what is left of them, so that all problems are told at once.
    rejected = enumerate(dict.fromkeys(problem.row or 0 for problem in unfit))
    spared = {n: validator.spared(parsed.records[n]) if place < WORDED else None for place, n in rejected}
    numbers = [rows.get(name) for name in ids]
    sound = [None if number is None else _sound(number, parsed.records, spared) for number in numbers]
    aligned = sound if ready is None else ready(sound)
    found = () if find is None else find(aligned)
    _refuse(path, problems + _located(found, corpus.key, ids, parsed, numbers, spared))
    return Submission(aligned, absent, _notices(path, rules, parsed, gold))


def _unread(parsed: AnyParsed) -> float:
    """How many rows at most could not be read: they may be those that are missing.

    Of a file that is wrong as a whole, or of which nothing can be read, that is not known.
    """
    places = {(problem.file, problem.line) for problem in parsed.problems}
    return math.inf if (None, None) in places or (places and not parsed.records) else len(places)


def _sound(number: int, rows: Sequence[Record], spared: Mapping[int, Spared | None]) -> Record | None:
    """A row, or what is left of it where it breaks the schema; None where nothing is."""
    if number not in spared:
        return rows[number]
    left = spared[number]
    return None if left is None else left.row


def _located(
    found: Iterable[Problem],
    key: str,
    ids: Sequence[str],
    parsed: AnyParsed,
    numbers: Sequence[int | None],
    spared: Mapping[int, Spared | None],
) -> list[Problem]:
    """Problems of aligned rows, of which these are the ids and the numbers in the file, with their place there."""
    problems = []
    for problem in found:
        row = problem.row or 0
        number = numbers[row]
        left = None if number is None else spared.get(number)
        path = problem.path if left is None else left.original_path(problem.path)
        words = f"{key} {quote(ids[row])}: {problem._replace(path=path).message}"
        problems.append(Problem(words) if number is None else parsed.problem(number, words))
    return problems


def _refuse(path: Path | str, problems: Sequence[Problem]) -> None:
    if problems:
        raise SubmissionError(path, sorted(problems, key=lambda problem: problem.order))


def _notices(path: Path | str, rules: Rules, parsed: AnyParsed, gold: Sequence[Record]) -> tuple[str, ...]:
    """What is odd about valid rows, each with its place."""
    if isinstance(parsed, ParsedFolder):
        notices = parsed.notices
    else:
        notices = [parsed.problem(row, what) for row, what in rules.find_odd_rows(parsed.records, gold)]
    return tuple(notice.at(str(path)) for notice in sorted(notices, key=lambda notice: notice.order))


def write_submission(path: Path, rows: Sequence[Record], corpus: Corpus) -> None:
    """Write rows as a file (`dump_submission`), or as a folder where the corpus has such and the path has no suffix.

    Raises:
        RequestError: the folder's format can't express the rows, or the folder holds other files.
        OSError: the file or the folder can't be written to.
    """
    folders = _folders(corpus)
    if not folders or (path.suffix and not path.is_dir()):
        write_text(path, dump_submission(rows, corpus, path.suffix.lower()))
        return
    if path.is_dir() and any(not file.name.startswith(".") for file in path.iterdir()):
        raise RequestError(f"{path} is not empty; name a new folder to write, or a file that ends in .jsonl")
    try:
        folders[0].write(rows, path)
    except ValueError as error:
        raise RequestError(f"{error}; name a file that ends in .jsonl") from None


def dump_submission(rows: Sequence[Record], corpus: Corpus, suffix: str) -> str:
    """The rows as the text of a file: in a submission format of the corpus by its suffix, or JSON Lines.

    Raises:
        RequestError: the suffix is of no such format.
    """
    writers: dict[str, Callable[[Sequence[Record]], str]] = {
        one.suffix: one.dump for one in _files(corpus) if one.suffix is not None and one.dump is not None
    }
    writers |= dict.fromkeys((*SUFFIXES, ".json", ""), dump_json_lines)
    if suffix not in writers:
        known = [name for name in writers if name]
        if _folders(corpus):
            known.append("a folder, named without such an ending")
        raise RequestError(f"{corpus.name} is not written as '{suffix}' (but as: {', '.join(known)})")
    return writers[suffix](rows)


def _files(corpus: Corpus) -> list[SubmissionFile]:
    return [one for one in _submission_formats(corpus) if isinstance(one, SubmissionFile)]


def _folders(corpus: Corpus) -> list[SubmissionFolder]:
    return [one for one in _submission_formats(corpus) if isinstance(one, SubmissionFolder)]


def _submission_formats(corpus: Corpus) -> list[SubmissionFormat]:
    return [find_submission_format(corpus.procedure, name) for name in corpus.submission_formats]


def _parsed(path: Path | Sequence[Record], corpus: Corpus, gold: Sequence[Record]) -> AnyParsed:
    if not isinstance(path, Path):
        return ParsedRows(path, [])
    if path.is_dir():
        for folder in _folders(corpus):
            return folder.read(path, gold)
    return _parse(read_lines(path), corpus, gold)


def _parse(lines: Sequence[str], corpus: Corpus, gold: Sequence[Record]) -> Parsed:
    # A blank line is wrong in any format: it must not decide which one the file is taken for.
    first = next((line for line in lines if line.strip()), "")
    for one in _files(corpus):
        if one.recognises(first):
            return one.parse(lines, gold)
    return parse_json_lines(lines)


def _by_id(parsed: AnyParsed, key: str, known: set[str]) -> tuple[dict[str, int], list[Problem]]:
    """The number of the row of every id, and ids that are unknown or come again."""
    rows: dict[str, int] = {}
    problems = []
    for number, name in enumerate(as_columns(parsed.records, [key])[key]):
        if not isinstance(name, str):
            continue  # the schema has said so
        if name not in known:
            problems.append(parsed.problem(number, f"{key} {quote(name)} is not in the gold"))
        elif name in rows:
            found = f"{key} {quote(name)} was given {parsed.place(rows[name])} already"
            problems.append(parsed.problem(number, found))
        else:
            rows[name] = number
    return rows, problems


def _missing_in_words(absent: Sequence[str], total: int) -> str:
    found = f"no row for {len(absent):,} of the {total:,} ids of the gold: {join_names(absent)}"
    return f"{found}; needed: one for each, unless missing is empty or skip"
