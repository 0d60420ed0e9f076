"""Marmara's files: the treebank, the coreference and the genres.

Conventions: files are named by their path below the folder of the corpus, which has the folders `treebank` and
`coreference`, without subfolders, and may have `genres.tsv`, whose first two columns, below a header, are a document
and its genre.  Notices about single words or mentions are cut to the first `MAX_PROBLEMS_SHOWN`, with their total.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

from closeread.exceptions import (
    FormatError,
    Problem,
    ProblemList,
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
    AnnotatedTreebank,
    Annotations,
    annotate_documents,
    read_annotations,
)
from closeread.tasks.marmara.documents import make_document
from closeread.tasks.marmara.placing import place_annotations
from closeread.tasks.marmara.records import GENRES
from closeread.tasks.marmara.treebank import Kind, Treebank, limit_notices, read_treebank

TREEBANK, COREFERENCE, GENRES_FILE = "treebank", "coreference", "genres.tsv"

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
) -> tuple[Mapping[str, str | None], list[Problem], list[Problem]]:
    """Find the genres of documents: those of a file, if there is one, or else those that are known.

    Returns:
        The genre of every document, or None; errors in the file of genres; its oddities.
    """
    genres = {document: KNOWN_GENRES.get(document.partition("_")[0]) for document in documents}
    if path is None:
        return genres, [], []
    problems = ProblemList()
    notices: list[Problem] = []
    try:
        lines = read_lines(path)
    except FormatError as error:
        return genres, [problem._replace(file=GENRES_FILE) for problem in error.problems], []
    seen: dict[str, int] = {}
    for line, text in enumerate(lines, start=1):
        document, *others = (cell.strip() for cell in text.split("\t"))
        if line == 1:
            if document in documents or not others:
                what = f"has no header: {quote(text)} (expected document TAB genre)"
                problems.append(Problem(what, line, GENRES_FILE))
            continue
        if not text.strip():
            continue
        if not others:
            what = f"{quote(text)} has one column (expected document TAB genre)"
            problems.append(Problem(what, line, GENRES_FILE))
            continue
        if document in seen:
            what = f"document {quote(document)} already has a genre on line {seen[document]}"
            problems.append(Problem(what, line, GENRES_FILE))
        elif document not in documents and document.partition("_")[0] in documents:
            what = f"document {quote(document)} is not cut off here, so its genre is not used"
            notices.append(Problem(what, line, GENRES_FILE))
        elif document not in documents:
            problems.append(
                Problem(f"document {quote(document)} is not in the corpus", line, GENRES_FILE)
            )
        if others[0] not in GENRES:
            what = f"genre {describe_choice(others[0], GENRES)}"
            problems.append(Problem(what, line, GENRES_FILE))
        seen.setdefault(document, line)
        if document in genres and others[0] in GENRES:
            genres[document] = others[0]
    if missing := [document for document in documents if document not in seen]:
        what = f"{pluralize(len(missing), 'document')} without a row: {join_names(missing)}"
        notices.append(Problem(what, None, GENRES_FILE))
    return genres, problems, notices


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
    is_conllu = texts.kind is Kind.CONLLU
    found = Annotations([], [], []) if coreference is None else read_annotations(coreference)
    problems = texts.problems + found.problems
    made = AnnotatedTreebank([], [], [], [], [], [])
    if coreference is None and not (problems and is_conllu):
        documents = [make_document(name, sentences) for name, sentences in texts.documents.items()]
        made = made._replace(
            documents=documents, files=[texts.files[name] for name in texts.documents]
        )
    elif is_conllu and not problems:
        made = place_annotations(texts.documents, found.annotations, unaligned=unaligned)
    # else mentions could only be said to be in unknown sentences
    elif not is_conllu and not texts.problems:
        made = annotate_documents(texts, found, annotated_only=annotated_only)
    problems = texts.problems + sorted(
        found.problems + made.problems, key=lambda problem: problem.order
    )
    notices = [] if annotated_only else limit_notices(texts.notices, "the treebank")
    notices += limit_notices(found.notices + made.text_notices, "the coreference") + made.notices
    notices += [] if annotated_only else made.rest
    records = made.documents
    by_document, wrong, odd = find_genres(
        [record["document"] for record in records], None if problems else genres
    )
    for record in records:
        record["genre"] = by_document[record["document"]]
    return Parsed(records, made.files, problems + wrong, notices + odd)


def read_corpus_folder(folder: Path) -> Parsed:
    """Read the records of a folder with the folders `treebank` and, if there is any, `coreference`."""
    found: dict[str, Path] = {}
    others: list[Problem] = []
    for name in (TREEBANK, COREFERENCE):
        if name == TREEBANK or (folder / name).is_dir():
            files, misfits = walk_files(folder / name)
            found |= {f"{name}/{file}": path for file, path in files.items()}
            others += [
                Problem(f"is ignored: {one.message}", None, f"{name}/{one.file}") for one in misfits
            ]
    if (folder / GENRES_FILE).is_file():
        found[GENRES_FILE] = folder / GENRES_FILE
    read = read_corpus_files(found, "", has_coreference=(folder / COREFERENCE).is_dir())
    return read._replace(notices=[*others, *(read.notices or ())])


def read_corpus_files(
    files: Mapping[str, Path], split: str, *, unaligned: str = "drop", has_coreference: bool = False
) -> Parsed:
    """Read the records of the corpus from its files by their path below its folder; other files are ignored.

    `has_coreference` is whether there is a folder for it, though it may have no files.
    """
    del split  # there is one, and documents have names
    below = {
        name: {
            file: path for file, path in files.items() if PurePosixPath(file).parts[:-1] == (name,)
        }
        for name in (TREEBANK, COREFERENCE)
    }
    coreference = below[COREFERENCE] if has_coreference else below[COREFERENCE] or None
    return read_corpus(
        read_treebank(below[TREEBANK]), coreference, files.get(GENRES_FILE), unaligned=unaligned
    )


def refuse_file(path: Path, split: str) -> Parsed:
    """Refuse to read the corpus from a single file."""
    del split
    what = f"is a file (expected a folder with the folders {TREEBANK} and {COREFERENCE}, or records in .jsonl)"
    raise FormatError(path, [Problem(what)])


FORMAT = Format(read=refuse_file, folder=FormatFolder(read_corpus_files, read_corpus_folder))
