"""Files, folders and archives of annotation tools: the documents of each annotator in them.

Conventions: a ZIP archive is read as the folder that it holds, in memory.  A project of INCEpTION or WebAnno has
`annotation/DOCUMENT/ANNOTATOR.json`, or the same with other suffixes, and the curators' documents in `curation`.
Documents are named as the tool names them, or after their files, without the ending of the file that was imported.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from closeread import limits
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    advise,
    describe_excess,
    describe_unknown,
    join_names,
    pluralize,
)
from closeread.formats.folders import is_about_folder, note_left_out, walk_files
from closeread.formats.foreign import describe_foreign_file
from closeread.formats.text import read_bytes, wording_zip_errors
from closeread.tasks.coref.documents import Documents
from closeread.tasks.coref.formats import (
    STANDOFF_FORMATS,
    ZIP_MAGIC,
    StandoffOptions,
    recognise,
)
from closeread.tasks.coref.formats.standoff.making import (
    Annotation,
    make_documents,
    name_document,
)
from closeread.tasks.coref.formats.standoff.records import (
    AnnotatorDocuments,
    StandoffDocument,
    StandoffFile,
)

CURATOR = "CURATION_USER"
NO_ANNOTATORS = (CURATOR, "INITIAL_CAS")
"""Names that projects have in place of annotators."""

PREFERRED_SUFFIXES = (".json", ".xmi", ".tsv", ".zip")
"""Of a document that an export has in several formats, the first is read."""

ABOUT_PROJECT = re.compile(
    r"(?:.*/)?(?:annotation|visual|tools|kb_shortcuts)\.conf|(?:.*/)?TypeSystem\.xml"
    r"|(?:.*/)?exportedproject\.json|(?:.*/)?__MACOSX/.*"
)
"""Files of tools that are no annotation."""

Members = Mapping[str, Callable[[], bytes]]
"""The files of a folder or an archive by relative path, and what reads each."""


class Project(NamedTuple):
    """What is in a file, a folder or an archive.

    Attributes:
        documents: those of each annotator by name; the name is empty if nothing says whose they are.
        notices: what else there is to say.
    """

    documents: Mapping[str, Sequence[StandoffDocument]]
    notices: Sequence[str]


def read_project(path: Path, options: StandoffOptions) -> Project:
    """Read the documents of all annotators of a file, a folder or an archive.

    Raises:
        FormatError: a file of it can't be read.
    """
    if path.is_dir():
        files, problems = walk_files(path)
        if problems:
            raise FormatError(path, problems)
        members = {name: partial(_read_file, file) for name, file in files.items()}
        return _read_members(path, members, options)
    data = _read_file(path)
    if data.startswith(ZIP_MAGIC):
        return _read_members(path, _list_archive(str(path), data), options)
    form = recognise(data, path.name)

    def read_beside(suffix: str) -> bytes | None:
        other = path.with_suffix(suffix)
        return _read_file(other) if other.is_file() else None

    file = StandoffFile(str(path), data, read_beside, options)
    documents_by_annotator = _load_reader(form)(file)
    if not any(documents_by_annotator.values()):
        raise FormatError(path, [Problem("has no annotated document")])
    _name_documents(documents_by_annotator, path.name)
    return Project(documents_by_annotator, [])


def _load_reader(form: str) -> Callable[[StandoffFile], AnnotatorDocuments]:
    """Import what reads a format."""
    module, _, function = STANDOFF_FORMATS[form].module.partition(".")
    reader: Callable[[StandoffFile], AnnotatorDocuments] = getattr(
        import_module(f".{module}", __package__), function
    )
    return reader


def _read_file(path: Path) -> bytes:
    """Return the bytes of a file, which may be empty: an annotator of brat may have found nothing."""
    return read_bytes(path) if path.stat().st_size else b""


def _list_archive(name: str, data: bytes) -> Members:
    """Return the files of an archive; its sizes are those that a folder may have."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile:
        raise FormatError(name, [Problem("is not a valid ZIP archive")]) from None
    if "[Content_Types].xml" in archive.namelist():
        raise FormatError(name, [Problem(describe_foreign_file(data))])
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > limits.MAX_FILES:
        raise FormatError(name, [Problem(f"contains more than {limits.MAX_FILES:,} files")])
    excess = describe_excess(sum(entry.file_size for entry in entries))
    if excess:
        raise FormatError(name, [Problem(f"{excess} when unpacked")])

    def read(entry: zipfile.ZipInfo) -> bytes:
        with wording_zip_errors(name, entry.filename), archive.open(entry) as file:
            return file.read(entry.file_size)

    # Archives of old versions have names that begin with a slash.
    return {entry.filename.lstrip("/"): partial(read, entry) for entry in entries}


def _read_members(path: Path, members: Members, options: StandoffOptions) -> Project:
    """Read the files of a folder or an archive."""
    places, notices = _find_annotators(path, members)
    documents: dict[str, list[StandoffDocument]] = defaultdict(list)
    problems: list[Problem] = []
    left_out = []
    for name, (annotator, document_name) in places.items():
        try:
            read = _read_member(name, members, options)
        except FormatError as error:
            problems += [problem._replace(file=problem.file or name) for problem in error.problems]
            continue
        if read is None:
            left_out.append(name)
            continue
        _name_documents(read, document_name or name, is_certain=bool(document_name))
        for owner, documents_of_owner in read.items():
            for document in documents_of_owner:
                document.file = name
            documents[annotator or owner] += documents_of_owner
    if problems:
        raise FormatError(path, problems)
    if not documents:
        expected = ", ".join(form.title for form in STANDOFF_FORMATS.values())
        expected += "; unpack an archive of other files"
        raise FormatError(
            path, [Problem(f"has no file of an annotation tool (expected {expected})")]
        )
    for problem in note_left_out(left_out, "files of an annotation tool"):
        notices.append(problem.message)
    return Project(dict(documents), notices)


def _read_member(
    name: str, members: Members, options: StandoffOptions
) -> AnnotatorDocuments | None:
    """Read a file of a folder or an archive; None if it is no annotation."""
    data = members[name]()
    if data.startswith(ZIP_MAGIC):
        inner = _list_archive(name, data)
        annotations = [member for member in inner if not ABOUT_PROJECT.fullmatch(member)]
        if len(annotations) != 1:
            message = f"has {pluralize(len(annotations), 'file')}"
            message += " (expected one document, and perhaps TypeSystem.xml)"
            raise FormatError(name, [Problem(message)])
        return _read_member(annotations[0], inner, options)
    form = recognise(data, name)
    if form not in STANDOFF_FORMATS:
        return None

    def read_beside(suffix: str) -> bytes | None:
        other = str(PurePosixPath(name).with_suffix(suffix))
        return members[other]() if other in members else None

    documents = _load_reader(form)(StandoffFile(name, data, read_beside, options))
    stem = PurePosixPath(name).stem
    # Every member of a project has a file; "all" is that of shared annotation.
    if form == "doccano" and stem != "all":
        return {stem: documents[""]}
    return documents


def _find_annotators(path: Path, members: Members) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Return the annotator and the document of each file that may be annotation, and notices.

    Either is empty where the file itself, or its name, has to tell.
    """
    names = [name for name in members if not ABOUT_PROJECT.fullmatch(name)]
    in_project = [name for name in names if re.match(r"(?:annotation|curation)(?:_ser)?/", name)]
    if in_project:
        return _find_in_project(path, in_project)
    is_curation = bool(names) and all(PurePosixPath(name).stem == CURATOR for name in names)
    places = {}
    for name in names:
        is_text_of_brat = (
            name.endswith(".txt") and str(PurePosixPath(name).with_suffix(".ann")) in members
        )
        if not is_text_of_brat and not is_about_folder(name):
            document = str(PurePosixPath(name).parent) if is_curation else ""
            places[name] = ("", document)
    return places, []


def _find_in_project(
    path: Path, names: Sequence[str]
) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Return the annotator and the document of each file of an exported project that is to be read."""
    name_by_place: dict[tuple[str, str], str] = {}
    curated = set()
    for name in sorted(names, key=_rank_suffix):
        folder, _, rest = name.partition("/")
        document, _, file = rest.rpartition("/")
        user = PurePosixPath(file).stem
        if folder == "curation":
            curated.add(document)
        elif folder == "annotation" and user not in NO_ANNOTATORS:
            name_by_place.setdefault((user, document), name)
    if not name_by_place:
        expected = "expected annotation/DOCUMENT/ANNOTATOR.json"
        advice = "export it again, with UIMA CAS JSON 0.4 as a second format"
        problem = Problem(f"has no annotation that can be read ({expected}); {advice}")
        raise FormatError(path, [problem])
    places = {name: place for place, name in sorted(name_by_place.items())}
    notices = []
    if curated:
        notices.append(f"{pluralize(len(curated), 'curated document')} left out.")
    return places, notices


def _rank_suffix(name: str) -> int:
    suffix = PurePosixPath(name).suffix
    # Any other suffix comes last.
    return (*PREFERRED_SUFFIXES, suffix).index(suffix)


def _name_documents(documents: AnnotatorDocuments, file: str, *, is_certain: bool = False) -> None:
    """Name documents: after their file if they have no names, or if that is certain; several are numbered from 1."""
    for documents_of_annotator in documents.values():
        for number, document in enumerate(documents_of_annotator, 1):
            name = document.name
            if is_certain or not name:
                name = file
                if len(documents_of_annotator) > 1:
                    name = str(number)
            document.name = name_document(name)


def read_annotation(
    path: Path, options: StandoffOptions, words_by_name: Mapping[str, Sequence[str]]
) -> Documents:
    """Read the documents of the only annotator of a file or a folder, or of the one who is named.

    Args:
        path: the file, the folder or the archive.
        options: what is read of it.
        words_by_name: the words of documents in another file, such as the key; none for unknown ones.
    """
    annotations = read_annotations(path, options)
    if len(annotations) > 1:
        names = join_names([annotation.name for annotation in annotations])
        choose = advise("; choose with {annotator}")
        raise RequestError(f"{path} has {len(annotations):,} annotators: {names}{choose}")
    (annotation,) = annotations
    (documents,) = make_documents([annotation], options, words_by_name)
    return documents


def read_annotations(path: Path, options: StandoffOptions) -> list[Annotation]:
    """Read the documents of each annotator of a file or a folder, in the order of their names.

    Raises:
        RequestError: the annotator who is named is none of them.
    """
    project = read_project(path, options)
    names = sorted(project.documents)
    # What has one annotator, such as the documents of a curator, needs no choice.
    if options.annotator and len(names) > 1:
        if options.annotator not in names:
            message = describe_unknown("annotator", options.annotator, names)
            raise RequestError(f"{path}: {message}")
        names = [options.annotator]
    annotations = []
    for name in names:
        documents = project.documents[name]
        notices = project.notices if name == names[0] else ()
        annotations.append(Annotation(name or str(path), documents, str(path), notices))
    return annotations
