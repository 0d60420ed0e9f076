"""What a document of the corpus is made of: the treebank's sentences, and the mentions and chains of its annotation.

Records are those of the schema `marmara_coref`.  Tokens are the treebank's words, punctuation included; an inflectional
group is a list of tags, the lemma left out.  Inside a sentence tokens count from 1, as in the treebank; in a document
they count from 0, and a span's end is its last token.  Spans are in document order: by start, then the longer first;
chains by their first mention.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from closeread.exceptions import FormatError, Problem, ProblemList, quote
from closeread.records import Record

Span = tuple[int, int]
T = TypeVar("T", bound=tuple[int, ...])
WordNumbers = Mapping[str, Sequence[int]]
"""The numbers (IX) of the words of each sentence in which they are not 1, 2, 3 …, by the number of the sentence."""

NO_GAPS: WordNumbers = MappingProxyType({})


@dataclass(frozen=True)
class Notes:
    """What is wrong with files, what is odd about them, and what was done about it.

    Attributes:
        problems: errors.
        notices: oddities of single words and mentions, of which users see the first.
        changes: documents that were cut or left out, and mentions that were dropped, all of which users see.
        file: the file that is read; empty if notes are about several.
    """

    problems: ProblemList = field(default_factory=ProblemList)
    notices: list[Problem] = field(default_factory=list)
    changes: list[Problem] = field(default_factory=list)
    file: str = ""

    def on(self, file: str) -> Notes:
        """Return the same notes, to which those on a file are added."""
        return replace(self, file=file)

    def report(self, message: str, line: int | None = None) -> None:
        """Add an error."""
        self.problems.append(Problem(message, line, self.file or None))

    @contextmanager
    def catching(self) -> Iterator[None]:
        """Add the errors with which reading the file ends, inside the block, instead of raising them."""
        try:
            yield
        except FormatError as error:
            self.problems.extend(problem._replace(file=self.file) for problem in error.problems)

    def note(self, message: str, line: int | None = None) -> None:
        """Add an oddity."""
        self.notices.append(Problem(message, line, self.file or None))

    def note_change(self, message: str) -> None:
        """Add what was done."""
        self.changes.append(Problem(message, None, self.file or None))


class Mention(NamedTuple):
    """A mention as a coreference file has it.

    Attributes:
        id: its id; empty if it has none.
        sentence: the number of its sentence; empty if it has none.
        first, last: the numbers (IX) of its first and last word.
        text: its words, for readers only.
        line: its line in the file.
    """

    id: str
    sentence: str
    first: int
    last: int
    text: str
    line: int

    @property
    def name(self) -> str:
        """What messages call it."""
        name = "mention"
        if self.id:
            name += f" {quote(self.id)}"
        if self.sentence:
            name += f", sentence {quote(self.sentence)}"
        return name


class Annotation(NamedTuple):
    """The contents of a coreference file: its name, its mentions, and the ids of the mentions of each chain."""

    file: str
    mentions: Sequence[Mention]
    chains: Sequence[Sequence[str]]


def number_words(sentence: Record, word_numbers: WordNumbers) -> Sequence[int]:
    """Return the numbers (IX) of the words of a sentence."""
    return word_numbers.get(sentence["number"]) or range(1, len(sentence["tokens"]) + 1)


def list_forms(document: Record) -> list[str]:
    """Return the words of a document."""
    forms: list[str] = []
    for sentence in document["sentences"]:
        forms += [token["form"] for token in sentence["tokens"]]
    return forms


PlacedMention = tuple[str, str, Span]
"""A mention: its id, the number of its sentence, and its first and last token there, from 0."""


def make_document(
    name: str,
    sentences: Sequence[Record],
    mentions: Iterable[PlacedMention] = (),
    chains: Iterable[Iterable[str]] = (),
    word_numbers: WordNumbers = NO_GAPS,
) -> Record:
    """Return a record without genre; chains have the ids of mentions."""
    n_tokens = 0
    offsets: dict[str, int] = {}
    words: dict[str, Sequence[int]] = {}
    for sentence in sentences:
        offsets[sentence["number"]] = n_tokens
        words[sentence["number"]] = number_words(sentence, word_numbers)
        n_tokens += len(sentence["tokens"])
    rows: list[Record] = []
    for mention_id, number, (first, last) in mentions:
        row: Record = {"id": mention_id, "sentence": number}
        row |= {"from": words[number][first], "to": words[number][last]}
        rows.append(row | {"start": offsets[number] + first, "end": offsets[number] + last})
    rows.sort(key=lambda row: (row["start"], -row["end"]))
    spans = {row["id"]: [row["start"], row["end"]] for row in rows}
    clusters = []
    for ids in chains:
        cluster = [spans[mention_id] for mention_id in ids]
        clusters.append(sorted(cluster, key=document_order))
    clusters.sort(key=lambda cluster: document_order(cluster[0]))
    return {
        "document": name,
        "genre": None,
        "sentences": list(sentences),
        "mentions": rows,
        "clusters": clusters,
        "n_tokens": n_tokens,
    }


def document_order(span: Sequence[int]) -> Span:
    """Return the sort key of spans for document order."""
    return span[0], -span[1]


def find_overlaps(spans: Iterable[T]) -> list[tuple[T, T]]:
    """Return each span that overlaps an earlier one, after the one of these that reaches furthest.

    Spans may have more than a first and a last token.

    >>> find_overlaps([(5, 9), (0, 3), (7, 7), (4, 4)])
    [((5, 9), (7, 7))]
    """
    overlaps = []
    widest: T | None = None
    for span in sorted(spans, key=document_order):
        if widest is not None and span[0] <= widest[1]:
            overlaps.append((widest, span))
        widest = span if widest is None else max(widest, span, key=itemgetter(1))
    return overlaps


class Token(NamedTuple):
    """A token of a document, as the baseline needs it.

    Attributes:
        form: the word.
        lemma: its lemma.
        first_tag: the part of speech of its first inflectional group; empty if there are no groups.
        last_tag: that of its last group.
        n_groups: how many groups there are.
        head: the token that is its head, from 0 in the document; -1 if there is none.
        relation: the relation to its head; empty if there is none.
        begins_sentence: whether it is the first of its sentence.
    """

    form: str
    lemma: str
    first_tag: str
    last_tag: str
    n_groups: int
    head: int
    relation: str
    begins_sentence: bool


def read_tokens(record: Record) -> list[Token]:
    """Return the tokens of a record."""
    tokens: list[Token] = []
    for sentence in record["sentences"]:
        offset = len(tokens)
        for token in sentence["tokens"]:
            head = -1 if token["head"] is None else offset + token["head"] - 1
            tags = ["".join(group[:1]) for group in token["groups"]] or [""]
            features = (tags[0], tags[-1], len(token["groups"]))
            relation = token["relation"] or ""
            place = (head, relation, len(tokens) == offset)
            tokens.append(Token(token["form"], token["lemma"], *features, *place))
    return tokens
