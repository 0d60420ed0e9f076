"""Conversion of the corpus's coreference between XML and JSON Lines, and of both to CoNLL.

Conventions: XML is checked against the treebank; JSON Lines are records of the corpus, which hold its text.  Mentions
in XML are numbered from 0 in document order when they are written.
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
    ProblemList,
    RequestError,
    describe_problems,
    join_names,
    pluralize,
    quote,
)
from closeread.files import creating_folder, text_suffix, write_text
from closeread.formats.folders import find_unwritable, walk_files
from closeread.formats.json_lines import dump_json_lines
from closeread.records import Record, UserFiles
from closeread.tasks.marmara.conll import dump_conll
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
    """Documents to convert.

    Attributes:
        documents: the documents.
        word_numbers: the numbers of the words of sentences where they are not 1, 2, 3 …
        notices: their oddities.
    """

    documents: Sequence[Record]
    word_numbers: WordNumbers
    notices: Sequence[str]


def locate_treebank(data_dir: Path | None, treebank: Path | None) -> TreebankFiles:
    """Find the treebank in the folder of the corpus, by default that in `CLOSEREAD_DATA`, or in one of its own."""
    corpus = load_corpus(CORPUS)
    source = corpus.configs[corpus.default_config].splits[corpus.default_split]
    folders: dict[str, Path | None] = {COREFERENCE: None}
    if treebank:
        folders[TREEBANK] = treebank
    located = locate(corpus, source, UserFiles(data_dir, folders)).files
    files = {}
    for name, path in located.items():
        if name.startswith(f"{TREEBANK}/"):
            files[path.name] = path
    # A treebank from elsewhere need not be that of the genres in CLOSEREAD_DATA.
    genres = located.get(GENRES_FILE) if data_dir or not treebank else None
    return TreebankFiles(next(iter(files.values())).parent, files, genres)


def read_source(source: Path, find_treebank: Callable[[], TreebankFiles]) -> Source:
    """Read a coreference file or a folder of them, or a file of the corpus's records (`.jsonl`).

    The treebank is found where it is needed.
    """
    if source.suffix.lower() == ".jsonl":
        gold = read_own_gold(load_corpus(CORPUS), source)
        return Source(gold.records, NO_GAPS, gold.notices)
    folder, files, misfits = _list_files(source)
    place = find_treebank()
    treebank = read_treebank(place.files)
    treebank.notes.problems.raise_any(place.folder)
    # Notices about text in CoNLL-U say nothing of coreference.
    is_conllu = treebank.kind is Kind.CONLLU
    text_notices = [] if is_conllu else limit_notices(treebank.notes.notices, "the treebank")
    parsed = read_corpus(treebank, files, None, annotated_only=True)
    ProblemList(misfits + parsed.problems).raise_any(folder)
    names = {*treebank.documents, *(document["document"] for document in parsed.records)}
    genres, notes = find_genres(names, place.genres)
    notes.problems.raise_any(place.genres.parent if place.genres else place.folder)
    for document in parsed.records:
        document["genre"] = genres[document["document"]]
    notices = describe_problems(str(place.folder), text_notices)
    notices += describe_problems(str(folder), parsed.notices or ())
    return Source(parsed.records, treebank.word_numbers, notices)


def _list_files(source: Path) -> tuple[Path, dict[str, Path], list[Problem]]:
    """Return the folder of a file, or the folder itself, the files that are read, and the problems with others."""
    if not source.is_dir():
        return source.parent, {source.name: source}, []
    below, misfits = walk_files(source)
    files = {name: path for name, path in below.items() if "/" not in name}
    return source, files, [misfit for misfit in misfits if "/" not in (misfit.file or "")]


def write_source(source: Source, output: Path) -> None:
    """Write documents as CoNLL (`.conll`), JSON Lines (`.jsonl`), a coreference file (`.xml`) or a folder of them."""
    suffix = text_suffix(output)
    documents = source.documents
    if suffix not in (".conll", ".jsonl", ".xml") and output.suffix:
        raise RequestError(
            f"{output}: the suffix is '{output.suffix}' "
            "(expected .conll, .jsonl, .xml or none, for a folder of coreference files)"
        )
    if suffix == ".xml" and len(documents) != 1:
        raise RequestError(
            f"{output} can hold one document, but there are {pluralize(len(documents), 'document')} "
            "(expected a folder)"
        )
    try:
        if suffix == ".conll":
            chains = [document["clusters"] for document in documents]
            text = dump_conll(documents, chains, source.word_numbers)
        elif suffix == ".jsonl":
            text = dump_json_lines(documents)
        else:
            texts = {document["document"]: dump_xml(document) for document in documents}
            text = texts[documents[0]["document"]] if suffix else ""
    except ValueError as error:
        raise RequestError(f"cannot write {output}: {error}") from None
    if suffix:
        write_text(output, text)
    else:
        _write_folder(output, texts)


def _write_folder(output: Path, texts: Mapping[str, str]) -> None:
    """Write coreference files, by the names of their documents, into a new folder."""
    wrong = [name for name in texts if not FILE_NAME.fullmatch(name)]
    if wrong:
        message = f"the document name {join_names(wrong)} can't be the name of a file"
        if len(wrong) > 1:
            message = f"the document names {join_names(wrong)} can't be names of files"
        raise RequestError(f"cannot write {output}: {message}")
    collisions = find_unwritable(texts, ".xml")
    if collisions:
        raise FormatError(output, collisions)
    with creating_folder(output) as folder:
        for name, text in texts.items():
            (folder / f"{name}.xml").write_text(text, "utf-8", newline="")


def dump_given(source: Source) -> str:
    """Return all mentions of documents as CoNLL, each as a chain of its own."""
    chains = [_separate_mentions(document) for document in source.documents]
    return dump_conll(source.documents, chains, source.word_numbers)


def _separate_mentions(document: Record) -> list[list[list[int]]]:
    return [[[mention["start"], mention["end"]]] for mention in document["mentions"]]


def dump_xml(document: Record) -> str:
    """Return a document as a coreference file; a ValueError if XML can't express a word or the number of a sentence."""
    mentions = []
    for number, mention in enumerate(document["mentions"]):
        # Such as those of CoNLL-U.
        if not is_sentence_number(mention["sentence"]):
            raise ValueError(
                f"{quote(mention['sentence'])} "
                f"is not the number of a sentence of the treebank ({EXPECTED})"
            )
        mentions.append({**mention, "id": str(number)})
    return dump_annotation({**document, "mentions": mentions})


def find_losses(source: Source, output: Path) -> list[str]:
    """Describe the parts of documents that the format of the output doesn't keep."""
    suffix = text_suffix(output)
    n_mentions = 0
    n_changed = 0
    loose: list[tuple[Record, Record]] = []
    for document in source.documents:
        spans: list[list[int]] = []
        for cluster in document["clusters"]:
            spans += cluster
        for number, mention in enumerate(document["mentions"]):
            n_mentions += 1
            n_changed += mention["id"] != str(number)
            if [mention["start"], mention["end"]] not in spans:
                loose.append((document, mention))
    losses = []
    if suffix == ".conll" and n_mentions:
        losses.append(f"the ids of {pluralize(n_mentions, 'mention')}")
    if suffix in ("", ".xml") and n_changed:
        losses.append(
            f"the ids of {pluralize(n_changed, 'mention')}; new ones are from 0 in document order"
        )
    if suffix == ".conll" and loose:
        document, mention = loose[0]
        words = " ".join(list_forms(document)[mention["start"] : mention["end"] + 1])
        first = f"first: {quote(words)} in sentence {quote(mention['sentence'])}"
        loss = f"{pluralize(len(loose), 'mention')} in no chain of two or more"
        losses.append(f"{loss} ({first})")
    return losses
