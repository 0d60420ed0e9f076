"""The files of several annotators: read, compared, and their chains gathered by document.

Conventions: a file, or a folder of files, is an annotator, who may have annotated some of the documents.  Annotators
are numbered from 0, in the order in which they are given.  Documents are matched by name, and must have the same tokens
in all files that have them.  A mention is in one chain of a file at most.  Mentions are in document order: by first
token, then the longer first, and then by their parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain as concatenate
from itertools import combinations
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np

from closeread.counts.annotators import Annotator, find_repeated_paths
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    join_names,
    pluralize,
    quote,
    raise_all,
    read_all,
)
from closeread.tasks.coref.documents import MentionTable, Parts, merge_adjacent
from closeread.tasks.coref.files import read_documents, take_documents
from closeread.tasks.coref.sides import compare_words, find_repeated

ADVICE = "keep one of them"


class Mention(NamedTuple):
    """A mention.

    Attributes:
        start, end: its first and last token in the document, from 0.
        parts: the (start, end) of each part of a mention with gaps; empty if it has none.
    """

    start: int
    end: int
    parts: Parts = ()

    @property
    def runs(self) -> Parts:
        """The (start, end) of its parts, or of all of it."""
        return self.parts or ((self.start, self.end),)

    def order(self) -> tuple[int, int, Parts]:
        """Return what sorts mentions in document order."""
        return self.start, -self.end, self.parts

    def overlaps(self, other: Mention) -> bool:
        """Return whether it shares a token with another mention."""
        return any(map(other._shares_token, self.runs))

    def contains(self, other: Mention) -> bool:
        """Return whether it has all tokens of another mention."""
        return all(map(self._has_run, other.runs))

    def _shares_token(self, run: tuple[int, int]) -> bool:
        return any(start <= run[1] and run[0] <= end for start, end in self.runs)

    def _has_run(self, run: tuple[int, int]) -> bool:
        return any(start <= run[0] and run[1] <= end for start, end in self.runs)


Chains = Sequence[Sequence[Mention]]
"""The chains of an annotator in a document."""


class AnnotatedDocument(NamedTuple):
    """A document with the chains of its annotators.

    Attributes:
        name: its name.
        mentions: the mentions of all annotators, in document order.
        chains: the chains of each annotator who has the document, by the annotator's number; a chain lists the numbers
            of its mentions.
    """

    name: str
    mentions: Sequence[Mention]
    chains: Mapping[int, Sequence[Sequence[int]]]

    def list_mentions(self) -> dict[int, list[list[Mention]]]:
        """Return the chains of each annotator as mentions."""
        chains: dict[int, list[list[Mention]]] = {}
        for annotator, numbered in self.chains.items():
            chains[annotator] = []
            for chain in numbered:
                chains[annotator].append([self.mentions[number] for number in chain])
        return chains

    def count_links(self) -> dict[int, int]:
        """Return how many pairs of mentions each annotator has in one chain."""
        n_links = {}
        for annotator, chains in self.chains.items():
            n_links[annotator] = sum(comb(len(chain), 2) for chain in chains)
        return n_links


Link = tuple[int, int]
"""Two mentions in one chain, by number, the first in the document before the second."""


def check_size(document: AnnotatedDocument, n: int, noun: str, limit: int) -> None:
    """Raise a RequestError if a document asks for more work than is done."""
    if n > limit:
        size = f"{n:,} {noun} (expected at most {limit:,})"
        raise RequestError(f"document {quote(document.name)}: {size}")


class AnnotatorFile(NamedTuple):
    """The documents of an annotator, and the name of the file or folder, for messages."""

    name: str
    table: MentionTable


@dataclass(frozen=True, eq=False)
class TokenSource:
    """Where the tokens of a document are known from.

    Attributes:
        table: the documents of a file.
        number: the number of the document there.
    """

    table: MentionTable
    number: int

    @property
    def n_tokens(self) -> int | None:
        """The number of its tokens; None if no file tells."""
        n_tokens = self.table.n_tokens
        return None if n_tokens is None else int(n_tokens[self.number])

    @property
    def has_words(self) -> bool:
        """Whether it has words."""
        words = self.table.words
        return words is not None and bool(words.packed(self.number))

    def read_words(self) -> Sequence[str]:
        """Return its words; nothing if it has none."""
        return () if self.table.words is None else self.table.words(self.number)


def find_token_sources(tables: Sequence[MentionTable]) -> dict[str, TokenSource]:
    """Find the tokens of each document: of the first file with its words, or else with their number, or of the first."""
    sources: dict[str, list[TokenSource]] = defaultdict(list)
    for table in tables:
        for number, name in enumerate(table.names):
            sources[name].append(TokenSource(table, number))
    best = {}
    for name, candidates in sources.items():
        best[name] = max(
            candidates, key=lambda source: (source.n_tokens is not None, source.has_words)
        )
    return best


def read_annotator(path: Path | Annotator, *, is_response: bool = False) -> AnnotatorFile:
    """Read the documents of an annotator; a response is the output of a system."""
    name, source = path if isinstance(path, Annotator) else Annotator(str(path), path)
    if isinstance(source, Path):
        table = read_documents(source, is_response=is_response)
    else:
        table = take_documents(source, name, is_response=is_response)
    problems = list(find_repeated(table, ADVICE))
    if problems:
        raise FormatError(name, problems)
    return AnnotatorFile(name, table)


def read_annotators(annotators: Sequence[Annotator]) -> list[AnnotatorFile]:
    """Read the documents of annotators."""
    files = read_all(annotators, read_annotator)
    raise_all(compare_tokens(files))
    return files


def read_beside_gold(
    gold: Annotator, annotators: Sequence[Annotator]
) -> tuple[AnnotatorFile, list[AnnotatorFile], list[str]]:
    """Read gold, and annotators or systems with documents of gold; the list at the end has notices."""

    def read(source: Annotator) -> AnnotatorFile:
        return read_annotator(source, is_response=source is not gold)

    key, *files = read_all((gold, *annotators), read)
    raise_all(compare_tokens([key, *files]))
    raise_all(_report_problems((file.name, find_unknown(file.table, key)) for file in files))
    notices = [*list_notices([key, *files]), *find_repeated_paths(annotators)]
    annotated = set().union(*(file.table.names for file in files))
    lacking = [name for name in key.table.names if name not in annotated]
    if lacking:
        documents = pluralize(len(lacking), "document")
        notices.append(f"{documents} of gold in none of the other files: {join_names(lacking)}.")
    return key, files, notices


def check_given(files: Sequence[AnnotatorFile], given_file: AnnotatorFile) -> None:
    """Check that annotators have no documents and mentions but those that they were given."""
    raise_all(_report_problems((file.name, find_ungiven(file.table, given_file)) for file in files))


def list_notices(files: Iterable[AnnotatorFile]) -> list[str]:
    """Return the notices about files."""
    return [notice for file in files for notice in file.table.notices]


def _report_problems(
    problems_by_file: Iterable[tuple[str, Sequence[Problem]]],
) -> Iterator[FormatError]:
    """Yield an error for each file with problems, which are listed in the order of its lines."""
    for name, problems in problems_by_file:
        if problems:
            yield FormatError(name, sorted(problems, key=lambda problem: problem.order))


def compare_tokens(files: Sequence[AnnotatorFile]) -> Iterator[FormatError]:
    """Compare each file with the first that has the words, or the number of tokens, of the same document.

    Yields an error for each file that differs, with all its problems.
    """
    words: dict[str, tuple[AnnotatorFile, int]] = {}
    lengths: dict[str, tuple[str, int]] = {}
    for file in files:
        for number, name in enumerate(file.table.names):
            source = TokenSource(file.table, number)
            # Words are read from the file, which takes a while.
            if name not in words and source.has_words:
                words[name] = (file, number)
            if source.n_tokens is not None:
                lengths.setdefault(name, (file.name, source.n_tokens))
    for file in files:
        problems = [*_find_other_words(file, words), *_find_other_lengths(file.table, lengths)]
        yield from _report_problems([(file.name, problems)])


def _find_other_words(
    file: AnnotatorFile, words: Mapping[str, tuple[AnnotatorFile, int]]
) -> Iterator[Problem]:
    """Find the first other word of each document, given the file with its words and its number there."""
    for number, name in enumerate(file.table.names):
        if name not in words:
            continue
        first, first_number = words[name]
        if first is not file:
            difference = compare_words(first.table, first_number, file.table, number, first.name)
            if difference:
                yield difference[1]


def _find_other_lengths(
    table: MentionTable, lengths: Mapping[str, tuple[str, int]]
) -> Iterator[Problem]:
    """Find documents of another length, given the file that has its length, and this."""
    ends = np.zeros(len(table), np.int64)
    np.maximum.at(ends, table.document, table.end + 1)
    for number, name in enumerate(table.names):
        if name not in lengths:
            continue
        first_file, expected = lengths[name]
        if table.n_tokens is None:
            if ends[number] <= expected:
                continue
            end = f"a mention that ends at token {int(ends[number]) - 1:,}"
            length = f"{pluralize(expected, 'token')} in {first_file} (numbered from 0)"
            message = f"{end}, but {length}"
        else:
            n_tokens = int(table.n_tokens[number])
            if n_tokens == expected:
                continue
            message = f"{pluralize(n_tokens, 'token')}, but {expected:,} in {first_file}"
        yield Problem(f"document {quote(name)} has {message}", None, table.file_of(number))


def find_unknown(table: MentionTable, other_file: AnnotatorFile) -> list[Problem]:
    """Find the documents of a file that another one lacks."""
    names = set(other_file.table.names)
    problems = []
    for number, name in enumerate(table.names):
        if name not in names:
            message = f"document {quote(name)} is not in {other_file.name}"
            problems.append(Problem(message, None, table.file_of(number)))
    return problems


def find_ungiven(table: MentionTable, given_file: AnnotatorFile) -> list[Problem]:
    """Find the documents and mentions of an annotator that are not in the file with the mentions to be annotated."""
    problems = find_unknown(table, given_file)
    given_chains = dict(zip(given_file.table.names, list_chains(given_file.table), strict=True))
    for number, (name, chains) in enumerate(zip(table.names, list_chains(table), strict=True)):
        if name not in given_chains:
            continue
        given_mentions = set(concatenate.from_iterable(given_chains[name]))
        for mention in concatenate.from_iterable(chains):
            if mention not in given_mentions:
                tokens = f"tokens {mention.start} to {mention.end}"
                message = (
                    f"document {quote(name)}: the mention of {tokens} is not in {given_file.name}"
                )
                line = table.line_of(number, mention.start)
                problems.append(Problem(message, line, table.file_of(number)))
    return problems


def count_singletons(table: MentionTable) -> int:
    """Return the number of chains of one mention."""
    return int((np.bincount(table.entity) == 1).sum())


def list_chains(table: MentionTable) -> list[Chains]:
    """Return the chains of each document of a table."""
    mentions = list(map(Mention, table.start.tolist(), table.end.tolist()))
    for row, parts in table.parts.items():
        runs = merge_adjacent(parts)
        if len(runs) > 1:
            mentions[row] = mentions[row]._replace(parts=tuple(runs))
    chains: list[dict[int, list[Mention]]] = [{} for _ in table.names]
    entities = zip(table.document.tolist(), table.entity.tolist(), mentions, strict=True)
    for document, entity, mention in entities:
        chains[document].setdefault(entity, []).append(mention)
    return [list(chains_of_document.values()) for chains_of_document in chains]


def gather_documents(
    tables: Sequence[MentionTable], names: Iterable[str] | None = None
) -> list[AnnotatedDocument]:
    """Gather the chains of annotators by document, in the order of names, or sorted by name."""
    if names is None:
        names = sorted(set().union(*(table.names for table in tables)))
    by_document: dict[str, dict[int, Chains]] = {name: {} for name in names}
    for annotator, table in enumerate(tables):
        for name, chains in zip(table.names, list_chains(table), strict=True):
            by_document[name][annotator] = chains
    return [make_document(name, chains) for name, chains in by_document.items()]


def make_document(
    name: str, chains: Mapping[int, Chains], further_mentions: Iterable[Mention] = ()
) -> AnnotatedDocument:
    """Make a document of the chains of each annotator, and mentions that perhaps nobody has."""
    mentions = set(further_mentions)
    for chains_of_annotator in chains.values():
        mentions.update(*chains_of_annotator)
    in_order = sorted(mentions, key=Mention.order)
    numbers = {mention: number for number, mention in enumerate(in_order)}
    numbered: dict[int, list[list[int]]] = {}
    for annotator, chains_of_annotator in chains.items():
        numbered[annotator] = []
        for chain in chains_of_annotator:
            numbered[annotator].append([numbers[mention] for mention in chain])
    return AnnotatedDocument(name, in_order, numbered)


def select_given(document: AnnotatedDocument, giver: int) -> AnnotatedDocument:
    """Return a document with the mentions of one of the annotators only, who is then left out."""
    chains = document.list_mentions()
    given_mentions = set(concatenate.from_iterable(chains.pop(giver, [])))
    for chain in concatenate.from_iterable(chains.values()):
        chain[:] = [mention for mention in chain if mention in given_mentions]
    return make_document(document.name, chains, given_mentions)


def find_links(document: AnnotatedDocument) -> dict[Link, list[int]]:
    """Return the links that annotators draw, each with the annotators who draw it: all pairs of mentions of a chain."""
    links: dict[Link, list[int]] = {}
    for annotator, chains in document.chains.items():
        for chain in chains:
            for link in combinations(sorted(chain), 2):
                links.setdefault(link, []).append(annotator)
    return links
