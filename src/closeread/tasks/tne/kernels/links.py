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

Labels = NDArray[np.int8]  # the labels of pairs: a byte each, since a corpus may have millions

N_LABELS = 25
PHRASE_BITS = 17
LABEL_BITS = 5
MAX_DOCUMENTS = 2 ** (63 - 2 * PHRASE_BITS - LABEL_BITS)

COUNTS = (
    *("links/right", "links/system", "links/gold", "linked/system", "linked/gold"),
    *("triplets/right", "triplets/system", "triplets/gold", "fallback/right", "fallback/gold"),
)

UPREP = ("any", "last")  # which of several gold labels a fallback must match

Tallies = Mapping[str, tuple[Ints, Labels]]
"""The pairs behind every count, with the label that each counts for, so that they can be summed by any grouping."""


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


def triplets(pair: Ints, label: Labels) -> Ints:
    """Pack labelled pairs into one integer each."""
    return (pair << LABEL_BITS) | label


def split_triplets(triplet: Ints) -> tuple[Ints, Labels]:
    """Return the pairs and the labels of triplets."""
    return triplet >> LABEL_BITS, (triplet & (2**LABEL_BITS - 1)).astype(np.int8)


@dataclass(frozen=True, eq=False)
class Labelled:
    """The labelled pairs of one side."""

    pair: Ints  # (n,) sorted, each once
    first: Labels  # (n,) the first label of each, in the order given
    last: Labels
    triplet: Ints  # (m,) pairs with labels, sorted, each once


def group_labels(pair: Ints, label: Labels) -> Labelled:
    """Group labels by pair; pairs and labels are (n,) each, in the order given."""
    order = np.argsort(pair, kind="stable")  # also the fastest, since documents are in order
    pair, label = pair[order], label[order].astype(np.int8)
    starts = np.flatnonzero(mark_run_starts(pair))
    ends = np.append(starts[1:], len(pair)) - 1 if len(starts) else starts
    triplet = np.sort(triplets(pair, label), kind="stable")
    return Labelled(pair[starts], label[starts], label[ends], triplet[mark_run_starts(triplet)])


def find_places(keys: Ints, among: Ints) -> Ints:
    """Return the positions of keys among other sorted keys, -1 for those not found."""
    if not len(among):
        return np.full(len(keys), -1)
    place = np.minimum(np.searchsorted(among, keys), len(among) - 1)
    return np.where(among[place] == keys, place, -1)


def are_among(keys: Ints, among: Ints) -> Mask:
    """Return which keys are among other sorted keys."""
    return np.greater_equal(find_places(keys, among), 0)


def tallies(system: Labelled, gold: Labelled, fallback: Labelled | None = None, uprep: str = "any") -> Tallies:
    """Find what is counted for a system's links.

    `fallback` has the labels of pairs that the system does not link, of which the first counts; None if there are no
    fallbacks at all.  With `uprep` "any", a fallback may be any of the gold labels, otherwise it must be the last.
    """
    place = find_places(system.pair, gold.pair)
    linked = np.flatnonzero(place >= 0)  # positions throughout: indexing by them takes a tenth of the time of a mask
    right = linked[are_among(triplets(system.pair[linked], system.first[linked]), gold.triplet)]
    is_linked = np.zeros(len(gold.pair), np.bool_)
    is_linked[place[linked]] = True
    hit, missed = np.flatnonzero(is_linked), np.flatnonzero(~is_linked)
    gold_label = gold.last.copy()
    gold_label[place[right]] = system.first[right]
    return {
        "links/right": (system.pair[right], system.first[right]),
        "links/system": (system.pair, system.first),
        "links/gold": (gold.pair, gold_label),
        "linked/system": (system.pair[linked], system.first[linked]),
        "linked/gold": (gold.pair[hit], gold_label[hit]),
        "triplets/right": split_triplets(system.triplet[are_among(system.triplet, gold.triplet)]),
        "triplets/system": split_triplets(system.triplet),
        "triplets/gold": split_triplets(gold.triplet),
        **_tally_fallbacks(fallback, gold, missed, uprep),
    }


def _tally_fallbacks(fallback: Labelled | None, gold: Labelled, missed: Ints, uprep: str) -> Tallies:
    """Find what is counted for fallbacks; `missed` are the positions of gold pairs that are not linked."""
    if fallback is None:
        missed = missed[:0]
    pair, last, label = gold.pair[missed], gold.last[missed], np.zeros(len(missed), np.int8)
    if fallback is not None:
        place = find_places(pair, fallback.pair)
        label[place >= 0] = fallback.first[place[place >= 0]]
    is_right = label == last if uprep == "last" else are_among(triplets(pair, label), gold.triplet)
    return {
        "fallback/right": (pair[is_right], label[is_right]),
        "fallback/gold": (pair, np.where(is_right, label, last)),
    }


def count_by_group(
    tally: Tallies, n_documents: int, n_groups: int = 1, group: Callable[[Ints, Labels], Ints] | None = None
) -> Floats:
    """Return (n_groups, n_documents, len(COUNTS)) counts; `group` numbers the groups of pairs and labels, (n,) each."""
    if group is None:
        columns = [np.bincount(document_of(tally[name][0]), minlength=n_documents) for name in COUNTS]
        return np.stack(columns, axis=-1)[None].astype(np.float64)
    pair, label = (np.concatenate(columns) for columns in zip(*(tally[name] for name in COUNTS), strict=True))
    name = np.repeat(np.arange(len(COUNTS)), [len(tally[name][0]) for name in COUNTS])
    cell = (group(pair, label) * n_documents + document_of(pair)) * len(COUNTS) + name
    counts = np.bincount(cell, minlength=n_groups * n_documents * len(COUNTS))
    return counts.reshape(n_groups, n_documents, len(COUNTS)).astype(np.float64)


def align_labels(system: Labelled, gold: Labelled) -> tuple[Ints, Ints, Ints]:
    """Return the pairs that either side links, sorted, with the labels that they count for in gold and system.

    A label is 0 on the side that does not link the pair; the two are the same where the system's label is right.
    """
    every = np.union1d(system.pair, gold.pair)
    gold_label, system_label = np.zeros(len(every), np.int64), np.zeros(len(every), np.int64)
    gold_label[np.searchsorted(every, gold.pair)] = tallies(system, gold)["links/gold"][1]
    system_label[np.searchsorted(every, system.pair)] = system.first
    return every, gold_label, system_label


def confusion(system: Labelled, gold: Labelled, n_pairs: int) -> Ints:
    """Count `n_pairs` ordered pairs by gold label (row) and predicted label (column), (25, 25); 0 is no link."""
    every, gold_label, system_label = align_labels(system, gold)
    counts = np.bincount(gold_label * N_LABELS + system_label, minlength=N_LABELS**2)
    counts[0] = n_pairs - len(every)
    return counts.reshape(N_LABELS, N_LABELS)
