"""Make documents of sentences of Universal Dependencies and mentions put in place in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from closeread.tasks.coref.marmara.documents import Document, Sentence, SpannedMention
from closeread.tasks.coref.marmara.record_making import make_document
from closeread.tasks.coref.marmara.sentence_alignment import Place
from closeread.tasks.coref.marmara.sentence_search import Target


class PlacedMention(NamedTuple):
    """A mention in its place: its id, its sentence, and its first and last token there, from 0."""

    id: str
    target: Target
    place: Place


def order_sentences(own: Sequence[Target], found: Iterable[Target]) -> list[Target]:
    """Put the sentences of a document in order.

    Args:
        own: the sentences that stand in it, in order.
        found: where its annotated sentences were found, in their order; those found elsewhere follow the one before.
    """
    inserted: dict[Target | None, list[Target]] = {}
    is_own = set(own)
    before: Target | None = None
    for target in found:
        if target in is_own:
            before = target
        else:
            inserted.setdefault(before, []).append(target)
    ordered = inserted.get(None, [])
    for target in own:
        ordered += [target, *inserted.get(target, ())]
    return ordered


def make_placed_document(
    name: str, sentences: Mapping[Target, Sentence], mentions: Iterable[PlacedMention], chains: Iterable[Iterable[str]]
) -> Document:
    """Make a document, without genre.

    Args:
        name: its name.
        sentences: its sentences, in order.
        mentions: its mentions.
        chains: the ids of the mentions of each chain.
    """
    lengths = [len(sentence["tokens"]) for sentence in sentences.values()]
    offsets = dict(zip(sentences, accumulate(lengths, initial=0), strict=False))
    spanned: list[SpannedMention] = []
    for mention in mentions:
        offset, (first, last) = offsets[mention.target], mention.place
        spanned.append(
            {
                "id": mention.id,
                "sentence": sentences[mention.target]["number"],
                "from": first + 1,
                "to": last + 1,
                "start": offset + first,
                "end": offset + last,
            }
        )
    return make_document(name, list(sentences.values()), spanned, chains)
