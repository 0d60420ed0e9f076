"""Corpora by name: their declarations, and their records read, checked and digested."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from closeread.corpora.declaration import Corpus, Source, SourceFolder
from closeread.corpora.digests import unit_digests
from closeread.corpora.schema import RowValidator, Schema, label_names, load_schema, resolve
from closeread.corpora.sources import Located, cache_folder, data_folder, is_in, locate
from closeread.counts.sides import Origin
from closeread.errors import FormatError, RequestError, describe_unknown, quote
from closeread.formats.json_lines import SUFFIXES as JSON_LINES
from closeread.formats.json_lines import read_json_lines
from closeread.formats.parquet import read_parquet
from closeread.records import ColumnRecords, Parsed, ParsedFolder, Record, find_repeated, name_problem
from closeread.tasks import find

SPLIT = re.compile(r"[A-Za-z0-9_.-]{1,40}")


class Format(Protocol):
    """What a module of `closeread.formats` offers for a corpus's own files.

    It may offer `notices(records)`, what is odd about valid records, a sentence each; `background(records)`, what its
    reader of submissions may want to know of gold; and `SUFFIXES`, the kinds of files that it reads before the general
    readers do.
    """

    def read_records(self, path: Path, split: str) -> Parsed:
        """The records of a file, with ids made from the split's name where the file has none."""
        ...

    def inconsistencies(self, records: Sequence[Record]) -> Iterable[tuple[int, str]]:
        """What no schema can say of valid records: the index of a record and what is wrong with it."""
        ...


class FolderFormat(Format, Protocol):
    """What a module of `closeread.formats` offers, too, where many files make a split."""

    def read_files(self, files: Mapping[str, Path], split: str) -> ParsedFolder:
        """The records of a split, from its files by their path below its folder."""
        ...

    def read_folder(self, path: Path) -> ParsedFolder:
        """The records of a folder of the user's own."""
        ...


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
        background: what readers of submissions, and baselines, may want to know of them; None for nothing.
    """

    corpus: Corpus
    config: str | None
    split: str | None
    records: Sequence[Record]
    released: bool
    notices: tuple[str, ...] = ()
    background: Any = None

    @property
    def origin(self) -> Origin:
        """Where they came from, as a report says it."""
        return Origin(self.corpus.name, self.config, self.split, self.released)

    @property
    def digest(self) -> str:
        """The sha256, in hex, of what they hold, in whatever order they stand."""

        from closeread.counts.table import combine_digests

        return combine_digests(unit_digests(self.records, self.corpus.key, self.corpus.not_in_digest).values())


class Contents(NamedTuple):
    """What a file or a folder holds.

    Attributes:
        records: the records, valid by the schema and the corpus's own rules.
        notices: what is odd about them, one sentence each.
        background: what readers of submissions, and baselines, may want to know of them; None for nothing.
    """

    records: Sequence[Record]
    notices: tuple[str, ...]
    background: Any


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
    definition, reader = (
        corpus.configs[config].definition,
        load_format(corpus.procedure, corpus.configs[config].format or corpus.format),
    )
    if isinstance(source, SourceFolder):
        parsed = cast(FolderFormat, reader).read_files(located.files, split)
        held = _judged(corpus, located.path, parsed, definition, reader)
    else:
        held = _read(corpus, located.path, split, definition, reader)
    notices = (*_notices(located), *held.notices)
    return Gold(corpus, config, split, held.records, located.released, notices, held.background)


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
    held = _read(corpus, path, split, "document", load_format(corpus.procedure, corpus.format))
    return Gold(corpus, None, None, held.records, False, held.notices, held.background)


def read_file(corpus: Corpus, path: Path, split: str, definition: str = "document") -> Sequence[Record]:
    """The records of a file: the corpus's own format, or by its suffix JSON Lines (`.jsonl`) or Parquet (`.parquet`).

    Args:
        corpus: the declaration that the file follows.
        path: the file; suffixes that the corpus's own format claims (`SUFFIXES`) go before the general ones.
        split: the name that made-up ids begin with.
        definition: what its records are by the corpus's schema.

    Raises:
        FormatError: the file can't be read, or breaks its format, its schema or the corpus's own rules.
    """
    return _read(corpus, path, split, definition, load_format(corpus.procedure, corpus.format)).records


def _read(corpus: Corpus, path: Path, split: str, definition: str, reader: Format) -> Contents:
    if path.is_dir() and hasattr(reader, "read_folder"):
        return _judged(corpus, path, cast(FolderFormat, reader).read_folder(path), definition, reader)
    if path.name.endswith(tuple(getattr(reader, "SUFFIXES", ()))):
        parsed = reader.read_records(path, split)
    elif path.suffix in JSON_LINES:
        parsed = read_json_lines(path)
    elif path.suffix == ".parquet":
        rows = _with_label_names(read_parquet(path), load_schema(corpus.name), definition)
        parsed = Parsed(rows, range(1, len(rows) + 1), [])
    else:
        parsed = reader.read_records(path, split)
    return _judged(corpus, path, parsed, definition, reader)


def _judged(corpus: Corpus, path: Path, parsed: Parsed | ParsedFolder, definition: str, reader: Format) -> Contents:
    """What a reader found, once it is valid."""
    keys = (corpus.key, *corpus.unique)
    records = judge(path, parsed, load_schema(corpus.name), definition, *keys, judge=reader.inconsistencies)
    if isinstance(parsed, ParsedFolder):
        notices = sorted(parsed.notices, key=lambda notice: notice.order)
        return Contents(records, tuple(notice.at(str(path)) for notice in notices), parsed.background)
    tell, background = (getattr(reader, name, None) for name in ("notices", "background"))
    return Contents(
        records,
        () if tell is None else tuple(tell(records)),
        None if background is None else background(records),
    )


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
        FormatError: as `checked`.
    """
    return judge(path, read_json_lines(path), load_schema(corpus), definition, load_corpus(corpus).key)


def judge(
    path: Path,
    parsed: Parsed | ParsedFolder,
    schema: Schema,
    definition: str = "document",
    *keys: str,
    judge: Callable[[Sequence[Record]], Iterable[tuple[int, str]]] = lambda records: (),
) -> Sequence[Record]:
    """The records of a file or a folder, or one error with everything that is wrong with it.

    Args:
        path: the file or the folder, for the message.
        parsed: what a reader found in it.
        schema, definition: what the records must fit.
        keys: the fields that name a record, each of which no two may share.
        judge: what no schema can say of records that fit it: the number of each that is wrong, and what is.

    Raises:
        FormatError: something could not be read, a record breaks the schema or is judged wrong, or two records share
            a name.
    """
    rejected = RowValidator(schema, definition).problems(parsed.records, range(len(parsed.records)))
    problems = parsed.problems + [name_problem(parsed, next(iter(keys), ""), problem) for problem in rejected]
    problems += [problem for key in keys for problem in find_repeated(parsed, key)]
    unfit = {problem.line for problem in rejected}
    numbers = [number for number in range(len(parsed.records)) if number not in unfit]
    fit = [parsed.records[number] for number in numbers] if unfit else parsed.records
    problems += [parsed.problem(numbers[index], what) for index, what in judge(fit)]
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
    return parsed.records


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


def load_format(task: str, name: str) -> Format:
    """The module of a task that reads a format, or that of `closeread.formats`."""
    return cast(Format, find(task, name) or importlib.import_module(f"closeread.formats.{name}"))
