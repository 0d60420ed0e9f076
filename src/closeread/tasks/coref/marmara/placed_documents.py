"""Make documents of sentences of Universal Dependencies and mentions put in place in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from closeread.tasks.coref.marmara.documents import Document, Sentence, SpannedMention
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


def make_document(
    name: str,
    sentences: Mapping[Target, Sentence],
    mentions: Iterable[PlacedMention] = (),
    chains: Iterable[Iterable[str]] = (),
) -> Document:
    """Make a document, without genre.

    Args:
        name: its name.
        sentences: its sentences, in order.
        mentions: its mentions.
        chains: the ids of the mentions of each chain.
    """
    offsets: dict[Target, int] = {}
    n_tokens = 0
    for target, sentence in sentences.items():
        offsets[target] = n_tokens
        n_tokens += len(sentence["tokens"])
    spans: dict[str, list[int]] = {}
    spanned: list[SpannedMention] = []
    for mention in mentions:
        offset, (first, last) = offsets[mention.target], mention.place
        start, end = spans[mention.id] = [offset + first, offset + last]
        spanned.append(
            {
                "id": mention.id,
                "sentence": sentences[mention.target]["number"],
                "from": first + 1,
                "to": last + 1,
                "start": start,
                "end": end,
            }
        )
    clusters = [sorted((list(spans[one]) for one in ids), key=_order) for ids in chains]
    return {
        "document": name,
        "genre": None,
        "sentences": list(sentences.values()),
        "mentions": sorted(spanned, key=lambda mention: _order((mention["start"], mention["end"]))),
        "clusters": sorted(clusters, key=lambda cluster: _order(cluster[0])),
        "n_tokens": n_tokens,
    }


def _order(span: Sequence[int]) -> tuple[int, int]:
    """Return what puts spans in document order: by start, then the longer first."""
    return span[0], -span[1]
