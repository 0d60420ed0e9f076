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

import numpy as np

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
from closeread.tasks.coref.documents import MentionTable, merge_adjacent
from closeread.tasks.coref.files import read_documents, take_documents
from closeread.tasks.coref.sides import compare_words, find_repeated

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
    table: MentionTable


def read_annotator(path: Path | Annotator, *, is_response: bool = False) -> AnnotatorFile:
    """Read the documents of an annotator; a response is the output of a system."""
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
    """Read gold, and annotators or systems with documents of gold; the list at the end has notices."""
    key, *read = read_all(
        (gold, *annotators), lambda one: read_annotator(one, is_response=one is not gold)
    )
    raise_all(compare_tokens([key, *read]))
    unknown = ((file.name, list(_find_unknown(file.table, key))) for file in read)
    raise_all(FormatError(name, problems) for name, problems in unknown if problems)
    notices = [*list_notices([key, *read]), *find_repeated_paths(annotators)]
    annotated = {name for file in read for name in file.table.names}
    if names := [name for name in key.table.names if name not in annotated]:
        notices.append(
            f"{pluralize(len(names), 'document')} of gold in none of the other files: {join_names(names)}."
        )
    return key, read, notices


def list_notices(files: Iterable[AnnotatorFile]) -> list[str]:
    """Return the notices about files."""
    return [notice for file in files for notice in file.table.notices]


def compare_tokens(files: Sequence[AnnotatorFile]) -> Iterator[FormatError]:
    """Compare each file with the first that has the words, or the number of tokens, of the same document.

    Yields an error for each file that differs, with all its problems.
    """
    words: dict[str, tuple[AnnotatorFile, int]] = {}
    lengths: dict[str, tuple[str, int]] = {}
    for file in files:
        for number, document in enumerate(file.table.names):
            if has_words(file.table, number):
                words.setdefault(document, (file, number))
            if file.table.n_tokens is not None:
                lengths.setdefault(document, (file.name, int(file.table.n_tokens[number])))
    for name, table in files:
        ends = np.zeros(len(table), np.int64)
        np.maximum.at(ends, table.document, table.end + 1)
        problems, of_lengths = [], []
        for number, document in enumerate(table.names):
            if document in words:
                first, its = words[document]
                if first.table is not table and (
                    found := compare_words(first.table, its, table, number, first.name)
                ):
                    problems.append(found[1])
            if document not in lengths:
                continue
            where, expected = lengths[document]
            tokens = expected if table.n_tokens is None else int(table.n_tokens[number])
            if tokens != expected:
                what = f"has {pluralize(tokens, 'token')}, but {expected:,} in {where}"
            elif table.n_tokens is None and ends[number] > tokens:
                what = f"has a mention that ends at token {int(ends[number]) - 1:,}, but {pluralize(tokens, 'token')}"
                what += f" in {where} (numbered from 0)"
            else:
                continue
            of_lengths.append(
                Problem(f"document {quote(document)} {what}", None, table.file_of(number))
            )
        if problems := sorted([*problems, *of_lengths], key=lambda problem: problem.order):
            yield FormatError(name, problems)


def has_words(table: MentionTable, document: int) -> bool:
    """Return whether a document of a table has words."""
    return table.words is not None and bool(table.words.packed(document))


def _find_unknown(table: MentionTable, known: AnnotatorFile) -> Iterator[Problem]:
    """Find the documents of a file that another one lacks."""
    names = set(known.table.names)
    for number, name in enumerate(table.names):
        if name not in names:
            yield Problem(
                f"document {quote(name)} is not in {known.name}", None, table.file_of(number)
            )


def find_ungiven(table: MentionTable, given: AnnotatorFile) -> list[Problem]:
    """Find the documents and mentions of an annotator that are not in the file with the mentions to be annotated."""
    problems = list(_find_unknown(table, given))
    known = set(zip(given.table.document.tolist(), _list_mentions(given.table), strict=True))
    number = {name: i for i, name in enumerate(given.table.names)}
    for place, mention in zip(table.document.tolist(), _list_mentions(table), strict=True):
        name, (start, end, _) = table.names[place], mention
        if name in number and (number[name], mention) not in known:
            found = f"document {quote(name)}: the mention of tokens {start} to {-end} is not in {given.name}"
            problems.append(Problem(found, table.line_of(place, start), table.file_of(place)))
    return sorted(problems, key=lambda problem: problem.order)


def gather_annotations(
    tables: Sequence[MentionTable], names: Sequence[str] | None = None
) -> list[DocumentAnnotations]:
    """Gather the chains of annotators by document, in the order of names, or sorted by name."""
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
    return [
        _number_mentions(
            name, {mention for _, chains in drawn for chain in chains for mention in chain}, drawn
        )
        for name, drawn in found.items()
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


def _list_mentions(table: MentionTable) -> list[Mention]:
    gaps = {
        row: tuple((one[1] + 1, two[0] - 1) for one, two in pairwise(merge_adjacent(parts)))
        for row, parts in table.parts.items()
    }
    spans = zip(table.start.tolist(), table.end.tolist(), strict=True)
    return [(start, -end, gaps.get(row, ())) for row, (start, end) in enumerate(spans)]
