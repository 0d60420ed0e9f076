"""Submissions: read, validated by the schema, matched with the gold by id, and written.

All problems of a file are reported at once; only valid files are scored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from closeread import limits
from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import Gold, read_corpus_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.objects import name_labels
from closeread.corpus.schema import RowValidator, Spared, load_schema
from closeread.corpus.validation import Rules, accept_rows, load_rules
from closeread.counts.procedure import GoldSpec, Inconsistency, Options, System
from closeread.exceptions import (
    FormatError,
    Problem,
    ProblemList,
    RequestError,
    SubmissionError,
    describe_problems,
    join_names,
    pluralize,
    quote,
)
from closeread.files import is_empty_folder, text_suffix, write_text
from closeread.formats import SubmissionFile, SubmissionFolder
from closeread.formats.json_lines import SUFFIXES, dump_json_lines, parse_json_lines
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import (
    AnyParsed,
    ColumnRecords,
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

if TYPE_CHECKING:
    import pyarrow as pa

    from closeread.counts.table import CountTable

MAGIC = b"PAR1"
"""The first bytes of a Parquet file."""

Rows = Sequence[Record | None]
"""A system's row for each gold record; None where it has none."""


@dataclass(frozen=True)
class CorpusSides:
    """Gold of a corpus or of a file in its format, and a system's rows, one for each gold record.

    Attributes:
        unit: the field of a gold record with the name of its unit; None if that is the corpus's key.
        check: finds problems of both sides that the schema can't express: takes `gold` and `system`, aligned rows, and
            all options by name; None if there are none.  It must cope with gold records that have nothing but the
            corpus's key, for `check_form`.
        to_columns: converts a system's rows for `check` and `Procedure.count`; None if they take the rows as they are.
    """

    unit: str | None = None
    check: Callable[..., Iterable[Inconsistency]] | None = None
    to_columns: Callable[[Rows], Rows] | None = None

    @property
    def key_first(self) -> bool:
        """False: gold belongs to a corpus or follows its format."""
        return False

    def read_gold(self, place: GoldSpec, options: Options) -> Gold:
        """Read gold."""
        return read_corpus_gold(place)

    def wrap_gold(self, records: Sequence[Record], corpus: str | None) -> Gold:
        """Wrap gold records in memory that are already validated."""
        if corpus is None:
            raise RequestError("gold records in memory need the name of their corpus")
        return Gold(load_corpus(corpus), None, None, records, released=False)

    def pack(self, definition: str, rows: Sequence[object]) -> None:
        """Return None: rows are validated as they are."""

    def read_system(self, gold: Gold, source: Path | Sequence[Record], options: Options) -> System:
        """Read a submission, and align it with gold by id."""

        def check(rows: Rows) -> Iterator[Problem]:
            for one in self.validate(gold.records, rows, options):
                if one.side == "system":
                    yield one.problem

        missing = options.get("missing", "error")
        return read_submission(source, gold.corpus, gold.records, missing, check, self.to_columns)

    def check_form(self, corpus: str | None, names: Sequence[str], source: Path, options: Options) -> None:
        """Check a submission without gold, of which only the ids are known."""
        declaration = load_corpus(corpus or "")
        known = [{declaration.key: name} for name in names]
        self.read_system(Gold(declaration, None, None, known, released=False), source, options)

    def validate(self, gold: Sequence[Record], system: Rows, options: Options) -> Iterable[Inconsistency]:
        """Find problems of both sides that the schema can't express."""
        return () if self.check is None else self.check(gold=gold, system=system, **options)

    def names(self, gold: Gold) -> Sequence[str]:
        """Return the unit of each gold record."""
        names: Sequence[str] = column(gold.records, self.unit or gold.corpus.key)
        return names

    def digests(self, gold: Gold, options: Options) -> Mapping[str, bytes]:
        """Return the sha256 of each unit's gold, by the unit's name."""
        return gold.digests(self.unit or gold.corpus.key)

    def remarks(self, gold: Gold, system: System, options: Options, table: CountTable | None = None) -> Iterable[str]:
        """Return no notices."""
        return ()


def read_submission(
    source: Path | Sequence[Record],
    corpus: Corpus,
    gold: Sequence[Record],
    missing: str = "error",
    check: Callable[[Rows], Iterable[Problem]] | None = None,
    to_columns: Callable[[Rows], Rows] | None = None,
) -> System:
    """Read, validate and align predictions.

    Args:
        source: a file of JSON Lines or in one of the corpus's own submission formats; a folder, if that is one of them;
            or rows in memory.
        corpus: the declaration whose schema the rows must match.
        gold: the gold records.
        missing: "error" to refuse a file without predictions for some ids; "empty" and "skip" accept it.
        check: finds problems of the rows, aligned with the gold, that the schema can't express.
        to_columns: converts these rows for `check` and the procedure.

    Raises:
        SubmissionError: the file can't be read or is invalid; all problems at once.
    """
    path = source if isinstance(source, Path) else "predictions"
    try:
        parsed = _parse(source, corpus, gold)
    except FormatError as error:
        raise SubmissionError(error.source, error.problems) from None
    return _Alignment(path, corpus, gold, missing, check, to_columns).align(parsed)


def _parse(source: Path | Sequence[Record], corpus: Corpus, gold: Sequence[Record]) -> AnyParsed:
    if not isinstance(source, Path):
        rows = name_labels(source, corpus.schema, "submission")
        if isinstance(rows, ColumnRecords) and corpus.key not in rows.columns:
            found = f"has no column {quote(corpus.key)} (columns: {', '.join(map(quote, map(str, rows.columns)))})"
            raise FormatError("predictions", [Problem(found)])
        return ParsedRows(rows, [])
    if (folders := find_folders(corpus)) and source.is_dir():
        return folders[0].read(source, gold)
    lines = read_lines(source)
    # A blank line is invalid in every format, so it must not decide the format of the file.
    first = next((line for line in lines if line.strip()), "")
    own = next((one for one in _find_files(corpus) if one.recognises(first)), None)
    if own is not None:
        return own.parse(lines, gold)
    return parse_json_lines(lines)


@dataclass(frozen=True)
class _Alignment:
    """Validation of rows, and their alignment with the gold.

    Attributes:
        path: what to call their source in messages.
        corpus, gold, missing, check, to_columns: see `read_submission`.
    """

    path: Path | str
    corpus: Corpus
    gold: Sequence[Record]
    missing: str
    check: Callable[[Rows], Iterable[Problem]] | None
    to_columns: Callable[[Rows], Rows] | None

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
        return RowValidator(load_schema(self.corpus.schema), "submission")

    def align(self, parsed: AnyParsed) -> System:
        """Validate rows, and align them.

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
            return System(rows, (), self._describe_odd_rows(parsed))
        return self._align_by_id(parsed, problems, all_valid=not invalid)

    def _align_by_id(self, parsed: AnyParsed, problems: ProblemList, *, all_valid: bool) -> System:
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
        return System(aligned, absent, self._describe_odd_rows(parsed))

    def _convert(
        self,
        rows: Rows,
        parsed: AnyParsed,
        problems: ProblemList,
        numbers: Sequence[int | None],
        spared: Mapping[int, Spared | None],
    ) -> Rows:
        """Convert aligned rows, given their numbers in the file, unless there are problems.

        Raises:
            SubmissionError: there are; all of them at once.
        """
        aligned = rows if self.to_columns is None else self.to_columns(rows)
        found = () if self.check is None else self.check(aligned)
        problems += _add_places(found, self.corpus.key, self.ids, parsed, numbers, spared)
        if problems:
            raise SubmissionError(self.path, sorted(problems, key=lambda problem: problem.order))
        return aligned

    def _describe_odd_rows(self, parsed: AnyParsed) -> tuple[str, ...]:
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
    only_counted = sum(problem.times - 1 for problem in parsed.problems)
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


def advise_missing() -> str:
    """Return what commands with that option advise if predictions are missing."""
    return f", or use {name_option('missing', 'empty', 'skip')}"


def drop_advice(problems: Sequence[Problem]) -> list[Problem]:
    """Return problems without the advice to use options that are not there, or not the submitter's to choose."""
    return [problem._replace(what=problem.what.removesuffix(advise_missing())) for problem in problems]


# Writing


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
        find_folders(corpus)[0].write(rows, path)
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
    return bool(find_folders(corpus)) and (not path.suffix or path.is_dir())


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
        if find_folders(corpus):
            known.append("a folder name without a suffix")
        raise RequestError(
            f"cannot write {corpus.name} predictions with suffix '{suffix}' (choose from: {', '.join(known)})"
        )
    return writers[suffix]


def _find_files(corpus: Corpus) -> list[SubmissionFile]:
    """Return the file formats of a corpus's own."""
    formats = (find_submission_format(corpus.task, name) for name in corpus.submission_formats)
    return [one for one in formats if isinstance(one, SubmissionFile)]


def find_folders(corpus: Corpus) -> list[SubmissionFolder]:
    """Return the folder formats of a corpus's own."""
    formats = (find_submission_format(corpus.task, name) for name in corpus.submission_formats)
    return [one for one in formats if isinstance(one, SubmissionFolder)]


def find_parquet_problems(path: Path) -> tuple[Problem, ...]:
    """Return what is wrong with a file that is Parquet by its name or its first bytes; nothing for other files.

    Counts are the usual case, since they are next to predictions, and other commands accept either.
    """
    try:
        if not path.is_file():
            return ()
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC and path.suffix.lower() != ".parquet":
                return ()
    except OSError:  # reading it tells
        return ()
    from closeread.counts.storage import KEY  # with the next one, takes longer to import than most files take to read
    from closeread.formats.parquet import read_parquet

    def describe(schema: pa.Schema) -> list[Problem]:
        if KEY in (schema.metadata or {}):
            return [Problem("contains counts, not predictions; use `closeread score --from-counts` to score them")]
        return [Problem("is a Parquet file (expected predictions as text, such as JSON Lines)")]

    try:
        read_parquet(path, describe)
    except FormatError as error:
        return tuple(error.problems)
    return ()
