"""What a document of the corpus is made of: the treebank's sentences, and the mentions and chains of its annotation.

Conventions: tokens are the treebank's words, punctuation included; an inflectional group is a list of tags, the lemma
left out.  Inside a sentence tokens count from 1, as in the treebank; in a document they count from 0, and a span's end
is its last token.  Mentions are in document order: by start, then the longer first; chains by their first mention.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypedDict


class Token(TypedDict):
    """A word of the treebank.

    Attributes:
        form: the word, without the blanks around it; parts of a name or a light verb are joined by `_`.
        lemma: the first tag of its first group; the form if there are no groups.
        groups: its inflectional groups, each a list of tags such as `["Noun", "Prop", "A3sg", "Pnon", "Gen"]`.
        head: the number of the head in the sentence, from 1; None if there is none.
        head_group: the number of the head's group, from 1; None if there is no head.
        relation: the name of the relation to the head; None if there is none.
    """

    form: str
    lemma: str
    groups: list[list[str]]
    head: int | None
    head_group: int | None
    relation: str | None


class Sentence(TypedDict):
    """A sentence; `number` is the treebank's, such as `77000112003.1`."""

    number: str
    tokens: list[Token]


# The names of fields, one of which is a keyword.
SpannedMention = TypedDict(
    "SpannedMention", {"id": str, "sentence": str, "from": int, "to": int, "start": int, "end": int}
)
"""A mention: `from` and `to` are its first and last word in the sentence, `start` and `end` in the document."""


class Document(TypedDict):
    """A record of the corpus; `clusters` holds the spans of the chains, as the procedure `coref` reads them."""

    document: str
    genre: str | None
    sentences: list[Sentence]
    mentions: list[SpannedMention]
    clusters: list[list[list[int]]]
    n_tokens: int


class Mention(NamedTuple):
    """A mention as a coreference file has it.

    Attributes:
        id: its id in the file.
        sentence: the number of its sentence.
        first, last: its first and its last word in the sentence, from 1.
        text: its words, for readers only.
        line: the line of its element, from 1.
    """

    id: str
    sentence: str
    first: int
    last: int
    text: str
    line: int


class Annotation(NamedTuple):
    """The contents of a coreference file.

    Attributes:
        file: its name in its folder.
        mentions: all mentions, in the order of the file.
        chains: the ids of the mentions of each chain.
    """

    file: str
    mentions: Sequence[Mention]
    chains: Sequence[Sequence[str]]
