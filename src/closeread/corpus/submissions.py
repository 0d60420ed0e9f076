"""Submissions: read, validated by the schema, matched with the gold by id, and written.

All problems of a file are reported at once; only valid files are scored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from closeread import limits
from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import (
    Gold,
    GoldSource,
    check_key,
    read_corpus_gold,
    read_gold,
    read_own_gold,
)
from closeread.corpus.names import load_corpus
from closeread.corpus.objects import take_rows
from closeread.corpus.schema import (
    Node,
    RowValidator,
    list_names,
    load_schema,
    load_validator,
    name_label,
    resolve,
    value_type,
)
from closeread.corpus.sources import cache_folder, data_folder, is_in
from closeread.corpus.validation import check_records, convert_rows, load_rules
from closeread.counts.procedure import EXTRA, Inconsistency, Options, Reader, System
from closeread.counts.table import CountTable
from closeread.exceptions import (
    FormatError,
    InputError,
    Problem,
    ProblemList,
    RequestError,
    SubmissionError,
    advise,
    blame_submission,
    choose_words,
    describe_problems,
    join_names,
    name_option,
    pluralize,
    quote,
    suggest_id,
)
from closeread.files import is_empty_folder, text_suffix, write_text
from closeread.formats import SubmissionFile, SubmissionFolder, SubmissionFormat
from closeread.formats.delimited import find_delimiter, parse_table
from closeread.formats.json_lines import SUFFIXES, dump_json_lines, parse_json, parse_json_lines
from closeread.formats.parquet import PARQUET_MAGIC
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import (
    ColumnRecords,
    Parsed,
    Record,
    UserFiles,
    as_columns,
    column,
    place_problem,
)
from closeread.tasks import find_submission_format

Rows = Sequence[Record | None]
"""A system's row for each gold record; None where it has none."""


@dataclass(frozen=True)
class CorpusReader(Reader[Gold]):
    """Gold of a corpus or of a file in its format, and a system's rows, one for each gold record.

    Attributes:
        unit: the field of a gold record with the name of its unit; empty if that is the corpus's key.
        check: finds problems of both sides that the schema can't express: takes `gold` and `system`, aligned rows, and
            all options by name; None if there are none.  It must cope with gold records that have nothing but the
            corpus's key, for `check_form`.
        find_remarks: says of aligned gold and rows why their scores say nothing, if so, such as that nothing is
            predicted.
    """

    unit: str = ""
    check: Callable[..., Iterable[Inconsistency]] | None = None
    find_remarks: Callable[[Sequence[Record], Rows, Options], Iterable[str]] | None = None

    def read_gold(self, source: GoldSource, options: Options) -> Gold:
        """Read gold."""
        return replace(read_corpus_gold(source), unit=self.unit)

    def wrap_gold(self, records: Sequence[Record], corpus: str | None) -> Gold:
        """Wrap gold records in memory that are already validated."""
        if corpus is None:
            raise RequestError("gold records in memory need the name of their corpus")
        declared = load_corpus(corpus)
        return Gold(declared, None, None, records, released=False, unit=self.unit)

    def read_system(self, gold: Gold, source: Path | Sequence[Record], options: Options) -> System:
        """Read a submission, and align it with gold by id."""
        return read_submission(
            source,
            gold.corpus,
            gold.records,
            missing=options.get("missing", "error"),
            check=partial(self.validate, gold.records, options=options),
            drop_unknown=options.get(EXTRA.name) != "error",
            part=gold,
        )

    def check_form(
        self, corpus: str | None, names: Sequence[str], source: Path, options: Options
    ) -> None:
        """Check a submission without gold, of which only the ids are known."""
        declared = load_corpus(corpus or "")
        records = [{declared.key: name} for name in names]
        self.read_system(Gold(declared, None, None, records, released=False), source, options)

    def validate(
        self, gold: Sequence[Record], system: Rows, options: Options
    ) -> Iterable[Inconsistency]:
        """Find problems of both sides that the schema can't express."""
        if self.check is None:
            return ()
        # `extra` is about reading, so that `check` does not take it.
        checked = {name: value for name, value in options.items() if name != EXTRA.name}
        return self.check(gold=gold, system=system, **checked)

    def remarks(
        self, gold: Gold, system: System, options: Options, table: CountTable | None = None
    ) -> Iterable[str]:
        """Say why the scores say nothing, if so."""
        if self.find_remarks is None:
            return ()
        return self.find_remarks(gold.records, system.rows, options)


@dataclass(frozen=True)
class NothingInCommon:
    """Says why scores say nothing: a side has no annotations, or none in common with the other side.

    Attributes:
        noun: what an annotation is called, such as "link".
        find: maps a record of either side and the options to its annotations, in a form that can be compared.
        cause: the likely cause if the sides have no annotation in common, as a question.
    """

    noun: str
    find: Callable[[Record, Options], Iterable[Hashable]]
    cause: str

    def __call__(self, gold: Sequence[Record], rows: Rows, options: Options) -> Iterator[str]:
        """Say what is lacking in aligned gold and rows, if anything; records without a row don't count."""
        gold_has_any = system_has_any = False
        pairs = [(record, row) for record, row in zip(gold, rows, strict=True) if row is not None]
        for record, row in pairs:
            annotated = set(self.find(record, options))
            predicted = set(self.find(row, options))
            if not annotated.isdisjoint(predicted):
                return
            gold_has_any = gold_has_any or bool(annotated)
            system_has_any = system_has_any or bool(predicted)
        if pairs and not gold_has_any:
            yield f"the gold has no {self.noun} at all (are its annotations withheld?)"
        if pairs and not system_has_any:
            yield f"no {self.noun} is predicted at all (is every list of them empty?)"
        if gold_has_any and system_has_any:
            yield f"gold and predictions have no {self.noun} in common ({self.cause})"


# Reading


def read_submission(
    source: Path | Sequence[Record],
    corpus: Corpus,
    gold: Sequence[Record],
    missing: str = "error",
    check: Callable[[Rows], Iterable[Inconsistency]] = lambda rows: (),
    drop_unknown: bool = False,
    part: Gold | None = None,
) -> System:
    """Read, validate and align predictions; all problems are reported at once.

    Args:
        source: a file, a folder, or rows in memory.
        corpus: the corpus whose schema and formats they have.
        gold: the gold records, with which rows are aligned by id.
        missing: "error" to refuse predictions for a part of the gold.
        check: finds problems of gold and aligned rows that the schema can't express; those of the gold are left out.
        drop_unknown: whether unknown fields are left out, with a note, instead of refused.
        part: where the gold is from, so that messages can tell that the predictions are those of another split.

    Returns:
        A row for each gold record, or None, the ids without a row, and notes.
    """
    path = source if isinstance(source, Path) else "predictions"
    try:
        parsed = _parse(source, corpus, gold)
    except FormatError as error:
        raise blame_submission(error) from None
    parsed = _leave_out_nulls(parsed, *name_fields(corpus))
    validator = load_validator(corpus.schema, "submission")
    dropped = ProblemList()
    parsed, problems, valid = check_records(
        parsed,
        validator,
        [corpus.key, *corpus.unique],
        dropped=dropped if drop_unknown else None,
    )
    ids = list(column(gold, corpus.key))
    if not problems and list(column(parsed.records, corpus.key)) == ids:
        alignment = Alignment(parsed.records, range(len(gold)))
    else:
        alignment = _align(parsed, validator, corpus, gold, valid)
        problems.extend(_find_mismatches(parsed, corpus, alignment, missing, part))
    problems.extend(_place_problems(check(alignment.rows), parsed, corpus, gold, alignment))
    if (problems or dropped) and _is_gold(source, corpus):
        fields = ", ".join(map(quote, validator.fields))
        expected = f"expected only {fields}: see `closeread info {corpus.name}`"
        message = f"these are gold records, not predictions ({expected})"
        raise SubmissionError(path, [Problem(message), *_sort(problems)])
    if problems:
        raise SubmissionError(path, _sort(problems))
    notices: list[Problem] = list(dropped)
    if parsed.notices is not None:
        # Formats of folders find odd rows themselves: only they know the lines of their files.
        notices += [*parsed.notices, *parsed.oddities]
    else:
        for row, oddity in load_rules(corpus.task).find_odd_rows(parsed.records, gold):
            notices.append(parsed.problem(row, oddity))
    sentences = describe_problems(str(path), _sort(notices)) if notices else ()
    return System(alignment.rows, alignment.absent, tuple(sentences))


def _sort(problems: Iterable[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: problem.order)


class Alignment(NamedTuple):
    """The rows of predictions in the order of the gold.

    Attributes:
        rows: the row for each gold record; None where there is none.
        numbers: the numbers that these rows have in the predictions.
        by_id: the number of the first row with each id.
        absent: the ids of the gold records that are scored and have no row.
        unknown: the ids that no gold record has.
        places: of the lists of rows that lost invalid items, by the row's number and the field, the places that the
            remaining items had.
    """

    rows: Rows
    numbers: Sequence[int | None]
    by_id: Mapping[str, int] = {}
    absent: tuple[str, ...] = ()
    unknown: Sequence[str] = ()
    places: Mapping[int, Mapping[str, Sequence[int]]] = {}


def _align(
    parsed: Parsed,
    validator: RowValidator,
    corpus: Corpus,
    gold: Sequence[Record],
    valid: Sequence[int],
) -> Alignment:
    """Align rows, of which only those with some numbers are valid, with the gold by id.

    The valid items of other rows are aligned, too, so that all problems are reported at once.
    """
    ids = column(gold, corpus.key)
    by_id: dict[str, int] = {}
    for number, name in enumerate(as_columns(parsed.records, [corpus.key])[corpus.key]):
        if isinstance(name, str):
            by_id.setdefault(name, number)
    is_scored = load_rules(corpus.task).is_scored
    absent = [
        name
        for name, record in zip(ids, gold, strict=True)
        if name not in by_id and is_scored(record)
    ]
    valid_numbers = valid if isinstance(valid, range) else set(valid)
    invalid = sorted(number for number in by_id.values() if number not in valid_numbers)
    repaired: dict[int, Record | None] = dict.fromkeys(invalid)
    places = {}
    for number in invalid[: limits.MAX_EXPLAINED]:
        remains = validator.drop_invalid_items(parsed.records[number])
        if remains is not None:
            repaired[number], places[number] = remains
    rows: list[Record | None] = []
    numbers = [by_id.get(name) for name in ids]
    for row_number in numbers:
        if row_number is None:
            rows.append(None)
        elif row_number in repaired:
            rows.append(repaired[row_number])
        else:
            rows.append(parsed.records[row_number])
    known = set(ids)
    unknown = [name for name in by_id if name not in known]
    return Alignment(rows, numbers, by_id, tuple(absent), unknown, places)


def _find_mismatches(
    parsed: Parsed, corpus: Corpus, alignment: Alignment, missing: str, part: Gold | None
) -> Iterator[Problem]:
    """Find ids that the gold does not have, and ids without a prediction if `missing` is "error".

    If no id of several is in the gold, the file is for other gold: one problem stands for all.
    """
    by_id, absent, unknown = alignment.by_id, alignment.absent, alignment.unknown
    has_names = bool(by_id) or not parsed.records
    # Rows that can't be read may be the missing ones.
    lacks_rows = missing == "error" and has_names and len(absent) > _count_unread(parsed)
    if by_id and part is not None:
        are_most_unknown = 2 * len(unknown) > len(by_id)
        if are_most_unknown or (lacks_rows and not unknown):
            other_part = _describe_other_part(by_id.keys(), part)
            if other_part:
                yield Problem(other_part)
                return
    if absent and 1 < len(unknown) == len(by_id):
        suggestion = suggest_id(unknown[0], absent, unknown)
        message = f"no {corpus.key} of this file is in the gold: {join_names(unknown)}"
        yield Problem(f"{message} (expected such as {join_names(absent)}){suggestion}")
        return
    for name in unknown:
        suggestion = suggest_id(name, absent, unknown)
        message = f"{corpus.key} {quote(name)} is not in the gold{suggestion}"
        yield parsed.problem(by_id[name], message)
    if lacks_rows:
        verb, pronoun = ("has", "it") if len(absent) == 1 else ("have", "them")
        total = pluralize(len(alignment.rows), "id")
        lacking = f"{len(absent):,} of {total} {verb} no prediction: {join_names(absent)}"
        yield Problem(f"{lacking}. Add {pronoun}{advise_missing()}")


def _place_problems(
    inconsistencies: Iterable[Inconsistency],
    parsed: Parsed,
    corpus: Corpus,
    gold: Sequence[Record],
    alignment: Alignment,
) -> Iterator[Problem]:
    """Yield problems of aligned rows with the places that these have in the predictions."""
    ids = column(gold, corpus.key)
    for inconsistency in inconsistencies:
        if inconsistency.side == "gold":
            continue
        problem = inconsistency.problem
        number = alignment.numbers[inconsistency.row]
        name = f"{corpus.key} {quote(ids[inconsistency.row])}"
        if number is None:
            yield problem._replace(row=None, record=name)
            continue
        path = problem.path
        lists = alignment.places.get(number, {})
        if len(path) > 1 and path[0] in lists:
            field = str(path[0])
            path = (field, lists[field][cast(int, path[1])], *path[2:])
        yield place_problem(parsed, problem._replace(row=number, path=path), name)


def _parse(source: Path | Sequence[Record], corpus: Corpus, gold: Sequence[Record]) -> Parsed:
    """Read predictions in any form, without validating them."""
    if not isinstance(source, Path):
        check_key(corpus, "predictions", source)
        return Parsed(convert_rows(_name_values(source, corpus, gold)), None, [])
    if source.is_dir():
        folders = find_folders(corpus)
        if folders:
            return folders[0].read(source, gold)
    problems = find_parquet_problems(source)
    if problems:
        raise SubmissionError(source, problems)
    lines = read_lines(source)
    # A blank line is invalid in every format, so it must not decide the format of the file.
    first = next((line for line in lines if line.strip()), "")
    first_value = _parse_value(first)
    key, field = name_fields(corpus)
    is_row = isinstance(first_value, dict) and {key, field} <= first_value.keys()
    if is_row and isinstance(first_value[key], str):
        return parse_json_lines(lines)
    delimiter = find_delimiter(first, text_suffix(source))
    if delimiter is not None:
        return _read_cells(parse_table(lines, delimiter, key), corpus)
    for format_ in _find_formats(corpus):
        if isinstance(format_, SubmissionFile) and format_.recognises(first):
            return format_.parse(lines, gold)
    return _parse_json(lines, first_value, corpus, gold)


def _parse_value(text: str, unsafe: re.Pattern[str] | None = None) -> Any:
    """Return the value of a text of JSON; None if it is not JSON."""
    try:
        return parse_json(text, unsafe)
    except ValueError:
        return None


def _parse_json(
    lines: Sequence[str], first_value: object, corpus: Corpus, gold: Sequence[Record]
) -> Parsed:
    """Read JSON Lines, or a file that is JSON as a whole: a list of rows, columns, or values by id."""

    def has_id(value: dict[str, Any]) -> bool:
        return isinstance(value.get(corpus.key), str)

    # An object on a line of its own, with an id, is a row of JSON Lines.
    if isinstance(first_value, dict) and (len(lines) > 1 or has_id(first_value)):
        return parse_json_lines(lines)
    value = _parse_value("\n".join(lines), UNSAFE)
    is_table = isinstance(value, list)
    if isinstance(value, dict) and not has_id(value):
        ids = column(gold, corpus.key)
        is_table = bool(value.get(corpus.key)) or not value.keys().isdisjoint(ids)
    if not is_table:
        return parse_json_lines(lines)
    rows = take_rows("predictions", value, name_fields(corpus))
    return Parsed(convert_rows(rows), None, [])


def _name_values(rows: Sequence[Any], corpus: Corpus, gold: Sequence[Record]) -> Sequence[Any]:
    """Return values without ids, such as labels, as rows, in the order of the gold; other rows are unchanged."""
    has_names = isinstance(rows, ColumnRecords) or any(isinstance(row, Mapping) for row in rows)
    if has_names or not rows:
        return rows
    key, field = name_fields(corpus)
    if len(rows) != len(gold):
        numbers = f"{pluralize(len(rows), 'value')} for {pluralize(len(gold), 'gold record')}"
        expected = (
            f"expected one for each, in their order, or rows with {quote(key)} and {quote(field)}"
        )
        raise SubmissionError("predictions", [Problem(f"{numbers} ({expected})")])
    return [{key: name, field: value} for name, value in zip(column(gold, key), rows, strict=True)]


def name_fields(corpus: Corpus) -> tuple[str, str]:
    """Return the fields of a prediction that a mapping stands for: its id, and what is predicted.

    By convention, that is the last field that the schema requires, such as `label` of `["id", "label"]`.
    """
    *_, predicted = load_schema(corpus.schema)["$defs"]["submission"]["required"]
    return corpus.key, predicted


def _read_cells(parsed: Parsed, corpus: Corpus) -> Parsed:
    """Return the rows of a table of text with labels for their numbers, and JSON values where a field is no text."""
    schema = load_schema(corpus.schema)
    nodes = load_validator(corpus.schema, "submission").fields
    for row in parsed.records:
        for name in row.keys() & nodes:
            row[name] = _read_cell(row[name], resolve(schema, nodes[name]))
    return parsed


def _read_cell(cell: str | None, node: Node) -> Any:
    if cell is None:
        return None
    if "enum" in node:
        return name_label(node["enum"], int(cell)) if cell in ("0", "1") else cell.strip()
    if value_type(node) == "string":
        return cell
    try:
        return parse_json(cell, UNSAFE)
    except ValueError:
        # The schema says what is expected.
        return cell


def _leave_out_nulls(parsed: Parsed, key: str, field: str) -> Parsed:
    """Leave out the rows of a file or of memory that have an id and null for what is predicted: it is missing."""
    records = parsed.records
    if None not in as_columns(records, [field])[field]:
        return parsed
    numbers = []
    for number, row in enumerate(records):
        is_null = isinstance(row, Mapping) and field in row and row[field] is None
        if not is_null or not isinstance(row.get(key), str):
            numbers.append(number)
    if len(numbers) == len(records):
        return parsed
    places = None if parsed.places is None else [parsed.places[number] for number in numbers]
    rows = [records[number] for number in numbers]
    return parsed._replace(records=rows, places=places, numbers=numbers)


def _is_gold(source: Path | Sequence[Record], corpus: Corpus) -> bool:
    """Tell whether a file, a folder or rows that are not valid predictions are valid gold.

    Gold that has the fields of predictions, such as a timeline, can't be told from them.
    """
    schema = load_schema(corpus.schema)
    if list_names(schema, "document") <= list_names(schema, "submission"):
        return False
    try:
        return len(read_own_gold(corpus, source).records) > 0
    except (InputError, RequestError):
        return False


def _describe_other_part(names: Set[str], part: Gold) -> str:
    """Say that names are those of another part of the corpus on this machine; empty if they are not."""
    corpus = part.corpus
    if part.config is None:
        return ""
    folders = [part.data_dir]
    if part.data_dir is None:
        folders = [data_folder(corpus.name), cache_folder(corpus.name)]
    known = set(column(part.records, corpus.key))
    for config, declared in corpus.configs.items():
        for split, source in declared.splits.items():
            is_here = source.url is None or any(is_in(folder, source) for folder in folders)
            is_same = (config, split) == (part.config, part.split)
            if declared.flattens or is_same or not is_here:
                continue
            files = UserFiles(None if source.url is None else part.data_dir)
            try:
                records = read_gold(corpus, config, split, files).records
            except InputError:
                continue
            ids = set(column(records, corpus.key))
            if names == ids or (names <= ids and names.isdisjoint(known)):
                options = []
                if config != part.config:
                    options.append(name_option("config", config))
                if split != part.split:
                    options.append(name_option("split", split))
                here = f"not of {part.split} ({part.config})"
                return f"all {len(names):,} ids are those of {' '.join(options)}, {here}"
    return ""


def _count_unread(parsed: Parsed) -> float:
    """Return how many rows at most could not be read; these may be the missing ones.

    Two problems of line 3, one of line 5, and one of line 6 that stands for 10 of its kind are 1 + 1 + 10 rows.  The
    number is unknown, and infinite here, if the file is invalid as a whole or no row can be read.
    """
    places = {(problem.file, problem.line) for problem in parsed.problems}
    is_invalid = (None, None) in places
    if is_invalid or (places and not parsed.records):
        return math.inf
    return len(places) + sum(problem.times - 1 for problem in parsed.problems)


def advise_missing() -> str:
    """Return the advice of commands with the option `missing` if predictions are missing."""
    return advise(", or use {missing=empty,skip}")


# Writing


def check_submission_path(path: Path, corpus: Corpus) -> None:
    """Check that rows can be written to a path, before they are made."""
    if not _is_for_folder(path, corpus):
        _find_writer(corpus, text_suffix(path))
    elif path.is_dir() and not is_empty_folder(path):
        raise RequestError(
            f"{path} is not empty; choose a new folder, or a file name that ends in .jsonl"
        )


def write_submission(path: Path, rows: Sequence[Record], corpus: Corpus) -> None:
    """Write rows to a file, or to a folder if the corpus has such submissions and the path has no suffix."""
    check_submission_path(path, corpus)
    if not _is_for_folder(path, corpus):
        write_text(path, dump_submission(rows, corpus, text_suffix(path)))
        return
    try:
        find_folders(corpus)[0].write(rows, path)
    except ValueError as error:
        raise RequestError(f"{error}; choose a file name that ends in .jsonl") from None


def dump_submission(rows: Sequence[Record], corpus: Corpus, suffix: str) -> str:
    """Return rows as the text of a file: JSON Lines, or the corpus's submission format with that suffix."""
    dump = _find_writer(corpus, suffix)
    try:
        return dump(rows)
    except ValueError as error:
        raise RequestError(f"cannot write {corpus.name} predictions: {error}") from None


def _is_for_folder(path: Path, corpus: Corpus) -> bool:
    return bool(find_folders(corpus)) and (not path.suffix or path.is_dir())


def _find_writer(corpus: Corpus, suffix: str) -> Callable[[Sequence[Record]], str]:
    """Return the function that writes rows as the text of a file with a suffix."""
    writers: dict[str, Callable[[Sequence[Record]], str]] = {}
    for format_ in _find_formats(corpus):
        if isinstance(format_, SubmissionFile) and format_.suffix and format_.dump:
            writers[format_.suffix] = format_.dump
    writers |= dict.fromkeys((*SUFFIXES, ".json", ""), dump_json_lines)
    if suffix not in writers:
        choices = [name for name in writers if name]
        if find_folders(corpus):
            choices.append("a folder name without a suffix")
        expected = f"choose from: {', '.join(choices)}"
        raise RequestError(
            f"cannot write {corpus.name} predictions with suffix '{suffix}' ({expected})"
        )
    return writers[suffix]


def _find_formats(corpus: Corpus) -> list[SubmissionFormat]:
    return [find_submission_format(corpus.task, name) for name in corpus.submission_formats]


def find_folders(corpus: Corpus) -> list[SubmissionFolder]:
    """Return the folder formats of a corpus."""
    formats = _find_formats(corpus)
    return [format_ for format_ in formats if isinstance(format_, SubmissionFolder)]


def find_parquet_problems(path: Path) -> list[Problem]:
    """Return the problems of a file that is Parquet by its name or its first bytes, such as counts."""
    # Opening a pipe would wait.
    if not path.is_file():
        return []
    try:
        with path.open("rb") as file:
            magic = file.read(len(PARQUET_MAGIC))
    except OSError:
        # Reading it reports the error.
        return []
    if magic != PARQUET_MAGIC and path.suffix.lower() != ".parquet":
        return []
    scored_by = choose_words("closeread score --from-counts", "closeread.Counts.load")
    counts = f"counts are scored by `{scored_by}`"
    expected = f"expected predictions as text, such as JSON Lines; {counts}"
    return [Problem(f"is a Parquet file ({expected})")]
