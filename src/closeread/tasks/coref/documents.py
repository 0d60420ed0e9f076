"""Documents with coreference: what every reader yields, and everything else takes.

Conventions: tokens of a document are numbered from 0 across its sentences, and a mention's end is its last token.  The
entities of a document are in the order of their first mentions in the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from closeread import limits
from closeread.exceptions import pluralize, quote
from closeread.records import Record
from closeread.tasks.coref.columns import Columns, stack_mentions
from closeread.tasks.coref.spans import Span, merge_adjacent

if TYPE_CHECKING:
    from closeread.tasks.coref.universal_anaphora.relations import DocumentRelations

GENRE = "genre"


class Mention(NamedTuple):
    """Words that refer to an entity.

    Attributes:
        start, end: its first and its last token.
        head: its head token; None if the file has no heads.
        subspans: the first and the last token of each of its parts, if it is discontinuous; otherwise empty.
        minimum: the tokens of its minimum span; empty if it has none.
        tag: the part of speech of its head; None if the file has none, empty if it is unknown.
    """

    start: int
    end: int
    head: int | None = None
    subspans: tuple[Span, ...] = ()
    minimum: tuple[int, ...] = ()
    tag: str | None = None

    @property
    def spans(self) -> tuple[Span, ...]:
        """The first and the last token of each part; of a continuous mention, of its only one."""
        return self.subspans or ((self.start, self.end),)

    @property
    def head_or_start(self) -> int:
        """Its head; its first token if the head is unknown."""
        return self.start if self.head is None else self.head

    @property
    def runs(self) -> tuple[Span, ...]:
        """The first and the last token of each run of adjacent tokens, in ascending order."""
        return tuple(merge_adjacent(self.subspans)) if self.subspans else ((self.start, self.end),)


class Entity(NamedTuple):
    """The mentions of an entity, and its id in the file; empty if the format has no ids."""

    label: str
    mentions: Sequence[Mention]


class EmptyNode(NamedTuple):
    """A token that is an empty node.

    Attributes:
        token: its number.
        sentence: the number of its sentence in the document, from 0.
        dependencies: the enhanced ones: the parent's token, -1 for the root; and the relation.
    """

    token: int
    sentence: int
    dependencies: Sequence[tuple[int, str]]


class Node(NamedTuple):
    """The place of a token in the dependency trees of its document.

    Attributes:
        parent: its parent, a token or `ROOT`; None for empty nodes, which are not in the tree.
        parents: its parents in the enhanced graph, or if there is none, in the tree.
    """

    parent: int | None
    parents: Sequence[int]


ROOT = -1
"""The parent of a token that has no token as its parent."""

UNKNOWN_SENTENCE = -1
"""The sentence of an empty node in a file without sentences."""


class Words:
    """The words of a document, and what else the rows of its file have; this class stands for unknown words.

    Attributes:
        digest: tells whether another document of the same format has the same words; None if it can't be used.
        replaces_blanks: whether blanks inside words may be written ``_``.
        drops_slashes: whether the words ``/.`` and ``/?`` may be written without their slash.
        has_line_per_document: whether a document is one line of its file.
        has_layout: whether they are of an annotation tool, whose text and offsets are known.
        counts_empty_nodes: whether the format has empty nodes, so that a token is known to be a word or none.
        n_columns: the number of columns of the widest rows; 0 if there are no rows.
    """

    digest: bytes | None = None
    replaces_blanks = False
    drops_slashes = False
    has_line_per_document = False
    has_layout = False
    counts_empty_nodes = False
    n_columns = 0

    def read(self) -> Sequence[str]:
        """Return the tokens; nothing if the words are unknown."""
        return ()

    def read_sentences(self) -> list[list[str]]:
        """Return the tokens of each sentence; all in one if the file has no sentences."""
        return [list(self.read())]

    def pack(self) -> bytes:
        """Return the tokens as UTF-8, each followed by a line end, for comparison with another file."""
        return b"".join([word.encode("utf-8") + b"\n" for word in self.read()])

    def line_of(self, token: int) -> int:
        """Return the line of a token in the file, from 1; 0 if it has none."""
        del token
        return 0

    def read_columns(self, cells: Sequence[int]) -> TokenColumns | None:
        """Return some columns of the rows, from 0; None if the rows have no such columns."""
        del cells
        return None

    def read_rows(self) -> list[list[str]]:
        """Return the rows of each sentence without the mentions, cells separated by tabs; none if there are no rows."""
        return []

    def read_nodes(self) -> list[Node] | None:
        """Return the place of every token in its tree; None if the file has no trees."""
        return None

    def read_layout(self) -> WordLayout:
        """Return what the file says of sentences and blanks."""
        return WordLayout()


class WordLayout(NamedTuple):
    """How the words of a text stand beside each other.

    Attributes:
        sentences: the first token of each sentence; None if the file has no sentences.
        glued: the tokens that no blank follows; None if the file doesn't say where blanks are.
    """

    sentences: Sequence[int] | None = None
    glued: Sequence[int] | None = None


class TokenColumns(NamedTuple):
    """Columns of the rows of a document's tokens.

    Attributes:
        cells: the cells of each column, a cell for each token.
        sentences: the number of each token's sentence in the document, from 0.
        lines: the line of each token in the file, from 1.
    """

    cells: Sequence[Sequence[str]]
    sentences: Sequence[int]
    lines: Sequence[int]


NO_WORDS = Words()


class ListedWords(Words):
    """Words in memory, and the line of every token, if they have lines."""

    counts_empty_nodes = True

    def __init__(self, words: Sequence[str], lines: Sequence[int] = ()) -> None:
        self._words = words
        self._lines = lines

    def read(self) -> Sequence[str]:
        """Return the tokens."""
        return self._words

    def line_of(self, token: int) -> int:
        """Return the line of a token; 0 if it has none."""
        return self._lines[token] if self._lines else 0


class TreeRow(NamedTuple):
    """A token with its part of speech, its part of a constituency tree, and its sentence in the document, from 0."""

    word: str
    tag: str
    cell: str
    sentence: int


class Constituents(NamedTuple):
    """The constituency trees of a document: its tokens, and a digest of words, tags, trees and sentences."""

    rows: Sequence[TreeRow]
    digest: bytes


@dataclass(frozen=True, eq=False)
class Document:
    """A document with coreference.

    Attributes:
        name: its name; with a part, such as "bc/cnn/00/cnn_0000; part 000".
        entities: its entities.
        n_tokens: the number of its tokens; None if it is unknown.
        words: its words.
        nodes: its empty nodes.
        fields: what is known of it by name, such as its genre.
        file: its file in the folder that was read; None if it is from a file of its own.
        is_named: whether it has a name in its file; otherwise its name is a number.
        is_absent: whether a response lacks it; it then has no entities.
        reference_order: for each entity, its place in the order in which the reference scorer meets them, of which the
            first keeps a repeated mention; None if that is their order here.
        relations: annotation beside identity; None if the format can't have it.
        deixis: the entities of discourse deixis, a layer of its own; None if the file has none.
        constituents: its trees, if they were read.
    """

    name: str
    entities: Sequence[Entity] = ()
    n_tokens: int | None = None
    words: Words = NO_WORDS
    nodes: Sequence[EmptyNode] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    file: str | None = None
    is_named: bool = True
    is_absent: bool = False
    reference_order: Sequence[int] | None = None
    relations: DocumentRelations | None = None
    deixis: Document | None = None
    constituents: Constituents | None = None

    @property
    def mentions(self) -> list[Mention]:
        """All mentions, entity by entity."""
        return list(chain.from_iterable(entity.mentions for entity in self.entities))

    def map_nodes(self) -> dict[int, EmptyNode]:
        """Map tokens to the empty nodes that they are."""
        return {node.token: node for node in self.nodes}

    def line_of(self, token: int) -> int | None:
        """Return the line of a token; None if it has none."""
        return self.words.line_of(token) or None

    def label_of(self, number: int) -> str:
        """Return the id of an entity in the file, or else its number in the document, from 0."""
        return self.entities[number].label or str(number)


class PackedClusters(NamedTuple):
    """Documents that are nothing but lists of clusters, which have been checked.

    Attributes:
        columns: their mentions.
        names: their names.
        is_named: whether they have names of their own, and not numbers.
    """

    columns: Columns
    names: Sequence[str]
    is_named: bool


class Documents(Sequence[Record]):
    """The documents of a file, a folder or memory.

    As a sequence it has a record ``{"document", "clusters"}`` for each document; mentions in records are ``[start, end]``,
    or ``[start, end, head]`` if all mentions have heads.

    Attributes:
        packed: the lists of clusters that they come from, which have neither words nor lengths; None if they do not.
        is_packed: whether they come from lists of clusters.
        notices: what the reader has to say, such as on annotation that is not scored.
        broken: the names of the documents of files that were left out because of their errors; of a response, also
            the key's.
    """

    def __init__(
        self,
        documents: Sequence[Document] | PackedClusters,
        notices: Sequence[str] = (),
        broken: frozenset[str] = frozenset(),
    ) -> None:
        self._source = documents
        self.packed = documents if isinstance(documents, PackedClusters) else None
        self.is_packed = self.packed is not None
        self.notices = notices
        self.broken = broken

    @cached_property
    def documents(self) -> Sequence[Document]:
        """The documents."""
        source = self._source
        return _unpack_clusters(source) if isinstance(source, PackedClusters) else source

    @cached_property
    def columns(self) -> Columns:
        """The mentions of all documents as columns."""
        source = self._source
        return source.columns if isinstance(source, PackedClusters) else stack_mentions(source)

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the documents."""
        if isinstance(self._source, PackedClusters):
            return self._source.names
        return [document.name for document in self._source]

    @property
    def has_mentions(self) -> bool:
        """Whether any document has a mention."""
        return len(self.columns.start) > 0

    @property
    def has_heads(self) -> bool:
        """Whether every mention has a head."""
        return self.columns.head is not None

    @cached_property
    def is_plain(self) -> bool:
        """Whether there are only words and continuous mentions: no empty nodes, trees, relations or minimum spans."""
        if self.is_packed:
            return True
        for document in self.documents:
            if document.nodes or document.constituents or document.relations is not None:
                return False
        entities = chain.from_iterable(document.entities for document in self.documents)
        mentions = chain.from_iterable(entity.mentions for entity in entities)
        return not any(mention.subspans or mention.minimum for mention in mentions)

    @cached_property
    def has_parts(self) -> bool:
        """Whether any mention is discontinuous."""
        return not self.is_packed and any(mention.subspans for mention in self.list_mentions())

    @cached_property
    def has_minimum_spans(self) -> bool:
        """Whether any mention has a minimum span."""
        return not self.is_packed and any(mention.minimum for mention in self.list_mentions())

    @property
    def has_constituents(self) -> bool:
        """Whether the constituents of every document were read."""
        return self._has_in_all("constituents")

    @property
    def has_relations(self) -> bool:
        """Whether the format of every document can have annotation beside identity."""
        return self._has_in_all("relations")

    @property
    def has_lengths(self) -> bool:
        """Whether the number of tokens of every document is known."""
        return self._has_in_all("n_tokens")

    @property
    def has_nodes(self) -> bool:
        """Whether any document has empty nodes."""
        return not self.is_packed and any(document.nodes for document in self.documents)

    def _has_in_all(self, name: str) -> bool:
        """Whether every document has an attribute; there is one at least."""
        if self.is_packed or not self.documents:
            return False
        return all(getattr(document, name) is not None for document in self.documents)

    def list_mentions(self) -> list[Mention]:
        """List the mentions of all documents, in the order of the columns."""
        return list(chain.from_iterable(document.mentions for document in self.documents))

    @property
    def has_layout(self) -> bool:
        """Whether any document is of an annotation tool."""
        return any(document.words.has_layout for document in self.documents)

    def list_words(self) -> dict[str, Sequence[str]]:
        """Return the words of the documents by their names; none of a document whose words are unknown."""
        return {document.name: document.words.read() for document in self.documents}

    def replaced(self, documents: Iterable[Document], *notices: str) -> Documents:
        """Return other documents in their place, with further notices."""
        return Documents(list(documents), [*self.notices, *notices], self.broken)

    def noted(self, *notices: str) -> Documents:
        """Return the same documents with further notices."""
        documents = copy(self)
        documents.notices = [*self.notices, *notices]
        return documents

    def with_broken(self, names: frozenset[str]) -> Documents:
        """Return the same documents, of which some more are those of files with errors."""
        documents = copy(self)
        documents.broken = self.broken | names
        return documents

    def count_unnamed(self) -> int:
        """Return the number of documents whose names are numbers."""
        if isinstance(self._source, PackedClusters):
            return 0 if self._source.is_named else len(self)
        return sum(not document.is_named for document in self._source)

    def are_present(self) -> list[bool]:
        """Return whether each document is there, which a response may lack."""
        if self.is_packed:
            return [True] * len(self)
        return [not document.is_absent for document in self.documents]

    def list_absent(self) -> list[str]:
        """Return the names of the documents that a response lacks."""
        if self.is_packed:
            return []
        return [document.name for document in self.documents if document.is_absent]

    def without(self, names: Collection[str]) -> Documents:
        """Return the documents, of which those with some names have no entities."""
        if not names:
            return self
        return self.replaced(
            replace(document, entities=(), reference_order=None)
            if document.name in names
            else document
            for document in self.documents
        )

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<Documents: {pluralize(len(self), 'document')}>"

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        document = self.documents[index]
        clusters = []
        for entity in document.entities:
            if self.has_heads:
                clusters.append([[*mention[:3]] for mention in entity.mentions])
            else:
                clusters.append([[*mention[:2]] for mention in entity.mentions])
        return {"document": document.name, "clusters": clusters}


def _unpack_clusters(packed: PackedClusters) -> list[Document]:
    """Return the documents of clusters in memory, which have nothing but names, spans and heads."""
    columns = packed.columns
    numbers = [columns.start.tolist(), columns.end.tolist()]
    if columns.head is not None:
        numbers.append(columns.head.tolist())
    mentions = list(map(Mention, *numbers))
    entities_by_document: list[list[Entity]] = [[] for _ in packed.names]
    borders = np.flatnonzero(np.diff(columns.entity, prepend=-1, append=-1)).tolist()
    for first, last in pairwise(borders):
        entity = Entity("", mentions[first:last])
        entities_by_document[columns.document[first]].append(entity)
    return [
        Document(name, entities, is_named=packed.is_named)
        for name, entities in zip(packed.names, entities_by_document, strict=True)
    ]


# Lengths and genres


def are_known(words: Sequence[str]) -> bool:
    """Return whether any word of a document is known; CoNLL and CoNLL-U have ``_`` where words are not."""
    return not {"_"}.issuperset(words)


def list_lengths(documents: Sequence[Document], kind: str) -> list[int]:
    """Return the number of tokens of each document, to make a row for each in a file, which messages call `kind`.

    Raises:
        ValueError: it is unknown; or without their words, which take memory themselves, documents are said to have more
            than `limits.MAX_TOKENS` together.
    """
    lengths = [document.n_tokens for document in documents]
    numbers = [length for length in lengths if length is not None]
    if len(numbers) < len(lengths):
        raise ValueError(f"{kind} has a row for every token, but the number of tokens is unknown")
    has_words = any(document.words is not NO_WORDS for document in documents)
    if not has_words and sum(numbers) > limits.MAX_TOKENS:
        longest = max(range(len(numbers)), key=numbers.__getitem__)
        most = f"most: {quote(documents[longest].name)}, {numbers[longest]:,}"
        found = f"the documents have {sum(numbers):,} tokens ({most})"
        raise ValueError(
            f"{kind} has a row for every token: {found}, but no words (limit: {limits.MAX_TOKENS:,})"
        )
    return numbers


GENRE_IN_NAME = re.compile(
    r"(?P<ontonotes>bc|bn|mz|nw|pt|tc|wb)/.+"  # OntoNotes, as in CoNLL-2011 and 2012
    r"|(?:GUM|GENTLE|AMALGUM)_(?P<gum>[A-Za-z]+)_.+",  # GUM and its sister corpora
    re.DOTALL,
)


def find_genre(name: str) -> str:
    """Return the genre in a document's name; empty if the name has none.

    >>> find_genre("bn/cnn/00/cnn_0001; part 000"), find_genre("GUM_academic_art"), find_genre("ferry")
    ('bn', 'academic', '')
    """
    match = GENRE_IN_NAME.fullmatch(name)
    return match[match.lastgroup or 0] if match else ""


# Documents in memory


def documents_of(records: Any) -> Documents:
    """Return documents of the schema, or clusters alone, with the lengths, words and genres of records that have them.

    A document without a name gets its number, from 0, as its name; None is a document without a response.
    """
    if isinstance(records, Documents):
        return records
    return Documents([_make_document(record, number) for number, record in enumerate(records)])


def _make_document(record: Any, number: int) -> Document:
    if record is None:
        return Document(str(number), is_absent=True)
    if not isinstance(record, dict):
        return Document(str(number), list_entities(record))
    words = NO_WORDS
    if "sentences" in record:
        tokens: list[str] = []
        for sentence in record["sentences"]:
            if isinstance(sentence, Mapping):
                tokens += [token["form"] for token in sentence["tokens"]]
            else:
                tokens += sentence
        words = ListedWords(tokens)
    fields = {name: record[name] for name in (GENRE, "group") if record.get(name)}
    nodes = []
    for node in record.get("empty_nodes", ()):
        pairs = [(each["parent"], each["relation"]) for each in node["dependencies"]]
        nodes.append(EmptyNode(node["token"], node["sentence"], pairs))
    return Document(
        name=str(record.get("document", number)),
        entities=list_entities(record["clusters"]),
        n_tokens=record.get("n_tokens"),
        words=words,
        nodes=nodes,
        fields=fields,
    )


def list_entities(clusters: Sequence[Sequence[Sequence[Any]]]) -> list[Entity]:
    """Return clusters of ``[start, end]`` or ``[start, end, head]`` as entities without ids."""
    return [Entity("", [Mention(*mention) for mention in cluster]) for cluster in clusters]
