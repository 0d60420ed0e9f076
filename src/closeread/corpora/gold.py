"""Corpora by name: their declarations, and their records read, checked and digested."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

from closeread.corpora.declaration import Corpus, Source, SourceFolder
from closeread.corpora.judging import judge
from closeread.corpora.rules import load_rules
from closeread.corpora.schema import Schema, label_names, load_schema, resolve
from closeread.corpora.sources import Located, cache_folder, data_folder, is_in, locate
from closeread.digests import combine_digests, unit_digests
from closeread.errors import RequestError, describe_unknown, quote
from closeread.formats import Format
from closeread.formats.json_lines import SUFFIXES as JSON_LINES
from closeread.formats.json_lines import read_json_lines
from closeread.formats.parquet import read_parquet
from closeread.records import AnyParsed, ColumnRecords, Origin, Parsed, ParsedFolder, ParsedRows, Record
from closeread.tasks import find_format

SPLIT = re.compile(r"[A-Za-z0-9_.-]{1,40}")


@dataclass(frozen=True)
class Gold:
    """Gold records, ready to be scored against.

    Attributes:
        corpus: the declaration that they follow.
        config: the config that they were read from; None for the user's own gold file.
        split: their split; None for the user's own gold file.
        records: the records, valid by the corpus's schema.
        released: whether they are the released ones.
        notices: what a user should know about them, one sentence each.
    """

    corpus: Corpus
    config: str | None
    split: str | None
    records: Sequence[Record]
    released: bool
    notices: tuple[str, ...] = ()

    @property
    def origin(self) -> Origin:
        """Where they came from, as a report says it."""
        return Origin(self.corpus.name, self.config, self.split, self.released)

    @property
    def digest(self) -> str:
        """The sha256, in hex, of what they hold, in whatever order they stand."""

        return combine_digests(unit_digests(self.records, self.corpus.key, self.corpus.not_in_digest).values())


class Contents(NamedTuple):
    """What a file or a folder holds.

    Attributes:
        records: the records, valid by the schema and the corpus's own rules.
        notices: what is odd about them, one sentence each.
    """

    records: Sequence[Record]
    notices: tuple[str, ...]


def corpus_names() -> list[str]:
    """The names of all corpora, sorted: the folders of `closeread.loaders`."""
    import closeread.loaders

    return sorted(module.name for module in pkgutil.iter_modules(closeread.loaders.__path__) if module.ispkg)


def load_corpus(name: str) -> Corpus:
    """The declaration of a corpus.

    Raises:
        RequestError: there is no such corpus; the message names the nearest.
    """
    names = corpus_names()
    if name not in names:
        raise RequestError(describe_unknown("corpus", name, names))
    module = importlib.import_module(f"closeread.loaders.{name}.declaration")
    return cast(Corpus, module.CORPUS)


def select(corpus: Corpus, config: str | None, split: str | None) -> tuple[str, str, Source]:
    """The config, the split and the split's file or folder, with the corpus's defaults filled in.

    Raises:
        RequestError: the corpus has no such config, or the config no such split.
    """
    config = config or corpus.default_config
    if config not in corpus.configs:
        raise RequestError(describe_unknown(f"config of {corpus.name}", config, list(corpus.configs)))
    splits = corpus.configs[config].splits
    split = split or (corpus.default_split if corpus.default_split in splits else next(iter(splits)))
    if split not in splits:
        raise RequestError(describe_unknown(f"split of {corpus.name} ({config})", split, list(splits)))
    return config, split, splits[split]


def read_gold(
    corpus: Corpus, config: str | None = None, split: str | None = None, data_dir: Path | None = None
) -> Gold:
    """The records of a split.

    Args:
        corpus: the declaration.
        config: a config's name; None for the default.
        split: a split's name; None for the default.
        data_dir: a folder with the corpus's files, which may differ from the released ones.

    Raises:
        RequestError: no such config or split.
        InputError: the files can't be had, are not the released ones, or break their format or schema.
    """
    config, split, source = select(corpus, config, split)
    _refuse_folder(corpus, config, data_dir)
    located = locate(corpus, source, data_dir)
    declared = corpus.configs[config]
    reader = find_format(corpus.procedure, declared.format or corpus.format)
    if isinstance(source, SourceFolder):
        if reader.folder is None:
            raise TypeError(f"{corpus.name} has splits of many files, which its format does not read")
        parsed = reader.folder.read_files(located.files, split)
        held = _judged(corpus, located.path, parsed, declared.definition)
    else:
        held = _read(corpus, located.path, split, declared.definition, reader)
    notices = (*_notices(located), *held.notices)
    return Gold(corpus, config, split, held.records, located.released, notices)


def read_own_gold(corpus: Corpus, path: Path, split: str | None = None) -> Gold:
    """The records of the user's own gold file: the corpus's own format, or JSON Lines of its schema.

    Args:
        corpus: the declaration that the file follows.
        path: the file; by its suffix JSON Lines (`.jsonl`, `.ndjson`) or Parquet (`.parquet`), else the corpus's own
            format; or a folder of files, where the format has such.
        split: the name that made-up ids begin with; None for the corpus's default split.

    Raises:
        RequestError: the split's name can't begin an id.
        InputError: the file can't be read, or breaks its format or schema.
    """
    split = split or corpus.default_split
    if not SPLIT.fullmatch(split):
        raise RequestError(f"split {quote(split)} can't begin an id; needed: letters, digits, '_', '.' or '-'")
    held = _read(corpus, path, split, "document", find_format(corpus.procedure, corpus.format))
    return Gold(corpus, None, None, held.records, False, held.notices)


def take_own_gold(corpus: Corpus, records: Sequence[Record]) -> Gold:
    """The user's own gold records, in memory.

    Args:
        corpus: the declaration that they follow.
        records: the records.

    Raises:
        FormatError: they break the schema or the corpus's own rules; all problems at once.
    """
    held = _judged(corpus, "gold", ParsedRows(records, []), "document")
    return Gold(corpus, None, None, held.records, False, held.notices)


def read_file(corpus: Corpus, path: Path, split: str, definition: str = "document") -> Sequence[Record]:
    """The records of a file: the corpus's own format, or by its suffix JSON Lines (`.jsonl`) or Parquet (`.parquet`).

    Args:
        corpus: the declaration that the file follows.
        path: the file; suffixes that the corpus's own format claims go before the general ones.
        split: the name that made-up ids begin with.
        definition: what its records are by the corpus's schema.

    Raises:
        FormatError: the file can't be read, or breaks its format, its schema or the corpus's own rules.
    """
    return _read(corpus, path, split, definition, find_format(corpus.procedure, corpus.format)).records


def _read(corpus: Corpus, path: Path, split: str, definition: str, reader: Format) -> Contents:
    if path.is_dir() and reader.folder is not None:
        return _judged(corpus, path, reader.folder.read(path), definition)
    if path.name.endswith(reader.suffixes):
        parsed = reader.read(path, split)
    elif path.suffix in JSON_LINES:
        parsed = read_json_lines(path)
    elif path.suffix == ".parquet":
        rows = _with_label_names(read_parquet(path), load_schema(corpus.name), definition)
        parsed = Parsed(rows, range(1, len(rows) + 1), [])
    else:
        parsed = reader.read(path, split)
    return _judged(corpus, path, parsed, definition)


def _judged(corpus: Corpus, path: Path | str, parsed: AnyParsed, definition: str) -> Contents:
    """What a reader found, once it is valid."""
    keys = (corpus.key, *corpus.unique)
    rules = load_rules(corpus.procedure, definition)
    records = judge(path, parsed, load_schema(corpus.name), definition, *keys, judge=rules.find_inconsistencies)
    if isinstance(parsed, ParsedFolder):
        notices = sorted(parsed.notices, key=lambda notice: notice.order)
        return Contents(records, tuple(notice.at(str(path)) for notice in notices))
    return Contents(records, tuple(rules.find_oddities(records)))


def _with_label_names(records: ColumnRecords, schema: Schema, definition: str) -> ColumnRecords:
    fields = resolve(schema, schema["$defs"][definition])["properties"]
    return ColumnRecords(
        {
            name: label_names(resolve(schema, fields[name]), values) if name in fields else values
            for name, values in records.columns.items()
        }
    )


def read_rows(path: Path, corpus: str, definition: str) -> Sequence[Record]:
    """The rows of a JSON Lines file that follows a definition of a corpus's schema.

    Raises:
        FormatError: as `closeread.corpora.judging.judge`.
    """
    return judge(path, read_json_lines(path), load_schema(corpus), definition, load_corpus(corpus).key)


def data_notices(corpus: Corpus, config: str, data_dir: Path | None) -> list[str]:
    """Which files of a config in a folder are not the released ones, and which splits are left out, a sentence each.

    Raises:
        RequestError: the config's files ship in the package, and there is a folder.
        FormatError: a file can't be read.
    """
    _refuse_folder(corpus, config, data_dir)
    if data_dir is None:
        return left_out(corpus, config)
    sources = corpus.configs[config].splits.values()
    located = [locate(corpus, source, data_dir) for source in sources if is_in(data_dir, source)]
    return [notice for place in located for notice in _notices(place)]


def left_out(corpus: Corpus, config: str) -> list[str]:
    """Which splits of a config the user's folder of corpora lacks, while it has others, one sentence each."""
    folder, here = data_folder(corpus.name), splits_at_hand(corpus, config)
    found = [split for split in corpus.configs[config].splits if split not in here]
    return [f"{split} of {corpus.name} is left out: {folder} holds other splits and not this one." for split in found]


def splits_at_hand(corpus: Corpus, config: str, data_dir: Path | None = None) -> Mapping[str, Source]:
    """The splits of a config, but for those that the user's folder of files lacks.

    Without `data_dir`, that is the corpus's folder in ``$CLOSEREAD_DATA``; where that has no split of the config, all
    are at hand, since they ship in the package or can be downloaded.
    """
    splits = corpus.configs[config].splits
    if data_dir is not None:
        return {split: source for split, source in splits.items() if is_in(data_dir, source)}
    folder = data_folder(corpus.name)
    if folder is None or not any(is_in(folder, source) for source in splits.values()):
        return splits
    places = (folder, cache_folder(corpus.name))
    return {split: source for split, source in splits.items() if any(is_in(place, source) for place in places)}


def _refuse_folder(corpus: Corpus, config: str, data_dir: Path | None) -> None:
    if data_dir is not None and any(source.url is None for source in corpus.configs[config].splits.values()):
        raise RequestError(f"config {config} of {corpus.name} ships in the package and goes without a data folder")


def _notices(located: Located) -> tuple[str, ...]:
    if located.released:
        return ()
    what = "does not hold the released files" if located.files else "is not the released file"
    return (f"{located.path} {what} (sha256 {located.sha256[:12]}…); it is used as it is.",)
