"""The parts of speech of mentions from those of tokens, for files that have no heads: CoNLL-2011 and 2012.

Conventions: tags are those of the Penn Treebank and the Penn Chinese Treebank.  The head of a mention is guessed: its
only token, or the last noun before the first token after it that can't be before the head of a noun phrase.  A mention
that begins like a verb phrase has no part of speech; neither has one without nouns and pronouns.  For 95 % of the
mentions of GUM, the type is that of the annotated head (`tests/agreed/gum_types.json`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.formats.conll import ConllWords
from closeread.tasks.coref.joined import find_words

PRONOUNS = frozenset({"PRP", "PRP$", "WP", "WP$", "PN"})
NAMES = frozenset({"NNP", "NNPS", "NR"})
NOUNS = frozenset({"NN", "NNS", "NT"})
UNIVERSAL = {**dict.fromkeys(PRONOUNS, "PRON"), **dict.fromkeys(NAMES, "PROPN"), **dict.fromkeys(NOUNS, "NOUN")}
"""The universal part of speech of a tag; that of all others does not matter."""

OTHER = "X"
LONE_DETERMINER = "DT"
"""The tag of `this` and `that`, which are pronouns if they are a mention of their own."""

VERB_PHRASE = ("TO", "MD", "VB")
AFTER_HEAD = ("IN", "TO", "MD", "VB", "W", "CC", "PRP", ",", ":", "-LRB-", "(")
"""How the tags of tokens begin that follow a head: prepositions, verbs, relative and other pronouns, and so on."""


TAG_CELL = 4
"""The column of the part of speech, from 0."""


def has_tags(table: MentionTable) -> bool:
    """Return whether the words of the documents have known parts of speech."""
    return any(tag in UNIVERSAL for document in range(len(table.names)) for tag in _read_tags(table, document))


def guess_tags(table: MentionTable) -> list[str]:
    """Return the universal part of speech of every mention; "" if its document has no parts of speech."""
    return [tag for document, spans in _group_spans(table) for tag in _tag_document(table, document, spans)]


def _read_tags(table: MentionTable, document: int) -> Sequence[str]:
    """Return the part of speech of every token of a document; nothing if its file has none."""
    words, place = find_words(table, document)
    found = words.read_columns(place, (TAG_CELL,)) if isinstance(words, ConllWords) else None
    return () if found is None else found[0][0]


def _group_spans(table: MentionTable) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    rows = zip(table.document.tolist(), table.start.tolist(), table.end.tolist(), strict=True)
    for document, group in groupby(rows, key=lambda row: int(row[0])):
        yield document, [(start, end) for _, start, end in group]


def _tag_document(table: MentionTable, document: int, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    tags = _read_tags(table, document)
    for start, end in spans:
        yield tag_mention(tags[start : end + 1]) if end < len(tags) else ""


def tag_mention(tags: Sequence[str]) -> str:
    """Return the universal part of speech of the head of a mention.

    >>> tag_mention(["DT", "NN", "IN", "NNP"]), tag_mention(["NNP", "POS", "NN"]), tag_mention(["DT", "IN", "PRP"])
    ('NOUN', 'NOUN', 'PRON')
    """
    if len(tags) == 1:
        return "PRON" if tags[0] == LONE_DETERMINER else UNIVERSAL.get(tags[0], OTHER)
    if tags[0].startswith(VERB_PHRASE):
        return OTHER
    head = None
    for tag in tags:
        if head is not None and tag.startswith(AFTER_HEAD):
            break
        if tag in NAMES or tag in NOUNS:
            head = tag
    return UNIVERSAL[head] if head is not None else "PRON" if not PRONOUNS.isdisjoint(tags) else OTHER
