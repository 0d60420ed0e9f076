"""What a document of the corpus is made of: the treebank's sentences, and the mentions and chains of its annotation.

Records are those of the schema `marmara_coref`.  Tokens are the treebank's words, punctuation included; an inflectional
group is a list of tags, the lemma left out.  Inside a sentence tokens count from 1, as in the treebank; in a document
they count from 0, and a span's end is its last token.  Spans are in document order: by start, then the longer first;
chains by their first mention.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from closeread.exceptions import quote
from closeread.records import Record

Span = tuple[int, int]
T = TypeVar("T", bound=tuple[int, ...])
WordNumbers = Mapping[str, Sequence[int]]
"""The numbers (IX) of the words of each sentence in which they are not 1, 2, 3 …, by the number of the sentence."""

NO_GAPS: WordNumbers = MappingProxyType({})


class Mention(NamedTuple):
    """A mention as a coreference file has it; its words have numbers (IX)."""

    id: str
    sentence: str
    first: int
    last: int
    text: str  # for readers only
    line: int

    @property
    def name(self) -> str:
        """What messages call it."""
        m_id = f"mention {quote(self.id)}" if self.id else "mention"
        return f"{m_id}, sentence {quote(self.sentence)}" if self.sentence else m_id


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
    return [token["form"] for sentence in document["sentences"] for token in sentence["tokens"]]


def make_document(
    name: str,
    sentences: Sequence[Record],
    mentions: Iterable[tuple[str, int, Span]] = (),
    chains: Iterable[Iterable[str]] = (),
    word_numbers: WordNumbers = NO_GAPS,
) -> Record:
    """Return a record without genre.

    A mention has its id, the place of its sentence, and its first and last token there, all from 0; chains have the
    ids of mentions.
    """
    offsets = list(accumulate((len(sentence["tokens"]) for sentence in sentences), initial=0))
    rows: list[Record] = []
    for m_id, place, (first, last) in mentions:
        numbers = number_words(sentences[place], word_numbers)
        row = {
            "id": m_id,
            "sentence": sentences[place]["number"],
            "from": numbers[first],
            "to": numbers[last],
        }
        rows.append({**row, "start": offsets[place] + first, "end": offsets[place] + last})
    rows.sort(key=lambda row: (row["start"], -row["end"]))
    places = {row["id"]: place for place, row in enumerate(rows)}
    clusters = sorted(sorted(places[m_id] for m_id in ids) for ids in chains)
    return {
        "document": name,
        "genre": None,
        "sentences": list(sentences),
        "mentions": rows,
        "clusters": [
            [[rows[place]["start"], rows[place]["end"]] for place in cluster]
            for cluster in clusters
        ],
        "n_tokens": offsets[-1],
    }


def document_order(span: tuple[int, ...]) -> Span:
    """Return the sort key of spans for document order."""
    return span[0], -span[1]


def find_overlaps(spans: Iterable[T]) -> list[tuple[T, T]]:
    """Return each span that overlaps an earlier one, after the one of these that reaches furthest.

    Spans may have more than a first and a last token.

    >>> find_overlaps([(5, 9), (0, 3), (7, 7), (4, 4)])
    [((5, 9), (7, 7))]
    """
    found = []
    widest: T | None = None
    for span in sorted(spans, key=document_order):
        if widest is not None and span[0] <= widest[1]:
            found.append((widest, span))
        widest = span if widest is None else max(widest, span, key=lambda one: one[1])
    return found


class Token(NamedTuple):
    """A token of a document, as the baseline needs it."""

    form: str
    lemma: str
    first_tag: str  # the part of speech of the first group; empty if there are no groups
    last_tag: str
    n_groups: int
    head: int  # from 0 in the document; -1 if there is none
    relation: str  # to its head; empty if there is none
    begins_sentence: bool


def read_tokens(record: Record) -> list[Token]:
    """Return the tokens of a record."""
    tokens: list[Token] = []
    for sentence in record["sentences"]:
        offset = len(tokens)
        for token in sentence["tokens"]:
            groups = token["groups"]
            first, last = ("".join(groups[place][:1]) for place in (0, -1)) if groups else ("", "")
            head = -1 if token["head"] is None else offset + token["head"] - 1
            place = (head, token["relation"] or "", len(tokens) == offset)
            tokens.append(Token(token["form"], token["lemma"], first, last, len(groups), *place))
    return tokens
