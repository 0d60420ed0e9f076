"""Records of the corpus, from sentences and an annotation of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType

from closeread.tasks.coref.marmara.documents import Annotation, Document, Sentence, SpannedMention

NO_GAPS: Mapping[str, Sequence[int]] = MappingProxyType({})


def make_document(
    name: str, sentences: Sequence[Sentence], mentions: Iterable[SpannedMention], chains: Iterable[Iterable[str]]
) -> Document:
    """Return a record without genre, its mentions in document order and its chains by first mention.

    Args:
        name: the document's name.
        sentences: its sentences.
        mentions: its mentions, with ids and spans of their own.
        chains: the ids of the mentions of each chain.
    """
    ordered = sorted(mentions, key=lambda mention: (mention["start"], -mention["end"]))
    places = {mention["id"]: place for place, mention in enumerate(ordered)}
    clusters = sorted(sorted(places[m_id] for m_id in ids) for ids in chains)
    return {
        "document": name,
        "genre": None,
        "sentences": list(sentences),
        "mentions": ordered,
        "clusters": [[[ordered[place]["start"], ordered[place]["end"]] for place in places] for places in clusters],
        "n_tokens": sum(len(sentence["tokens"]) for sentence in sentences),
    }


def annotate_sentences(
    name: str,
    sentences: Sequence[Sentence],
    annotation: Annotation,
    word_numbers: Mapping[str, Sequence[int]] = NO_GAPS,
) -> Document:
    """Return the record of a document with an annotation, all of whose mentions are words of the sentences.

    Args:
        name: the document's name.
        sentences: its sentences.
        annotation: its mentions and chains, without errors.
        word_numbers: the numbers (IX) of the words of each sentence in which they are not 1, 2, 3 …
    """
    lengths = [len(sentence["tokens"]) for sentence in sentences]
    offsets = dict(zip((sentence["number"] for sentence in sentences), accumulate(lengths, initial=0), strict=False))
    mentions: list[SpannedMention] = []
    for mention in annotation.mentions:
        first, last = mention.first - 1, mention.last - 1
        if mention.sentence in word_numbers:
            numbers = word_numbers[mention.sentence]
            first, last = numbers.index(mention.first), numbers.index(mention.last)
        offset = offsets[mention.sentence]
        mentions.append(
            {
                "id": mention.id,
                "sentence": mention.sentence,
                "from": mention.first,
                "to": mention.last,
                "start": offset + first,
                "end": offset + last,
            }
        )
    return make_document(name, sentences, mentions, annotation.chains)
