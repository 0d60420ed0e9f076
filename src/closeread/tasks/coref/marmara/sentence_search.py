"""Find annotated sentences in Universal Dependencies, whose sentences have other numbers, by their mentions' text.

Most are found under the id of their document, in order; a few stand elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from closeread.tasks.coref.marmara.documents import Mention, Sentence
from closeread.tasks.coref.marmara.sentence_alignment import (
    Match,
    Place,
    SentenceIndex,
    Stretch,
    align,
    find_quotes,
    make_key,
    pick_best,
)


class Target(NamedTuple):
    """A sentence of UD: the id of its document, and its number there, from 0."""

    document: str
    sentence: int


class Found(NamedTuple):
    """Where a sentence was found.

    Attributes:
        target: the sentence of UD.
        is_aligned: whether it stands there in order with others; False if it was found on its own.
        places: the first and the last token, from 0, of each mention; None if it can't be told from that of another.
    """

    target: Target
    is_aligned: bool
    places: Sequence[Place | None]


class Sought(NamedTuple):
    """A sentence that is sought.

    Attributes:
        document: the id of its document.
        mentions: its mentions, at least one; all have a key.
    """

    document: str
    mentions: Sequence[Mention]


def find_sentences(treebank: Mapping[str, Sequence[Sentence]], sought: Sequence[Sought]) -> list[Found | None]:
    """Find sentences, each in another sentence of UD.

    Args:
        treebank: the documents of UD, by id.
        sought: the sentences; those of a document together, and in order.

    Returns:
        Where each was found; None if it fits nowhere, or several sentences about equally well.
    """
    stretches = [_Stretches(one.mentions) for one in sought]
    found: list[Found | None] = [None] * len(sought)
    indexes: dict[str, SentenceIndex] = {}
    matches: dict[int, dict[Target, Match]] = {}
    used: set[Target] = set()
    for document, numbers in groupby(range(len(sought)), key=lambda i: sought[i].document):
        indexes[document] = index = SentenceIndex(_list_forms(treebank[document]))
        rows = list(numbers)
        for i in rows:
            fits = index.find_matches(stretches[i].distinct)
            matches[i] = {Target(document, sentence): match for sentence, match in fits.items()}
        aligned = align([{target.sentence: m.score for target, m in matches[i].items()} for i in rows])
        for i, sentence in zip(rows, aligned, strict=True):
            if sentence is not None:
                target = Target(document, sentence)
                used.add(target)
                found[i] = _settle(treebank, target, matches[i][target], stretches[i], is_aligned=True)
    everywhere = _Everywhere(treebank)
    for i in (i for i, one in enumerate(found) if one is None):
        best = _pick_unused(matches[i], used)
        if best is None:
            matches[i] = everywhere.find_matches(stretches[i].distinct)
            best = _pick_unused(matches[i], used)
        if best is not None:
            used.add(best)
            found[i] = _settle(treebank, best, matches[i][best], stretches[i], is_aligned=False)
    return found


class _Stretches:
    """The mentions of a sentence as stretches.

    Mentions that differ by a quotation mark only are one stretch.

    Attributes:
        mentions: the mentions.
        distinct: the stretches.
        number: the stretch of each mention.
    """

    def __init__(self, mentions: Sequence[Mention]) -> None:
        self.mentions = mentions
        self.distinct: list[Stretch] = []
        self.number = [0] * len(mentions)
        last: dict[str, int] = {}
        for i in sorted(range(len(mentions)), key=lambda i: (mentions[i].first, mentions[i].last)):
            mention = mentions[i]
            key = make_key(mention.text)
            same = last.get(key)
            if same is None or self.distinct[same].last < mention.first - 1:
                same = last[key] = len(self.distinct)
                self.distinct.append(Stretch(key, mention.first - 1, mention.last - 1))
            self.number[i] = same


class _Everywhere:
    """An index of all documents, made when it is needed."""

    def __init__(self, treebank: Mapping[str, Sequence[Sentence]]) -> None:
        self._treebank = treebank
        self._targets = [Target(name, i) for name, sentences in treebank.items() for i in range(len(sentences))]
        self._index: SentenceIndex | None = None

    def find_matches(self, stretches: Sequence[Stretch]) -> dict[Target, Match]:
        """Return all sentences in which the stretches are found."""
        if self._index is None:
            self._index = SentenceIndex(tokens for one in self._treebank.values() for tokens in _list_forms(one))
        return {self._targets[i]: match for i, match in self._index.find_matches(stretches).items()}


def _list_forms(sentences: Iterable[Sentence]) -> Iterable[list[str]]:
    return ([token["form"] for token in sentence["tokens"]] for sentence in sentences)


def _pick_unused(matches: Mapping[Target, Match], used: set[Target]) -> Target | None:
    return pick_best({target: match.score for target, match in matches.items() if target not in used})


def _settle(
    treebank: Mapping[str, Sequence[Sentence]], target: Target, match: Match, stretches: _Stretches, *, is_aligned: bool
) -> Found:
    """Return the places of mentions, with the quotation marks that are tokens of their own."""
    forms = [token["form"] for token in treebank[target.document][target.sentence]["tokens"]]
    places: list[Place | None] = []
    for mention, number in zip(stretches.mentions, stretches.number, strict=True):
        place = find_quotes(mention.text, match.places[number], forms)
        places.append(None if place in places else place)
    return Found(target, is_aligned, places)
