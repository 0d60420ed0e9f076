"""Comparison of links between noun phrases.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), sections 2 and 8.2; the pair-level scores as in their
evaluator.

Conventions: documents and, in each, noun phrases are numbered from 0; labels are 1 to 24.  A *pair* is an ordered pair
of noun phrases of one document, stored as one integer (`pairs`) that sorts by document, anchor and complement.  A pair
may have several labels: the first of a system's labels counts, and the gold label that equals it, or else the last gold
label; only for triplets do all labels count.  A fallback is the label that a system would give to a pair that it does
not link; it matters only for the counts of fallbacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Floats, Ints, Mask, mark_run_starts

Labels = NDArray[np.int8]
"""The labels of pairs: a byte each, since a corpus may have millions."""

N_LABELS = 25
PHRASE_BITS = 17
LABEL_BITS = 5
MAX_DOCUMENTS = 2 ** (63 - 2 * PHRASE_BITS - LABEL_BITS)

COUNTS = (
    *("links/right", "links/system", "links/gold", "linked/system", "linked/gold"),
    *("triplets/right", "triplets/system", "triplets/gold", "fallback/right", "fallback/gold"),
)

UPREP = ("any", "last")
"""Which of several gold labels a fallback must match."""


def pairs(document: Ints, anchor: Ints, complement: Ints) -> Ints:
    """Pack pairs into one integer each, for at most `MAX_DOCUMENTS` documents with 2**17 noun phrases each."""
    return (((document << PHRASE_BITS) | anchor) << PHRASE_BITS) | complement


def document_of(pair: Ints) -> Ints:
    """Return the documents of pairs."""
    return pair >> (2 * PHRASE_BITS)


def phrases_of(pair: Ints) -> tuple[Ints, Ints]:
    """Return the anchors and the complements of pairs."""
    last = (1 << PHRASE_BITS) - 1
    return (pair >> PHRASE_BITS) & last, pair & last


@dataclass(frozen=True, eq=False)
class Labelled:
    """The labelled pairs of one side.

    Attributes:
        pair: (n,) the pairs, sorted, each once.
        first, last: (n,) the first and the last label of each.
        triplet: (m,) pairs with labels, sorted, each once.
    """

    pair: Ints
    first: Labels
    last: Labels
    triplet: Ints


def group_labels(pair: Ints, label: Labels) -> Labelled:
    """Group labels by pair; pairs and labels are (n,) each, in the order given."""
    order = np.argsort(pair, kind="stable")  # also the fastest, since documents are in order
    pair, label = pair[order], label[order].astype(np.int8)
    starts = np.flatnonzero(mark_run_starts(pair))
    ends = np.append(starts[1:], len(pair)) - 1 if len(starts) else starts
    triplet = np.sort(triplets(pair, label), kind="stable")
    return Labelled(pair[starts], label[starts], label[ends], triplet[mark_run_starts(triplet)])


def triplets(pair: Ints, label: Labels) -> Ints:
    """Pack labelled pairs into one integer each."""
    return (pair << LABEL_BITS) | label


def labels_of(triplet: Ints) -> Labels:
    """Return the labels of triplets."""
    labels: Labels = (triplet & (2**LABEL_BITS - 1)).astype(np.int8)
    return labels


def find_places(keys: Ints, among: Ints) -> Ints:
    """Return the positions of keys among other sorted keys, -1 for those not found."""
    if not len(among):
        return np.full(len(keys), -1)
    place = np.minimum(np.searchsorted(among, keys), len(among) - 1)
    return np.where(among[place] == keys, place, -1)


def _are_labels(labels: Labels, place: Ints, side: Labelled) -> Mask:
    """Return whether labels are among those of the pairs at these positions of a side."""
    return np.greater_equal(find_places(triplets(side.pair[place], labels), side.triplet), 0)


@dataclass(frozen=True, eq=False)
class Tallies:
    """The pairs behind every count, so that they can be summed by any grouping.

    Attributes:
        pair: the pairs counted under each name in `COUNTS`, (n,) each.
        label: the label that each pair counts for.
    """

    pair: Mapping[str, Ints]
    label: Mapping[str, Labels]

    def by_document(self, n_documents: int) -> Floats:
        """Return (n_documents, len(COUNTS)) counts."""
        columns = [np.bincount(document_of(self.pair[name]), minlength=n_documents) for name in COUNTS]
        return np.column_stack(columns).astype(np.float64)

    def by_group(self, n_documents: int, n_groups: int, group: Callable[[Ints, Labels], NDArray[np.integer]]) -> Floats:
        """Return (n_groups, n_documents, len(COUNTS)) counts."""
        counts = np.zeros((n_groups, n_documents, len(COUNTS)))
        for place, name in enumerate(COUNTS):
            groups = group(self.pair[name], self.label[name]).astype(np.int64)
            cell = groups * n_documents + document_of(self.pair[name])
            counts[:, :, place] = np.bincount(cell, minlength=n_groups * n_documents).reshape(n_groups, n_documents)
        return counts


def tallies(system: Labelled, gold: Labelled, fallback: Labelled | None = None, uprep: str = "any") -> Tallies:
    """Find what is counted for a system's links."""
    # Positions throughout: indexing by them takes a tenth of the time of a mask.
    place = find_places(system.pair, gold.pair)
    linked = np.flatnonzero(place >= 0)
    right = linked[_are_labels(system.first[linked], place[linked], gold)]
    is_linked = np.zeros(len(gold.pair), np.bool_)
    is_linked[place[linked]] = True
    hit, missed = np.flatnonzero(is_linked), np.flatnonzero(~is_linked)
    gold_label = gold.last.copy()
    gold_label[place[right]] = system.first[right]
    triplet = {"right": system.triplet[find_places(system.triplet, gold.triplet) >= 0]}
    triplet |= {"system": system.triplet, "gold": gold.triplet}
    counted = {
        "links/right": (system.pair[right], system.first[right]),
        "links/system": (system.pair, system.first),
        "links/gold": (gold.pair, gold_label),
        "linked/system": (system.pair[linked], system.first[linked]),
        "linked/gold": (gold.pair[hit], gold_label[hit]),
        **{f"triplets/{name}": (t >> LABEL_BITS, labels_of(t)) for name, t in triplet.items()},
        **_count_fallbacks(fallback, gold, missed, uprep),
    }
    return Tallies({name: p for name, (p, _) in counted.items()}, {name: label for name, (_, label) in counted.items()})


def _count_fallbacks(
    fallback: Labelled | None, gold: Labelled, missed: Ints, uprep: str
) -> dict[str, tuple[Ints, Labels]]:
    """Find the pairs and labels counted for fallbacks; `missed` are the positions of gold pairs that are not linked."""
    if fallback is None:
        none = missed[:0], gold.first[:0]
        return {"fallback/right": none, "fallback/gold": none}
    label = np.zeros(len(gold.pair), np.int8)
    place = find_places(fallback.pair, gold.pair)
    known = np.flatnonzero(place >= 0)
    label[place[known]] = fallback.first[known]
    label = label[missed]
    is_right = label == gold.last[missed] if uprep == "last" else _are_labels(label, missed, gold)
    pair = gold.pair[missed]
    return {
        "fallback/right": (pair[is_right], label[is_right]),
        "fallback/gold": (pair, np.where(is_right, label, gold.last[missed])),
    }


def align_labels(system: Labelled, gold: Labelled) -> tuple[Ints, Ints, Ints]:
    """Return the pairs that either side links, sorted, with the labels that they count for in gold and system.

    A label is 0 on the side that does not link the pair; the two are the same where the system's label is right.
    """
    tally = tallies(system, gold)
    every = np.union1d(system.pair, gold.pair)
    gold_label, system_label = np.zeros(len(every), np.int64), np.zeros(len(every), np.int64)
    gold_label[np.searchsorted(every, tally.pair["links/gold"])] = tally.label["links/gold"]
    system_label[np.searchsorted(every, system.pair)] = system.first
    return every, gold_label, system_label


def confusion(system: Labelled, gold: Labelled, n_pairs: int) -> Ints:
    """Count pairs by gold label (row) and predicted label (column); 0 is no link."""
    every, gold_label, system_label = align_labels(system, gold)
    counts = np.bincount(gold_label * N_LABELS + system_label, minlength=N_LABELS**2)
    counts[0] = n_pairs - len(every)
    return counts.reshape(N_LABELS, N_LABELS)
