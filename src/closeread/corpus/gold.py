"""Corpora by name: their declarations, and their gold records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from closeread.corpus.contents import (
    Contents,
    complete_rows,
    flatten_records,
    name_places,
    read_path,
    validate_contents,
)
from closeread.corpus.declaration import Corpus, Source, SourceFile, UserFolders
from closeread.corpus.judging import validate_records
from closeread.corpus.leniency import make_check
from closeread.corpus.names import load_corpus
from closeread.corpus.oddities import Oddity, describe_known, describe_oddities
from closeread.corpus.rules import load_rules
from closeread.corpus.schema import load_schema
from closeread.corpus.sources import Located, cache_folder, data_folder, is_in, locate
from closeread.digests import combine_digests, unit_digests
from closeread.exceptions import FormatError, Problem, RequestError, merge_errors, quote
from closeread.formats.json_lines import read_json_lines
from closeread.records import DataDir, Origin, Record, UserFiles, column
from closeread.suggestions import describe_unknown
from closeread.tasks import find_format

_SPLIT = re.compile(r"[A-Za-z0-9_.-]{1,40}")


@dataclass(frozen=True)
class Gold:
    """Gold records, ready for scoring.

    Attributes:
        corpus: the declaration that they follow.
        config, split: the part of the corpus; None for the user's own gold.
        records: the records, which match the corpus's schema.
        released: whether they are the released ones; None if no digest of these is known.
        remarks: what there is to say of their files as a whole, one sentence each.
        oddities: what is unusual about them.
        by_record: whether oddities say which record they are about.
        data_dir: the folder that the user gave for the corpus's files; None if there is none.
        key_digests: the sha256 of each record, by its key; None if they were not computed when it was read.
    """

    corpus: Corpus
    config: str | None
    split: str | None
    records: Sequence[Record]
    released: bool | None
    remarks: tuple[str, ...] = ()
    oddities: tuple[Oddity, ...] = ()
    by_record: bool = False
    data_dir: Path | None = None
    key_digests: Mapping[str, bytes] | None = None

    @property
    def own_notices(self) -> list[str]:
        """Notices about what differs from the released files, one sentence each."""
        return [*self.remarks, *describe_oddities(one for one in self.oddities if not one.is_known)]

    @property
    def known_oddities(self) -> list[str]:
        """The oddities of released files, one sentence each."""
        return describe_oddities(one for one in self.oddities if one.is_known)

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices for the user, one sentence each; one for all oddities of released files."""
        known = len(self.known_oddities)
        return (*self.own_notices, *([describe_known(known, self.corpus.name, self.data_dir)] if known else []))

    def notices_about(self, name: str) -> list[str]:
        """Return the notices about one record, for what shows nothing else; one for all oddities of released files."""
        number = list(column(self.records, self.corpus.key)).index(name)
        oddities = [one for one in self.oddities if one.record == number]
        if not self.by_record:
            definition = "document" if self.config is None else self.corpus.configs[self.config].definition
            texts = load_rules(self.corpus.task, definition).find_oddities([self.records[number]])
            oddities = [Oddity(Problem(text), is_known=self.released is True) for text in texts]
        alone = replace(self, oddities=tuple(oddities))
        known = len(alone.known_oddities)
        line = describe_known(known, self.corpus.name, self.data_dir, name)
        return [*alone.own_notices, *([line] if known else [])]

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
        if self.key_digests is not None and unit == self.corpus.key:
            return self.key_digests
        return unit_digests(self.records, unit, self.corpus.not_in_digest)


def select(corpus: Corpus, config: str | None, split: str | None) -> tuple[str, str]:
    """Return the config and the split, which may be a union of splits; None selects the corpus's default.

    Raises:
        RequestError: the corpus has no such config, or the config has no such split.
    """
    config = config or corpus.default_config
    if config not in corpus.configs:
        raise RequestError(describe_unknown(f"config of {corpus.name}", config, list(corpus.configs)))
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
    *,
    store: bool = False,
) -> Gold:
    """Read the records of a split, or of a union of splits.

    Args:
        corpus: the declaration.
        config: a config; None for the default.
        split: a split or a union; None for the default split.
        data_dir: a folder with the corpus's files, which may differ from the released ones; or several places.
        store: as for `closeread.corpus.contents.read_path`.

    Raises:
        RequestError: there is no such config or split, or the corpus has no such folder or option of reading.
        InputError: the files are not available, differ from the released ones, or are invalid.
    """
    config, split = select(corpus, config, split)
    _check_files(corpus, config, data_dir)
    parts = corpus.configs[config].parts(split)
    located = {name: locate(corpus, source, data_dir) for name, source in parts.items()}
    options = data_dir.options if isinstance(data_dir, UserFiles) else {}
    read = _read_splits(corpus, config, located, options, store)
    records = read[split].records if split in read else _unite(corpus, config, read)
    if corpus.configs[config].flattens:
        records = flatten_records(corpus, records)
    remarks = [remark for name in parts for remark in _describe_source(located[name])]
    known = [place.released for place in located.values()]
    released = None if None in known else all(known)
    by_record, oddities = all(contents.by_record for contents in read.values()), tuple(_gather_oddities(located, read))
    folder = data_dir.data_dir if isinstance(data_dir, UserFiles) else data_dir
    digests = read[split].digests if split in read and not corpus.configs[config].flattens else None
    return Gold(corpus, config, split, records, released, tuple(remarks), oddities, by_record, folder, digests)


def _gather_oddities(located: Mapping[str, Located], read: Mapping[str, Contents]) -> Iterator[Oddity]:
    """Yield the oddities of splits, whose records are numbered one split after the other."""
    before = 0
    for split, place in located.items():
        for oddity in read[split].oddities:
            number = None if oddity.record is None else before + oddity.record
            yield oddity._replace(record=number, is_known=place.released is True)
        before += len(read[split].records)


def _read_splits(
    corpus: Corpus, config: str, located: Mapping[str, Located], options: Mapping[str, str], store: bool
) -> dict[str, Contents]:
    """Read splits.

    Raises:
        FormatError: some are invalid; the problems of all of them at once.
    """
    read: dict[str, Contents] = {}
    wrong: list[FormatError] = []
    for split, place in located.items():
        try:
            read[split] = _read_split(corpus, config, split, place, options, store)
        except FormatError as error:
            wrong.append(error)
    if wrong:
        raise merge_errors(wrong)
    return read


def _read_split(
    corpus: Corpus, config: str, split: str, located: Located, options: Mapping[str, str], store: bool
) -> Contents:
    declared = corpus.configs[config]
    reader = find_format(corpus.task, declared.format or corpus.format)
    if not isinstance(declared.splits[split], SourceFile):
        if reader.folder is None:
            raise TypeError(f"{corpus.name} has a split that is a folder, but its format does not read folders")
        parsed = reader.folder.read_files(located.files, split, **options)
        return validate_contents(corpus, located.path, name_places(parsed, located), declared.read_definition)
    return read_path(corpus, located.path, split, declared.read_definition, reader, store=store)


def _unite(corpus: Corpus, config: str, read: Mapping[str, Contents]) -> Sequence[Record]:
    """Return the records of several splits together.

    Raises:
        FormatError: an id occurs in two splits.
    """
    reader = find_format(corpus.task, corpus.configs[config].format or corpus.format)
    records = reader.unite({split: contents.records for split, contents in read.items()})
    splits = [split for split, contents in read.items() for _ in contents.records]
    first: dict[str, str] = {}
    problems = [
        Problem(f"{corpus.key} {quote(name)} is in split {first[name]} and in split {split} (expected distinct ids)")
        for name, split in zip(column(records, corpus.key), splits, strict=True)
        if first.setdefault(name, split) != split
    ]
    if problems:
        raise FormatError(corpus.name, problems)
    return records


def read_own_gold(corpus: Corpus, path: Path, split: str | None = None, *, store: bool = False) -> Gold:
    """Read the records of the user's own gold file.

    Args:
        corpus: the declaration that the file follows.
        path: the file: JSON Lines (`.jsonl`, `.ndjson`), Parquet (`.parquet`), or otherwise the corpus's own format; or
            a folder, if the format has folders.
        split: the prefix of generated ids; None for the corpus's default split.
        store: as for `closeread.corpus.contents.read_path`.

    Raises:
        RequestError: the split can't be the prefix of an id.
        InputError: the file can't be read or is invalid.
    """
    split = split or corpus.default_split
    if not _SPLIT.fullmatch(split):
        raise RequestError(
            f"split {quote(split)} is not valid (expected 1 to 40 ASCII letters, digits, '_', '.' and '-')"
        )
    reader = find_format(corpus.task, corpus.format)
    records, oddities, by_record, digests = read_path(corpus, path, split, "document", reader, store=store)
    return Gold(corpus, None, None, records, False, (), oddities, by_record, None, digests)


def take_own_gold(corpus: Corpus, records: Sequence[Record], name: str = "gold") -> Gold:
    """Validate the user's own gold records in memory.

    Args:
        corpus: the declaration that they follow.
        records: the records.
        name: what to call them in messages.

    Raises:
        FormatError: they break the schema or the corpus's own rules; all problems at once.
    """
    found = take_records(corpus, records, name)
    return Gold(corpus, None, None, found.records, False, (), found.oddities, found.by_record)


def take_records(corpus: Corpus, records: Sequence[Record], name: str, definition: str = "document") -> Contents:
    """Validate records in memory that follow a definition of a corpus's schema.

    Raises:
        FormatError: they break the schema or the corpus's own rules; all problems at once.
    """
    return validate_contents(corpus, name, complete_rows(corpus, records, definition), definition)


def read_file(corpus: Corpus, path: Path, split: str, definition: str = "document") -> Sequence[Record]:
    """Read the records of a file: JSON Lines (`.jsonl`), Parquet (`.parquet`), or otherwise the corpus's own format.

    Args:
        corpus: the declaration that the file follows.
        path: the file; the suffixes of the corpus's own format have priority.
        split: the prefix of generated ids.
        definition: the definition of the schema that the records follow.

    Raises:
        FormatError: the file can't be read or is invalid.
    """
    return read_path(corpus, path, split, definition, find_format(corpus.task, corpus.format)).records


def read_rows(path: Path, corpus: str, definition: str) -> Sequence[Record]:
    """Read the rows of a JSON Lines file that follows a definition of a corpus's schema.

    Raises:
        FormatError: as for `closeread.corpus.judging.validate_records`.
    """
    schema, key = load_schema(corpus), load_corpus(corpus).key
    return validate_records(path, read_json_lines(path, make_check(schema, definition)), schema, definition, key)


def data_notices(corpus: Corpus, config: str, data_dir: DataDir | None) -> list[str]:
    """List the files of a config that differ from the released ones, and the unavailable splits, one sentence each.

    Raises:
        RequestError: there is a folder, but the files of the config come with the package.
        FormatError: a file can't be read.
    """
    _check_files(corpus, config, data_dir)
    if data_dir is None:
        return describe_skipped_splits(corpus, config)
    released = [source for source in corpus.configs[config].splits.values() if not isinstance(source, UserFolders)]
    located = [locate(corpus, source, data_dir) for source in released if is_in(data_dir, source)]
    return [notice for place in located for notice in _describe_source(place)]


def describe_skipped_splits(corpus: Corpus, config: str) -> list[str]:
    """List the splits of a config that the user's folder lacks although it has others, one sentence each."""
    folder, here, declared = data_folder(corpus.name), splits_at_hand(corpus, config), corpus.configs[config]
    lacking = [split for split in declared.splits if split not in here]
    found = []
    if lacking:
        names = " and ".join(filter(None, (", ".join(lacking[:-1]), lacking[-1])))
        one = len(lacking) == 1
        what = f"{'split' if one else 'splits'} {names} of {corpus.name} {'is' if one else 'are'} skipped"
        found.append(f"{what}: {folder} has other splits, but not {'this one' if one else 'these'}.")
    for union, splits in declared.unions.items():
        if needed := [split for split in splits if split in lacking]:
            found.append(f"split {union} of {corpus.name} is skipped: it needs {', '.join(needed)}.")
    return found


def splits_at_hand(corpus: Corpus, config: str, data_dir: DataDir | None = None) -> Mapping[str, Source]:
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
    return {split: source for split, source in splits.items() if any(is_in(place, source) for place in places)}


def available_splits(corpus: Corpus, config: str, data_dir: DataDir | None = None) -> list[str]:
    """Return the names of the splits at hand (see `splits_at_hand`), and of the unions of these."""
    here, unions = splits_at_hand(corpus, config, data_dir), corpus.configs[config].unions
    return [*here, *(union for union, splits in unions.items() if here.keys() >= set(splits))]


def _check_files(corpus: Corpus, config: str, data_dir: DataDir | None) -> None:
    """Check that a config can be read from a user's own files, and as these ask.

    Raises:
        RequestError: it comes with the package, or the corpus has no such folder or option.
    """
    if isinstance(data_dir, UserFiles):
        folders = [folder.name for folder in corpus.user_folders]
        options = {option.name: option.choices for option in corpus.reading_options}
        known = [*folders, *options]
        for name in (*data_dir.folders, *data_dir.options):
            if name not in known:
                raise RequestError(describe_unknown(f"folder or option of reading {corpus.name}", name, known))
        for name, value in data_dir.options.items():
            if value not in options[name]:
                raise RequestError(f"option {name}: {quote(value)} is not one of {', '.join(map(repr, options[name]))}")
    if data_dir is not None and any(source.url is None for source in corpus.configs[config].splits.values()):
        raise RequestError(f"config {config} of {corpus.name} comes with the package; it takes no data folder")


def _describe_source(located: Located) -> tuple[str, ...]:
    if located.released is not False:
        return ()
    what = "does not contain the released files" if located.files else "is not the released file"
    return (f"{located.path} {what} (sha256 {located.sha256[:12]}…); using it as it is.",)
