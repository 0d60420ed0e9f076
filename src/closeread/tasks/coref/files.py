"""Coreference documents of files and folders in any format, and those in memory.

Conventions: the first line decides which of the formats a file has; if it is not conclusive, the suffix (`.conllu`,
`.jsonl`, `.txt` and so on) does, without `.gz`.  A folder may contain files of several formats, and subfolders; if it
has files ending in `_gold_conll`, as CoNLL-2012 does, only these are read.  READMEs, licences and files of no known
format are left out; so are those that only their suffix `.txt` makes CRAC's text, unless all others are.  Documents of
several files that have the same name are named after their files, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import chain
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any, get_args

from closeread import limits
from closeread.corpus.declaration import Repair
from closeread.corpus.schema import load_validator
from closeread.corpus.validation import convert_rows, load_rules, validate_records
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    advise,
    describe_problems,
    join_names,
    pluralize,
    quote,
)
from closeread.files import make_folders, scratch_folder, text_suffix, write_text, write_texts
from closeread.formats.folders import is_about_folder, note_left_out, walk_files
from closeread.formats.text import plain_file, read_bytes
from closeread.records import Parsed, Record
from closeread.tasks.coref import formats
from closeread.tasks.coref.columns import stack_clusters
from closeread.tasks.coref.documents import (
    Document,
    Documents,
    Mention,
    PackedClusters,
    documents_of,
)
from closeread.tasks.coref.formats import (
    ALL_ANNOTATION,
    FORMATS,
    MAX_START_BYTES,
    StandoffOptions,
    WrittenFormat,
    recognise,
)
from closeread.tasks.coref.formats.coref_json import (
    drop_other_fields,
    find_dialect,
    read_neural,
)
from closeread.tasks.coref.formats.reading import DEFAULT_READING, CorefFormat, Reading
from closeread.tasks.coref.notices import fold_notices

CONLL_ENDING = "_conll"
"""How the names of the files of CoNLL-2012 end."""

GOLD_CONLL_ENDING = "_gold_conll"
"""How the names of those end that contain coreference."""

TREEBANK = re.compile(r"([a-z]{2,3})_[a-z0-9]+(?=-corefud)")
"""How the names of files of CorefUD begin: with the treebank, which begins with the language."""

NEW_DOCUMENT = re.compile(rb"# *newdoc id *= *+(.*\S)")

FORMATS_OF_ROWS = ("conll", "universal-anaphora", "corefud", "arrau")

WEBANNO = "webanno-tsv"

EXPECTED = f"expected {', '.join(form.title for form in FORMATS.values())}"


@cache
def load_format(name: str) -> CorefFormat:
    """Import a format by its name for options."""
    module = import_module(f"{formats.__name__}.{FORMATS[name].module}")
    form: CorefFormat = module.FORMAT
    return form


def read_documents(
    path: Path,
    *,
    is_response: bool = False,
    word_column: str = "auto",
    tolerant: bool = False,
    is_reread: bool = False,
    skip_invalid: bool = False,
    advice: str = "",
    standoff: StandoffOptions = ALL_ANNOTATION,
    list_words: Callable[[], Mapping[str, Sequence[str]]] = dict,
    repairs: Sequence[Repair] = (),
) -> Documents:
    """Read the documents of a file or pipe, or of all files of a folder, where those without a name have the file's.

    Args:
        path: the file or the folder.
        is_response: whether it is the output of a system, whose predictions may be next to gold annotation.
        word_column: the column of the words of CoNLL files, from 1; "auto" to guess it.
        tolerant: whether wrong tags of language models cost only their mention.
        is_reread: whether files can be read again when their words are asked for, so that their texts take no memory.
        skip_invalid: whether files of a folder that have errors are left out, with a notice.
        advice: what else to say of errors in lines of files of a folder, with options as `advise` names them.
        standoff: what is read of files of annotation tools.
        list_words: returns the words of documents in another file by name, for files that count characters.
        repairs: cells of files of a corpus that are read in another way.
    """
    is_folder = path.is_dir()
    if is_folder:
        form = ""
        is_of_tool = has_standoff(path)
    else:
        form = _recognise(path)
        is_of_tool = form not in ("", *FORMATS)
    if is_of_tool:
        from closeread.tasks.coref.formats.standoff.projects import read_annotation

        return read_annotation(path, standoff, list_words())
    reading = Reading(is_response, word_column, tolerant, is_reread, repairs)
    if is_folder:
        return _read_folder(path, reading, advice, skip_invalid=skip_invalid)
    documents = read_file(path, reading, form)
    notices = [f"{path}: {notice}" for notice in documents.notices]
    return Documents(documents.documents, notices)


def has_standoff(path: Path) -> bool:
    """Return whether a file is of an annotation tool, or a folder has such files, and none with a row for every token."""
    files = {"": path}
    if path.is_dir():
        files, _ = walk_files(path, f"files ({EXPECTED})")
    has_some = False
    for file in files.values():
        form = _recognise(file)
        if form in FORMATS_OF_ROWS:
            return False
        has_some = has_some or form not in ("", *FORMATS)
    return has_some


def read_file(path: Path, reading: Reading = DEFAULT_READING, form: str = "") -> Documents:
    """Read the documents of a file, whose format may be known; notices do not name it."""
    form = form or _recognise(path)
    # A file whose beginning tells its format is neither gzipped nor a pipe.
    opened = nullcontext(path) if form in FORMATS else plain_file(path)
    with opened as file:
        form = form or _recognise(file) or _find_format_by_name(path.name) or "conll"
        if form not in FORMATS:
            message = (
                "is of an annotation tool (expected a file that is neither gzipped nor a pipe)"
            )
            raise FormatError(path, [Problem(message)])
        read = load_format(form).read
        reading = reading._replace(is_reread=reading.is_reread and file == path)
        repairs = [repair for repair in reading.repairs if repair.file == path.name]
        repaired = _repair(file, repairs) if repairs else None
        if repaired is None:
            return read(file, reading)
        with scratch_folder() as folder:
            copy = folder / path.name
            copy.write_text(repaired, "utf-8")
            documents = read(copy, reading._replace(is_reread=False))
        return documents.noted(
            *(f"line {repair.line}: {repair.what}" for repair in repairs if repair.what)
        )


def _repair(file: Path, repairs: Sequence[Repair]) -> str | None:
    """Return the text of a file with some cells repaired; None if one of them is not in it."""
    lines = file.read_text("utf-8").split("\n")
    for repair in repairs:
        is_there = len(lines) >= repair.line and lines[repair.line - 1].endswith(repair.cell)
        if not is_there:
            return None
        lines[repair.line - 1] = lines[repair.line - 1].removesuffix(repair.cell) + repair.repaired
    return "\n".join(lines)


def _read_folder(folder: Path, reading: Reading, advice: str, *, skip_invalid: bool) -> Documents:
    files, problems = walk_files(folder, f"files ({EXPECTED})")
    chosen, remarks = _choose_files(folder, files)
    documents_by_file: dict[str, Documents] = {}
    invalid: dict[str, FormatError] = {}
    for name in chosen:
        try:
            documents = read_file(files[name], reading)
        except FormatError as error:
            invalid[name] = error
        else:
            documents_by_file[name] = _name_by_file(documents, name)
        if len(invalid) > limits.MAX_PROBLEMS and not skip_invalid:
            break
    if skip_invalid and documents_by_file:
        remarks += _note_invalid(invalid)
    else:
        for name, failure in invalid.items():
            problems += [problem._replace(file=name) for problem in failure.problems]
    broken = {name: _list_names(name, files[name]) for name in invalid}
    _name_by_treebank(documents_by_file, broken)
    remarks += _rename_repeated(documents_by_file, problems)
    if problems:
        if advice and not skip_invalid and any(problem.line for problem in problems):
            problems[-1] = problems[-1]._replace(message=problems[-1].message + advise(advice))
        raise FormatError(folder, problems)
    all_documents: list[Document] = []
    for documents in documents_by_file.values():
        all_documents += documents.documents
    notices = [
        *describe_problems(str(folder), remarks),
        *(f"{folder}: {notice}" for notice in fold_notices(documents_by_file)),
    ]
    return Documents(all_documents, notices, frozenset(chain.from_iterable(broken.values())))


def _note_invalid(invalid: Mapping[str, FormatError]) -> list[Problem]:
    """Return a notice on the files with errors that are left out, with the first error; none if there are none."""
    if not invalid:
        return []
    name, error = next(iter(invalid.items()))
    verb = "is" if len(invalid) == 1 else "are"
    files = pluralize(len(invalid), "file")
    first = error.problems[0]._replace(file=None).at(name)
    names = join_names(list(invalid))
    return [Problem(f"{files} with errors {verb} left out: {names}; first: {first}")]


def _list_names(name: str, path: Path) -> list[str]:
    """List the names of the documents in a file of CoNLL or CoNLL-U that has errors; that of the file if it has none."""
    from closeread.tasks.coref.formats.conll import MARKER, parse_name

    names = []
    with suppress(FormatError), plain_file(path) as file:
        for line in read_bytes(file).splitlines():
            marker = MARKER.match(line)
            new_document = NEW_DOCUMENT.match(line)
            if marker:
                names.append(parse_name(line[marker.end() :].rstrip()))
            elif new_document:
                names.append(new_document[1].decode("utf-8", "replace"))
    return list(filter(None, names)) or [PurePosixPath(_drop_gz(name)).stem]


def _choose_files(folder: Path, files: Mapping[str, Path]) -> tuple[list[str], list[Problem]]:
    """Choose the files of a folder that have coreference, and return a notice on the others."""
    gold = [name for name in files if _drop_gz(name).endswith(GOLD_CONLL_ENDING)]
    if gold:
        left_out = [name for name in files if name not in gold]
        return gold, note_left_out(left_out, f"names ending in {GOLD_CONLL_ENDING}")
    chosen: list[str] = []
    # Files that only their suffix makes CRAC's text.
    plain: list[str] = []
    for name, path in files.items():
        if is_about_folder(name):
            continue
        try:
            with plain_file(path) as file:
                form = _recognise(file)
        except FormatError:
            # Reading it reports the error.
            form = "conll"
        if not form:
            form = _find_format_by_name(name)
            if form == "crac-text":
                plain.append(name)
        if form in FORMATS:
            chosen.append(name)
    if len(plain) < sum(not is_about_folder(name) for name in files):
        chosen = [name for name in chosen if name not in plain]
    left_out = [name for name in files if name not in chosen]
    if files and not chosen:
        message = f"contains no file of coreference ({EXPECTED}), but {join_names(left_out)}"
        raise FormatError(folder, [Problem(message + _find_sibling(folder))])
    return chosen, note_left_out(left_out, "files of coreference")


def _find_sibling(folder: Path) -> str:
    """Name a folder beside one without coreference that has some, as LitBank has `conll` beside `brat`."""
    for sibling in sorted(folder.resolve().parent.iterdir()):
        if sibling.is_dir() and any(map(_has_own_suffix, sibling.iterdir())):
            return f"; did you mean {folder.parent / sibling.name}?"
    return ""


def _has_own_suffix(path: Path) -> bool:
    """Whether the suffix of a file is that of a format, which that of plain text is not."""
    return path.suffix != ".txt" and bool(_find_format_by_name(path.name))


def find_treebank(file: str | None) -> str:
    """Return the treebank of a file, as CorefUD names it; empty if its name has none.

    >>> find_treebank("data/en_gum-corefud-dev.conllu"), find_treebank("key.conllu")
    ('en_gum', '')
    """
    match = TREEBANK.match(PurePosixPath(file or "").name)
    return match[0] if match else ""


def list_treebanks(documents: Documents) -> list[str]:
    """Return the treebanks of the files of documents, in sorted order."""
    if documents.is_packed:
        return []
    treebanks = {find_treebank(document.file) for document in documents.documents}
    return sorted(treebanks - {""})


def _name_by_treebank(
    documents_by_file: dict[str, Documents], broken: dict[str, list[str]]
) -> None:
    """Put the treebank before the names of documents if there are several: each names its documents alone."""
    files = [*documents_by_file, *broken]
    if len({find_treebank(file) for file in files} - {""}) < 2:
        return
    for file, documents in documents_by_file.items():
        new_names = {name: name_in_treebank(file, name) for name in documents.names}
        documents_by_file[file] = rename_documents(documents, new_names)
    for file, names in broken.items():
        broken[file] = [name_in_treebank(file, name) for name in names]


def name_in_treebank(file: str | None, name: str) -> str:
    """Return the name of a document with the treebank of its file, if it has one."""
    treebank = find_treebank(file)
    return f"{treebank}/{name}" if treebank else name


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
                message = f"duplicate document {quote(old)} (also in {before})"
                problems.append(Problem(message, None, file))
        documents_by_file[file] = rename_documents(documents, new_names)
    has = "has" if len(repeated) == 1 else "have"
    documents_of_files = f"{pluralize(len(repeated), 'document')} of several files"
    names = join_names(list(file_by_name))
    message = f"{documents_of_files} {has} the same name, and {has} the file's before it: {names}"
    return [Problem(message)]


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


def _recognise(file: Path) -> str:
    """Find the format of a file from how it begins; "" if that tells nothing."""
    # Reading it reports the error.  Reading from a pipe would wait for its writer.
    with suppress(OSError):
        if file.is_file():
            with file.open("rb") as opened:
                return recognise(opened.read(MAX_START_BYTES), file.name)
    return ""


def _find_format_by_name(file: str) -> str:
    """Find the format of a file from its name; "" if that tells nothing."""
    if _drop_gz(file).endswith(CONLL_ENDING):
        return "conll"
    suffix = PurePosixPath(_drop_gz(file)).suffix.lower()
    return next((name for name, form in FORMATS.items() if suffix in form.suffixes), "")


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
    if is_webanno(documents, path, to) and not blind:
        write_files(dump_files(documents, path, to), path)
        return documents
    name = to or _find_written_formats().get(text_suffix(path))
    if name in FORMATS and load_format(name).can_be_blind:
        from closeread.tasks.coref.formats.marked_text import keep_head_parts

        documents = keep_head_parts(documents)
    elif name and blind:
        titles = [FORMATS[form].title for form in _list_written() if load_format(form).can_be_blind]
        raise RequestError(f"{path}: without entities, only {', '.join(titles)} can be written")
    write_text(path, dump_documents(documents, path, name, blind=blind))
    return documents


def _list_written() -> list[str]:
    """List the formats that are written as one text; a file of WebAnno TSV has one document only."""
    return [name for name in get_args(WrittenFormat) if name in FORMATS]


def _find_written_formats() -> dict[str, str]:
    """Return the formats that can be written by their suffixes; coref-data has that of JSON Lines."""
    names = {}
    for name in _list_written():
        if name != "coref-data":
            names.update(dict.fromkeys(FORMATS[name].suffixes, name))
    return names


def is_webanno(documents: Documents, path: Path, to: str | None = None) -> bool:
    """Return whether documents are written as WebAnno TSV; into a folder, if they are of an annotation tool."""
    if to is not None:
        return to == WEBANNO
    return path.suffix == ".tsv" or (path.suffix == "" and documents.has_layout)


def dump_files(
    documents: Documents,
    path: Path,
    to: str | None = None,
    undecided: Mapping[str, Collection[Mention]] | None = None,
) -> dict[Path, str]:
    """Return documents as the texts of a file, or in WebAnno TSV of a folder, where undecided mentions are marked."""
    if is_webanno(documents, path, to):
        from closeread.tasks.coref.formats.standoff.webanno_writer import dump_webanno

        return dump_webanno(documents, path, undecided)
    return {path: dump_documents(documents, path, to)}


def write_files(texts: Mapping[Path, str], path: Path) -> None:
    """Write texts; those of a folder, which is created, or others."""
    if any(file.parent == path for file in texts):
        make_folders(path)
    write_texts(texts)


def dump_documents(
    documents: Documents, path: Path, to: str | None = None, *, blind: bool = False
) -> str:
    """Return documents as the text of a file, as `write_documents` does."""
    names = _find_written_formats()
    suffix = text_suffix(path)
    name = to or names.get(suffix)
    # Parquet is only read.
    write = load_format(name).write if name and suffix != ".parquet" else None
    if write is None:
        # A document of WebAnno TSV would have been written as such.
        expected = f"expected one of {', '.join([*names, '.tsv'])}"
        raise RequestError(f"{path}: the suffix is '{path.suffix}' ({expected})")
    options = {"blind": True} if blind else {}
    try:
        return write(documents.documents, **options)
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
        return packed
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


def _pack(records: Sequence[Any]) -> Documents | None:
    """Return documents that have nothing but clusters, and maybe names, as columns; None if something may be wrong."""
    kinds = set(map(type, records))
    names = list(map(str, range(len(records))))
    clusters = records
    if kinds == {dict} and set(map(len, records)) == {2}:
        try:
            names = list(map(itemgetter("document"), records))
            clusters = list(map(itemgetter("clusters"), records))
        except KeyError:
            return None
        if set(map(type, names)) != {str} or len(set(names)) < len(names):
            return None
        if not all(names) or not all(map(str.isprintable, names)):
            return None
    elif kinds != {list}:
        return None
    columns = stack_clusters(clusters)
    if columns is None:
        return None
    return Documents(PackedClusters(columns, names, is_named=kinds == {dict}))
