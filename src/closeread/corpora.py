"""Corpora by name: their declarations, and their records read, checked and digested."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from closeread.declarations import Corpus, SourceFile
from closeread.errors import FormatError, Problem, RequestError, quoted, unknown
from closeread.formats.json_lines import read_json_lines
from closeread.formats.parquet import read_parquet
from closeread.records import ColumnRecords, Parsed, Record, as_columns, content_digest
from closeread.schema import RowValidator, Schema, label_names, load_schema, resolve
from closeread.sources import Located, locate

JSON_LINES = (".jsonl", ".ndjson")
SPLIT = re.compile(r"[A-Za-z0-9_.-]{1,40}")


class Format(Protocol):
    """What a module of `closeread.formats` offers for a corpus's own files."""

    def read_records(self, path: Path, split: str) -> Parsed:
        """The records of a file, with ids made from the split's name where the file has none."""
        ...

    def inconsistencies(self, records: Sequence[Record]) -> Iterable[tuple[int, str]]:
        """What no schema can say of valid records: the index of a record and what is wrong with it."""
        ...


@dataclass(frozen=True)
class Gold:
    """Gold records, ready to be scored against.

    Attributes:
        corpus: the declaration that they follow.
        config: the config that they were read from; None for the user's own gold file.
        split: their split; None for the user's own gold file.
        records: the records, valid by the corpus's schema.
        digest: what they hold, as a sha256 in hex (`closeread.records.content_digest`).
        released: whether they are the released ones.
        notices: what a user should know about them, one sentence each.
    """

    corpus: Corpus
    config: str | None
    split: str | None
    records: Sequence[Record]
    digest: str
    released: bool
    notices: tuple[str, ...] = ()


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
        raise RequestError(unknown("corpus", name, names))
    module = importlib.import_module(f"closeread.loaders.{name}.declaration")
    return cast(Corpus, module.CORPUS)


def select(corpus: Corpus, config: str | None, split: str | None) -> tuple[str, str, SourceFile]:
    """The config, the split and the split's file, with the corpus's defaults filled in.

    Raises:
        RequestError: the corpus has no such config, or the config no such split.
    """
    config = config or corpus.default_config
    if config not in corpus.configs:
        raise RequestError(unknown(f"config of {corpus.name}", config, list(corpus.configs)))
    splits = corpus.configs[config].splits
    split = split or (corpus.default_split if corpus.default_split in splits else next(iter(splits)))
    if split not in splits:
        raise RequestError(unknown(f"split of {corpus.name} ({config})", split, list(splits)))
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
    config, split, file = select(corpus, config, split)
    _refuse_folder(corpus, config, data_dir)
    located = locate(corpus, file, data_dir)
    records = read_file(corpus, located.path, split, corpus.configs[config].definition)
    notices = (*_notices(located), *_oddities(corpus, records))
    return Gold(corpus, config, split, records, gold_digest(corpus, records), located.released, notices)


def read_own_gold(corpus: Corpus, path: Path, split: str | None = None) -> Gold:
    """The records of the user's own gold file: the corpus's own format, or JSON Lines of its schema.

    Args:
        corpus: the declaration that the file follows.
        path: the file; by its suffix JSON Lines (`.jsonl`, `.ndjson`) or Parquet (`.parquet`), else the corpus's own
            format.
        split: the name that made-up ids begin with; None for the corpus's default split.

    Raises:
        RequestError: the split's name can't begin an id.
        InputError: the file can't be read, or breaks its format or schema.
    """
    split = split or corpus.default_split
    if not SPLIT.fullmatch(split):
        raise RequestError(f"split {quoted(split)} can't begin an id; needed: letters, digits, '_', '.' or '-'")
    records = read_file(corpus, path, split)
    digest = gold_digest(corpus, records)
    return Gold(corpus, None, None, records, digest, released=False, notices=_oddities(corpus, records))


def gold_digest(corpus: Corpus, records: Sequence[Record]) -> str:
    """The sha256, in hex, of what the records hold, but for what no score depends on."""
    left_out = set(corpus.undigested)
    if not left_out:
        return content_digest(records)
    return content_digest([{name: v for name, v in record.items() if name not in left_out} for record in records])


def _oddities(corpus: Corpus, records: Sequence[Record]) -> tuple[str, ...]:
    """What is odd about valid records, where the corpus's format tells."""
    tell = getattr(load_format(corpus.format), "notices", None)
    return () if tell is None else tuple(tell(records))


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
    reader = load_format(corpus.format)
    schema = load_schema(corpus.name)
    if path.name.endswith(tuple(getattr(reader, "SUFFIXES", ()))):
        parsed = reader.read_records(path, split)
    elif path.suffix in JSON_LINES:
        parsed = read_json_lines(path)
    elif path.suffix == ".parquet":
        rows = _with_label_names(read_parquet(path), schema, definition)
        parsed = Parsed(rows, range(1, len(rows) + 1), [])
    else:
        parsed = reader.read_records(path, split)
    records = checked(path, parsed, schema, definition, key=corpus.key)
    problems = [Problem(what, parsed.lines[index]) for index, what in reader.inconsistencies(records)]
    if problems:
        raise FormatError(path, problems)
    return records


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
    return checked(path, read_json_lines(path), load_schema(corpus), definition, key=load_corpus(corpus).key)


def checked(
    path: Path, parsed: Parsed, schema: Schema, definition: str = "document", *, key: str = "id"
) -> Sequence[Record]:
    """The records of a file, or one error with everything that is wrong with the file.

    Args:
        path: the file, for the message.
        parsed: what a reader found in it.
        schema, definition: what the records must fit.
        key: the field that names a record, which no two may share.

    Raises:
        FormatError: a line could not be read, a record breaks the schema, or two records share a name.
    """
    problems = parsed.problems + RowValidator(schema, definition).problems(parsed.records, parsed.lines)
    problems += _repeated(parsed, key)
    if problems:
        raise FormatError(path, sorted(problems, key=lambda p: p.line or 0))
    return parsed.records


def _repeated(parsed: Parsed, key: str) -> list[Problem]:
    names = as_columns(parsed.records, [key])[key]
    if set(map(type, names)) == {str} and len(set(names)) == len(names):
        return []
    first: dict[str, int] = {}
    problems = []
    for name, line in zip(names, parsed.lines, strict=True):
        if isinstance(name, str) and first.setdefault(name, line) != line:
            problems.append(Problem(f"{key} {quoted(name)} stands on line {first[name]} already", line))
    return problems


def data_notices(corpus: Corpus, config: str, data_dir: Path | None) -> list[str]:
    """Which files of a config in a folder are not the released ones, one sentence each.

    Raises:
        RequestError: the config's files ship in the package, and there is a folder.
        FormatError: a file can't be read.
    """
    _refuse_folder(corpus, config, data_dir)
    if data_dir is None:
        return []
    files = corpus.configs[config].splits.values()
    located = [locate(corpus, file, data_dir) for file in files if (data_dir / file.name).exists()]
    return [notice for place in located for notice in _notices(place)]


def _refuse_folder(corpus: Corpus, config: str, data_dir: Path | None) -> None:
    if data_dir is not None and any(file.url is None for file in corpus.configs[config].splits.values()):
        raise RequestError(f"config {config} of {corpus.name} ships in the package and goes without a data folder")


def _notices(located: Located) -> tuple[str, ...]:
    if located.released:
        return ()
    return (f"{located.path} is not the released file (sha256 {located.sha256[:12]}…); it is used as it is.",)


def load_format(name: str) -> Format:
    """The module of `closeread.formats` with that name."""
    return cast(Format, importlib.import_module(f"closeread.formats.{name}"))
