"""Gold: the records of a part of a corpus or of the user's own files, read and validated, with notes on them.

Oddities of released files that change nothing are the same for everybody, and described on the corpus's card; those of
a user's own files are told one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from closeread.corpus.declaration import (
    Config,
    Corpus,
    OwnFiles,
    Source,
    SourceFile,
    UserFolders,
)
from closeread.corpus.names import load_corpus
from closeread.corpus.objects import find_repeated_columns
from closeread.corpus.schema import load_validator
from closeread.corpus.sources import (
    LocatedFiles,
    cache_folder,
    data_folder,
    is_in,
    locate,
)
from closeread.corpus.validation import Rules, convert_rows, load_rules, validate_records
from closeread.counts.procedure import Options, Procedure
from closeread.digests import combine_digests, unit_digests
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    describe_choice,
    describe_problems,
    describe_unknown,
    merge_errors,
    quote,
)
from closeread.files import text_suffix
from closeread.formats import Format
from closeread.formats.json_lines import SUFFIXES as JSON_LINES
from closeread.formats.json_lines import dump_json_lines, read_json_lines
from closeread.formats.parquet import read_parquet
from closeread.records import NO_FILES, ColumnRecords, Origin, Parsed, Record, UserFiles, column
from closeread.tasks import find, find_format

PARQUET = ".parquet"

SPLIT_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")


@dataclass(frozen=True)
class GoldSource:
    """Where the gold is that a procedure scores against: a part of a corpus, or the user's own.

    Attributes:
        procedure: the procedure.
        corpus: the corpus whose declaration the gold follows; None for a key, which follows none.
        config: the part of the corpus; None for the default.
        split: the split; None for the default.  Of a file of the user's own, it is a part of generated ids.
        gold: the user's own gold, instead of a part of the corpus: a file, a folder, or records.
        files: where the files of the corpus are, and how to read them.
    """

    procedure: Procedure
    corpus: Corpus | None = None
    config: str | None = None
    split: str | None = None
    gold: Path | Sequence[Any] | None = None
    files: UserFiles = field(default_factory=UserFiles)

    @property
    def is_chosen(self) -> bool:
        """Whether the user said anything about where the gold is."""
        parts = (self.config, self.split, self.gold)
        return bool(self.files) or any(part is not None for part in parts)


class Note(NamedTuple):
    """Something that a user should know about gold.

    Attributes:
        problem: says what it is.
        folder: the folder of its file; None if its sentence says where it is.
        record: the number of the record that it is about, from 0; None if it is about several or none.
    """

    problem: Problem
    folder: str | None = None
    record: int | None = None


@dataclass(frozen=True)
class Gold:
    """Gold records, ready for scoring.

    Attributes:
        corpus: the declaration that they follow.
        config: the part of the corpus; None, as the split, for the user's own gold.
        records: the records, which match the corpus's schema.
        released: whether they are the released ones; None if no digest of these is known.
        remarks: notes on their files as a whole, one sentence each.
        notes: what was repaired or left out, and what is odd about a user's own.
        by_record: whether each note names its record.
        files: the files that they were read from; none for records in memory.
        data_dir: the folder that the user gave for the corpus's files; None if there is none.
        unit: the field with the name of the unit that a record is counted in; empty if that is the corpus's key.
    """

    corpus: Corpus
    config: str | None
    split: str | None
    records: Sequence[Record]
    released: bool | None
    remarks: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    by_record: bool = False
    files: Sequence[Path] = ()
    data_dir: Path | None = None
    unit: str = ""

    @property
    def units(self) -> Sequence[str]:
        """The name of each record's unit."""
        return column(self.records, self.unit or self.corpus.key)

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices for the user, one sentence each; equal ones of a folder are one, with their number."""
        by_folder: dict[str | None, list[Problem]] = {}
        for note in self.notes:
            by_folder.setdefault(note.folder, []).append(note.problem)
        sentences = list(self.remarks)
        for folder, problems in by_folder.items():
            if folder is None:
                sentences += [problem.text for problem in problems]
            else:
                sentences += describe_problems(folder, problems)
        return tuple(sentences)

    def notices_about(self, name: str) -> tuple[str, ...]:
        """Return the notices about one record, when it is shown alone."""
        number = list(column(self.records, self.corpus.key)).index(name)
        notes = [note for note in self.notes if note.record == number]
        if not self.by_record:
            config = None if self.config is None else self.corpus.configs[self.config]
            rules = load_rules(self.corpus.task, config.definition if config else "document")
            notes = _list_notes(rules, [self.records[number]], is_released=self.released is True)
        return replace(self, notes=tuple(notes)).notices

    @property
    def origin(self) -> Origin:
        """Where they come from, for reports."""
        return Origin(self.corpus.name, self.config, self.split, self.released)

    @property
    def digest(self) -> str:
        """The sha256, in hex, of the records, regardless of their order."""
        digests = unit_digests(self.records, self.corpus.key, self.corpus.not_in_digest)
        return combine_digests(digests.values())

    def digests(self, options: Options) -> Mapping[str, bytes]:
        """Return the sha256 of the records of each unit, by the unit's name, whatever the options."""
        unit = self.unit or self.corpus.key
        return unit_digests(self.records, unit, self.corpus.not_in_digest)


def _list_notes(rules: Rules, records: Sequence[Record], *, is_released: bool) -> list[Note]:
    """Return what is repaired when records are read, and what else is odd unless they are the released ones."""
    sentences = list(rules.find_repairs(records))
    if not is_released:
        sentences += rules.find_oddities(records)
    return [Note(Problem(sentence)) for sentence in sentences]


# Parts of a corpus


def select(corpus: Corpus, config: str | None, split: str | None) -> tuple[str, str]:
    """Return the config and the split, which may be a union of splits; None selects the corpus's default."""
    config = config or corpus.default_config
    if config not in corpus.configs:
        raise RequestError(
            describe_unknown(f"config of {corpus.name}", config, list(corpus.configs))
        )
    splits = list(corpus.configs[config].parts)
    if not split:
        split = corpus.default_split if corpus.default_split in splits else splits[0]
    if split not in splits:
        raise RequestError(describe_unknown(f"split of {corpus.name} ({config})", split, splits))
    return config, split


def read_gold(
    corpus: Corpus,
    config: str | None = None,
    split: str | None = None,
    files: UserFiles = NO_FILES,
) -> Gold:
    """Read the records of a split, or of a union of splits; None stands for the default config or split.

    All problems of all splits are reported at once.
    """
    config, split = select(corpus, config, split)
    if files:
        _check_files(corpus, config, files)
    declared = corpus.configs[config]
    parts = declared.parts[split]
    located = {name: locate(corpus, source, files) for name, source in parts.items()}
    records_by_split: dict[str, Sequence[Record]] = {}
    notes: list[Note] = []
    errors: list[FormatError] = []
    paths: list[Path] = []
    n_records = 0
    for name, split_files in located.items():
        paths += split_files.files.values() or [split_files.path]
        try:
            records, split_notes = _read_split(corpus, declared, name, split_files, files.options)
        except FormatError as error:
            errors.append(error)
            continue
        for note in split_notes:
            number = None if note.record is None else n_records + note.record
            notes.append(note._replace(record=number))
        records_by_split[name] = records
        n_records += len(records)
    if errors:
        raise merge_errors(errors)
    if split in records_by_split:
        records = records_by_split[split]
    else:
        records = _unite(corpus, declared, records_by_split)
    module = find(corpus.task, "records") if declared.flattens else None
    if module is not None:
        records = cast(Sequence[Record], module.flatten(records))
    are_released = [split_files.released for split_files in located.values()]
    changed = [split_files for split_files in located.values() if split_files.released is False]
    return Gold(
        corpus,
        config,
        split,
        records,
        released=None if None in are_released else all(are_released),
        remarks=tuple(map(_describe_source, changed)),
        notes=tuple(notes),
        by_record=not any(isinstance(source, SourceFile) for source in parts.values()),
        files=paths,
        data_dir=files.data_dir,
    )


def _read_split(
    corpus: Corpus,
    config: Config,
    split: str,
    located: LocatedFiles,
    options: Mapping[str, str],
) -> tuple[Sequence[Record], list[Note]]:
    """Read and validate the records of a split of a config, with options of reading."""
    reader = _find_reader(corpus, config)
    if isinstance(config.splits[split], SourceFile):
        parsed = _read(located.path, split, config.read_definition, reader)
    else:
        assert reader.folder is not None  # noqa: S101 (of a corpus that declares a folder)
        traits = {} if config.traits is None else {"traits": config.traits}
        parsed = reader.folder.read_files(located.files, split, **traits, **options)
        parsed = _name_places(parsed, located)
    return _validate(
        corpus,
        located.path,
        parsed,
        config.read_definition,
        is_released=located.released is True,
    )


def _find_reader(corpus: Corpus, config: Config | None = None) -> Format:
    """Return the format that reads a config, or the corpus's own."""
    name = config.format if config is not None else None
    return find_format(corpus.task, name or corpus.format)


def _unite(
    corpus: Corpus, config: Config, records_by_split: Mapping[str, Sequence[Record]]
) -> Sequence[Record]:
    """Return the records of several splits together, whose ids must differ."""
    records = _find_reader(corpus, config).unite(records_by_split)
    splits: list[str] = []
    for split, own_records in records_by_split.items():
        splits += [split] * len(own_records)
    first: dict[str, str] = {}
    problems = []
    for name, split in zip(column(records, corpus.key), splits, strict=True):
        if first.setdefault(name, split) != split:
            places = f"is in split {first[name]} and in split {split}"
            message = f"{corpus.key} {quote(name)} {places} (expected distinct ids)"
            problems.append(Problem(message))
    if problems:
        raise FormatError(corpus.name, problems)
    return records


def _name_places(parsed: Parsed, located: LocatedFiles) -> Parsed:
    """Name files outside the folder, such as those of another folder that a user gave, by their paths."""
    places = {
        name: str(path.absolute())
        for name, path in located.files.items()
        if path != located.path / name
    }

    def name_places(problems: Iterable[Problem]) -> list[Problem]:
        return [
            problem._replace(file=places.get(problem.file or "", problem.file))
            for problem in problems
        ]

    return parsed._replace(
        places=[places.get(file, file) for file in parsed.lines],
        problems=name_places(parsed.problems),
        notices=name_places(parsed.notices or ()),
        oddities=name_places(parsed.oddities),
    )


def data_notices(corpus: Corpus, config: str, files: UserFiles) -> list[str]:
    """List the files of a config that differ from the released ones, and the unavailable splits, one sentence each."""
    if not files:
        return describe_skipped_splits(corpus, config)
    _check_files(corpus, config, files)
    sentences = []
    for source in corpus.configs[config].splits.values():
        has_digests = not isinstance(source, UserFolders | OwnFiles)
        if has_digests and is_in(files.data_dir, source):
            located = locate(corpus, source, files)
            if located.released is False:
                sentences.append(_describe_source(located))
    return sentences


def describe_skipped_splits(corpus: Corpus, config: str) -> list[str]:
    """List the splits of a config that the user's folder lacks although it has others, one sentence each."""
    declared = corpus.configs[config]
    at_hand = splits_at_hand(corpus, config)
    lacking = [split for split in declared.splits if split not in at_hand]
    sentences = []
    for split in lacking:
        reason = f"{data_folder(corpus.name)} has other splits, but not this one."
        sentences.append(f"split {split} of {corpus.name} is skipped: {reason}")
    for union, splits in declared.unions.items():
        needed = [split for split in splits if split in lacking]
        if needed:
            reason = f"it needs {', '.join(needed)}."
            sentences.append(f"split {union} of {corpus.name} is skipped: {reason}")
    return sentences


def splits_at_hand(
    corpus: Corpus, config: str, files: UserFiles = NO_FILES
) -> Mapping[str, Source]:
    """Return the splits of a config without those that the user's folder lacks.

    Unless the user names one, this is the corpus's folder in ``$CLOSEREAD_DATA``; if it has no split of the config, all
    splits are available, since they come with the package or can be downloaded.
    """
    splits = corpus.configs[config].splits
    if files.data_dir is not None or files.folders:
        folders = [files.data_dir]
    else:
        folder = data_folder(corpus.name)
        if folder is None or not any(is_in(folder, source) for source in splits.values()):
            return splits
        folders = [folder, cache_folder(corpus.name)]
    return {
        split: source
        for split, source in splits.items()
        if any(is_in(folder, source) for folder in folders)
    }


def available_splits(corpus: Corpus, config: str, files: UserFiles = NO_FILES) -> list[str]:
    """Return the names of the splits at hand (see `splits_at_hand`), and of the unions of these."""
    at_hand = splits_at_hand(corpus, config, files)
    unions = corpus.configs[config].unions
    return [*at_hand, *(union for union, splits in unions.items() if at_hand.keys() >= set(splits))]


def _check_files(corpus: Corpus, config: str, files: UserFiles) -> None:
    """Check that a config does not come with the package, and that the corpus has the user's folders and options."""
    for name in (*files.folders, *files.options):
        if name not in corpus.reading_names:
            kind = f"folder or option of reading {corpus.name}"
            raise RequestError(describe_unknown(kind, name, corpus.reading_names))
    for option in corpus.reading_options:
        value = files.options.get(option.name, option.choices[0])
        if value not in option.choices:
            raise RequestError(f"option {option.name}: {describe_choice(value, option.choices)}")
    if any(source.url is None for source in corpus.configs[config].splits.values()):
        raise RequestError(
            f"config {config} of {corpus.name} comes with the package; it takes no data folder"
        )


def _describe_source(located: LocatedFiles) -> str:
    state = "does not contain the released files" if located.files else "is not the released file"
    return f"{located.path} {state} (sha256 {located.sha256[:12]}…); using it as it is."


# Files and rows of the user's own


def read_own_gold(
    corpus: Corpus, source: Path | Sequence[Record], split: str | None = None, name: str = "gold"
) -> Gold:
    """Read the user's own gold; all problems are reported at once.

    Args:
        corpus: the declaration that it follows.
        source: a file: JSON Lines (`.jsonl`, `.ndjson`), Parquet (`.parquet`), or otherwise the corpus's own format; a
            folder, if the format has folders; or records in memory.
        split: the prefix of generated ids; None for the corpus's default split.
        name: what to call records in memory in messages.
    """
    split = split or corpus.default_split
    if isinstance(source, Path) and not SPLIT_NAME.fullmatch(split):
        expected = "expected 1 to 40 ASCII letters, digits, '_', '.' and '-'"
        raise RequestError(f"split {quote(split)} is not valid ({expected})")
    parsed = _read(source, split, "document", _find_reader(corpus))
    path = source if isinstance(source, Path) else name
    records, notes = _validate(corpus, path, parsed, "document")
    return Gold(
        corpus,
        config=None,
        split=None,
        records=records,
        released=False,
        notes=tuple(notes),
        by_record=isinstance(source, Path) and source.is_dir(),
        files=[source] if isinstance(source, Path) else [],
    )


def read_corpus_gold(source: GoldSource) -> Gold:
    """Read the gold records of a corpus, or the user's own."""
    corpus = source.corpus
    assert corpus is not None  # noqa: S101 (who scores keys does not ask)
    config = corpus.configs.get(source.config or corpus.default_config)
    if config is not None and (config.flattens or config.definition != "document"):
        reason = "has no gold annotation"
        if config.flattens:
            reason = "is for data frames, with a row for each annotation"
        raise RequestError(
            f"config {source.config} of {corpus.name} {reason}; choose another config"
        )
    if source.gold is None:
        return read_gold(corpus, source.config, source.split, source.files)
    if source.config is not None or source.files:
        raise RequestError("your own gold can't be combined with a config or a data folder")
    if source.split is not None and not isinstance(source.gold, Path):
        raise RequestError("your own gold in memory can't be combined with a split")
    return read_own_gold(corpus, source.gold, source.split)


def read_file(
    corpus: Corpus,
    source: Path | Sequence[Record],
    split: str | None = None,
    definition: str = "document",
    name: str = "rows",
) -> Sequence[Record]:
    """Read records that follow a definition of a corpus's schema, from a file or from memory, as `read_own_gold`."""
    parsed = _read(source, split or corpus.default_split, definition, _find_reader(corpus))
    path = source if isinstance(source, Path) else name
    records, _ = _validate(corpus, path, parsed, definition)
    return records


def read_rows(path: Path, corpus: str, definition: str) -> Sequence[Record]:
    """Read the rows of a JSON Lines file that follows a definition of a corpus's schema."""
    declared = load_corpus(corpus)
    validator = load_validator(declared.schema, definition)
    return validate_records(path, read_json_lines(path), validator, declared.key)


def _read(source: Path | Sequence[Record], split: str, definition: str, reader: Format) -> Parsed:
    """Read a file (JSON Lines, Parquet, or a format, whose suffixes have priority), a folder, or rows in memory."""
    rows: Sequence[Any]
    if not isinstance(source, Path):
        rows = convert_rows(source)
    elif source.is_dir() and reader.folder is not None:
        return reader.folder.read(source)
    elif source.suffix.lower() == PARQUET:
        table = read_parquet(source, lambda schema: find_repeated_columns(schema.names))
        rows = convert_rows(table)
    else:
        suffix = text_suffix(source)
        if suffix in JSON_LINES and suffix not in reader.suffixes:
            return read_json_lines(source)
        return reader.read(source, split)
    # Rows in memory and in Parquet lack the fields that reading a file derives.
    return reader.complete(rows) if definition == "document" else Parsed(rows, None, [])


def _validate(
    corpus: Corpus, path: Path | str, parsed: Parsed, definition: str, *, is_released: bool = False
) -> tuple[Sequence[Record], list[Note]]:
    """Validate the content of a file or a folder, or rows in memory, and return it with notes on it."""
    check_key(corpus, path, parsed.records)
    rules = load_rules(corpus.task, definition)
    records = parsed.records
    if parsed.problems or not parsed.is_checked:
        records = validate_records(
            path,
            parsed,
            load_validator(corpus.schema, definition),
            *(corpus.key, *corpus.unique),
            find_inconsistencies=rules.find_inconsistencies,
            unsafe=_find_reader(corpus).unsafe,
        )
    if parsed.notices is None:
        return records, _list_notes(rules, records, is_released=is_released)
    notices = list(parsed.notices)
    if not is_released:
        notices += parsed.oddities
    notices.sort(key=lambda notice: notice.order)
    numbers = {file: number for number, file in enumerate(parsed.lines)}
    notes = [Note(notice, str(path), numbers.get(notice.file or "")) for notice in notices]
    return records, notes


def check_key(corpus: Corpus, path: Path | str, records: Sequence[Any]) -> None:
    """Check that records stored as columns have the column with their ids."""
    if isinstance(records, ColumnRecords) and corpus.key not in records.columns:
        columns = ", ".join(quote(str(name)) for name in records.columns)
        message = f"has no column {quote(corpus.key)} (columns: {columns})"
        raise FormatError(path, [Problem(message)])


def dump_gold(corpus: Corpus, path: Path, records: Sequence[Record]) -> str:
    """Return records as the text of a file that `read_own_gold` reads: JSON Lines, or the corpus's own format."""
    write = find_gold_writer(corpus, path)
    try:
        return write(records)
    except ValueError as error:
        raise RequestError(f"cannot write {path}: {error}") from None


def find_gold_writer(corpus: Corpus, path: Path) -> Callable[[Sequence[Record]], str]:
    """Return the function with which `dump_gold` makes the text of a file, if its format can be written."""
    reader = _find_reader(corpus)
    if text_suffix(path) in JSON_LINES and not reader.is_json_lines:
        return lambda records: dump_json_lines(records, reader.unsafe)
    if reader.write is None or path.suffix.lower() == PARQUET:
        expected = f"unsupported suffix (expected {JSON_LINES[0]})"
        raise RequestError(f"cannot write gold of {corpus.name} to {path}: {expected}")
    return reader.write
