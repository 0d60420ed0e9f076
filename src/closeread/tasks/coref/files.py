"""Files and folders of coreference documents, in any format.

Conventions: the first line decides whether a file is CoNLL, CorefUD, Universal Anaphora or JSON Lines; if it is not
conclusive, the suffix (`.conllu`, `.conllua`, `.jsonl`, `.ndjson`) does, without `.gz`.  A folder may contain files of
several formats, and subfolders; if it has files ending in `_gold_conll`, as CoNLL-2012 does, only these are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from closeread import limits
from closeread.exceptions import FormatError, Problem, describe_problems, join_names, pluralize, quote
from closeread.formats import Format
from closeread.formats.folders import find_hidden, walk_files
from closeread.formats.text import BYTE_ORDER_MARK, plain_file
from closeread.records import Parsed
from closeread.tasks import find_format
from closeread.tasks.coref.documents import MentionTable, join_tables
from closeread.tasks.coref.formats.coref_json import table_of

FORMATS = ("coref_json", "conll", "conllua", "conllu", "arrau")
"""The names of the formats, in the order in which they are tried; a format is imported when its turn comes."""

GOLD_CONLL = "_gold_conll"
CONLL = "_conll"
"""How the names of the files in CoNLL-2012 end that contain coreference."""


@dataclass(frozen=True)
class Reading:
    """How to read files.

    Attributes:
        is_response: whether they are the output of a system, whose predictions may be next to gold annotation.
        word_column: the column of the words of CoNLL files, from 1; "auto" to guess it.
    """

    is_response: bool = False
    word_column: str = "auto"


def iterate_formats() -> Iterator[Format]:
    """Import the formats one after the other."""
    return map(partial(find_format, "coref"), FORMATS)


def read_document_file(path: Path, reading: Reading) -> MentionTable:
    """Read the documents of a file.

    Args:
        path: the file, which may be gzipped, or a pipe.
        reading: how to read it.
    """
    with plain_file(path) as file:
        found = _find_format(path.name, _read_first_line(file)) or find_format("coref", "conll")
        table = table_of(_read(found, file, reading).records)
    return replace(table, notices=[f"{path}: {notice}" for notice in table.notices])


def read_document_folder(folder: Path, reading: Reading) -> MentionTable:
    """Read the documents of all files of a folder and its subfolders.

    A document without a name is named after its file.
    """
    files, problems = walk_files(folder)
    chosen = {name: path for name, path in files.items() if _drop_gz(name).endswith(GOLD_CONLL)} or files
    ignored = [name for name in files if name not in chosen]
    tables: dict[str, MentionTable] = {}
    seen: dict[str, str] = {}
    for name, path in chosen.items():
        try:
            with plain_file(path) as file:
                parsed = _read_member(name, file, reading)
        except FormatError as error:
            problems += [problem._replace(file=name) for problem in error.problems]
        else:
            tables[name] = name_documents(table_of(parsed.records), name)
            for document, line in zip(tables[name].names, parsed.lines, strict=True):
                if (before := seen.setdefault(document, name)) != name:
                    problems.append(Problem(f"duplicate document {quote(document)} (also in {before})", line, name))
        if len(problems) > limits.MAX_PROBLEMS:
            break
    if problems:
        raise FormatError(folder, problems)
    table = join_tables(tables)
    own = [f"{folder}: {what}" for what in (*_describe_ignored(ignored), *table.notices)]
    return replace(table, notices=[*own, *describe_problems(str(folder), find_hidden(folder))])


def _read_member(name: str, file: Path, reading: Reading) -> Parsed:
    """Read a file of a folder."""
    found = _find_format(name, _read_first_line(file))
    if found is None:
        expected = "expected CoNLL, CorefUD, Universal Anaphora or JSON Lines"
        raise FormatError(file, [Problem(f"is not a file of coreference ({expected})")])
    return _read(found, file, reading)


def _describe_ignored(files: Sequence[str]) -> Iterator[str]:
    if files:
        yield f"{pluralize(len(files), 'file')} not ending in {GOLD_CONLL} ignored: {join_names(files)}."


def _read(found: Format, file: Path, reading: Reading) -> Parsed:
    if reading.word_column != "auto" and found is find_format("coref", "conll"):
        from closeread.tasks.coref.formats.conll import read_records

        return read_records(file, "", int(reading.word_column))
    read = found.read_system if reading.is_response and found.read_system is not None else found.read
    return read(file, "")


def _find_format(name: str, first_line: str) -> Format | None:
    """Find the format of a file from its first nonblank line, or else its name."""
    plain = _drop_gz(name)
    if (found := next((one for one in iterate_formats() if one.recognises(first_line)), None)) is not None:
        return found
    if plain.endswith(CONLL):
        return find_format("coref", "conll")
    return next((one for one in iterate_formats() if PurePosixPath(plain).suffix.lower() in one.suffixes), None)


def _drop_gz(name: str) -> str:
    return name[:-3] if name.lower().endswith(".gz") else name


def name_documents(table: MentionTable, file: str) -> MentionTable:
    """Name documents without a name after their file; several of one file are numbered from 1."""
    if not table.unnamed:
        return table
    stem = str(PurePosixPath(_drop_gz(file)).with_suffix(""))
    numbers = {document: number for number, document in enumerate(sorted(table.unnamed), start=1)}
    new = {i: stem if len(numbers) == 1 else f"{stem} {number}" for i, number in numbers.items()}
    return replace(table, names=[new.get(i, name) for i, name in enumerate(table.names)], unnamed=frozenset())


def _read_first_line(path: Path) -> str:
    """Return the first nonblank line if it is near the start of the file; nothing if the file can't be read."""
    if not path.is_file():  # reading from a pipe would wait for its writer
        return ""
    try:
        with path.open("rb") as file:
            line = file.read(2**16).removeprefix(BYTE_ORDER_MARK).lstrip().split(b"\n", 1)[0]
            return line.decode("utf-8", "replace")
    except OSError:
        return ""
