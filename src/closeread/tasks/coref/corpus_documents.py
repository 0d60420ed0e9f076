"""Documents of a declared corpus: read from its files, with what the declaration says of them, and shown as records.

Conventions: a file is read as `closeread score coref` reads it, so that a corpus scores like its files.  A document
without a name is named after its file.  Only what the declaration names, by file, line and content, is repaired.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from closeread.corpus.declaration import NO_TRAITS, DocumentTraits
from closeread.exceptions import FormatError, Problem, pluralize, quote
from closeread.files import text_suffix
from closeread.formats import Format, FormatFolder
from closeread.formats.json_lines import SUFFIXES, parse_json_lines
from closeread.formats.text import read_lines
from closeread.records import Parsed, Record
from closeread.tasks.coref.documents import (
    GENRE,
    Document,
    Documents,
    EmptyNode,
    Words,
    find_genre,
)
from closeread.tasks.coref.files import (
    find_treebank,
    name_in_treebank,
    read_documents,
    read_file,
)
from closeread.tasks.coref.formats.coref_json import SURROGATES
from closeread.tasks.coref.formats.reading import Reading
from closeread.tasks.coref.notices import fold_notices

TREEBANK = "treebank"
"""The field with the name of a document's treebank, which stands before `-corefud` in the name of its file."""


class CorpusDocuments(Documents):
    """Documents whose records have all that the schema of corpora of coreference has."""

    def __getitem__(self, index: Any) -> Any:
        record = super().__getitem__(index)
        if isinstance(index, slice):
            return record
        document = self.documents[index]
        clusters = record["clusters"]
        return {
            "document": document.name,
            "group": document.fields.get("group") or None,
            GENRE: document.fields.get(GENRE) or find_genre(document.name) or None,
            "sentences": document.words.read_sentences(),
            "clusters": clusters,
            "labels": [entity.label for entity in document.entities],
            "n_tokens": document.n_tokens,
            "empty_nodes": [_list_node(node) for node in document.nodes],
        }


def _list_node(node: EmptyNode) -> Record:
    """Return an empty node as part of a record."""
    dependencies = [{"parent": parent, "relation": name} for parent, name in node.dependencies]
    return {"token": node.token, "sentence": node.sentence, "dependencies": dependencies}


def read_files(
    files: Mapping[str, Path],
    split: str,
    *,
    traits: DocumentTraits = NO_TRAITS,
    unverified: str = "",
) -> Parsed:
    """Read the documents of a split from its files, by their paths below the corpus's folder."""
    del unverified  # Whether a download is accepted is asked before it is read.
    documents: list[Document] = []
    problems: list[Problem] = []
    notices: list[Problem] = []
    read_by_file: dict[str, Documents] = {}
    words_by_name: dict[str, Words] = {}
    for name, path in files.items():
        try:
            read = read_file(path, Reading(repairs=traits.repairs))
        except FormatError as error:
            problems += [problem._replace(file=name) for problem in error.problems]
            continue
        if traits.words and name.endswith(traits.words):
            words_by_name = {document.name: document.words for document in read.documents}
            continue
        read_by_file[name] = read
        documents += [_describe(document, name, traits) for document in read.documents]
    notices += map(Problem, fold_notices(read_by_file))
    documents, remarks = _select(documents, split, traits)
    notices += remarks
    if traits.group == TREEBANK:
        documents = _name_by_treebank(documents)
    problems += _find_repeated(documents)
    if words_by_name:
        documents = [_add_words(document, words_by_name) for document in documents]
    return Parsed(
        CorpusDocuments(documents),
        places=[document.file for document in documents],
        problems=problems,
        notices=notices,
        is_checked=True,
    )


def _describe(document: Document, file: str, traits: DocumentTraits) -> Document:
    """Return a document with its name and its fields."""
    path = PurePosixPath(file)
    name = document.name if document.is_named else path.stem
    if traits.ending:
        name = re.sub(traits.ending, "", name)
    fields = dict(document.fields)
    for field, names_by_value in traits.fields.items():
        for value, names in names_by_value.items():
            if path.stem in names:
                fields[field] = value
    if traits.group == TREEBANK:
        treebank = find_treebank(file)
        fields |= {TREEBANK: treebank, "language": treebank.partition("_")[0]}
    if traits.group == GENRE:
        fields[GENRE] = find_genre(name)
    if traits.group:
        fields["group"] = fields.get(traits.group, "")
    return replace(document, name=name, is_named=True, fields=fields, file=file)


def _select(
    documents: Sequence[Document], split: str, traits: DocumentTraits
) -> tuple[list[Document], list[Problem]]:
    """Return those of the files' documents that belong to a split, and notices on what is missing or left out."""
    start, end = traits.slices.get(split, (None, None))
    chosen = list(documents)[start:end]
    names = traits.only.get(split)
    notices: list[Problem] = []
    if names is not None:
        of_split = [document for document in chosen if name_part(document.name) in names]
        n_others = len(chosen) - len(of_split)
        if n_others:
            notices.append(
                Problem(f"{pluralize(n_others, 'document')} of no {split} list left out")
            )
        chosen = of_split
    number = traits.numbers.get(split)
    if number is not None and len(chosen) > number:
        files = {document.file for document in chosen if document.entities}
        annotated = [document for document in chosen if document.file in files]
        left_out = pluralize(len(chosen) - len(annotated), "document")
        notices.append(Problem(f"{left_out} of files without coreference left out"))
        chosen = annotated
    if number is not None and len(chosen) != number:
        has = f"{split} has {pluralize(len(chosen), 'document')}"
        notices.append(Problem(f"{has}, where papers have {number:,}"))
    if traits.no_words and any(traits.no_words in document.words.read() for document in chosen[:1]):
        lacking = f"the files have no words, but {traits.no_words}"
        notices.append(Problem(f"{lacking}; see the instructions of `closeread info`"))
    return chosen, notices


def name_part(name: str) -> str:
    """Return the name of a document with its part as systems write it.

    >>> name_part("nw/a; part 002"), name_part("nw/a_2")
    ('nw/a_2', 'nw/a_2')
    """
    stem, _, part = name.partition("; part ")
    return f"{stem}_{int(part)}" if part.isdigit() else name


def _name_by_treebank(documents: Sequence[Document]) -> list[Document]:
    """Put the treebank before the names of documents if there are several: each names its documents alone."""
    if len({document.fields.get(TREEBANK) for document in documents}) < 2:
        return list(documents)
    return [
        replace(document, name=name_in_treebank(document.file, document.name))
        for document in documents
    ]


def _find_repeated(documents: Sequence[Document]) -> Iterator[Problem]:
    """Find documents that have the same name as an earlier one."""
    first: dict[str, Document] = {}
    for document in documents:
        earlier = first.setdefault(document.name, document)
        if earlier is not document:
            message = f"duplicate document {quote(document.name)} (also in {earlier.file})"
            yield Problem(message, file=document.file)


def _add_words(document: Document, words_by_name: Mapping[str, Words]) -> Document:
    """Return a document with the words of another file, if its own lacks them."""
    words = words_by_name.get(document.name)
    if words is None or document.words.read():
        return document
    return replace(document, words=words, n_tokens=len(words.read()))


def _read_folder(folder: Path) -> Parsed:
    """Read a user's own folder of documents."""
    documents = read_documents(folder)
    return Parsed(CorpusDocuments(documents.documents), None, [], [], is_checked=True)


def _read_path(path: Path, split: str) -> Parsed:
    """Read a user's own file of documents."""
    del split
    if text_suffix(path) in SUFFIXES:
        return parse_json_lines(read_lines(path), SURROGATES)
    documents = read_documents(path)
    return Parsed(CorpusDocuments(documents.documents), None, [], is_checked=True)


def _unite(records_by_split: Mapping[str, Sequence[Record]]) -> Documents:
    documents: list[Document] = []
    for records in records_by_split.values():
        assert isinstance(records, Documents)  # noqa: S101 (they are what this format reads)
        documents += records.documents
    return CorpusDocuments(documents)


FORMAT = Format(
    _read_path,
    suffixes=SUFFIXES,
    folder=FormatFolder(read_files, _read_folder),
    unite=_unite,
    # Words are only compared, so they may be line ends and other control characters.
    unsafe=SURROGATES,
)
