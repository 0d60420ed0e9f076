"""The files of several annotators: read, compared, and their chains gathered by document.

Conventions: a file, or a folder of files, is an annotator, who may have annotated some of the documents.  Annotators
are numbered from 0, in the order in which they are given.  Documents are matched by name, and must have the same tokens
in all files that have them.  A mention is in one chain of a file at most.  Mentions are in document order: by first
token, then the longer first, and then by their parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain as concatenate
from itertools import combinations
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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
from closeread.tasks.coref.documents import Document, Documents, Mention
from closeread.tasks.coref.files import has_standoff, read_documents, take_documents
from closeread.tasks.coref.formats import ALL_ANNOTATION, StandoffOptions
from closeread.tasks.coref.formats.lines import make_mention
from closeread.tasks.coref.key_response import find_repeated
from closeread.tasks.coref.word_comparison import compare_words

if TYPE_CHECKING:
    from closeread.tasks.coref.formats.standoff.making import Annotation

ADVICE = "keep one of them"


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
    documents: Documents


def read_annotators(
    annotators: Sequence[Annotator],
    standoff: StandoffOptions = ALL_ANNOTATION,
    *,
    gold: Annotator | None = None,
    given: Annotator | None = None,
) -> list[AnnotatorFile]:
    """Read the documents of annotators; a file or a folder of an annotation tool may have those of several.

    Args:
        annotators: files, folders or documents in memory.
        standoff: what is read of files of annotation tools.
        gold: one of the annotators, of which all others are systems that may have predictions beside gold.
        given: one of the annotators, whose mentions the others were given.

    Raises:
        InputError: a file can't be read, an annotator repeats a mention, or tokens differ.
    """
    single = (gold, given)

    def read(annotator: Annotator) -> list[AnnotatorFile] | list[Annotation]:
        source = annotator.source
        if isinstance(source, Path) and has_standoff(source):
            from closeread.tasks.coref.formats.standoff.projects import read_annotations

            annotations = read_annotations(source, standoff)
            if len(annotations) > 1 and annotator in single:
                names = join_names([annotation.name for annotation in annotations])
                raise RequestError(f"{annotator.name} has {len(annotations):,} annotators: {names}")
            if len(annotations) > 1 and len(annotators) > 1:
                return [
                    annotation._replace(name=f"{annotator.name}: {annotation.name}")
                    for annotation in annotations
                ]
            return annotations
        is_response = gold is not None and annotator is not gold
        if isinstance(source, Path):
            documents = read_documents(source, is_response=is_response)
        else:
            documents = take_documents(source, annotator.name, is_response=is_response)
        return [_check_repeats(AnnotatorFile(annotator.name, documents))]

    read_parts = read_all(annotators, read)
    files = _make_files(list(concatenate.from_iterable(read_parts)), standoff)
    raise_all(compare_tokens(files))
    return files


def _check_repeats(file: AnnotatorFile) -> AnnotatorFile:
    """Return a file; a FormatError if a mention is in it twice."""
    problems = list(find_repeated(file.documents, ADVICE))
    if problems:
        raise FormatError(file.name, problems)
    return file


def _make_files(
    sources: Sequence[AnnotatorFile | Annotation], standoff: StandoffOptions
) -> list[AnnotatorFile]:
    """Return the files of annotators, of which some are annotation that counts characters of the same texts."""
    files = [source for source in sources if isinstance(source, AnnotatorFile)]
    annotations = [source for source in sources if not isinstance(source, AnnotatorFile)]
    if not annotations:
        return files
    from closeread.tasks.coref.formats.standoff.making import make_documents

    words: dict[str, Sequence[str]] = {}
    for file in files:
        for name, words_of_document in file.documents.list_words().items():
            words.setdefault(name, words_of_document)
    documents_by_annotation = iter(make_documents(annotations, standoff, words))
    in_order = []
    for source in sources:
        if isinstance(source, AnnotatorFile):
            in_order.append(source)
        else:
            in_order.append(
                _check_repeats(AnnotatorFile(source.name, next(documents_by_annotation)))
            )
    return in_order


def read_beside_gold(
    gold: Annotator,
    annotators: Sequence[Annotator],
    standoff: StandoffOptions = ALL_ANNOTATION,
) -> tuple[Documents, list[Documents], list[str]]:
    """Read gold, and annotators or systems with documents of gold; the list at the end has notices."""
    key, *files = read_annotators((gold, *annotators), standoff, gold=gold)
    raise_all(_report_problems((file.name, find_unknown(file.documents, key)) for file in files))
    notices = [*list_notices([key, *files]), *find_repeated_paths(annotators)]
    annotated = set().union(*(file.documents.names for file in files))
    lacking = [name for name in key.documents.names if name not in annotated]
    if lacking:
        documents = pluralize(len(lacking), "document")
        notices.append(f"{documents} of gold in none of the other files: {join_names(lacking)}.")
    return key.documents, [file.documents for file in files], notices


def check_given(files: Sequence[AnnotatorFile], given_file: AnnotatorFile) -> None:
    """Check that annotators have no documents and mentions but those that they were given."""
    raise_all(
        _report_problems((file.name, find_ungiven(file.documents, given_file)) for file in files)
    )


def list_notices(files: Iterable[AnnotatorFile]) -> list[str]:
    """Return the notices about files."""
    return list(concatenate.from_iterable(file.documents.notices for file in files))


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
    words: dict[str, tuple[str, Document]] = {}
    lengths: dict[str, tuple[str, int]] = {}
    for file in files:
        for document in file.documents.documents:
            # Words are read from the file, which takes a while.
            if document.name not in words and has_words(document):
                words[document.name] = (file.name, document)
            if document.n_tokens is not None:
                lengths.setdefault(document.name, (file.name, document.n_tokens))
    for file in files:
        problems: list[Problem] = []
        for document in file.documents.documents:
            if document.name in words:
                first_file, first = words[document.name]
                difference = (
                    None if first is document else compare_words(first, document, first_file)
                )
                if difference is not None:
                    problems.append(difference.first)
        for document in file.documents.documents:
            if document.name in lengths:
                problems += _compare_lengths(document, *lengths[document.name])
        yield from _report_problems([(file.name, problems)])


def has_words(document: Document) -> bool:
    """Return whether the words of a document are known."""
    return bool(document.words.pack())


def _compare_lengths(document: Document, first_file: str, expected: int) -> Iterator[Problem]:
    """Compare the number of a document's tokens with that in the first file that has it."""
    last = max((mention.end for mention in document.mentions), default=-1)
    if document.n_tokens is None and last >= expected:
        length = f"{pluralize(expected, 'token')} in {first_file} (numbered from 0)"
        message = f"a mention that ends at token {last:,}, but {length}"
    elif document.n_tokens not in (None, expected):
        message = f"{pluralize(document.n_tokens, 'token')}, but {expected:,} in {first_file}"
    else:
        return
    yield Problem(f"document {quote(document.name)} has {message}", None, document.file)


def find_unknown(documents: Documents, other_file: AnnotatorFile) -> list[Problem]:
    """Find the documents of a file that another one lacks."""
    names = set(other_file.documents.names)
    problems = []
    for document in documents.documents:
        if document.name not in names:
            message = f"document {quote(document.name)} is not in {other_file.name}"
            problems.append(Problem(message, None, document.file))
    return problems


def find_ungiven(documents: Documents, given_file: AnnotatorFile) -> list[Problem]:
    """Find the documents and mentions of an annotator that are not in the file with the mentions to be annotated."""
    problems = find_unknown(documents, given_file)
    given_mentions = {}
    for document in given_file.documents.documents:
        given_mentions[document.name] = set(map(locate, document.mentions))
    for document in documents.documents:
        if document.name not in given_mentions:
            continue
        for mention in document.mentions:
            if locate(mention) not in given_mentions[document.name]:
                tokens = f"the mention of tokens {mention.start} to {mention.end}"
                message = f"document {quote(document.name)}: {tokens} is not in {given_file.name}"
                line = document.line_of(mention.start)
                problems.append(Problem(message, line, document.file))
    return problems


def find_token_sources(files: Sequence[Documents]) -> dict[str, Document]:
    """Find the tokens of each document: of the first file with its words, or else with their number, or of the first."""
    candidates: dict[str, list[Document]] = defaultdict(list)
    for documents in files:
        for document in documents.documents:
            candidates[document.name].append(document)
    sources = {}
    for name, same in candidates.items():
        source = max(
            same, key=lambda document: (document.n_tokens is not None, has_words(document))
        )
        sources[name] = Document(
            name, n_tokens=source.n_tokens, words=source.words, nodes=source.nodes
        )
    return sources


def count_singletons(documents: Documents) -> int:
    """Return the number of chains of one mention."""
    n_singletons = 0
    for document in documents.documents:
        n_singletons += sum(len(entity.mentions) == 1 for entity in document.entities)
    return n_singletons


def locate(mention: Mention) -> Mention:
    """Return where a mention is, without all else that its file says of it; parts without a gap are merged."""
    return make_mention(mention.runs)


def order_of(mention: Mention) -> tuple[object, ...]:
    """Return what sorts mentions in document order: by first token, then the longer first, then by their parts."""
    return mention.start, -mention.end, mention.subspans


def gather_documents(
    files: Sequence[Documents], names: Iterable[str] | None = None
) -> list[AnnotatedDocument]:
    """Gather the chains of annotators by document, in the order of names, or sorted by name."""
    if names is None:
        names = sorted(set().union(*(documents.names for documents in files)))
    annotated: dict[str, dict[int, Document]] = {name: {} for name in names}
    for annotator, documents in enumerate(files):
        for document in documents.documents:
            annotated[document.name][annotator] = document
    gathered = []
    for name, document_of in annotated.items():
        chains = {annotator: list_chains(document) for annotator, document in document_of.items()}
        gathered.append(make_document(name, chains))
    return gathered


def list_chains(document: Document) -> Chains:
    """Return the chains of a document, where their mentions are."""
    return [list(map(locate, entity.mentions)) for entity in document.entities]


def make_document(
    name: str, chains: Mapping[int, Chains], further_mentions: Iterable[Mention] = ()
) -> AnnotatedDocument:
    """Make a document of the chains of each annotator, and mentions that perhaps nobody has."""
    mentions = set(further_mentions)
    for chains_of_annotator in chains.values():
        mentions.update(*chains_of_annotator)
    in_order = sorted(mentions, key=order_of)
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
