"""Submissions: read, validated by the schema, matched with the gold by id, and written.

All problems of a file are reported at once; only valid files are scored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from closeread import limits
from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import Gold, read_corpus_gold, read_gold, read_own_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.objects import take_rows
from closeread.corpus.schema import (
    Node,
    RowValidator,
    list_names,
    load_schema,
    name_label,
    resolve,
    value_type,
)
from closeread.corpus.sources import cache_folder, data_folder, is_in
from closeread.corpus.validation import check_records, convert_rows, load_rules
from closeread.counts.procedure import EXTRA, GoldSpec, Inconsistency, Options, Sides, System
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
from closeread.records import ColumnRecords, Parsed, Record, as_columns, column, place_problem
from closeread.tasks import find_submission_format

Rows = Sequence[Record | None]  # A system's row for each gold record; None where it has none


@dataclass(frozen=True)
class CorpusSides(Sides[Gold]):
    """Gold of a corpus or of a file in its format, and a system's rows, one for each gold record."""

    # the field of a gold record with the name of its unit; None if that is the corpus's key
    unit: str | None = None
    # Finds problems of both sides that the schema can't express: takes `gold` and `system`, aligned rows, and all
    # options by name; None if there are none.  It must cope with gold records that have nothing but the corpus's key,
    # for `check_form`.
    check: Callable[..., Iterable[Inconsistency]] | None = None
    # Converts a system's rows for `check` and `Procedure.count`; None if they take the rows as they are.
    to_columns: Callable[[Rows], Rows] | None = None
    # Says of aligned gold and rows why their scores say nothing, if so, such as that nothing is predicted.
    describe_silence: Callable[[Sequence[Record], Rows, Options], Iterable[str]] | None = None

    def read_gold(self, place: GoldSpec, options: Options) -> Gold:
        """Read gold."""
        return read_corpus_gold(place)

    def wrap_gold(self, records: Sequence[Record], corpus: str | None) -> Gold:
        """Wrap gold records in memory that are already validated."""
        if corpus is None:
            raise RequestError("gold records in memory need the name of their corpus")
        return Gold(load_corpus(corpus), None, None, records, released=False)

    def read_system(self, gold: Gold, source: Path | Sequence[Record], options: Options) -> System:
        """Read a submission, and align it with gold by id."""

        def check(rows: Rows) -> Iterable[Problem]:
            found = self.validate(gold.records, rows, options)
            return (one.problem for one in found if one.side == "system")

        missing = options.get("missing", "error")
        drop_unknown = options.get(EXTRA.name) != "error"
        return read_submission(
            source, gold.corpus, gold.records, missing, check, self.to_columns, drop_unknown, gold
        )

    def check_form(
        self, corpus: str | None, names: Sequence[str], source: Path, options: Options
    ) -> None:
        """Check a submission without gold, of which only the ids are known."""
        declaration = load_corpus(corpus or "")
        known = [{declaration.key: name} for name in names]
        self.read_system(Gold(declaration, None, None, known, released=False), source, options)

    def validate(
        self, gold: Sequence[Record], system: Rows, options: Options
    ) -> Iterable[Inconsistency]:
        """Find problems of both sides that the schema can't express."""
        how = {name: value for name, value in options.items() if name != EXTRA.name}
        return () if self.check is None else self.check(gold=gold, system=system, **how)

    def names(self, gold: Gold) -> Sequence[str]:
        """Return the unit of each gold record."""
        names: Sequence[str] = column(gold.records, self.unit or gold.corpus.key)
        return names

    def digests(self, gold: Gold, options: Options) -> Mapping[str, bytes]:
        """Return the sha256 of each unit's gold, by the unit's name."""
        return gold.digests(self.unit or gold.corpus.key)

    def remarks(
        self, gold: Gold, system: System, options: Options, table: CountTable | None = None
    ) -> Iterable[str]:
        """Say why the scores say nothing, if so."""
        if self.describe_silence is None:
            return ()
        return self.describe_silence(gold.records, system.rows, options)


@dataclass(frozen=True)
class Silence:
    """What makes scores say nothing: a side has no annotations, or none in common with the other side.

    Attributes:
        noun: what an annotation is called, such as "link".
        find: maps a record of either side and the options to its annotations, in a form that can be compared.
        cause: the likely cause if the sides have no annotation in common, as a question.
    """

    noun: str
    find: Callable[[Record, Options], Iterable[Hashable]]
    cause: str

    def __call__(self, gold: Sequence[Record], rows: Rows, options: Options) -> Iterator[str]:
        """Describe the silence of aligned gold and rows, if there is any; records without a row don't count."""
        gold_has_any = system_has_any = False
        pairs = [(record, row) for record, row in zip(gold, rows, strict=True) if row is not None]
        for record, row in pairs:
            in_gold = set(self.find(record, options))
            predicted = set(self.find(row, options))
            if not in_gold.isdisjoint(predicted):
                return
            gold_has_any = gold_has_any or bool(in_gold)
            system_has_any = system_has_any or bool(predicted)
        if pairs and not gold_has_any:
            yield f"the gold has no {self.noun} at all (are its annotations withheld?)"
        if pairs and not system_has_any:
            yield f"no {self.noun} is predicted at all (is every list of them empty?)"
        if gold_has_any and system_has_any:
            yield f"gold and predictions have no {self.noun} in common ({self.cause})"


def read_submission(
    source: Path | Sequence[Record],
    corpus: Corpus,
    gold: Sequence[Record],
    missing: str = "error",
    check: Callable[[Rows], Iterable[Problem]] | None = None,
    to_columns: Callable[[Rows], Rows] | None = None,
    drop_unknown: bool = False,
    part: Gold | None = None,
) -> System:
    """Read, validate and align predictions, from a file, a folder or memory; all problems are reported at once.

    `missing` is "error" to refuse predictions for a part of the gold; `check` and `to_columns` are as in `CorpusSides`;
    `drop_unknown` is whether unknown fields only give notes; `part` is the part of the corpus, for messages.
    """
    path = source if isinstance(source, Path) else "predictions"
    try:
        parsed = _parse(source, corpus, gold)
    except FormatError as error:
        raise blame_submission(error) from None
    parsed = _leave_out_nulls(parsed, *name_fields(corpus))
    key, ids, rules = corpus.key, column(gold, corpus.key), load_rules(corpus.task)
    validator = RowValidator(load_schema(corpus.schema), "submission")
    dropped = ProblemList()
    keys = [key, *corpus.unique]
    parsed, problems, valid = check_records(
        parsed, validator, keys, dropped=dropped if drop_unknown else None
    )
    rows: Rows = parsed.records
    left: dict[int, tuple[Record, Mapping[str, Sequence[int]]] | None] = {}
    numbers: Sequence[int | None] = range(len(ids))
    absent: tuple[str, ...] = ()
    names = None if problems else column(parsed.records, key)
    if names is None or (names is not ids and list(names) != list(ids)):
        known, by_id = set(ids), dict[str, int]()
        for n, name in enumerate(as_columns(parsed.records, [key])[key]):
            if isinstance(name, str):
                by_id.setdefault(name, n)
        numbers = [by_id.get(name) for name in ids]
        expected = zip(ids, numbers, gold, strict=True)
        absent = tuple(
            name for name, number, record in expected if number is None and rules.is_scored(record)
        )
        unknown = [name for name in by_id if name not in known]
        has_names = by_id or not parsed.records
        lacks = missing == "error" and has_names and len(absent) > _count_unread(parsed)
        differs = by_id and (2 * len(unknown) > len(by_id) or (lacks and not unknown))
        if differs and part is not None and (other := _find_part(by_id.keys(), part)):
            problems.append(Problem(other))
            unknown, lacks = [], False
        problems += (
            parsed.problem(
                by_id[name],
                f"{key} {quote(name)} is not in the gold{suggest_id(name, absent, unknown)}",
            )
            for name in unknown
        )
        if lacks:
            have, them = ("has", "it") if len(absent) == 1 else ("have", "them")
            lacking = f"{len(absent):,} of {pluralize(len(ids), 'id')} {have} no prediction: {join_names(absent)}"
            problems.append(Problem(f"{lacking}. Add {them}{advise_missing()}"))
        # The valid items of rows that break the schema are checked too, so that all problems are reported at once.
        kept = valid if isinstance(valid, range) else set(valid)
        invalid = sorted(n for n in by_id.values() if n not in kept)
        left = {
            n: validator.drop_invalid_items(parsed.records[n])
            for n in invalid[: limits.MAX_EXPLAINED]
        }
        rests = dict.fromkeys(invalid) | {n: one[0] for n, one in left.items() if one is not None}
        rows = [
            None if n is None else rests[n] if n in rests else parsed.records[n] for n in numbers
        ]

    aligned = rows if to_columns is None else to_columns(rows)
    for problem in () if check is None else check(aligned):
        row = problem.row or 0
        number, name = numbers[row], f"{key} {quote(ids[row])}"
        if number is None:
            problems.append(problem._replace(row=None, record=name))
        else:
            place = problem.path
            if (one := left.get(number)) and len(place) > 1 and place[0] in one[1]:
                place = (place[0], one[1][str(place[0])][cast(int, place[1])], *place[2:])
            problems.append(place_problem(parsed, problem._replace(row=number, path=place), name))
    if (problems or dropped) and _is_gold(source, corpus):
        fields = ", ".join(map(quote, validator.fields))
        what = f"these are gold records, not predictions (expected only {fields}: see `closeread info {corpus.name}`)"
        in_order = sorted(problems, key=lambda problem: problem.order)
        raise SubmissionError(path, [Problem(what), *in_order])
    if problems:
        raise SubmissionError(path, sorted(problems, key=lambda problem: problem.order))
    notices: list[Problem] = list(dropped)
    if parsed.notices is not None:
        notices += [*parsed.notices, *parsed.oddities]
    else:
        notices += (
            parsed.problem(row, what) for row, what in rules.find_odd_rows(parsed.records, gold)
        )
    return System(
        aligned,
        absent,
        tuple(describe_problems(str(path), sorted(notices, key=lambda notice: notice.order))),
    )


def _parse(source: Path | Sequence[Record], corpus: Corpus, gold: Sequence[Record]) -> Parsed:
    if not isinstance(source, Path):
        if isinstance(source, ColumnRecords) and corpus.key not in source.columns:
            found = f"has no column {quote(corpus.key)} (columns: {', '.join(map(quote, map(str, source.columns)))})"
            raise FormatError("predictions", [Problem(found)])
        return Parsed(convert_rows(_name_values(source, corpus, gold)), None, [])
    if problems := find_parquet_problems(source):
        raise SubmissionError(source, problems)
    if (folders := find_folders(corpus)) and source.is_dir():
        return folders[0].read(source, gold)
    lines = read_lines(source)
    # A blank line is invalid in every format, so it must not decide the format of the file.
    first = next((line for line in lines if line.strip()), "")
    if delimiter := find_delimiter(first, text_suffix(source)):
        return _read_cells(parse_table(lines, delimiter, corpus.key), corpus)
    for one in _find_formats(corpus):
        if isinstance(one, SubmissionFile) and one.recognises(first):
            return one.parse(lines, gold)
    value = _read_value(lines, first, corpus.key)
    ids = column(gold, corpus.key)
    is_table = isinstance(value, dict) and (
        bool(value.get(corpus.key)) or not value.keys().isdisjoint(ids)
    )
    if is_table or isinstance(value, list):
        rows = take_rows("predictions", value, name_fields(corpus))
        return Parsed(convert_rows(rows), None, [])
    return parse_json_lines(lines)


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
    """Return the fields of a prediction that a mapping stands for: its id, and what is predicted."""
    fields = load_schema(corpus.schema)["$defs"]["submission"]["required"]
    return corpus.key, fields[-1]


def _read_value(lines: Sequence[str], first: str, key: str) -> Any:
    """Return the value of a file that is JSON as a whole, such as a list of objects; None if it is not."""
    try:
        value = parse_json(first)
    except ValueError:
        value = None
    # An object on a line of its own, with an id, is a row of JSON Lines.
    is_row = isinstance(value, dict) and (len(lines) > 1 or isinstance(value.get(key), str))
    if is_row:
        return None
    try:
        value = parse_json("\n".join(lines), UNSAFE)
    except ValueError:
        return None
    is_single_row = isinstance(value, dict) and isinstance(value.get(key), str)
    return None if is_single_row else value


def _read_cells(parsed: Parsed, corpus: Corpus) -> Parsed:
    """Return the rows of a table of text with labels for their numbers, and JSON values where a field is no text."""
    schema = load_schema(corpus.schema)
    nodes = RowValidator(schema, "submission").fields
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
    except ValueError:  # the schema says what is expected
        return cell


def _leave_out_nulls(parsed: Parsed, key: str, field: str) -> Parsed:
    """Leave out the rows of a file or of memory that have an id and null for what is predicted: it is missing."""
    records = parsed.records
    if isinstance(records, ColumnRecords) and None not in records.columns.get(field, ()):
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


def _find_part(names: Set[str], part: Gold) -> str:
    """Return the message that names are those of another part of the corpus on this machine; empty if they are not."""
    corpus = part.corpus
    folders = (
        [data_folder(corpus.name), cache_folder(corpus.name)]
        if part.data_dir is None
        else [part.data_dir]
    )
    known = set(column(part.records, corpus.key))
    for config, declared in corpus.configs.items() if part.config else ():
        for split, source in declared.splits.items():
            is_here = source.url is None or any(
                folder is not None and is_in(folder, source) for folder in folders
            )
            if declared.flattens or (config, split) == (part.config, part.split) or not is_here:
                continue
            try:
                gold = read_gold(
                    corpus, config, split, None if source.url is None else part.data_dir
                )
            except InputError:
                continue
            others = set(column(gold.records, corpus.key))
            if names == others or (names <= others and names.isdisjoint(known)):
                options = [name_option("config", config)] * (config != part.config)
                options += [name_option("split", split)] * (split != part.split)
                return f"all {len(names):,} ids are those of {' '.join(options)}, not of {part.split} ({part.config})"
    return ""


def _count_unread(parsed: Parsed) -> float:
    """Return how many rows at most could not be read; these may be the missing ones.

    The number is unknown if the file is invalid as a whole or no row can be read.
    """
    places = {(problem.file, problem.line) for problem in parsed.problems}
    only_counted = sum(problem.times - 1 for problem in parsed.problems)
    return (
        math.inf
        if (None, None) in places or (places and not parsed.records)
        else len(places) + only_counted
    )


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
    formats = _find_formats(corpus)
    files = [one for one in formats if isinstance(one, SubmissionFile)]
    writers: dict[str, Callable[[Sequence[Record]], str]] = {
        one.suffix: one.dump for one in files if one.suffix is not None and one.dump is not None
    }
    writers |= dict.fromkeys((*SUFFIXES, ".json", ""), dump_json_lines)
    if suffix not in writers:
        known = [name for name in writers if name]
        known += ["a folder name without a suffix"] if len(files) < len(formats) else []
        raise RequestError(
            f"cannot write {corpus.name} predictions with suffix '{suffix}' (choose from: {', '.join(known)})"
        )
    return writers[suffix]


def _find_formats(corpus: Corpus) -> list[SubmissionFormat]:
    return [find_submission_format(corpus.task, name) for name in corpus.submission_formats]


def find_folders(corpus: Corpus) -> list[SubmissionFolder]:
    """Return the folder formats of a corpus."""
    return [one for one in _find_formats(corpus) if isinstance(one, SubmissionFolder)]


def find_parquet_problems(path: Path) -> list[Problem]:
    """Return the problems of a file that is Parquet by its name or its first bytes, such as counts."""
    if not path.is_file():  # opening a pipe would wait
        return []
    try:
        with path.open("rb") as file:
            is_parquet = (
                file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC or path.suffix.lower() == ".parquet"
            )
    except OSError:  # reading it reports the error
        return []
    scored_by = choose_words("closeread score --from-counts", "closeread.Counts.load")
    counts = f"counts are scored by `{scored_by}`"
    what = f"is a Parquet file (expected predictions as text, such as JSON Lines; {counts})"
    return [Problem(what)] if is_parquet else []
