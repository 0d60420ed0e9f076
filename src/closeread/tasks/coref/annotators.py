"""Files of several annotators: read one by one, and gathered by document.

Conventions: a file, or a folder of files, is an annotator, who may have annotated some of the documents.  Documents are
matched by name, and must have the same tokens in all files that have them.  A mention is in one chain of a file at
most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, mark_run_starts
from closeread.counts.annotators import Annotator, find_repeated_paths
from closeread.exceptions import FormatError, Problem, join_names, pluralize, quote, raise_all, read_all
from closeread.tasks.coref.documents import MentionTable
from closeread.tasks.coref.metrics.matching import merge_adjacent
from closeread.tasks.coref.sides import compare_words, find_repeated, read_documents, take_documents

Gaps = tuple[tuple[int, int], ...]

ADVICE = "keep one of them"


@dataclass(frozen=True, eq=False)
class Annotations:
    """The chains of several annotators.

    An annotation is what an annotator has of a document.  Mentions are the same if they have the same tokens; each is
    listed once, by document, by its first token, and then the longer first.

    Attributes:
        names: (n_documents,) the documents' names.
        annotator, document: (n_annotations,) the annotator, and the document, of each annotation.
        place: (n_mentions,) the document of each mention, in ascending order.
        start, end: (n_mentions,) its first and its last token.
        row_annotation, row_mention, row_chain: (n_rows,) the annotation, the mention and the chain of each mention in
            an annotation; chains are numbered over all annotations.
    """

    names: Sequence[str]
    annotator: Ints
    document: Ints
    place: Ints
    start: Ints
    end: Ints
    row_annotation: Ints
    row_mention: Ints
    row_chain: Ints


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
    known, documents = set(_list_mentions(given.table)), set(given.table.names)
    for mention, place in zip(_list_mentions(table), table.document.tolist(), strict=True):
        name, start, end, _ = mention
        if name in documents and mention not in known:
            line = table.words.line_of(place, start) if table.words is not None else None
            found = f"document {quote(name)}: the mention of tokens {start} to {end} is not in {given.name}"
            problems.append(Problem(found, line or None, table.file_of(place)))
    return sorted(problems, key=lambda problem: problem.order)


def gather_annotations(tables: Sequence[MentionTable], names: Sequence[str] | None = None) -> Annotations:
    """Gather the chains of annotators by document.

    Args:
        tables: the documents of each annotator; no mention is twice in a document.
        names: the names of all documents, in the order to be kept; None for those of the tables, sorted.
    """
    names = sorted({name for table in tables for name in table.names}) if names is None else names
    number = {name: i for i, name in enumerate(names)}
    documents = [np.array([number[name] for name in table.names], np.int64) for table in tables]
    sizes = [len(table.names) for table in tables]
    chains = np.cumsum([0, *(table.n_entities for table in tables)])
    before = np.cumsum([0, *sizes])
    place = _join([of[table.document] for of, table in zip(documents, tables, strict=True)])
    start, end = (_join([getattr(table, name) for table in tables]) for name in ("start", "end"))
    columns = np.column_stack([place, start, -end, _number_gaps(tables)])
    order = np.lexsort(columns.T[::-1])
    is_new = np.zeros(len(order), np.bool_)
    for column in columns.T:
        is_new |= mark_run_starts(column[order])
    mention = np.empty(len(order), np.int64)
    mention[order] = np.cumsum(is_new) - 1
    first = order[is_new]
    return Annotations(
        names=names,
        annotator=np.repeat(np.arange(len(tables)), sizes),
        document=_join(documents),
        place=place[first],
        start=start[first],
        end=end[first],
        row_annotation=_join([table.document + n for table, n in zip(tables, before, strict=False)]),
        row_mention=mention,
        row_chain=_join([table.entity + n for table, n in zip(tables, chains, strict=False)]),
    )


def select_given(annotations: Annotations, given: int) -> Annotations:
    """Return the annotations with the mentions of one of the annotators only, who is then left out.

    Mentions of others that this one lacks are left out, too; see `find_ungiven`.
    """
    of_given = annotations.annotator[annotations.row_annotation] == given
    is_object = np.zeros(len(annotations.place), np.bool_)
    is_object[annotations.row_mention[of_given]] = True
    rows = ~of_given & is_object[annotations.row_mention]
    kept = annotations.annotator != given
    return Annotations(
        names=annotations.names,
        annotator=annotations.annotator[kept],
        document=annotations.document[kept],
        place=annotations.place[is_object],
        start=annotations.start[is_object],
        end=annotations.end[is_object],
        row_annotation=(np.cumsum(kept) - 1)[annotations.row_annotation[rows]],
        row_mention=(np.cumsum(is_object) - 1)[annotations.row_mention[rows]],
        row_chain=annotations.row_chain[rows],
    )


def _number_gaps(tables: Sequence[MentionTable]) -> Ints:
    """Number the gaps of each mention, so that mentions with the same ends and other tokens are told apart."""
    known: dict[Gaps, int] = {(): 0}
    columns = []
    for table in tables:
        column = np.zeros(len(table.document), np.int64)
        for row, gaps in _list_gaps(table).items():
            column[row] = known.setdefault(gaps, len(known))
        columns.append(column)
    return _join(columns)


def _list_mentions(table: MentionTable) -> list[tuple[str, int, int, Gaps]]:
    """List the mentions, each as its document, its first and last token, and its gaps."""
    gaps = _list_gaps(table)
    columns = (table.document.tolist(), table.start.tolist(), table.end.tolist())
    return [
        (table.names[document], start, end, gaps.get(row, ()))
        for row, (document, start, end) in enumerate(zip(*columns, strict=True))
    ]


def _list_gaps(table: MentionTable) -> dict[int, Gaps]:
    """Return the first and the last token of every gap of the discontinuous mentions, by the mention's row."""
    merged = ((row, merge_adjacent(parts)) for row, parts in table.parts.items())
    return {row: tuple((one[1] + 1, two[0] - 1) for one, two in pairwise(parts)) for row, parts in merged}


def _join(columns: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *columns])
