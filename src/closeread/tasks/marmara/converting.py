"""Conversion of the corpus's coreference between XML, CoNLL and JSON Lines.

Conventions: XML and CoNLL are checked against the treebank; JSON Lines are records of the corpus, which hold its text.
Mentions in XML are numbered from 0 in document order when they are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.sources import locate
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    describe_problems,
    join_names,
    pluralize,
    quote,
)
from closeread.files import creating_folder, text_suffix, write_text
from closeread.formats.folders import find_unwritable, walk_files
from closeread.formats.json_lines import dump_json_lines
from closeread.formats.text import read_bytes
from closeread.records import Record, UserFiles
from closeread.tasks.marmara.conll import dump_conll, read_checked
from closeread.tasks.marmara.coreference import dump_annotation
from closeread.tasks.marmara.corpus_files import (
    COREFERENCE,
    GENRES_FILE,
    TREEBANK,
    find_genres,
    read_corpus,
)
from closeread.tasks.marmara.documents import NO_GAPS, WordNumbers, list_forms
from closeread.tasks.marmara.treebank import (
    EXPECTED,
    Kind,
    is_sentence_number,
    limit_notices,
    read_treebank,
)

CORPUS = "marmara_coref"
FILE_NAME = re.compile(r"[^\W_][\w.-]{0,99}", re.ASCII)


class TreebankFiles(NamedTuple):
    """Where a user has the treebank: its folder, its files by name, and the file of genres, if there is one."""

    folder: Path
    files: Mapping[str, Path]
    genres: Path | None


class Source(NamedTuple):
    """Documents to convert, and their oddities."""

    documents: Sequence[Record]
    word_numbers: WordNumbers
    kind: str  # the suffix of the format that they were read from
    notices: Sequence[str]


def locate_treebank(data_dir: Path | None, treebank: Path | None) -> TreebankFiles:
    """Find the treebank in the folder of the corpus, by default that in `CLOSEREAD_DATA`, or in one of its own."""
    corpus = load_corpus(CORPUS)
    folders: dict[str, Path | None] = {COREFERENCE: None} | (
        {TREEBANK: treebank} if treebank else {}
    )
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
        raise FormatError(
            place.folder, [Problem(f"{what} (expected the METU-Sabanci Turkish Treebank)")]
        )
    _raise_any(place.folder, treebank.problems)
    if is_xml:
        read = read_corpus(treebank, files, None, annotated_only=True)
        _raise_any(folder, wrong + read.problems)
        documents, notices = read.records, describe_problems(str(folder), read.notices or ())
    else:
        documents, renamed = read_checked(source, treebank)
        notices = [
            notice.at(str(source)) for notice in limit_notices(renamed, "the names of documents")
        ]
    names = {*treebank.documents, *(document["document"] for document in documents)}
    genres, problems, _ = find_genres(names, place.genres)
    _raise_any(place.genres.parent if place.genres else place.folder, problems)
    for document in documents:
        document["genre"] = genres[document["document"]]
    odd = [] if is_conllu else limit_notices(treebank.notices, "the treebank")
    notices = [*describe_problems(str(place.folder), odd), *notices]
    return Source(documents, treebank.word_numbers, ".xml" if is_xml else ".conll", notices)


def _raise_any(folder: Path, problems: Sequence[Problem]) -> None:
    if problems:
        raise FormatError(folder, sorted(problems, key=lambda problem: problem.order))


def write_source(source: Source, output: Path) -> None:
    """Write documents as CoNLL (`.conll`), JSON Lines (`.jsonl`), a coreference file (`.xml`) or a folder of them."""
    suffix, documents = text_suffix(output), source.documents
    if suffix not in (".conll", ".jsonl", ".xml") and output.suffix:
        expected = "expected .conll, .jsonl, .xml or none, for a folder of coreference files"
        raise RequestError(f"{output}: the suffix is '{output.suffix}' ({expected})")
    if suffix == ".xml" and len(documents) != 1:
        found = pluralize(len(documents), "document")
        raise RequestError(
            f"{output} can hold one document, but there are {found} (expected a folder)"
        )
    try:
        if suffix == ".conll":
            text = dump_conll(
                documents, [document["clusters"] for document in documents], source.word_numbers
            )
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
    if wrong := [name for name in texts if not FILE_NAME.fullmatch(name)]:
        name, file = (
            ("name", "the name of a file") if len(wrong) == 1 else ("names", "names of files")
        )
        raise RequestError(
            f"cannot write {output}: the document {name} {join_names(wrong)} can't be {file}"
        )
    if collisions := find_unwritable(texts, ".xml"):
        raise FormatError(output, collisions)
    with creating_folder(output) as folder:
        for name, text in texts.items():
            (folder / f"{name}.xml").write_text(text, "utf-8", newline="")


def dump_given(source: Source) -> str:
    """Return all mentions of documents as CoNLL, each as a chain of its own."""
    chains = [
        [[[one["start"], one["end"]]] for one in document["mentions"]]
        for document in source.documents
    ]
    return dump_conll(source.documents, chains, source.word_numbers)


def dump_xml(document: Record) -> str:
    """Return a document as a coreference file; a ValueError if XML can't express a word or the number of a sentence."""
    for one in document["mentions"]:
        if not is_sentence_number(one["sentence"]):  # such as those of CoNLL-U
            raise ValueError(
                f"{quote(one['sentence'])} is not the number of a sentence of the treebank ({EXPECTED})"
            )
    mentions = [{**one, "id": str(m_id)} for m_id, one in enumerate(document["mentions"])]
    return dump_annotation({**document, "mentions": mentions})


def find_losses(source: Source, output: Path) -> list[str]:
    """Describe the parts of documents that the format of the output doesn't keep."""
    suffix = text_suffix(output)
    every = [
        (number, one)
        for document in source.documents
        for number, one in enumerate(document["mentions"])
    ]
    n_changed = sum(one["id"] != str(number) for number, one in every)
    lost = []
    if source.kind != ".conll" and suffix == ".conll" and every:
        lost.append(f"the ids of {pluralize(len(every), 'mention')}")
    if source.kind != ".conll" and suffix in ("", ".xml") and n_changed:
        lost.append(
            f"the ids of {pluralize(n_changed, 'mention')}; new ones are from 0 in document order"
        )
    loose = [  # mentions in no chain
        (document, one)
        for document in source.documents
        for one in document["mentions"]
        if not any([one["start"], one["end"]] in cluster for cluster in document["clusters"])
    ]
    if loose and ".conll" in (suffix, source.kind):
        document, one = loose[0]
        words = " ".join(list_forms(document)[one["start"] : one["end"] + 1])
        first = f"first: {quote(words)} in sentence {quote(one['sentence'])}"
        if suffix == ".conll":
            lost.append(f"{pluralize(len(loose), 'mention')} in no chain of two or more ({first})")
        else:
            what = (
                f"{pluralize(len(loose), 'chain')} of one mention; the mentions are now in no chain"
            )
            lost.append(f"{what} ({first})")
    return lost
