"""Gold: the records of a part of a corpus or of the user's own files, read and validated, with notes on them.

Oddities of released files that change nothing are the same for everybody, and described on the corpus's card; those of
a user's own files are told one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from closeread import limits
from closeread.corpus.declaration import Corpus, Source, SourceFile, UserFolders
from closeread.corpus.names import load_corpus
from closeread.corpus.objects import find_repeated_columns
from closeread.corpus.schema import load_schema
from closeread.corpus.sources import LocatedFiles, cache_folder, data_folder, is_in, locate
from closeread.corpus.validation import Rules, convert_rows, load_rules, validate_records
from closeread.counts.procedure import GoldSpec
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
from closeread.records import ColumnRecords, DataDir, Origin, Parsed, Record, UserFiles, column
from closeread.tasks import find, find_format

PARQUET = ".parquet"

_SPLIT = re.compile(r"[A-Za-z0-9_.-]{1,40}")


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
    """Gold records, ready for scoring."""

    corpus: Corpus  # the declaration that they follow
    config: str | None  # the part of the corpus; None for the user's own gold
    split: str | None
    records: Sequence[Record]  # the records, which match the corpus's schema
    released: bool | None  # whether they are the released ones; None if no digest of these is known
    remarks: tuple[str, ...] = ()  # notes on their files as a whole, one sentence each
    notes: tuple[
        Note, ...
    ] = ()  # what was repaired or left out, and what is odd about a user's own
    by_record: bool = False  # whether each note names its record
    # the folder that the user gave for the corpus's files; None if there is none
    data_dir: Path | None = None

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices for the user, one sentence each."""
        return (*self.remarks, *_describe_notes(self.notes))

    def notices_about(self, name: str) -> tuple[str, ...]:
        """Return the notices about one record, when it is shown alone."""
        number = list(column(self.records, self.corpus.key)).index(name)
        notes = [note for note in self.notes if note.record == number]
        if not self.by_record:
            definition = (
                "document" if self.config is None else self.corpus.configs[self.config].definition
            )
            rules = load_rules(self.corpus.task, definition)
            notes = _list_notes(rules, [self.records[number]], is_released=self.released is True)
        return replace(self, notes=tuple(notes)).notices

    @property
    def origin(self) -> Origin:
        """Where they come from, for reports."""
        return Origin(self.corpus.name, self.config, self.split, self.released)

    @property
    def digest(self) -> str:
        """The sha256, in hex, of the records, regardless of their order."""
        return combine_digests(self.digests(self.corpus.key).values())

    def digests(self, unit: str) -> Mapping[str, bytes]:
        """Return the sha256 of the records of each unit, by the unit's name, which is a field of the records."""
        return unit_digests(self.records, unit, self.corpus.not_in_digest)


def _list_notes(rules: Rules, records: Sequence[Record], *, is_released: bool) -> list[Note]:
    """Return what is repaired when records are read, and what else is odd unless they are the released ones."""
    sentences = list(rules.find_repairs(records))
    if not is_released:
        sentences += rules.find_oddities(records)
    return [Note(Problem(sentence)) for sentence in sentences]


def _describe_notes(notes: Iterable[Note]) -> list[str]:
    """Return a sentence for each note with its place; equal ones of a folder are one, with their number."""
    by_folder: dict[str | None, list[Problem]] = {}
    for note in notes:
        by_folder.setdefault(note.folder, []).append(note.problem)
    sentences = []
    for folder, problems in by_folder.items():
        if folder is None:
            sentences += [problem.text for problem in problems]
        else:
            sentences += describe_problems(folder, problems)
    return sentences


# Parts of a corpus


def select(corpus: Corpus, config: str | None, split: str | None) -> tuple[str, str]:
    """Return the config and the split, which may be a union of splits; None selects the corpus's default."""
    config = config or corpus.default_config
    if config not in corpus.configs:
        raise RequestError(
            describe_unknown(f"config of {corpus.name}", config, list(corpus.configs))
        )
    splits = corpus.configs[config].split_names
    split = split or (corpus.default_split if corpus.default_split in splits else splits[0])
    if split not in splits:
        raise RequestError(describe_unknown(f"split of {corpus.name} ({config})", split, splits))
    return config, split


def read_gold(
    corpus: Corpus,
    config: str | None = None,
    split: str | None = None,
    data_dir: DataDir | None = None,
) -> Gold:
    """Read the records of a split, or of a union of splits; None stands for the default config or split.

    All problems of all splits are reported at once.
    """
    config, split = select(corpus, config, split)
    declared = corpus.configs[config]
    _check_files(corpus, config, data_dir)
    parts = declared.parts(split)
    located = {name: locate(corpus, source, data_dir) for name, source in parts.items()}
    reader = find_format(corpus.task, declared.format or corpus.format)
    options = data_dir.options if isinstance(data_dir, UserFiles) else {}
    read: dict[str, Sequence[Record]] = {}
    notes: list[Note] = []
    wrong: list[FormatError] = []
    for name, files in located.items():
        try:
            if isinstance(parts[name], SourceFile):
                parsed = _read(files.path, name, declared.read_definition, reader)
            else:
                assert reader.folder is not None  # noqa: S101 (of a corpus that declares a folder)
                parsed = _name_places(reader.folder.read_files(files.files, name, **options), files)
            read[name], notes_on_split = _validate(
                corpus,
                files.path,
                parsed,
                declared.read_definition,
                is_released=files.released is True,
            )
        except FormatError as error:
            wrong.append(error)
            continue
        before = sum(map(len, read.values())) - len(read[name])
        for note in notes_on_split:
            number = None if note.record is None else before + note.record
            notes.append(note._replace(record=number))
    if wrong:
        raise merge_errors(wrong)
    if split in read:
        records = read[split]
    else:
        records = reader.unite(read)
        first: dict[str, str] = {}
        splits = [one for one, own in read.items() for _ in own]
        expected = "(expected distinct ids)"
        if problems := [
            Problem(
                f"{corpus.key} {quote(name)} is in split {first[name]} and in split {one} {expected}"
            )
            for name, one in zip(column(records, corpus.key), splits, strict=True)
            if first.setdefault(name, one) != one
        ]:
            raise FormatError(corpus.name, problems)
    if declared.flattens and (module := find(corpus.task, "records")):
        records = cast(Sequence[Record], module.flatten(records))
    known = [files.released for files in located.values()]
    return Gold(
        corpus,
        config,
        split,
        records,
        released=None if None in known else all(known),
        remarks=tuple(
            _describe_source(located[name]) for name in parts if located[name].released is False
        ),
        notes=tuple(notes),
        by_record=not any(isinstance(source, SourceFile) for source in parts.values()),
        data_dir=data_dir.data_dir if isinstance(data_dir, UserFiles) else data_dir,
    )


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


def data_notices(corpus: Corpus, config: str, data_dir: DataDir | None) -> list[str]:
    """List the files of a config that differ from the released ones, and the unavailable splits, one sentence each."""
    _check_files(corpus, config, data_dir)
    if data_dir is None:
        return describe_skipped_splits(corpus, config)
    released = [
        source
        for source in corpus.configs[config].splits.values()
        if not isinstance(source, UserFolders)
    ]
    located = [locate(corpus, source, data_dir) for source in released if is_in(data_dir, source)]
    return [_describe_source(files) for files in located if files.released is False]


def describe_skipped_splits(corpus: Corpus, config: str) -> list[str]:
    """List the splits of a config that the user's folder lacks although it has others, one sentence each."""
    folder, here, declared = (
        data_folder(corpus.name),
        splits_at_hand(corpus, config),
        corpus.configs[config],
    )
    lacking = [split for split in declared.splits if split not in here]
    found = []
    if lacking:
        names = " and ".join(filter(None, (", ".join(lacking[:-1]), lacking[-1])))
        one = len(lacking) == 1
        what = f"{'split' if one else 'splits'} {names} of {corpus.name} {'is' if one else 'are'} skipped"
        found.append(
            f"{what}: {folder} has other splits, but not {'this one' if one else 'these'}."
        )
    for union, splits in declared.unions.items():
        if needed := [split for split in splits if split in lacking]:
            found.append(
                f"split {union} of {corpus.name} is skipped: it needs {', '.join(needed)}."
            )
    return found


def splits_at_hand(
    corpus: Corpus, config: str, data_dir: DataDir | None = None
) -> Mapping[str, Source]:
    """Return the splits of a config without those that the user's folder lacks.

    Without `data_dir`, this is the corpus's folder in ``$CLOSEREAD_DATA``; if it has no split of the config, all splits
    are available, since they come with the package or can be downloaded.
    """
    splits = corpus.configs[config].splits
    if data_dir is not None:
        return {split: source for split, source in splits.items() if is_in(data_dir, source)}
    folder = data_folder(corpus.name)
    if folder is None or not any(is_in(folder, source) for source in splits.values()):
        return splits
    places = (folder, cache_folder(corpus.name))
    return {
        split: source
        for split, source in splits.items()
        if any(is_in(place, source) for place in places)
    }


def available_splits(corpus: Corpus, config: str, data_dir: DataDir | None = None) -> list[str]:
    """Return the names of the splits at hand (see `splits_at_hand`), and of the unions of these."""
    here, unions = splits_at_hand(corpus, config, data_dir), corpus.configs[config].unions
    return [*here, *(union for union, splits in unions.items() if here.keys() >= set(splits))]


def _check_files(corpus: Corpus, config: str, data_dir: DataDir | None) -> None:
    """Check that a config does not come with the package, and that the corpus has the user's folders and options."""
    if isinstance(data_dir, UserFiles):
        options = {option.name: option.choices for option in corpus.reading_options}
        for name in (*data_dir.folders, *data_dir.options):
            if name not in corpus.reading_names:
                what = f"folder or option of reading {corpus.name}"
                raise RequestError(describe_unknown(what, name, corpus.reading_names))
        for name, value in data_dir.options.items():
            if value not in options[name]:
                raise RequestError(f"option {name}: {describe_choice(value, options[name])}")
    if data_dir is not None and any(
        source.url is None for source in corpus.configs[config].splits.values()
    ):
        raise RequestError(
            f"config {config} of {corpus.name} comes with the package; it takes no data folder"
        )


def _describe_source(located: LocatedFiles) -> str:
    what = "does not contain the released files" if located.files else "is not the released file"
    return f"{located.path} {what} (sha256 {located.sha256[:12]}…); using it as it is."


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
    if isinstance(source, Path) and not _SPLIT.fullmatch(split):
        raise RequestError(
            f"split {quote(split)} is not valid (expected 1 to 40 ASCII letters, digits, '_', '.' and '-')"
        )
    parsed = _read(source, split, "document", find_format(corpus.task, corpus.format))
    records, notes = _validate(
        corpus, source if isinstance(source, Path) else name, parsed, "document"
    )
    by_record = isinstance(source, Path) and source.is_dir()
    return Gold(corpus, None, None, records, False, (), tuple(notes), by_record)


def read_corpus_gold(place: GoldSpec) -> Gold:
    """Read the gold records of a corpus, or the user's own."""
    corpus = load_corpus(place.corpus or "")
    declared = corpus.configs.get(place.config or corpus.default_config)
    if declared is not None and (declared.flattens or declared.definition != "document"):
        what = (
            "is for data frames, with a row for each annotation"
            if declared.flattens
            else "has no gold annotation"
        )
        raise RequestError(f"config {place.config} of {place.corpus} {what}; choose another config")
    if place.gold is None:
        with limits.keep_usual_limit():
            return read_gold(corpus, place.config, place.split, place.data_dir)
    if place.config is not None or place.data_dir is not None:
        raise RequestError("your own gold can't be combined with a config or a data folder")
    # of a file, it is a part of generated ids
    if place.split is not None and not isinstance(place.gold, Path):
        raise RequestError("your own gold in memory can't be combined with a split")
    return read_own_gold(corpus, place.gold, place.split)


def read_file(
    corpus: Corpus,
    source: Path | Sequence[Record],
    split: str | None = None,
    definition: str = "document",
    name: str = "rows",
) -> Sequence[Record]:
    """Read records that follow a definition of a corpus's schema, from a file or from memory, as `read_own_gold`."""
    parsed = _read(
        source, split or corpus.default_split, definition, find_format(corpus.task, corpus.format)
    )
    return _validate(corpus, source if isinstance(source, Path) else name, parsed, definition)[0]


def read_rows(path: Path, corpus: str, definition: str) -> Sequence[Record]:
    """Read the rows of a JSON Lines file that follows a definition of a corpus's schema."""
    declared = load_corpus(corpus)
    schema = load_schema(declared.schema)
    parsed = read_json_lines(path)
    return validate_records(path, parsed, schema, definition, declared.key)


def _read(source: Path | Sequence[Record], split: str, definition: str, reader: Format) -> Parsed:
    """Read a file (JSON Lines, Parquet, or a format, whose suffixes have priority), a folder, or rows in memory."""

    def complete(rows: Sequence[Any]) -> Parsed:
        """Add the fields that are derived, as reading a file does."""
        return reader.complete(rows) if definition == "document" else Parsed(rows, None, [])

    if not isinstance(source, Path):
        return complete(convert_rows(source))
    suffix = text_suffix(source)
    if source.is_dir() and reader.folder is not None:
        return reader.folder.read(source)
    if suffix in JSON_LINES and suffix not in reader.suffixes:
        return read_json_lines(source)
    if source.suffix.lower() == PARQUET:
        return complete(
            convert_rows(read_parquet(source, lambda found: find_repeated_columns(found.names)))
        )
    return reader.read(source, split)


def _validate(
    corpus: Corpus, path: Path | str, parsed: Parsed, definition: str, *, is_released: bool = False
) -> tuple[Sequence[Record], list[Note]]:
    """Validate the content of a file or a folder, or rows in memory, and return it with notes on it."""
    if isinstance(parsed.records, ColumnRecords) and corpus.key not in parsed.records.columns:
        columns = ", ".join(quote(str(name)) for name in parsed.records.columns)
        found = f"has no column {quote(corpus.key)} (columns: {columns})"
        raise FormatError(path, [Problem(found)])
    rules = load_rules(corpus.task, definition)
    records = validate_records(
        path,
        parsed,
        load_schema(corpus.schema),
        definition,
        *(corpus.key, *corpus.unique),
        find_inconsistencies=rules.find_inconsistencies,
        unsafe=find_format(corpus.task, corpus.format).unsafe,
    )
    if parsed.notices is None:
        return records, _list_notes(rules, records, is_released=is_released)
    notices = parsed.notices if is_released else [*parsed.notices, *parsed.oddities]
    numbers = {file: number for number, file in enumerate(parsed.lines)}
    notes = [
        Note(notice, str(path), numbers.get(notice.file or ""))
        for notice in sorted(notices, key=lambda notice: notice.order)
    ]
    return records, notes


def dump_gold(corpus: Corpus, path: Path, records: Sequence[Record]) -> str:
    """Return records as the text of a file that `read_own_gold` reads: JSON Lines, or the corpus's own format."""
    write = find_gold_writer(corpus, path)
    try:
        return write(records)
    except ValueError as error:
        raise RequestError(f"cannot write {path}: {error}") from None


def find_gold_writer(corpus: Corpus, path: Path) -> Callable[[Sequence[Record]], str]:
    """Return the function with which `dump_gold` makes the text of a file, if its format can be written."""
    own = find_format(corpus.task, corpus.format)
    if text_suffix(path) in JSON_LINES and not own.is_json_lines:
        return lambda records: dump_json_lines(records, own.unsafe)
    if own.write is None or path.suffix.lower() == PARQUET:
        raise RequestError(
            f"cannot write gold of {corpus.name} to {path}: unsupported suffix (expected {JSON_LINES[0]})"
        )
    return own.write
