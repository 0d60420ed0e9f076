"""Breakdowns of links by the place of their noun phrases in the text, and by the mention that a complement is.

Conventions: a noun phrase stands where its first token is, as in the statistics of the corpus
(`closeread.tasks.tne.records`).  Sentences are found without a parser: they end at the tokens `.`, `!` and `?`, and at
line ends.  Every pair, whether a side links it or not, belongs to one part of each breakdown.

Breakdowns:
    distance: how many tokens anchor and complement are apart.
    direction: where the complement begins: before or after the anchor, or at the same token, as `the roof` and
        `the roof of the house` do.
    sentence: whether anchor and complement begin in the same sentence.
    mention: which mention of its coreference cluster the complement is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.counts.table import Breakdown
from closeread.tasks.tne.columns import Documents
from closeread.tasks.tne.kernels.links import Tallies, document_of, phrases_of

UP_TO = (5, 10, 20, 50, 100)
"""The largest distance, in tokens, of each bin but the last."""

DISTANCES = (
    *(f"{low} to {high}" for low, high in zip((0, *(n + 1 for n in UP_TO)), UP_TO, strict=False)),
    f"over {UP_TO[-1]}",
)
DIRECTIONS = ("before", "same token", "after")
SENTENCES = ("same", "other")
MENTIONS = ("only", "first", "further")


@dataclass(frozen=True)
class PairField:
    """A property of pairs of noun phrases.

    Attributes:
        parts: its values.
        needs: the fields of documents that it is found by.
        find: from documents and pairs, (n,), to the numbers of their values, (n,).
    """

    parts: Sequence[str]
    needs: Sequence[str]
    find: Callable[[Documents, Ints], Ints]

    def count(self, tally: Tallies, documents: Documents) -> Breakdown | None:
        """Count the links with each value in each document; None if a document lacks a field that this needs."""
        if not self.is_known(documents):
            return None
        counts = tally.by_group(len(documents), len(self.parts), lambda pair, _: self.find(documents, pair))
        return Breakdown.from_dense(self.parts, counts)

    def is_known(self, documents: Documents) -> bool:
        """Return whether all documents have the fields that this needs."""
        return not documents.lacks(*self.needs)


def measure_distances(documents: Documents, pair: Ints) -> Ints:
    """Return how many tokens the complement of each pair begins after its anchor, (n,); negative if before it."""
    anchor, complement = _find_ends(documents, pair)
    first = documents.noun_phrases.first_token
    return first[complement] - first[anchor]


def _find_ends(documents: Documents, pair: Ints) -> tuple[Ints, Ints]:
    """Return the positions of anchors and complements among the noun phrases of all documents."""
    starts = documents.noun_phrases.starts[document_of(pair)]
    anchor, complement = phrases_of(pair)
    return starts + anchor, starts + complement


def _find_distance(documents: Documents, pair: Ints) -> Ints:
    bins: Ints = np.digitize(np.abs(measure_distances(documents, pair)), UP_TO, right=True)
    return bins


def _find_direction(documents: Documents, pair: Ints) -> Ints:
    sign: Ints = np.sign(measure_distances(documents, pair))
    return sign + 1


def _find_sentence(documents: Documents, pair: Ints) -> Ints:
    anchor, complement = _find_ends(documents, pair)
    is_other: Mask = documents.sentence[anchor] != documents.sentence[complement]
    return is_other.astype(np.int64)


def _find_mention(documents: Documents, pair: Ints) -> Ints:
    """Return which mention each complement is; the first begins first in the text, the longest of several that do."""
    phrases, cluster = documents.noun_phrases, documents.cluster_of
    order = np.lexsort((np.arange(len(cluster)), -phrases.last_token, phrases.first_token, cluster))
    mention = np.full(len(cluster), MENTIONS.index("further"))
    in_order = cluster[order]
    is_first = np.append(True, in_order[1:] != in_order[:-1])[: len(order)]
    mention[order[is_first]] = MENTIONS.index("first")
    mention[np.bincount(cluster)[cluster] == 1] = MENTIONS.index("only")
    of_complement: Ints = mention[_find_ends(documents, pair)[1]]
    return of_complement


PLACES: Mapping[str, PairField] = {
    "distance": PairField(DISTANCES, ("nps",), _find_distance),
    "direction": PairField(DIRECTIONS, ("nps",), _find_direction),
    "sentence": PairField(SENTENCES, ("nps", "tokens"), _find_sentence),
    "mention": PairField(MENTIONS, ("nps", "coref"), _find_mention),
}
