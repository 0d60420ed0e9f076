"""Files of several annotators: read one by one, and gathered by document.

Conventions: a file, or a folder of files, is an annotator, who may have annotated some of the documents.  Documents are
matched by name, and must have the same tokens in all files that have them.  A mention is in one chain of a file at
most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from closeread.counts.annotators import Annotator, find_repeated_paths
from closeread.exceptions import FormatError, Problem, join_names, pluralize, quote, raise_all, read_all
from closeread.tasks.coref.documents import MentionTable, merge_adjacent
from closeread.tasks.coref.sides import compare_words, find_repeated, read_documents, take_documents

ADVICE = "keep one of them"

Mention = tuple[int, int, tuple[tuple[int, int], ...]]
"""The first token of a mention, its last token negated, and the first and the last token of each of its gaps."""


class Annotation(NamedTuple):
    """What an annotator, by number, has of a document: chains, each the numbers of its mentions."""

    annotator: int
    chains: list[list[int]]


class DocumentAnnotations(NamedTuple):
    """The annotations of a document.

    Mentions are the same if they have the same tokens; they are numbered by first token, and then the longer first.
    """

    name: str
    n_mentions: int
    annotations: list[Annotation]


class AnnotatorFile(NamedTuple):
    """The documents of an annotator.

    Attributes:
        name: the file or folder, for messages.
        table: its documents.
    """

    name: str
    table: MentionTable


def read_annotator(path: Path | Annotator, *, is_response: bool = False) -> AnnotatorFile:
    """Read the documents of an annotator.

    Args:
        path: a file or folder, in any format that can be scored, or documents in memory.
        is_response: whether it is the output of a system, whose predictions may be next to gold annotation.
    """
    name, source = path if isinstance(path, Annotator) else Annotator(str(path), path)
    if isinstance(source, Path):
        table = read_documents(source, is_response=is_response)
    else:
        table = take_documents(source, name, is_response=is_response)
    if problems := list(find_repeated(table, ADVICE)):
        raise FormatError(name, problems)
    return AnnotatorFile(name, table)


def read_annotators(annotators: Sequence[Annotator]) -> list[AnnotatorFile]:
    """Read the documents of annotators."""
    read = read_all(annotators, read_annotator)
    raise_all(compare_tokens(read))
    return read


def read_beside_gold(
    gold: Annotator, annotators: Sequence[Annotator]
) -> tuple[AnnotatorFile, list[AnnotatorFile], list[str]]:
    """Read gold, and annotators or systems with documents of gold.

    Returns:
        Gold, the others, and notices.
    """
    # A system's predictions may be next to gold annotation.
    key, *read = read_all((gold, *annotators), lambda one: read_annotator(one, is_response=one is not gold))
    raise_all(compare_tokens([key, *read]))
    unknown = ((file.name, list(find_unknown_documents(file.table, key))) for file in read)
    raise_all(FormatError(name, problems) for name, problems in unknown if problems)
    notices = [*list_notices([key, *read]), *find_repeated_paths(annotators), *find_unannotated(key, read)]
    return key, read, notices


def list_notices(files: Iterable[AnnotatorFile]) -> list[str]:
    """Return the notices about files."""
    return [notice for file in files for notice in file.table.notices]


def compare_tokens(files: Sequence[AnnotatorFile]) -> Iterator[FormatError]:
    """Compare the tokens of the documents that several files share: their number, and the words.

    Yields:
        An error for each file that differs from the first file with the words, or with the number of tokens, of the
        same document, with all its problems.
    """
    words: dict[str, tuple[AnnotatorFile, int]] = {}
    lengths: dict[str, tuple[AnnotatorFile, int]] = {}
    for file in files:
        for number, document in enumerate(file.table.names):
            if has_words(file.table, number):
                words.setdefault(document, (file, number))
            if file.table.n_tokens is not None:
                lengths.setdefault(document, (file, number))
    for file in files:
        problems = [*_compare_words(file.table, words), *_compare_lengths(file.table, lengths)]
        if problems:
            yield FormatError(file.name, sorted(problems, key=lambda problem: problem.order))


def has_words(table: MentionTable, document: int) -> bool:
    """Return whether a document of a table has words."""
    return table.words is not None and bool(table.words.packed(document))


def _compare_words(table: MentionTable, first: Mapping[str, tuple[AnnotatorFile, int]]) -> Iterator[Problem]:
    """Compare the words of a file with those of the first file that has the same document."""
    for number, document in enumerate(table.names):
        (name, other), its = first.get(document, (AnnotatorFile("", table), number))
        if other is not table and (difference := compare_words(other, its, table, number, name)):
            yield difference[1]


def _compare_lengths(table: MentionTable, first: Mapping[str, tuple[AnnotatorFile, int]]) -> Iterator[Problem]:
    """Compare the numbers of tokens of a file, and where its mentions end, with the first file that tells them."""
    ends = np.zeros(len(table), np.int64)
    np.maximum.at(ends, table.document, table.end + 1)
    for number, document in enumerate(table.names):
        (name, other), its = first.get(document, (AnnotatorFile("", table), number))
        if other is table or other.n_tokens is None:
            continue
        expected = int(other.n_tokens[its])
        tokens = expected if table.n_tokens is None else int(table.n_tokens[number])
        if tokens != expected:
            found = f"document {quote(document)} has {pluralize(tokens, 'token')}, but {expected:,} in {name}"
            yield Problem(found, None, table.file_of(number))
        elif ends[number] > tokens:
            found = f"document {quote(document)} has a mention that ends at token {int(ends[number]) - 1:,}"
            what = f"{found}, but {pluralize(tokens, 'token')} in {name} (numbered from 0)"
            yield Problem(what, None, table.file_of(number))


def find_unknown_documents(table: MentionTable, known: AnnotatorFile) -> Iterator[Problem]:
    """Find the documents of a file that another one lacks."""
    names = set(known.table.names)
    for number, name in enumerate(table.names):
        if name not in names:
            yield Problem(f"document {quote(name)} is not in {known.name}", None, table.file_of(number))


def find_unannotated(gold: AnnotatorFile, files: Sequence[AnnotatorFile]) -> Iterator[str]:
    """Yield the documents of gold that no other file has, in a sentence; nothing if there are none."""
    annotated = {name for file in files for name in file.table.names}
    if names := [name for name in gold.table.names if name not in annotated]:
        yield f"{pluralize(len(names), 'document')} of gold in none of the other files: {join_names(names)}."


def find_ungiven(table: MentionTable, given: AnnotatorFile) -> list[Problem]:
    """Find the documents and mentions of an annotator that are not in the file with the mentions to be annotated."""
    problems = list(find_unknown_documents(table, given))
    known = set(zip(given.table.document.tolist(), _list_mentions(given.table), strict=True))
    number = {name: i for i, name in enumerate(given.table.names)}
    for place, mention in zip(table.document.tolist(), _list_mentions(table), strict=True):
        name, (start, end, _) = table.names[place], mention
        if name in number and (number[name], mention) not in known:
            line = table.words.line_of(place, start) if table.words is not None else None
            found = f"document {quote(name)}: the mention of tokens {start} to {-end} is not in {given.name}"
            problems.append(Problem(found, line or None, table.file_of(place)))
    return sorted(problems, key=lambda problem: problem.order)


def gather_annotations(tables: Sequence[MentionTable], names: Sequence[str] | None = None) -> list[DocumentAnnotations]:
    """Gather the chains of annotators by document.

    Args:
        tables: the documents of each annotator; no mention is twice in a document.
        names: the names of all documents, in the order to be kept; None for those of the tables, sorted.
    """
    names = sorted({name for table in tables for name in table.names}) if names is None else names
    found: dict[str, list[tuple[int, list[list[Mention]]]]] = {name: [] for name in names}
    for annotator, table in enumerate(tables):
        mentions, entities = _list_mentions(table), table.entity.tolist()
        borders = np.searchsorted(table.document, np.arange(len(table) + 1)).tolist()
        for name, (first, last) in zip(table.names, pairwise(borders), strict=True):
            chains: dict[int, list[Mention]] = {}
            for entity, mention in zip(entities[first:last], mentions[first:last], strict=True):
                chains.setdefault(entity, []).append(mention)
            found[name].append((annotator, list(chains.values())))
    documents = []
    for name, of_document in found.items():
        known = sorted({mention for _, chains in of_document for chain in chains for mention in chain})
        number = {mention: i for i, mention in enumerate(known)}
        annotations = [
            Annotation(by, [[number[one] for one in chain] for chain in chains]) for by, chains in of_document
        ]
        documents.append(DocumentAnnotations(name, len(known), annotations))
    return documents


def select_given(document: DocumentAnnotations, given: int) -> DocumentAnnotations:
    """Return a document with the mentions of one of the annotators only, who is then left out.

    Mentions of others that this one lacks are left out, too; see `find_ungiven`.
    """
    kept = sorted({one for by, chains in document.annotations if by == given for chain in chains for one in chain})
    number = {mention: i for i, mention in enumerate(kept)}
    annotations = [
        Annotation(by, [[number[one] for one in chain if one in number] for chain in chains])
        for by, chains in document.annotations
        if by != given
    ]
    return DocumentAnnotations(document.name, len(kept), annotations)


def _list_mentions(table: MentionTable) -> list[Mention]:
    """List the mentions of a table."""
    gaps = {
        row: tuple((one[1] + 1, two[0] - 1) for one, two in pairwise(merge_adjacent(parts)))
        for row, parts in table.parts.items()
    }
    spans = zip(table.start.tolist(), table.end.tolist(), strict=True)
    return [(start, -end, gaps.get(row, ())) for row, (start, end) in enumerate(spans)]
