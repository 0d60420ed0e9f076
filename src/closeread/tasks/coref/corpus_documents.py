"""Documents of a declared corpus: read from its files, with what the declaration says of them, and shown as records.

Conventions: a file is read as `closeread score coref` reads it, so that a corpus scores like its files.  A document
without a name is named after its file.  Only what the declaration names, by file, line and content, is repaired.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from closeread.corpus.declaration import DocumentTraits, Repair
from closeread.exceptions import FormatError, Problem
from closeread.files import scratch_folder
from closeread.formats import Format, FormatFolder
from closeread.records import Parsed, Record
from closeread.tasks.coref.documents import GENRE, Document, Documents, find_genre
from closeread.tasks.coref.files import read_documents

NO_TRAITS = DocumentTraits()

TREEBANK = "treebank"
"""The field with the name of a document's treebank, which stands before `-corefud` in the name of its file."""

TREEBANK_IN_NAME = re.compile(r"([a-z]{2,3}_[a-z0-9]+)-")


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
            "empty_nodes": [node.token for node in document.nodes],
        }


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
    places: list[str] = []
    problems: list[Problem] = []
    notices: list[Problem] = []
    for name, path in files.items():
        try:
            repaired = [repair for repair in traits.repairs if path.name == repair.file]
            read, made_repairs = _read_file(path, repaired)
        except FormatError as error:
            problems += [problem._replace(file=name) for problem in error.problems]
            continue
        notices += [Problem(repair.what, repair.line, name) for repair in made_repairs]
        for notice in read.notices:
            notices.append(Problem(notice.partition(": ")[2], file=name))
        named = [_describe(document, name, traits) for document in read.documents]
        chosen = list(_select(named, split, traits))
        documents += chosen
        places += [name] * len(chosen)
    problems += _find_repeated(documents, places)
    return Parsed(
        CorpusDocuments(documents),
        places=places,
        problems=problems,
        notices=notices,
        is_checked=True,
    )


def _read_file(path: Path, repairs: Sequence[Repair]) -> tuple[Documents, Sequence[Repair]]:
    """Read a file, after repairs if it is the file that they are for; return also the repairs that were made."""
    lines = path.read_text("utf-8").split("\n") if repairs else []
    for repair in repairs:
        is_there = len(lines) >= repair.line and lines[repair.line - 1].endswith(repair.cell)
        if not is_there:
            return read_documents(path), []
    if not repairs:
        return read_documents(path), []
    for repair in repairs:
        lines[repair.line - 1] = lines[repair.line - 1].removesuffix(repair.cell) + repair.repaired
    with scratch_folder() as folder:
        copy = folder / path.name
        copy.write_text("\n".join(lines), "utf-8")
        return read_documents(copy), [repair for repair in repairs if repair.what]


def _describe(document: Document, file: str, traits: DocumentTraits) -> Document:
    """Return a document with its name and its fields."""
    path = PurePosixPath(file)
    name = document.name if document.is_named else path.stem
    if traits.ending:
        name = re.sub(traits.ending, "", name)
    fields = dict(document.fields)
    for field, names_by_value in traits.fields.items():
        for value, names in names_by_value.items():
            if path.stem in names or name in names:
                fields[field] = value
    treebank = TREEBANK_IN_NAME.match(path.name)
    if traits.group == TREEBANK and treebank:
        fields[TREEBANK] = treebank[1]
        fields["language"] = treebank[1].partition("_")[0]
    if traits.group:
        group = fields.get(traits.group) or find_genre(name)
        fields["group"] = group
    return replace(document, name=name, is_named=True, fields=fields)


def _select(
    documents: Sequence[Document], split: str, traits: DocumentTraits
) -> Iterable[Document]:
    """Return those of a file's documents that belong to a split."""
    first, last = traits.slices.get(split, (None, None))
    documents = documents[first:last]
    names = traits.only.get(split)
    if names is None:
        return documents
    return [document for document in documents if document.name in names]


def _find_repeated(documents: Sequence[Document], places: Sequence[str]) -> Iterator[Problem]:
    """Find documents that have the same name as an earlier one."""
    first: dict[str, str] = {}
    for document, place in zip(documents, places, strict=True):
        if document.name in first:
            message = f"duplicate document {document.name!r} (also in {first[document.name]})"
            yield Problem(message, file=place)
        first.setdefault(document.name, place)


def _read_folder(folder: Path) -> Parsed:
    """Read a user's own folder of documents."""
    documents = read_documents(folder)
    return Parsed(CorpusDocuments(documents.documents), None, [], [], is_checked=True)


def _read_path(path: Path, split: str) -> Parsed:
    """Read a user's own file of documents."""
    del split
    documents = read_documents(path)
    return Parsed(CorpusDocuments(documents.documents), None, [], is_checked=True)


def _unite(records_by_split: Mapping[str, Sequence[Record]]) -> Documents:
    documents: list[Document] = []
    for records in records_by_split.values():
        assert isinstance(records, Documents)  # noqa: S101 (they are what this format reads)
        documents += records.documents
    return CorpusDocuments(documents)


FORMAT = Format(_read_path, folder=FormatFolder(read_files, _read_folder), unite=_unite)
