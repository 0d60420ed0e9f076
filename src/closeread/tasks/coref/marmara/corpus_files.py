"""The corpus: records from the files of the treebank, of the coreference and of genres.

Conventions: files are named by their path below the folder of the corpus, which has the folders `treebank` and
`coreference`, without subfolders, and may have `genres.tsv`.  Notices about single words or mentions are cut to the
first `SHOWN`, with their total.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple, cast

from closeread.exceptions import FormatError, Problem
from closeread.formats import Format, FormatFolder
from closeread.formats.folders import walk_files
from closeread.records import Parsed, ParsedFolder, Record
from closeread.tasks.coref.marmara.coreference_xml import Annotations, read_annotations
from closeread.tasks.coref.marmara.document_parts import Part, assign_annotations
from closeread.tasks.coref.marmara.documents import Document
from closeread.tasks.coref.marmara.genres import find_genres
from closeread.tasks.coref.marmara.notices import limit_notices
from closeread.tasks.coref.marmara.record_making import annotate_sentences, make_document
from closeread.tasks.coref.marmara.treebank_files import Files, Kind, read_files
from closeread.tasks.coref.marmara.treebank_xml import Treebank, parse_treebank

TREEBANK, COREFERENCE, GENRES = "treebank", "coreference", "genres.tsv"


class _Read(NamedTuple):
    """Records without genre, the file of each, errors and oddities."""

    records: Sequence[Document]
    files: Sequence[str]
    problems: list[Problem]
    notices: list[Problem]


def read_corpus(
    treebank: Mapping[str, Path],
    coreference: Mapping[str, Path] | None,
    genres: Path | None,
    *,
    unaligned: str = "drop",
    annotated_only: bool = False,
) -> ParsedFolder:
    """Read the records of the corpus.

    Args:
        treebank: the files of the treebank, by the names that messages show: extracted, as distributed, or CoNLL-U.
        coreference: the files of the coreference; None for records without mentions.
        genres: the file of genres; None if there is none.
        unaligned: what to do with a mention that has no place in CoNLL-U: `drop` it with a notice, or `error`.
        annotated_only: whether to return only the documents with coreference of a treebank in CoNLL-U, and notices
            about these.
    """
    texts = read_files(treebank)
    found = None if coreference is None else read_annotations(coreference)
    if texts.kind is Kind.CONLLU:
        read = _read_conllu(texts, found, unaligned, annotated_only=annotated_only)
    else:
        read = _join(parse_treebank(texts), found)
    of_genres = find_genres([one["document"] for one in read.records], None if read.problems else genres)
    for record in read.records:
        record["genre"] = of_genres.by_document[record["document"]]
    problems, notices = read.problems + of_genres.problems, read.notices + of_genres.notices
    return ParsedFolder(cast(Sequence[Record], read.records), read.files, problems, notices)


def _read_conllu(files: Files, found: Annotations | None, unaligned: str, *, annotated_only: bool) -> _Read:
    """Return the records of a treebank in CoNLL-U, with annotations put in place by their text."""
    from closeread.tasks.coref.marmara.placing import make_documents, place_annotations
    from closeread.tasks.coref.marmara.ud_treebank import read_ud_treebank

    treebank = read_ud_treebank(files.files)
    problems = files.problems + treebank.problems + (found.problems if found else [])
    if found is None or problems:
        records = [] if problems else make_documents(treebank.documents)
        return _Read(records, [treebank.files[record["document"]] for record in records], problems, files.notices)
    placed = place_annotations(treebank.documents, found.annotations, unaligned=unaligned)
    notices = limit_notices(found.notices, "the coreference") + placed.notices
    if not annotated_only:
        notices += files.notices + placed.rest
    return _Read(placed.documents, placed.files, placed.problems, notices)


def _join(treebank: Treebank, found: Annotations | None) -> _Read:
    """Return the records of a treebank in XML, with annotations if there are any."""
    problems = treebank.problems + (found.problems if found else [])
    notices = limit_notices(treebank.notices, "the treebank")
    if found is None:
        records = [make_document(name, sentences, [], []) for name, sentences in treebank.documents.items()]
        return _Read(records, list(treebank.files.values()), problems, notices)
    if treebank.problems:  # mentions could only be said to be in unknown sentences
        return _Read([], [], problems, notices)
    assigned = assign_annotations(treebank, found.annotations)
    problems += assigned.problems
    notices += assigned.notices + limit_notices(found.notices + assigned.text_notices, "the coreference")
    if problems:
        return _Read([], [], sorted(problems, key=lambda problem: problem.order), notices)
    records = [_make_record(name, part, treebank) for name, part in assigned.parts.items()]
    return _Read(records, [part.file for part in assigned.parts.values()], problems, notices)


def _make_record(name: str, part: Part, treebank: Treebank) -> Document:
    if part.annotation is None:
        return make_document(name, part.sentences, [], [])
    return annotate_sentences(name, part.sentences, part.annotation, treebank.word_numbers)


def read_corpus_folder(folder: Path) -> ParsedFolder:
    """Read the records of a folder with the folders `treebank` and, if there is any, `coreference`.

    Raises:
        FormatError: there is no treebank, or a folder can't be read.
    """
    found: dict[str, dict[str, Path]] = {}
    others: list[Problem] = []
    for name in (TREEBANK, COREFERENCE):
        if name == TREEBANK or (folder / name).is_dir():
            files, misfits = walk_files(folder / name)
            found[name] = {f"{name}/{file}": path for file, path in files.items() if "/" not in file}
            others += [Problem(f"is ignored: {one.what}", None, f"{name}/{one.file}") for one in misfits]
    genres = folder / GENRES
    read = read_corpus(found[TREEBANK], found.get(COREFERENCE), genres if genres.is_file() else None)
    return read._replace(notices=others + read.notices)


def read_corpus_files(files: Mapping[str, Path], split: str, *, unaligned: str = "drop") -> ParsedFolder:
    """Read the records of the corpus from its files by their path below its folder; others are none of ours.

    Args:
        files: the files.
        split: ignored, since there is one split, and documents have names.
        unaligned: see `read_corpus`.
    """
    del split
    below = {
        name: {file: path for file, path in files.items() if PurePosixPath(file).parts[:-1] == (name,)}
        for name in (TREEBANK, COREFERENCE)
    }
    return read_corpus(below[TREEBANK], below[COREFERENCE] or None, files.get(GENRES), unaligned=unaligned)


def refuse_file(path: Path, split: str) -> Parsed:
    """Refuse to read the corpus from a single file.

    Raises:
        FormatError: always.
    """
    del split
    what = f"is a file (expected a folder with the folders {TREEBANK} and {COREFERENCE}, or records in .jsonl)"
    raise FormatError(path, [Problem(what)])


FORMAT = Format(read=refuse_file, folder=FormatFolder(read_corpus_files, read_corpus_folder))
