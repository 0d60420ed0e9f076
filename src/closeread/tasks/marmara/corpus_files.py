"""Marmara's files: the treebank, the coreference and the genres.

Conventions: files are named by their path below the folder of the corpus, which has the folders `treebank` and
`coreference`, without subfolders, and may have `genres.tsv`, whose first two columns, below a header, are a document
and its genre.  Notices about single words or mentions are cut to the first `MAX_PROBLEMS_SHOWN`, with their total.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

from closeread.exceptions import (
    FormatError,
    Problem,
    describe_choice,
    join_names,
    pluralize,
    quote,
)
from closeread.formats import Format, FormatFolder
from closeread.formats.folders import walk_files
from closeread.formats.text import read_lines
from closeread.records import Parsed
from closeread.tasks.marmara.coreference import (
    AnnotatedDocument,
    annotate_documents,
    read_annotations,
)
from closeread.tasks.marmara.documents import Notes, make_document
from closeread.tasks.marmara.placing import place_annotations
from closeread.tasks.marmara.records import GENRES
from closeread.tasks.marmara.treebank import Kind, Treebank, limit_notices, read_treebank

TREEBANK = "treebank"
COREFERENCE = "coreference"
GENRES_FILE = "genres.tsv"

KNOWN_GENRES = {
    **dict.fromkeys(("20200000", "20210000", "20270000", "20580000", "20710000"), "News"),
    **dict.fromkeys(("20970000", "21040000", "22080000", "22280000"), "News"),
    **dict.fromkeys(("00009123", "00142211"), "Essay"),
    **dict.fromkeys(("00095233", "00111211"), "Research Monograph"),
    **dict.fromkeys(("00016112", "00038121", "00044121"), "Article"),
    "00220166": "Travel",
    "00131266": "Other",
}
"""Genres that follow from what Schüller et al. (2018) print, Tables 1 and 2: the tokens of these documents sum up to
those of their genre (Article: one off).  Short stories and novels can't be told apart in this way."""


def find_genres(
    documents: Collection[str], path: Path | None
) -> tuple[dict[str, str | None], Notes]:
    """Find the genres of documents: those of a file, if there is one, or else those that are known.

    Returns:
        The genre of every document, or None; what is wrong with the file of genres, and its oddities.
    """
    genres = {document: KNOWN_GENRES.get(document.partition("_")[0]) for document in documents}
    notes = Notes(file=GENRES_FILE)
    if path is None:
        return genres, notes
    with notes.catching():
        _read_genres(read_lines(path), genres, notes)
    return genres, notes


def _read_genres(lines: Sequence[str], genres: dict[str, str | None], notes: Notes) -> None:
    """Set the genres of documents to those of the rows of a file."""
    for header in lines[:1]:
        if "\t" not in header or header.split("\t")[0].strip() in genres:
            notes.report(f"has no header: {quote(header)} (expected document TAB genre)", 1)
    first_lines: dict[str, int] = {}
    for line, text in enumerate(lines[1:], start=2):
        if not text.strip():
            continue
        cells = [cell.strip() for cell in text.split("\t")]
        if len(cells) < 2:
            notes.report(f"{quote(text)} has one column (expected document TAB genre)", line)
            continue
        document, genre = cells[:2]
        if document in first_lines:
            notes.report(
                f"document {quote(document)} already has a genre on line {first_lines[document]}",
                line,
            )
        elif document not in genres:
            if document.partition("_")[0] in genres:
                notes.note(
                    f"document {quote(document)} is not cut off here, so its genre is not used",
                    line,
                )
            else:
                notes.report(f"document {quote(document)} is not in the corpus", line)
        first_lines.setdefault(document, line)
        if genre not in GENRES:
            notes.report(f"genre {describe_choice(genre, GENRES)}", line)
        elif document in genres:
            genres[document] = genre
    missing = [document for document in genres if document not in first_lines]
    if missing:
        notes.note(f"{pluralize(len(missing), 'document')} without a row: {join_names(missing)}")


def read_corpus(
    texts: Treebank,
    coreference: Mapping[str, Path] | None,
    genres: Path | None,
    *,
    unaligned: str = "drop",
    annotated_only: bool = False,
) -> Parsed:
    """Read the records of the corpus.

    Args:
        texts: the treebank.
        coreference: the files of the coreference, by the names that messages show; None for records without mentions.
        genres: the file of genres; None if there is none.
        unaligned: what to do with a mention that has no place in CoNLL-U: `drop` it with a notice, or `error`.
        annotated_only: whether to return only the documents with coreference, and notices about these.
    """
    notes = Notes()
    documents: list[AnnotatedDocument] = []
    is_conllu = texts.kind is Kind.CONLLU
    if coreference is None:
        if not (is_conllu and texts.notes.problems):
            for name, sentences in texts.documents.items():
                record = make_document(name, sentences)
                documents.append(AnnotatedDocument(record, texts.files[name]))
    else:
        annotations = read_annotations(coreference, notes)
        # Of a treebank with errors, mentions could only be said to be in unknown sentences.
        if is_conllu and not texts.notes.problems and not notes.problems:
            documents = place_annotations(
                texts.documents,
                annotations,
                notes,
                unaligned=unaligned,
                annotated_only=annotated_only,
            )
        elif not is_conllu and not texts.notes.problems:
            documents = annotate_documents(texts, annotations, notes, annotated_only=annotated_only)
    problems = texts.notes.problems + sorted(notes.problems, key=lambda problem: problem.order)
    notices = limit_notices(notes.notices, "the coreference") + notes.changes
    if not annotated_only:
        notices = limit_notices(texts.notes.notices, "the treebank") + notices
    names = [record["document"] for record, _ in documents]
    genres_by_name, of_genres = find_genres(names, None if problems else genres)
    for record, _ in documents:
        record["genre"] = genres_by_name[record["document"]]
    return Parsed(
        [record for record, _ in documents],
        [file for _, file in documents],
        problems + of_genres.problems,
        notices + of_genres.notices,
    )


def read_corpus_folder(folder: Path) -> Parsed:
    """Read the records of a folder with the folders `treebank` and, if there is any, `coreference`."""
    files: dict[str, Path] = {}
    ignored: list[Problem] = []
    has_coreference = (folder / COREFERENCE).is_dir()
    for name in (TREEBANK, COREFERENCE) if has_coreference else (TREEBANK,):
        below, misfits = walk_files(folder / name)
        files |= {f"{name}/{file}": path for file, path in below.items()}
        for misfit in misfits:
            message = f"is ignored: {misfit.message}"
            ignored.append(Problem(message, None, f"{name}/{misfit.file}"))
    if (folder / GENRES_FILE).is_file():
        files[GENRES_FILE] = folder / GENRES_FILE
    parsed = read_corpus_files(files, "", has_coreference=has_coreference)
    return parsed._replace(notices=ignored + (parsed.notices or []))


def read_corpus_files(
    files: Mapping[str, Path], split: str, *, unaligned: str = "drop", has_coreference: bool = False
) -> Parsed:
    """Read the records of the corpus from its files by their path below its folder; other files are ignored.

    `has_coreference` is whether there is a folder for it, though it may have no files.
    """
    del split  # there is one, and documents have names
    texts = read_treebank(_list_below(files, TREEBANK))
    coreference = _list_below(files, COREFERENCE)
    annotated = coreference if coreference or has_coreference else None
    return read_corpus(texts, annotated, files.get(GENRES_FILE), unaligned=unaligned)


def _list_below(files: Mapping[str, Path], folder: str) -> dict[str, Path]:
    """Return the files that are directly in a folder."""
    return {
        name: path for name, path in files.items() if PurePosixPath(name).parts[:-1] == (folder,)
    }


def refuse_file(path: Path, split: str) -> Parsed:
    """Refuse to read the corpus from a single file."""
    del split
    expected = f"a folder with the folders {TREEBANK} and {COREFERENCE}, or records in .jsonl"
    raise FormatError(path, [Problem(f"is a file (expected {expected})")])


FORMAT = Format(read=refuse_file, folder=FormatFolder(read_corpus_files, read_corpus_folder))
