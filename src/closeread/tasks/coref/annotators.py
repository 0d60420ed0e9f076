"""Files of several annotators: read one by one, and gathered by document.

Conventions: a file, or a folder of files, is an annotator, who may have annotated some of the documents.  Documents are
matched by name, and must have the same tokens in all files that have them.  A mention is in one chain of a file at
most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from closeread.counts.annotators import Annotator, find_repeated_paths
from closeread.exceptions import (
    FormatError,
    Problem,
    join_names,
    pluralize,
    quote,
    raise_all,
    read_all,
)
from closeread.tasks.coref import documents as coref_documents
from closeread.tasks.coref.documents import Document, Documents, merge_adjacent
from closeread.tasks.coref.files import read_documents, take_documents
from closeread.tasks.coref.sides import find_repeated
from closeread.tasks.coref.word_comparison import compare_words

ADVICE = "keep one of them"

Mention = tuple[int, int, tuple[tuple[int, int], ...]]
"""The first token of a mention, its last token negated, and the first and the last token of each of its gaps."""


class Annotation(NamedTuple):
    """An annotator's chains in a document, with the numbers of their mentions; annotators are numbered."""

    annotator: int
    chains: list[list[int]]


class DocumentAnnotations(NamedTuple):
    """The annotations of a document, and all of their mentions: by first token, and then the longer first."""

    name: str
    mentions: Sequence[Mention]
    annotations: list[Annotation]


class AnnotatorFile(NamedTuple):
    """The documents of an annotator, and the name of the file or folder, for messages."""

    name: str
    documents: Documents


def read_annotator(path: Path | Annotator, *, is_response: bool = False) -> AnnotatorFile:
    """Read the documents of an annotator; a response is the output of a system."""
    name, source = path if isinstance(path, Annotator) else Annotator(str(path), path)
    if isinstance(source, Path):
        documents = read_documents(source, is_response=is_response)
    else:
        documents = take_documents(source, name, is_response=is_response)
    if problems := list(find_repeated(documents, ADVICE)):
        raise FormatError(name, problems)
    return AnnotatorFile(name, documents)


def read_annotators(annotators: Sequence[Annotator]) -> list[AnnotatorFile]:
    """Read the documents of annotators."""
    read = read_all(annotators, read_annotator)
    raise_all(compare_tokens(read))
    return read


def read_beside_gold(
    gold: Annotator, annotators: Sequence[Annotator]
) -> tuple[AnnotatorFile, list[AnnotatorFile], list[str]]:
    """Read gold, and annotators or systems with documents of gold; the list at the end has notices."""
    key, *read = read_all(
        (gold, *annotators), lambda one: read_annotator(one, is_response=one is not gold)
    )
    raise_all(compare_tokens([key, *read]))
    unknown = ((file.name, list(_find_unknown(file.documents, key))) for file in read)
    raise_all(FormatError(name, problems) for name, problems in unknown if problems)
    notices = [*list_notices([key, *read]), *find_repeated_paths(annotators)]
    annotated = {name for file in read for name in file.documents.names}
    if names := [name for name in key.documents.names if name not in annotated]:
        notices.append(
            f"{pluralize(len(names), 'document')} of gold in none of the other files: {join_names(names)}."
        )
    return key, read, notices


def list_notices(files: Iterable[AnnotatorFile]) -> list[str]:
    """Return the notices about files."""
    return [notice for file in files for notice in file.documents.notices]


def compare_tokens(files: Sequence[AnnotatorFile]) -> Iterator[FormatError]:
    """Compare each file with the first that has the words, or the number of tokens, of the same document.

    Yields an error for each file that differs, with all its problems.
    """
    words: dict[str, tuple[str, Document]] = {}
    lengths: dict[str, tuple[str, int]] = {}
    for file in files:
        for document in file.documents.documents:
            if has_words(document):
                words.setdefault(document.name, (file.name, document))
            if document.n_tokens is not None:
                lengths.setdefault(document.name, (file.name, document.n_tokens))
    for name, documents in files:
        problems = []
        for document in documents.documents:
            if document.name in words:
                first_name, first = words[document.name]
                difference = compare_words(first, document, first_name)
                if difference is not None:
                    problems.append(difference.first)
        for document in documents.documents:
            if document.name in lengths:
                problems += _compare_lengths(document, *lengths[document.name])
        if problems:
            yield FormatError(name, sorted(problems, key=lambda problem: problem.order))


def _compare_lengths(document: Document, file: str, n_expected: int) -> Iterator[Problem]:
    """Compare the number of a document's tokens with that in another file."""
    last = max((mention.end for mention in document.mentions), default=-1)
    if document.n_tokens is not None and document.n_tokens != n_expected:
        what = f"has {pluralize(document.n_tokens, 'token')}, but {n_expected:,} in {file}"
    elif document.n_tokens is None and last >= n_expected:
        what = f"has a mention that ends at token {last:,}, but {pluralize(n_expected, 'token')}"
        what += f" in {file} (numbered from 0)"
    else:
        return
    yield Problem(f"document {quote(document.name)} {what}", None, document.file)


def has_words(document: Document) -> bool:
    """Return whether the words of a document are known."""
    return bool(document.words.pack())


def _find_unknown(documents: Documents, known: AnnotatorFile) -> Iterator[Problem]:
    """Find the documents of a file that another one lacks."""
    names = set(known.documents.names)
    for document in documents.documents:
        if document.name not in names:
            what = f"document {quote(document.name)} is not in {known.name}"
            yield Problem(what, None, document.file)


def find_ungiven(documents: Documents, given: AnnotatorFile) -> list[Problem]:
    """Find the documents and mentions of an annotator that are not in the file with the mentions to be annotated."""
    problems = list(_find_unknown(documents, given))
    given_by_name = {
        document.name: set(map(_locate, document.mentions))
        for document in given.documents.documents
    }
    for document in documents.documents:
        if document.name not in given_by_name:
            continue
        for mention in document.mentions:
            if _locate(mention) not in given_by_name[document.name]:
                tokens = f"tokens {mention.start} to {mention.end}"
                where = f"document {quote(document.name)}: the mention of {tokens}"
                line = document.line_of(mention.start)
                problems.append(Problem(f"{where} is not in {given.name}", line, document.file))
    return sorted(problems, key=lambda problem: problem.order)


def gather_annotations(
    files: Sequence[Documents], names: Sequence[str] | None = None
) -> list[DocumentAnnotations]:
    """Gather the chains of annotators by document, in the order of names, or sorted by name."""
    if names is None:
        names = sorted({name for documents in files for name in documents.names})
    chains_by_name: dict[str, list[tuple[int, list[list[Mention]]]]] = {name: [] for name in names}
    for annotator, documents in enumerate(files):
        for document in documents.documents:
            chains = [list(map(_locate, entity.mentions)) for entity in document.entities]
            chains_by_name[document.name].append((annotator, chains))
    return [
        _number_mentions(
            name, {mention for _, chains in drawn for chain in chains for mention in chain}, drawn
        )
        for name, drawn in chains_by_name.items()
    ]


def select_given(document: DocumentAnnotations, given: int) -> DocumentAnnotations:
    """Return a document with the mentions of one of the annotators only, who is then left out."""
    drawn = [
        (by, [[document.mentions[one] for one in chain] for chain in chains])
        for by, chains in document.annotations
    ]
    kept = {mention for by, chains in drawn if by == given for chain in chains for mention in chain}
    return _number_mentions(document.name, kept, [one for one in drawn if one[0] != given])


def _number_mentions(
    name: str, mentions: Iterable[Mention], drawn: Iterable[tuple[int, Sequence[Sequence[Mention]]]]
) -> DocumentAnnotations:
    """Return a document with these mentions; others are left out."""
    number = {mention: i for i, mention in enumerate(sorted(mentions))}
    chains = (
        (by, [[number[one] for one in chain if one in number] for chain in chains])
        for by, chains in drawn
    )
    return DocumentAnnotations(name, list(number), [Annotation(*one) for one in chains])


def _locate(mention: coref_documents.Mention) -> Mention:
    """Return where a mention is."""
    if not mention.subspans:
        return mention.start, -mention.end, ()
    runs = pairwise(merge_adjacent(mention.subspans))
    gaps = tuple((before[1] + 1, after[0] - 1) for before, after in runs)
    return mention.start, -mention.end, gaps
