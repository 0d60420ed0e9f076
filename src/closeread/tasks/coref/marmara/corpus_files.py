"""The corpus: records from the files of the treebank, of the coreference and of genres; its conversion.

Conventions: files are named by their path below the folder of the corpus, which has the folders `treebank` and
`coreference`, without subfolders, and may have `genres.tsv`, whose first two columns, below a header, are a document
and its genre.  Notices about single words or mentions are cut to the first `SHOWN`, with their total.

Coreference is converted between XML, CoNLL and JSON Lines.  XML and CoNLL are checked against the treebank; JSON Lines
are records of the corpus, which hold its text.  Mentions in XML are numbered from 0 in document order when they are
written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.sources import locate
from closeread.exceptions import (
    FormatError,
    Problem,
    ProblemList,
    RequestError,
    describe_problems,
    join_names,
    pluralize,
    quote,
    suggest,
)
from closeread.files import creating_folder, text_suffix, write_text
from closeread.formats import Format, FormatFolder
from closeread.formats.folders import find_unwritable, walk_files
from closeread.formats.json_lines import dump_json_lines
from closeread.formats.text import read_bytes, read_lines
from closeread.records import Parsed, Record, UserFiles
from closeread.tasks.coref.marmara.conll import dump_conll, read_checked
from closeread.tasks.coref.marmara.coreference import (
    Annotated,
    Annotations,
    annotate_documents,
    dump_annotation,
    read_annotations,
)
from closeread.tasks.coref.marmara.documents import NO_GAPS, WordNumbers, collecting, list_forms, make_document
from closeread.tasks.coref.marmara.placing import place_annotations
from closeread.tasks.coref.marmara.records import GENRES
from closeread.tasks.coref.marmara.treebank import (
    EXPECTED,
    Kind,
    Treebank,
    is_sentence_number,
    limit_notices,
    read_treebank,
)

CORPUS = "marmara_coref"
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
        The genre of every document, or None; what is wrong with the file of genres; what is odd about it.
    """
    genres = {document: KNOWN_GENRES.get(document.partition("_")[0]) for document in documents}
    problems: list[Problem] = ProblemList()
    notices: list[Problem] = []
    lines: Sequence[str] = ()
    if path is not None:
        with collecting(problems, GENRES_FILE):
            lines = read_lines(path)
    seen: dict[str, int] = {}
    for line, text in enumerate(lines, start=1):
        document, *others = (cell.strip() for cell in text.split("\t"))
        what = ""
        if line == 1:
            if document in documents or not others:
                what = f"has no header: {quote(text)} (expected document TAB genre)"
        elif text.strip() and not others:
            what = f"{quote(text)} has one column (expected document TAB genre)"
        elif text.strip():
            if document in seen:
                what = f"document {quote(document)} already has a genre on line {seen[document]}"
            elif document not in documents and document.partition("_")[0] in documents:
                odd = f"document {quote(document)} is not cut off here, so its genre is not used"
                notices.append(Problem(odd, line, GENRES_FILE))
            elif document not in documents:
                what = f"document {quote(document)} is not in the corpus"
            elif others[0] not in GENRES:
                what = f"genre {quote(others[0])} is not one of {', '.join(GENRES)}.{suggest(others[0], GENRES)}"
            else:
                genres[document] = others[0]
            seen.setdefault(document, line)
        if what:
            problems.append(Problem(what, line, GENRES_FILE))
    if lines and (missing := [document for document in documents if document not in seen]):
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
    made = Annotated([], [], [], [], [], [])
    if coreference is None:
        documents = [make_document(name, sentences) for name, sentences in texts.documents.items()]
        made = made._replace(documents=documents, files=[texts.files[name] for name in texts.documents])
    elif is_conllu and not texts.problems and not found.problems:
        made = place_annotations(texts.documents, found.annotations, unaligned=unaligned)
    elif not is_conllu and not texts.problems:  # else mentions could only be said to be in unknown sentences
        made = annotate_documents(texts, found, annotated_only=annotated_only)
    problems = texts.problems + sorted(found.problems + made.problems, key=lambda problem: problem.order)
    notices = [] if annotated_only else limit_notices(texts.notices, "the treebank")
    notices += limit_notices(found.notices + made.text_notices, "the coreference") + made.notices
    notices += [] if annotated_only else made.rest
    records = made.documents
    by_document, wrong, odd = find_genres([record["document"] for record in records], None if problems else genres)
    for record in records:
        record["genre"] = by_document[record["document"]]
    return Parsed(records, made.files, problems + wrong, notices + odd)


def read_corpus_folder(folder: Path) -> Parsed:
    """Read the records of a folder with the folders `treebank` and, if there is any, `coreference`."""
    found: dict[str, Path] = {}
    others: list[Problem] = []
    has_coreference = (folder / COREFERENCE).is_dir()
    for name in (TREEBANK, COREFERENCE) if has_coreference else (TREEBANK,):
        files, misfits = walk_files(folder / name)
        found |= {f"{name}/{file}": path for file, path in files.items()}
        others += [Problem(f"is ignored: {one.what}", None, f"{name}/{one.file}") for one in misfits]
    if (folder / GENRES_FILE).is_file():
        found[GENRES_FILE] = folder / GENRES_FILE
    read = read_corpus_files(found, "", has_coreference=has_coreference)
    return read._replace(notices=[*others, *(read.notices or ())])


def read_corpus_files(
    files: Mapping[str, Path], split: str, *, unaligned: str = "drop", has_coreference: bool = False
) -> Parsed:
    """Read the records of the corpus from its files by their path below its folder; others are none of ours.

    `has_coreference` is whether there is a folder for it, though it may have no files.
    """
    del split  # there is one, and documents have names
    treebank, coreference = (
        {file: path for file, path in files.items() if PurePosixPath(file).parts[:-1] == (name,)}
        for name in (TREEBANK, COREFERENCE)
    )
    of_coreference = coreference if has_coreference or coreference else None
    return read_corpus(read_treebank(treebank), of_coreference, files.get(GENRES_FILE), unaligned=unaligned)


def refuse_file(path: Path, split: str) -> Parsed:
    """Refuse to read the corpus from a single file."""
    del split
    what = f"is a file (expected a folder with the folders {TREEBANK} and {COREFERENCE}, or records in .jsonl)"
    raise FormatError(path, [Problem(what)])


FORMAT = Format(read=refuse_file, folder=FormatFolder(read_corpus_files, read_corpus_folder))


class TreebankFiles(NamedTuple):
    """Where a user has the treebank: its folder, its files by name, and the file of genres, if there is one."""

    folder: Path
    files: Mapping[str, Path]
    genres: Path | None


class Source(NamedTuple):
    """Documents to convert, and what is odd about them."""

    documents: Sequence[Record]
    word_numbers: WordNumbers
    kind: str  # the suffix of the format that they were read from
    notices: Sequence[str]


def locate_treebank(data_dir: Path | None, treebank: Path | None) -> TreebankFiles:
    """Find the treebank in the folder of the corpus, by default that in `CLOSEREAD_DATA`, or in one of its own."""
    corpus = load_corpus(CORPUS)
    folders: dict[str, Path | None] = {COREFERENCE: None} | ({TREEBANK: treebank} if treebank else {})
    source = corpus.configs[corpus.default_config].splits[corpus.default_split]
    found = locate(corpus, source, UserFiles(data_dir, folders)).files
    files = {path.name: path for name, path in found.items() if name.startswith(f"{TREEBANK}/")}
    # A treebank from elsewhere need not be that of the genres in CLOSEREAD_DATA.
    genres = found.get(GENRES_FILE) if data_dir or not treebank else None
    return TreebankFiles(next(iter(files.values())).parent, files, genres)


def read_source(source: Path, find_treebank: Callable[[], TreebankFiles]) -> Source:
    """Read a coreference file or a folder of them, a CoNLL file, or a file of the corpus's records (`.jsonl`).

    The treebank is found where it is needed.
    """
    if source.suffix.lower() == ".jsonl":
        gold = read_own_gold(load_corpus(CORPUS), source)
        return Source(gold.records, NO_GAPS, ".jsonl", gold.notices)
    folder, files, wrong = source.parent, {source.name: source}, list[Problem]()
    if source.is_dir():
        inside, misfits = walk_files(source)
        folder, files = source, {name: path for name, path in inside.items() if "/" not in name}
        wrong = [problem for problem in misfits if "/" not in (problem.file or "")]
    is_xml = source.is_dir() or read_bytes(source).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    place = find_treebank()
    treebank = read_treebank(place.files)
    is_conllu = treebank.kind is Kind.CONLLU
    if is_conllu and not is_xml:
        what = "is CoNLL-U, whose sentences and words have other numbers"
        raise FormatError(place.folder, [Problem(f"{what} (expected the METU-Sabanci Turkish Treebank)")])
    ProblemList(treebank.problems).raise_any(place.folder)
    if is_xml:
        read = read_corpus(treebank, files, None, annotated_only=True)
        ProblemList(wrong + read.problems).raise_any(folder)
        documents, notices = read.records, describe_problems(str(folder), read.notices or ())
    else:
        documents, renamed = read_checked(source, treebank)
        notices = [notice.at(str(source)) for notice in limit_notices(renamed, "the names of documents")]
    names = {*treebank.documents, *(document["document"] for document in documents)}
    genres, problems, _ = find_genres(names, place.genres)
    ProblemList(problems).raise_any(place.genres.parent if place.genres else place.folder)
    for document in documents:
        document["genre"] = genres[document["document"]]
    odd = [] if is_conllu else limit_notices(treebank.notices, "the treebank")
    notices = [*describe_problems(str(place.folder), odd), *notices]
    return Source(documents, treebank.word_numbers, ".xml" if is_xml else ".conll", notices)


def write_source(source: Source, output: Path) -> None:
    """Write documents as CoNLL (`.conll`), JSON Lines (`.jsonl`), a coreference file (`.xml`) or a folder of them."""
    suffix, documents = text_suffix(output), source.documents
    if suffix not in (".conll", ".jsonl", ".xml") and output.suffix:
        expected = "expected .conll, .jsonl, .xml or none, for a folder of coreference files"
        raise RequestError(f"{output}: the suffix is '{output.suffix}' ({expected})")
    if suffix == ".xml" and len(documents) != 1:
        found = pluralize(len(documents), "document")
        raise RequestError(f"{output} can hold one document, but there are {found} (expected a folder)")
    try:
        if suffix == ".conll":
            text = dump_conll(documents, [document["clusters"] for document in documents], source.word_numbers)
        elif suffix == ".jsonl":
            text = dump_json_lines(documents)
        else:
            texts = {document["document"]: dump_xml(document) for document in documents}
            text = texts[documents[0]["document"]] if suffix else ""
    except ValueError as error:
        raise RequestError(f"cannot write {output}: {error}") from None
    if suffix:
        write_text(output, text)
        return
    if problems := find_unwritable(texts, ".xml"):
        raise FormatError(output, problems)
    with creating_folder(output) as folder:
        for name, text in texts.items():
            (folder / f"{name}.xml").write_text(text, "utf-8", newline="")


def dump_given(source: Source) -> str:
    """Return all mentions of documents as CoNLL, each as a chain of its own."""
    chains = [[[[one["start"], one["end"]]] for one in document["mentions"]] for document in source.documents]
    return dump_conll(source.documents, chains, source.word_numbers)


def dump_xml(document: Record) -> str:
    """Return a document as a coreference file; a ValueError if XML can't express a word or the number of a sentence."""
    for one in document["mentions"]:
        if not is_sentence_number(one["sentence"]):  # such as those of CoNLL-U
            raise ValueError(f"{quote(one['sentence'])} is not the number of a sentence of the treebank ({EXPECTED})")
    mentions = [{**one, "id": str(m_id)} for m_id, one in enumerate(document["mentions"])]
    return dump_annotation({**document, "mentions": mentions})


def find_losses(source: Source, output: Path) -> list[str]:
    """Say what the format of the output doesn't keep of the documents."""
    suffix = text_suffix(output)
    every = [(number, one) for document in source.documents for number, one in enumerate(document["mentions"])]
    n_changed = sum(one["id"] != str(number) for number, one in every)
    lost = []
    if source.kind != ".conll" and suffix == ".conll" and every:
        lost.append(f"the ids of {pluralize(len(every), 'mention')}")
    if source.kind != ".conll" and suffix in ("", ".xml") and n_changed:
        lost.append(f"the ids of {pluralize(n_changed, 'mention')}; new ones are from 0 in document order")
    loose = [  # mentions in no chain
        (document, one)
        for document in source.documents
        for one in document["mentions"]
        if not any([one["start"], one["end"]] in cluster for cluster in document["clusters"])
    ]
    if loose and ".conll" in (suffix, source.kind):
        document, one = loose[0]
        words = " ".join(list_forms(document)[one["start"] : one["end"] + 1])
        first = f"(first: {quote(words)} in sentence {quote(one['sentence'])})"
        if suffix == ".conll":
            lost.append(f"{pluralize(len(loose), 'mention')} in no chain of two or more {first}")
        else:
            lost.append(f"{pluralize(len(loose), 'chain')} of one mention; the mentions are now in no chain {first}")
    return lost
