"""Coreference documents of files and folders in any format, and those in memory.

Conventions: the first line decides which of the formats a file has; if it is not conclusive, the suffix (`.conllu`,
`.jsonl`, `.txt` and so on) does, without `.gz`.  A folder may contain files of several formats, and subfolders; if it
has files ending in `_gold_conll`, as CoNLL-2012 does, only these are read.  READMEs, licences and files of no known
format are left out; so are those that only their suffix `.txt` makes CRAC's text, unless all others are.  Documents of
several files that have the same name are named after their files, too.
"""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, get_args

from closeread import limits
from closeread.corpus.schema import load_validator
from closeread.corpus.validation import convert_rows, load_rules, validate_records
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    describe_problems,
    join_names,
    pluralize,
    quote,
)
from closeread.files import text_suffix, write_text
from closeread.formats import Format
from closeread.formats.folders import find_hidden, is_about_folder, note_left_out, walk_files
from closeread.formats.text import BYTE_ORDER_MARK, plain_file
from closeread.records import Parsed, Record
from closeread.tasks import find_format
from closeread.tasks.coref.documents import Document, Documents, documents_of
from closeread.tasks.coref.formats import FORMATS, WrittenFormat
from closeread.tasks.coref.formats.coref_json import (
    drop_other_fields,
    find_dialect,
    read_neural,
)
from closeread.tasks.coref.mention_table import MentionTable, pack_clusters
from closeread.tasks.coref.notices import fold_notices

# how the names of the files in CoNLL-2012 end that contain coreference
GOLD_CONLL, CONLL = "_gold_conll", "_conll"


def load_format(name: str) -> Format:
    """Import a format by its name for options."""
    return find_format("coref", FORMATS[name].module)


def iterate_formats() -> Iterator[Format]:
    """Import the formats one after the other."""
    return map(load_format, FORMATS)


NEW_DOCUMENT = re.compile(rb"# *newdoc id *= *+(.*\S)")


class Reading(NamedTuple):
    """How files are read."""

    # whether they are the output of a system, whose predictions may be next to gold
    is_response: bool = False
    word_column: str = "auto"  # the column of the words of CoNLL files, from 1; "auto" to guess it
    tolerant: bool = False  # whether wrong tags of language models cost only their mention
    skip_invalid: bool = False  # whether files of a folder that have errors are left out


def read_documents(
    path: Path,
    *,
    is_response: bool = False,
    word_column: str = "auto",
    tolerant: bool = False,
    skip_invalid: bool = False,
) -> Documents:
    """Read the documents of a file or pipe, or of all files of a folder, where those without a name have the file's.

    Args:
        path: the file or the folder.
        is_response: whether it is the output of a system, whose predictions may be next to gold annotation.
        word_column: the column of the words of CoNLL files, from 1; "auto" to guess it.
        tolerant: whether wrong tags of language models cost only their mention.
        skip_invalid: whether files of a folder that have errors are left out, with a notice.
    """
    reading = Reading(is_response, word_column, tolerant, skip_invalid)
    with paused_collection():
        if path.is_dir():
            return _read_folder(path, reading)
        return _read_file(path, reading)


@contextmanager
def paused_collection() -> Iterator[None]:
    """Pause Python's search for garbage, which takes a fifth of the time where many objects are made that all stay."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read_file(path: Path, reading: Reading) -> Documents:
    with plain_file(path) as file:
        form = _find_format(path.name, file) or find_format("coref", "conll")
        documents = documents_of(_read(form, file, reading).records)
    notices = [f"{path}: {notice}" for notice in documents.notices]
    return Documents(documents.documents, notices)


def _read_folder(folder: Path, reading: Reading) -> Documents:
    files, problems = walk_files(folder)
    chosen, remarks = _choose_files(folder, files)
    documents_by_file: dict[str, Documents] = {}
    invalid: dict[str, FormatError] = {}
    for name, form in chosen.items():
        try:
            with plain_file(files[name]) as file:
                documents = documents_of(_read(form, file, reading).records)
        except FormatError as error:
            invalid[name] = error
        else:
            documents_by_file[name] = _name_by_file(documents, name)
        if len(invalid) > limits.MAX_PROBLEMS and not reading.skip_invalid:
            break
    if reading.skip_invalid and documents_by_file:
        remarks += _note_invalid(invalid)
    else:
        for name, failure in invalid.items():
            problems += [problem._replace(file=name) for problem in failure.problems]
    remarks += _rename_repeated(documents_by_file, problems)
    if problems:
        raise FormatError(folder, problems)
    broken = frozenset(document for name in invalid for document in _list_names(name, files[name]))
    return Documents(
        [document for documents in documents_by_file.values() for document in documents.documents],
        [
            *describe_problems(str(folder), remarks),
            *(f"{folder}: {notice}" for notice in fold_notices(documents_by_file)),
            *describe_problems(str(folder), find_hidden(folder)),
        ],
        broken,
    )


def _note_invalid(invalid: Mapping[str, FormatError]) -> list[Problem]:
    """Return a notice on the files with errors that are left out, with the first error; none if there are none."""
    if not invalid:
        return []
    name, error = next(iter(invalid.items()))
    verb = "is" if len(invalid) == 1 else "are"
    what = f"{pluralize(len(invalid), 'file')} with errors {verb} left out: {join_names(list(invalid))}"
    first = error.problems[0]._replace(file=None).at(name)
    return [Problem(f"{what}; first: {first}")]


def _list_names(name: str, path: Path) -> list[str]:
    """List the names of the documents in a file of CoNLL or CoNLL-U that has errors; that of the file if it has none."""
    from closeread.tasks.coref.formats.conll import MARKER, parse_name

    names = []
    with suppress(FormatError), plain_file(path) as file:
        for line in file.read_bytes().splitlines():
            if marker := MARKER.match(line):
                names.append(parse_name(line[marker.end() :].rstrip()))
            elif found := NEW_DOCUMENT.match(line):
                names.append(found[1].decode("utf-8", "replace"))
    return [found for found in names if found] or [str(PurePosixPath(_drop_gz(name)).stem)]


def _choose_files(
    folder: Path, files: Mapping[str, Path]
) -> tuple[dict[str, Format], list[Problem]]:
    """Choose the files of a folder that have coreference, with the format of each, and a notice on the others."""
    gold = [name for name in files if _drop_gz(name).endswith(GOLD_CONLL)]
    if gold:
        others = [name for name in files if name not in gold]
        conll = find_format("coref", "conll")
        return dict.fromkeys(gold, conll), note_left_out(others, f"names ending in {GOLD_CONLL}")
    chosen: dict[str, Format] = {}
    plain: list[str] = []
    for name, path in files.items():
        if is_about_folder(name):
            continue
        try:
            with plain_file(path) as file:
                form = _recognise(file)
        except FormatError:  # reading it reports the error
            form = find_format("coref", "conll")
        if form is None and PurePosixPath(_drop_gz(name)).suffix.lower() == ".txt":
            plain.append(name)
        form = form or _find_format_by_name(name)
        if form is not None:
            chosen[name] = form
    if len(plain) < sum(not is_about_folder(name) for name in files):
        for name in plain:
            del chosen[name]
    others = [name for name in files if name not in chosen]
    if not chosen and files:
        what = f"contains no file of coreference ({EXPECTED}), but {join_names(others)}"
        raise FormatError(folder, [Problem(what + _find_sibling(folder))])
    return chosen, note_left_out(others, "files of coreference")


def _find_sibling(folder: Path) -> str:
    """Name a folder beside one without coreference that has some, as LitBank has `conll` beside `brat`."""
    for sibling in sorted(folder.resolve().parent.iterdir()):
        if sibling.is_dir() and any(map(_find_own_format, sibling.iterdir())):
            return f"; did you mean {folder.parent / sibling.name}?"
    return ""


def _find_own_format(path: Path) -> Format | None:
    """Find the format of a file by its suffix, if that is a format's own, as that of plain text is not."""
    return None if path.suffix == ".txt" else _find_format_by_name(path.name)


def _rename_repeated(
    documents_by_file: dict[str, Documents], problems: list[Problem]
) -> list[Problem]:
    """Put the file before the names of documents that several files have, with a notice.

    Files whose names differ only in the suffix are not told apart: their documents are reported.
    """
    n_files = Counter(name for documents in documents_by_file.values() for name in documents.names)
    repeated = [name for name, n in n_files.items() if n > 1]
    if not repeated:
        return []
    file_by_name: dict[str, str] = {}
    for file, documents in documents_by_file.items():
        new_names = {
            name: name_in_file(file, name) for name in documents.names if n_files[name] > 1
        }
        for old, new in new_names.items():
            before = file_by_name.setdefault(new, file)
            if before != file:
                what = f"duplicate document {quote(old)} (also in {before})"
                problems.append(Problem(what, None, file))
        documents_by_file[file] = rename_documents(documents, new_names)
    has = "has" if len(repeated) == 1 else "have"
    what = f"{pluralize(len(repeated), 'document')} of several files {has} the same name"
    names = join_names(list(file_by_name))
    return [Problem(f"{what}, and {has} the file's before it: {names}")]


def name_in_file(file: str, name: str) -> str:
    """Return the name of a document if another file has one of the same name.

    >>> name_in_file("de_news.conllu.gz", "ferry-1")
    'de_news/ferry-1'
    """
    return f"{PurePosixPath(_drop_gz(file)).with_suffix('')}/{name}"


def rename_documents(documents: Documents, new_names: Mapping[str, str]) -> Documents:
    """Give documents other names, by the old ones."""
    if not new_names:
        return documents
    return documents.replaced(
        replace(document, name=new_names.get(document.name, document.name))
        for document in documents.documents
    )


EXPECTED = f"expected {', '.join(form.title for form in FORMATS.values())}"


def _read(found: Format, file: Path, how: Reading) -> Parsed:
    if how.word_column != "auto" and found is find_format("coref", "conll"):
        from closeread.tasks.coref.formats.conll import read_records

        return read_records(file, "", int(how.word_column))
    if how.tolerant and found is find_format("coref", "marked_text"):
        from closeread.tasks.coref.formats import marked_text

        return marked_text.read_records(file, "", tolerant=True)
    read = found.read_system if how.is_response and found.read_system is not None else found.read
    return read(file, "")


def _find_format(name: str, file: Path) -> Format | None:
    """Find the format of a file from its first nonblank line, if that is near the start, or else from its name."""
    return _recognise(file) or _find_format_by_name(name)


def _recognise(file: Path) -> Format | None:
    """Find the format of a file from its first nonblank line."""
    line = b""
    try:
        if file.is_file():  # reading from a pipe would wait for its writer
            with file.open("rb") as opened:
                line = opened.read(2**16).removeprefix(BYTE_ORDER_MARK).lstrip().split(b"\n", 1)[0]
    except OSError:  # reading it reports the error
        pass
    text = line.decode("utf-8", "replace")
    return next((form for form in iterate_formats() if form.recognises(text)), None)


def _find_format_by_name(name: str) -> Format | None:
    if _drop_gz(name).endswith(CONLL):
        return find_format("coref", "conll")
    suffix = PurePosixPath(_drop_gz(name)).suffix.lower()
    return next((one for one in iterate_formats() if suffix in one.suffixes), None)


def _drop_gz(name: str) -> str:
    return name[:-3] if name.lower().endswith(".gz") else name


def _name_by_file(documents: Documents, file: str) -> Documents:
    """Name documents without a name after their file; several of one file are numbered from 1."""
    stem = str(PurePosixPath(_drop_gz(file)).with_suffix(""))
    n_unnamed = sum(not document.is_named for document in documents.documents)
    n_renamed = 0
    named: list[Document] = []
    for document in documents.documents:
        name = document.name
        if not document.is_named:
            n_renamed += 1
            name = stem if n_unnamed == 1 else f"{stem} {n_renamed}"
        named.append(replace(document, name=name, is_named=True, file=file))
    return documents.replaced(named)


def write_documents(
    documents: Documents, path: Path, to: str | None = None, *, blind: bool = False
) -> Documents:
    """Write documents in the format of the file's suffix, or the one named; without entities if `blind`.

    Returns the documents as written, with notices on what the format can't express.
    """
    from closeread.tasks.coref.formats import marked_text

    name = to or _formats_by_suffix().get(text_suffix(path))
    if name in LANGUAGE_MODELS:
        documents = marked_text.keep_head_parts(documents)
    elif blind and name:
        titles = [FORMATS[other].title for other in LANGUAGE_MODELS]
        raise RequestError(f"{path}: without entities, only {', '.join(titles)} can be written")
    write_text(path, dump_documents(documents, path, name, blind=blind))
    return documents


def _formats_by_suffix() -> dict[str, str]:
    """Return the suffixes that choose a format to write; that of coref-data is JSON Lines' if it is written."""
    written = [name for name in get_args(WrittenFormat) if name != "coref-data"]
    return {suffix: name for name in written for suffix in load_format(name).suffixes}


LANGUAGE_MODELS = ("crac-text", "crac-json", "coref-data")
"""The formats that are written for language models, without entities if these are to be found."""


def dump_documents(
    documents: Documents, path: Path, to: str | None = None, *, blind: bool = False
) -> str:
    """Return documents as the text of a file, as `write_documents` does."""
    formats = _formats_by_suffix()
    suffix = text_suffix(path)
    name = to or formats.get(suffix, "")
    write = load_format(name).write if name else None
    if write is None or suffix == ".parquet":  # which is only read
        raise RequestError(
            f"{path}: the suffix is '{path.suffix}' (expected one of {', '.join(formats)})"
        )
    try:
        if blind:
            from closeread.tasks.coref.formats import coref_data, crac_json, marked_text

            dump = {
                "crac-text": marked_text.dump_marked_text,
                "crac-json": crac_json.dump_crac_json,
                "coref-data": coref_data.dump_coref_data,
            }
            return dump[name](documents.documents, blind=True)
        return write(documents)
    except ValueError as error:
        raise RequestError(f"cannot write {path}: {error}") from None


def take_documents(records: Sequence[Record], name: str, *, is_response: bool) -> Documents:
    """Check documents in memory, records as JSON Lines of coreference have them.

    Args:
        records: the documents; clusters alone are those of documents that are named by their numbers, from 0.
        name: what to call them in messages.
        is_response: whether they are the output of a system.
    """
    expected = 'expected a list of documents: [{"document": NAME, "clusters": [...]}, ...]'
    packed = _pack(records)
    if packed is not None:
        return Documents(packed)
    records = convert_rows(records)
    is_rows = isinstance(records, Sequence) and all(
        isinstance(record, Mapping) for record in records
    )
    if not is_rows and load_validator("coref", "clusters").accepts(records):
        raise FormatError(name, [Problem(f"are the clusters of a single document ({expected})")])
    if records and all(isinstance(record, list) for record in records):
        records = [
            {"document": str(number), "clusters": clusters}
            for number, clusters in enumerate(records)
        ]
    first = next(iter(records), None)
    dialect = find_dialect(first)
    if dialect is not None:
        read = read_neural(Parsed(records, None, []), dialect, is_response=is_response)
        if isinstance(read, list):
            raise FormatError(name, read)
        return Documents(read.documents, [f"{name}: {notice}" for notice in read.notices])
    if drop_other_fields(first) is not first:
        records = list(map(drop_other_fields, records))
    check = load_rules("coref").find_inconsistencies
    parsed = Parsed(records, None, [])
    return documents_of(
        validate_records(
            name, parsed, load_validator("coref"), "document", find_inconsistencies=check
        )
    )


def _pack(records: Sequence[Any]) -> MentionTable | None:
    """Return documents that have nothing but clusters, and maybe names, as columns; None if something may be wrong."""
    kinds = set(map(type, records))
    if kinds == {list}:
        return pack_clusters(records)
    if kinds != {dict} or set(map(len, records)) != {2}:
        return None
    try:
        names = list(map(itemgetter("document"), records))
        clusters = list(map(itemgetter("clusters"), records))
    except KeyError:
        return None
    is_named = (
        set(map(type, names)) == {str}
        and len(set(names)) == len(names)
        and all(map(str.isprintable, names))
        and all(names)
    )
    packed = pack_clusters(clusters) if is_named else None
    return None if packed is None else replace(packed, names=names, is_named=True)
