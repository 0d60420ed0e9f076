"""The content of one file or folder of gold: read, validated, and looked through for oddities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from closeread.corpus.arrow_columns import find_column_problems
from closeread.corpus.declaration import Corpus
from closeread.corpus.judging import validate_records
from closeread.corpus.leniency import make_check
from closeread.corpus.objects import name_labels
from closeread.corpus.oddities import Oddity, find_folder_oddities
from closeread.corpus.rules import load_rules
from closeread.corpus.schema import RowValidator, load_schema
from closeread.corpus.sources import Located
from closeread.corpus.values import convert_rows
from closeread.digests import unit_digests
from closeread.exceptions import Problem, RequestError
from closeread.files import text_suffix
from closeread.formats import Format, StoredFormat, stored_lines
from closeread.formats.json_lines import SUFFIXES as JSON_LINES
from closeread.formats.json_lines import dump_json_lines, pause_garbage_collection, read_json_lines
from closeread.formats.parquet import read_parquet
from closeread.formats.stored_text import HeldText, Text, open_large
from closeread.formats.text import Lines
from closeread.records import AnyParsed, ParsedFolder, ParsedRows, Record, column
from closeread.tasks import find, find_format

PARQUET = ".parquet"


class Contents(NamedTuple):
    """The content of a file or a folder.

    Attributes:
        records: the records, which match the schema and the corpus's own rules.
        oddities: what is unusual about them.
        by_record: whether oddities say which record they are about.
        digests: the sha256 of each record, by its key; None if they were not computed.
    """

    records: Sequence[Record]
    oddities: tuple[Oddity, ...]
    by_record: bool
    digests: Mapping[str, bytes] | None = None


def read_path(
    corpus: Corpus, path: Path, split: str, definition: str, reader: Format, *, store: bool = False
) -> Contents:
    """Read a file (JSON Lines, Parquet, or the corpus's own format) or a folder.

    Args:
        corpus: the declaration that it follows.
        path: the file or the folder; the suffixes of the corpus's own format have priority.
        split: the prefix of generated ids.
        definition: the definition of the schema that the records follow.
        reader: the corpus's own format.
        store: whether records of a large file may be stored as text and parsed whenever they are asked for: for
            scoring, which needs them only once.

    Raises:
        FormatError: it can't be read or is invalid.
    """
    if path.is_dir() and reader.folder is not None:
        return validate_contents(corpus, path, reader.folder.read(path), definition)
    suffix = text_suffix(path)
    if suffix in JSON_LINES and suffix not in reader.suffixes:
        parsed: AnyParsed = read_json_lines(path, make_check(load_schema(corpus.name), definition))
    elif path.suffix.lower() == PARQUET:
        parsed = _read_parquet(corpus, path, definition)
    elif store and reader.stored is not None:
        return _read_stored(corpus, path, definition, reader.stored)
    else:
        parsed = reader.read(path, split)
    return validate_contents(corpus, path, parsed, definition)


def _read_stored(corpus: Corpus, path: Path, definition: str, reader: StoredFormat) -> Contents:
    """Read a file whose records are stored as text if it is large, unless something may be wrong with one.

    Raises:
        FormatError: it can't be read or is invalid.
    """
    lines: Lines | None = None
    text: Text | None = open_large(path)
    if text is None:
        lines = reader.read_lines(path)
        text = HeldText(lines.data)
    if text.size >= stored_lines.LARGE:
        with suppress(stored_lines.UnfitError):
            return _store(corpus, text, definition, reader)
    return validate_contents(corpus, path, reader.parse(lines or reader.read_lines(path)), definition)


def _store(corpus: Corpus, text: Text, definition: str, reader: StoredFormat) -> Contents:
    """Validate the records of a file, some at a time.

    Raises:
        UnfitError: something may be wrong with one.
    """
    rules, validator = load_rules(corpus.task, definition), RowValidator(load_schema(corpus.name), definition)
    keys: dict[str, list[str]] = {name: [] for name in (corpus.key, *corpus.unique)}
    digests: dict[str, bytes] = {}
    stored = reader.store(text)

    def validate() -> Iterator[Sequence[Record]]:
        for some in stored.batches():
            if not validator.accepts_all(some):
                raise stored_lines.UnfitError
            records = reader.prepare(some)
            if next(iter(rules.find_inconsistencies(records)), None) is not None:
                raise stored_lines.UnfitError
            digests.update(unit_digests(some, corpus.key, corpus.not_in_digest))
            for name, values in keys.items():
                values += column(records, name)
            yield records

    with pause_garbage_collection():
        records = reader.unite(validate(), stored)
    if any(len(set(values)) < len(values) for values in keys.values()):
        raise stored_lines.UnfitError
    oddities = tuple(Oddity(Problem(text)) for text in rules.find_oddities(records))
    return Contents(records, oddities, by_record=False, digests=digests)


def flatten_records(corpus: Corpus, records: Sequence[Record]) -> Sequence[Record]:
    """Return the records of a flat config; its task has a module that makes them."""
    module = find(corpus.task, "flat")
    if module is None:
        raise TypeError(f"{corpus.name} has a flat config, but its task has no module `flat`")
    return cast(Sequence[Record], module.flatten(records))


def dump_gold(corpus: Corpus, path: Path, records: Sequence[Record]) -> str:
    """Return records as the text of a file that `read_path` reads: JSON Lines, or the corpus's own format.

    Args:
        corpus: the declaration that they follow.
        path: the file, whose suffix is that of its format.
        records: the records.

    Raises:
        RequestError: the file would be read in a format that is not written, or that can't express the records.
    """
    write = find_gold_writer(corpus, path)
    try:
        return write(records)
    except ValueError as error:
        raise RequestError(f"cannot write {path}: {error}") from None


def find_gold_writer(corpus: Corpus, path: Path) -> Callable[[Sequence[Record]], str]:
    """Return what makes the text of a file that `read_path` reads, as `dump_gold` does.

    Raises:
        RequestError: the file would be read in a format that is not written.
    """
    own = find_format(corpus.task, corpus.format)
    if text_suffix(path) in JSON_LINES and not own.is_json_lines:
        return lambda records: dump_json_lines(records, own.unsafe)
    if own.write is None or path.suffix.lower() == PARQUET:
        raise RequestError(
            f"cannot write gold of {corpus.name} to {path}: unsupported suffix (expected {JSON_LINES[0]})"
        )
    return own.write


def _read_parquet(corpus: Corpus, path: Path, definition: str) -> ParsedRows:
    """Read a Parquet file whose columns are those of a definition of the corpus's schema.

    Raises:
        FormatError: it can't be read, or has other columns.
    """
    schema = load_schema(corpus.name)
    rows = read_parquet(path, lambda found: find_column_problems(found, schema, definition))
    return complete_rows(corpus, convert_rows(rows), definition)


def complete_rows(corpus: Corpus, rows: Sequence[Any], definition: str) -> ParsedRows:
    """Return rows in memory as reading a file returns its records: labels by name, with the fields that are derived."""
    rows = name_labels(rows, corpus.name, definition)
    return find_format(corpus.task, corpus.format).complete(rows) if definition == "document" else ParsedRows(rows, [])


def validate_contents(corpus: Corpus, path: Path | str, parsed: AnyParsed, definition: str) -> Contents:
    """Validate the content of a file or a folder, and return it with its oddities.

    Args:
        corpus: the declaration that it follows.
        path: the file or the folder, or the name of records in memory, for messages.
        parsed: the content.
        definition: the definition of the schema that the records follow.

    Raises:
        FormatError: as for `closeread.corpus.judging.validate_records`.
    """
    keys = (corpus.key, *corpus.unique)
    rules, schema = load_rules(corpus.task, definition), load_schema(corpus.name)
    check = rules.find_inconsistencies
    unsafe = find_format(corpus.task, corpus.format).unsafe
    records = validate_records(path, parsed, schema, definition, *keys, find_inconsistencies=check, unsafe=unsafe)
    if isinstance(parsed, ParsedFolder):
        return Contents(records, find_folder_oddities(str(path), parsed), by_record=True)
    oddities = tuple(Oddity(Problem(text)) for text in rules.find_oddities(records))
    return Contents(records, oddities, by_record=False)


def name_places(parsed: ParsedFolder, located: Located) -> ParsedFolder:
    """Name files that are not below the folder, such as those of another folder that a user gave, by where they are."""
    elsewhere = {name: path.absolute() for name, path in located.files.items() if path != located.path / name}
    if not elsewhere:
        return parsed
    places = {name: str(path) for name, path in elsewhere.items()}

    def place(found: list[Problem]) -> list[Problem]:
        return [one._replace(file=places.get(one.file or "", one.file)) for one in found]

    files = [places.get(file, file) for file in parsed.files]
    return ParsedFolder(parsed.records, files, place(parsed.problems), place(parsed.notices))
